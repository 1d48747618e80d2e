//! From records to events: which records count, and what they say.

mod calls;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use super::collector::Collector;
use super::event::{Call, CheckResult, Event, EventKind, EventPlace};
use super::json::Raw;
use super::mask::{MARGIN, Mask};
use super::observer::Observer;
use super::open_calls::OpenCalls;
use super::reader::records;
use super::record::{Author, Block, Content, Record, RecordHash};
use super::sanitizer::Sanitizer;
use super::stats::{Reason, ScanStats};
use super::user;
use super::{Digest, Lane, ReadOptions, citations, tool_call};
use crate::clip::head;

/// How many calls wait for their answer at a time.
const MAX_WAITING: usize = 256;
/// The part of a question with its choices that is remembered, in bytes.
const MAX_OFFERED: usize = 16_000;
const QUESTION_TOOL: &str = "AskUserQuestion";
/// The tool by which the agent asks whether its plan is to be carried out. A user who has it
/// carried out in a new context leaves the call as if it were refused, without a word.
const PLAN_TOOL: &str = "ExitPlanMode";

/// Asks whether a record, with its time, is a copy of one in another file or job.
pub(crate) type IsCopy<'c> = dyn FnMut(RecordHash, Option<Timestamp>) -> bool + 'c;

/// Takes each event as it happens.
pub(crate) type EventSink<'t> = dyn FnMut(&Event<'_>) + 't;

/// Reads the records of one range in order.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct SessionReader<'t> {
    lane: Lane,
    /// `false` where no person attended the session, whatever the marks say.
    attended: Option<bool>,
    is_copy: Option<&'t mut IsCopy<'t>>,
    mask: Mask,
    sink: Sink<'t>,
    stats: ScanStats,
    /// The records that were read, to know one that is there again.
    seen: HashSet<RecordHash>,
    /// The prompts that are known to be replaced, and all that follows from them.
    left_out: HashSet<RecordHash>,
    /// The last prompt that follows each record.
    prompts: HashMap<RecordHash, RecordHash>,
    replaced: HashSet<RecordHash>,
    waiting: VecDeque<WaitingCall>,
    open: OpenCalls,
    /// The last call of a subagent's that stands in this file.
    aside: WaitingCall,
    /// The last call whose check failed, and how.
    red: Option<(Arc<Call>, CheckResult)>,
    /// Whether a plan was just left without a word.
    has_left_plan: bool,
    /// Whether a boundary was read whose summary is still to come.
    compacting: bool,
    placed: bool,
    /// What was typed while the agent worked, since the last prompt.
    queued: Vec<String>,
    /// What waits in the client's queue, in order.
    waits: VecDeque<Waiting>,
    /// What left the queue as a prompt whose record is still to come.
    dequeued: VecDeque<Waiting>,
    /// Who wrote the record that is read, and the last prompt.
    author: Author,
    last_author: Option<Author>,
    /// Who wrote prompts, or any record as a program.
    writers: HashSet<Author>,
    /// Whether the client marks who wrote and refused what.
    has_marks: bool,
}

/// What was typed while the agent worked, and where.
#[derive(Debug)]
struct Waiting {
    text: String,
    offset: u64,
    time: Option<Timestamp>,
    /// The number of the event before it.
    seq: u64,
}

#[derive(Default)]
struct WaitingCall {
    id: String,
    call: Arc<Call>,
    /// Whether it is about a file that is never to be read.
    is_private: bool,
    /// The beginnings of what it would replace and write.
    changes: [String; 2],
    /// The beginning of what it asks the user, as JSON, or of the plan that it shows.
    asks: String,
}

/// Where events go.
#[derive(Default)]
struct Sink<'t> {
    told: Option<&'t mut EventSink<'t>>,
    observer: Observer,
    collector: Collector,
    /// Where the record stands that is read.
    place: EventPlace,
    /// How many events of each kind, and in all.
    events: BTreeMap<&'static str, u64>,
    seq: u64,
    /// The branch of the first record, which becomes the first event.
    branch: Option<String>,
}

