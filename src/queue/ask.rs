//! Puts the questions of a job to the backend it needs.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::backoff::Pause;
use super::budget::{Caller, Hold, Meter};
use super::context::Worker;
use super::outcome::{Outcome, Step};
use super::progress::{Job, SessionEvidence};
use super::{Result, screening, transcripts};
use crate::account::{Account, Need};
use crate::backend::question::{Answered, question};
use crate::backend::{
    AccountStep, Anthropic, Ask, Backend, BackendName, BaseUrl, Fixtures, Masked, Openai, Plain,
    RetryPolicy, Rules,
};
use crate::config::Config;
use crate::memory::{Memory, MemoryError};
use crate::paths::Paths;
use crate::playbook::render::format_playbook;
use crate::playbook::{Id, Playbook};
use crate::reflect::curator::CuratorMaterial;
use crate::reflect::prompt::{FilledPrompt, ReflectorInput, curator_prompt, reflector_prompt};
use crate::reflect::reply::{Curation, Reflection, Reply};
use crate::reflect::rules;
use crate::setup::templates::{CURATOR, MAX_TEMPLATE, REFLECTOR, Template};
use crate::store::{Store, votes};
use crate::transcript::Facts;
use crate::trust::TrustStanding;
use crate::{fsx, telemetry};

/// The longest answer of one call in tokens, where no setting says it.
const MAX_TOKENS: u32 = 8_192;
pub(super) const POINTS_ONLY: &str = "{key_points}";
const KNOWN_NOTES: usize = 5;

#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) backend: &'a dyn Backend,
    pub(crate) need: &'a Need,
    pub(crate) config: &'a Config,
    pub(crate) deadline: Option<Instant>,
}

impl<'a> Asker<'a> {
    pub(crate) fn now(parts: BackendParts<'a>, backend: &'a dyn Backend) -> Self {
        Self {
            backend,
            need: &parts.account.need,
            config: parts.config,
            deadline: parts.config.budgets.time_ms.deadline(Instant::now()),
        }
    }

    pub(crate) async fn reflector(&self, prompt: FilledPrompt) -> JudgedSession<Reflection> {
        let mut judged: JudgedSession<Reflection> = self.put(AccountStep::Reflector, prompt).await;
        let most = self.config.reflection.summary_tokens;
        judged.answered.result.shorten(most);
        judged
    }

    async fn put<T: Reply>(&self, step: AccountStep, prompt: FilledPrompt) -> JudgedSession<T> {
        let ask = Ask {
            step,
            system: prompt.system,
            prompt: &prompt.text,
            model: self.need.model_for(step),
            max_tokens: max_tokens(self.need.backend, self.config),
            marker: &prompt.marker,
            attempts: u32::MAX,
            deadline: self.deadline,
        };
        let answered = question(self.backend, ask).await;
        JudgedSession {
            prompt: prompt.text,
            answered,
        }
    }
}

pub(crate) struct JudgedSession<T> {
    pub(crate) prompt: String,
    pub(crate) answered: Answered<T>,
}

#[derive(Clone, Copy)]
pub(crate) struct SessionQuestion<'a> {
    pub(crate) session: &'a SessionEvidence,
    pub(crate) playbook: &'a Playbook,
    /// The key points that it was given or cited.
    pub(crate) given: &'a [Id],
    pub(crate) known_notes: &'a [String],
    pub(crate) config: &'a Config,
}

impl SessionQuestion<'_> {
    pub(crate) fn prompt(&self, template: &str) -> FilledPrompt {
        let facts = &self.session.facts;
        let input = ReflectorInput {
            transcript: &self.session.evidence.text,
            playbook: &format_playbook(self.playbook, POINTS_ONLY),
            cited: &facts.citations,
            outcome: facts.outcome,
            category: facts.category,
            summary_tokens: self.config.reflection.summary_tokens,
            given: self.given,
            known_notes: self.known_notes,
        };
        reflector_prompt(template, &input)
    }
}

pub(super) async fn reflector(
    context: &Worker,
    job: &mut Job,
    session: &SessionEvidence,
    config: &Config,
) -> Step<Answered<Reflection>> {
    let mut playbook = points_of(context, job, config)?;
    transcripts::only_its_own(job, &session.facts, &mut playbook);
    let template = reflector_template(context.paths())?;
    let known_notes = known_notes(&context.memory(), &job.ticket.project, &session.facts)?;
    let question = SessionQuestion {
        session,
        playbook: &playbook,
        given: &transcripts::given(job, &session.facts, &playbook),
        known_notes: &known_notes,
        config,
    };
    let prompt = question.prompt(&template);
    let parts = parts(context, &session.facts, config);
    let step = (AccountStep::Reflector, prompt);
    let mut answered: Answered<Reflection> = put(context, job, step, parts).await?;
    answered.result.shorten(config.reflection.summary_tokens);
    Ok(answered)
}

