//! From records to events: which records count, and what they say.

mod calls;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use super::collector::Collector;
use super::event::{Call, Event, EventKind, EventPlace};
use super::hash::RecordHash;
use super::hints::Hints;
use super::json::{Raw, Str};
use super::mask::{MARGIN, Mask};
use super::observer::Observer;
use super::open_calls::OpenCalls;
use super::record::{Author, Block, Content, Record};
use super::refusal::DeniedBy;
use super::sanitizer::Sanitizer;
use super::stats::{Reason, ScanStats};
use super::tool_call::FileChange;
use super::user;
use super::{Digest, Lane, ReadOptions, citations, tool_answer, tool_call};

/// How many calls wait for their answer at a time.
const MAX_WAITING: usize = 256;
/// How much of a question with its choices is remembered, in bytes.
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
pub(crate) struct SessionReader<'t> {
    lane: Lane,
    mask: Mask,
    sink: Sink<'t>,
    read: u64,
    skipped: BTreeMap<Reason, u64>,
    waiting: VecDeque<WaitingCall>,
    open: OpenCalls,
    hints: Hints,
    /// The last call of a subagent's that stands in this file.
    aside: WaitingCall,
    /// The last call whose check failed, and what ran it.
    red: Option<(Arc<Call>, String)>,
    /// Whether a plan was just left without a word.
    has_left_plan: bool,
    /// Whether a boundary was read whose summary is still to come.
    compacting: bool,
    placed: bool,
    /// What was typed while the agent worked, since the last prompt, by its hash.
    queued: Vec<u64>,
    /// What waits in the client's queue, in order.
    waits: VecDeque<Waiting>,
    /// What left the queue as a prompt whose record is still to come.
    dequeued: VecDeque<Waiting>,
    /// `false` where no person attended the session, whatever the marks say.
    attended: Option<bool>,
    authors: Authors,
    /// The last prompt that follows each record.
    prompts: HashMap<RecordHash, RecordHash>,
    replaced: HashSet<RecordHash>,
}

/// Who wrote the prompts.
#[derive(Default)]
struct Authors {
    last: Option<Author>,
    has_person: bool,
    has_program: bool,
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
    id: Box<str>,
    call: Arc<Call>,
    /// Whether it is about a file that is never to be read.
    is_private: bool,
    /// The beginnings of what it would replace and write, not decoded.
    changes: [Box<str>; 2],
    /// The beginning of what it asks the user, or of the plan that it shows; not decoded.
    asks: Box<str>,
}

/// Where events go.
#[derive(Default)]
struct Sink<'t> {
    told: Option<&'t mut EventSink<'t>>,
    observer: Observer,
    collector: Collector,
    /// How many of each kind.
    events: Vec<(&'static str, u64)>,
    /// How many in all.
    seq: u64,
    /// The branch of the first record, which becomes the first event.
    branch: Option<String>,
}

impl Sink<'_> {
    fn push(&mut self, place: EventPlace<'_>, kind: EventKind<'_>) {
        if self.seq == 0
            && let Some(branch) = self.branch.take()
        {
            self.push(place, EventKind::Branch(branch));
        }
        let name = kind.name();
        match self.events.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => self.events.push((name, 1)),
        }
        self.seq += 1;
        let event = Event { place, kind };
        if let Some(told) = &mut self.told {
            told(&event);
        }
        self.observer.see(&event);
        self.collector.push(&event);
    }
}

impl<'t> SessionReader<'t> {
    /// A session of which `told` gets each event.
    pub(crate) fn telling(options: &ReadOptions, told: &'t mut EventSink<'t>) -> Self {
        let mut session = Self::new(options);
        session.sink.told = Some(told);
        session
    }

    pub(crate) fn new(options: &ReadOptions) -> Self {
        let sanitizer = Sanitizer::new(options.home.as_deref(), options.secrecy.masker.clone());
        Self {
            lane: options.lane,
            attended: options.attended,
            mask: Mask::new(options.secrecy.clone()),
            sink: Sink {
                observer: Observer::new(sanitizer.clone()),
                collector: Collector::new(sanitizer),
                ..Sink::default()
            },
            ..Self::default()
        }
    }

