//! What a job teaches, as the memories it becomes: pure. Each has an id that is the same for
//! the same content of the same project.

use crate::hint::{BIRTH, MemoryKind, Signature};
use crate::reflect::learned::{
    ARROW, Learned, NewError, NewFix, NewLesson, NewReflection, error_id, memory_id,
};
use crate::reflect::remembered::Detail;

/// How much more a strategy weighs than its reflection (spec/3: + 10 %, at most 1).
const STRATEGY_BOOST: f64 = 1.1;
/// Reflections, lessons, examples and fixes are kept up to so many characters.
pub(super) const LONG: usize = 2000;
/// Texts are kept up to so many characters (spec/5 cuts queries and contexts at 200).
pub(super) const SHORT: usize = 200;

pub(super) struct New<'m> {
    pub(super) kind: MemoryKind,
    pub(super) id: String,
    pub(super) tenant: &'m str,
    pub(super) text: String,
    pub(super) outcome: Option<&'m str>,
    pub(super) category: Option<&'m str>,
    pub(super) signature: Option<Signature>,
    pub(super) importance: f64,
    pub(super) confidence: f64,
    pub(super) times: u64,
    pub(super) tags: Vec<String>,
    /// What is searched beside the text and the tags.
    pub(super) words: &'m str,
    pub(super) own: Own<'m>,
}

/// What only its kind has.
pub(super) enum Own<'m> {
    /// With the ids of the memories it was drawn from.
    Reflection(&'m NewReflection, Vec<String>),
    Lesson(&'m NewLesson),
    Error(&'m NewError),
}

/// What an item is remembered as: a reflection, its strategy, a lesson or an error.
pub(super) fn memories<'m>(project: &str, item: &'m Learned) -> Vec<New<'m>> {
    match item {
        Learned::Reflection(new) => reflected(project, new),
        Learned::Lesson(new) => {
            let right = cut(&new.correction, LONG);
            let text = match cut(&new.mistake, LONG).as_str() {
                "" => right,
                mistake => format!("{mistake}{ARROW}{right}"),
            };
            vec![New {
                kind: MemoryKind::Lesson,
                id: lesson_id(project, new),
                tenant: "",
                text,
                outcome: None,
                category: None,
                signature: new.signature,
                importance: share(new.importance),
                confidence: BIRTH,
                times: 1,
                tags: new.tags.clone(),
                words: &new.task_type,
                own: Own::Lesson(new),
            }]
        }
        Learned::Error(new) => vec![New {
            kind: MemoryKind::Error,
            id: error_id(project, new.signature),
            tenant: "",
            text: cut(&new.example, LONG),
            outcome: new.outcome.as_deref(),
            category: Some(&new.category),
            signature: Some(new.signature),
            importance: share(new.importance),
            confidence: BIRTH,
            times: new.occurrences,
            tags: new.tags.clone(),
            words: "",
            own: Own::Error(new),
        }],
        Learned::Shown(_) => Vec::new(),
    }
}

fn reflected<'m>(project: &str, new: &'m NewReflection) -> Vec<New<'m>> {
    let (id, strategy) = reflection_ids(project, new);
    let importance = share(new.importance);
    let reflection = New {
        kind: MemoryKind::Reflection,
        id: id.clone(),
        tenant: &new.tenant,
        text: cut(&new.text, LONG),
        outcome: new.outcome.as_deref(),
        category: new.error_category.as_deref(),
        signature: new.signature,
        importance,
        confidence: share(new.confidence),
        times: 1,
        tags: new.tags.clone(),
        words: &new.task,
        own: Own::Reflection(new, new.related.clone()),
    };
    let strategy = strategy
        .zip(new.strategy.as_ref())
        .map(|(own_id, text)| New {
            kind: MemoryKind::Strategy,
            id: own_id,
            text: cut(text, LONG),
            importance: share(importance * STRATEGY_BOOST),
            tags: [&new.tags[..], &[MemoryKind::Strategy.word().to_owned()]].concat(),
            own: Own::Reflection(new, vec![id]),
            ..reflection
        });
    [Some(reflection), strategy].into_iter().flatten().collect()
}