/// Asks a project's curator about its material; `playbook` is the list as the prompt shows it.
pub(super) async fn curator(
    context: &Worker,
    job: &mut Job,
    (playbook, material): (&str, &CuratorMaterial),
    config: &Config,
) -> Step<Answered<Curation>> {
    let template = curator_template(context.paths())?;
    let prompt = curator_prompt(&template, playbook, material);
    let facts = Facts::default();
    let step = (AccountStep::Curator, prompt);
    put(context, job, step, parts(context, &facts, config)).await
}

async fn put<T: Reply>(
    context: &Worker,
    job: &mut Job,
    (step, prompt): (AccountStep, FilledPrompt),
    parts: BackendParts<'_>,
) -> Step<Answered<T>> {
    let backend = build(need_of(context, job).backend, parts).map_err(|why| Outcome::wait(&why))?;
    let meter = Meter::new(backend, context, Caller::job(job));
    let asker = Asker {
        need: need_of(context, job),
        deadline: job
            .begun
            .and_then(|begun| parts.config.budgets.time_ms.deadline(begun)),
        ..Asker::now(parts, &meter)
    };
    let judged = asker.put(step, prompt).await;
    if let Some(folder) = &context.diagnostics {
        let name = format!("{}-{}", job.ticket.id, step.word());
        telemetry::save_diagnostic(folder, &name, &judged.prompt, &judged.answered);
    }
    let (paid, hold) = meter.read();
    job.progress.spent.calls.extend(paid);
    match hold {
        Some(hold) => Err(held(context, job, &hold)),
        None => Ok(judged.answered),
    }
}

pub(crate) fn known_notes(
    memory: &Memory,
    project: &Path,
    facts: &Facts,
) -> Result<Vec<String>, MemoryError> {
    let errors: Vec<_> = facts.errors.iter().map(|error| error.signature).collect();
    if errors.is_empty() {
        return Ok(Vec::new());
    }
    memory.notes_on(&project.to_string_lossy(), &errors, KNOWN_NOTES)
}

/// Returns the playbook as models see it, masked and without what is held back.
pub(crate) fn known_points(paths: &Paths, project: &Path, config: &Config) -> Result<Playbook> {
    let file = Store::of(paths, project).load()?;
    let votes = votes::read(paths, project, &file)?;
    shown_to_models(file.with_votes(&votes), paths, project, config)
}

/// Reads the points like [`known_points`]; the job remembers that there were some.
pub(super) fn points_of(context: &Worker, job: &mut Job, config: &Config) -> Result<Playbook> {
    let (paths, project) = (context.paths(), &job.ticket.project);
    let file = job.store(paths).load()?;
    job.progress.has_seen_points |= !file.is_empty();
    let votes = votes::of(paths, project, &file, &mut context.memory())?;
    shown_to_models(file.with_votes(&votes), paths, project, config)
}

fn shown_to_models(
    mut playbook: Playbook,
    paths: &Paths,
    project: &Path,
    config: &Config,
) -> Result<Playbook> {
    let standing = TrustStanding::of(paths, project);
    playbook.keep(|point| screening::may_be_used(&standing, point));
    playbook.mask_secrets(&config.secrets.secrecy()?.masker);
    Ok(playbook)
}

pub(super) fn need_of<'a>(context: &'a Worker, job: &'a Job) -> &'a Need {
    let own = job.ticket.need.as_ref();
    own.unwrap_or(&context.account.need)
}

pub(crate) fn parts<'a>(
    context: &'a Worker,
    facts: &'a Facts,
    config: &'a Config,
) -> BackendParts<'a> {
    BackendParts {
        paths: context.paths(),
        account: &context.account,
        config,
        facts,
    }
}

fn held(context: &Worker, job: &Job, hold: &Hold) -> Outcome {
    let reason = hold.to_string();
    let until = match hold {
        Hold::SwitchedOff => return Outcome::skip(reason),
        Hold::Settings(_) | Hold::Job(_) | Hold::Ledger(_) | Hold::Time { asked: false } => None,
        Hold::Time { asked: true } => return context.park_account(job, reason, Pause::Doubling),
        Hold::Day { until, for_all, .. } if *for_all => {
            return context.park_account(job, reason, Pause::Until(*until));
        }
        Hold::Day { until, .. } => Some(*until),
        // Its notes wait for the next run, which the budgets of the day pay.
        Hold::Agreed if job.curate.is_some() => return Outcome::Fail(reason),
        // Only the user can agree to more.
        Hold::Agreed => Some(Timestamp::MAX),
    };
    Outcome::Wait {
        reason,
        until,
        for_account: false,
    }
}

