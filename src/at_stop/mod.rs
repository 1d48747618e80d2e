//! The Stop hook: asks the gate about a turn that ends.
//!
//! [`crate::gate`] finds and weighs. This module applies the settings and drops repetitions. It
//! says nothing that it could not record first, so no message repeats forever.

mod record;
mod step;

use std::fmt::Display;
use std::path::Path;
use std::time::{Duration, Instant};

use record::{Spoken, StopRecord};

use crate::backend::question::question;
use crate::backend::{AccountStep, Ask, BackendName};
use crate::config::{self, Config, GateMode};
use crate::digest::name_of;
use crate::gate::{self, Judgement, Turn};
use crate::hook::context::HookContext;
use crate::hook::stop::{EndedTurn, TurnVerdict};
use crate::memory::{Memory, RecallQuery};
use crate::playbook::clean::clean_text;
use crate::queue::ask::{build, max_tokens, parts};
use crate::queue::budget::{Caller, Meter};
use crate::queue::context::Worker;
use crate::queue::progress::SessionEvidence;
use crate::queue::stages::should_reflect;
use crate::redact::Masker;
use crate::reflect::learned::SHOWN_FROM;
use crate::reflect::remembered::MemoryKind;
use crate::transcript::{self, EventKind, ReadOptions};
use crate::{account, screen, state_guard};
use step::is_of_person;

pub(crate) use record::Figures;

/// The gate's verdict and the number of checks that had run by then.
struct JudgedStop {
    verdict: gate::GateVerdict,
    runs: usize,
}

/// Returns what to say at the end of a turn, if anything.
pub(crate) fn verdict(context: &HookContext<'_>, stop: &EndedTurn<'_>) -> Option<TurnVerdict> {
    let Ok(config) = config::unless_switched_off(&context.paths, &context.project)? else {
        return None;
    };
    let say: fn(&JudgedStop) -> TurnVerdict = match config.gate.mode {
        GateMode::Off => return None,
        GateMode::Tell => |judged| TurnVerdict::Tell(judged.told()),
        GateMode::Block => |judged| TurnVerdict::Block(judged.verdict.guidance.clone()),
    };
    let part = TurnPart::read(context, stop, &config)?;
    let (turn, runs) = part.turn(context, stop)?;
    let mut judged = JudgedStop {
        verdict: turn.verdict(stop.message),
        runs,
    };
    let (paths, project) = (&context.paths, &context.project);
    let mut record = logged(context, StopRecord::read(paths, project, stop.session))?;
    let threshold = config.gate.threshold;
    let may_ask = config.gate.model && judged.verdict.passes(threshold) && turn.has_ended();
    if may_ask && record.may_ask(&part.prompt, config.gate.per_step) {
        // Recorded first, so that a crash or a useless answer is not paid for twice.
        record.asks(&part.prompt);
        logged(context, record.write(paths, project, stop.session))?;
        let by_model = part.judgement(context, stop, &config);
        judged.verdict = by_model.unwrap_or(judged.verdict);
    }
    // The client passes guidance on as the user's feedback, so an attack in it is left out.
    judged
        .verdict
        .screen(|text| screen::objection(text).is_some());
    judged.mask(part.masker());
    let score = judged.verdict.quality_score.get();
    record.count(&part.prompt, score, threshold);
    let found = judged.keys(&part.prompt);
    let speaks = score < threshold && record.may_say(&part.prompt, &found, config.gate.per_step);
    let verdict = speaks.then(|| say(&judged));
    if let Some(verdict) = &verdict {
        record.add(Spoken {
            at: context.now,
            prompt: part.prompt.clone(),
            score,
            findings: found,
            said: verdict.text().to_owned(),
            should_retry: matches!(verdict, TurnVerdict::Block(_)),
            improved: None,
        });
    }
    logged(context, record.write(paths, project, stop.session)).and(verdict)
}

impl JudgedStop {
    /// Returns keys of the findings, which are other ones once a check has run.
    fn keys(&self, prompt: &str) -> Vec<String> {
        let found = self.verdict.findings.iter();
        let key = |issue: &str| format!("{prompt}/{}/{issue}", self.runs);
        found.map(|finding| key(&finding.issue)).collect()
    }

    fn mask(&mut self, masker: &Masker) {
        let verdict = &mut self.verdict;
        verdict.guidance = masker.mask(&verdict.guidance).into_owned();
        for found in &mut verdict.findings {
            for line in found.evidence.iter_mut().chain([&mut found.issue]) {
                *line = masker.mask(line).into_owned();
            }
        }
    }

