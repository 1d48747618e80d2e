//! The owner of a memory, where one user keeps several apart (spec/3 `tenant_id`).

use crate::digest;

pub const DEFAULT: &str = "default";

/// The owner of a memory. Each has its own file, so that no query can return another's data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Tenant {
    #[default]
    User,
    Other(String),
}

impl Tenant {
    /// An empty name and [`DEFAULT`] mean the user.
    pub fn named(name: &str) -> Self {
        match name {
            "" | DEFAULT => Self::User,
            name => Self::Other(name.to_owned()),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::User => DEFAULT,
            Self::Other(name) => name,
        }
    }

    /// Returns a safe folder name for any tenant name; `None` for the user.
    pub(crate) fn folder(&self) -> Option<String> {
        match self {
            Self::User => None,
            Self::Other(name) => Some(digest::name_of(name.as_bytes())),
        }
    }
}
