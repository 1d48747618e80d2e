//! From records to events: which records count, and what they say.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use super::calls::{
    self, AGENT_TOOLS, DeniedBy, ERROR_ENDS, MAX_DETAIL, MAX_OFFERED, OpenCalls, PLAN_TOOL,
    QUESTION_TOOL, WaitingCall,
};
use super::checks;
use super::collector::Collector;
use super::errors::error_signature;
use super::event::{
    Call, CallFailure, CheckResult, ErrorCategory, Event, EventKind, EventPlace, Prompt, Via,
};
use super::facts::{self, MAX_IDS, Observer};
use super::json::{self, Raw};
use super::reader::{self, ScanStats, records};
use super::record::{Author, Block, Content, Keys, RecordHash};
use super::text::{self, Mask, Sanitizer};
use super::user::{self, Message, UserText};
use super::{Digest, Lane, ReadOptions};
use crate::playbook::Id;

const MAX_WAITING: usize = 256;
/// The number of prompts typed while the agent works that are known again.
const MAX_QUEUED: usize = 64;
/// The part of a subagent's result that is read from either end, in bytes.
const HANDED_BACK: usize = 3_000;
/// The part of the summary of a background task that is kept, in bytes.
const MAX_SUMMARY: usize = 240;
/// The exit codes of a command that was stopped, and so came to nothing.
const KILLED: [i32; 3] = [130, 137, 143];
/// Asks whether a record, with its time, is a copy of one in another file or job.
pub(crate) type IsCopy<'c> = dyn FnMut(RecordHash, Option<Timestamp>) -> bool + 'c;

pub(crate) type EventSink<'t> = dyn FnMut(&Event<'_>) + 't;

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct SessionReader<'t> {
    lane: Lane,
    /// `false` where no person attended the session, whatever the marks say.
    attended: Option<bool>,
    pub is_copy: Option<&'t mut IsCopy<'t>>,
    pub sink: Option<&'t mut EventSink<'t>>,
    mask: Mask,
    sanitizer: Sanitizer,
    observer: Observer,
    collector: Collector,
    stats: ScanStats,
    place: EventPlace,
    seq: u64,
    /// The branch of the first record, which becomes the first event.
    branch: Option<String>,
    /// The records that were read, to know one that is there again.
    seen: HashSet<RecordHash>,
    /// The prompts that are known to be replaced, and all that follows from them.
    left_out: HashSet<RecordHash>,
    /// The last prompt that follows each record.
    prompts: HashMap<RecordHash, RecordHash>,
    replaced: HashSet<RecordHash>,
    cited: HashSet<Id>,
    waiting: VecDeque<WaitingCall>,
    open: OpenCalls,
    /// The last call of a subagent's that is in this file.
    aside: WaitingCall,
    /// The last call whose check failed, and how.
    red: Option<(Arc<Call>, CheckResult)>,
    /// A plan was just left without a word.
    has_left_plan: bool,
    /// A boundary was read whose summary is still to come.
    is_compacting: bool,
    has_folder: bool,
    /// The texts typed while the agent worked, since the last prompt.
    queued: Vec<String>,
    /// The texts that wait in the client's queue, in order.
    waits: VecDeque<Waiting>,
    /// The texts that left the queue as a prompt whose record is still to come.
    dequeued: VecDeque<Waiting>,
    /// The authors of the record that is read and of the last prompt.
    author: Author,
    last_author: Option<Author>,
    /// The authors of prompts, and of any record of a program.
    writers: HashSet<Author>,
    /// The client marks who wrote and refused what.
    has_marks: bool,
}

/// A text typed while the agent worked, and its place.
#[derive(Debug)]
struct Waiting {
    text: String,
    offset: u64,
    time: Option<Timestamp>,
    seq: u64,
}

