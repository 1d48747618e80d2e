//! Puts the questions of a job to the backend it needs.

use std::path::Path;
use std::time::Instant;

use jiff::Timestamp;

use super::backends::{BackendParts, build, max_tokens};
use super::backoff::Pause;
use super::budget::Hold;
use super::context::WorkerContext;
use super::evidence::SessionEvidence;
use super::progress::JobInProgress;
use super::question_templates::{curator_template, reflector_template};
use super::stop::{JobPause, Stop};
use super::surroundings::Surroundings;
use super::usage_meter::{Caller, Meter};
use super::{QueueError, screening, shown};
use crate::account::Need;
use crate::backend::question::{Answered, question};
use crate::backend::{AccountStep, Ask, Backend};
use crate::config::Config;
use crate::memory::{Memory, MemoryError};
use crate::paths::Paths;
use crate::playbook::render::format_playbook;
use crate::playbook::{Id, Playbook};
use crate::reflect::curator::CuratorMaterial;
use crate::reflect::prompt::{
    CuratorInput, FilledPrompt, ReflectorInput, curator_prompt, reflector_prompt,
};
use crate::reflect::reply::{Curation, Reflection, Reply};
use crate::store::{Store, votes};
use crate::telemetry;
use crate::transcript::Facts;
use crate::trust::TrustStanding;

pub(super) const POINTS_ONLY: &str = "{key_points}";
/// How many notes of earlier sessions a reflector is shown.
const KNOWN_NOTES: usize = 5;

/// Who answers a question, and until when.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) backend: &'a dyn Backend,
    pub(crate) need: &'a Need,
    pub(crate) config: &'a Config,
    pub(crate) deadline: Option<Instant>,
}

impl<'a> Asker<'a> {
    /// Returns one for a question of the user's own, with the time that the settings give.
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

/// A session that is to be judged, and what is known of it.
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
    context: &WorkerContext,
    job: &mut JobInProgress,
    session: &SessionEvidence,
    config: &Config,
    deadline: Option<Instant>,
) -> Result<Answered<Reflection>, Stop> {
    let mut playbook = points_of(context, job, config)?;
    shown::only_its_own(job, &session.facts, &mut playbook);
    let template = reflector_template(context.paths())?;
    let known_notes = known_notes(&context.memory(), &job.ticket.project, &session.facts)?;
    let question = SessionQuestion {
        session,
        playbook: &playbook,
        given: &shown::given(job, &session.facts, &playbook),
        known_notes: &known_notes,
        config,
    };
    let parts = parts(context, &session.facts, config);
    let meter = metered(context, job, parts)?;
    let asker = Asker {
        need: need_of(context, job),
        deadline,
        ..Asker::now(parts, &meter)
    };
    let judged = asker.reflector(question.prompt(&template)).await;
    keep(&context.surroundings, job, AccountStep::Reflector, &judged);
    settle(context, job, meter)?;
    Ok(judged.answered)
}

/// Asks a project's curator about its material; `playbook` is the list as the prompt shows it.
pub(super) async fn curator(
    context: &WorkerContext,
    job: &mut JobInProgress,
    (playbook, material): (&str, &CuratorMaterial),
    config: &Config,
    deadline: Option<Instant>,
) -> Result<Answered<Curation>, Stop> {
    let template = curator_template(context.paths())?;
    let prompt = curator_prompt(&template, &CuratorInput { playbook, material });
    let facts = Facts::default();
    let parts = parts(context, &facts, config);
    let meter = metered(context, job, parts)?;
    let asker = Asker {
        need: need_of(context, job),
        deadline,
        ..Asker::now(parts, &meter)
    };
    let judged = asker.put(AccountStep::Curator, prompt).await;
    keep(&context.surroundings, job, AccountStep::Curator, &judged);
    settle(context, job, meter)?;
    Ok(judged.answered)
}

