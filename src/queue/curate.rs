//! A project's curator: when it runs, and its job step by step.
//!
//! | step | from | to |
//! |---|---|---|
//! | gather | the notes of the order, the notebook, facts, instructions | `material`, with the job |
//! | ask | the playbook and the material | `curation`, with the job |
//! | apply | the operations that pass the gates, on the playbook as it is then | `changes`, the file |
//! | save | changes, held and refused operations, states of the notes | one transaction |
//!
//! The notes of a job that failed go to the notebook with it: nothing is lost, and nothing loops.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::task::block_in_place;

use super::apply::Work;
use super::ask::{self, POINTS_ONLY};
use super::budget::{Day, Usage};
use super::context::Worker;
use super::job::{JobEvent, JobId, Ticket};
use super::outcome::{self, Outcome, Step};
use super::progress::{self, CuratorOrder, CuratorReason, Job};
use super::spool::{self, IdEntropy};
use super::transcripts::dashed;
use super::{QueueError, Result, stages};
use crate::account::Need;
use crate::backend::BackendName;
use crate::config::{Config, MemoryMode};
use crate::freshness::git::Git;
use crate::memory::{Memory, NoteLine, OutdatedNote, WaitingNotes};
use crate::paths::Paths;
use crate::playbook::render::{StartRoom, format_playbook};
use crate::playbook::votes::UsageRecord;
use crate::playbook::{Playbook, Point};
use crate::redact::Masker;
use crate::reflect::curator::{
    CuratorFact, CuratorMaterial, MAX_NOTEBOOK, NoteState, NoteUpdate, SessionFact, Taught,
    points_listed,
};
use crate::reflect::gates::Protection;
use crate::reflect::learned::{Learned, NewReflection};
use crate::reflect::note::NoteId;
use crate::reflect::reply::Curation;
use crate::store::Store;
use crate::transcript::estimate_tokens;
use crate::{freshness, fsx, project};

/// With fewer key points each session with notes makes a run due.
const FEW_POINTS: usize = 8;
/// The longest time that a note waits.
const MAX_WAIT: SignedDuration = SignedDuration::from_hours(7 * 24);
const MAX_NOTES: usize = 60;
/// A note in the prompt, and a run's answer, in tokens.
const NOTE_TOKENS: u64 = 70;
const ANSWER_TOKENS: u64 = 3_000;
const CALLS: u64 = 2;
const MAX_FACTS: usize = 40;
/// A key point given to so many sessions should have been cited.
const OFTEN_GIVEN: u64 = 10;
/// The defaults of a dream: the number of lines, and their greatest age.
pub(crate) const DREAM_LINES: usize = 12;
const RECENT: SignedDuration = SignedDuration::from_hours(30 * 24);
const MAX_MARK: u64 = 100;
const NO_NOTES: &str = "none of its notes is left";

pub(super) async fn run(
    context: &Worker,
    job: &mut Job,
    order: &CuratorOrder,
    config: &Config,
) -> Step {
    // One run of a project at a time: the next one sees what this one makes of the notebook.
    let curator = context.alone(&context.paths().project(&job.ticket.project));
    let _one_run = curator.lock().await;
    let project = context.alone(&job.ticket.project);
    let (material, playbook) = {
        let _alone = project.lock().await;
        block_in_place(|| {
            let material = gather(context, job, order, config)?;
            let playbook = listed(context, job, config)?;
            Ok::<_, Outcome>((material, playbook))
        })?
    };
    let curation = curation(context, job, (&playbook, &material), config).await?;
    let _alone = project.lock().await;
    block_in_place(|| {
        let work = Work::Curation(&material, &curation);
        stages::finish(context, job, &work, config)
    })
}

