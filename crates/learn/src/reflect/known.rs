//! What a session need not teach again: the project's own instructions, and the lessons of
//! earlier sessions.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use super::learned::ARROW;
use crate::clip::head;
use crate::hint::hashes;
use crate::playbook::dedup::Wording;
use crate::playbook::{Id, Playbook, Skipped};
use crate::transcript::estimate_tokens;

/// What the instructions may take of a prompt, in tokens.
const INSTRUCTIONS: u64 = 1_500;
/// A section that shares fewer words with a session does not touch it.
const TOUCHES: usize = 2;
/// Shorter words tell little of what a text is about.
const SHORTEST_WORD: usize = 4;
/// Two texts of which the shorter shares so many percent of its words are not both shown.
const ALIKE: usize = 70;
/// How much of one known lesson is shown, in bytes.
const MAX_LESSON: usize = 400;

/// What is known beside the playbook when a session is judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownLessons {
    /// What the project's own instructions say of what the session touched.
    pub instructions: String,
    pub lessons: Vec<KnownLesson>,
    /// The key points that the session was given or cited, as they stand now.
    pub given: Vec<Id>,
    /// What the reflector proposed of this session and has no ground, with the reason: a curator
    /// may propose it with one.
    pub not_accepted: Vec<Skipped>,
}

/// A lesson of earlier sessions. A prompt names it by its place: `L1`, `L2`, ….
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownLesson {
    pub id: String,
    pub text: String,
    /// In how many sessions it was taught, besides the one that is judged.
    pub sessions: u64,
}

/// A file of the project that tells an assistant how to work there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionFile {
    pub name: String,
    pub text: String,
}

/// Leaves out what a key point or a better lesson says already, and what is beyond `max`.
pub fn unsaid(lessons: Vec<KnownLesson>, playbook: &Playbook, max: usize) -> Vec<KnownLesson> {
    let mut said: Vec<BTreeSet<u64>> = playbook.points().map(|p| hashes(p.text)).collect();
    let mut kept = lessons;
    kept.retain(|lesson| {
        let words = hashes(lesson.advice());
        let is_new = !said.iter().any(|one| is_alike(one, &words));
        said.push(words);
        is_new
    });
    kept.truncate(max);
    kept
}

/// Tells whether most words of the shorter text stand in the other.
fn is_alike(one: &BTreeSet<u64>, other: &BTreeSet<u64>) -> bool {
    let shorter = one.len().min(other.len());
    one.intersection(other).count() * 100 >= shorter.max(1) * ALIKE
}

impl KnownLesson {
    /// The wording of its advice, without the mistake.
    pub(crate) fn wording(&self) -> Wording {
        Wording::of(self.advice())
    }

    fn advice(&self) -> &str {
        self.text.split(ARROW).last().unwrap_or_default()
    }
}

/// Writes known lessons as a prompt shows them, a line each.
pub(crate) fn listed(lessons: &[KnownLesson]) -> String {
    let lines = (1..).zip(lessons);
    let lines = lines.map(|(number, lesson)| shown(number, lesson));
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes a known lesson on one line, under the number by which an answer names it.
pub(crate) fn shown(number: usize, lesson: &KnownLesson) -> String {
    let KnownLesson { text, sessions, .. } = lesson;
    let text = in_whole_words(text, MAX_LESSON).replace('\n', " ");
    let taught = match sessions {
        0 => "this session".to_owned(),
        1 => "1 session".to_owned(),
        many => format!("{many} sessions"),
    };
    format!("L{number} ({taught}): {text}")
}

/// The beginning of a text, cut between two words: half a path names another file.
fn in_whole_words(text: &str, most: usize) -> Cow<'_, str> {
    let cut = head(text, most);
    if cut.len() == text.len() {
        return cut.into();
    }
    let whole = cut.rsplit_once(char::is_whitespace);
    format!("{} …", whole.map_or(cut, |(words, _)| words)).into()
}

/// Chooses the sections that touch a session: those that share most words with its evidence
/// for their length, within a fixed budget, in the order of the files.
pub fn chosen(files: &[InstructionFile], evidence: &str) -> String {
    let touched = words(evidence);
    let sections = files.iter().flat_map(|file| {
        let named = |text: &str| format!("From {}:\n{text}", file.name);
        sections(&file.text)
            .into_iter()
            .map(move |text| named(&text))
    });
    let sections: Vec<String> = sections.collect();
    let shares = sections.iter().enumerate().filter_map(|(at, section)| {
        let words = words(section);
        let shared = words.intersection(&touched).count();
        (shared >= TOUCHES).then_some((at, shared * shared, words.len()))
    });
    let mut shares: Vec<(usize, usize, usize)> = shares.collect();
    shares.sort_by(|a, b| (b.1 * a.2).cmp(&(a.1 * b.2)).then(a.0.cmp(&b.0)));
    let mut left = INSTRUCTIONS;
    let mut taken: Vec<usize> = Vec::new();
    for (at, ..) in shares {
        let cost = estimate_tokens(&sections[at]) + 1;
        if cost <= left {
            left -= cost;
            taken.push(at);
        }
    }
    taken.sort_unstable();
    let taken = taken.into_iter().map(|at| sections[at].as_str());
    taken.collect::<Vec<_>>().join("\n")
}

