//! From records to events: which lines count, and what they say.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use super::collector::Collector;
use super::event::{Call, Cite, Event, EventKind, Place, Prompt};
use super::json::{Cursor, Fault, Str};
use super::lines::Line;
use super::observer::Observer;
use super::record::{self, Block, Mark, Message, Record};
use super::stats::{Reason, Stats};
use super::user::{self, UserText};
use super::{Lane, Options, RecordHash, citations, cut, speech, tools};
use crate::redact;

/// How many calls wait for their answer at a time.
const MAX_WAITING: usize = 256;
/// How much of a text is kept, in bytes.
const MAX_TEXT: usize = 4_000;
/// How much more than what is kept is masked, so that no secret is cut in half.
const MASKED: usize = 64_000;
/// How much of a citation's surroundings is quoted, in bytes.
const MAX_QUOTE: usize = 240;
/// How many citations of one text are kept.
const MAX_CITES: usize = 2_000;

/// What some editors write at the start of a file.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads the records of one range in order.
pub(crate) struct Session<'o> {
    options: &'o Options,
    pub(crate) observer: Observer,
    pub(crate) collector: Collector,
    pub(crate) hashes: Vec<RecordHash>,
    pub(crate) stats: Stats,
    seen: HashSet<RecordHash>,
    waiting: VecDeque<(String, Arc<Call>)>,
    /// Whether there is anything a prompt could correct.
    answered: bool,
    /// Whether a boundary was read whose summary is still to come.
    compacting: bool,
}

impl<'o> Session<'o> {
    /// Starts a session's range; `begins` says that nothing stands before it.
    pub(crate) fn new(options: &'o Options, begins: bool) -> Self {
        Self {
            options,
            observer: Observer::default(),
            collector: Collector::default(),
            hashes: Vec::new(),
            stats: Stats::default(),
            seen: HashSet::new(),
            waiting: VecDeque::new(),
            answered: !begins,
            compacting: false,
        }
    }