fn gather(
    context: &Worker,
    job: &mut Job,
    order: &CuratorOrder,
    config: &Config,
) -> Step<CuratorMaterial> {
    if let Some(material) = &job.progress.material {
        return Ok(material.clone());
    }
    let project = job.ticket.project.clone();
    let name = project.to_string_lossy();
    let secrecy = config.secrets.secrecy().map_err(QueueError::from)?;
    let playbook = ask::points_of(context, job, config)?;
    let memory = context.memory();
    let (seen_until, lines) = (memory.last_note()?, memory.note_lines(&name, &order.notes)?);
    let (outdated, refused) = (memory.outdated(&name)?, memory.refused_last(&name)?);
    let usage = memory.usage(&name)?;
    drop(memory);
    let is_ordered = |line: &NoteLine| order.notes.contains(&line.note.id);
    let (waiting, notebook): (Vec<_>, Vec<_>) = lines.into_iter().partition(is_ordered);
    if waiting.is_empty() && outdated.is_empty() {
        return Err(Outcome::skip(NO_NOTES));
    }
    let is_new = |line: &NoteLine| line.state != NoteState::Waiting;
    let notebook = notebook.into_iter();
    let material = CuratorMaterial {
        waiting: waiting.into_iter().map(|line| line.note).collect(),
        // What came since the order was made has a run of its own.
        notebook: notebook.filter(is_new).map(|line| line.note).collect(),
        facts: facts(context, &project, (&playbook, &usage), outdated, config),
        instructions: read_instructions(context.paths(), &project, &secrecy.masker),
        refused,
    };
    job.progress.seen_until = seen_until;
    job.progress.material = Some(material.clone());
    context.save(job)?;
    Ok(material)
}

fn facts(
    context: &Worker,
    project: &Path,
    (playbook, usage): (&Playbook, &UsageRecord),
    outdated: Vec<OutdatedNote>,
    config: &Config,
) -> Vec<CuratorFact> {
    let plain = |text| CuratorFact { text, from: None };
    let mut facts: Vec<CuratorFact> = outdated.into_iter().map(shown_wrong).collect();
    let record = freshness::record(context.paths(), project);
    facts.extend(playbook.points().filter_map(|point| {
        let gone = record.gone(&point)?;
        Some(plain(format!(
            "[{}] names what is gone: {gone}.",
            point.name
        )))
    }));
    facts.extend(playbook.points().filter_map(|point| {
        let used = usage.of(point.name);
        let is_idle = used.shown >= OFTEN_GIVEN && used.cited == 0;
        let (name, shown) = (point.name, used.shown);
        is_idle.then(|| {
            plain(format!(
                "[{name}] was given to {shown} sessions and never cited."
            ))
        })
    }));
    facts.truncate(MAX_FACTS - 1);
    let StartRoom { for_points, taken } = StartRoom::of(playbook, config.injection.max_units);
    facts.push(plain(format!(
        "A session's start has room for {for_points} characters of key points; they take {taken}: \
         each its text and 11 more, a section some 25 for its heading."
    )));
    facts
}

fn shown_wrong(outdated: OutdatedNote) -> CuratorFact {
    let day = outdated.time.strftime("%Y-%m-%d");
    let what = outdated.what;
    let mut text = format!("[{}] was shown wrong on {day}: {}", what.point, what.why);
    if !what.kinds.is_empty() {
        // Writing to a String cannot fail.
        _ = write!(text, " ({})", what.kinds.join(", "));
    }
    CuratorFact {
        text,
        from: Some(SessionFact {
            id: outdated.id,
            session: outdated.session,
            is_outside: outdated.is_outside,
        }),
    }
}

fn listed(context: &Worker, job: &mut Job, config: &Config) -> Step<String> {
    let playbook = ask::points_of(context, job, config)?;
    let name = job.ticket.project.to_string_lossy();
    let memory = context.memory();
    let (usage, teachers) = (memory.usage(&name)?, memory.teachers(&name)?);
    let newest_notes = memory.newest_notes(&name)?;
    drop(memory);
    let mut sessions: BTreeMap<String, BTreeMap<String, NoteId>> = BTreeMap::new();
    for (point, session, note) in teachers {
        if let Some(point) = playbook.named(&point) {
            let sessions = sessions.entry(point.name.to_owned()).or_default();
            sessions.entry(session).or_insert(note);
        }
    }
    let taught = |of: BTreeMap<String, NoteId>| {
        let last = of.values().max().copied().unwrap_or_default();
        Taught {
            sessions: of.len(),
            since: newest_notes.iter().filter(|note| **note > last).count(),
        }
    };
    let taught = sessions.into_iter().map(|(point, of)| (point, taught(of)));
    Ok(points_listed(
        &playbook,
        &usage,
        &taught.collect(),
        |point| protection(&usage, point),
    ))
}

