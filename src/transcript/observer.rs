//! Turns events into [`Facts`], in one pass and in bounded memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::category::ErrorCategory;
use super::event::{Call, Event, EventKind, Failure, Prompt};
use super::facts::{CitationUse, Facts, FollowUp, Resolved, Said, SaidKind};
use super::outcome::{Ending, Signs, decide};
use super::stakes::Watch;
use super::{cut, speech};
use crate::playbook::Id;

/// How many different key points are told apart.
const MAX_IDS: usize = 2_000;
/// How many uses of one key point are kept; later ones only when they went badly.
const USES_PER_ID: usize = 4;
/// How many uses are kept in all.
const MAX_USES: usize = 600;
/// How many things the user said are kept.
const MAX_SAID: usize = 200;
/// How many resolved errors are kept.
const MAX_RESOLVED: usize = 100;
/// How many failed calls wait for their fix at a time.
const MAX_OPEN: usize = 32;
/// How many statements are remembered in order to see one again.
const MAX_STATEMENTS: usize = 4_000;
/// How much of the first request is kept, in bytes.
const MAX_REQUEST: usize = 1_000;
/// How much of the user's words is kept with a follow-up, in bytes.
const MAX_WORDS: usize = 500;

/// Collects [`Facts`] from events.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    facts: Facts,
    uses_of: HashMap<Id, usize>,
    /// Uses since the user's last prompt, as places in `facts.uses`.
    open_uses: Vec<usize>,
    open_errors: Vec<OpenError>,
    said: HashSet<(SaidKind, u64)>,
    /// Statements by hash, with the prompt they were last made in.
    statements: HashMap<u64, u64>,
    categories: BTreeMap<ErrorCategory, u64>,
    signs: Signs,
    watch: Watch,
}

#[derive(Debug)]
struct OpenError {
    call: Call,
    message: String,
}

impl Observer {
    /// Takes note of one event.
    pub(crate) fn see(&mut self, event: &Event) {
        self.watch(event);
        match &event.kind {
            EventKind::Prompt(prompt) => self.prompt(prompt),
            EventKind::Rejection { words, .. } => {
                self.facts.tool_results += 1;
                self.facts.tool_errors += 1;
                self.facts.rejections += 1;
                self.signs.disagreements += 1;
                self.signs.ending = Ending::Rejection;
                let words = words.clone().unwrap_or_default();
                if !words.is_empty() {
                    self.say(SaidKind::RejectionWords, &words);
                }
                let words = cut::middle(&words, MAX_WORDS).into_owned();
                self.follow(&FollowUp::Rejected { words });
            }
            EventKind::Interrupt => {
                self.facts.interrupts += 1;
                self.signs.disagreements += 1;
                if self.signs.ending != Ending::Rejection {
                    self.signs.ending = Ending::Interrupt;
                }
                self.follow(&FollowUp::Interrupted);
            }
            EventKind::Text { cites, .. } => {
                self.facts.assistant_texts += 1;
                self.signs.ending = Ending::Quiet;
                for cite in cites {
                    self.cite(&cite.id, &cite.quote);
                }
            }
            EventKind::ToolCall(_) => self.facts.tool_calls += 1,
            EventKind::ToolResult(call) => {
                self.facts.tool_results += 1;
                self.signs.ending = Ending::Quiet;
                self.resolve(call);
            }
            EventKind::ToolError { call, failure } => self.error(call, failure),
            EventKind::Check { check, .. } => {
                if check.passed {
                    self.facts.checks_passed += 1;
                } else {
                    self.facts.checks_failed += 1;
                }
                self.signs.last_check_failed = !check.passed;
            }
            EventKind::ApiError(_) => {
                self.facts.api_errors += 1;
                self.signs.ending = Ending::ApiError;
            }
            EventKind::Compaction => self.facts.compactions += 1,
            EventKind::HandBack(_) => {}
        }
    }

    /// Returns the facts.
    pub(crate) fn finish(mut self) -> Facts {
        self.signs.unresolved = self.open_errors.len() as u64;
        self.facts.outcome = decide(self.signs);
        self.facts.category = match self.signs.ending {
            Ending::ToolError(category) => Some(category),
            Ending::ApiError => Some(ErrorCategory::Network),
            _ if self.signs.last_check_failed => Some(ErrorCategory::TestFailure),
            _ => self
                .categories
                .iter()
                .max_by_key(|(category, count)| (**count, std::cmp::Reverse(**category)))
                .map(|(category, _)| *category),
        };
        self.watch.finish(&mut self.facts);
        self.facts
    }

