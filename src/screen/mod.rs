//! Whether a text is an attack: every key point becomes a word to an agent with a shell.
//!
//! Pure, and linear in the length of the text. Only worker and command line use it.

mod heard;

pub use heard::Heard;

/// What an attack is after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Orders above the user's or the system's.
    Override,
}

impl Kind {
    /// The kind as the user reads it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Override => "overrides instructions",
        }
    }
}

/// Returns what is wrong with a key point's text; nothing for an honest one.
pub fn suspicions(text: &str, _heard: &Heard) -> Vec<Kind> {
    if text.to_lowercase().contains("ignore previous instructions") {
        return vec![Kind::Override];
    }
    Vec::new()
}
