//! The kinds of memories.

use serde::{Deserialize, Serialize};

/// What kind of memory a hint comes from.
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

    /// The word for it, as files and commands have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reflection => "reflection",
            Self::Strategy => "strategy",
            Self::Lesson => "lesson",
            Self::Error => "error",
        }
    }

    /// Reads the word back; `None` for any other.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}
