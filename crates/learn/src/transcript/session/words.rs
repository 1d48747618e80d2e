//! What the user said: prompts, commands, answers, interrupts, and what was typed meanwhile.

use serde_json::value::RawValue;

use super::SessionReader;
use crate::hint::Effect;
use crate::transcript::event::{EventKind, EventPlace, Prompt, Via};
use crate::transcript::hash::of_text;
use crate::transcript::json::Raw;
use crate::transcript::record::Block;
use crate::transcript::stats::Reason;
use crate::transcript::user::UserText;
use crate::transcript::{Lane, UserWords, standing, tool_answer, user};

/// So many words in quotes may be a name; more are a sentence of somebody.
const QUOTED: usize = 3;
/// How many prompts typed while the agent works are known again.
const MAX_QUEUED: usize = 64;

impl SessionReader<'_> {
    /// Takes what the user typed while the agent worked, and the agent was given.
    pub(super) fn queued(
        &mut self,
        content: &RawValue,
        place: EventPlace<'_>,
    ) -> Result<(), Reason> {
        let text = self.mask.answer(Some(content), tool_answer::ERROR_ENDS);
        self.typed_meanwhile(&text, place)
    }

    /// Takes what is done to the client's queue. What is dequeued becomes a prompt of its own;
    /// what is removed was given to the agent, which older clients write nowhere else.
    pub(super) fn queue(
        &mut self,
        operation: &str,
        content: Raw<'_>,
        place: EventPlace<'_>,
    ) -> Result<(), Reason> {
        match operation {
            "enqueue" if self.waits.len() < MAX_QUEUED => {
                let text = self.mask.answer(content, tool_answer::ERROR_ENDS);
                self.waits.push_back(text.into());
            }
            "dequeue" => drop(self.waits.pop_front()),
            "remove" => {
                if let Some(text) = self.waits.pop_front() {
                    return self.typed_meanwhile(&text, place);
                }
            }
            _ => self.waits.clear(),
        }
        Err(Reason::Bookkeeping)
    }

    fn typed_meanwhile(&mut self, text: &str, place: EventPlace<'_>) -> Result<(), Reason> {
        match user::classify(text) {
            // A background task is queued as JSON.
            UserText::Prompt(text) if !text.starts_with('{') => {
                let mark = of_text(text.trim());
                if self.queued.contains(&mark) {
                    return Err(Reason::Repeated);
                }
                if self.queued.len() < MAX_QUEUED {
                    self.queued.push(mark);
                }
                let orders = || standing::instructions(&text);
                self.prompt(&text, Via::Queued, orders, place);
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
        is_typed: bool,
        place: EventPlace<'_>,
    ) -> Result<(), Reason> {
        let mut typed = String::new();
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
                UserText::Notification(text) => self.hand_back("", text, place),
                UserText::Command { name, arguments } if is_typed => {
                    let orders = || standing::instructions(arguments);
                    self.prompt(arguments, Via::Command(name), orders, place);
                }
                UserText::Prompt(text) if is_typed => {
                    if !typed.is_empty() {
                        typed.push('\n');
                    }
                    typed.push_str(text.trim());
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
            let orders = || standing::instructions(&typed);
            self.prompt(&typed, Via::Typed, orders, place);
        }
        Ok(())
    }

    /// Takes the user's answers to questions of the agent's. What was chosen among what the
    /// agent had offered is shown; only own words can be an instruction.
    pub(super) fn answers(&mut self, text: &str, offered: &str, place: EventPlace<'_>) {
        let answers = user::answers(text, offered);
        if answers.is_empty() {
            return;
        }
        let own = answers.iter().filter(|given| !given.is_among(offered));
        let words: Vec<&str> = answers.iter().map(|given| given.words).collect();
        let prompt = Prompt {
            text: &answers
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n"),
            own: words.join("\n"),
            via: Via::Answer,
            typed_command: None,
            instructions: own
                .flat_map(|given| standing::instructions(given.words))
                .collect(),
        };
        self.sink.push(place, EventKind::Prompt(prompt));
    }

    /// Takes a prompt with the standing instructions in it. A subagent's was written by the
    /// agent, and is no word of the user's.
    fn prompt(
        &mut self,
        text: &str,
        via: Via<'_>,
        orders: impl FnOnce() -> Vec<String>,
        place: EventPlace<'_>,
    ) {
        self.hints.end_turn(Effect::Helped);
        self.task.ask(text, via);
        let is_typed = |name: &&str| !name.contains(char::is_whitespace);
        let command = match via {
            Via::Command(name) => Some(name).filter(is_typed),
            _ => None,
        };
        let (own, instructions, typed_command) = match (self.lane, self.words) {
            (Lane::Session, UserWords::Weighed) => (own_words(text), orders(), command),
            (Lane::Subagent, _) | (_, UserWords::Heard) => Default::default(),
        };
        let prompt = Prompt {
            text,
            own,
            via,
            typed_command,
            instructions,
        };
        self.sink.push(place, EventKind::Prompt(prompt));
    }
}

/// What of a text the user wrote; nothing when that says nothing: `#41`, `--pr 41`.
fn own_words(text: &str) -> String {
    let own: Vec<String> = standing::own_lines(text)
        .into_iter()
        .map(unquoted)
        .collect();
    let own = own.join("\n");
    let is_word = |word: &str| word.starts_with(char::is_alphabetic);
    if own.split_whitespace().any(is_word) {
        own
    } else {
        String::new()
    }
}

/// A line without the sentences that it quotes; a word or two in quotes are the user's.
fn unquoted(line: &str) -> String {
    let line = line.replace(['“', '”', '„', '«', '»'], "\"");
    let parts: Vec<&str> = line.split('"').collect();
    let last = parts.len() - 1;
    let own = parts.into_iter().enumerate().map(|(at, part)| {
        let is_quoted = at % 2 == 1 && at < last;
        match part.split_whitespace().count() {
            count if is_quoted && count > QUOTED => String::new(),
            _ if is_quoted => format!("\"{part}\""),
            _ if at % 2 == 1 => format!("\"{part}"),
            _ => part.to_owned(),
        }
    });
    own.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::sentence(
        "It reads \"always run it first\", is that so?",
        "It reads , is that so?"
    )]
    #[case::name(
        "call it \"Entire Inc.\" everywhere",
        "call it \"Entire Inc.\" everywhere"
    )]
    #[case::one_mark("a 5\" disk", "a 5\" disk")]
    #[case::fence(
        "mend this\n```\nerror: x\n```\nand never push",
        "mend this\nand never push"
    )]
    #[case::no_words("#41", "")]
    fn what_is_quoted_is_not_the_users(#[case] text: &str, #[case] want: &str) {
        assert_eq!(own_words(text), want);
    }
}
