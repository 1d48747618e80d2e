//! The five sections of a playbook, their titles and slugs.

use std::fmt;

use playbook_core::worded;

worded! {
    /// A section of the playbook, by its title; the order of the variants is that of the file.
    pub enum Section {
        Patterns = "PATTERNS & APPROACHES",
        /// What went wrong before.
        Mistakes = "MISTAKES TO AVOID",
        /// How the user wants it.
        Preferences = "USER PREFERENCES",
        /// Facts of the project.
        Context = "PROJECT CONTEXT",
        /// What fits nowhere else; also where points of the earlier format live.
        Others = "OTHERS",
    }
}

impl Section {
    /// Returns its heading in the file.
    pub const fn title(self) -> &'static str {
        self.word()
    }

    /// Returns what the ids of its points begin with.
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