    /// Takes one line, which can hold more than one record.
    pub(crate) fn line(
        &mut self,
        line: &Line<'_>,
        is_copy: &mut dyn FnMut(RecordHash, Option<Timestamp>) -> bool,
    ) {
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
            if first != b'{' {
                let reason = cursor
                    .value()
                    .map_or_else(reason_of, |_| Reason::NotAnObject);
                self.bad(reason);
                if reason == Reason::NotAnObject {
                    continue;
                }
                return;
            }
            let record = match record::read(&mut cursor) {
                Ok(record) => record,
                Err(fault) => return self.bad(reason_of(fault)),
            };
            self.stats.records += 1;
            let kind = record
                .kind
                .map_or("none", |k| std::str::from_utf8(k.raw()).unwrap_or("none"));
            self.stats
                .note_type(kind, (cursor.position() - start) as u64);
            match self.take(&record, line.offset + start as u64, is_copy) {
                Ok(()) => self.stats.read += 1,
                Err(reason) => self.stats.skip(reason),
            }
        }
    }

    fn bad(&mut self, reason: Reason) {
        self.stats.records += 1;
        self.stats.skip(reason);
    }

    /// Takes one record; `Err` tells why it was passed over.
    fn take(
        &mut self,
        record: &Record<'_>,
        offset: u64,
        is_copy: &mut dyn FnMut(RecordHash, Option<Timestamp>) -> bool,
    ) -> Result<(), Reason> {
        let kind = record.kind.ok_or(Reason::NoMessage)?;
        if !(kind.is("user") || kind.is("assistant") || kind.is("system")) {
            return Err(Reason::Bookkeeping);
        }
        let boundary =
            kind.is("system") && record.subtype.is_some_and(|s| s.is("compact_boundary"));
        if kind.is("system") && !boundary {
            return Err(Reason::Bookkeeping);
        }
        let time = record
            .timestamp
            .and_then(|t| t.decode().ok()?.parse::<Timestamp>().ok());
        if let Some(uuid) = record.uuid {
            let hash = RecordHash::of(uuid.raw());
            if self.seen.contains(&hash) {
                return Err(Reason::Repeated);
            }
            if is_copy(hash, time) {
                return Err(Reason::Copy);
            }
            self.seen.insert(hash);
            self.hashes.push(hash);
        }
        if record.marks.has(Mark::Sidechain) != (self.options.lane == Lane::Subagent) {
            return Err(Reason::OtherLane);
        }
        let place = Place {
            offset,
            uuid: text_of(record.uuid),
            time,
            message_id: text_of(record.message.as_ref().and_then(|m| m.id)),
        };
        if boundary {
            self.compacting = true;
            self.push(&place, EventKind::Compaction);
            return Ok(());
        }
        let message = record.message.as_ref().ok_or(Reason::NoMessage)?;
        let faults = if kind.is("assistant") {
            self.assistant(record, message, &place)
        } else {
            self.user(record, message, &place)?
        };
        faults.map_err(reason_of)
    }

    fn push(&mut self, place: &Place, kind: EventKind) {
        self.stats.note_event(kind.name());
        let event = Event {
            place: place.clone(),
            kind,
        };
        self.observer.see(&event);
        self.collector.push(event);
    }

    fn assistant(
        &mut self,
        record: &Record<'_>,
        message: &Message<'_>,
        place: &Place,
    ) -> Result<(), Fault> {
        let synthetic =
            record.marks.has(Mark::ApiError) || message.model.is_some_and(|m| m.is("<synthetic>"));
        for block in &message.blocks {
            match *block {
                Block::Whole(text) | Block::Bare(text) | Block::Text(text) => {
                    let text = text.decode()?;
                    if synthetic {
                        let text = cut::one_line(&self.keep(&text, MAX_QUOTE), MAX_QUOTE);
                        self.push(place, EventKind::ApiError(text));
                    } else if !text.trim().is_empty() {
                        self.answered = true;
                        let kind = EventKind::Text {
                            cites: self.cites(&text),
                            text: self.keep(text.trim(), MAX_TEXT),
                        };
                        self.push(place, kind);
                    }
                }
                Block::ToolUse { id, name, input } => {
                    self.answered = true;
                    let call = Arc::new(Call {
                        tool: text_of(name).unwrap_or_default(),
                        input: self.keep(&tools::input(input), MAX_TEXT),
                    });
                    if self.waiting.len() == MAX_WAITING {
                        self.waiting.pop_front();
                    }
                    self.waiting
                        .push_back((text_of(id).unwrap_or_default(), call.clone()));
                    self.push(place, EventKind::ToolCall(call));
                }
                Block::ToolResult { .. } | Block::Other => {}
            }
        }
        Ok(())
    }

    fn user(
        &mut self,
        record: &Record<'_>,
        message: &Message<'_>,
        place: &Place,
    ) -> Result<Result<(), Fault>, Reason> {
        if record.marks.has(Mark::CompactSummary) || record.marks.has(Mark::TranscriptOnly) {
            if !std::mem::take(&mut self.compacting) && record.marks.has(Mark::CompactSummary) {
                self.push(place, EventKind::Compaction);
            }
            return Err(Reason::Summary);
        }
        if record.marks.has(Mark::Meta) {
            return Err(Reason::Meta);
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
                let call = self.answered_call(id);
                if is_error {
                    self.failed(
                        call,
                        &tools::answer(content),
                        record.denial.is_some(),
                        place,
                    );
                } else {
                    self.push(place, EventKind::ToolResult(call));
                }
            }
        }
        Ok(self.words(record, message, place, answers))
    }

    /// Reads what was typed; beside a tool's answer only an interrupt counts.
    fn words(
        &mut self,
        record: &Record<'_>,
        message: &Message<'_>,
        place: &Place,
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
                UserText::Interrupt => self.push(place, EventKind::Interrupt),
                UserText::Notification(text) => {
                    let text = self.keep(text, MAX_TEXT);
                    self.push(place, EventKind::HandBack(text));
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

    fn prompt(&mut self, text: &str, command: Option<&str>, place: &Place) {
        let prompt = Prompt {
            text: self.keep(text.trim(), MAX_TEXT),
            command: command.map(str::to_owned),
            correction: self.answered && speech::is_correction(text),
            instructions: speech::standing_instructions(text)
                .into_iter()
                .map(|s| self.keep(s, MAX_TEXT))
                .collect(),
        };
        self.push(place, EventKind::Prompt(prompt));
    }

    fn failed(&mut self, call: Arc<Call>, text: &str, denied: bool, place: &Place) {
        let kind = match tools::refusal(text, denied) {
            Some(refusal) => EventKind::Rejection {
                call,
                words: refusal.words.map(|w| self.keep(&w, MAX_TEXT)),
            },
            None => EventKind::ToolError {
                call,
                failure: tools::failure(text, |t| self.keep(t, MASKED)),
            },
        };
        self.push(place, kind);
    }

    fn answered_call(&mut self, id: Option<Str<'_>>) -> Arc<Call> {
        let id = id.map(Str::raw).unwrap_or_default();
        self.waiting
            .iter()
            .rposition(|(waiting, _)| waiting.as_bytes() == id)
            .and_then(|i| self.waiting.remove(i))
            .map(|(_, call)| call)
            .unwrap_or_default()
    }

    fn cites(&self, text: &str) -> Vec<Cite> {
        let mut cites: Vec<Cite> = Vec::new();
        let mut seen = HashSet::new();
        citations::each(text, |id, at| {
            if cites.len() < MAX_CITES && seen.insert(id.clone()) {
                let quote = cut::one_line(&self.keep(around(text, at), MASKED), MAX_QUOTE);
                cites.push(Cite { id, quote });
            }
        });
        cites
    }

    /// Masks a text, shows the home folder as `~`, and cuts it to about `max` bytes.
    fn keep(&self, text: &str, max: usize) -> String {
        let text = cut::middle(text, max.max(MASKED));
        let text = cut::without_blobs(&text);
        let text = redact::mask(&text);
        let text = match &self.options.home {
            Some(home) if !home.is_empty() && text.contains(home.as_str()) => {
                text.replace(home.as_str(), "~").into()
            }
            _ => text,
        };
        cut::middle(&text, max).into_owned()
    }
}

fn reason_of(fault: Fault) -> Reason {
    match fault {
        Fault::NotUtf8 => Reason::NotUtf8,
        Fault::Syntax => Reason::BadJson,
        Fault::TooDeep => Reason::TooDeep,
    }
}

fn text_of(text: Option<Str<'_>>) -> Option<String> {
    text.and_then(|t| t.decode().ok())
        .map(std::borrow::Cow::into_owned)
}

/// Returns the sentence or line around a place, at most [`MAX_QUOTE`] bytes of it.
fn around(text: &str, at: usize) -> &str {
    let from = cut::boundary_after(text, at.saturating_sub(MAX_QUOTE / 3));
    let to = cut::boundary_before(text, at + MAX_QUOTE * 2 / 3);
    let start = text[from..at].rfind('\n').map_or(from, |i| from + i + 1);
    let end = text[at..to].find('\n').map_or(to, |i| at + i);
    text[start..end].trim()
}
