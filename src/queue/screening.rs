//! Screens key points before a session is given them: those a curator asks for, and those
//! that came with the file. What looks like an attack goes into quarantine.
//!
//! The record of a project is written under the lock of its playbook.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::edit::Edit;
use super::progress::Job;
use super::shop::Shop;
use super::stop::Stop;
use crate::config::{Config, ConfigError};
use crate::fsx::FsError;
use crate::memory::{Held, MemoryError};
use crate::paths::{name_of, playbook_file};
use crate::playbook::ops::{Operation, written_text};
use crate::playbook::store::{Store, StoreError};
use crate::playbook::{Change, Id, Playbook, Point, PointState, Section};
use crate::redact::{Masker, PatternError, Secrecy};
use crate::reflect::tellable::Refused;
use crate::screen::{self, Heard};
use crate::trust::request::{self, Request};
use crate::trust::{Admission, Mark, Record, Standing, Word, outside};

/// How long the worker waits for a playbook it only wants to screen.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// How the key of a point from the file begins in the quarantine; its hash follows.
const FROM_FILE: &str = "file:";
/// What stands in the quarantine in the place of a job where the agent ran a command.
const BY_AGENT: &str = "agent";
/// Why a harmless point is held back.
const STRICT: &str = "new in the file, and `trust.strict` is set";
/// Why a point is held back that hooks could not mask.
const OWN_PATTERN: &str = "one of `secrets.patterns` finds a secret in it";

/// An operation of the curator's that was held back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldBack {
    /// Its place in the curator's answer.
    pub seq: u64,
    /// The operation.
    pub operation: Value,
    /// Why.
    pub reasons: String,
}

/// What is in quarantine, as it stands in the database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// An operation that was not applied.
    Operation(Value),
    /// What the agent asked for by a command, and was not done.
    Edit(Edit),
    /// A key point of the file that is not given to sessions.
    Point {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
    },
    /// Something that was not remembered.
    Memory {
        /// What hooks would have told.
        text: String,
    },
}

impl What {
    /// What the user does by accepting it, with other words for it if there are any.
    ///
    /// `None` when nothing has to be changed: a point of the file stays as it is.
    pub fn as_edit(&self, words: Option<&str>) -> Option<Edit> {
        let operation = match self {
            Self::Point { name, .. } => {
                return words.map(|text| Edit::Change {
                    point: name.clone(),
                    text: Some(text.to_owned()),
                    section: None,
                });
            }
            Self::Edit(edit) => return Some(edit.with_text(words)),
            Self::Memory { text } => {
                return Some(Edit::Add {
                    text: words.unwrap_or(text).to_owned(),
                    section: Section::Others,
                });
            }
            Self::Operation(operation) => operation,
        };
        let words = |text: String| words.map_or(text, str::to_owned);
        Some(match Operation::read(operation).ok()? {
            Operation::Add { text, section } => Edit::Add {
                text: words(text),
                section,
            },
            Operation::Update { target, text } => Edit::Change {
                point: target,
                text: Some(words(text)),
                section: None,
            },
            Operation::Merge {
                sources,
                text,
                section,
            } => Edit::Merge {
                points: sources,
                text: words(text),
                section,
            },
            Operation::Delete { target } => Edit::Remove {
                point: target,
                reason: None,
            },
        })
    }
}

/// Parts a curator's operations into those that may be applied and those that are held back.
pub(super) fn part(operations: &[Value], heard: &Heard) -> (Vec<Value>, Vec<HeldBack>) {
    let mut applied = Vec::new();
    let mut held = Vec::new();
    for (seq, operation) in (0..).zip(operations) {
        match reasons(written_text(operation), heard) {
            None => applied.push(operation.clone()),
            Some(reasons) => held.push(HeldBack {
                seq,
                operation: operation.clone(),
                reasons,
            }),
        }
    }
    (applied, held)
}

