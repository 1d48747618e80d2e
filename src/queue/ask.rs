//! Puts a job's two questions to the backend it needs.

use std::path::Path;
use std::time::Instant;

use jiff::Timestamp;

use super::backends::{BackendParts, build, max_tokens};
use super::backoff::Pause;
use super::budget::Hold;
use super::context::WorkerContext;
use super::evidence::SessionEvidence;
use super::progress::{JobInProgress, RestOn};
use super::question_templates::{curator_template, reflector_template};
use super::stop::{JobPause, Stop};
use super::surroundings::Surroundings;
use super::usage_meter::{Caller, Meter};
use super::{QueueError, known, record, screening, shown};
use crate::account::Need;
use crate::backend::question::{Answered, question};
use crate::backend::{AccountStep, Ask, Backend, BackendName};
use crate::config::Config;
use crate::freshness;
use crate::paths::Paths;
use crate::playbook::render::format_playbook;
use crate::playbook::tags::apply_bullet_tags;
use crate::playbook::{Playbook, Skipped};
use crate::reflect::accepted::keep_grounded;
use crate::reflect::grounds::{Grounds, asks_for_grounds};
use crate::reflect::known::{KnownLesson, KnownLessons};
use crate::reflect::prompt::{
    CuratorInput, FilledPrompt, ReflectorInput, curator_prompt, reflector_prompt,
};
use crate::reflect::recurrence::asks_for_recurrence;
use crate::reflect::reply::{Curation, Reflection, Reply};
use crate::store::{Store, votes};
use crate::telemetry;
use crate::trust::TrustStanding;

/// How many of the events that may be grounds a curator is shown.
const LISTED: usize = 45;
const POINTS_ONLY: &str = "{key_points}";

#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) session: &'a SessionEvidence,
    /// The playbook: as it is for the reflector, with fresh counters for the curator.
    pub(crate) playbook: &'a Playbook,
    /// What the curator is told of points whose files have changed.
    pub(crate) stale: &'a str,
    pub(crate) backend: &'a dyn Backend,
    pub(crate) need: &'a Need,
    pub(crate) config: &'a Config,
    pub(crate) deadline: Option<Instant>,
    /// What is known beside the playbook.
    pub(crate) known: &'a KnownLessons,
}

impl<'a> Question<'a> {
    /// A question of the user's own, which has the time that the settings give it.
    pub(crate) fn now(
        parts: BackendParts<'a>,
        backend: &'a dyn Backend,
        known: &'a KnownLessons,
    ) -> Self {
        Self {
            session: parts.session,
            playbook: parts.playbook,
            stale: "",
            backend,
            need: &parts.account.need,
            config: parts.config,
            deadline: parts.config.budgets.time_ms.deadline(Instant::now()),
            known,
        }
    }
}

impl Question<'_> {
    pub(crate) async fn reflector(&self, template: &str) -> JudgedSession<Reflection> {
        let mut judged: JudgedSession<Reflection> = self.judge(template).await;
        let most = self.config.reflection.summary_tokens;
        judged.answered.result.shorten(most);
        judged
    }

    /// Puts a reflector's question, whatever its answer is read as.
    pub(crate) async fn judge<T: Reply>(&self, template: &str) -> JudgedSession<T> {
        self.put(AccountStep::Reflector, self.reflector_prompt(template))
            .await
    }

    pub(crate) fn reflector_prompt(&self, template: &str) -> FilledPrompt {
        let input = ReflectorInput {
            transcript: &self.session.evidence.text,
            playbook: &format_playbook(self.playbook, POINTS_ONLY),
            cited: &self.session.facts.citations,
            outcome: self.session.facts.outcome,
            category: self.session.facts.category,
            summary_tokens: self.config.reflection.summary_tokens,
            known: self.known,
        };
        reflector_prompt(template, &input)
    }

    pub(crate) async fn curator(
        &self,
        template: &str,
        reflection: &Reflection,
    ) -> JudgedSession<Curation> {
        let grounds = Grounds::of(&self.session.evidence);
        let input = CuratorInput {
            reflection,
            playbook: &(format_playbook(self.playbook, POINTS_ONLY) + self.stale),
            outcome: self.session.facts.outcome,
            category: self.session.facts.category,
            grounds: &grounds.map_or_else(String::new, |grounds| {
                grounds.listed(LISTED, &reflection.lessons)
            }),
            known: self.known,
        };
        let prompt = curator_prompt(template, &input);
        self.put(AccountStep::Curator, prompt).await
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
    job.progress.known_lessons = known_lessons(context, job, session, &playbook)?;
    let known = known(context, job, session, &playbook, config)?;
    let parts = parts(context, session, &playbook, config);
    let meter = metered(context, job, parts)?;
    let question = Question {
        need: need_of(context, job),
        deadline,
        ..Question::now(parts, &meter, &known)
    };
    let judged = question.reflector(&template).await;
    keep(&context.surroundings, job, AccountStep::Reflector, &judged);
    settle(context, job, meter)?;
    let mut answered = judged.answered;
    let taught = known::texts(&playbook, &known.lessons);
    job.progress.dropped_lessons = drop_groundless(&mut answered, &template, session, taught);
    Ok(answered)
}

