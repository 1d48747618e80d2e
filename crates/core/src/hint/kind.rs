//! The kinds of memories.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// What happened and why.
    Reflection,
    /// What to do in a like case.
    Strategy,
    /// A mistake and its correction.
    Lesson,
    /// An error, and what helped.
    Error,
}

impl MemoryKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Reflection, Self::Strategy, Self::Lesson, Self::Error];

    pub fn word(self) -> &'static str {
        match self {
            Self::Reflection => "reflection",
            Self::Strategy => "strategy",
            Self::Lesson => "lesson",
            Self::Error => "error",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}
