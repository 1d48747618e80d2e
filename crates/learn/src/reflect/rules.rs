//! Judges a session without a model: no network, deterministic.
//!
//! The rules learn only the user's explicit statements in English: no votes, no fixes, no facts.
//! Each statement becomes a key point in USER PREFERENCES, verbatim.

use serde_json::{Value, json};

use super::gates::said_mark;
use super::reply::Reflection;
use crate::playbook::clean::clean_text;
use crate::playbook::ops::MAX_OPERATIONS;
use crate::playbook::{Playbook, Section};
use crate::transcript::Facts;

/// The limit in characters.
const MAX_QUOTE: usize = 160;

/// Returns a summary within these limits. It has no tags, since a citation is no vote.
pub fn reflect(facts: &Facts, words: usize, quotes: usize) -> String {
    let reflection = Reflection {
        analysis: summary(facts, words, quotes),
        tags: facts
            .category
            .map(|category| category.word().to_owned())
            .into_iter()
            .collect(),
        ..Reflection::default()
    };
    json!(reflection).to_string()
}

/// Returns the operations that add the user's statements which no key point contains verbatim.
pub fn operations(facts: &Facts, playbook: &Playbook) -> Vec<Value> {
    let mut known: Vec<String> = playbook
        .points()
        .map(|point| clean_text(point.text))
        .collect();
    let stated = facts.stated.iter().filter_map(|sentence| {
        let text = clean_text(sentence);
        if text.is_empty() || known.contains(&text) {
            return None;
        }
        known.push(text.clone());
        let reason = format!("You stated it. {}", said_mark(&text));
        let section = Section::Preferences.title();
        Some(json!({"type": "ADD", "text": text, "section": section, "reason": reason}))
    });
    stated.take(MAX_OPERATIONS).collect()
}

/// Returns the text in quotation marks, on one line and cut.
fn quote(text: &str) -> Option<String> {
    let text = clean_text(text);
    let mut end = text.char_indices().map(|(at, _)| at).skip(MAX_QUOTE);
    let text = match end.next() {
        Some(at) => format!("{}…", text[..at].trim_end()),
        None => text,
    };
    (!text.is_empty()).then(|| format!("\"{text}\""))
}

fn summary(facts: &Facts, most_words: usize, most_quotes: usize) -> String {
    let category = facts
        .category
        .map(|c| format!(" ({})", c.word()))
        .unwrap_or_default();
    let mut parts = vec![format!("Outcome: {}{category}.", facts.outcome.word())];
    let counts = counted(&[
        (facts.user_turns + facts.commands, "request"),
        (facts.tool_calls, "tool call"),
        (facts.tool_errors, "tool error"),
        (facts.rejections, "refused call"),
        (facts.interrupts, "interrupt"),
    ]);
    if !counts.is_empty() {
        parts.push(format!("Seen: {}.", counts.join(", ")));
    }
    let request = facts.first_request.as_deref().and_then(quote);
    parts.extend(request.map(|request| format!("Asked for: {request}.")));
    let stated = facts.stated.iter().filter_map(|text| quote(text));
    let stated = stated.map(|quote| format!("The user stated: {quote}."));
    parts.extend(stated.take(most_quotes));
    let words = parts.iter().flat_map(|part| part.split_whitespace());
    words.take(most_words).collect::<Vec<_>>().join(" ")
}

/// Formats the nonzero counts: "2 interrupts".
pub(super) fn counted(signs: &[(u64, &str)]) -> Vec<String> {
    let shown = signs.iter().filter(|(count, _)| *count > 0);
    shown
        .map(|(count, what)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflect::reply::Reply as _;

    fn stated(sentences: &[&str]) -> Facts {
        Facts {
            stated: sentences.iter().map(|text| (*text).to_owned()).collect(),
            ..Facts::default()
        }
    }

    #[test]
    fn each_statement_is_added_once_as_it_was_typed() {
        let point =
            json!({"sections": {"OTHERS": [{"name": "oth-001", "text": "Never push to main."}]}});
        let playbook = Playbook::parse(point.to_string().as_bytes()).unwrap();
        let facts = stated(&[
            "Never push to main.",
            "Always use pnpm!",
            "Always use pnpm!",
        ]);
        assert_eq!(
            operations(&facts, &playbook),
            [
                json!({"type": "ADD", "text": "Always use pnpm!", "section": "USER PREFERENCES",
                "reason": "You stated it. [said: \"Always use pnpm!\"]"})
            ]
        );
    }

    /// SCN-REFL-003-02, SCN-REFL-003-03: no tags, an analysis within its limits.
    #[test]
    fn an_answer_has_an_analysis_and_no_tags() {
        let mut facts = stated(&["always use pnpm", "never use npm"]);
        facts.user_turns = 2;
        let (reflection, _) = Reflection::parse(&reflect(&facts, 12, 1)).unwrap();
        assert!(reflection.bullet_tags.is_empty());
        assert_eq!(
            reflection.analysis,
            "Outcome: success. Seen: 2 requests. The user stated: \"always use pnpm\"."
        );
    }
}