impl SessionReader<'_> {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        let home = options.home.as_deref();
        Self {
            lane: options.lane,
            attended: options.attended,
            left_out: options.replaced.clone(),
            sanitizer: Sanitizer::new(home, options.secrecy.masker.clone()),
            mask: Mask {
                secrecy: options.secrecy.clone(),
                ..Mask::default()
            },
            ..Self::default()
        }
    }

    /// Reads the records of a line; one that is too long has no text.
    pub(crate) fn line(&mut self, offset: u64, line: Option<&[u8]>) {
        let mut count = 0;
        for (at, keys) in records(&reader::text(line.unwrap_or_default())) {
            self.record(offset + at as u64, keys);
            count += 1;
        }
        if count == 0 {
            self.stats.skipped += 1;
        }
    }

    fn record(&mut self, offset: u64, keys: Option<Keys<'_>>) {
        if keys.is_some_and(|keys| self.read(offset, keys).is_some()) {
            self.stats.read += 1;
        } else {
            self.stats.skipped += 1;
        }
    }

    pub(crate) fn finish(mut self) -> Digest {
        self.stats.masked = self.mask.counts;
        let events = &self.stats.events;
        let unresolved = self.open.count();
        let mut facts = self.observer.finish(&self.sanitizer, events, unresolved);
        let has = |author| self.writers.contains(&author);
        let is_programs = has(Author::Program) && !has(Author::Person);
        facts.is_unattended = self.attended == Some(false) || is_programs;
        self.collector.sanitizer = self.sanitizer;
        Digest {
            replaced: self.replaced,
            facts,
            evidence: self.collector,
            stats: self.stats,
        }
    }

    fn push(&mut self, kind: EventKind<'_>) {
        if let Some(branch) = self.branch.take() {
            self.push(EventKind::Branch(branch));
        }
        *self.stats.events.entry(kind.name()).or_default() += 1;
        self.seq += 1;
        let event = Event {
            place: &self.place,
            kind,
        };
        if let Some(sink) = &mut self.sink {
            sink(&event);
        }
        self.observer.see(&event, &self.sanitizer);
        self.collector.push(&event);
    }

    /// Reads one record; `None` where it does not count.
    fn read(&mut self, offset: u64, keys: Keys<'_>) -> Option<()> {
        let chain = keys.chain();
        // All that follows from a replaced prompt is replaced, too.
        let mut hashes = chain.iter().flatten();
        let is_replaced = hashes.any(|hash| self.left_out.contains(hash));
        self.left_out.extend(chain[0].filter(|_| is_replaced));
        let record = keys.decide()?;
        let keys = &record.keys;
        let place = record.place(offset);
        self.has_marks |= keys.is_marked();
        if let Some(hash) = chain[0] {
            let is_copy = self.is_copy.as_mut();
            if !self.seen.insert(hash) || is_copy.is_some_and(|it| it(hash, place.time)) {
                return None;
            }
        }
        if !self.has_folder
            && let Some(folder) = json::text(keys.cwd)
        {
            self.has_folder = true;
            self.sanitizer.work_in(&folder);
        }
        if json::is_true(keys.is_sidechain) != (self.lane == Lane::Subagent) {
            if let Content::Assistant(blocks) = &record.content {
                for block in blocks {
                    if let Block::ToolUse { name, .. } = block {
                        self.observer.called(name);
                    }
                }
            }
            return None;
        }
        if is_replaced {
            return None;
        }
        if self.seq == 0 {
            let branch = json::name(keys.git_branch).filter(|name| !["", "HEAD"].contains(name));
            self.branch = branch.map(str::to_owned);
        }
        self.author = record.author;
        self.place = place;
        match &record.content {
            Content::Assistant(blocks) => self.assistant(blocks),
            Content::ApiError(blocks) => {
                for block in blocks {
                    if let Block::Text(text) = block {
                        let text = self.mask.text(Cow::Borrowed(text));
                        self.push(EventKind::ApiError(text));
                    }
                }
            }
            Content::User(blocks) => {
                if self.author == Author::Program {
                    self.writers.insert(self.author);
                }
                for block in blocks {
                    self.answered(block, keys.denied());
                }
                return self.words(blocks, json::text(keys.plan_content), chain);
            }
            Content::Meta(blocks) => return self.meta(blocks),
            Content::Summary { is_compact } => {
                let was_announced = std::mem::take(&mut self.is_compacting);
                if *is_compact && !was_announced {
                    self.push(EventKind::Compaction);
                }
                return None;
            }
            Content::Boundary => {
                self.is_compacting = true;
                self.push(EventKind::Compaction);
            }
            Content::Aside(blocks) => return self.aside(blocks),
            // Another session can send a message into the queue.
            Content::Queued(_) if self.author == Author::Other => return None,
            Content::Queued(text) => {
                let text = self.answer(*text, ERROR_ENDS);
                if let Some(typed) = self.waits.iter().find(|waiting| waiting.text == *text) {
                    typed.place(&mut self.place);
                }
                return self.typed_meanwhile(&text);
            }
            Content::Queue { operation, text } => return self.queue(operation, *text),
        }
        Some(())
    }

    /// Returns a masked text; of a long one about the first and the last `max` bytes.
    fn answer<'a>(&mut self, content: Raw<'a>, max: usize) -> Cow<'a, str> {
        self.mask.text(calls::answer(content, max))
    }

    fn assistant(&mut self, blocks: &[Block<'_>]) {
        for block in blocks {
            match block {
                Block::Text(text) => {
                    let written = user::without(text, &["<thinking"]);
                    let text = self.mask.text(Cow::Borrowed(&written));
                    if !text.trim().is_empty() {
                        let cites = facts::cites(&written);
                        let new_cites = self.new_cites(&cites);
                        self.push(EventKind::Text {
                            text,
                            cites,
                            new_cites,
                        });
                    }
                }
                Block::ToolUse { id, name, input } => {
                    if self.waiting.len() == MAX_WAITING {
                        self.waiting.pop_front();
                    }
                    let waiting = self.made(id, name, *input);
                    let call = waiting.call.clone();
                    self.waiting.push_back(waiting);
                    self.push(EventKind::ToolCall(call));
                }
                Block::ToolResult { .. } | Block::Other => {}
            }
        }
    }

    fn new_cites(&mut self, cites: &[Id]) -> Vec<Id> {
        let mut new = cites.to_vec();
        new.retain(|id| self.cited.len() < MAX_IDS && self.cited.insert(id.clone()));
        new
    }

    fn made(&mut self, id: &str, name: &str, input: Raw<'_>) -> WaitingCall {
        self.has_left_plan = false;
        self.observer.called(name);
        WaitingCall::read(id, name, input, &mut self.mask)
    }

    fn answered(&mut self, block: &Block<'_>, denied: DeniedBy) {
        let &Block::ToolResult {
            id,
            is_error,
            content,
        } = block
        else {
            return;
        };
        let place = self.waiting.iter().rposition(|waiting| waiting.id == id);
        let waiting = place.and_then(|place| self.waiting.remove(place));
        let waiting = waiting.unwrap_or_default();
        if is_error {
            self.failed(waiting, content, denied);
        } else if let Some(said) = calls::own_failure(content) {
            // Where only the answer says that the call failed, a line is shown.
            let said = text::one_line(&self.mask.text(said.into()), MAX_SUMMARY);
            let failure = calls::failure(&waiting.call, &said);
            self.has_failed(waiting.call, failure);
        } else {
            self.worked(waiting, content);
        }
    }

    fn failed(&mut self, waiting: WaitingCall, content: Raw<'_>, denied: DeniedBy) {
        let whole = calls::answer(content, ERROR_ENDS);
        let text = self.mask.text(Cow::Borrowed(&whole));
        if let Some(words) = self.refusal(&waiting.call.tool, &text, denied) {
            return self.refused(waiting, words);
        }
        let call = waiting.call;
        if let Some(why) = calls::turned_back(&call.tool, &text) {
            let why = why.to_owned();
            return self.push(EventKind::TurnedBack { call, why });
        }
        if calls::was_stopped(&text) {
            // What the client writes next says it.
            return;
        }
        let mut failure = if waiting.is_private {
            calls::failure(&call, &text::without_values(&text))
        } else {
            calls::failure(&call, &text)
        };
        if text != whole {
            // The hook sees the error before anything is masked.
            failure.error = error_signature(&call.tool, &call.input, &whole);
            if !waiting.is_private {
                failure.wholes.push(whole.into_owned());
            }
        }
        let is_killed = failure.exit_code.is_some_and(|code| KILLED.contains(&code));
        let mut check = None;
        if !waiting.is_private && !is_killed {
            check = checks::find(&call, content, true);
        }
        let red = check.as_ref().and_then(|check| check.result.err());
        if failure.category == ErrorCategory::Unknown {
            failure.category = red.unwrap_or(ErrorCategory::Unknown);
        }
        self.has_failed(call.clone(), failure);
        if let Some(check) = check {
            self.checked(call, check);
        }
    }

    fn has_failed(&mut self, call: Arc<Call>, failure: CallFailure) {
        self.open.failed(&call);
        self.push(EventKind::ToolError { call, failure });
    }

    /// Returns the user's words with a refusal; a client that marks them leaves none unmarked.
    fn refusal(&self, tool: &str, text: &str, denied: DeniedBy) -> Option<String> {
        let is_error = self.has_marks && denied == DeniedBy::Unsaid;
        (!is_error).then(|| calls::refusal(tool, text, denied))?
    }

    fn refused(&mut self, waiting: WaitingCall, words: String) {
        if waiting.call.tool == PLAN_TOOL && words.is_empty() {
            self.has_left_plan = true;
            return;
        }
        let [old, new] = waiting
            .changes
            .map(|text| self.mask.head(&text, MAX_DETAIL));
        self.push(EventKind::Rejection {
            call: waiting.call,
            words,
            is_person: self.is_person(),
            unwritten: text::diff(&old, &new),
        });
    }

    fn worked(&mut self, waiting: WaitingCall, content: Raw<'_>) {
        let WaitingCall {
            call,
            is_private,
            asks,
            ..
        } = waiting;
        match call.tool.as_str() {
            QUESTION_TOOL => {
                let text = self.answer(content, MAX_OFFERED);
                self.answers(&text, &asks);
            }
            PLAN_TOOL => {
                let text = self.answer(content, MAX_OFFERED);
                let plan = user::approved_plan(&text).map(|plan| match plan.trim() {
                    "" => self.mask.head(&asks, MAX_OFFERED),
                    plan => plan.to_owned(),
                });
                if let Some(plan) = plan.filter(|plan| !plan.trim().is_empty()) {
                    self.push(EventKind::Plan(plan));
                }
            }
            _ => {}
        }
        let is_running = calls::was_left_running(content);
        let mut is_red = false;
        if !is_private && !is_running {
            let check = checks::find(&call, content, false).or_else(|| self.made_good(&call));
            if let Some(check) = check {
                is_red = check.result.is_err();
                self.checked(call.clone(), check);
            } else if let Some(runner) = checks::unheard(&call) {
                let call = call.clone();
                self.push(EventKind::UnknownCheck { call, runner });
            }
        }
        if !is_red {
            self.open.worked(&call);
        }
        if is_running {
            self.push(EventKind::LeftRunning(call.clone()));
        }
        self.push(EventKind::ToolResult(call.clone()));
        if AGENT_TOOLS.contains(&call.tool.as_str()) && !is_private {
            let text = self.answer(content, HANDED_BACK);
            self.hand_back(&text);
        }
    }

    fn checked(&mut self, call: Arc<Call>, check: CheckResult) {
        if check.result.is_err() {
            self.red = Some((call.clone(), check.clone()));
        }
        self.push(EventKind::Check { call, check });
    }

    /// Returns the result of a call whose check had failed and that worked, made again, in silence.
    fn made_good(&mut self, call: &Call) -> Option<CheckResult> {
        let (_, red) = self.red.take_if(|(red, _)| **red == *call)?;
        Some(CheckResult {
            result: Ok(()),
            line: "it worked".to_owned(),
            ..red
        })
    }

    /// Takes a subagent's call, or what the user refused of one.
    fn aside(&mut self, blocks: &[Block<'_>]) -> Option<()> {
        for block in blocks {
            match block {
                Block::ToolUse { id, name, input } => self.aside = self.made(id, name, *input),
                Block::ToolResult { id, content, .. } if *id == self.aside.id => {
                    let text = self.answer(*content, ERROR_ENDS);
                    let words = self.refusal(&self.aside.call.tool, &text, DeniedBy::Unsaid);
                    if let Some(words) = words {
                        self.author = Author::Person;
                        let waiting = std::mem::take(&mut self.aside);
                        self.refused(waiting, words);
                        return Some(());
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Takes the end of a background task: its report, or its failure.
    fn notified(&mut self, text: &str) {
        let Some(summary) = user::failed_task(text) else {
            return self.hand_back(text);
        };
        let call = Arc::new(Call::new("Task", text::one_line(summary, MAX_SUMMARY)));
        let report = user::report(text).unwrap_or_default();
        let failure = calls::failure(&call, &report);
        self.push(EventKind::ToolError { call, failure });
    }

    fn hand_back(&mut self, text: &str) {
        if let Some(report) = user::report(text) {
            self.push(EventKind::HandBack(report));
        }
    }

    /// Reads the words of hooks, which the client writes in the user's name; nothing else of it.
    fn meta(&mut self, blocks: &[Block<'_>]) -> Option<()> {
        let [Block::Text(text)] = blocks else {
            return None;
        };
        let text = self.mask.text(Cow::Borrowed(text));
        let words = user::hook_words(&text)?;
        self.push(EventKind::Hook(words.into()));
        Some(())
    }

    /// Takes what is done to the client's queue. What is dequeued becomes a prompt of its own;
    /// what is removed was given to the agent, which older clients write nowhere else.
    fn queue(&mut self, operation: &str, text: Raw<'_>) -> Option<()> {
        match operation {
            "enqueue" if self.waits.len() < MAX_QUEUED => {
                let text = self.answer(text, ERROR_ENDS);
                self.waits.push_back(Waiting {
                    text: text.into(),
                    offset: self.place.offset,
                    time: self.place.time,
                    seq: self.seq,
                });
            }
            "dequeue" => {
                if self.dequeued.len() == MAX_QUEUED {
                    self.dequeued.pop_front();
                }
                // What did not wait was not typed while the agent worked.
                let waiting = self.waits.pop_front();
                self.dequeued
                    .extend(waiting.filter(|waiting| waiting.seq < self.seq));
            }
            "remove" => {
                if let Some(waiting) = self.waits.pop_front() {
                    self.author = self.last_author.unwrap_or(self.author);
                    waiting.place(&mut self.place);
                    return self.typed_meanwhile(&waiting.text);
                }
            }
            _ => self.waits.clear(),
        }
        None
    }

    fn typed_meanwhile(&mut self, text: &str) -> Option<()> {
        match user::classify(text) {
            // A background task is queued as JSON.
            UserText::Prompt(own) if !own.starts_with('{') && !user::is_client_command(&own) => {
                if self.queued.iter().any(|known| known == own.trim()) {
                    return None;
                }
                if self.queued.len() < MAX_QUEUED {
                    self.queued.push(own.trim().to_owned());
                }
                self.prompt(&own, &user::attached(text), Via::Queued);
                Some(())
            }
            _ => None,
        }
    }

    /// Reads what was typed, wherever it is in the record: a tool's answer may be there, too.
    fn words(
        &mut self,
        blocks: &[Block<'_>],
        plan: Option<Cow<'_, str>>,
        chain: [Option<RecordHash>; 2],
    ) -> Option<()> {
        let is_typed = self.author != Author::Other;
        let mut typed = String::new();
        let mut attached: Vec<String> = Vec::new();
        for block in blocks {
            let Block::Text(text) = block else {
                continue;
            };
            let text = self.mask.text(Cow::Borrowed(text));
            match user::classify(&text) {
                UserText::Interrupt if std::mem::take(&mut self.has_left_plan) => {}
                UserText::Interrupt => self.push(EventKind::Interrupt),
                UserText::Notification(text) => self.notified(text),
                UserText::Command { name, arguments } if is_typed => {
                    self.branch_off(chain);
                    self.prompt(arguments, &[], Via::Command(name));
                }
                UserText::Prompt(own) if is_typed => {
                    if !typed.is_empty() {
                        typed.push('\n');
                    }
                    typed.push_str(own.trim());
                    attached.extend(user::attached(&text).into_iter().map(str::to_owned));
                }
                _ => {}
            }
        }
        if typed.is_empty() {
            return Some(());
        }
        // What waited until the agent was done may be here once more.
        let queued = std::mem::take(&mut self.queued);
        if queued.iter().any(|known| known == typed.trim()) {
            return None;
        }
        self.branch_off(chain);
        let waited = |waiting: &Waiting| waiting.text.trim() == typed;
        let at = self.dequeued.iter().position(waited);
        if let Some(waiting) = at.and_then(|at| self.dequeued.remove(at)) {
            waiting.place(&mut self.place);
        }
        let of_record = plan.map(|plan| self.mask.text(plan));
        if let Some(plan) = of_record.as_deref().or_else(|| user::plan(&typed)) {
            let message = Message {
                shown: plan.trim().to_owned(),
                words: Vec::new(),
            };
            self.begin_turn();
            self.said(plan, message, Via::Plan);
        } else {
            let attached: Vec<&str> = attached.iter().map(String::as_str).collect();
            self.prompt(&typed, &attached, Via::Typed);
        }
        Some(())
    }

    /// Remembers a prompt that was typed behind a record; it replaces an earlier one there.
    fn branch_off(&mut self, chain: [Option<RecordHash>; 2]) {
        if let [Some(hash), Some(parent)] = chain {
            self.replaced.extend(self.prompts.insert(parent, hash));
        }
    }

    /// Shows choices among the offered ones; only own words can be an instruction.
    fn answers(&mut self, text: &str, offered: &str) {
        let answers = user::answers(text, offered);
        if answers.is_empty() {
            return;
        }
        let mut own: Vec<_> = answers.iter().map(|(_, words)| *words).collect();
        own.retain(|words| self.is_person() && !user::is_offered(words, offered));
        let words = own.into_iter().map(str::to_owned).collect();
        let lines = answers.iter();
        let lines = lines.map(|(question, words)| format!("{question} {words}"));
        let text = lines.collect::<Vec<_>>().join("\n");
        let message = Message {
            shown: text.clone(),
            words,
        };
        self.said(&text, message, Via::Answer);
    }

    fn begin_turn(&mut self) {
        self.last_author = Some(self.author);
        self.writers.insert(self.author);
    }

    /// Takes a prompt. A subagent's was written by the agent, and is no word of the user's.
    fn prompt(&mut self, text: &str, attached: &[&str], via: Via<'_>) {
        self.begin_turn();
        let mut message = Message::read(text, attached);
        if !self.is_person() {
            message.words.clear();
        }
        self.said(text, message, via);
    }

    fn said(&mut self, text: &str, message: Message, via: Via<'_>) {
        self.push(EventKind::Prompt(Prompt {
            text,
            message,
            is_person: self.is_person(),
            via,
        }));
    }

    /// Returns `true` where a person wrote the record, or a later one of their turn.
    fn is_person(&self) -> bool {
        self.lane == Lane::Session
            && self.attended != Some(false)
            && self.last_author.unwrap_or(self.author) == Author::Person
    }
}

impl Waiting {
    /// Puts what was given to the agent where it was typed.
    fn place(&self, given: &mut EventPlace) {
        given.offset = self.offset;
        given.time = self.time;
    }
}
