//! What a job teaches, as the memories it becomes: pure. Each has an id that is the same for
//! the same content of the same project.

use crate::hint::{BIRTH, MemoryKind, Signature};
use crate::reflect::learned::{
    Learned, NewError, NewLesson, NewReflection, NoteDetail, error_id, memory_id,
};
use crate::reflect::note::text_of;
use crate::reflect::remembered::Detail;

/// How much more a strategy weighs than its reflection (spec/3: + 10 %, at most 1).
const STRATEGY_BOOST: f64 = 1.1;
/// Reflections, lessons and examples are kept up to so many characters.
const LONG: usize = 2000;
/// Texts are kept up to so many characters (spec/5 cuts queries and contexts at 200).
const SHORT: usize = 200;

/// A memory as a row of any store.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRow {
    /// Its id: `ref-…`, `les-…` or `err-…`.
    pub id: String,
    pub kind: MemoryKind,
    pub(super) tenant: String,
    pub text: String,
    pub outcome: Option<String>,
    pub category: Option<String>,
    pub signature: Option<Signature>,
    pub importance: f64,
    pub confidence: f64,
    /// How often it was learned at once.
    pub times: u64,
    /// What it is about, in lower case.
    pub tags: Vec<String>,
    /// What is searched beside the text and the tags.
    pub words: String,
    /// What only its kind has.
    pub detail: Detail,
    /// What a lesson has as a note.
    pub(super) note: Option<NoteDetail>,
}

impl MemoryRow {
    /// What an item is remembered as in a project: a reflection, its strategy, a lesson or an
    /// error; under the ids that it has elsewhere, if any.
    pub fn of(project: &str, item: &Learned, ids: &[String]) -> Vec<Self> {
        let named = |place: usize, own: String| ids.get(place).cloned().unwrap_or(own);
        match item {
            Learned::Reflection(new) => {
                let (id, strategy) = reflection_ids(project, new);
                let strategy = strategy.map(|id| named(1, id));
                reflected(new, named(0, id), strategy)
            }
            Learned::Lesson(new) => vec![lesson(new, named(0, lesson_id(project, new)))],
            Learned::Error(new) => {
                let id = named(0, error_id(project, new.signature));
                vec![error(new, id)]
            }
            Learned::Shown(_) => Vec::new(),
        }
    }
}

fn reflected(new: &NewReflection, id: String, strategy: Option<String>) -> Vec<MemoryRow> {
    let importance = share(new.importance);
    let detail = |related| Detail::Reflection {
        task: cut(&new.task, SHORT),
        event_ids: new.event_ids.clone(),
        event_count: new.event_count,
        related,
        correction: new.correction.clone(),
    };
    let reflection = MemoryRow {
        id,
        kind: MemoryKind::Reflection,
        tenant: new.tenant.clone(),
        text: cut(&new.text, LONG),
        outcome: new.outcome.clone(),
        category: new.error_category.clone(),
        signature: new.signature,
        importance,
        confidence: share(new.confidence),
        times: 1,
        tags: lower(&new.tags),
        words: new.task.clone(),
        detail: detail(new.related.clone()),
        note: None,
    };
    let strategy = strategy.zip(new.strategy.as_ref());
    let strategy = strategy.map(|(id, text)| MemoryRow {
        id,
        kind: MemoryKind::Strategy,
        text: cut(text, LONG),
        importance: share(importance * STRATEGY_BOOST),
        tags: [
            reflection.tags.clone(),
            lower([MemoryKind::Strategy.word()]),
        ]
        .concat(),
        detail: detail(vec![reflection.id.clone()]),
        ..reflection.clone()
    });
    [Some(reflection), strategy].into_iter().flatten().collect()
}

fn lesson(new: &NewLesson, id: String) -> MemoryRow {
    let (mistake, correction) = (cut(&new.mistake, LONG), cut(&new.correction, LONG));
    MemoryRow {
        id,
        kind: MemoryKind::Lesson,
        tenant: String::new(),
        text: text_of(&mistake, &correction),
        outcome: None,
        category: None,
        signature: new.signature,
        importance: share(new.importance),
        confidence: BIRTH,
        times: 1,
        tags: lower(&new.tags),
        words: new.task_type.clone(),
        detail: Detail::Lesson {
            task_type: cut(&new.task_type, SHORT),
            mistake,
            correction,
            context_hash: new.context_hash.clone(),
        },
        note: Some(new.note.clone()),
    }
}

fn error(new: &NewError, id: String) -> MemoryRow {
    MemoryRow {
        id,
        kind: MemoryKind::Error,
        tenant: String::new(),
        text: cut(&new.example, LONG),
        outcome: new.outcome.clone(),
        category: Some(new.category.clone()),
        signature: Some(new.signature),
        importance: share(new.importance),
        confidence: BIRTH,
        times: new.occurrences,
        tags: lower(&new.tags),
        words: String::new(),
        detail: Detail::Error {
            error_type: new.error_type.clone(),
        },
        note: None,
    }
}

pub(crate) fn reflection_ids(project: &str, new: &NewReflection) -> (String, Option<String>) {
    let id = |kind: MemoryKind, text: &String| {
        let text = identity(&cut(text, LONG));
        memory_id(project, "ref", &[kind.word(), &new.tenant, &text])
    };
    let strategy = new.strategy.as_ref();
    (
        id(MemoryKind::Reflection, &new.text),
        strategy.map(|text| id(MemoryKind::Strategy, text)),
    )
}

fn lesson_id(project: &str, new: &NewLesson) -> String {
    let texts = [&new.mistake, &new.correction].map(|text| identity(&cut(text, LONG)));
    memory_id(
        project,
        "les",
        &["lesson", &new.task_type, &texts[0], &texts[1]],
    )
}

/// What two texts have in common that say the same: case and white space aside.
fn identity(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

fn lower(tags: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let tags = tags.into_iter();
    tags.map(|tag| tag.as_ref().trim().to_lowercase()).collect()
}

fn cut(text: &str, characters: usize) -> String {
    text.trim().chars().take(characters).collect()
}

/// A share between 0 and 1; what is no number is [`BIRTH`].
fn share(value: f64) -> f64 {
    if value.is_finite() {
        value.clamp(0.0, 1.0)
    } else {
        BIRTH
    }
}