pub(crate) fn reflector_template(paths: &Paths) -> Result<String, fsx::FsError> {
    template(paths, &REFLECTOR)
}

pub(crate) fn curator_template(paths: &Paths) -> Result<String, fsx::FsError> {
    template(paths, &CURATOR)
}

fn template(paths: &Paths, template: &Template) -> Result<String, fsx::FsError> {
    let file = paths.template(template.name);
    let own = fsx::read_if_there(&file, MAX_TEMPLATE)?;
    let own = own.map(|bytes| utf8(bytes, &file)).transpose()?;
    let own = own.filter(|text| template.serves(text));
    Ok(own.unwrap_or_else(|| template.built_in.to_owned()))
}

pub(crate) fn template_in(file: &Path) -> Result<String, fsx::FsError> {
    utf8(fsx::read(file, MAX_TEMPLATE)?, file)
}

fn utf8(bytes: Vec<u8>, file: &Path) -> Result<String, fsx::FsError> {
    String::from_utf8(bytes).map_err(|e| fsx::FsError {
        action: "read template".to_owned(),
        path: file.to_owned(),
        source: std::io::Error::new(std::io::ErrorKind::InvalidData, e),
    })
}

#[derive(Clone, Copy)]
pub(crate) struct BackendParts<'a> {
    pub(crate) paths: &'a Paths,
    pub(crate) account: &'a Account,
    pub(crate) config: &'a Config,
    /// The facts of the session that the rules judge; empty where none is judged.
    pub(crate) facts: &'a Facts,
}

/// Builds a backend; the error is a sentence for the user, and settings can cure it.
pub(crate) fn build<'a>(
    name: BackendName,
    parts: BackendParts<'a>,
) -> Result<Box<dyn Backend + 'a>, String> {
    let secrecy = parts.config.secrets.secrecy().map_err(|e| e.to_string())?;
    Ok(Box::new(Masked::new(bare(name, parts)?, secrecy.masker)))
}

fn bare<'a>(name: BackendName, parts: BackendParts<'a>) -> Result<Box<dyn Backend + 'a>, String> {
    let BackendParts {
        account, config, ..
    } = parts;
    // A job keeps the account that it was given; only of that one something can be missing.
    if name == account.need.backend
        && let Some(lack) = account.lack()
    {
        return Err(lack);
    }
    let base = || {
        let url = account.need.base_url.as_deref().unwrap_or_default();
        BaseUrl::parse(url, plain(name, config)).map_err(|e| e.to_string())
    };
    match name {
        BackendName::Rules => {
            let config = &config.reflection;
            let (words, quotes) = (config.summary_tokens, config.topk_snippets);
            Ok(Box::new(Rules(rules::reflect(parts.facts, words, quotes))))
        }
        BackendName::Anthropic => {
            let credential = account.secret.clone().ok_or("no key")??;
            let policy = policy(name, config);
            Ok(Box::new(Anthropic::new(base()?, credential, policy)))
        }
        BackendName::Openai => {
            let credential = account.secret.clone().transpose()?;
            let policy = policy(name, config);
            Ok(Box::new(Openai::new(base()?, credential, policy)))
        }
        BackendName::ClaudeCli => Ok(Box::new(account.client.clone().ok_or("no client")?)),
        BackendName::Fixtures => {
            let path = config.fixtures.path.as_ref();
            let path = path.ok_or("no recorded replies: set `fixtures.path`")?;
            let path = parts.paths.beside_config(path);
            let fixtures = Fixtures::load(&path).map_err(|e| e.to_string())?;
            Ok(Box::new(fixtures))
        }
    }
}

pub(crate) fn plain(name: BackendName, config: &Config) -> Plain {
    let (is_allowed, key) = match name {
        BackendName::Openai => (config.openai.allow_http, "openai.allow_http"),
        _ => (config.anthropic.allow_http, "anthropic.allow_http"),
    };
    if is_allowed {
        Plain::Anywhere
    } else {
        Plain::LoopbackOnly(key)
    }
}

pub(crate) fn max_tokens(name: BackendName, config: &Config) -> u32 {
    match name {
        BackendName::Openai => config.openai.max_tokens,
        _ => MAX_TOKENS,
    }
}

pub(crate) fn timeout(name: BackendName, config: &Config) -> Duration {
    let usual = match name {
        BackendName::Openai => 300_000,
        BackendName::ClaudeCli => 120_000,
        _ => 30_000,
    };
    Duration::from_millis(config.retry.timeout_ms.unwrap_or(usual))
}

fn policy(name: BackendName, config: &Config) -> RetryPolicy {
    RetryPolicy {
        attempts: config.retry.attempts,
        base: Duration::from_millis(config.retry.base_ms),
        request: timeout(name, config),
        ..RetryPolicy::default()
    }
}
