//! From records to events: which records count, and what they say.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use super::collector::Collector;
use super::event::{Call, Cite, Event, EventKind, Place, Prompt};
use super::facts::Facts;
use super::fixes::Fixes;
use super::json::{Cursor, Fault, Str, Value};
use super::keep::Keeper;
use super::lines::Line;
use super::observer::Observer;
use super::record::{self, Block, Mark, Message, Record};
use super::stats::{Reason, Stats};
use super::user::{self, UserText};
use super::{Digest, Lane, Options, RecordHash, checks, citations, cut, speech, tools};

/// How many calls wait for their answer at a time.
const MAX_WAITING: usize = 256;
/// How much of a citation's surroundings is quoted, in bytes.
const MAX_QUOTE: usize = 240;
/// How many citations of one text are kept.
const MAX_CITES: usize = 2_000;
/// How many types of records are told apart; the rest count as `other`.
const MAX_TYPES: usize = 64;
/// What some editors write at the start of a file.
const BOM: &[u8] = b"\xef\xbb\xbf";
/// The tools that run a subagent.
const SUBAGENT_TOOLS: &[&str] = &["Task", "Agent"];

/// Asks whether a record, with its time, is a copy of one in another file or job.
pub(crate) type IsCopy<'c> = dyn FnMut(RecordHash, Option<Timestamp>) -> bool + 'c;

/// Reads the records of one range in order.
pub(crate) struct Session {
    lane: Lane,
    sink: Sink,
    hashes: Vec<RecordHash>,
    stats: Stats,
    /// The types of records, how many there were and their bytes.
    types: Vec<(Vec<u8>, u64, u64)>,
    seen: HashSet<RecordHash>,
    waiting: VecDeque<Waiting>,
    fixes: Fixes,
    /// Whether there is anything a prompt could correct.
    answered: bool,
    /// Whether a boundary was read whose summary is still to come.
    compacting: bool,
    /// Whether the session's folder is known.
    placed: bool,
}

/// A call that waits for its answer.
#[derive(Default)]
struct Waiting {
    id: Box<[u8]>,
    call: Arc<Call>,
    /// The beginning of what it would write, not decoded.
    writes: Box<[u8]>,
}

/// Where events go.
struct Sink {
    observer: Observer,
    collector: Collector,
    events: Vec<(&'static str, u64)>,
    seq: u64,
}

impl Sink {
    fn work_in(&mut self, folder: &str) {
        self.observer.work_in(folder);
        self.collector.work_in(folder);
    }

    fn push(&mut self, place: Place<'_>, kind: EventKind<'_>) {
        let name = kind.name();
        match self.events.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => self.events.push((name, 1)),
        }
        self.seq += 1;
        let event = Event {
            seq: self.seq,
            place,
            kind,
        };
        self.observer.see(&event);
        self.collector.push(&event);
    }
}

impl Session {
    /// Starts a range; `begins` says that nothing of the session stands before it.
    pub(crate) fn new(options: &Options, begins: bool) -> Self {
        let keeper = Keeper::new(options.home.as_deref());
        Self {
            lane: options.lane,
            sink: Sink {
                observer: Observer::new(keeper.clone()),
                collector: Collector::new(keeper),
                events: Vec::new(),
                seq: 0,
            },
            hashes: Vec::new(),
            stats: Stats::default(),
            types: Vec::new(),
            seen: HashSet::new(),
            waiting: VecDeque::new(),
            fixes: Fixes::default(),
            answered: !begins,
            compacting: false,
            placed: false,
        }
    }

