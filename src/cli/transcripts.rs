//! The transcripts that the client keeps, and what their first and last lines tell.

use std::io::{BufRead as _, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use serde::Deserialize;

use crate::fsx;
use crate::paths::Paths;

/// How much of a transcript is read to find its folder.
const HEAD: u64 = 1 << 20;
/// How much of its end is read to find when it ended.
const TAIL: u64 = 1 << 18;

#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// The client's id of the session; of a subagent, that of its parent.
    pub(super) session: String,
    pub(super) is_subagents: bool,
}

#[derive(Debug, Clone)]
pub(super) struct About {
    /// The folder that the session was held in; `None` when no line says.
    pub(super) cwd: Option<PathBuf>,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
}

/// All transcripts that the client keeps, in no order.
pub(super) fn all(paths: &Paths) -> Vec<Found> {
    let mut found = Vec::new();
    for folder in entries(&paths.client_projects()) {
        for entry in entries(&folder) {
            if is_transcript(&entry) {
                let session = stem(&entry);
                found.push(Found {
                    path: entry,
                    session,
                    is_subagents: false,
                });
            } else if entry.is_dir() {
                let session = stem(&entry);
                let own = entries(&entry.join("subagents"));
                found.extend(own.filter(|path| is_transcript(path)).map(|path| Found {
                    path,
                    session: session.clone(),
                    is_subagents: true,
                }));
            }
        }
    }
    found
}

/// The transcripts that lie in a folder, in no order.
pub(super) fn in_folder(folder: &Path) -> Vec<Found> {
    let found = entries(folder).filter(|path| is_transcript(path));
    let found = found.map(|path| Found {
        session: stem(&path),
        path,
        is_subagents: false,
    });
    found.collect()
}

pub(super) fn newest_of_each(paths: &Paths) -> impl Iterator<Item = PathBuf> {
    entries(&paths.client_projects()).filter_map(|folder| {
        let transcripts = entries(&folder).filter(|path| is_transcript(path));
        transcripts.max_by_key(|path| written(path))
    })
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "jsonl") && path.is_file()
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn written(path: &Path) -> SystemTime {
    let written = path.metadata().and_then(|m| m.modified());
    written.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The keys of a line that tell of its session.
#[derive(Deserialize)]
struct Line {
    cwd: Option<PathBuf>,
    timestamp: Option<String>,
}

impl Line {
    /// What is no such line says nothing.
    fn of(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    fn time(&self) -> Option<Timestamp> {
        self.timestamp.as_ref()?.parse().ok()
    }
}

/// Reads a transcript's first and last lines; `None` when it cannot be read.
pub(super) fn about(path: &Path) -> Option<About> {
    let mut file = fsx::open_regular(path).ok()?;
    let (mut cwd, mut began) = (None, None);
    for line in lines(Read::by_ref(&mut file), HEAD) {
        let Some(line) = Line::of(&line) else {
            continue;
        };
        began = began.or_else(|| line.time());
        cwd = cwd.or(line.cwd);
        if cwd.is_some() && began.is_some() {
            break;
        }
    }
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))
        .ok()?;
    let last = lines(&mut file, TAIL)
        .filter_map(|line| Line::of(&line)?.time())
        .last();
    let written = Timestamp::try_from(written(path)).unwrap_or(Timestamp::UNIX_EPOCH);
    let ended = last.unwrap_or(written);
    Some(About {
        cwd,
        began: began.unwrap_or(ended),
        ended,
    })
}

fn lines(from: impl Read, most: u64) -> impl Iterator<Item = Vec<u8>> {
    let lines = BufReader::new(from.take(most)).split(b'\n');
    lines.map_while(Result::ok)
}

/// The folder that a transcript was written in, if it is still there.
pub(super) fn worked_in(transcript: &Path) -> Option<PathBuf> {
    let file = fsx::open_regular(transcript).ok()?;
    lines(file, HEAD)
        .filter_map(|line| Line::of(&line)?.cwd)
        .find(|folder| folder.is_dir())
}

/// Tells whether the client would keep the transcripts of `project` in the folder of
/// `transcript`: every other character of its path turned into a dash.
pub(super) fn is_filed_under(transcript: &Found, project: &Path) -> bool {
    let above = if transcript.is_subagents { 3 } else { 1 };
    let folder = transcript.path.ancestors().nth(above);
    let name = folder.and_then(Path::file_name).unwrap_or_default();
    let dashed: String = project
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    name == dashed.as_str()
}
