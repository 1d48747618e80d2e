//! What the settings say about secrets, ready to be used.

use super::{Masker, NeverRead, PatternError};
use crate::config::Secrets;

/// What is masked, and what is never read. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Secrecy {
    /// What masks texts.
    pub masker: Masker,
    /// The files whose content is never to be seen.
    pub never_read: NeverRead,
}

impl Secrecy {
    /// Takes the settings; a pattern that cannot be used is an error, never passed over.
    pub fn of(settings: &Secrets) -> Result<Self, PatternError> {
        Ok(Self {
            masker: Masker::new(&settings.patterns, &settings.off)?,
            never_read: NeverRead::new(&settings.never_read),
        })
    }
}
