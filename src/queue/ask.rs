//! Puts a job's question to the backend it needs.

use std::path::Path;

use super::evidence::SessionEvidence;
use super::progress::Job;
use super::shop::Shop;
use super::stages::Stop;
use crate::account::Account;
use crate::backend::{Anthropic, Backend, BaseUrl, Name, Plain, RetryPolicy, Rules};
use crate::config::Config;
use crate::fsx;
use crate::paths::{Paths, playbook_file};
use crate::playbook::Playbook;
use crate::playbook::render::format_playbook;
use crate::playbook::store::Store;
use crate::reflect::pipeline::{Limits, Reflected, run_reflector};
use crate::reflect::prompt::{REFLECTOR_TEMPLATE, ReflectorInput, reflector_prompt};
use crate::telemetry;

/// The template's name; the user's own is looked for under it.
const TEMPLATE: &str = "reflector.txt";
/// A larger template is not one.
const MAX_TEMPLATE: u64 = 1 << 20;
/// How the playbook stands in a prompt: the key points alone.
const POINTS_ONLY: &str = "{key_points}";

/// Asks the reflector about a job's session.
pub(super) async fn reflector(
    shop: &Shop,
    job: &Job,
    session: &SessionEvidence,
    config: &Config,
) -> Result<Reflected, Stop> {
    let playbook = Store::new(playbook_file(&job.ticket.project)).load()?;
    let backend = backend(&shop.account, job, session, &playbook, config)?;
    let template = template(&shop.paths)?;
    let model = job
        .ticket
        .need
        .as_ref()
        .and_then(|need| need.model.as_deref());
    let asked = judge(
        &template,
        session,
        &playbook,
        backend.as_ref(),
        model.unwrap_or_default(),
        config,
    )
    .await;
    if let Some(folder) = &shop.diagnostics {
        let id = job.ticket.id.as_str();
        telemetry::save_diagnostic(folder, id, "reflector", &asked.prompt, &asked.reflected);
    }
    Ok(asked.reflected)
}

/// A question and what came of it.
pub struct Judged {
    /// The prompt.
    pub prompt: String,
    /// The result.
    pub reflected: Reflected,
}

/// Builds the reflector's prompt and asks the backend.
pub async fn judge(
    template: &str,
    session: &SessionEvidence,
    playbook: &Playbook,
    backend: &dyn Backend,
    model: &str,
    config: &Config,
) -> Judged {
    let input = ReflectorInput {
        transcript: &session.evidence.text,
        playbook: &format_playbook(playbook, POINTS_ONLY),
        cited: &session.facts.citations,
        outcome: session.facts.outcome,
        category: session.facts.category,
    };
    let prompt = reflector_prompt(template, &input);
    let limits = Limits {
        model,
        max_tokens: config.anthropic.max_tokens,
        deadline: None,
    };
    let reflected = run_reflector(backend, &prompt, limits).await;
    Judged {
        prompt: prompt.text,
        reflected,
    }
}

/// The reflector's template: the user's, else the built-in one.
pub fn template(paths: &Paths) -> Result<String, fsx::FsError> {
    let file = paths.template(TEMPLATE);
    match fsx::read_if_there(&file, MAX_TEMPLATE)? {
        None => Ok(REFLECTOR_TEMPLATE.to_owned()),
        Some(bytes) => utf8(bytes, &file),
    }
}

fn utf8(bytes: Vec<u8>, file: &Path) -> Result<String, fsx::FsError> {
    String::from_utf8(bytes).map_err(|e| fsx::FsError {
        action: "read template".to_owned(),
        path: file.to_owned(),
        source: std::io::Error::new(std::io::ErrorKind::InvalidData, e),
    })
}

/// The backend that a job needs, with the secret of this process.
fn backend<'a>(
    account: &Account,
    job: &Job,
    session: &'a SessionEvidence,
    playbook: &'a Playbook,
    config: &Config,
) -> Result<Box<dyn Backend + 'a>, Stop> {
    let need = job.ticket.need.as_ref().unwrap_or(&account.need);
    build(need.backend, account, session, playbook, config).map_err(|why| Stop::waits(&why))
}

/// Builds a backend; the error is a sentence for the user.
pub fn build<'a>(
    name: Name,
    account: &Account,
    session: &'a SessionEvidence,
    playbook: &'a Playbook,
    config: &Config,
) -> Result<Box<dyn Backend + 'a>, String> {
    match name {
        Name::Rules => Ok(Box::new(Rules::new(&session.facts, playbook))),
        Name::Anthropic => {
            let credential = account
                .secret
                .clone()
                .ok_or("no key: set ANTHROPIC_API_KEY, or `backend = \"rules\"` to need none")?;
            let url = account.need.base_url.as_deref().unwrap_or_default();
            let base = BaseUrl::parse(url, Plain::LoopbackOnly).map_err(|e| e.to_string())?;
            Ok(Box::new(Anthropic::new(base, credential, policy(config))))
        }
        other => Err(format!("backend `{other}` is not known to this version")),
    }
}

fn policy(config: &Config) -> RetryPolicy {
    let ms = std::time::Duration::from_millis;
    RetryPolicy {
        attempts: config.retry.attempts,
        base: ms(config.retry.base_ms),
        request: ms(config.retry.timeout_ms),
        ..RetryPolicy::default()
    }
}