/// A memory as a row of any store.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRow {
    /// Its id: `ref-…`, `les-…` or `err-…`.
    pub id: String,
    /// What it is.
    pub kind: MemoryKind,
    /// What it says.
    pub text: String,
    /// How the session ended.
    pub outcome: Option<String>,
    /// The kind of error.
    pub category: Option<String>,
    /// The error it is about.
    pub signature: Option<Signature>,
    /// 0 to 1.
    pub importance: f64,
    /// 0 to 1.
    pub confidence: f64,
    /// How often it was learned at once.
    pub times: u64,
    /// What it is about, in lower case.
    pub tags: Vec<String>,
    /// What is searched beside the text and the tags.
    pub words: String,
    /// What only its kind has.
    pub detail: Detail,
    /// What helped, with its id.
    pub fix: Option<(String, NewFix)>,
}

impl MemoryRow {
    /// What an item becomes in a project; under the ids that it has elsewhere, if any.
    pub fn of(project: &str, item: &Learned, ids: &[String]) -> Vec<Self> {
        let mut all = memories(project, item);
        rename(&mut all, ids);
        all.into_iter()
            .map(|new| Self::from(project, new, ids))
            .collect()
    }

    fn from(project: &str, new: New<'_>, ids: &[String]) -> Self {
        let fix = match &new.own {
            Own::Error(error) => error.fix.as_ref(),
            _ => None,
        };
        let fix = fix.map(|fix| {
            let text = cut(&fix.text, LONG);
            let id = ids.get(1).cloned();
            let id = id.unwrap_or_else(|| fix_id(project, &new.id, &text));
            (
                id,
                NewFix {
                    text,
                    ..fix.clone()
                },
            )
        });
        let tags = new.tags.iter().map(|tag| tag.trim().to_lowercase());
        Self {
            detail: detail(&new.own),
            fix,
            tags: tags.collect(),
            id: new.id,
            kind: new.kind,
            text: new.text,
            outcome: new.outcome.map(str::to_owned),
            category: new.category.map(str::to_owned),
            signature: new.signature,
            importance: new.importance,
            confidence: new.confidence,
            times: new.times,
            words: cut(new.words, LONG),
        }
    }
}

fn detail(own: &Own<'_>) -> Detail {
    match own {
        Own::Reflection(new, related) => Detail::Reflection {
            task: cut(&new.task, SHORT),
            event_ids: new.event_ids.clone(),
            event_count: new.event_count,
            related: related.clone(),
            correction: new.correction.clone(),
        },
        Own::Lesson(new) => Detail::Lesson {
            task_type: cut(&new.task_type, SHORT),
            mistake: cut(&new.mistake, LONG),
            correction: cut(&new.correction, LONG),
            context_hash: new.context_hash.clone(),
        },
        Own::Error(new) => Detail::Error {
            error_type: new.error_type.clone(),
            fixes: Vec::new(),
        },
    }
}

/// The ids of what an item is remembered as, its fix included.
pub(super) fn ids(project: &str, item: &Learned) -> Vec<String> {
    let all = memories(project, item);
    let fix = match item {
        Learned::Error(new) => new.fix.as_ref().zip(all.first()),
        _ => None,
    };
    let fix = fix.map(|(fix, error)| fix_id(project, &error.id, &cut(&fix.text, LONG)));
    all.iter().map(|new| new.id.clone()).chain(fix).collect()
}

/// Gives memories the ids that they have elsewhere.
pub(super) fn rename(all: &mut [New<'_>], ids: &[String]) {
    for (new, id) in all.iter_mut().zip(ids) {
        if let (MemoryKind::Strategy, Own::Reflection(_, related)) = (new.kind, &mut new.own) {
            *related = ids[..1].to_vec();
        }
        new.id.clone_from(id);
    }
}

/// The ids of a reflection and of its strategy.
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

/// The id of what helped against the error `error`.
pub(super) fn fix_id(project: &str, error: &str, text: &str) -> String {
    memory_id(project, "les", &["fix", error, &identity(text)])
}

/// What two texts have in common that say the same: case and white space aside.
fn identity(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

pub(super) fn cut(text: &str, characters: usize) -> String {
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
