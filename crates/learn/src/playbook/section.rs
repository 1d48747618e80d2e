//! The five sections of a playbook, their titles and slugs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A section of the playbook; the order of the variants is the canonical order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Section {
    #[serde(rename = "PATTERNS & APPROACHES")]
    Patterns,
    /// What went wrong before.
    #[serde(rename = "MISTAKES TO AVOID")]
    Mistakes,
    /// How the user wants it.
    #[serde(rename = "USER PREFERENCES")]
    Preferences,
    /// Facts of the project.
    #[serde(rename = "PROJECT CONTEXT")]
    Context,
    /// What fits nowhere else; also where points of the earlier format live.
    #[serde(rename = "OTHERS")]
    Others,
}

impl Section {
    /// The five sections, in the file's order.
    pub const ALL: [Self; 5] = [
        Self::Patterns,
        Self::Mistakes,
        Self::Preferences,
        Self::Context,
        Self::Others,
    ];

    /// Its heading in the file.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Patterns => "PATTERNS & APPROACHES",
            Self::Mistakes => "MISTAKES TO AVOID",
            Self::Preferences => "USER PREFERENCES",
            Self::Context => "PROJECT CONTEXT",
            Self::Others => "OTHERS",
        }
    }

    /// What the ids of its points begin with.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Patterns => "pat",
            Self::Mistakes => "mis",
            Self::Preferences => "pref",
            Self::Context => "ctx",
            Self::Others => "oth",
        }
    }

    /// Finds a section by its title as a model or user may write it: any case, white
    /// space at the ends.
    pub fn from_title(title: &str) -> Option<Self> {
        let title = title.trim();
        Self::ALL
            .into_iter()
            .find(|s| s.title().eq_ignore_ascii_case(title))
    }

    /// Finds a section by its title exactly as our format writes it.
    pub fn from_key(title: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.title() == title)
    }

    /// Finds the section whose ids begin with `slug`.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.slug() == slug)
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
