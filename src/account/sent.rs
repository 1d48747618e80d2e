//! The sentences on who pays and what was sent, the same for every command. What the ledger has
//! counts more than what settings suggest.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{Account, BackendName, client_env, credential};
use crate::config::Config;
use crate::env::name;
use crate::memory::{Memory, MemoryError};
use crate::queue::budget::Day;
use crate::report::read::Sum;
use crate::shown::{counted, grouped};

/// The calls that left this machine, by the ledger.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) today: Sum,
    pub(crate) ever: Sum,
    /// The models that were asked today, or ever where that is none.
    models: BTreeSet<String>,
    sessions: u64,
}

impl Sent {
    pub(crate) fn of(memory: &Memory, now: Timestamp) -> Result<Self, MemoryError> {
        let day = Day::of(now);
        let mut sent = Self {
            sessions: memory.sessions_asked_about()?,
            ..Self::default()
        };
        let mut of_today = BTreeSet::new();
        for (since, sum, models) in [
            (Timestamp::UNIX_EPOCH, &mut sent.ever, &mut sent.models),
            (day.start, &mut sent.today, &mut of_today),
        ] {
            for row in memory.spending(None, since, day.end)? {
                sum.add(&row);
                models.insert(format!("{} ({})", row.model, row.backend));
            }
        }
        if !of_today.is_empty() {
            sent.models = of_today;
        }
        Ok(sent)
    }

    /// Returns who pays for what `account` is asked, and who paid before.
    pub(crate) fn pays(&self, account: &Account) -> String {
        match account.payer() {
            Some(payer) => payer,
            None if self.ever.calls == 0 => "nobody: nothing leaves this machine".to_owned(),
            None => format!(
                "nobody now; {} went out before, to {}",
                in_words(&self.ever),
                self.models()
            ),
        }
    }

    /// Returns how much goes out for a session, and went out today.
    pub(crate) fn sends(&self, account: &Account, config: &Config) -> String {
        let tokens = self.ever.tokens_in + self.ever.tokens_out;
        let a_session = match tokens.checked_div(self.sessions) {
            Some(mean) => {
                let sessions = counted(
                    usize::try_from(self.sessions).unwrap_or(usize::MAX),
                    "session",
                );
                format!(
                    "about {} tokens a session (mean of {sessions})",
                    grouped(mean)
                )
            }
            None if account.need.backend.is_offline() => "nothing".to_owned(),
            None => format!(
                "at most {} tokens of a session, and the key points",
                grouped(config.evidence.tokens)
            ),
        };
        format!("{a_session}; today {}", in_words(&self.today))
    }

    /// Returns today's sum with who was asked and who pays, once something was sent.
    pub(crate) fn today(&self, account: &Account) -> Option<String> {
        let payer = account.payer().map(|payer| format!("; {payer} pays"));
        (self.today.calls > 0).then(|| {
            format!(
                "sent today: {}, to {}{}; `playbook status --cost` has the sums",
                in_words(&self.today),
                self.models(),
                payer.unwrap_or_default()
            )
        })
    }

    fn models(&self) -> String {
        let models: Vec<&str> = self.models.iter().map(String::as_str).collect();
        models.join(", ")
    }
}

fn in_words(sum: &Sum) -> String {
    let calls = usize::try_from(sum.calls).unwrap_or(usize::MAX);
    let tokens = grouped(sum.tokens_in + sum.tokens_out);
    match calls {
        0 => "nothing".to_owned(),
        _ => format!("{} with {tokens} tokens", counted(calls, "call")),
    }
}

impl Account {
    /// Returns who pays, with the name and place of the key; `None` where no model is asked.
    fn payer(&self) -> Option<String> {
        let url = self.need.base_url.as_deref();
        let client = &self.found_in;
        Some(match self.need.backend {
            BackendName::Rules | BackendName::Fixtures => return None,
            BackendName::Anthropic => match credential(&client.vars) {
                None => "nobody yet: there is no key".to_owned(),
                Some((name::CUSTOM_HEADERS, _)) => format!(
                    "the owner of the headers in {}, at {}",
                    self.with_place(name::CUSTOM_HEADERS),
                    url.unwrap_or_default()
                ),
                Some((variable, _)) => format!(
                    "the owner of the key in {}, at {}",
                    self.with_place(variable),
                    url.unwrap_or_default()
                ),
            },
            BackendName::Openai => match self.secret {
                Some(_) => format!("the owner of the key, at {}", url.unwrap_or_default()),
                None => format!("whoever runs {}: no key is sent", url.unwrap_or_default()),
            },
            BackendName::ClaudeCli => {
                let payer = if let Some((switch, provider)) = client_env::provider(&client.vars) {
                    let switch = self.with_place(switch);
                    format!("the account at {provider} (by {switch}), through `claude -p`")
                } else if let Some((_, place)) = client.helper() {
                    format!(
                        "the owner of the key of `apiKeyHelper` in {place}, through `claude -p`"
                    )
                } else {
                    format!("the login of Claude Code in {}", client.folder.display())
                };
                match url {
                    Some(url) => format!("{payer}, at {url}"),
                    None => payer,
                }
            }
        })
    }

    /// Returns a variable with the settings file that sets it, if one does.
    pub(crate) fn with_place(&self, variable: &str) -> String {
        match self.found_in.place(variable) {
            Some(file) => format!("{variable} of {file}"),
            None => variable.to_owned(),
        }
    }
}