/// Returns the notes of earlier sessions that met an error of this one, then those on the same
/// kind of task.
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

/// The playbook as it is shown to what answers: without secrets, and without the points that
/// are held back or look like an attack. Never to be written.
pub(crate) fn known_points(
    paths: &Paths,
    project: &Path,
    config: &Config,
) -> Result<Playbook, QueueError> {
    let file = Store::of(paths, project).load()?;
    let votes = votes::read(paths, project, &file)?;
    shown_to_models(file.with_votes(&votes), paths, project, config)
}

/// As [`known_points`], for a job, which remembers that there were some.
pub(super) fn points_of(
    context: &WorkerContext,
    job: &mut JobInProgress,
    config: &Config,
) -> Result<Playbook, QueueError> {
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
) -> Result<Playbook, QueueError> {
    let standing = TrustStanding::of(paths, project);
    playbook.keep(|point| screening::may_be_used(&standing, point));
    playbook.mask_secrets(&config.secrets.secrecy()?.masker);
    Ok(playbook)
}

pub(super) fn need_of<'a>(context: &'a WorkerContext, job: &'a JobInProgress) -> &'a Need {
    let own = job.ticket.need.as_ref();
    own.unwrap_or(&context.surroundings.account.need)
}

/// What a backend is built of, with the secret of this process.
pub(crate) fn parts<'a>(
    context: &'a WorkerContext,
    facts: &'a Facts,
    config: &'a Config,
) -> BackendParts<'a> {
    BackendParts {
        paths: context.paths(),
        account: &context.surroundings.account,
        config,
        facts,
    }
}

/// The backend that a job needs, with a meter.
fn metered<'a>(
    context: &'a WorkerContext,
    job: &JobInProgress,
    parts: BackendParts<'a>,
) -> Result<Meter<'a>, Stop> {
    let backend = build(need_of(context, job).backend, parts).map_err(|why| Stop::waits(&why))?;
    Ok(Meter::new(backend, context, Caller::job(job)))
}

/// Puts down what the calls cost; stops the job where one was held back.
fn settle(context: &WorkerContext, job: &mut JobInProgress, meter: Meter<'_>) -> Result<(), Stop> {
    let (paid, hold) = meter.read();
    job.progress.spent.calls.extend(paid);
    match hold {
        Some(hold) => Err(held(context, job, &hold)),
        None => Ok(()),
    }
}

/// What follows for a job when a call of its is held back.
fn held(context: &WorkerContext, job: &JobInProgress, hold: &Hold) -> Stop {
    let reason = hold.to_string();
    let pause = match hold {
        Hold::SwitchedOff => return Stop::Skips(reason),
        Hold::Settings(_) | Hold::Job(_) | Hold::Ledger(_) | Hold::Time { asked: false } => {
            JobPause::Doubling
        }
        Hold::Time { asked: true } => {
            JobPause::Parked(context.park_account(job, &reason, Pause::Doubling))
        }
        Hold::Day { until, for_all, .. } if *for_all => {
            JobPause::Parked(context.park_account(job, &reason, Pause::Until(*until)))
        }
        Hold::Day { until, .. } => JobPause::Until(*until),
        // Its notes wait for the next run, which the budgets of the day pay.
        Hold::Agreed if job.curate.is_some() => return Stop::Fails(reason),
        // Only the user can agree to more.
        Hold::Agreed => JobPause::Until(Timestamp::MAX),
    };
    Stop::Waits { reason, pause }
}

/// Keeps prompt and replies, in diagnostic mode.
fn keep<T>(
    surroundings: &Surroundings,
    job: &JobInProgress,
    step: AccountStep,
    judged: &JudgedSession<T>,
) {
    if let Some(folder) = &surroundings.diagnostics {
        let name = format!("{}-{}", job.ticket.id, step.word());
        telemetry::save_diagnostic(folder, &name, &judged.prompt, &judged.answered);
    }
}
