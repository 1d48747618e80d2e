//! Turns events into [`Facts`], in one pass and in bounded memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::attempt::Attempt;
use super::category::{self, ErrorCategory};
use super::event::{Call, Cite, Event, EventKind, Prompt, Via};
use super::facts::{CitationUse, Facts, FollowUp, Said, SaidKind};
use super::keep::Keeper;
use super::outcome::{Ending, Signs, decide};
use super::stakes::Watch;
use super::struck;
use crate::playbook::Id;

/// How many different key points are told apart.
const MAX_IDS: usize = 2_000;
/// How many uses of one key point are kept; later ones only when they went badly.
const USES_PER_ID: usize = 4;
/// How many uses are kept in all.
const MAX_USES: usize = 600;
/// How many things the user said are kept.
const MAX_SAID: usize = 200;
/// How many statements are remembered in order to see one again.
const MAX_STATEMENTS: usize = 4_000;
/// How much of the first request is kept, in bytes.
const MAX_REQUEST: usize = 1_000;
/// How much of a quote, a command or a message is kept, in bytes.
const MAX_LINE: usize = 240;
/// How much of the user's words is kept, in bytes.
const MAX_WORDS: usize = 500;

/// What came of the citations of one event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Followed {
    /// The event.
    pub(crate) seq: u64,
    /// The strongest sign that followed it.
    pub(crate) by: FollowUp,
}

/// A check that failed.
#[derive(Debug)]
struct Red {
    call: Arc<Call>,
    attempt: Attempt,
    category: ErrorCategory,
}

/// Collects [`Facts`] from events.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    keeper: Keeper,
    facts: Facts,
    uses_of: HashMap<Id, usize>,
    /// The event of each of `facts.uses`.
    used_in: Vec<u64>,
    /// Uses since the user's last prompt, as places in `facts.uses`.
    open_uses: Vec<usize>,
    /// The least strength of what followed any of them.
    weakest: u8,
    said: HashSet<(SaidKind, u64)>,
    /// Statements by hash, with the prompt they were last made in.
    statements: HashMap<u64, u64>,
    categories: BTreeMap<ErrorCategory, u64>,
    signs: Signs,
    /// The last check, while it is a failed one.
    red: Option<Red>,
    /// The message whose text was seen last.
    last_message: Option<u64>,
    watch: Watch,
}

impl Observer {
    /// Starts with a keeper for the texts that end up in the facts.
    pub(crate) fn new(keeper: Keeper) -> Self {
        Self {
            keeper,
            ..Self::default()
        }
    }

    /// Shows what lies in the session's folder relative to it from now on.
    pub(crate) fn work_in(&mut self, folder: &str) {
        self.keeper.work_in(folder);
    }

    /// Takes note of one event.
    pub(crate) fn see(&mut self, event: &Event<'_>) {
        self.watch(event);
        self.facts.events += 1;
        match &event.kind {
            EventKind::Prompt(prompt) => self.prompt(prompt),
            EventKind::Rejection { words, .. } => self.rejection(words.as_deref()),
            EventKind::Interrupt => self.interrupt(),
            EventKind::Text { cites, .. } => {
                let message = event.place.message_id.map(hash);
                if message.is_none() || message != self.last_message {
                    self.facts.assistant_texts += 1;
                }
                self.last_message = message;
                if !matches!(self.signs.ending, Ending::ToolError(_)) {
                    self.signs.ending = Ending::Quiet;
                }
                for cite in cites {
                    self.cite(event.seq, cite);
                }
            }
            EventKind::ToolCall(_) => self.facts.tool_calls += 1,
            EventKind::ToolResult(call) => {
                self.facts.tool_results += 1;
                self.signs.ending = Ending::Quiet;
                self.worked(call);
            }
            EventKind::ToolError { call, failure } => {
                self.facts.tool_results += 1;
                self.facts.tool_errors += 1;
                *self.categories.entry(failure.category).or_default() += 1;
                self.signs.ending = Ending::ToolError(failure.category);
                self.follow(|keeper| FollowUp::ToolError {
                    tool: call.tool.clone(),
                    message: keeper.line(&failure.message, MAX_LINE),
                });
                struck::note(&mut self.facts.errors, call, failure, &self.keeper);
            }
            EventKind::Fixed(fix) => struck::resolve(&mut self.facts.errors, fix, &self.keeper),
            EventKind::Check { call, check } => match check.result {
                Ok(()) => {
                    self.facts.checks_passed += 1;
                    self.recover();
                }
                Err(category) => {
                    self.facts.checks_failed += 1;
                    self.red = Some(Red {
                        call: call.clone(),
                        attempt: Attempt::of(call),
                        category,
                    });
                }
            },
            EventKind::ApiError(text) => {
                self.facts.api_errors += 1;
                self.signs.ending = Ending::ApiError(category::of_api_error(text));
            }
            EventKind::Compaction => self.facts.compactions += 1,
            EventKind::HandBack(_) | EventKind::Hook(_) => {}
        }
    }

    /// Returns the facts, and what followed the citations; `unresolved` failed calls
    /// were never made good.
    pub(crate) fn finish(mut self, unresolved: usize) -> (Facts, Vec<Followed>) {
        self.signs.unresolved = unresolved as u64;
        self.signs.last_check_failed = self.red.is_some();
        self.facts.unresolved = self.signs.unresolved;
        std::mem::take(&mut self.watch).finish(&mut self.facts);
        self.facts.outcome = decide(self.signs);
        self.facts.category = self.category();
        let mut followed: Vec<Followed> = Vec::new();
        for (place, seq) in self.used_in.iter().enumerate() {
            let by = &self.facts.uses[place].followed_by;
            match followed.last_mut() {
                Some(last) if last.seq == *seq => {}
                _ => followed.push(Followed {
                    seq: *seq,
                    by: by.clone(),
                }),
            }
        }
        (self.facts, followed)
    }

