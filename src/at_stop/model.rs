//! Asks the backend's model to judge a turn in which the rules found nothing.

use std::time::{Duration, Instant};

use crate::account;
use crate::backend::question::question;
use crate::backend::{AccountStep, Ask, BackendName};
use crate::config::{self, Config};
use crate::gate::{self, Judgement};
use crate::hook::context::HookContext;
use crate::memory::{Memory, RecallQuery};
use crate::playbook::clean::clean_text;
use crate::queue::ask::parts;
use crate::queue::ask::{build, max_tokens};
use crate::queue::budget::{Caller, Meter};
use crate::queue::context::Surroundings;
use crate::queue::context::WorkerContext;
use crate::queue::files::SessionEvidence;
use crate::queue::trigger_table::should_reflect;
use crate::reflect::learned::SHOWN_FROM;
use crate::reflect::remembered::MemoryKind;
use crate::state_guard;

/// The size of the turn's evidence that a model is given, in tokens.
pub(super) const EVIDENCE: u64 = 6_000;
/// The longest answer, in tokens; a judgement is a few sentences.
const MAX_TOKENS: u32 = 2_000;
/// The most lessons that the model is shown.
const MAX_LESSONS: u64 = 3;

/// Returns the model's judgement of the turn. `None` if no trigger fires, no model can be asked
/// now, or the answer came too late.
pub(super) fn judge(
    context: &HookContext<'_>,
    config: &Config,
    turn: &SessionEvidence,
    message: &str,
) -> Option<Judgement> {
    let why = should_reflect(&turn.facts, None, &config.triggers)?;
    let judged = ask(context, config, turn, message);
    let line = match &judged {
        Ok(judged) => format!("gate: {why}: {:.2}", judged.quality_score.get()),
        Err(error) => format!("gate: {why}: no judgement: {error:#}"),
    };
    context.log(&line);
    judged.ok()
}

fn ask(
    context: &HookContext<'_>,
    config: &Config,
    turn: &SessionEvidence,
    message: &str,
) -> anyhow::Result<Judgement> {
    let (paths, project) = (&context.paths, &context.project);
    let deadline = Duration::from_millis(config.gate.timeout_ms);
    let account = account::of_worker(context.env, config, (paths, Some(project)))?;
    let need = account.need.clone();
    anyhow::ensure!(need.backend != BackendName::Rules, "no model is set up");
    state_guard::close(paths)?;
    let worker = WorkerContext::new(
        Surroundings::new(
            context.env,
            paths.clone(),
            config::load(&paths.config_file())?,
            account,
            Some(project.clone()),
        ),
        Memory::open(&paths.memory_db())?,
    );
    let parked = worker
        .backoff()
        .parked(&need.account(), context.now)
        .cloned();
    if let Some(parked) = parked {
        anyhow::bail!("{}", parked.reason);
    }
    let parts = parts(&worker, &turn.facts, config);
    let backend = build(need.backend, parts).map_err(anyhow::Error::msg)?;
    let caller = Caller::without_job(project, context.now);
    let meter = Meter::new(backend, &worker, caller);
    let request = turn.facts.first_request.as_deref().unwrap_or_default();
    let query = RecallQuery {
        text: Some(format!("{request}\n{message}")),
        kinds: vec![MemoryKind::Lesson],
        project: Some(project.to_string_lossy().into_owned()),
        ..RecallQuery::best(MAX_LESSONS)
    };
    let mut lessons = worker.memory().recall(&query, worker.now())?;
    lessons.retain(|lesson| lesson.effectiveness >= SHOWN_FROM);
    let lessons = lessons
        .iter()
        .map(|it| format!("- {}", clean_text(&it.text)));
    let lessons: Vec<String> = lessons.collect();
    let prompt = gate::question(&turn.evidence.text, message, &lessons);
    let ask = Ask {
        step: AccountStep::Gate,
        system: prompt.system,
        prompt: &prompt.text,
        model: need.model_for(AccountStep::Gate),
        max_tokens: max_tokens(need.backend, config).min(MAX_TOKENS),
        marker: &prompt.marker,
        attempts: u32::MAX,
        deadline: Some(Instant::now() + deadline),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let answered = runtime.block_on(async {
        let asked = question::<Judgement>(&meter, ask);
        tokio::time::timeout(deadline, asked).await
    })?;
    match answered.cause {
        None => Ok(answered.result),
        Some(cause) => anyhow::bail!("{}: {}", cause.kind.word(), cause.message),
    }
}