pub(super) fn protection(usage: &UsageRecord, point: &Point<'_>) -> Option<Protection> {
    if usage.said.contains(point.name) {
        Some(Protection::Said)
    } else if usage.by_hand.contains(point.name) {
        Some(Protection::AddedByHand)
    } else {
        let is_pinned = point.note.is_some_and(|note| note.pinned);
        is_pinned.then_some(Protection::Pinned)
    }
}

async fn curation(
    context: &Worker,
    job: &mut Job,
    (playbook, material): (&str, &CuratorMaterial),
    config: &Config,
) -> Step<Curation> {
    if let Some(curation) = &job.progress.curation {
        return Ok(curation.clone());
    }
    stages::can_keep_an_answer(context, job)?;
    let asked = ask::curator(context, job, (playbook, material), config).await?;
    if let Some(cause) = &asked.cause {
        return Err(stages::useless(context, job, cause, outcome::CURATE));
    }
    stages::count(context, job, &asked);
    job.progress.curation = Some(asked.result.clone());
    block_in_place(|| context.save(job))?;
    Ok(asked.result)
}

pub(super) fn given_back(job: &Job) -> Vec<NoteUpdate> {
    let order = job.curate.iter().flat_map(|order| &order.notes);
    let update = |id: &NoteId| NoteUpdate {
        id: *id,
        state: NoteState::Notebook,
        line: *id,
        text: None,
        point: None,
    };
    order.map(update).collect()
}

/// Returns what history calls the job: `curated 5 notes of 3 sessions`.
pub(super) fn in_words(material: &CuratorMaterial) -> String {
    let sessions = material.waiting.iter().flat_map(|note| &note.sessions);
    let sessions: BTreeSet<&String> = sessions.collect();
    let outdated = material.facts.iter().filter(|fact| fact.from.is_some());
    let notes = material.waiting.len() + outdated.count();
    let counted = crate::shown::counted;
    format!(
        "curated {} of {}",
        counted(notes, "note"),
        counted(sessions.len().max(1), "session")
    )
}

/// Returns the reflection that a dream leaves (spec/3), where it found something.
pub(super) fn dreamt(job: &Job, config: &Config) -> Option<Learned> {
    let is_dream = job.curate.as_ref()?.why == CuratorReason::Dream;
    let curation = job.progress.curation.as_ref()?;
    let is_kept = is_dream && config.memory.mode == MemoryMode::Full;
    (is_kept && !curation.reasoning.is_empty()).then(|| {
        Learned::Reflection(NewReflection {
            tenant: crate::tenant::DEFAULT.to_owned(),
            text: curation.reasoning.clone(),
            outcome: Some("partial".to_owned()),
            importance: 0.5,
            confidence: 0.5,
            tags: vec!["dream".to_owned()],
            ..NewReflection::default()
        })
    })
}

/// A wish that a run is made, whatever waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CuratorWish {
    /// The last session of a batch has ended; the run may spend so much.
    Batch(Usage),
    Asked,
    /// The number of most important lines that a run looks at if nothing waits.
    Dream(usize),
}

