//! Checks the backend that answers: why this one, and who pays.

use super::super::config::problems;
use super::Checks;
use crate::account::named::DEFAULT_OPENAI_URL;
use crate::account::{self, Account, Sent, client_env, login};
use crate::backend::{AccountStep, BackendName, BaseUrl};
use crate::cli::prelude::*;
use crate::config::{self, BackendChoice, Config};
use crate::queue::ask;
use crate::queue::backoff::Backoff;
use crate::queue::outcome::in_words;

const OPENAI_URL: &str = "`openai.base_url`";

pub(super) struct AccountFinding {
    off_by: Option<&'static str>,
    pub(super) account: Option<Account>,
    why: String,
    pays: String,
    sends: String,
    problems: Vec<String>,
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
        // A refusal or pause is listed last.
        checks.bad(TOPIC, last, self.remedy.as_deref().unwrap_or(todo));
    }
}

/// Asks no model. Reads the pauses, which are in the state folder, only with `may_look`.
pub(super) fn examine(session: &NamedSession, may_look: bool) -> AccountFinding {
    let mut problems = problems(session);
    let off_by = off_by(session);
    let Ok(config) = config::for_project(&session.paths, &session.project) else {
        return AccountFinding {
            off_by,
            account: None,
            why: "the settings cannot be used".to_owned(),
            pays: "not known: jobs wait until the settings are mended".to_owned(),
            sends: "nothing".to_owned(),
            problems,
            remedy: None,
        };
    };
    let place = (&session.paths, Some(&*session.project));
    let account = account::to_look_at(&session.env, &config, place);
    problems.extend(lacks(&config, &account));
    problems.dedup();
    let now = session.env.clock().now();
    let backoff = may_look.then(|| Backoff::read(&session.paths));
    let own = account.need.account();
    let refused = backoff.as_ref().and_then(|p| p.last(&own)?.remedy.as_ref());
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
    let sent = if may_look {
        session.sent()
    } else {
        Sent::default()
    };
    AccountFinding {
        remedy,
        off_by,
        why: why(session, &config, &account),
        pays: sent.pays(&account),
        sends: sent.sends(&account, &config),
        account: Some(account),
        problems,
    }
}

pub(in crate::cli) fn off_by(session: &NamedSession) -> Option<&'static str> {
    if session.env.is_on(name::DISABLE) {
        return Some(name::DISABLE);
    }
    let settings = config::unless_switched_off(&session.paths, &session.project);
    settings.is_none().then_some("`reflection.enabled`")
}

fn lacks(config: &Config, account: &Account) -> Vec<String> {
    let backend = account.need.backend;
    let chosen = account::chosen(config);
    let address = match backend {
        BackendName::Anthropic => chosen.address(&account.found_in.vars),
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
    let client = &account.found_in;
    let given = account::credential(&client.vars).map(|(variable, _)| variable);
    let only = match (client_env::provider(&client.vars), client.helper()) {
        (Some((switch, _)), _) => Some(account.with_place(switch)),
        (None, Some((_, place))) => Some(format!("`apiKeyHelper` of {place}")),
        (None, None) => None,
    };
    let key = match given {
        Some(name::CUSTOM_HEADERS) | None => "no key is set".to_owned(),
        Some(variable) => format!("you refused the key in {variable} in Claude Code"),
    };
    let lack = match login::program(&client.vars) {
        Some(_) => "logged in",
        None => "on PATH",
    };
    let why = match (account.need.backend, given, only) {
        _ if client.is_barred => {
            "the environment holds what a project says that you did not accept".to_owned()
        }
        (BackendName::Anthropic, Some(variable), _) => {
            format!("{} is set", account.with_place(variable))
        }
        (BackendName::ClaudeCli, _, Some(only)) => {
            format!("{only} is set, so only `claude` can ask")
        }
        (BackendName::ClaudeCli, ..) => {
            let sign = login::sign(&client.vars, &session.paths).unwrap_or_default();
            format!("{key}, and `claude` is logged in ({sign})")
        }
        (.., Some(only)) => format!("{only} is set, only `claude` can ask, and it is not {lack}"),
        _ => format!("no key is set, and `claude` is not {lack}"),
    };
    let unaccepted = client.unaccepted.iter().map(|file| {
        format!("; {file} is not used: Claude Code has no record that you accepted the folder")
    });
    format!("`backend` is auto, {why}") + &unaccepted.collect::<String>()
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
        "sends": finding.sends,
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