/// Parts a text at its headings, and what is long between them at its empty lines.
fn sections(text: &str) -> Vec<String> {
    let mut sections: Vec<String> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let is_long = |section: &String| estimate_tokens(section) > INSTRUCTIONS / 4;
        let is_new = match sections.last() {
            None => true,
            Some(last) => !is_code && (line.starts_with('#') || (line.is_empty() && is_long(last))),
        };
        if is_new {
            sections.push(String::new());
        }
        if let Some(last) = sections.last_mut().filter(|_| !line.trim().is_empty()) {
            last.push_str(line.trim_end());
            last.push('\n');
        }
    }
    sections.retain(|section| section.lines().any(|line| !line.starts_with('#')));
    sections
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    let long = words.filter(|word| word.len() >= SHORTEST_WORD);
    long.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_lesson_is_cut_between_words_so_that_no_path_is_halved() {
        let lesson = KnownLesson {
            id: "les-0123456789ab".to_owned(),
            text: format!(
                "{} see\ncrates/learn/src/reflect/known.rs",
                "word ".repeat(78)
            ),
            sessions: 2,
        };
        let told = shown(1, &lesson);
        assert!(told.starts_with("L1 (2 sessions): word "), "{told}");
        assert!(told.ends_with("word  see …"), "{told}");
        let whole = KnownLesson {
            text: "index first".to_owned(),
            ..lesson
        };
        assert_eq!(shown(2, &whole), "L2 (2 sessions): index first");
    }

    #[test]
    fn the_sections_that_a_session_touched_are_chosen_within_the_budget() {
        let long = "Unrelated words about deployment pipelines and calendars.\n".repeat(200);
        let file = |name: &str, text: &str| InstructionFile {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        let files = [
            file(
                "CLAUDE.md",
                &format!(
                    "# About\nIn one word: tidy.\n\n# Parser\nThe parser keeps its depth limit of 64.\n```sh\n# no heading\ncargo test parser\n```\n\n# Deploy\n{long}"
                ),
            ),
            file(
                "AGENTS.md",
                "Never touch generated/ files of the parser by hand.",
            ),
        ];
        let found = chosen(
            &files,
            "USER: the parser loses its depth; generated files differ",
        );
        assert_eq!(
            found,
            "From CLAUDE.md:\n# Parser\nThe parser keeps its depth limit of 64.\n```sh\n# no heading\ncargo test parser\n```\n\nFrom AGENTS.md:\nNever touch generated/ files of the parser by hand.\n"
        );
        let all = chosen(&files, &format!("{long} parser depth generated files"));
        assert!(estimate_tokens(&all) <= INSTRUCTIONS);
    }

    #[test]
    fn what_a_key_point_or_a_better_lesson_says_is_left_out() {
        let playbook = Playbook::parse(
            br#"{"sections": {"OTHERS": [{"name": "oth-001", "text": "Run `make proto` before `cargo build`."}]}}"#,
        );
        let lesson = |id: &str, text: &str| KnownLesson {
            id: id.to_owned(),
            text: text.to_owned(),
            sessions: 1,
        };
        let lessons = vec![
            lesson(
                "1",
                "The build failed. → Run `make proto` first, before each `cargo build`.",
            ),
            lesson(
                "2",
                "A port was taken. → Stop the dev server before the tests.",
            ),
            lesson("3", "It hung. → Stop the dev server before the tests."),
            lesson("4", "The date was wrong. → Dates in fixtures are UTC."),
            lesson("5", "One more. → Screens are drawn at 80 columns."),
        ];
        let kept = unsaid(lessons, &playbook.unwrap(), 2);
        let ids: Vec<&str> = kept.iter().map(|lesson| lesson.id.as_str()).collect();
        assert_eq!(ids, ["2", "4"]);
    }

    #[test]
    fn known_lessons_are_named_by_their_place() {
        let lesson = |text: &str, sessions| KnownLesson {
            id: "les-1".to_owned(),
            text: text.to_owned(),
            sessions,
        };
        let listed = listed(&[lesson("a → b", 1), lesson("c\n→ d", 3)]);
        assert_eq!(listed, "L1 (1 session): a → b\nL2 (3 sessions): c → d");
    }
}