    /// Takes one line, which can hold more than one record.
    pub(crate) fn line(&mut self, line: &Line<'_>, is_copy: &mut IsCopy<'_>) {
        self.stats.lines += 1;
        let Some(bytes) = line.bytes else {
            self.bad(Reason::TooLong);
            return;
        };
        self.stats.bytes += bytes.len() as u64 + 1;
        let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
        let mut cursor = Cursor::new(bytes);
        if cursor.peek().is_none() {
            self.bad(Reason::Blank);
        }
        while let Some(first) = cursor.peek() {
            let start = cursor.position();
            if first == b'{' {
                let record = match record::read(&mut cursor) {
                    Ok(record) => record,
                    Err(fault) => return self.bad(fault.into()),
                };
                let size = cursor.position() - start;
                self.note(&record, size as u64);
                match self.take(&record, line.offset + start as u64, is_copy) {
                    Ok(()) => self.stats.read += 1,
                    Err(reason) => self.stats.skip(reason),
                }
            } else {
                match cursor.value() {
                    Ok(_) => self.bad(Reason::NotAnObject),
                    Err(fault) => return self.bad(fault.into()),
                }
            }
        }
    }

    /// Returns what was found.
    pub(crate) fn finish(mut self) -> Digest {
        for (kind, count, bytes) in self.types {
            let kind = String::from_utf8_lossy(&kind);
            self.stats.note_type(&kind, count, bytes);
        }
        for (name, count) in self.sink.events {
            self.stats.events.insert(name.to_owned(), count);
        }
        let (facts, followed): (Facts, _) = self.sink.observer.finish(self.fixes.open());
        self.sink.collector.note_followed(&followed);
        Digest {
            facts,
            evidence: self.sink.collector,
            hashes: self.hashes,
            stats: self.stats,
        }
    }

    fn bad(&mut self, reason: Reason) {
        self.stats.records += 1;
        self.stats.skip(reason);
    }

    fn note(&mut self, record: &Record<'_>, bytes: u64) {
        self.stats.records += 1;
        let kind = record.kind.map_or(&b"none"[..], Str::raw);
        let known = self.types.iter().position(|(known, ..)| *known == kind);
        if let Some(i) = known {
            self.types[i].1 += 1;
            self.types[i].2 += bytes;
        } else if self.types.len() < MAX_TYPES {
            self.types.push((kind.to_owned(), 1, bytes));
        } else {
            self.stats.note_type("other", 1, bytes);
        }
    }

    /// Takes one record; `Err` tells why it was passed over.
    fn take(
        &mut self,
        record: &Record<'_>,
        offset: u64,
        is_copy: &mut IsCopy<'_>,
    ) -> Result<(), Reason> {
        let kind = record.kind.ok_or(Reason::NoMessage)?;
        let boundary =
            kind.is("system") && record.subtype.is_some_and(|s| s.is("compact_boundary"));
        if !(kind.is("user") || kind.is("assistant") || boundary) {
            return Err(Reason::Bookkeeping);
        }
        let time = record
            .timestamp
            .and_then(|t| std::str::from_utf8(t.raw()).ok()?.parse::<Timestamp>().ok());
        self.claim(record, time, is_copy)?;
        if let Some(folder) = record
            .cwd
            .filter(|_| !std::mem::replace(&mut self.placed, true))
        {
            self.sink.work_in(&folder.decode()?);
        }
        if record.marks.has(Mark::Sidechain) != (self.lane == Lane::Subagent) {
            return Err(Reason::OtherLane);
        }
        let place = Place {
            offset,
            uuid: record.uuid.and_then(Str::plain),
            time,
            message_id: record.message.as_ref().and_then(|m| m.id?.plain()),
        };
        if boundary {
            self.compacting = true;
            self.sink.push(place, EventKind::Compaction);
            return Ok(());
        }
        let message = record.message.as_ref().ok_or(Reason::NoMessage)?;
        if kind.is("assistant") {
            self.assistant(record, message, place)?;
        } else {
            self.user(record, message, place)?;
        }
        Ok(())
    }

