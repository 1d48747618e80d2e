//! The backend that answers, the reason, and who pays.

use super::super::config::problems;
use super::Checks;
use crate::account::named::DEFAULT_OPENAI_URL;
use crate::account::{self, Account, login};
use crate::backend::{AccountStep, BackendName, BaseUrl};
use crate::cli::prelude::*;
use crate::config::{self, BackendChoice, Config};
use crate::queue::ask;
use crate::queue::backoff::Backoff;
use crate::queue::outcome::in_words;

const OPENAI_URL: &str = "`openai.base_url`";

pub(super) struct AccountFinding {
    off_by: Option<&'static str>,
    /// None with settings that cannot be used.
    pub(super) account: Option<Account>,
    why: String,
    pays: String,
    problems: Vec<String>,
    /// The way out of the last of them, where that is known.
    remedy: Option<String>,
}

impl AccountFinding {
    pub(super) fn check(&self, checks: &mut Checks) {
        const TOPIC: &str = "backend";
        let todo = match &self.account {
            None => "`playbook config check` names each mistake; correct it, or remove the line",
            Some(account) if account.lack().is_some() => {
                "give what it lacks; or `playbook config set backend auto`, which takes what answers \
                 here, or `rules`, which needs no key"
            }
            Some(_) => "`playbook config list` shows the settings in force",
        };
        let Some((last, problems)) = self.problems.split_last() else {
            return checks.good(TOPIC, &self.why);
        };
        for problem in problems {
            checks.bad(TOPIC, problem, todo);
        }
        // What was refused comes last.
        checks.bad(TOPIC, last, self.remedy.as_deref().unwrap_or(todo));
    }
}

/// Looks at settings and surroundings; asks nobody. What is parked stands in the state
/// folder, which may not be looked into.
pub(super) fn examine(session: &NamedSession, may_look: bool) -> AccountFinding {
    let mut problems = problems(session);
    let off_by = off_by(session);
    let Ok(config) = config::for_project(&session.paths, &session.project) else {
        return AccountFinding {
            off_by,
            account: None,
            why: "the settings cannot be used".to_owned(),
            pays: "nobody: jobs wait until the settings are mended".to_owned(),
            problems,
            remedy: None,
        };
    };
    let account = account::to_look_at(&session.env, &config, &session.paths);
    problems.extend(lacks(session, &config, &account));
    problems.dedup();
    let now = session.env.clock().now();
    let backoff = may_look.then(|| Backoff::read(&session.paths));
    let own = account.need.account();
    let refused = backoff.as_ref().and_then(|p| p.of_refused(&own));
    let mut remedy = refused.map(|(command, why)| format!("`{command}` {why}"));
    if let Some(parked) = backoff.as_ref().and_then(|p| p.parked(&own, now)) {
        remedy.get_or_insert_with(|| "nothing: it is tried again by itself".to_owned());
        let until = change_text::time(parked.until);
        let reason = in_words(&parked.reason);
        problems.push(format!("paused until {until}: {reason}"));
    } else if refused.is_some() {
        problems.push(
            "the last question was refused, and no other one has been answered since".to_owned(),
        );
    }
    AccountFinding {
        remedy,
        off_by,
        why: why(session, &config, &account),
        pays: pays(session, &account),
        account: Some(account),
        problems,
    }
}

/// Returns what switches reflection off here, if anything does.
pub(in crate::cli) fn off_by(session: &NamedSession) -> Option<&'static str> {
    if session.env.is_on(name::DISABLE) {
        return Some(name::DISABLE);
    }
    let settings = config::unless_switched_off(&session.paths, &session.project);
    settings.is_none().then_some("`reflection.enabled`")
}

fn lacks(session: &NamedSession, config: &Config, account: &Account) -> Vec<String> {
    let backend = account.need.backend;
    let address = match backend {
        BackendName::Anthropic => Some(account::base_url(&session.env, config)),
        BackendName::Openai => {
            let url = config.openai.base_url.as_deref();
            Some((OPENAI_URL, url.unwrap_or(DEFAULT_OPENAI_URL)))
        }
        BackendName::ClaudeCli | BackendName::Rules | BackendName::Fixtures => None,
    };
    let flaw = address.and_then(|(given_by, url)| {
        let flaw = BaseUrl::parse(url, ask::plain(backend, config)).err()?;
        Some(format!("{given_by}: {flaw}"))
    });
    flaw.into_iter().chain(account.lack()).collect()
}

fn why(session: &NamedSession, config: &Config, account: &Account) -> String {
    let choice = config.top.backend;
    if choice != BackendChoice::Auto {
        return format!("`backend` is \"{}\" in the settings", choice.word());
    }
    match (account.need.backend, account::credential(&session.env)) {
        (BackendName::Anthropic, Some((variable, _))) => {
            format!("`backend` is auto and {variable} is set")
        }
        (BackendName::ClaudeCli, given) => {
            let sign = match login::sign(&session.env, &session.paths) {
                Some(login::Sign::Token) => name::OAUTH_TOKEN,
                Some(login::Sign::Credentials) => "its credentials file is there",
                Some(login::Sign::Account) => "its state names an account",
                None => "",
            };
            let key = match given {
                Some((variable, _)) => format!("you refused the key in {variable} in Claude Code"),
                None => "no key is set".to_owned(),
            };
            format!("`backend` is auto, {key}, and `claude` is logged in ({sign})")
        }
        _ => {
            let is_there = login::program(&session.env).is_some();
            let lack = if is_there { "logged in" } else { "on PATH" };
            format!("`backend` is auto, no key is set, and `claude` is not {lack}")
        }
    }
}

fn pays(session: &NamedSession, account: &Account) -> String {
    match account.need.backend {
        BackendName::Rules | BackendName::Fixtures => {
            "nobody: nothing leaves this machine".to_owned()
        }
        BackendName::Anthropic => match account::credential(&session.env) {
            None => "nobody yet: there is no key".to_owned(),
            Some((variable, _)) => format!(
                "the owner of the key in {variable}, at {}",
                account.need.base_url.as_deref().unwrap_or_default()
            ),
        },
        BackendName::Openai => {
            let url = account.need.base_url.as_deref().unwrap_or_default();
            match account.secret {
                Some(_) => format!("the owner of the key, at {url}"),
                None => format!("whoever runs {url}: no key is sent"),
            }
        }
        BackendName::ClaudeCli => format!(
            "the login of Claude Code in {}",
            session.paths.client().display()
        ),
    }
}

pub(super) fn as_json(session: &NamedSession, finding: &AccountFinding) -> Value {
    let need = finding.account.as_ref().map(|account| &account.need);
    let model = |step| {
        need.map(|n| n.model_for(step))
            .filter(|model| !model.is_empty())
    };
    json!({
        "backend": need.map(|need| need.backend),
        "why": finding.why,
        "pays": finding.pays,
        "base_url": need.and_then(|need| need.base_url.as_deref()),
        "models": {"reflector": model(AccountStep::Reflector), "curator": model(AccountStep::Curator)},
        "enabled": finding.off_by.is_none(),
        "off_by": finding.off_by,
        "project": session.project,
        "config": session.paths.config_file(),
        "state": session.paths.state(),
        "problems": finding.problems,
    })
}
