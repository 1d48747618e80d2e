//! Reads the object of a reply with tolerance (REQ-REFL-004, REQ-REFL-006).
//!
//! What has a wrong type is absent, and a wrong item is dropped with its reason; the answer
//! as a whole stands. Every text and list is cut to a bound.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::extract::extract_json;
use super::grounds::numbers;
pub use super::score::Score;
use super::tag_forms::{is_known, tag_items, tags_alone};
use crate::playbook::Skipped;
use crate::playbook::ops::is_too_deep;
use crate::playbook::tags::{BulletTag, read_bullet_tags};
use crate::redact::Masker;

/// The keys a reflector's answer is known by.
pub const REFLECTION_KEYS: &[&str] = &["analysis", "bullet_tags"];
pub(crate) const CURATION_KEYS: &[&str] = &["reasoning", "operations"];

/// Characters of an analysis, a reflection, a strategy, a reasoning.
const MAX_TEXT: usize = 4_000;
const MAX_NOTE: usize = 500;
const MAX_TOPIC: usize = 50;
const TOPIC_WORDS: usize = 4;
const MAX_ITEMS: usize = 20;
const MAX_LESSONS: usize = 5;
/// Characters of a name of ours: a lesson's number, a key point's id.
const MAX_NAME: usize = 40;
/// Bullet tags of one answer: more than a full playbook has points.
const MAX_TAGS: usize = 2_000;
/// Operations that are handed on; how many of them may be applied is decided there.
const MAX_OPERATIONS: usize = 100;

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
    /// The events that the strategy rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategy_grounds: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Score>,
    /// How well the evidence carries the analysis.
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
    pub lessons: Vec<ReplyLesson>,
}

/// A mistake and its correction, as the reflector words them (spec/4 `ReflectionLesson`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyLesson {
    pub task_type: String,
    pub mistake: String,
    pub correction: String,
    /// The events that it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grounds: Vec<u32>,
    /// The known lessons that it repeats: `L2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<String>,
}

/// The curator's result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Curation {
    /// Why these operations.
    pub reasoning: String,
    /// The operations as they were written; they are checked where they are applied.
    pub operations: Vec<Value>,
}

/// What a question is answered with.
pub trait Reply: Default {
    /// Reads a reply: the result and what was dropped from it, with reasons.
    ///
    /// `None` when there is no whole JSON object in it.
    fn parse(reply: &str) -> Option<(Self, Vec<Skipped>)>;

    /// The texts that would be learned from it.
    fn taught(&self) -> Vec<&str>;

    /// Tells whether it says what was asked for, or another try may say more.
    fn is_enough(&self, _skipped: &[Skipped]) -> bool {
        true
    }
}

impl Reply for Reflection {
    fn parse(reply: &str) -> Option<(Self, Vec<Skipped>)> {
        let object = match extract_json(reply, REFLECTION_KEYS) {
            Some(object) if is_known(&object) => object,
            other => tags_alone(reply).or(other)?,
        };
        let object = masked(object);
        let said = object.get("bullet_tags");
        let (mut bullet_tags, skipped) = read_bullet_tags(&Value::Array(tag_items(said)));
        bullet_tags.truncate(MAX_TAGS);
        for tag in &mut bullet_tags {
            tag.rationale = cut(&tag.rationale, MAX_NOTE);
        }
        let reflection = Self {
            analysis: text(&object, "analysis", MAX_TEXT).unwrap_or_default(),
            bullet_tags,
            reflection: text(&object, "reflection", MAX_TEXT),
            strategy: text(&object, "strategy", MAX_TEXT),
            strategy_grounds: numbers(object.get("strategy_grounds")),
            importance: score(&object, "importance"),
            confidence: score(&object, "confidence"),
            tags: topics(&object),
            issues: texts(&object, "issues", MAX_NOTE),
            quality_score: score(&object, "quality_score"),
            lessons: lessons(&object),
        };
        Some((reflection, skipped))
    }

