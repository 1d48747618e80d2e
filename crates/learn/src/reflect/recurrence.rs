//! When what a session teaches becomes a key point at once, and when it waits as a lesson.
//!
//! A new key point stands in the playbook from now on when
//!
//! 1. the user said that it holds: the curator names the event, which is the user's own words,
//! 2. another session taught it before: the curator names the known lessons that it repeats,
//!    the reflector's lesson on the same events does, or a known lesson says the same,
//! 3. a check failed for it and passed later, and the session's importance is
//!    `WEIGHTY` or more.
//!
//! All else happened once. It stays a lesson, which recall and hints find, until it recurs.

use std::collections::BTreeSet;

use serde_json::Value;

use super::grounds::{Grounds, numbers};
use super::known::KnownLesson;
use super::reply::{ReplyLesson, Score};
use super::said::EventWords;
use super::sentences::parts;
use crate::hint::hashes as words;
use crate::playbook::dedup::{Threshold, Wording};
use crate::playbook::ops::written_text;

/// What a failed check teaches by itself is at least so important.
pub(crate) const WEIGHTY: f64 = 0.8;

/// What is known of a session when its key points are judged.
#[derive(Debug, Clone, Copy)]
pub struct Recurrence<'a> {
    pub grounds: &'a Grounds<'a>,
    /// The lessons of earlier sessions that the models were shown, as `L1`, `L2`, ….
    pub lessons: &'a [KnownLesson],
    /// What the reflector says that the session teaches.
    pub taught: &'a [ReplyLesson],
    /// How much the reflector says that it weighs.
    pub importance: Option<Score>,
}

impl Recurrence<'_> {
    /// Tells whether a new key point may stand in the playbook at once. `found` are lessons that
    /// may say the same, besides those that the models were shown.
    pub fn is_seen(&self, operation: &Value, found: &[KnownLesson]) -> bool {
        let text = written_text(operation);
        let named = |key: &str| numbers(operation.get(key));
        let is_weighty = self.importance.is_some_and(|said| said.get() >= WEIGHTY);
        self.grounds.is_said(text, &named("said"))
            || is_weighty && self.grounds.has_passed_later(text, &named("grounds"))
            || self.names_one(operation, text)
            || says_one(self.lessons, found, text)
    }

    /// Tells whether known lessons of other sessions are named for it that say much of it, and
    /// something of each sentence that has no ground of its own.
    fn names_one(&self, operation: &Value, text: &str) -> bool {
        let about = words(text);
        let is_about = |text: &str| {
            let said = EventWords::of(text);
            said.has_share(&about, &BTreeSet::new())
        };
        let grounds = numbers(operation.get("grounds"));
        let by_curator = names(operation.get("repeats"));
        let taught = self.taught.iter().filter(|lesson| {
            let shares_event = lesson.grounds.iter().any(|event| grounds.contains(event));
            shares_event && !words(&lesson.correction).is_disjoint(&about)
        });
        let by_reflector = taught.flat_map(|lesson| lesson.repeats.iter().map(String::as_str));
        let named = by_curator.chain(by_reflector);
        let named = named.filter_map(|name| numbered(self.lessons, name));
        let named = named.filter(|lesson| lesson.sessions > 0 && is_about(&lesson.text));
        let said: BTreeSet<u64> = named.flat_map(|lesson| words(&lesson.text)).collect();
        let is_said = |part: &&str| {
            !words(part).is_disjoint(&said) || self.grounds.is_grounded(part, &grounds)
        };
        !said.is_empty() && parts(text).iter().all(is_said)
    }
}

/// Tells whether a lesson of another session says what a text says.
fn says_one(lessons: &[KnownLesson], found: &[KnownLesson], text: &str) -> bool {
    let wording = Wording::of(text);
    let mut others = lessons.iter().chain(found).filter(|l| l.sessions > 0);
    others.any(|lesson| wording.says_as(&lesson.wording(), Threshold::default()))
}

/// Tells whether a template asks what the user said and what recurs: one that does not gets each
/// new key point that has a ground.
pub fn asks_for_recurrence(template: &str) -> bool {
    template.contains("\"said\"")
}

/// The lessons that an operation names in `"repeats"`, each once.
pub(crate) fn named_lessons<'l>(
    operation: &Value,
    lessons: &'l [KnownLesson],
) -> Vec<&'l KnownLesson> {
    let named = names(operation.get("repeats"));
    let mut found: Vec<_> = named.filter_map(|name| numbered(lessons, name)).collect();
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found.dedup_by(|a, b| a.id == b.id);
    found
}

