//! What the user said: prompts, commands, answers, interrupts, and what was typed meanwhile.

use super::{SessionReader, Waiting};
use crate::transcript::event::{EventKind, EventPlace, Prompt, Via};
use crate::transcript::json::Raw;
use crate::transcript::pasted::Message;
use crate::transcript::record::{Author, Block, Record};
use crate::transcript::stats::Reason;
use crate::transcript::user::UserText;
use crate::transcript::{tool_answer, user};

/// The number of prompts typed while the agent works that are known again.
const MAX_QUEUED: usize = 64;

impl SessionReader<'_> {
    /// Takes what was typed while the agent worked, and the agent was given.
    pub(super) fn queued(&mut self, text: Raw<'_>) -> Result<(), Reason> {
        let text = self.mask.answer(text, tool_answer::ERROR_ENDS);
        if let Some(typed) = self.waits.iter().find(|waiting| waiting.text == *text) {
            typed.place(&mut self.sink.place);
        }
        self.typed_meanwhile(&text)
    }

    /// Takes what is done to the client's queue. What is dequeued becomes a prompt of its own;
    /// what is removed was given to the agent, which older clients write nowhere else.
    pub(super) fn queue(&mut self, operation: &str, text: Raw<'_>) -> Result<(), Reason> {
        match operation {
            "enqueue" if self.waits.len() < MAX_QUEUED => {
                let text = self.mask.answer(text, tool_answer::ERROR_ENDS);
                self.waits.push_back(Waiting {
                    text: text.into(),
                    offset: self.sink.place.offset,
                    time: self.sink.place.time,
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
                    self.author = self.last_author.unwrap_or(self.author);
                    waiting.place(&mut self.sink.place);
                    return self.typed_meanwhile(&waiting.text);
                }
            }
            _ => self.waits.clear(),
        }
        Err(Reason::Bookkeeping)
    }

    fn typed_meanwhile(&mut self, text: &str) -> Result<(), Reason> {
        match user::classify(text) {
            // A background task is queued as JSON.
            UserText::Prompt(own) if !own.starts_with('{') && !user::is_client_command(&own) => {
                if self.queued.iter().any(|known| known == own.trim()) {
                    return Err(Reason::Repeated);
                }
                if self.queued.len() < MAX_QUEUED {
                    self.queued.push(own.trim().to_owned());
                }
                self.prompt(&own, &user::attached(text), Via::Queued);
                Ok(())
            }
            _ => Err(Reason::Bookkeeping),
        }
    }

    /// Reads what was typed, wherever it stands in the record: a tool's answer may stand
    /// beside it.
    pub(super) fn words(
        &mut self,
        blocks: Vec<Block<'_>>,
        record: &Record<'_>,
    ) -> Result<(), Reason> {
        let is_typed = record.author != Author::Other;
        let mut typed = String::new();
        let mut attached: Vec<String> = Vec::new();
        for block in blocks {
            let Block::Text(text) = block else {
                continue;
            };
            let text = self.mask.text(text);
            match user::classify(&text) {
                UserText::Interrupt if std::mem::take(&mut self.has_left_plan) => {}
                UserText::Interrupt => self.sink.push(EventKind::Interrupt),
                UserText::Notification(text) => self.notified(text),
                UserText::Command { name, arguments } if is_typed => {
                    self.branch_off(record);
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
            return Ok(());
        }
        // What waited until the agent was done may stand here once more.
        let queued = std::mem::take(&mut self.queued);
        if queued.iter().any(|known| known == typed.trim()) {
            return Err(Reason::Repeated);
        }
        self.branch_off(record);
        let waited = |waiting: &Waiting| waiting.text.trim() == typed;
        let at = self.dequeued.iter().position(waited);
        if let Some(waiting) = at.and_then(|at| self.dequeued.remove(at)) {
            waiting.place(&mut self.sink.place);
        }
        let of_record = record.plan.clone().map(|plan| self.mask.text(plan));
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
        Ok(())
    }

    /// Remembers a prompt that was typed behind a record; it replaces an earlier one there.
    fn branch_off(&mut self, record: &Record<'_>) {
        if let (Some(hash), Some(parent)) = (record.hash, record.parent) {
            self.replaced.extend(self.prompts.insert(parent, hash));
        }
    }

    /// Takes the user's answers to questions of the agent's. What was chosen among what the
    /// agent had offered is shown; only own words can be an instruction.
    pub(super) fn answers(&mut self, text: &str, offered: &str) {
        let answers = user::answers(text, offered);
        if answers.is_empty() {
            return;
        }
        let is_person = self.is_person();
        let own = answers
            .iter()
            .filter(|given| is_person && !given.is_among(offered))
            .map(|given| given.words.to_owned())
            .collect();
        let text = answers
            .iter()
            .map(|given| format!("{} {}", given.question, given.words));
        let text = text.collect::<Vec<_>>().join("\n");
        let message = Message {
            shown: text.clone(),
            words: own,
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
        let is_person = self.is_person();
        self.sink.push(EventKind::Prompt(Prompt {
            text,
            message,
            is_person,
            via,
        }));
    }
}

impl Waiting {
    /// Puts what was given to the agent where it was typed.
    fn place(&self, given: &mut EventPlace) {
        given.offset = self.offset;
        given.time = self.time;
    }
}
