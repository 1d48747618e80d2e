//! How settings are defined: one line each, from which struct, default, bounds, help and
//! loading come.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyScope {
    /// Only the user, in `config.toml`.
    User,
    /// The user, and a project for itself in `.claude/playbook.toml`.
    Project,
    /// The user; a project may only lower what the user allows.
    Lower,
}

/// What is known of one key.
#[derive(Debug, Clone, Copy)]
pub struct SettingKey {
    /// The section; `top` for keys outside of any.
    pub(super) section: &'static str,
    pub(super) leaf: &'static str,
    /// What it is for, with its unit.
    pub(crate) doc: &'static str,
    pub(crate) scope: KeyScope,
    /// The least and the greatest value, where there are bounds.
    pub(crate) bounds: Option<(&'static str, &'static str)>,
}

impl SettingKey {
    /// The name as the user writes it: `retry.attempts`.
    pub fn name(&self) -> String {
        full_name(self.section, self.leaf)
    }

    /// The section and the key in it; no section for keys outside of any.
    pub(crate) fn parts(&self) -> (Option<&'static str>, &'static str) {
        ((self.section != TOP).then_some(self.section), self.leaf)
    }
}

/// The name of `key` in `section` as the user writes it.
pub(super) fn full_name(section: &str, key: &str) -> String {
    if section == TOP {
        key.to_owned()
    } else {
        format!("{section}.{key}")
    }
}

/// The section of the keys that stand outside of any.
pub(super) const TOP: &str = "top";

/// Defines the sections: their structs and defaults, the list of keys and sections, and how
/// a value is set and shown.
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

        /// All settings.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct Config {
            $(#[doc = $section_doc] pub $section: $type,)*
        }

        /// All sections with what they are for, in the order of the reference.
        pub(super) const SECTIONS: &[(&str, &str)] = &[$(
            (stringify!($section), concat!($section_doc $(, "\n", $section_more)*)),
        )*];

        /// All keys, in the order of the reference.
        pub const KEYS: &[SettingKey] = &[$($(
            SettingKey {
                section: stringify!($section),
                leaf: stringify!($key),
                doc: concat!($doc $(, "\n", $more)*),
                scope: settings!(@scope $($scope)?),
                bounds: settings!(@bounds $($low, $high)?),
            },
        )*)*];

        impl Config {
            /// Sets one key in the name of `by`.
            pub(super) fn set(
                &mut self,
                section: &str,
                key: &str,
                value: &DeValue<'_>,
                by: KeyScope,
            ) -> Result<(), String> {
                match (section, key) {
                    $($(
                        (stringify!($section), stringify!($key)) => {
                            let read = <$ty as Setting>::read(value)?;
                            $(let read = read.within(stringify!($low), stringify!($high))?;)?
                            self.$section.$key =
                                settings!(@lower $($scope)?; read, self.$section.$key, by)?;
                            Ok(())
                        }
                    )*)*
                    // A name with its section, in quotes.
                    _ => Err("must stand in its section, without quotes".to_owned()),
                }
            }

            /// The value of a key as the user would write it; `None` when it has none.
            pub fn shown(&self, key: &SettingKey) -> Option<String> {
                match (key.section, key.leaf) {
                    $($(
                        (stringify!($section), stringify!($key)) => {
                            self.$section.$key.show()
                        }
                    )*)*
                    _ => None,
                }
            }

            /// What a key's value may be, in words.
            pub(crate) fn kind_of(key: &SettingKey) -> String {
                match (key.section, key.leaf) {
                    $($(
                        (stringify!($section), stringify!($key)) => {
                            <$ty as Setting>::kind(key.bounds)
                        }
                    )*)*
                    _ => String::new(),
                }
            }
        }
    };
    (@scope) => { KeyScope::User };
    (@scope $scope:ident) => { KeyScope::$scope };
    (@bounds) => { None };
    (@bounds $low:literal, $high:literal) => { Some((stringify!($low), stringify!($high))) };
    (@lower Lower; $value:ident, $current:expr, $by:ident) => {
        match $by {
            KeyScope::User => Ok($value),
            KeyScope::Project | KeyScope::Lower => $value.lowering(&$current),
        }
    };
    (@lower $($scope:ident)?; $value:ident, $current:expr, $by:ident) => {
        Ok::<_, String>($value)
    };
}
pub(super) use settings;