pub(super) fn after_job(context: &Worker, job: &Job) -> Step {
    if job.edit.is_some() {
        return Ok(());
    }
    let wish = job.progress.ends_batch.map(CuratorWish::Batch);
    let need = ask::need_of(context, job).clone();
    let id = &job.ticket.id;
    match enqueue(context, &job.ticket.project, (need, wish), Some(id)) {
        Err(error @ (QueueError::File(_) | QueueError::Memory(_))) => Err(error.into()),
        // What is wrong with the settings or the playbook keeps no job that has ended.
        Err(error) => {
            context.log(id.as_str(), &error.to_string());
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// Enqueues a run of the worker's own project that an earlier worker could not.
pub(super) fn at_start(context: &Worker) {
    if let Some(project) = &context.home_project {
        let need = context.account.need.clone();
        if let Err(error) = enqueue(context, project, (need, None), None) {
            context.log("worker", &error.to_string());
        }
    }
}

/// Enqueues a project's run if one is due, or wished for and there is something to look at;
/// returns its id, or that of the one that is there. `ends` is a job that is about to leave.
pub(crate) fn enqueue(
    context: &Worker,
    project: &Path,
    (need, wish): (Need, Option<CuratorWish>),
    ends: Option<&JobId>,
) -> Result<Option<JobId>> {
    let agreed = match wish {
        Some(CuratorWish::Batch(agreed)) => Some(agreed),
        _ => None,
    };
    let config = context.config_for(project)?;
    let is_off = !config.reflection.enabled;
    if need.backend == BackendName::Rules || is_off || project == context.paths().own() {
        return Ok(None);
    }
    // Held until the job is there: two sessions that end at once make one.
    let memory = context.memory();
    let name = project.to_string_lossy();
    let (mut waiting, last) = (memory.waiting_notes(&name)?, memory.last_note()?);
    if waiting.ids.is_empty() && !matches!(wish, Some(CuratorWish::Dream(_))) {
        return Ok(None);
    }
    let spool = context.paths().spool();
    let jobs = progress::all(&spool)?;
    let jobs = jobs.filter(|job| job.ticket.project == project && Some(&job.ticket.id) != ends);
    let mut has_bootstrap = false;
    for job in jobs {
        has_bootstrap |= job.ticket.event == JobEvent::Bootstrap;
        let Some(order) = &job.curate else { continue };
        if agreed.is_none() {
            return Ok(Some(job.ticket.id));
        }
        // Each batch has a run of its own, which its agreement pays.
        waiting.ids.retain(|id| !order.notes.contains(id));
    }
    let order = match wish {
        Some(wish) => wished(&memory, &name, wish, waiting, context.now())?,
        None if has_bootstrap => None,
        None => due(context, project, &config, waiting)?,
    };
    let Some(order) = order else { return Ok(None) };
    let clock = context.clock;
    let entropy = IdEntropy::of(clock, || {
        format!("curate\n{name}\n{last}\n{:?}", order.notes)
    });
    let ticket = Ticket {
        need: Some(need),
        ..Ticket::new(JobEvent::Curate, project, context.now())
    };
    let id = spool::put_as(context.paths(), &entropy, ticket, |ticket| {
        let mut job = Job::new(ticket.clone());
        (job.curate, job.progress.agreed) = (Some(order.clone()), agreed);
        job
    })?;
    context.note_enqueued();
    context.log(id.as_str(), &format!("due: {:?}", order.why));
    Ok(Some(id))
}

pub(crate) fn waiting_run(paths: &Paths, project: &Path) -> Result<Option<JobId>> {
    let spool = paths.spool();
    let mut jobs = progress::all(&spool)?;
    let run = jobs.find(|job| job.curate.is_some() && job.ticket.project == project);
    Ok(run.map(|job| job.ticket.id))
}

pub(crate) fn estimate(paths: &Paths, config: &Config, project: &Path) -> Result<Usage> {
    let masker = config.secrets.secrecy()?.masker;
    let playbook = Store::of(paths, project).load()?;
    let points = estimate_tokens(&format_playbook(&playbook, POINTS_ONLY));
    // The room of the start holds what the run may make of it.
    let room = config.injection.max_units as u64 / 2;
    let notes = NOTE_TOKENS * (MAX_NOTES + MAX_NOTEBOOK + MAX_FACTS) as u64;
    let prompt = estimate_tokens(&ask::curator_template(paths)?)
        + estimate_tokens(&read_instructions(paths, project, &masker))
        + points
        + room
        + notes;
    Ok(Usage {
        calls: CALLS,
        tokens: CALLS * (prompt + ANSWER_TOKENS),
    })
}

fn wished(
    memory: &Memory,
    project: &str,
    wish: CuratorWish,
    waiting: WaitingNotes,
    now: Timestamp,
) -> Result<Option<CuratorOrder>> {
    let (why, mut notes) = match wish {
        CuratorWish::Batch(_) => (CuratorReason::Batch, waiting.ids),
        CuratorWish::Asked => (CuratorReason::Asked, waiting.ids),
        CuratorWish::Dream(count) if waiting.ids.is_empty() => {
            let since = now.checked_sub(RECENT).unwrap_or(Timestamp::MIN);
            let lines = memory.important_lines(project, since, count)?;
            let mut ids: Vec<NoteId> = lines.iter().map(|line| line.note.id).collect();
            ids.sort_unstable();
            (CuratorReason::Dream, ids)
        }
        CuratorWish::Dream(_) => (CuratorReason::Dream, waiting.ids),
    };
    notes.truncate(MAX_NOTES.max(DREAM_LINES));
    Ok((!notes.is_empty()).then_some(CuratorOrder { notes, why }))
}

fn due(
    context: &Worker,
    project: &Path,
    config: &Config,
    waiting: WaitingNotes,
) -> Result<Option<CuratorOrder>> {
    let now = context.now();
    let has_few = || -> Result<bool> {
        let playbook = Store::of(context.paths(), project).load()?;
        Ok(playbook.points().count() < FEW_POINTS)
    };
    let has_waited = |since: Timestamp| now.duration_since(since) >= MAX_WAIT;
    let why = if waiting.has_said {
        CuratorReason::Said
    } else if waiting.has_outdated {
        CuratorReason::Outdated
    } else if waiting.sessions >= config.curator.every {
        CuratorReason::Sessions
    } else if waiting.since.is_some_and(has_waited) {
        CuratorReason::Waited
    } else if has_few()? {
        CuratorReason::FewPoints
    } else {
        return Ok(None);
    };
    let mut notes = waiting.ids;
    notes.truncate(MAX_NOTES);
    Ok(Some(CuratorOrder { notes, why }))
}

/// Enqueues dreams, with `memory.mode = "full"` once a day where nothing waits.
pub(super) fn dreams<'p>(context: &Worker, projects: impl Iterator<Item = &'p PathBuf>) {
    for project in projects {
        if let Err(error) = dream_once_a_day(context, project) {
            context.log("worker", &format!("did not dream: {error}"));
        }
    }
}

fn dream_once_a_day(context: &Worker, project: &Path) -> Result {
    let config = context.config_for(project)?;
    let need = &context.account.need;
    let (account, now) = (need.account(), context.now());
    let is_parked = context.backoff().parked(&account, now).is_some();
    if config.memory.mode != MemoryMode::Full || is_parked {
        return Ok(());
    }
    let name = project.to_string_lossy();
    if !context.memory().waiting_notes(&name)?.ids.is_empty() {
        return Ok(());
    }
    let mark = context.paths().project(project).join("dreamt");
    let today = Day::of(context.now()).start.to_string();
    let last = fsx::read_if_there(&mark, MAX_MARK)?;
    if last.as_deref() == Some(today.as_bytes()) {
        return Ok(());
    }
    let wish = CuratorWish::Dream(DREAM_LINES);
    if enqueue(context, project, (need.clone(), Some(wish)), None)?.is_some() {
        fsx::ensure_dir(&context.paths().project(project))?;
        fsx::quick(&mark, today.as_bytes())?;
    }
    Ok(())
}

const MAX_CHARS: usize = 40_000;
const MAX_FILE_BYTES: u64 = 256 << 10;
/// The number of files of one kind that are read: nested ones, rules, the client's own notes.
const MAX_FILES: usize = 50;
/// The number of files that are read in all, with those that others import.
const MAX_ALL: usize = 200;
/// The number of imports that are followed from one file to the next, as by the client.
const MAX_HOPS: usize = 5;
const MAX_DEPTH: usize = 8;
const GIT_TIME: Duration = Duration::from_secs(10);

/// Returns the masked instructions, each file under its name, and one line that names what was left
/// out. A file that cannot be read, is no regular file or is outside of the project says nothing.
pub(super) fn read_instructions(paths: &Paths, project: &Path, masker: &Masker) -> String {
    let mut own = root_files(project);
    own.extend(nested(project));
    own.extend(markdown_below(&project.join(".claude/rules"), MAX_DEPTH));
    let mut files = with_imports(project, own);
    let of_client = paths.client_projects().join(dashed(project)).join("memory");
    files.extend(markdown_below(&of_client, 0));
    let mut text = String::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut room = MAX_CHARS;
    for file in files {
        let name = name_of(project, &file);
        let Some(said) = text_of(&file) else { continue };
        let said = masker.mask(said.trim());
        if said.is_empty() {
            continue;
        }
        let head = format!("From {name}:\n");
        let part: String = said.chars().take(room.saturating_sub(head.len())).collect();
        if part.len() < said.len() {
            left_out.push(name);
        }
        if part.is_empty() {
            continue;
        }
        room = room.saturating_sub(head.len() + part.chars().count());
        text.push_str(&head);
        text.push_str(&part);
        text.push('\n');
    }
    if !left_out.is_empty() {
        text.push_str("(Left out, or in part: ");
        text.push_str(&left_out.join(", "));
        text.push_str(")\n");
    }
    text
}

/// Returns the files at the root that the client, or another agent, reads in any case.
fn root_files(project: &Path) -> Vec<PathBuf> {
    let mut files = in_any_case(project, "claude.md");
    files.extend(in_any_case(&project.join(".claude"), "claude.md"));
    files.extend(["CLAUDE.local.md", "AGENTS.md"].map(|name| project.join(name)));
    files
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fsx::list(folder).unwrap_or_default().into_iter();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn in_any_case(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut files = sorted(folder);
    files.retain(|file| {
        file.file_name()
            .is_some_and(|it| it.eq_ignore_ascii_case(name))
    });
    files
}

fn nested(project: &Path) -> Vec<PathBuf> {
    if project::git_above(project).is_none() {
        return Vec::new();
    }
    let git = Git::at(project, GIT_TIME);
    let listed = git.ask_now(&["ls-files", "-z"]).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let files = listed.split_terminator('\0').filter(|file| {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        !matches!(folder, "" | ".claude") && name.eq_ignore_ascii_case("claude.md")
    });
    let files = files.take(MAX_FILES);
    files.map(|file| project.join(file)).collect()
}

/// Returns the Markdown files of a folder, and of those below it down to `depth`, in order.
fn markdown_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in sorted(folder) {
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir());
        if is_folder && depth > 0 {
            files.extend(markdown_below(&path, depth - 1));
        } else if !is_folder && path.extension().is_some_and(|end| end == "md") {
            files.push(path);
        }
    }
    files.truncate(MAX_FILES);
    files
}

/// Returns the files of the project, each followed by those that it imports (`@docs/a.md`).
fn with_imports(project: &Path, files: Vec<PathBuf>) -> Vec<PathBuf> {
    fn add(all: &mut Vec<PathBuf>, project: &Path, file: PathBuf, hops: usize) {
        if all.len() == MAX_ALL || all.contains(&file) || !is_own(project, &file) {
            return;
        }
        let Some(text) = text_of(&file) else { return };
        let folder = file.parent().unwrap_or(project).to_owned();
        all.push(file);
        if hops > 0 {
            for path in imports(&text) {
                add(all, project, plain(&folder.join(path)), hops - 1);
            }
        }
    }
    let mut all = Vec::new();
    for file in files {
        add(&mut all, project, file, MAX_HOPS);
    }
    all
}

/// Returns the paths that a text imports; in code an `@` imports nothing.
fn imports(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_code = !is_code;
        } else if !is_code {
            let words = line.split('`').step_by(2).flat_map(str::split_whitespace);
            let paths = words.filter_map(|word| word.strip_prefix('@'));
            let paths = paths.map(|path| path.split('#').next().unwrap_or_default());
            let end = [',', ';', ':', '.', ')', '!', '?'];
            found.extend(paths.map(|path| path.trim_end_matches(end)));
        }
    }
    found.retain(|path| !path.is_empty());
    found
}

/// Resolves `.` and `..` by the names alone, so that one file has one path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Returns true for a file of the project that no link leads out of.
fn is_own(project: &Path, file: &Path) -> bool {
    let folder = file.parent().map(fs::canonicalize);
    let project = fs::canonicalize(project);
    let folder = folder.and_then(Result::ok);
    folder.is_some_and(|folder| project.is_ok_and(|project| folder.starts_with(project)))
}

fn text_of(file: &Path) -> Option<String> {
    if !fs::symlink_metadata(file).ok()?.is_file() {
        return None;
    }
    String::from_utf8(fsx::read(file, MAX_FILE_BYTES).ok()?).ok()
}

fn name_of(project: &Path, file: &Path) -> String {
    if let Ok(name) = file.strip_prefix(project) {
        return name.to_string_lossy().into_owned();
    }
    let name = file.file_name().unwrap_or_default();
    format!("Claude Code's memory, {}", name.to_string_lossy())
}
