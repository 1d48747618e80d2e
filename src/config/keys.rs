//! Every setting: its name, type, default, bounds, and what it is for.

use toml::de::DeValue;

use super::value::{Setting, choice};

/// Who may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Only the user, in `config.toml`.
    User,
    /// The user, and a project for itself in `.claude/playbook.toml`.
    Project,
}

/// What is known of one key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The section; `top` for keys outside of any.
    section: &'static str,
    /// The last part of the name.
    leaf: &'static str,
    /// What it is for, with its unit.
    pub doc: &'static str,
    /// Who may set it.
    pub scope: Scope,
}

impl Key {
    /// The name as the user writes it: `retry.attempts`.
    pub fn name(&self) -> String {
        full_name(self.section, self.leaf)
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

/// Defines the sections: their structs and defaults, [`KEYS`], and how a value is set.
macro_rules! settings {
    ($(
        #[doc = $section_doc:literal]
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
            #[doc = $section_doc]
            #[derive(Debug, Clone, PartialEq)]
            // The names are the user's: `hooks.on_exit`, `hooks.on_clear`.
            #[allow(clippy::struct_field_names)]
            pub struct $type {
                $(
                    #[doc = $doc]
                    $(#[doc = $more])*
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

        /// All keys, in the order of the reference.
        pub const KEYS: &[Key] = &[$($(
            Key {
                section: stringify!($section),
                leaf: stringify!($key),
                doc: concat!($doc $(, "\n", $more)*),
                scope: settings!(@scope $($scope)?),
            },
        )*)*];

        impl Config {
            /// Sets one key; `None` when there is no such key.
            pub(super) fn set(
                &mut self,
                section: &str,
                key: &str,
                value: &DeValue<'_>,
            ) -> Option<Result<(), String>> {
                match (section, key) {
                    $($(
                        (stringify!($section), stringify!($key)) => Some(
                            <$ty as Setting>::read(value)
                                $(.and_then(|v| v.within(&$low, &$high)))?
                                .map(|v| self.$section.$key = v),
                        ),
                    )*)*
                    _ => None,
                }
            }

            /// The value of a key as the user would write it; `None` when it has none.
            pub fn shown(&self, key: &Key) -> Option<String> {
                match (key.section, key.leaf) {
                    $($(
                        (stringify!($section), stringify!($key)) => {
                            self.$section.$key.show()
                        }
                    )*)*
                    _ => None,
                }
            }
        }
    };
    (@scope) => { Scope::User };
    (@scope $scope:ident) => { Scope::$scope };
}

choice! {
    /// Which backend answers prompts.
    BackendChoice {
        /// A key: `anthropic`; else `rules`.
        Auto = "auto",
        /// The Messages API.
        Anthropic = "anthropic",
        /// Deterministic rules, no network.
        Rules = "rules",
    }
}

choice! {
    /// How the work of a hook is done.
    WorkerMode {
        /// In a background process that outlives the client.
        Detached = "detached",
        /// Within the hook, up to `worker.inline_ms`; for containers that end with the client.
        Inline = "inline",
    }
}

settings! {
    /// Settings outside of any section.
    top: Top {
        /// What answers prompts: `auto`, `anthropic` or `rules`.
        backend: BackendChoice = BackendChoice::Auto;
    }
    /// When sessions are reflected on.
    reflection: Reflection {
        /// Reflect at all; when off, hooks leave no trace.
        #[scope = Project]
        enabled: bool = true;
    }
    /// Which events of the client make a job.
    hooks: Hooks {
        /// Reflect when a session ends; unset: as the client's `playbook_update_on_exit` says, else yes.
        on_exit: Option<bool> = None;
        /// Reflect on `/clear`; unset: as the client's `playbook_update_on_clear` says, else yes.
        on_clear: Option<bool> = None;
        /// Reflect on each subagent's own transcript; unset: as the client's
        /// `playbook_update_on_subagent_stop` says, else no.
        on_subagent_stop: Option<bool> = None;
    }
    /// The Messages API.
    anthropic: Anthropic {
        /// The model; unset: the client's, else `claude-haiku-5-5`.
        model: Option<String> = None;
        /// The base URL; unset: the client's, else `https://api.anthropic.com`.
        base_url: Option<String> = None;
        /// Longest answer of one call, in tokens.
        max_tokens: u32 = 8_192, 256 ..= 64_000;
    }
    /// How a failing call is tried again.
    retry: Retry {
        /// Attempts of one call in all.
        attempts: u32 = 3, 1 ..= 10;
        /// Pause before the second attempt in milliseconds; doubles each time, ±25 %.
        base_ms: u64 = 2_000, 0 ..= 600_000;
        /// Longest time of one attempt in milliseconds.
        timeout_ms: u64 = 30_000, 10 ..= 600_000;
        /// First pause of a failing backend in milliseconds; doubles each time, up to 6 hours.
        park_ms: u64 = 60_000, 10 ..= 21_600_000;
    }
    /// The background worker.
    worker: Worker {
        /// `detached`, or `inline` for containers that end with the client.
        mode: WorkerMode = WorkerMode::Detached;
        /// Longest wait of an inline hook in milliseconds.
        inline_ms: u64 = 1_200, 0 ..= 600_000;
        /// Jobs worked on at once, and with that calls of a model at once.
        jobs: usize = 4, 1 ..= 64;
        /// How many days a waiting job is kept before it goes to `failed/`.
        keep_days: u32 = 30, 1 ..= 3_650;
    }
    /// What is sent of a session.
    evidence: Evidence {
        /// Budget of the evidence in tokens (estimated).
        tokens: u64 = 24_000, 500 ..= 500_000;
    }
    /// How a playbook grows.
    playbook: Growth {
        /// How similar two texts are that count as one, from 0 to 1; `AGENTIC_CONTEXT_DEDUP_THRESHOLD` wins.
        dedup_threshold: f64 = crate::playbook::dedup::DEFAULT_THRESHOLD, 0.0 ..= 1.0;
        /// The most key points; the least valuable leave first.
        max_points: usize = 1_000, 1 ..= 100_000;
        /// The most bytes of the file.
        max_bytes: usize = 524_288, 1_024 ..= 16_777_216;
        /// How many snapshots of a playbook are kept.
        snapshots: usize = 20, 1 ..= 1_000;
    }
    /// What a session is given at its start.
    injection: Injection {
        /// Longest context in UTF-16 units; the client cuts above 10,000.
        #[scope = Project]
        max_units: usize = 9_500, 200 ..= 10_000;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_doc_and_is_listed_once() {
        let names: Vec<_> = KEYS.iter().map(Key::name).collect();
        for (i, key) in KEYS.iter().enumerate() {
            assert!(key.doc.trim().ends_with(['.']), "{}", names[i]);
            assert!(!names[..i].contains(&names[i]), "{}", names[i]);
        }
    }

    #[test]
    fn a_project_may_set_only_what_cannot_send_data_elsewhere() {
        let allowed: Vec<_> = KEYS
            .iter()
            .filter(|k| k.scope == Scope::Project)
            .map(Key::name)
            .collect();
        assert_eq!(allowed, ["reflection.enabled", "injection.max_units"]);
    }
}
