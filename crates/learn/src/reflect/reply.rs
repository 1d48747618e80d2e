//! Parses the object of a reply leniently (REQ-REFL-004, REQ-REFL-006).
//!
//! A value of the wrong type counts as absent, and an invalid item is dropped with its reason; the
//! rest of the answer is kept. Every text and list is limited in length.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::extract::{extract_json, without_fence};
use super::note::NoteId;
use crate::playbook::Skipped;
use crate::playbook::ops::is_too_deep;
use crate::playbook::votes::{BulletTag, read_bullet_tags};
use crate::redact::Masker;

/// The keys that identify a reflector's answer.
pub const REFLECTION_KEYS: &[&str] = &["analysis", "bullet_tags"];
pub(crate) const CURATION_KEYS: &[&str] = &["reasoning", "operations", "notebook", "settled"];
/// A partial reflector's answer has at least one of these keys.
const REFLECTION_PARTS: &[&str] = &[
    "analysis",
    "bullet_tags",
    "reflection",
    "strategy",
    "importance",
    "confidence",
    "tags",
    "issues",
    "quality_score",
    "notes",
    "lessons",
    "outdated",
];

/// The longest analysis, reflection, strategy or reasoning, in characters.
const MAX_TEXT: usize = 4_000;
const MAX_NOTE: usize = 500;
const MAX_TOPIC: usize = 50;
const TOPIC_WORDS: usize = 4;
const MAX_ITEMS: usize = 20;
const MAX_NOTES: usize = 12;
/// The most event numbers of one note.
const MAX_EVENTS: usize = 20;
/// The longest name of a key point, in characters.
const MAX_NAME: usize = 40;
/// The most notebook lines that one answer writes.
const MAX_LINES: usize = 100;
/// The most bullet tags of one answer: more than a full playbook has points.
const MAX_TAGS: usize = 2_000;
/// The most operations that are passed on; the gates limit how many are applied.
const MAX_OPERATIONS: usize = 100;

/// A rating from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Score(f64);

impl Score {
    pub(crate) fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// Returns the score nearest to a number; the lowest for NaN.
    pub(crate) fn clamped(value: f64) -> Self {
        let value = if value.is_nan() { 0.0 } else { value };
        Self(value.clamp(0.0, 1.0))
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Score {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        Self::new(value).ok_or_else(|| format!("{value} is not between 0 and 1"))
    }
}

/// The reflector's result; its default is the empty result of REQ-REFL-006.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    pub analysis: String,
    pub bullet_tags: Vec<BulletTag>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reflection: Option<String>,
    /// One rule for the next time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategy_events: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Score>,
    /// The degree to which the evidence supports the analysis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Score>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Problems that remain open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<Score>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<ReplyNote>,
    /// The key points that this session showed wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<ReplyOutdated>,
    /// The unusable fields, which are empty, each with its reason.
    #[serde(skip)]
    pub emptied: Vec<Skipped>,
}