    /// Takes note of what was at stake.
    fn watch(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Prompt(prompt) => {
                let instructs = !prompt.instructions.is_empty();
                self.watch.prompt(&prompt.text, instructs);
            }
            EventKind::ToolResult(call) => self.watch.ran(&call.tool, &call.input, true),
            EventKind::ToolError { call, .. } => self.watch.ran(&call.tool, &call.input, false),
            _ => {}
        }
    }

    fn prompt(&mut self, prompt: &Prompt) {
        if prompt.command.is_some() {
            self.facts.commands += 1;
        } else {
            self.facts.user_turns += 1;
        }
        if self.facts.first_request.is_none() {
            let text = cut::middle(&prompt.text, MAX_REQUEST).into_owned();
            self.facts.first_request = Some(text);
        }
        if prompt.correction {
            self.facts.corrections += 1;
            self.signs.disagreements += 1;
            self.signs.ending = Ending::Correction;
            self.say(SaidKind::Correction, &prompt.text);
            let words = cut::middle(&prompt.text, MAX_WORDS).into_owned();
            self.follow(&FollowUp::Corrected { words });
        } else {
            self.signs.ending = Ending::Quiet;
        }
        for instruction in &prompt.instructions {
            self.say(SaidKind::StandingInstruction, instruction);
        }
        let turn = self.facts.user_turns + self.facts.commands;
        for statement in speech::statements(&prompt.text) {
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

    fn cite(&mut self, id: &Id, quote: &str) {
        let known = self.uses_of.len();
        let count = match self.uses_of.get_mut(id) {
            Some(count) => count,
            None if known < MAX_IDS => {
                self.facts.citations.push(id.clone());
                self.uses_of.entry(id.clone()).or_default()
            }
            None => return,
        };
        *count += 1;
        if self.facts.uses.len() < MAX_USES && *count <= USES_PER_ID || *count == 1 {
            self.open_uses.push(self.facts.uses.len());
            self.facts.uses.push(CitationUse {
                id: id.clone(),
                quote: quote.to_owned(),
                followed_by: FollowUp::Clean,
            });
        }
    }

    /// Marks the uses since the last prompt, unless something stronger followed them.
    fn follow(&mut self, what: &FollowUp) {
        for &place in &self.open_uses {
            let followed_by = &mut self.facts.uses[place].followed_by;
            if followed_by.strength() < what.strength() {
                followed_by.clone_from(what);
            }
        }
    }

    fn error(&mut self, call: &Call, failure: &Failure) {
        self.facts.tool_results += 1;
        self.facts.tool_errors += 1;
        *self.categories.entry(failure.category).or_default() += 1;
        self.signs.ending = Ending::ToolError(failure.category);
        self.follow(&FollowUp::ToolError {
            tool: call.tool.clone(),
            message: failure.message.clone(),
        });
        if self.open_errors.len() == MAX_OPEN {
            self.open_errors.remove(0);
        }
        self.open_errors.push(OpenError {
            call: call.clone(),
            message: failure.message.clone(),
        });
    }

    /// Takes a call that worked: it may be another way to what failed before.
    fn resolve(&mut self, call: &Call) {
        let facts = &mut self.facts;
        self.open_errors.retain(|open| {
            if open.call.tool != call.tool || !is_akin(&open.call.input, &call.input) {
                return true;
            }
            if open.call.input != call.input && facts.resolved.len() < MAX_RESOLVED {
                facts.resolved.push(Resolved {
                    tool: call.tool.clone(),
                    error: open.message.clone(),
                    failed: open.call.input.clone(),
                    fixed: call.input.clone(),
                });
            }
            false
        });
    }

    fn say(&mut self, kind: SaidKind, text: &str) {
        let text = cut::middle(text, MAX_WORDS);
        if self.facts.said.len() < MAX_SAID && self.said.insert((kind, hash(&text.to_lowercase())))
        {
            let text = text.into_owned();
            self.facts.said.push(Said { kind, text });
        }
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Tells whether two inputs of one tool are tries at the same thing: the same program,
/// the same file name, or at least half of their words.
fn is_akin(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let words = |text: &str| -> HashSet<String> {
        text.split(|c: char| {
            c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '=' | ';' | '&' | '|')
        })
        .filter(|word| word.len() > 1)
        .map(str::to_owned)
        .collect()
    };
    let (a, b) = (words(a), words(b));
    let common = a.intersection(&b).count();
    common > 0 && 2 * common >= a.len().min(b.len())
}