impl Sink<'_> {
    fn push(&mut self, kind: EventKind<'_>) {
        if self.seq == 0
            && let Some(branch) = self.branch.take()
        {
            self.push(EventKind::Branch(branch));
        }
        *self.events.entry(kind.name()).or_default() += 1;
        self.seq += 1;
        let event = Event {
            place: &self.place,
            kind,
        };
        if let Some(told) = &mut self.told {
            told(&event);
        }
        self.observer.see(&event);
        self.collector.push(&event);
    }
}

impl<'t> SessionReader<'t> {
    /// A session of which `told` gets each event, and whose copies `is_copy` knows.
    pub(crate) fn new(
        options: &ReadOptions,
        is_copy: Option<&'t mut IsCopy<'t>>,
        told: Option<&'t mut EventSink<'t>>,
    ) -> Self {
        let sanitizer = Sanitizer::new(options.home.as_deref(), options.secrecy.masker.clone());
        Self {
            lane: options.lane,
            attended: options.attended,
            is_copy,
            left_out: options.replaced.clone(),
            mask: Mask::new(options.secrecy.clone()),
            sink: Sink {
                told,
                observer: Observer::new(sanitizer.clone()),
                collector: Collector::new(sanitizer),
                ..Sink::default()
            },
            ..Self::default()
        }
    }

    /// Reads the records of a line; one that is too long has no text.
    pub(crate) fn line(&mut self, offset: u64, line: Option<&str>) {
        let Some(line) = line else {
            return self.stats.skip(Reason::TooLong);
        };
        let mut is_blank = true;
        for (at, keys) in records(line) {
            is_blank = false;
            let read = keys.and_then(|keys| {
                let is_replaced = self.is_replaced(keys.chain());
                self.read(offset + at as u64, keys.decide()?, is_replaced)
            });
            match read {
                Ok(()) => self.stats.read += 1,
                Err(reason) => self.stats.skip(reason),
            }
        }
        if is_blank {
            self.stats.skip(Reason::Blank);
        }
    }

    pub(crate) fn finish(self) -> Digest {
        let mut stats = self.stats;
        stats.masked = self.mask.into_counts();
        stats.records = stats.read + stats.skipped.values().sum::<u64>();
        stats.events = self.sink.events;
        let mut facts = self.sink.observer.finish(self.open.count());
        let has = |author| self.writers.contains(&author);
        let is_programs = has(Author::Program) && !has(Author::Person);
        facts.is_unattended = self.attended == Some(false) || is_programs;
        Digest {
            replaced: self.replaced,
            facts,
            evidence: self.sink.collector,
            stats,
        }
    }

    /// Returns `true` for a prompt that is known to be replaced, and for all that follows from it.
    fn is_replaced(&mut self, chain: [Option<RecordHash>; 2]) -> bool {
        let mut hashes = chain.iter().flatten();
        let is_replaced = hashes.any(|hash| self.left_out.contains(hash));
        self.left_out.extend(chain[0].filter(|_| is_replaced));
        is_replaced
    }