    /// Reads one record; `is_copy` says which do not count.
    pub(crate) fn take(&mut self, offset: u64, record: &Record<'_>, is_copy: &mut IsCopy<'_>) {
        match self.read(offset, record, is_copy) {
            Ok(()) => self.read += 1,
            Err(reason) => *self.skipped.entry(reason).or_default() += 1,
        }
    }

    /// Returns what was found; `stats` holds the counts of what was not handed over.
    pub(crate) fn finish(self, mut stats: ScanStats) -> Digest {
        stats.read = self.read;
        stats.masked = self.mask.into_counts();
        for (reason, count) in self.skipped {
            *stats.skipped.entry(reason).or_default() += count;
        }
        stats.records = stats.read + stats.skipped.values().sum::<u64>();
        stats.events = self.sink.events.into_iter().collect();
        let mut facts = self.sink.observer.finish(self.open.count());
        facts.hints = self.hints.finish();
        let is_programs = self.authors.has_program && !self.authors.has_person;
        facts.is_unattended = self.attended == Some(false) || is_programs;
        Digest {
            replaced: self.replaced,
            facts,
            evidence: self.sink.collector,
            stats,
        }
    }

    /// Reads one record; `Err` has the reason why it was passed over.
    fn read(
        &mut self,
        offset: u64,
        record: &Record<'_>,
        is_copy: &mut IsCopy<'_>,
    ) -> Result<(), Reason> {
        if record.hash.is_some_and(|hash| is_copy(hash, record.time)) {
            return Err(Reason::Copy);
        }
        if let Some(folder) = record.cwd.filter(|_| !self.placed) {
            self.placed = true;
            let folder = folder.decode();
            self.sink.observer.sanitizer.work_in(&folder);
            self.sink.collector.sanitizer.work_in(&folder);
        }
        if record.is_sidechain != (self.lane == Lane::Subagent) {
            if let Content::Assistant(blocks) = &record.content {
                self.note_tools(blocks);
            }
            return Err(Reason::OtherLane);
        }
        if record.is_replaced {
            return Err(Reason::Replaced);
        }
        if self.sink.seq == 0 {
            let branch = record
                .branch
                .filter(|branch| !["", "HEAD"].contains(branch));
            self.sink.branch = branch.map(str::to_owned);
        }
        let place = EventPlace {
            offset,
            uuid: record.uuid,
            time: record.time,
            message_id: record.message_id,
        };
        match &record.content {
            Content::Assistant(blocks) => self.assistant(blocks, place),
            Content::ApiError(blocks) => self.api_error(blocks, place),
            Content::User { blocks, denied } => {
                self.authors.has_program |= record.author == Author::Program;
                self.answered(blocks, *denied, record.author, place);
                return self.words(blocks, record, place);
            }
            Content::Meta(blocks) => return self.meta(blocks, place),
            Content::Summary { is_compact } => {
                let announced = std::mem::take(&mut self.compacting);
                if *is_compact && !announced {
                    self.sink.push(place, EventKind::Compaction);
                }
                return Err(Reason::Summary);
            }
            Content::Boundary => {
                self.compacting = true;
                self.sink.push(place, EventKind::Compaction);
            }
            Content::Hook { tool_use, content } => {
                for text in tool_answer::strings(content) {
                    self.hints.shown(&text.decode(), *tool_use);
                }
            }
            Content::Aside(blocks) => return self.aside(blocks, place),
            // Another session can send a message into the queue.
            Content::Queued(content) if record.author != Author::Other => {
                return self.queued(content, record.author, place);
            }
            Content::Queued(_) => return Err(Reason::Bookkeeping),
            Content::Queue { operation, content } => {
                return self.queue(operation, *content, record.author, place);
            }
        }
        Ok(())
    }