    /// Counts each uuid once, and none that another file or job has.
    fn claim(
        &mut self,
        record: &Record<'_>,
        time: Option<Timestamp>,
        is_copy: &mut IsCopy<'_>,
    ) -> Result<(), Reason> {
        let Some(uuid) = record.uuid else {
            return Ok(());
        };
        let hash = RecordHash::of(uuid.raw());
        if !self.seen.insert(hash) {
            return Err(Reason::Repeated);
        }
        if is_copy(hash, time) {
            return Err(Reason::Copy);
        }
        self.hashes.push(hash);
        Ok(())
    }

    fn assistant(
        &mut self,
        record: &Record<'_>,
        message: &Message<'_>,
        place: Place<'_>,
    ) -> Result<(), Fault> {
        let synthetic =
            record.marks.has(Mark::ApiError) || message.model.is_some_and(|m| m.is("<synthetic>"));
        for block in &message.blocks {
            match *block {
                Block::Whole(text) | Block::Bare(text) | Block::Text(text) => {
                    let text = text.decode()?;
                    if synthetic {
                        self.sink.push(place, EventKind::ApiError(text));
                    } else if !text.trim().is_empty() {
                        self.answered = true;
                        let cites = cites(&text);
                        self.sink.push(place, EventKind::Text { text, cites });
                    }
                }
                Block::ToolUse { id, name, input } => {
                    self.answered = true;
                    self.call(id, name, input, place);
                }
                Block::ToolResult { .. } | Block::Other => {}
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        id: Option<Str<'_>>,
        name: Option<Str<'_>>,
        input: Option<Value<'_>>,
        place: Place<'_>,
    ) {
        let (call, writes) = tools::call(name, input);
        let call = Arc::new(call);
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        let id = id.map(Str::raw).unwrap_or_default();
        self.waiting.push_back(Waiting {
            id: id.into(),
            call: call.clone(),
            writes: writes.raw().into(),
        });
        self.sink.push(place, EventKind::ToolCall(call));
    }

    fn user(
        &mut self,
        record: &Record<'_>,
        message: &Message<'_>,
        place: Place<'_>,
    ) -> Result<(), Reason> {
        if record.marks.has(Mark::CompactSummary) || record.marks.has(Mark::TranscriptOnly) {
            let announced = std::mem::take(&mut self.compacting);
            if record.marks.has(Mark::CompactSummary) && !announced {
                self.sink.push(place, EventKind::Compaction);
            }
            return Err(Reason::Summary);
        }
        if record.marks.has(Mark::Meta) {
            return self.meta(message, place);
        }
        let mut answers = false;
        for block in &message.blocks {
            if let Block::ToolResult {
                id,
                is_error,
                content,
            } = *block
            {
                answers = true;
                let waiting = self.answered_call(id);
                if is_error {
                    self.failed(waiting, content, record.denial.is_some(), place);
                } else {
                    self.worked(waiting.call, content, place);
                }
            }
        }
        Ok(self.words(record, message, place, answers)?)
    }

    /// Of what the client writes in the user's name only the words of hooks are told.
    fn meta(&mut self, message: &Message<'_>, place: Place<'_>) -> Result<(), Reason> {
        let [Block::Whole(text) | Block::Text(text)] = message.blocks[..] else {
            return Err(Reason::Meta);
        };
        let text = text.decode()?;
        let words = user::hook_words(&text).ok_or(Reason::Meta)?;
        self.sink.push(place, EventKind::Hook(words.into()));
        Ok(())
    }

    fn answered_call(&mut self, id: Option<Str<'_>>) -> Waiting {
        let id = id.map(Str::raw).unwrap_or_default();
        let place = self.waiting.iter().rposition(|waiting| *waiting.id == *id);
        place
            .and_then(|i| self.waiting.remove(i))
            .unwrap_or_default()
    }

    fn failed(
        &mut self,
        waiting: Waiting,
        content: Option<Value<'_>>,
        denied: bool,
        place: Place<'_>,
    ) {
        let Waiting { call, writes, .. } = waiting;
        let text = tools::answer(content);
        if let Some(refusal) = tools::refusal(&text, denied) {
            let unwritten = Str::new(&writes).decode().unwrap_or_default();
            let kind = EventKind::Rejection {
                call,
                words: refusal.words,
                unwritten: (!unwritten.is_empty()).then(|| unwritten.into_owned()),
            };
            return self.sink.push(place, kind);
        }
        let failure = tools::failure(&text);
        self.fixes.failed(&call, &failure);
        let kind = EventKind::ToolError {
            call: call.clone(),
            failure,
        };
        self.sink.push(place, kind);
        self.check(&call, content, place);
    }

    fn worked(&mut self, call: Arc<Call>, content: Option<Value<'_>>, place: Place<'_>) {
        self.check(&call, content, place);
        for fix in self.fixes.worked(&call) {
            self.sink.push(place, EventKind::Fixed(fix));
        }
        let hand_back = SUBAGENT_TOOLS.contains(&call.tool.as_str());
        self.sink.push(place, EventKind::ToolResult(call));
        if hand_back {
            let text = tools::answer(content);
            self.sink.push(place, EventKind::HandBack(text));
        }
    }

    fn check(&mut self, call: &Arc<Call>, content: Option<Value<'_>>, place: Place<'_>) {
        let check = tools::last_text(content).and_then(|text| checks::find(call, text));
        if let Some(check) = check {
            let call = call.clone();
            self.sink.push(place, EventKind::Check { call, check });
        }
    }

    /// Reads what was typed; beside a tool's answer only an interrupt counts.
    fn words(
        &mut self,
        record: &Record<'_>,
        message: &Message<'_>,
        place: Place<'_>,
        answers: bool,
    ) -> Result<(), Fault> {
        let person = record.origin.is_none_or(|o| o.is("human"))
            && record.prompt_source.is_none_or(|s| !s.is("system"));
        let mut typed = String::new();
        for block in &message.blocks {
            let (Block::Whole(text) | Block::Text(text)) = *block else {
                continue;
            };
            let text = text.decode()?;
            match user::classify(&text) {
                UserText::Interrupt => self.sink.push(place, EventKind::Interrupt),
                UserText::Notification(text) => {
                    self.sink.push(place, EventKind::HandBack(text.into()));
                }
                UserText::Command { name, arguments } if person && !answers => {
                    self.prompt(arguments, Some(name), place);
                }
                UserText::Prompt(text) if person && !answers => {
                    if !typed.is_empty() {
                        typed.push('\n');
                    }
                    typed.push_str(text.trim());
                }
                _ => {}
            }
        }
        if !typed.is_empty() {
            self.prompt(&typed, None, place);
        }
        Ok(())
    }

    fn prompt(&mut self, text: &str, command: Option<&str>, place: Place<'_>) {
        let prompt = Prompt {
            correction: self.answered && speech::is_correction(text),
            instructions: speech::standing_instructions(text)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            command: command.map(str::to_owned),
            text: text.into(),
        };
        self.sink.push(place, EventKind::Prompt(prompt));
    }
}

fn cites(text: &str) -> Vec<Cite> {
    let mut cites: Vec<Cite> = Vec::new();
    let mut seen = HashSet::new();
    citations::each(text, |id, at| {
        if cites.len() < MAX_CITES && seen.insert(id.clone()) {
            let quote = around(text, at).to_owned();
            cites.push(Cite { id, quote });
        }
    });
    cites
}

/// Returns the line around a place, at most [`MAX_QUOTE`] bytes of it.
fn around(text: &str, at: usize) -> &str {
    let from = cut::boundary_after(text, at.saturating_sub(MAX_QUOTE / 3));
    let to = cut::boundary_before(text, at + MAX_QUOTE * 2 / 3);
    let start = text[from..at].rfind('\n').map_or(from, |i| from + i + 1);
    let end = text[at..to].find('\n').map_or(to, |i| at + i);
    text[start..end].trim()
}
