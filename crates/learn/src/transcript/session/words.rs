//! What the user said: prompts, commands, answers, interrupts, and what was typed meanwhile.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{SessionReader, Waiting};
use crate::hint::Effect;
use crate::transcript::event::{EventKind, EventPlace, Prompt, Via};
use crate::transcript::hash::of_text;
use crate::transcript::json::Raw;
use crate::transcript::pasted::Message;
use crate::transcript::record::{Author, Block, Record};
use crate::transcript::stats::Reason;
use crate::transcript::user::UserText;
use crate::transcript::{tool_answer, user};

/// How many prompts typed while the agent works are known again.
const MAX_QUEUED: usize = 64;

impl SessionReader<'_> {
    /// Takes what was typed while the agent worked, and the agent was given.
    pub(super) fn queued(
        &mut self,
        content: &RawValue,
        author: Author,
        place: EventPlace<'_>,
    ) -> Result<(), Reason> {
        let text = self.mask.answer(Some(content), tool_answer::ERROR_ENDS);
        let typed = self.waits.iter().find(|waiting| waiting.text == *text);
        let place = typed.map_or(place, |waiting| waiting.place(place));
        self.typed_meanwhile(&text, author, place)
    }

    /// Takes what is done to the client's queue. What is dequeued becomes a prompt of its own;
    /// what is removed was given to the agent, which older clients write nowhere else.
    pub(super) fn queue(
        &mut self,
        operation: &str,
        content: Raw<'_>,
        author: Author,
        place: EventPlace<'_>,
    ) -> Result<(), Reason> {
        match operation {
            "enqueue" if self.waits.len() < MAX_QUEUED => {
                let text = self.mask.answer(content, tool_answer::ERROR_ENDS);
                self.waits.push_back(Waiting {
                    text: text.into(),
                    offset: place.offset,
                    time: place.time,
                    seq: self.sink.seq,
                });
            }
            "dequeue" => {
                if self.dequeued.len() == MAX_QUEUED {
                    self.dequeued.pop_front();
                }
                // What did not wait was not typed while the agent worked.
                let waiting = self.waits.pop_front();
                self.dequeued
                    .extend(waiting.filter(|waiting| waiting.seq < self.sink.seq));
            }
            "remove" => {
                if let Some(waiting) = self.waits.pop_front() {
                    let author = self.authors.last.unwrap_or(author);
                    return self.typed_meanwhile(&waiting.text, author, waiting.place(place));
                }
            }
            _ => self.waits.clear(),
        }
        Err(Reason::Bookkeeping)
    }

    fn typed_meanwhile(
        &mut self,
        text: &str,
        author: Author,
        place: EventPlace<'_>,
    ) -> Result<(), Reason> {
        match user::classify(text) {
            // A background task is queued as JSON.
            UserText::Prompt(own) if !own.starts_with('{') && !user::is_client_command(&own) => {
                let mark = of_text(own.trim());
                if self.queued.contains(&mark) {
                    return Err(Reason::Repeated);
                }
                if self.queued.len() < MAX_QUEUED {
                    self.queued.push(mark);
                }
                let attached = user::attached(text);
                self.prompt(&own, &attached, Via::Queued, author, place);
                Ok(())
            }
            _ => Err(Reason::Bookkeeping),
        }
    }

    /// Reads what was typed, wherever it stands in the record: a tool's answer may stand
    /// beside it.
    pub(super) fn words(
        &mut self,
        blocks: &[Block<'_>],
        record: &Record<'_>,
        place: EventPlace<'_>,
    ) -> Result<(), Reason> {
        let is_typed = record.author != Author::Other;
        let mut typed = String::new();
        let mut attached: Vec<String> = Vec::new();
        for block in blocks {
            let Block::Text(text) = block else {
                continue;
            };
            let text = self.mask.text(text.decode());
            match user::classify(&text) {
                UserText::Interrupt if std::mem::take(&mut self.has_left_plan) => {}
                UserText::Interrupt => {
                    self.hints.end_turn(Effect::Failed);
                    self.sink.push(place, EventKind::Interrupt);
                }
                UserText::Notification(text) => self.notified(text, place),
                UserText::Command { name, arguments } if is_typed => {
                    self.branch_off(record);
                    self.prompt(arguments, &[], Via::Command(name), record.author, place);
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
        if !typed.is_empty() {
            // What waited until the agent was done may stand here once more.
            let queued = std::mem::take(&mut self.queued);
            if queued.contains(&of_text(typed.trim())) {
                return Err(Reason::Repeated);
            }
            self.branch_off(record);
            let waited = |waiting: &Waiting| waiting.text.trim() == typed;
            let at = self.dequeued.iter().position(waited);
            let place = match at.and_then(|at| self.dequeued.remove(at)) {
                Some(waiting) => waiting.place(place),
                None => place,
            };
            let plan = record.plan.is_some().then_some("");
            if let Some(plan) = plan.or_else(|| user::plan(&typed)) {
                let of_record = record.plan.map(|plan| self.mask.text(plan.decode()));
                let plan = of_record.map_or_else(|| plan.to_owned(), Cow::into_owned);
                self.plan_typed(&plan, record.author, place);
            } else {
                let attached: Vec<&str> = attached.iter().map(String::as_str).collect();
                self.prompt(&typed, &attached, Via::Typed, record.author, place);
            }
        }
        Ok(())
    }

    /// Remembers a prompt that was typed behind a record; it replaces an earlier one there.
    fn branch_off(&mut self, record: &Record<'_>) {
        let (Some(hash), Some(parent)) = (record.hash, record.parent) else {
            return;
        };
        if let Some(earlier) = self.prompts.insert(parent, hash) {
            self.replaced.insert(earlier);
        }
    }

    /// Takes the user's answers to questions of the agent's. What was chosen among what the
    /// agent had offered is shown; only own words can be an instruction.
    pub(super) fn answers(
        &mut self,
        text: &str,
        offered: &str,
        is_person: bool,
        place: EventPlace<'_>,
    ) {
        let answers = user::answers(text, offered);
        if answers.is_empty() {
            return;
        }
        let own = answers
            .iter()
            .filter(|given| is_person && !given.is_among(offered))
            .map(|given| given.words.to_owned())
            .collect();
        let text = answers.iter().map(ToString::to_string);
        let text = text.collect::<Vec<_>>().join("\n");
        let prompt = Prompt {
            text: &text,
            message: Message {
                shown: text.clone(),
                words: own,
            },
            is_person,
            via: Via::Answer,
            is_plan: false,
        };
        self.sink.push(place, EventKind::Prompt(prompt));
    }

    /// Takes a message that hands over a plan which the user approved.
    fn plan_typed(&mut self, plan: &str, author: Author, place: EventPlace<'_>) {
        self.begin_turn(author);
        let prompt = Prompt {
            text: plan,
            message: Message {
                shown: plan.trim().to_owned(),
                words: Vec::new(),
            },
            is_person: self.is_person(author),
            is_plan: true,
            ..Prompt::default()
        };
        self.sink.push(place, EventKind::Prompt(prompt));
    }

    fn begin_turn(&mut self, author: Author) {
        self.hints.end_turn(Effect::Helped);
        self.authors.last = Some(author);
        self.authors.has_person |= author == Author::Person;
        self.authors.has_program |= author == Author::Program;
    }

    /// Takes a prompt. A subagent's was written by the agent, and is no word of the user's.
    fn prompt(
        &mut self,
        text: &str,
        attached: &[&str],
        via: Via<'_>,
        author: Author,
        place: EventPlace<'_>,
    ) {
        self.begin_turn(author);
        let is_person = self.is_person(author);
        let mut message = Message::read(text, attached);
        if !is_person {
            message.words.clear();
        }
        let prompt = Prompt {
            text,
            message,
            is_person,
            via,
            is_plan: false,
        };
        self.sink.push(place, EventKind::Prompt(prompt));
    }
}

impl Waiting {
    /// Returns the place where it was typed; `given` is where the agent was given it.
    fn place<'p>(&self, given: EventPlace<'p>) -> EventPlace<'p> {
        EventPlace {
            offset: self.offset,
            time: self.time,
            ..given
        }
    }
}
