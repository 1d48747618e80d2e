//! Gathers what a session need not teach again: the project's own instructions, and the
//! lessons of earlier sessions that touch it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::context::WorkerContext;
use super::evidence::SessionEvidence;
use super::progress::JobInProgress;
use super::record::root_of;
use crate::config::Config;
use crate::fsx;
use crate::hint::MemoryKind;
use crate::memory::{Memory, MemoryError, RecallQuery};
use crate::paths::Paths;
use crate::playbook::Playbook;
use crate::redact::PatternError;
use crate::reflect::known::{InstructionFile, KnownLesson, chosen, unsaid};
use crate::reflect::reply::Reflection;
use crate::trust::TrustStanding;

/// The files in which projects tell assistants how to work there, and the folder of more.
const FILES: [&str; 3] = ["CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md"];
const RULES: &str = ".claude/rules";
/// How many files of rules are read, and how much of one.
const MAX_RULES: usize = 50;
const MAX_FILE: u64 = 256 << 10;
const LESSONS: usize = 16;
/// How many a curator is shown, with those that are like what the reflector found.
const WITH_ALIKE: usize = 24;
/// How many are looked up: some of them say the same, or what a key point says.
const LOOKED_UP: u64 = 40;

/// The lessons of earlier sessions that `playbook` does not say: first those that touch this one,
/// then the best of the others. What recurs often has other words, and only who is shown a lesson
/// can say that it came back. `root` is the session that this one goes back to.
pub(crate) fn lessons(
    memory: &Memory,
    project: &Path,
    session: &SessionEvidence,
    playbook: &Playbook,
    root: &str,
    now: Timestamp,
) -> Result<Vec<KnownLesson>, MemoryError> {
    let facts = &session.facts;
    let errors = facts.errors.iter().map(|error| error.message.as_str());
    let request = facts.first_request.as_deref();
    let about: Vec<&str> = request.into_iter().chain(errors).collect();
    let mut found = like(memory, project, root, &about.join("\n"), now)?;
    for other in self::found(memory, project, root, None, now)? {
        if found.iter().all(|lesson| lesson.id != other.id) {
            found.push(other);
        }
    }
    Ok(unsaid(found, playbook, LESSONS))
}

/// The lessons besides those that a job's reflector was shown that are like what it found, with a
/// ground or without: the first ones were chosen before anything was.
pub(super) fn more(
    context: &WorkerContext,
    job: &JobInProgress,
    reflection: &Reflection,
    playbook: &Playbook,
) -> Result<Vec<KnownLesson>, MemoryError> {
    let known = &job.progress.known_lessons;
    let lessons = reflection.lessons.iter();
    let taught = lessons.map(|lesson| lesson.correction.as_str());
    let dropped = job.progress.dropped_lessons.iter();
    let taught = taught.chain(dropped.map(|dropped| dropped.what.as_str()));
    let found = like(
        &context.memory(),
        &job.ticket.project,
        &root_of(job),
        &taught.collect::<Vec<_>>().join("\n"),
        context.now(),
    )?;
    let is_new = |lesson: &KnownLesson| known.iter().all(|known| known.id != lesson.id);
    let found = found.into_iter().filter(is_new);
    let all = known.iter().cloned().chain(found).collect();
    let mut new = unsaid(all, playbook, WITH_ALIKE.max(known.len()));
    new.retain(is_new);
    Ok(new)
}

/// The texts that earlier sessions taught, as a session is told of them.
pub(crate) fn texts<'t>(
    playbook: &'t Playbook,
    lessons: &'t [KnownLesson],
) -> impl Iterator<Item = &'t str> {
    let points = playbook.points().map(|point| point.text);
    points.chain(lessons.iter().map(|lesson| lesson.text.as_str()))
}

/// The best lessons of a project, of whatever session.
pub(super) fn best(
    memory: &Memory,
    project: &Path,
    now: Timestamp,
) -> Result<Vec<KnownLesson>, MemoryError> {
    found(memory, project, "", None, now)
}

/// The lessons that are like a text; none are like an empty one.
pub(super) fn like(
    memory: &Memory,
    project: &Path,
    root: &str,
    text: &str,
    now: Timestamp,
) -> Result<Vec<KnownLesson>, MemoryError> {
    match text {
        "" => Ok(Vec::new()),
        text => found(memory, project, root, Some(text), now),
    }
}

fn found(
    memory: &Memory,
    project: &Path,
    root: &str,
    text: Option<&str>,
    now: Timestamp,
) -> Result<Vec<KnownLesson>, MemoryError> {
    let query = RecallQuery {
        text: text.map(str::to_owned),
        kinds: vec![MemoryKind::Lesson],
        project: Some(project.to_string_lossy().into_owned()),
        ..RecallQuery::best(LOOKED_UP)
    };
    let known = memory.recall(&query, now)?.into_iter();
    let known = known.map(|lesson| {
        Ok(KnownLesson {
            sessions: memory.taught_elsewhere(&lesson.id, root)?,
            id: lesson.id,
            text: lesson.text,
        })
    });
    known.collect()
}

/// What the instructions of a project that the user trusts say of what a session touched,
/// without secrets. A file that cannot be read says nothing.
pub(crate) fn instructions(
    paths: &Paths,
    project: &Path,
    config: &Config,
    session: &SessionEvidence,
) -> Result<String, PatternError> {
    if !matches!(
        TrustStanding::of(paths, project),
        TrustStanding::Recorded(_) | TrustStanding::Born
    ) {
        return Ok(String::new());
    }
    let secrecy = config.secrets.secrecy()?;
    let mut files: Vec<PathBuf> = FILES.iter().map(|name| project.join(name)).collect();
    let rules = fsx::list(&project.join(RULES))
        .unwrap_or_default()
        .into_iter();
    let mut rules: Vec<PathBuf> = rules.map(|entry| entry.path()).collect();
    rules.retain(|path| path.extension().is_some_and(|end| end == "md"));
    rules.sort();
    files.extend(rules.into_iter().take(MAX_RULES));
    let read = files.iter().filter_map(|path| {
        let bytes = fsx::read(own_file(project, path)?, MAX_FILE).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let name = path.strip_prefix(project).ok()?;
        Some(InstructionFile {
            name: name.to_string_lossy().into_owned(),
            text: secrecy.masker.mask(&text).into_owned(),
        })
    });
    let read: Vec<InstructionFile> = read.collect();
    Ok(chosen(&read, &session.evidence.text))
}

/// A regular file that lies in the project, and no link on the way out of it.
fn own_file<'a>(project: &Path, path: &'a Path) -> Option<&'a Path> {
    let is_file = std::fs::symlink_metadata(path).ok()?.is_file();
    let folder = std::fs::canonicalize(path.parent()?).ok()?;
    let is_inside = folder.starts_with(std::fs::canonicalize(project).ok()?);
    (is_file && is_inside).then_some(path)
}
