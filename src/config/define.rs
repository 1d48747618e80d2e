//! The macro that defines a setting in one entry and generates its field, default, bounds, help
//! text and reader.

use toml::de::DeValue;

use super::keys::Config;
use super::value::Bounds;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyScope {
    User,
    /// The user, and a project for itself in `.claude/playbook.toml`.
    Project,
    /// The user; a project may only lower the user's value.
    Lower,
}

#[derive(Debug, Clone, Copy)]
pub struct SettingKey {
    /// The section; `top` for settings outside any section.
    pub(super) section: &'static str,
    pub(super) leaf: &'static str,
    /// The help text, with the unit.
    pub(crate) doc: &'static str,
    pub(crate) scope: KeyScope,
    pub(super) bounds: Bounds,
    /// Sets the value from a file of this scope.
    pub(super) set: fn(&mut Config, &DeValue<'_>, KeyScope) -> Result<(), String>,
    pub(super) shown: fn(&Config) -> Option<String>,
    pub(super) kind: &'static [&'static str],
}

impl SettingKey {
    /// Returns the name as the user writes it: `retry.attempts`.
    pub fn name(&self) -> String {
        full_name(self.section, self.leaf)
    }

    /// Returns the value as the user would write it; `None` if there is no value.
    pub fn shown(&self, config: &Config) -> Option<String> {
        (self.shown)(config)
    }

    pub(crate) fn kind(&self) -> String {
        let plain = |text: &str| text.replace('_', "");
        let kind = self.kind.join(", ");
        self.bounds.map_or(kind.clone(), |(low, high)| {
            format!("{kind}, {} to {}", plain(low), plain(high))
        })
    }

    /// Returns the section, if there is one, and the key in it.
    pub(crate) fn parts(&self) -> (Option<&'static str>, &'static str) {
        ((self.section != TOP).then_some(self.section), self.leaf)
    }
}

pub(super) fn full_name(section: &str, key: &str) -> String {
    if section == TOP {
        key.to_owned()
    } else {
        format!("{section}.{key}")
    }
}

/// The section name of settings outside any section.
pub(super) const TOP: &str = "top";

/// Defines the structs of all sections with their defaults, and the lists of settings and sections.
macro_rules! settings {
    ($(
        #[doc = $section_doc:literal]
        $(#[doc = $section_more:literal])*
        $section:ident: $type:ident {
            $(
                #[doc = $doc:literal]
                $(#[doc = $more:literal])*
                $(#[scope = $scope:ident])?
                $key:ident: $ty:ty = $default:expr $(, $low:literal ..= $high:literal)?;
            )*
        }
    )*) => {
        $(
            #[derive(Debug, Clone, PartialEq)]
            // The names are the user's: `hooks.on_exit`, `hooks.on_clear`.
            #[allow(clippy::struct_field_names)]
            pub struct $type {
                $(
                    pub $key: $ty,
                )*
            }

            impl Default for $type {
                fn default() -> Self {
                    Self { $($key: $default,)* }
                }
            }
        )*

        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct Config {
            $(#[doc = $section_doc] pub $section: $type,)*
        }

        /// All sections with their descriptions, in the order of the reference.
        pub(super) const SECTIONS: &[(&str, &str)] = &[$(
            (stringify!($section), concat!($section_doc $(, "\n", $section_more)*)),
        )*];

        pub const KEYS: &[SettingKey] = &[$($(
            SettingKey {
                section: stringify!($section),
                leaf: stringify!($key),
                doc: concat!($doc $(, "\n", $more)*),
                scope: settings!(@scope $($scope)?),
                bounds: settings!(@bounds $($low, $high)?),
                set: |config, value, by| {
                    let read = <$ty as Setting>::read(value)?;
                    $(let read = read.within(stringify!($low), stringify!($high))?;)?
                    let current = &mut config.$section.$key;
                    *current = settings!(@lower $($scope)?; read, current, by)?;
                    Ok(())
                },
                shown: |config| config.$section.$key.show(),
                kind: <$ty as Setting>::KIND,
            },
        )*)*];
    };
    (@scope) => { KeyScope::User };
    (@scope $scope:ident) => { KeyScope::$scope };
    (@bounds) => { None };
    (@bounds $low:literal, $high:literal) => { Some((stringify!($low), stringify!($high))) };
    (@lower Lower; $value:ident, $current:ident, $by:ident) => {
        match $by {
            KeyScope::User => Ok($value),
            KeyScope::Project | KeyScope::Lower => $value.lowering($current),
        }
    };
    (@lower $($scope:ident)?; $value:ident, $current:ident, $by:ident) => {{
        _ = $by;
        Ok::<_, String>($value)
    }};
}
pub(super) use settings;
