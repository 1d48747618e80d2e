//! Whose memory it is, where one user keeps several apart (spec/3 `tenant_id`).

use crate::digest;

/// The name of the user as a tenant.
pub const DEFAULT: &str = "default";

/// Whose memory it is. Each has a file of its own, so that none can be shown what another has,
/// whatever is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Tenant {
    /// The user, whose sessions the hooks see.
    #[default]
    User,
    /// Somebody that the user keeps a memory for, by name.
    Other(String),
}

impl Tenant {
    /// The tenant of this name; nothing and [`DEFAULT`] are the user.
    pub fn named(name: &str) -> Self {
        match name {
            "" | DEFAULT => Self::User,
            name => Self::Other(name.to_owned()),
        }
    }

    /// The tenant's name.
    pub fn name(&self) -> &str {
        match self {
            Self::User => DEFAULT,
            Self::Other(name) => name,
        }
    }

    /// The name of its folder, for any name: `None` for the user.
    pub(crate) fn folder(&self) -> Option<String> {
        match self {
            Self::User => None,
            Self::Other(name) => Some(digest::name_of(name.as_bytes())),
        }
    }
}