/// What of a job was held back, as the database keeps it.
pub(super) fn held_of(job: &Job) -> Vec<Held> {
    let id = job.ticket.id.as_str();
    let held = job.progress.held.iter().map(|held| Held {
        key: format!("{id}:{}", held.seq),
        job: id.to_owned(),
        what: to_json(&What::Operation(held.operation.clone())),
        text: written_text(&held.operation).to_owned(),
        reasons: held.reasons.clone(),
    });
    held.collect()
}

/// What the job `id` did not remember, as the database keeps it.
pub fn held_memories(id: &str, refused: &[Refused]) -> Vec<Held> {
    let held = (0_u64..).zip(refused).map(|(seq, refused)| Held {
        key: format!("{id}:memory:{seq}"),
        job: id.to_owned(),
        what: to_json(&What::Memory {
            text: refused.text.clone(),
        }),
        text: refused.text.clone(),
        reasons: refused.why.clone(),
    });
    held.collect()
}

/// Holds back what the agent asks for by a command, if it looks like an attack; returns why.
///
/// A page the agent has read can make it run a command: nobody has said where the text may
/// lead, so it is screened as one that came with a file.
pub fn hold_agents(
    shop: &Shop,
    project: &Path,
    edit: &Edit,
) -> Result<Option<String>, ScreeningError> {
    let Some(text) = edit.text() else {
        return Ok(None);
    };
    let Some(reasons) = reasons(text, &Heard::default()) else {
        return Ok(None);
    };
    let key = to_json(&What::Edit(edit.clone())).to_string();
    let masker = masker(shop, project)?;
    let held = Held {
        key: format!("{BY_AGENT}:{}", name_of(key.as_bytes())),
        job: BY_AGENT.to_owned(),
        what: to_json(&What::Edit(edit.masked(&masker))),
        text: masker.mask(text).into_owned(),
        reasons: reasons.clone(),
    };
    let project = project.to_string_lossy();
    let nothing_left = |_: &str| false;
    shop.memory()
        .hold_back(&project, &[held], &nothing_left, shop.now())?;
    Ok(Some(reasons))
}

/// What a screening did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Screened {
    /// Key points that sessions are given.
    pub known: usize,
    /// Key points that are held back.
    pub held: usize,
}