/// Asks the curator about a job's session, after the tags.
pub(super) async fn curator(
    context: &WorkerContext,
    job: &mut JobInProgress,
    session: &SessionEvidence,
    reflection: &Reflection,
    config: &Config,
    deadline: Option<Instant>,
) -> Result<Answered<Curation>, Stop> {
    let mut playbook = points_of(context, job, config)?;
    let votes = shown::votes_of(job, &session.facts, &reflection.bullet_tags, &playbook);
    apply_bullet_tags(&mut playbook, &votes.tags);
    let record = freshness::record(context.paths(), &job.ticket.project);
    let stale = freshness::for_curator(&record, &playbook);
    let template = curator_template(context.paths())?;
    // The rules read no template, and teach only what they found to have a ground.
    job.progress.operations_rest = match need_of(context, job).backend {
        BackendName::Rules => RestOn::Anything,
        _ if !asks_for_grounds(&template) => RestOn::Anything,
        _ if asks_for_recurrence(&template) => RestOn::Recurrence,
        _ => RestOn::Grounds,
    };
    let has_ground = || Grounds::of(&session.evidence).is_none_or(|grounds| grounds.has_any());
    if job.progress.operations_rest != RestOn::Anything && stale.is_empty() && !has_ground() {
        // Whatever it said would be dropped, and have been paid for.
        return Ok(Answered::default());
    }
    let more = known::more(context, job, reflection, &playbook)?;
    job.progress.known_lessons.extend(more);
    let known = known(context, job, session, &playbook, config)?;
    let parts = parts(context, session, &playbook, config);
    let meter = metered(context, job, parts)?;
    let question = Question {
        stale: &stale,
        need: need_of(context, job),
        deadline,
        ..Question::now(parts, &meter, &known)
    };
    let judged = question.curator(&template, reflection).await;
    keep(&context.surroundings, job, AccountStep::Curator, &judged);
    settle(context, job, meter)?;
    Ok(judged.answered)
}

/// Takes from a reflector's answer what has no ground, if its template asked for grounds.
/// `taught` are the texts that earlier sessions taught.
pub(crate) fn drop_groundless<'t>(
    answered: &mut Answered<Reflection>,
    template: &str,
    session: &SessionEvidence,
    taught: impl IntoIterator<Item = &'t str>,
) -> Vec<Skipped> {
    let grounds = Grounds::of(&session.evidence).filter(|_| asks_for_grounds(template));
    let grounds = grounds.map(|grounds| grounds.knowing(taught));
    let dropped = grounds.map(|grounds| keep_grounded(&mut answered.result, &grounds));
    let dropped = dropped.unwrap_or_default();
    answered.skipped.extend(dropped.iter().cloned());
    dropped
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
fn points_of(
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

fn known_lessons(
    context: &WorkerContext,
    job: &JobInProgress,
    session: &SessionEvidence,
    playbook: &Playbook,
) -> Result<Vec<KnownLesson>, QueueError> {
    let (memory, root) = (context.memory(), record::root_of(job));
    let (project, now) = (&job.ticket.project, context.now());
    Ok(known::lessons(
        &memory, project, session, playbook, &root, now,
    )?)
}

/// What a job's questions may say beside the playbook.
fn known(
    context: &WorkerContext,
    job: &JobInProgress,
    session: &SessionEvidence,
    playbook: &Playbook,
    config: &Config,
) -> Result<KnownLessons, QueueError> {
    let project = &job.ticket.project;
    Ok(KnownLessons {
        instructions: known::instructions(context.paths(), project, config, session)?,
        lessons: job.progress.known_lessons.clone(),
        given: shown::given(job, &session.facts, playbook),
        not_accepted: job.progress.dropped_lessons.clone(),
    })
}

fn need_of<'a>(context: &'a WorkerContext, job: &'a JobInProgress) -> &'a Need {
    let own = job.ticket.need.as_ref();
    own.unwrap_or(&context.surroundings.account.need)
}

/// What a backend is built of, with the secret of this process.
pub(crate) fn parts<'a>(
    context: &'a WorkerContext,
    session: &'a SessionEvidence,
    playbook: &'a Playbook,
    config: &'a Config,
) -> BackendParts<'a> {
    BackendParts {
        paths: context.paths(),
        account: &context.surroundings.account,
        config,
        session,
        playbook,
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