    fn taught(&self) -> Vec<&str> {
        let lessons = self.lessons.iter();
        let lessons = lessons.flat_map(|l| [l.mistake.as_str(), l.correction.as_str()]);
        let texts = [
            Some(&self.analysis),
            self.reflection.as_ref(),
            self.strategy.as_ref(),
        ];
        let texts = texts.into_iter().flatten().map(String::as_str);
        texts.chain(lessons).collect()
    }

    /// No tags at all may be meant; tags that are none are a slip.
    fn is_enough(&self, skipped: &[Skipped]) -> bool {
        skipped.is_empty() || !self.bullet_tags.is_empty()
    }
}

impl Reply for Curation {
    fn parse(reply: &str) -> Option<(Self, Vec<Skipped>)> {
        let mut object = masked(extract_json(reply, CURATION_KEYS)?);
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
    /// Cuts the analysis to so many words, by white space.
    pub fn shorten(&mut self, words: usize) {
        if self.analysis.split_whitespace().nth(words).is_some() {
            let kept: Vec<_> = self.analysis.split_whitespace().take(words).collect();
            self.analysis = kept.join(" ");
        }
    }
}

/// Masks secrets in all texts of a reply: what escapes hid in it is plain only now.
pub(crate) fn masked(object: Map<String, Value>) -> Map<String, Value> {
    let mut value = Value::Object(object);
    Masker::default().mask_value(&mut value);
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// A text of at most `max` characters; `None` where there is none, or nothing in it.
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

pub(crate) fn texts(object: &Map<String, Value>, key: &str, max: usize) -> Vec<String> {
    let texts = items(object, key).filter_map(|item| short(item, max));
    texts.take(MAX_ITEMS).collect()
}

/// The text or the texts that stand at a key.
fn one_or_many(object: &Map<String, Value>, key: &str, max: usize) -> Vec<String> {
    let one = text(object, key, max).map(|one| vec![one]);
    one.unwrap_or_else(|| texts(object, key, max))
}

/// What a session was about, each in a few words; a sentence is no topic.
fn topics(object: &Map<String, Value>) -> Vec<String> {
    let mut topics = texts(object, "tags", MAX_TOPIC);
    topics.retain(|topic| is_topic(topic));
    topics
}

fn is_topic(text: &str) -> bool {
    text.split_whitespace().count() <= TOPIC_WORDS
}

/// The lessons, each of which says at least how to do it right.
fn lessons(object: &Map<String, Value>) -> Vec<ReplyLesson> {
    let lesson = |item: &Value| {
        let item = item.as_object()?;
        Some(ReplyLesson {
            task_type: text(item, "task_type", MAX_TOPIC)
                .filter(|topic| is_topic(topic))
                .unwrap_or_default(),
            mistake: text(item, "mistake", MAX_NOTE).unwrap_or_default(),
            correction: text(item, "correction", MAX_NOTE)?,
            grounds: numbers(item.get("grounds")),
            repeats: one_or_many(item, "repeats", MAX_NAME),
        })
    };
    let lessons = items(object, "lessons").filter_map(lesson);
    lessons.take(MAX_LESSONS).collect()
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
    use crate::playbook::tags::Tag;

    fn read(reply: &str) -> Reflection {
        Reflection::parse(reply).unwrap().0
    }

    /// SCN-REFL-005-02, REQ-REFL-006: no JSON, no result; the empty result has its shape.
    #[test]
    fn what_is_no_json_gives_nothing() {
        for reply in ["It went well.", r#"{"analysis": "x", "bullet_tags": ["#, ""] {
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
    #[case::other_keys(r#"{"other": 1}"#)]
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
        assert_eq!(read(reply), Reflection::default());
    }

    #[test]
    fn only_what_was_said_wrongly_is_lacking() {
        let is_lacking = |reply: &str| {
            let (reflection, skipped) = Reflection::parse(reply).unwrap();
            !reflection.is_enough(&skipped)
        };
        for said in ["null", "7", r#"["pat-001"]"#, r#"[{"name": "pat-001"}]"#] {
            assert!(
                is_lacking(&format!(r#"{{"bullet_tags": {said}}}"#)),
                "{said}"
            );
        }
        assert!(!is_lacking(r#"{"analysis": "quiet", "bullet_tags": []}"#));
        assert!(!is_lacking(r#"{"analysis": "quiet"}"#));
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