    fn assistant(&mut self, blocks: &[Block<'_>], place: EventPlace<'_>) {
        for block in blocks {
            match *block {
                Block::Text(text) => {
                    let whole = text.decode();
                    let written = user::without(&whole, &["<thinking"]);
                    let text = self.mask.text(Cow::Borrowed(&written));
                    if !text.trim().is_empty() {
                        self.hints.said(&text);
                        let cites = citations::cites(&written);
                        self.sink.push(place, EventKind::Text { text, cites });
                    }
                }
                Block::ToolUse { id, name, input } => self.call(id, name, input, place),
                Block::ToolResult { .. } | Block::Other => {}
            }
        }
    }

    fn api_error(&mut self, blocks: &[Block<'_>], place: EventPlace<'_>) {
        for block in blocks {
            if let Block::Text(text) = block {
                let text = self.mask.text(text.decode());
                self.sink.push(place, EventKind::ApiError(text));
            }
        }
    }

    fn call(
        &mut self,
        id: Option<&str>,
        name: Option<&str>,
        input: Raw<'_>,
        place: EventPlace<'_>,
    ) {
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        let waiting = self.made(id, name, input);
        let call = waiting.call.clone();
        self.waiting.push_back(waiting);
        self.sink.push(place, EventKind::ToolCall(call));
    }

    /// Returns what is remembered of a call until its answer comes.
    fn made(&mut self, id: Option<&str>, name: Option<&str>, input: Raw<'_>) -> WaitingCall {
        self.has_left_plan = false;
        self.sink.observer.called(name.unwrap_or_default());
        let (mut call, mut change, is_private) = tool_call::call(name, input, &mut self.mask);
        if is_private {
            // What follows can be the content of the file.
            change = FileChange::default();
            let line = call.input.find('\n').unwrap_or(call.input.len());
            call.input.truncate(line);
        }
        let asks = match call.tool.as_str() {
            QUESTION_TOOL => input.map(|input| Str::new(input.get())),
            PLAN_TOOL => Some(change.new),
            _ => None,
        };
        let asks = asks.map(|asks| asks.head(MAX_OFFERED));
        WaitingCall {
            asks: asks.unwrap_or_default().raw().into(),
            id: id.unwrap_or_default().into(),
            call: Arc::new(call),
            is_private,
            // More than is kept, so that it is cut once more where no secret is.
            changes: [change.old, change.new]
                .map(|text| text.head(tool_call::MAX_DETAIL + 2 * MARGIN).raw().into()),
        }
    }

    /// Notes which tools a subagent called.
    fn note_tools(&mut self, blocks: &[Block<'_>]) {
        for block in blocks {
            if let Block::ToolUse { name, .. } = *block {
                self.sink.observer.called(name.unwrap_or_default());
            }
        }
    }

    /// Returns `true` where a person wrote a record of this author, or a later one of their turn.
    fn is_person(&self, author: Author) -> bool {
        self.lane == Lane::Session
            && self.attended != Some(false)
            && self.authors.last.unwrap_or(author) == Author::Person
    }

    /// Takes the answers of tools.
    fn answered(
        &mut self,
        blocks: &[Block<'_>],
        denied: DeniedBy,
        author: Author,
        place: EventPlace<'_>,
    ) {
        for block in blocks {
            if let Block::ToolResult {
                id,
                is_error,
                content,
            } = *block
            {
                let waiting = self.answered_call(id);
                let is_person = self.is_person(author);
                if let Some(said) = tool_answer::own_failure(content).filter(|_| !is_error) {
                    self.failed_by_itself(waiting, &said, place);
                } else if is_error {
                    self.failed(waiting, content, denied, is_person, place);
                } else {
                    self.worked(waiting, content, is_person, place);
                }
            }
        }
    }

    /// Of what the client writes in the user's name only the words of hooks are told; the gate's
    /// may hold hints.
    fn meta(&mut self, blocks: &[Block<'_>], place: EventPlace<'_>) -> Result<(), Reason> {
        let [Block::Text(text)] = blocks else {
            return Err(Reason::Meta);
        };
        let text = self.mask.text(text.decode());
        let words = user::hook_words(&text).ok_or(Reason::Meta)?;
        self.hints.shown(words, None);
        self.sink.push(place, EventKind::Hook(words.into()));
        Ok(())
    }
}