/// The lesson that a reply names: `L2`.
pub fn numbered<'l>(lessons: &'l [KnownLesson], name: &str) -> Option<&'l KnownLesson> {
    let number: usize = name.trim().trim_start_matches(['L', 'l']).parse().ok()?;
    lessons.get(number.checked_sub(1)?)
}

fn names(said: Option<&Value>) -> impl Iterator<Item = &str> {
    let (one, many) = match said {
        Some(Value::Array(items)) => (None, items.as_slice()),
        said => (said, &[][..]),
    };
    one.into_iter().chain(many).filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::transcript::{Bearing, Evidence, ShownEvent};

    const TEXT: &str = "Run `make proto` before `cargo build`.";

    fn lesson(text: &str, sessions: u64) -> KnownLesson {
        KnownLesson {
            id: "les-000000000001".to_owned(),
            text: text.to_owned(),
            sessions,
        }
    }

    /// The user's words, a check that passed later, an error, and a refusal.
    fn evidence() -> Evidence {
        let event = |number: u32, kind: &str, bearing: Bearing, own: &str| ShownEvent {
            kind: kind.to_owned(),
            number,
            bearing,
            own: vec![own.to_owned()],
            ..ShownEvent::default()
        };
        Evidence {
            shown: vec![
                event(
                    1,
                    "prompt",
                    Bearing::Words,
                    "please make the proto files first",
                ),
                event(2, "check", Bearing::PassedLater, "cargo build"),
                event(3, "error_event", Bearing::Outcome, "cargo build"),
                event(4, "rejection", Bearing::Outcome, "no, run make proto"),
                event(
                    5,
                    "prompt",
                    Bearing::Words,
                    "please write the letters in green",
                ),
            ],
            ..Evidence::default()
        }
    }

    #[rstest]
    #[case::the_user_said_it(0.1, json!({"said": [1]}), true)]
    #[case::the_user_refused_something_else(0.1, json!({"said": [4]}), true)]
    #[case::the_user_said_something_else(0.1, json!({"said": [5]}), false)]
    #[case::nobody_said_it(0.9, json!({"said": [3]}), false)]
    #[case::it_was_only_asked_for(0.9, json!({"grounds": [1]}), false)]
    #[case::a_check_of_weight(0.8, json!({"grounds": [2]}), true)]
    #[case::a_check_of_little_weight(0.7, json!({"grounds": [2]}), false)]
    #[case::another_outcome(0.9, json!({"grounds": [3]}), false)]
    #[case::it_names_a_lesson(0.1, json!({"repeats": ["L2"]}), true)]
    #[case::it_names_one_alone(0.1, json!({"repeats": "l2"}), true)]
    #[case::it_names_one_of_this_session(0.1, json!({"repeats": "L1"}), false)]
    #[case::it_names_one_of_something_else(0.1, json!({"repeats": "L3"}), false)]
    #[case::it_names_none_that_there_is(0.1, json!({"repeats": "L9"}), false)]
    #[case::the_reflector_does(0.1, json!({"grounds": [4, 7]}), true)]
    #[case::the_reflector_does_elsewhere(0.1, json!({"grounds": [8]}), false)]
    fn what_recurs_or_was_said_stands_at_once(
        #[case] importance: f64,
        #[case] more: Value,
        #[case] expected: bool,
    ) {
        let known = [
            lesson("proto was stale → make it anew", 0),
            lesson("The build read old proto files → Generate them first", 1),
            lesson("The date was wrong → Use UTC", 3),
        ];
        let taught = [ReplyLesson {
            task_type: "building".to_owned(),
            mistake: "Built with old files.".to_owned(),
            correction: "Make the proto files first.".to_owned(),
            grounds: vec![7],
            repeats: vec!["L2".to_owned()],
        }];
        let evidence = evidence();
        let recurrence = Recurrence {
            grounds: &Grounds::of(&evidence).unwrap(),
            lessons: &known,
            taught: &taught,
            importance: Score::new(importance),
        };
        let mut operation = json!({"type": "ADD", "text": TEXT});
        for (key, value) in more.as_object().unwrap() {
            operation[key] = value.clone();
        }
        assert_eq!(recurrence.is_seen(&operation, &[]), expected);
    }

    #[rstest]
    #[case::of_another_session(1, true)]
    #[case::of_this_one(0, false)]
    fn what_a_lesson_says_already_recurs(#[case] sessions: u64, #[case] expected: bool) {
        let evidence = evidence();
        let recurrence = Recurrence {
            grounds: &Grounds::of(&evidence).unwrap(),
            lessons: &[],
            taught: &[],
            importance: None,
        };
        let found = [lesson("Run `make proto` before `cargo build`", sessions)];
        let operation = json!({"type": "ADD", "text": TEXT, "grounds": [3]});
        assert_eq!(recurrence.is_seen(&operation, &found), expected);
    }
}
