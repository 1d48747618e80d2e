//! Sentences on who pays and what was sent, the same for every command. The ledger's counts come
//! before what the settings suggest.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Account, BackendName, client_env, credential};
use crate::config::Config;
use crate::env::name;
use crate::memory::{Memory, MemoryError};
use crate::queue::budget::Day;
use crate::shown::{counted, grouped};

type Sum = (u64, u64);

#[derive(Debug, Default)]
pub(crate) struct Sent {
    ever: Sum,
    today: Sum,
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
        for row in memory.spending(None, Timestamp::UNIX_EPOCH, day.end)? {
            sent.ever.0 += row.attempts;
            sent.ever.1 += row.input_tokens + row.output_tokens;
            sent.models
                .insert(format!("{} ({})", row.model, row.backend));
        }
        for row in memory.spending(None, day.start, day.end)? {
            sent.today.0 += row.attempts;
            sent.today.1 += row.input_tokens + row.output_tokens;
        }
        Ok(sent)
    }

    pub(crate) fn pays(&self, account: &Account) -> String {
        match account.payer() {
            Some(payer) => payer,
            None if self.ever.0 == 0 => "nobody: no session is sent to a model".to_owned(),
            None => {
                let models: Vec<&str> = self.models.iter().map(String::as_str).collect();
                let (sum, models) = (in_words(&self.ever), models.join(", "));
                format!("nobody now; {sum} went out before, to {models}")
            }
        }
    }

    pub(crate) fn sends(&self, account: &Account, config: &Config) -> String {
        let a_session = match self.ever.1.checked_div(self.sessions) {
            Some(mean) => format!("about {} tokens a session", grouped(mean)),
            None if account.need.backend.is_offline() => "nothing".to_owned(),
            None => format!(
                "at most {} tokens of a session, and the key points",
                grouped(config.evidence.tokens)
            ),
        };
        format!("{a_session}; today {}", in_words(&self.today))
    }

    /// Returns today's sum and who pays; `None` while nothing was sent today.
    pub(crate) fn today(&self, account: &Account, now: Timestamp) -> Option<String> {
        let sum = in_words(&self.today);
        let day = now.to_zoned(TimeZone::system()).strftime("%-d %b");
        let payer = self.pays(account);
        let sentence = format!(
            "sent today ({day}): {sum}; who pays: {payer}; `playbook status --cost` has more"
        );
        (self.today.0 > 0).then_some(sentence)
    }
}

fn in_words((calls, tokens): &Sum) -> String {
    let calls = usize::try_from(*calls).unwrap_or(usize::MAX);
    let tokens = grouped(*tokens);
    match calls {
        0 => "nothing".to_owned(),
        _ => format!("{} with {tokens} tokens", counted(calls, "call")),
    }
}

impl Account {
    /// Returns who pays, with the name and place of the key; `None` if no model is asked.
    fn payer(&self) -> Option<String> {
        let client = &self.found_in;
        let payer = match self.need.backend {
            BackendName::Rules | BackendName::Fixtures => return None,
            BackendName::Anthropic => match credential(&client.vars) {
                None => return Some("nobody yet: there is no key".to_owned()),
                Some((variable, _)) => {
                    let what = if variable == name::CUSTOM_HEADERS {
                        "headers"
                    } else {
                        "key"
                    };
                    format!("the owner of the {what} in {}", self.with_place(variable))
                }
            },
            BackendName::Openai if self.secret.is_some() => "the owner of the key".to_owned(),
            BackendName::Openai => "the owner of the server, which gets no key".to_owned(),
            BackendName::ClaudeCli => {
                if let Some((switch, provider)) = client_env::provider(&client.vars) {
                    let switch = self.with_place(switch);
                    format!("the account at {provider} (by {switch}), through `claude -p`")
                } else if let Some((_, place)) = client.helper() {
                    format!(
                        "the owner of the key of `apiKeyHelper` in {place}, through `claude -p`"
                    )
                } else {
                    format!("the login of Claude Code in {}", client.folder.display())
                }
            }
        };
        let url = self.need.base_url.iter().map(|url| format!(", at {url}"));
        Some(payer + &url.collect::<String>())
    }

    pub(crate) fn with_place(&self, variable: &str) -> String {
        match self.found_in.place(variable) {
            Some(file) => format!("{variable} of {file}"),
            None => variable.to_owned(),
        }
    }
}
