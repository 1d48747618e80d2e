//! The macro that defines a setting in one entry: field, default, bounds, help text and reader.

use toml::Spanned;
use toml::de::DeValue;

use super::keys::Config;
use super::nearest::quoted;
use super::value::type_of;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyScope {
    User,
    /// The user, and a project for itself in `.claude/playbook.toml`.
    Project,
    /// The user; a project may only lower the user's value.
    Lower,
}

type SetValue =
    fn(&mut Config, &Spanned<DeValue<'_>>, (&SettingKey, KeyScope)) -> Result<(), String>;

#[derive(Debug, Clone, Copy)]
pub struct SettingKey {
    /// The name as the user writes it: `retry.attempts`.
    pub name: &'static str,
    /// The help text, with the unit.
    pub(crate) doc: &'static str,
    pub(crate) scope: KeyScope,
    pub(super) bounds: Option<(u64, u64)>,
    pub(super) set: SetValue,
    pub(super) shown: fn(&Config) -> Option<String>,
    pub(super) kind: &'static str,
    pub(super) words: fn() -> Vec<&'static str>,
}

impl SettingKey {
    pub fn shown(&self, config: &Config) -> Option<String> {
        (self.shown)(config)
    }

    pub(crate) fn kind(&self) -> String {
        let words = (self.words)().into_iter();
        let kind = match self.kind {
            "" => words
                .map(|word| format!("`\"{word}\"`"))
                .collect::<Vec<_>>()
                .join(", "),
            "true or false" => "`true` or `false`".to_owned(),
            kind => kind.trim_start_matches("a ").to_owned(),
        };
        self.bounds.map_or(kind.clone(), |(low, high)| {
            format!("{kind}, {low} to {high}")
        })
    }

    /// Describes a value that is not accepted. A text is repeated only if it resembles our words.
    pub(super) fn mismatch(&self, value: &DeValue<'_>) -> String {
        let words = (self.words)();
        let wanted = match self.bounds {
            Some((low, high)) => format!("{} from {low} to {high}", self.kind),
            None if words.is_empty() => self.kind.to_owned(),
            None => format!("one of {}", words.join(", ")),
        };
        let found = match value {
            DeValue::Integer(number) if self.bounds.is_some() => Some(number.to_string()),
            DeValue::String(word) if !words.is_empty() => quoted(word),
            DeValue::Array(_) => None,
            other => Some(type_of(other)),
        };
        let found = found.map_or(String::new(), |found| format!(", not {found}"));
        format!("must be {wanted}{found}")
    }

    pub(super) fn section(&self) -> &'static str {
        self.name
            .split_once('.')
            .map_or(TOP, |(section, _)| section)
    }
}

/// The section name of settings outside any section.
pub(super) const TOP: &str = "top";

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
                name: settings!(@name $section $key),
                doc: concat!($doc $(, "\n", $more)*),
                scope: settings!(@scope $($scope)?),
                bounds: settings!(@bounds $($low, $high)?),
                set: |config, value, of| put(&mut config.$section.$key, value, of),
                shown: |config| config.$section.$key.show(),
                kind: <$ty as Setting>::KIND,
                words: <$ty as Setting>::words,
            },
        )*)*];
    };
    (@name top $key:ident) => { stringify!($key) };
    (@name $section:ident $key:ident) => { concat!(stringify!($section), ".", stringify!($key)) };
    (@scope) => { KeyScope::User };
    (@scope $scope:ident) => { KeyScope::$scope };
    (@bounds) => { None };
    (@bounds $low:literal, $high:literal) => { Some(($low, $high)) };
}
pub(super) use settings;