/// Why a playbook could not be screened.
#[derive(Debug, thiserror::Error)]
pub enum ScreeningError {
    /// The record, or a folder.
    #[error(transparent)]
    File(#[from] FsError),
    /// The playbook.
    #[error(transparent)]
    Playbook(#[from] StoreError),
    /// The quarantine.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The settings.
    #[error(transparent)]
    Settings(#[from] ConfigError),
    /// What they say of secrets.
    #[error(transparent)]
    Secrets(#[from] PatternError),
}

impl From<ScreeningError> for Stop {
    fn from(error: ScreeningError) -> Self {
        Self::waits(&error)
    }
}

/// Which unknown points of the file may be given without a word of the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Harmless ones.
    Harmless,
    /// None.
    None,
}

/// Begins the record of a project whose playbook is about to be begun by us.
pub(super) fn birth(shop: &Shop, project: &Path) -> Result<(), FsError> {
    if let Standing::Foreign = Standing::of(&shop.paths, project) {
        let record = Record::new(Word::Trusted);
        record.write(&shop.paths.trust_record(project))?;
    }
    Ok(())
}

/// Brings the record up to date with what a job did to the playbook; the caller holds its
/// lock.
pub(super) fn after_job(shop: &Shop, job: &Job, playbook: &Playbook) -> Result<(), ScreeningError> {
    let changes = match job.ticket.edit {
        // What they bring back may be anybody's.
        Some(Edit::Undo { .. } | Edit::Restore { .. }) => &[],
        _ => job.progress.changes.as_deref().unwrap_or_default(),
    };
    let ours = changes.iter().filter_map(written).collect();
    bring_up_to_date(shop, &job.ticket.project, playbook, &ours)
}

/// The point that a change wrote, if it changed more than counters.
fn written(change: &Change) -> Option<Mark> {
    let mark = |state: &PointState| Mark::of(state.name(), state.text());
    let after = mark(change.after.as_ref()?);
    (change.before.as_ref().map(mark) != Some(after)).then_some(after)
}

/// Screens what hooks ask for.
pub(super) fn requested(shop: &Shop) -> Result<(), FsError> {
    for Request { file, project } in request::all(&shop.paths)? {
        if shop.is_settled(&file) {
            continue;
        }
        shop.settle_request(file);
        if let Some(project) = project
            && let Err(error) = screen(shop, &project)
        {
            shop.log("worker", &format!("not screened: {error}"));
        }
    }
    Ok(())
}

/// Screens the playbook of a trusted project as it is now.
fn screen(shop: &Shop, project: &Path) -> Result<(), ScreeningError> {
    let store = Store::new(playbook_file(project));
    if !Standing::of(&shop.paths, project).is_trusted() || !store.path().exists() {
        return Ok(());
    }
    let locked = store.lock(LOCK_WAIT)?;
    bring_up_to_date(shop, project, &locked.load()?, &HashSet::new())
}

fn bring_up_to_date(
    shop: &Shop,
    project: &Path,
    playbook: &Playbook,
    ours: &HashSet<Mark>,
) -> Result<(), ScreeningError> {
    let (record, pass) = match Standing::of(&shop.paths, project) {
        Standing::Recorded(record) if shop.config.trust.strict => (record, Pass::None),
        Standing::Recorded(record) => (record, Pass::Harmless),
        Standing::Born => (Record::new(Word::Trusted), Pass::Harmless),
        Standing::Foreign | Standing::Untrusted | Standing::Unreadable(_) => return Ok(()),
    };
    update(shop, project, playbook, record, &Known { ours, pass }).map(drop)
}

/// Trusts a project: screens its playbook and writes the record.
pub fn trust(shop: &Shop, project: &Path) -> Result<Screened, ScreeningError> {
    let path = shop.paths.trust_record(project);
    // What was screened before trust was taken back needs no second look.
    let earlier = Record::read(&path).ok().flatten();
    let mut record = earlier.unwrap_or_else(|| Record::new(Word::Trusted));
    record.word = Word::Trusted;
    let store = Store::new(playbook_file(project));
    if !store.path().exists() {
        record.write(&path)?;
        return Ok(Screened::default());
    }
    let locked = store.lock(super::apply::LOCK_WAIT)?;
    let known = Known {
        ours: &HashSet::new(),
        pass: Pass::Harmless,
    };
    update(shop, project, &locked.load()?, record, &known)
}

/// Finds the point of the file that is held back under `key`.
///
/// The quarantine has it without its secrets, so that only its hash tells which it is.
pub fn held_point<'p>(playbook: &'p Playbook, key_of_row: &str) -> Option<Point<'p>> {
    playbook
        .points()
        .find(|point| key(&Mark::of(point.name, point.text)) == key_of_row)
}

/// Lets a point of the file be given that was held back.
pub fn admit(shop: &Shop, project: &Path, name: &str, text: &str) -> Result<(), ScreeningError> {
    let path = shop.paths.trust_record(project);
    let store = Store::new(playbook_file(project));
    let _locked = store.lock(super::apply::LOCK_WAIT)?;
    if let Some(mut record) = Record::read(&path)? {
        record.know(Mark::of(name, text));
        record.write(&path)?;
    }
    Ok(())
}

/// Stops a job whose playbook lies outside of an untrusted project, behind a symlink.
pub(super) fn may_follow(shop: &Shop, project: &Path) -> Result<(), Stop> {
    match outside::refused(Some(&shop.paths), project) {
        Some(why) => Err(Stop::waits(&why)),
        None => Ok(()),
    }
}

/// What need not wait for the user.
struct Known<'a> {
    /// The points that we wrote.
    ours: &'a HashSet<Mark>,
    /// Of the others, those that are not known yet.
    pass: Pass,
}