    fn told(&self) -> String {
        let lines = self.verdict.findings.iter().flat_map(|found| {
            let evidence = found.evidence.iter().skip(1).map(String::as_str);
            [found.issue.as_str()].into_iter().chain(evidence)
        });
        lines.collect::<Vec<_>>().join("\n  ")
    }
}

struct TurnPart {
    /// The id of its prompt, or the hash of the prompt's record.
    prompt: String,
    records: Vec<u8>,
    options: ReadOptions,
}

impl TurnPart {
    /// Reads the records of the stop's prompt; `None` where they are not found.
    fn read(context: &HookContext<'_>, stop: &EndedTurn<'_>, config: &Config) -> Option<Self> {
        let records = logged(context, step::read(stop.transcript, stop.prompt))??;
        let secrecy = logged(context, config.secrets.secrecy())?;
        let home = context.paths.home().and_then(Path::to_str);
        let first = || records.split(|byte| *byte == b'\n').next();
        let prompt = || name_of(first().unwrap_or_default());
        Some(Self {
            prompt: stop.prompt.map_or_else(prompt, str::to_owned),
            records,
            options: ReadOptions {
                home: home.map(str::to_owned),
                secrecy,
                ..ReadOptions::default()
            },
        })
    }

    /// What happened in the turn, and how many checks ran; `None` where its prompt is no person's.
    ///
    /// The last prompt in the file may be of an earlier turn, whose records end with another
    /// message; only the id of a prompt rules that out.
    fn turn(&self, context: &HookContext<'_>, stop: &EndedTurn<'_>) -> Option<(Turn, usize)> {
        let (mut turn, mut runs, mut has_prompt) = (Turn::default(), 0, false);
        let see = &mut |event: &transcript::Event<'_>| {
            match &event.kind {
                EventKind::Prompt(prompt) => has_prompt |= is_of_person(prompt.via),
                EventKind::Check { .. } => runs += 1,
                _ => {}
            }
            turn.see(event);
        };
        let read = transcript::each_event(&self.records[..], &self.options, see);
        logged(context, read)?;
        let is_of_stop = |written: &str| written.ends_with(stop.message.trim());
        let is_it = stop.prompt.is_some() || turn.message().is_none_or(is_of_stop);
        (has_prompt && is_it).then_some((turn, runs))
    }

    /// Returns what a model says of the turn, if a trigger fires and it answers in time.
    fn judgement(
        &self,
        context: &HookContext<'_>,
        stop: &EndedTurn<'_>,
        config: &Config,
    ) -> Option<gate::GateVerdict> {
        let is_copy = &mut |_, _| false;
        let digest = transcript::scan_reader(&self.records[..], 0, &self.options, is_copy);
        let turn = SessionEvidence::of(logged(context, digest)?, EVIDENCE);
        let why = should_reflect(&turn.facts, None, &config.triggers)?;
        let judged = ask(context, config, &turn, &self.masker().mask(stop.message));
        let told = match &judged {
            Ok(judged) => format!("gate: {why}: {:.2}", judged.quality_score.get()),
            Err(error) => format!("gate: {why}: no judgement: {error:#}"),
        };
        context.log(&told);
        judged.ok().map(gate::GateVerdict::judged)
    }

    fn masker(&self) -> &Masker {
        &self.options.secrecy.masker
    }
}

fn logged<T>(context: &HookContext<'_>, done: Result<T, impl Display>) -> Option<T> {
    done.inspect_err(|error| context.log(&error.to_string()))
        .ok()
}

const EVIDENCE: u64 = 6_000;
const MAX_TOKENS: u32 = 2_000;
const MAX_LESSONS: u64 = 3;

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
    let user = config::load(&paths.config_file())?;
    let account = (account, Some(project.clone()));
    let memory = Memory::open(&paths.memory_db())?;
    let worker = Worker::new(context.env, paths.clone(), user, account, memory);
    if let Some(parked) = worker.backoff().parked(&need.account(), context.now) {
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
    let lessons = worker.memory().recall(&query, worker.now())?;
    let shown = lessons.iter().filter(|it| it.effectiveness >= SHOWN_FROM);
    let lessons: Vec<String> = shown
        .map(|it| format!("- {}", clean_text(&it.text)))
        .collect();
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
