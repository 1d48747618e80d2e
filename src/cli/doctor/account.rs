//! What answers, why, and who pays.

use serde_json::{Value, json};

use super::super::config::problems;
use super::super::output::{BAD, BOLD, GOOD, plain, say};
use super::super::session::Session;
use super::check::Check;
use crate::account::{self, Account, login};
use crate::backend::{BaseUrl, Name, Step};
use crate::config::{self, BackendChoice, Config};
use crate::env::name;
use crate::queue::backends;
use crate::queue::parking::Parking;

/// What answers a prompt here, and what is wrong with it.
pub(super) struct Finding {
    /// What switches reflection off; `None` when it is on.
    off_by: Option<String>,
    /// The account; `None` with settings that cannot be used.
    pub(super) account: Option<Account>,
    why: String,
    pays: String,
    problems: Vec<String>,
    /// What helps with the last of them, where that is known.
    remedy: Option<String>,
}

impl Finding {
    pub(super) fn tell(&self) -> anyhow::Result<()> {
        let account = self.account.as_ref();
        say!(
            "{BOLD}Backend{BOLD:#}  {}",
            account.map_or("none", |a| a.need.backend.as_str())
        );
        say!("  why   {}", plain(&self.why));
        say!("  pays  {}", plain(&self.pays));
        if let Some(account) = account.filter(|a| !a.need.backend.is_offline()) {
            let need = &account.need;
            let (reflector, curator) = (
                need.model_for(Step::Reflector),
                need.model_for(Step::Curator),
            );
            say!(
                "  asks  {} (reflector), {} (curator)",
                plain(reflector),
                plain(curator)
            );
        }
        let (colour, state) = match &self.off_by {
            None => (GOOD, "on".to_owned()),
            Some(by) => (BAD, format!("off, by {by}")),
        };
        say!(
            "{BOLD}Reflection{BOLD:#}  {colour}{}{colour:#}",
            plain(&state)
        );
        Ok(())
    }

    pub(super) fn checks(&self) -> Vec<Check> {
        const TOPIC: &str = "backend";
        let last = self.problems.len().saturating_sub(1);
        let problems = self.problems.iter().enumerate();
        let mut checks: Vec<_> = problems
            .map(|(at, problem)| {
                let remedy = self.remedy.as_deref().filter(|_| at == last);
                let settings = "`playbook config list` shows the settings in force";
                Check::bad(TOPIC, problem, remedy.unwrap_or(settings))
            })
            .collect();
        if checks.is_empty() {
            checks.push(Check::good(TOPIC, &self.why));
        }
        checks
    }
}

/// Looks at settings and surroundings; asks nobody. What is parked stands in the state
/// folder, which may not be looked into.
pub(super) fn examine(session: &Session, may_look: bool) -> Finding {
    let mut problems = problems(&session.paths, &session.project);
    let off_by = off_by(session);
    let Ok(config) = config::for_project(&session.paths, &session.project) else {
        return Finding {
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
    let parking = may_look.then(|| Parking::read(&session.paths));
    let own = account.need.account();
    let refused = parking.as_ref().and_then(|p| p.of_refused(&own));
    let remedy = refused.map(|(command, why)| format!("`{command}` {why}"));
    if let Some(parked) = parking.as_ref().and_then(|p| p.parked(&own, now)) {
        let until = parked
            .until
            .map_or(String::new(), |at| format!(" until {at:.0}"));
        problems.push(format!("nobody is asked{until}: {}", parked.reason));
    } else if refused.is_some() {
        problems.push("the key or login was refused and has not worked since".to_owned());
    }
    Finding {
        remedy,
        off_by,
        why: why(session, &config, &account),
        pays: pays(session, &account),
        account: Some(account),
        problems,
    }
}

fn off_by(session: &Session) -> Option<String> {
    if session.env.is_on(name::DISABLE) {
        return Some(name::DISABLE.to_owned());
    }
    let settings = config::unless_switched_off(&session.paths, &session.project);
    settings
        .is_none()
        .then(|| "`reflection.enabled`".to_owned())
}

/// What the chosen backend needs and does not have.
fn lacks(session: &Session, config: &Config, account: &Account) -> Vec<String> {
    let mut lacks = Vec::new();
    if account.need.backend == Name::Anthropic {
        let (given_by, url) = account::base_url(&session.env, config);
        let flaw = BaseUrl::parse(url, backends::plain(config)).err();
        lacks.extend(flaw.map(|flaw| format!("{given_by}: {flaw}")));
    }
    lacks.extend(account.lack());
    lacks
}

fn why(session: &Session, config: &Config, account: &Account) -> String {
    let choice = config.top.backend;
    if choice != BackendChoice::Auto {
        return format!("`backend` is \"{}\" in the settings", choice.word());
    }
    match (account.need.backend, account::credential(&session.env)) {
        (Name::Anthropic, Some((variable, _))) => {
            format!("`backend` is auto and {variable} is set")
        }
        (Name::ClaudeCli, given) => format!(
            "`backend` is auto, {}, and `claude` is logged in ({})",
            match given {
                Some((variable, _)) => format!("you refused the key in {variable} in the client"),
                None => "no key is set".to_owned(),
            },
            login::sign(&session.env, &session.paths).map_or("", sign)
        ),
        _ => {
            let lack = match login::program(&session.env) {
                None => "`claude` is not on PATH",
                Some(_) => "`claude` is not logged in",
            };
            format!("`backend` is auto, no key is set, and {lack}")
        }
    }
}

fn sign(sign: login::Sign) -> &'static str {
    match sign {
        login::Sign::Token => name::OAUTH_TOKEN,
        login::Sign::Credentials => "its credentials file is there",
        login::Sign::Account => "its state names an account",
    }
}

fn pays(session: &Session, account: &Account) -> String {
    match account.need.backend {
        Name::Rules | Name::Fixtures => "nobody: nothing leaves this machine".to_owned(),
        Name::Anthropic => match account::credential(&session.env) {
            None => "nobody yet: there is no key".to_owned(),
            Some((variable, _)) => format!(
                "the owner of the key in {variable}, at {}",
                account.need.base_url.as_deref().unwrap_or_default()
            ),
        },
        Name::ClaudeCli => format!("the client's login in {}", session.paths.client().display()),
    }
}

pub(super) fn as_json(session: &Session, finding: &Finding) -> Value {
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
        "models": {"reflector": model(Step::Reflector), "curator": model(Step::Curator)},
        "enabled": finding.off_by.is_none(),
        "off_by": finding.off_by,
        "project": session.project,
        "config": session.paths.config_file(),
        "state": session.paths.state(),
        "problems": finding.problems,
    })
}