/// Makes `record` say all there is to say of a playbook, and writes it.
fn update(
    shop: &Shop,
    project: &Path,
    playbook: &Playbook,
    mut record: Record,
    known: &Known<'_>,
) -> Result<Screened, ScreeningError> {
    let masker = masker(shop, project)?;
    let mut present = Vec::new();
    let mut held = Vec::new();
    for point in playbook.points() {
        let mark = Mark::of(point.name, point.text);
        present.push(mark);
        if known.ours.contains(&mark) {
            record.know(mark);
        } else if !record.knows(&mark) && !record.holds(&mark) {
            let strict = (known.pass == Pass::None).then(|| STRICT.to_owned());
            let own = || has_own_secret(&masker, &point).then(|| OWN_PATTERN.to_owned());
            match of_file(point.name, point.text).or_else(own).or(strict) {
                None => record.know(mark),
                Some(reasons) => {
                    record.hold(mark);
                    held.push(from_file(&mark, &point, reasons, &masker));
                }
            }
        }
    }
    let keys: HashSet<String> = present.iter().map(key).collect();
    let name = project.to_string_lossy();
    let has_left = |key: &str| !keys.contains(key);
    shop.memory()
        .hold_back(&name, &held, &has_left, shop.now())?;
    record.forget_absent(&present);
    let path = shop.paths.trust_record(project);
    if Record::read(&path).ok().flatten().as_ref() != Some(&record) {
        record.write(&path)?;
    }
    let known = present.iter().filter(|mark| record.knows(mark)).count();
    Ok(Screened {
        known,
        held: present.len() - known,
    })
}

/// What is wrong with a point of the file; nobody has said where it may lead.
fn of_file(name: &str, text: &str) -> Option<String> {
    let nobody = Heard::default();
    reasons(text, &nobody).or_else(|| {
        // A name of ours is a word and a number; another may be a sentence.
        let words = name.replace(['-', '_', '.'], " ");
        Id::parse(name)
            .is_none()
            .then(|| reasons(&words, &nobody))?
    })
}

/// Tells whether a point may play a part when a session is judged: one that sessions are
/// given, or would be as soon as the worker has looked at it.
pub(super) fn may_be_used(standing: &Standing, config: &Config, point: &Point<'_>) -> bool {
    match standing.admits(point.name, point.text) {
        Admission::Given => true,
        Admission::Held => false,
        Admission::Unknown => {
            let is_free = standing.is_trusted() && !config.trust.strict;
            is_free && of_file(point.name, point.text).is_none()
        }
    }
}

/// Tells whether a point of the file holds a secret that only the user's own patterns know:
/// hooks have no engine for those.
fn has_own_secret(masker: &Masker, point: &Point<'_>) -> bool {
    masker.own_finds(point.text) || masker.own_finds(point.name)
}

fn reasons(text: &str, heard: &Heard) -> Option<String> {
    let kinds = screen::suspicions(text, heard);
    let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// A point of the file as the quarantine keeps it: without its secrets, under a key of what
/// it is in the file.
fn from_file(mark: &Mark, point: &Point<'_>, reasons: String, masker: &Masker) -> Held {
    let text = masker.mask(point.text).into_owned();
    let what = What::Point {
        name: masker.mask(point.name).into_owned(),
        text: text.clone(),
    };
    Held {
        key: key(mark),
        job: String::new(),
        what: to_json(&what),
        text,
        reasons,
    }
}

/// What masks the texts of a project.
fn masker(shop: &Shop, project: &Path) -> Result<Masker, ScreeningError> {
    Ok(Secrecy::of(&shop.config_for(project)?.secrets)?.masker)
}

fn key(mark: &Mark) -> String {
    format!("{FROM_FILE}{}", mark.hex())
}

fn to_json(what: &What) -> Value {
    // Texts and values of our own: this cannot fail.
    serde_json::to_value(what).unwrap_or_default()
}
