//! The Stop hook: asks [`crate::gate`] about a turn that ends, applies the settings and drops
//! repetitions. It says nothing that it could not record first, so no message repeats forever.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use memchr::{memchr, memmem, memrchr};
use serde::{Deserialize, Serialize};

use crate::backend::question::question;
use crate::backend::{AccountStep, Ask, BackendName};
use crate::config::{self, Config, GateMode};
use crate::digest::name_of;
use crate::fsx::{self, FsContext as _, FsError};
use crate::gate::{self, Judgement, Turn};
use crate::hook::context::HookContext;
use crate::hook::stop::{EndedTurn, TurnVerdict};
use crate::memory::{Memory, RecallQuery};
use crate::paths::Paths;
use crate::playbook::clean::clean_text;
use crate::queue::ask::{build, max_tokens, parts, timeout};
use crate::queue::budget::{Caller, Meter};
use crate::queue::context::Worker;
use crate::queue::progress::SessionEvidence;
use crate::queue::stages::should_reflect;
use crate::redact::Masker;
use crate::reflect::learned::SHOWN_FROM;
use crate::reflect::remembered::MemoryKind;
use crate::transcript::{self, EventKind, ReadOptions, Via};
use crate::{account, screen, state_guard};

/// The gate's verdict and the number of checks that had run by then.
struct JudgedStop {
    verdict: gate::GateVerdict,
    runs: usize,
}

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
    let may_ask = config.gate.model && judged.verdict.passes() && turn.has_ended();
    if may_ask && record.may_ask(&part.prompt) {
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
    record.count(&part.prompt, score);
    let found = judged.keys(&part.prompt);
    let speaks = score < gate::QUALITY_THRESHOLD && record.may_say(&part.prompt, &found);
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
    fn read(context: &HookContext<'_>, stop: &EndedTurn<'_>, config: &Config) -> Option<Self> {
        let records = logged(context, read_step(stop.transcript, stop.prompt))??;
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

    /// Also counts the checks that ran; `None` if a person did not write its prompt. The last
    /// prompt in the file may belong to an earlier turn, whose records end with another message.
    /// Only the id of a prompt rules that out.
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

    fn judgement(
        &self,
        context: &HookContext<'_>,
        stop: &EndedTurn<'_>,
        config: &Config,
    ) -> Option<gate::GateVerdict> {
        let is_copy = &mut |_, _| false;
        let digest = transcript::scan_reader(&self.records[..], 0, &self.options, is_copy);
        let turn = SessionEvidence::of(logged(context, digest)?, EVIDENCE);
        let why = should_reflect(&turn.facts, None, &config.triggers.off)?;
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
/// The time limit of a judgement; after it the turn ends as if nothing were found.
const DEADLINE: Duration = Duration::from_secs(20);

fn ask(
    context: &HookContext<'_>,
    config: &Config,
    turn: &SessionEvidence,
    message: &str,
) -> anyhow::Result<Judgement> {
    let (paths, project) = (&context.paths, &context.project);
    let account = account::of_worker(context.env, config, (paths, Some(project)))?;
    let need = account.need.clone();
    let deadline = DEADLINE.min(timeout(need.backend, config));
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

const VERSION: u32 = 1;
const MAX_RECORD_BYTES: u64 = 1 << 20;
/// The most turns that are remembered of a session; after that the gate is silent.
const MAX_TURNS: usize = 200;
/// The most messages, and the most questions to the model, between two prompts.
const PER_STEP: usize = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StopRecord {
    v: u32,
    asked: u64,
    not_passed: u64,
    spoken: Vec<Spoken>,
    models_asked: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Spoken {
    at: Timestamp,
    prompt: String,
    score: f64,
    findings: Vec<String>,
    said: String,
    should_retry: bool,
    /// `true` if the next stop of the same prompt scored better; `None` before there is one.
    improved: Option<bool>,
}

impl Default for StopRecord {
    fn default() -> Self {
        Self {
            v: VERSION,
            asked: 0,
            not_passed: 0,
            spoken: Vec::new(),
            models_asked: Vec::new(),
        }
    }
}

impl StopRecord {
    fn read(paths: &Paths, project: &Path, session: &str) -> Result<Self, FsError> {
        let file = record_file(paths, project, session);
        if !file.exists() {
            return Ok(Self::default());
        }
        read_file(&file)
            .ok_or_else(|| io::Error::other("not a record of the gate's"))
            .context("read", &file)
    }

    /// Counts a stop, and records whether the guidance before it improved the score.
    fn count(&mut self, prompt: &str, score: f64) {
        self.asked += 1;
        self.not_passed += u64::from(score < gate::QUALITY_THRESHOLD);
        if let Some(last) = self.spoken.last_mut()
            && last.prompt == prompt
            && last.should_retry
        {
            last.improved.get_or_insert(score > last.score);
        }
    }

    fn may_ask(&self, prompt: &str) -> bool {
        let of_prompt = self.models_asked.iter().filter(|asked| *asked == prompt);
        self.models_asked.len() < MAX_TURNS && of_prompt.count() < PER_STEP
    }

    fn asks(&mut self, prompt: &str) {
        self.models_asked.push(prompt.to_owned());
    }

    fn may_say(&self, prompt: &str, findings: &[String]) -> bool {
        let of_prompt = self.spoken.iter().filter(|spoken| spoken.prompt == prompt);
        let is_said = |key: &String| self.spoken.iter().any(|said| said.findings.contains(key));
        self.spoken.len() < MAX_TURNS
            && of_prompt.count() < PER_STEP
            && !findings.iter().all(is_said)
    }

    fn add(&mut self, spoken: Spoken) {
        self.spoken.push(spoken);
    }

    fn write(&self, paths: &Paths, project: &Path, session: &str) -> Result<(), FsError> {
        let file = record_file(paths, project, session);
        fsx::ensure_dir(&paths.gate(project))?;
        fsx::quick(&file, &fsx::to_json(&file, self)?)
    }
}

/// The gate's figures over sessions (spec/4 `get_stats`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Figures {
    pub(crate) asked: u64,
    pub(crate) not_passed: u64,
    pub(crate) models_asked: u64,
    pub(crate) retried: u64,
    pub(crate) improved: u64,
}

impl Figures {
    pub(crate) fn of(paths: &Paths, project: Option<&Path>) -> Result<Self, FsError> {
        let folders: Vec<PathBuf> = match project {
            Some(project) => vec![paths.gate(project)],
            None => paths.all_gates().collect(),
        };
        let mut figures = Self::default();
        for folder in folders {
            let entries = fsx::list(&folder)?;
            let records = entries.iter().filter_map(|entry| read_file(&entry.path()));
            records.for_each(|record| figures.add(&record));
        }
        Ok(figures)
    }

    fn add(&mut self, record: &StopRecord) {
        let retried = || record.spoken.iter().filter(|spoken| spoken.should_retry);
        let improved = retried().filter(|spoken| spoken.improved == Some(true));
        self.asked += record.asked;
        self.not_passed += record.not_passed;
        self.models_asked += record.models_asked.len() as u64;
        self.retried += retried().count() as u64;
        self.improved += improved.count() as u64;
    }
}

fn record_file(paths: &Paths, project: &Path, session: &str) -> PathBuf {
    paths
        .gate(project)
        .join(format!("{}.json", name_of(session.as_bytes())))
}

fn read_file(file: &Path) -> Option<StopRecord> {
    let record: StopRecord = fsx::read_json(file, MAX_RECORD_BYTES)?;
    (record.v == VERSION).then_some(record)
}

/// The most bytes read from the end of a transcript; a longer turn is not judged.
const MAX_TAIL_BYTES: u64 = 4 << 20;

/// Reads whole lines from the first that names `prompt`, or from a person's last prompt if the
/// client gives no id. The client writes the prompt's id into each record of the user's side, and
/// the prompt's own record comes first.
fn read_step(transcript: &Path, prompt: Option<&str>) -> Result<Option<Vec<u8>>, FsError> {
    let bytes = match fsx::read_tail(transcript, MAX_TAIL_BYTES) {
        Err(error) if error.is_missing() => return Ok(None),
        bytes => bytes?,
    };
    Ok(part_of(&bytes, prompt).map(<[u8]>::to_vec))
}

fn part_of<'a>(tail: &'a [u8], prompt: Option<&str>) -> Option<&'a [u8]> {
    let is_cut = tail.len() as u64 >= MAX_TAIL_BYTES;
    // The first line of a partly read file may be cut.
    let start = if is_cut { memchr(b'\n', tail)? + 1 } else { 0 };
    let end = memrchr(b'\n', tail)? + 1;
    let whole = tail.get(start..end)?;
    let line = match prompt {
        None => last_prompt(whole)?,
        Some(prompt) => {
            let id = serde_json::to_string(prompt).ok()?;
            let at = memmem::find(whole, id.as_bytes())?;
            memrchr(b'\n', &whole[..at]).map_or(0, |end| end + 1)
        }
    };
    Some(&whole[line..])
}

fn last_prompt(whole: &[u8]) -> Option<usize> {
    let mut end = whole.len();
    while end > 0 {
        let start = memrchr(b'\n', &whole[..end - 1]).map_or(0, |end| end + 1);
        let line = &whole[start..end];
        let has = |what: &str| memmem::find(line, what.as_bytes()).is_some();
        if has("\"user\"") && !has("\"tool_use_id\"") && is_prompt(line) {
            return Some(start);
        }
        end = start;
    }
    None
}

fn is_prompt(line: &[u8]) -> bool {
    let mut found = false;
    let see = &mut |event: &transcript::Event<'_>| {
        found |= matches!(&event.kind, EventKind::Prompt(it) if is_of_person(it.via));
    };
    transcript::each_event(line, &ReadOptions::default(), see).is_ok() && found
}

fn is_of_person(via: Via<'_>) -> bool {
    matches!(via, Via::Typed | Via::Plan | Via::Command(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "{\"promptId\":\"p1\",\"n\":1}\n{\"promptId\":\"p2\",\"n\":2}\n{\"n\":3}\n{\"promptId\":\"p2\",\"n\":4}\n{\"n\":5";

    #[test]
    fn a_step_begins_with_the_line_of_its_prompt_and_ends_with_a_whole_line() {
        let step = |prompt| part_of(LINES.as_bytes(), Some(prompt)).map(String::from_utf8_lossy);
        let second = LINES.find("{\"promptId\":\"p2\"").unwrap();
        let end = LINES.rfind('{').unwrap();
        assert_eq!(step("p2").unwrap(), LINES[second..end]);
        assert_eq!(step("p1").unwrap(), LINES[..end]);
        assert_eq!(step("p"), None);
        assert_eq!(part_of(b"no line", Some("p1")), None);
    }

    #[test]
    fn what_lies_further_back_than_is_read_is_not_found() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("t.jsonl");
        let filler = format!("{{\"x\":\"{}\"}}\n", "x".repeat(1 << 20));
        std::fs::write(
            &file,
            format!("{}{}", LINES.replace("{\"n\":5", ""), filler.repeat(4)),
        )
        .unwrap();
        assert_eq!(read_step(&file, Some("p2")).unwrap(), None);
        let near = format!("{}{}", filler.repeat(4), LINES);
        std::fs::write(&file, near).unwrap();
        assert!(
            read_step(&file, Some("p2"))
                .unwrap()
                .unwrap()
                .starts_with(b"{\"promptId\":\"p2\",\"n\":2}")
        );
        assert_eq!(
            read_step(&dir.path().join("none"), Some("p2")).unwrap(),
            None
        );
    }
}