    fn category(&self) -> Option<ErrorCategory> {
        let red = self.red.as_ref().map(|red| red.category);
        match self.signs.ending {
            Ending::ToolError(category) | Ending::ApiError(category) => Some(category),
            _ => red.or_else(|| {
                self.categories
                    .iter()
                    .max_by_key(|(category, count)| (**count, std::cmp::Reverse(**category)))
                    .map(|(category, _)| *category)
            }),
        }
    }

    /// Takes note of a call that worked: where it runs a failed check again, and that says
    /// nothing of a failure, the check has passed.
    fn worked(&mut self, call: &Arc<Call>) {
        let is_good =
            |red: &Red| !Arc::ptr_eq(&red.call, call) && Attempt::of(call).makes_good(&red.attempt);
        if self.red.as_ref().is_some_and(is_good) {
            self.recover();
        }
    }

    fn recover(&mut self) {
        self.facts.recoveries += u64::from(self.red.take().is_some());
    }

    /// Takes note of what was at stake.
    fn watch(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::Prompt(prompt) => {
                let instructs = !prompt.instructions.is_empty();
                self.watch.prompt(prompt.text, instructs);
            }
            EventKind::ToolResult(call) => self.watch.ran(&call.tool, &call.input, true),
            EventKind::ToolError { call, .. } => self.watch.ran(&call.tool, &call.input, false),
            _ => {}
        }
    }

    fn rejection(&mut self, words: Option<&str>) {
        self.facts.tool_results += 1;
        self.facts.tool_errors += 1;
        self.facts.rejections += 1;
        self.signs.disagreements += 1;
        self.signs.ending = Ending::Rejection;
        if let Some(words) = words {
            self.facts.heard.listen(words);
            self.say(SaidKind::RejectionWords, words);
        }
        self.follow(|keeper| FollowUp::Rejected {
            words: words.map_or_else(String::new, |w| keeper.text(w, MAX_WORDS)),
        });
    }

    fn interrupt(&mut self) {
        self.facts.interrupts += 1;
        self.signs.disagreements += 1;
        if self.signs.ending != Ending::Rejection {
            self.signs.ending = Ending::Interrupt;
        }
        self.follow(|_| FollowUp::Interrupted);
    }

    fn instruct(&mut self, prompt: &Prompt<'_>) {
        for instruction in &prompt.instructions {
            self.say(SaidKind::StandingInstruction, instruction);
        }
    }

    fn prompt(&mut self, prompt: &Prompt<'_>) {
        self.facts.heard.listen(prompt.text);
        let counter = match prompt.via {
            Via::Typed => &mut self.facts.user_turns,
            Via::Command(_) => &mut self.facts.commands,
            Via::Queued => &mut self.facts.queued_prompts,
            Via::Answer => &mut self.facts.answers,
        };
        *counter += 1;
        if prompt.via == Via::Answer {
            return self.instruct(prompt);
        }
        if self.facts.first_request.is_none() {
            self.facts.first_request = Some(self.keeper.text(prompt.text, MAX_REQUEST));
        }
        self.signs.ending = Ending::Quiet;
        if prompt.correction {
            self.facts.corrections += 1;
            self.signs.disagreements += 1;
            self.signs.ending = Ending::Correction;
            self.say(SaidKind::Correction, prompt.text);
            self.follow(|keeper| FollowUp::Corrected {
                words: keeper.text(prompt.text, MAX_WORDS),
            });
        }
        self.instruct(prompt);
        let turn = self.facts.user_turns + self.facts.commands + self.facts.queued_prompts;
        for statement in &prompt.statements {
            let key = hash(&statement.to_lowercase());
            let room = self.statements.len() < MAX_STATEMENTS;
            match self.statements.get(&key) {
                Some(&last) if last != turn => self.say(SaidKind::Fact, statement),
                None if room => drop(self.statements.insert(key, turn)),
                _ => {}
            }
        }
        self.open_uses.clear();
    }

    fn cite(&mut self, seq: u64, cite: &Cite) {
        let known = self.uses_of.len();
        let count = match self.uses_of.get_mut(&cite.id) {
            Some(count) => count,
            None if known < MAX_IDS => {
                self.facts.citations.push(cite.id.clone());
                self.uses_of.entry(cite.id.clone()).or_default()
            }
            None => return,
        };
        *count += 1;
        if *count == 1 || (*count <= USES_PER_ID && self.facts.uses.len() < MAX_USES) {
            self.weakest = 0;
            self.open_uses.push(self.facts.uses.len());
            self.used_in.push(seq);
            self.facts.uses.push(CitationUse {
                id: cite.id.clone(),
                quote: self.keeper.line(&cite.quote, MAX_LINE),
                followed_by: FollowUp::Clean,
            });
        }
    }

    /// Marks the uses since the last prompt that nothing as strong has followed.
    fn follow(&mut self, what: impl FnOnce(&Keeper) -> FollowUp) {
        if self.open_uses.is_empty() {
            return;
        }
        let what = what(&self.keeper);
        if what.strength() <= self.weakest {
            return;
        }
        self.weakest = what.strength();
        for &place in &self.open_uses {
            let followed_by = &mut self.facts.uses[place].followed_by;
            if followed_by.strength() < what.strength() {
                followed_by.clone_from(&what);
            }
        }
    }

    fn say(&mut self, kind: SaidKind, text: &str) {
        if self.facts.said.len() < MAX_SAID {
            let text = self.keeper.text(text, MAX_WORDS);
            if self.said.insert((kind, hash(&text.to_lowercase()))) {
                self.facts.said.push(Said { kind, text });
            }
        }
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