/// A mistake and its correction, as the reflector words them (spec/4 `ReflectionLesson`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyNote {
    pub task_type: String,
    pub mistake: String,
    pub correction: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<u32>,
    /// Set if, according to the reflector, the user stated it as a rule.
    #[serde(default)]
    pub said: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyOutdated {
    pub name: String,
    pub why: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Curation {
    pub reasoning: String,
    /// The gates check the operations.
    pub operations: Vec<Value>,
    /// The lines of the notebook that are new or joined.
    pub notebook: Vec<NotebookLine>,
    pub settled: Vec<SettledNote>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotebookLine {
    pub text: String,
    pub notes: Vec<NoteId>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledNote {
    pub note: NoteId,
    /// The line of the instructions that contains it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The key point that contains it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<String>,
}

pub trait Reply: Default {
    /// Returns also the dropped parts, with reasons; `None` without a complete object with at least
    /// one of the expected keys.
    fn parse(reply: &str) -> Option<(Self, Vec<Skipped>)>;

    /// Returns the texts that would be learned from it.
    fn taught(&self) -> Vec<&str>;

    /// Returns `true` if it is complete enough; otherwise another attempt may give more.
    fn is_enough(&self, _skipped: &[Skipped]) -> bool {
        true
    }
}

impl Reply for Reflection {
    fn parse(reply: &str) -> Option<(Self, Vec<Skipped>)> {
        let object = match extract_json(reply, REFLECTION_KEYS) {
            Some(object) if REFLECTION_KEYS.iter().any(|key| object.contains_key(*key)) => object,
            other => tags_alone(reply).or(other)?,
        };
        let object = masked(answering(object, REFLECTION_PARTS)?);
        let said = object.get("bullet_tags").filter(|tags| !tags.is_null());
        let (mut bullet_tags, skipped) = read_bullet_tags(&Value::Array(tag_items(said)));
        bullet_tags.truncate(MAX_TAGS);
        for tag in &mut bullet_tags {
            tag.rationale = cut(&tag.rationale, MAX_NOTE);
        }
        let mut tags = texts(&object, "tags", MAX_TOPIC);
        tags.retain(|topic| is_topic(topic));
        let reflection = Self {
            analysis: text(&object, "analysis", MAX_TEXT).unwrap_or_default(),
            bullet_tags,
            reflection: text(&object, "reflection", MAX_TEXT),
            strategy: text(&object, "strategy", MAX_TEXT),
            strategy_events: first_numbers(&object, &["strategy_events", "strategy_grounds"]),
            importance: score(&object, "importance"),
            confidence: score(&object, "confidence"),
            tags,
            issues: texts(&object, "issues", MAX_NOTE),
            quality_score: score(&object, "quality_score"),
            notes: notes(&object),
            outdated: outdated(&object),
            emptied: emptied(&object),
        };
        Some((reflection, skipped))
    }

    fn taught(&self) -> Vec<&str> {
        let notes = self.notes.iter();
        let notes = notes.flat_map(|note| [note.mistake.as_str(), note.correction.as_str()]);
        let texts = [
            Some(&self.analysis),
            self.reflection.as_ref(),
            self.strategy.as_ref(),
        ];
        let texts = texts.into_iter().flatten().map(String::as_str);
        texts.chain(notes).collect()
    }

    /// Accepts an answer without tags, which may be meant, but not one whose tags are all invalid.
    fn is_enough(&self, skipped: &[Skipped]) -> bool {
        skipped.is_empty() || !self.bullet_tags.is_empty()
    }
}

impl Reply for Curation {
    fn parse(reply: &str) -> Option<(Self, Vec<Skipped>)> {
        let object = extract_json(reply, CURATION_KEYS)?;
        let mut object = masked(answering(object, CURATION_KEYS)?);
        let reasoning = text(&object, "reasoning", MAX_TEXT).unwrap_or_default();
        let (operations, mut skipped) = match object.remove("operations") {
            Some(Value::Array(operations)) => (operations, Vec::new()),
            None | Some(Value::Null) => (Vec::new(), Vec::new()),
            Some(_) => (Vec::new(), vec![Skipped::new("operations", "not a list")]),
        };
        let (deep, mut operations): (Vec<_>, Vec<_>) =
            operations.into_iter().partition(is_too_deep);
        let too_deep = |_| Skipped::new("operation", "nested too deep");
        skipped.extend(deep.iter().map(too_deep));
        operations.truncate(MAX_OPERATIONS);
        Some((
            Self {
                reasoning,
                operations,
                notebook: notebook(&object),
                settled: settled(&object),
            },
            skipped,
        ))
    }

    fn taught(&self) -> Vec<&str> {
        let operations = self.operations.iter();
        operations
            .flat_map(|operation| ["text", "merged_text"].map(|key| operation[key].as_str()))
            .flatten()
            .collect()
    }
}

impl Reflection {
    /// Cuts the analysis to a number of words, by white space.
    pub fn shorten(&mut self, words: usize) {
        if self.analysis.split_whitespace().nth(words).is_some() {
            let kept: Vec<_> = self.analysis.split_whitespace().take(words).collect();
            self.analysis = kept.join(" ");
        }
    }
}

/// Returns an object with at least one of the keys; `{"error": …}` is no answer.
fn answering(object: Map<String, Value>, keys: &[&str]) -> Option<Map<String, Value>> {
    let is_answer = keys.iter().any(|key| object.contains_key(*key));
    is_answer.then_some(object)
}

/// Parses a reply that consists only of tags, or one of them, as an object that holds them.
fn tags_alone(reply: &str) -> Option<Map<String, Value>> {
    let text = without_fence(reply);
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let object = extract_json(&format!("{{\"bullet_tags\": {text}}}"), &["bullet_tags"])?;
    let (tags, _) = read_bullet_tags(&Value::Array(tag_items(object.get("bullet_tags"))));
    (!tags.is_empty()).then_some(object)
}

/// Accepts a list, a single tag, tags by name, or one for several names.
fn tag_items(said: Option<&Value>) -> Vec<Value> {
    let items = match said {
        None => Vec::new(),
        Some(Value::Array(items)) => items.clone(),
        Some(Value::Object(tags)) if !tags.contains_key("name") => {
            let named = |(name, tag): (&String, &Value)| match tag {
                Value::Object(tag) => {
                    let mut tag = tag.clone();
                    tag.insert("name".to_owned(), name.as_str().into());
                    Value::Object(tag)
                }
                tag => json!({"name": name, "tag": tag}),
            };
            tags.iter().map(named).collect()
        }
        Some(other) => vec![other.clone()],
    };
    let each_name = |mut item: Value| match item.get_mut("name").map(Value::take) {
        Some(Value::Array(names)) => names
            .into_iter()
            .map(|name| {
                let mut item = item.clone();
                item["name"] = name;
                item
            })
            .collect(),
        Some(name) => {
            item["name"] = name;
            vec![item]
        }
        None => vec![item],
    };
    let mut items: Vec<Value> = items.into_iter().flat_map(each_name).collect();
    for item in &mut items {
        if let Some(Value::String(tag)) = item.get_mut("tag") {
            *tag = tag.trim().to_lowercase();
        }
    }
    items
}

/// Masks secrets in all texts of a reply: escapes that hid them are decoded only now.
pub(crate) fn masked(object: Map<String, Value>) -> Map<String, Value> {
    let mut value = Value::Object(object);
    Masker::default().mask_value(&mut value);
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Returns a text of at most `max` characters; `None` if it is missing or empty.
pub(crate) fn text(object: &Map<String, Value>, key: &str, max: usize) -> Option<String> {
    short(object.get(key)?, max)
}

fn short(item: &Value, max: usize) -> Option<String> {
    let text = cut(item.as_str()?.trim(), max);
    (!text.is_empty()).then_some(text)
}

fn items<'v>(object: &'v Map<String, Value>, key: &str) -> impl Iterator<Item = &'v Value> {
    object
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn list<T>(
    object: &Map<String, Value>,
    key: &str,
    most: usize,
    read: impl Fn(&Map<String, Value>) -> Option<T>,
) -> Vec<T> {
    let read = items(object, key).filter_map(|item| read(item.as_object()?));
    read.take(most).collect()
}

pub(crate) fn texts(object: &Map<String, Value>, key: &str, max: usize) -> Vec<String> {
    let texts = items(object, key).filter_map(|item| short(item, max));
    texts.take(MAX_ITEMS).collect()
}

/// Returns `true` for a topic of a few words, as opposed to a sentence.
fn is_topic(text: &str) -> bool {
    text.split_whitespace().count() <= TOPIC_WORDS
}

/// Returns the fields that are present but unusable: ratings, and task types of notes.
fn emptied(object: &Map<String, Value>) -> Vec<Skipped> {
    let is_there = |key: &&str| object.get(*key).is_some_and(|value| !value.is_null());
    let ratings = ["importance", "confidence", "quality_score"].into_iter();
    let ratings = ratings.filter(|key| is_there(key) && score(object, key).is_none());
    let ratings = ratings.map(|key| Skipped::new(key, "not a number from 0 to 1"));
    let types = items(object, note_key(object)).filter_map(|note| note["task_type"].as_str());
    let types = types
        .filter(|task_type| !is_topic(task_type))
        .map(|task_type| {
            let what = format!("task_type \"{}\"", cut(task_type, MAX_TOPIC));
            Skipped::new(&what, "more than four words")
        });
    ratings.chain(types).collect()
}

/// Returns the key of the notes; a user's template may use spec/4's word.
fn note_key(object: &Map<String, Value>) -> &'static str {
    let has_notes = object.contains_key("notes");
    if has_notes { "notes" } else { "lessons" }
}

/// Reads the notes that have at least a correction.
fn notes(object: &Map<String, Value>) -> Vec<ReplyNote> {
    list(object, note_key(object), MAX_NOTES, |item| {
        Some(ReplyNote {
            task_type: text(item, "task_type", MAX_TOPIC)
                .filter(|topic| is_topic(topic))
                .unwrap_or_default(),
            mistake: text(item, "mistake", MAX_NOTE).unwrap_or_default(),
            correction: text(item, "correction", MAX_NOTE)?,
            events: first_numbers(item, &["events", "grounds"]),
            said: item.get("said").and_then(Value::as_bool) == Some(true),
            quote: text(item, "quote", MAX_NOTE),
        })
    })
}

fn outdated(object: &Map<String, Value>) -> Vec<ReplyOutdated> {
    list(object, "outdated", MAX_ITEMS, |item| {
        let name = text(item, "name", MAX_NAME)?;
        Some(ReplyOutdated {
            name: name.trim_matches(['[', ']']).to_owned(),
            why: text(item, "why", MAX_NOTE)?,
            events: first_numbers(item, &["events", "grounds"]),
        })
    })
}

fn notebook(object: &Map<String, Value>) -> Vec<NotebookLine> {
    list(object, "notebook", MAX_LINES, |item| {
        let notes: Vec<NoteId> = items(item, "notes").filter_map(note_id).collect();
        (!notes.is_empty()).then(|| NotebookLine {
            text: text(item, "text", MAX_NOTE).unwrap_or_default(),
            notes,
        })
    })
}

/// Reads the settled notes: each a number, or an object with the number and a line.
fn settled(object: &Map<String, Value>) -> Vec<SettledNote> {
    let one = |item: &Value| {
        let own = item.as_object();
        let note = own.map_or(Some(item), |own| own.get("note"))?;
        Some(SettledNote {
            note: note_id(note)?,
            line: own.and_then(|own| text(own, "line", MAX_NOTE)),
            point: own.and_then(|own| text(own, "point", MAX_NOTE)),
        })
    };
    let all = items(object, "settled").filter_map(one);
    all.take(MAX_LINES).collect()
}

fn note_id(item: &Value) -> Option<NoteId> {
    NoteId::read(item.as_str()?)
}

/// Reads the event numbers at the first of these keys: `3`, `"3"` or `"#3"`.
fn first_numbers(object: &Map<String, Value>, keys: &[&str]) -> Vec<u32> {
    let found = keys.iter().find_map(|key| object.get(*key));
    let number = |item: &Value| match item {
        Value::Number(number) => number.as_u64().and_then(|n| u32::try_from(n).ok()),
        Value::String(text) => text.trim().trim_start_matches('#').parse().ok(),
        _ => None,
    };
    let items = match found {
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    items.iter().filter_map(number).take(MAX_EVENTS).collect()
}

pub(crate) fn score(object: &Map<String, Value>, key: &str) -> Option<Score> {
    Score::new(object.get(key)?.as_f64()?)
}

fn cut(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::playbook::votes::Tag;

    fn read(reply: &str) -> Reflection {
        Reflection::parse(reply).unwrap().0
    }

    /// SCN-REFL-005-02, REQ-REFL-006, REQ-REFL-008: a reply without an answer gives no result; the
    /// empty result has its shape.
    #[test]
    fn what_is_no_answer_gives_nothing() {
        for reply in [
            "It went well.",
            r#"{"analysis": "x", "bullet_tags": ["#,
            "",
            r#"{"error": "overloaded"}"#,
            r#"{"message": "no"}"#,
            "{}",
        ] {
            assert_eq!(Reflection::parse(reply), None);
            assert_eq!(Curation::parse(reply), None);
        }
        assert_eq!(
            serde_json::to_value(Reflection::default()).unwrap(),
            json!({"analysis": "", "bullet_tags": []})
        );
    }

    /// REQ-REFL-008, last point, and REQ-REFL-004: wrong types drop the item.
    #[rstest]
    #[case::nulls(r#"{"analysis": null, "bullet_tags": null, "tags": null, "importance": null}"#)]
    #[case::numbers(
        r#"{"analysis": 5, "bullet_tags": 5, "reflection": 5, "tags": 5, "issues": 5}"#
    )]
    #[case::texts(
        r#"{"bullet_tags": "pat-001", "tags": "a", "importance": "0.5", "confidence": "high"}"#
    )]
    #[case::out_of_range(
        r#"{"bullet_tags": [], "importance": 1.1, "confidence": -0.1, "quality_score": 80}"#
    )]
    #[case::wrong_items(r#"{"bullet_tags": [null, "pat-001", [], {"tag": "helpful"}, {"name": 1, "tag": "helpful"}, {"name": "pat-001"}, {"name": "pat-001", "tag": "great"}], "tags": [1, null, " "], "issues": [{}]}"#)]
    #[case::blank(r#"{"analysis": "  ", "reflection": "", "strategy": "\n"}"#)]
    fn what_has_a_wrong_type_is_absent(#[case] reply: &str) {
        let emptied = Vec::new();
        let read = Reflection {
            emptied,
            ..read(reply)
        };
        assert_eq!(read, Reflection::default());
    }

    #[test]
    fn right_items_stay_beside_wrong_ones() {
        let (reflection, skipped) = Reflection::parse(
            r#"{"analysis": 5, "bullet_tags": [{"tag": "helpful"}, {"name": "pat-001", "tag": "harmful", "rationale": 7}],
                "tags": [" git ", 3], "importance": 1, "confidence": 0, "quality_score": 0.25}"#,
        )
        .unwrap();
        let tags = reflection.bullet_tags.iter();
        let tags: Vec<_> = tags.map(|t| (&*t.name, t.tag, &*t.rationale)).collect();
        assert_eq!(tags, [("pat-001", Tag::Harmful, "")]);
        assert!(skipped.len() == 1 && reflection.is_enough(&skipped));
        assert_eq!(reflection.tags, ["git"]);
        assert_eq!(reflection.importance, Score::new(1.0));
        assert_eq!(reflection.confidence, Score::new(0.0));
        assert_eq!(reflection.quality_score.map(Score::get), Some(0.25));
    }

    #[rstest]
    #[case::alone(r#"{"bullet_tags": {"name": "pat-001", "tag": "helpful"}}"#)]
    #[case::by_name(r#"{"analysis": "", "bullet_tags": {"pat-001": "helpful"}}"#)]
    #[case::named_objects(r#"{"bullet_tags": {"pat-001": {"tag": "helpful"}}}"#)]
    #[case::a_bare_tag(r#"{"name": "pat-001", "tag": "helpful"}"#)]
    fn tags_are_read_in_whatever_form_they_come(#[case] reply: &str) {
        let tag = json!([{"name": "pat-001", "tag": "helpful", "rationale": ""}]);
        let (reflection, skipped) = Reflection::parse(reply).unwrap();
        assert_eq!(json!(reflection.bullet_tags), tag);
        assert_eq!(skipped, []);
    }

    #[test]
    fn an_analysis_keeps_to_its_words() {
        let mut reflection = read(r#"{"analysis": "one  two\nthree"}"#);
        reflection.shorten(3);
        assert_eq!(reflection.analysis, "one  two\nthree");
        reflection.shorten(2);
        assert_eq!(reflection.analysis, "one two");
    }

    #[test]
    fn long_texts_and_lists_are_cut() {
        let reply = json!({
            "analysis": "é".repeat(MAX_TEXT + 1),
            "bullet_tags": vec![json!({"name": "pat-001", "tag": "neutral", "rationale": "x".repeat(MAX_NOTE + 1)}); MAX_TAGS + 1],
            "tags": vec!["t".repeat(MAX_TOPIC + 1); MAX_ITEMS + 1],
        });
        let reflection = read(&reply.to_string());
        assert_eq!(reflection.analysis.chars().count(), MAX_TEXT);
        assert_eq!(reflection.bullet_tags.len(), MAX_TAGS);
        assert_eq!(reflection.bullet_tags[0].rationale.len(), MAX_NOTE);
        assert_eq!(
            (reflection.tags.len(), reflection.tags[0].len()),
            (MAX_ITEMS, MAX_TOPIC)
        );
    }

    #[rstest]
    #[case::list(r#"{"reasoning": "r", "operations": [{"type": "ADD"}, null]}"#, ("r", 2, 0))]
    #[case::none(r#"{"reasoning": "nothing new"}"#, ("nothing new", 0, 0))]
    #[case::null(r#"{"reasoning": 3, "operations": null}"#, ("", 0, 0))]
    #[case::an_object(r#"{"reasoning": "r", "operations": {"type": "ADD"}}"#, ("r", 0, 1))]
    fn operations_are_handed_on_as_written(
        #[case] reply: &str,
        #[case] read: (&str, usize, usize),
    ) {
        let (curation, skipped) = Curation::parse(reply).unwrap();
        let counts = (curation.operations.len(), skipped.len());
        assert_eq!((&*curation.reasoning, counts.0, counts.1), read);
    }
}