    /// Reads one record; `Err` has the reason why it was passed over.
    fn read(
        &mut self,
        offset: u64,
        mut record: Record<'_>,
        is_replaced: bool,
    ) -> Result<(), Reason> {
        self.has_marks |= record.is_marked;
        if let Some(hash) = record.hash {
            if !self.seen.insert(hash) {
                return Err(Reason::Repeated);
            }
            let is_copy = self.is_copy.as_mut();
            if is_copy.is_some_and(|is_copy| is_copy(hash, record.place.time)) {
                return Err(Reason::Copy);
            }
        }
        if let Some(folder) = record.cwd.take().filter(|_| !self.placed) {
            self.placed = true;
            self.sink.observer.sanitizer.work_in(&folder);
            self.sink.collector.sanitizer.work_in(&folder);
        }
        if record.is_sidechain != (self.lane == Lane::Subagent) {
            if let Content::Assistant(blocks) = &record.content {
                for block in blocks {
                    if let Block::ToolUse { name, .. } = block {
                        self.sink.observer.called(name);
                    }
                }
            }
            return Err(Reason::OtherLane);
        }
        if is_replaced {
            return Err(Reason::Replaced);
        }
        if self.sink.seq == 0 {
            let branch = record.branch.filter(|name| !["", "HEAD"].contains(name));
            self.sink.branch = branch.map(str::to_owned);
        }
        self.author = record.author;
        self.sink.place = EventPlace {
            offset,
            ..std::mem::take(&mut record.place)
        };
        match std::mem::replace(&mut record.content, Content::Boundary) {
            Content::Assistant(blocks) => self.assistant(blocks),
            Content::ApiError(blocks) => {
                for block in blocks {
                    if let Block::Text(text) = block {
                        let text = self.mask.text(text);
                        self.sink.push(EventKind::ApiError(text));
                    }
                }
            }
            Content::User(blocks, denied) => {
                if record.author == Author::Program {
                    self.writers.insert(record.author);
                }
                for block in &blocks {
                    self.answered(block, denied);
                }
                return self.words(blocks, &record);
            }
            Content::Meta(blocks) => return self.meta(&blocks),
            Content::Summary { is_compact } => {
                let announced = std::mem::take(&mut self.compacting);
                if is_compact && !announced {
                    self.sink.push(EventKind::Compaction);
                }
                return Err(Reason::Summary);
            }
            Content::Boundary => {
                self.compacting = true;
                self.sink.push(EventKind::Compaction);
            }
            Content::Aside(blocks) => return self.aside(blocks),
            // Another session can send a message into the queue.
            Content::Queued(_) if record.author == Author::Other => {
                return Err(Reason::Bookkeeping);
            }
            Content::Queued(text) => return self.queued(text),
            Content::Queue { operation, text } => return self.queue(operation, text),
        }
        Ok(())
    }

    fn assistant(&mut self, blocks: Vec<Block<'_>>) {
        for block in blocks {
            match block {
                Block::Text(text) => {
                    let written = user::without(&text, &["<thinking"]);
                    let text = self.mask.text(Cow::Borrowed(&written));
                    if !text.trim().is_empty() {
                        let cites = citations::cites(&written);
                        self.sink.push(EventKind::Text { text, cites });
                    }
                }
                Block::ToolUse { id, name, input } => {
                    if self.waiting.len() == MAX_WAITING {
                        self.waiting.pop_front();
                    }
                    let waiting = self.made(id, name, input);
                    let call = waiting.call.clone();
                    self.waiting.push_back(waiting);
                    self.sink.push(EventKind::ToolCall(call));
                }
                Block::ToolResult { .. } | Block::Other => {}
            }
        }
    }

    /// Returns what is remembered of a call until its answer comes.
    fn made(&mut self, id: &str, name: &str, input: Raw<'_>) -> WaitingCall {
        self.has_left_plan = false;
        self.sink.observer.called(name);
        let (mut call, mut change, is_private) = tool_call::call(name, input, &mut self.mask);
        if is_private {
            // What follows can be the content of the file.
            change = Default::default();
            let line = call.input.find('\n').unwrap_or(call.input.len());
            call.input.truncate(line);
        }
        let asks = match name {
            QUESTION_TOOL => input.map_or("", |input| input.get()),
            PLAN_TOOL => &change[1],
            _ => "",
        };
        WaitingCall {
            asks: head(asks, MAX_OFFERED).to_owned(),
            id: id.to_owned(),
            call: Arc::new(call),
            is_private,
            // More than is kept, so that it is cut once more where no secret is.
            changes: change.map(|text| head(&text, tool_call::MAX_DETAIL + 2 * MARGIN).to_owned()),
        }
    }

    /// Returns `true` where a person wrote the record, or a later one of their turn.
    fn is_person(&self) -> bool {
        self.lane == Lane::Session
            && self.attended != Some(false)
            && self.last_author.unwrap_or(self.author) == Author::Person
    }

    /// Reads the words of hooks, which the client writes in the user's name; nothing else of it.
    fn meta(&mut self, blocks: &[Block<'_>]) -> Result<(), Reason> {
        let [Block::Text(text)] = blocks else {
            return Err(Reason::Meta);
        };
        let text = self.mask.text(Cow::Borrowed(text));
        let words = user::hook_words(&text).ok_or(Reason::Meta)?;
        self.sink.push(EventKind::Hook(words.into()));
        Ok(())
    }
}
