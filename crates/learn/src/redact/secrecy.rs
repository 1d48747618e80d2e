//! What is masked and what is never read, together.

use super::{Masker, NeverRead};

/// What is masked, and what is never read. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Secrecy {
    /// What masks texts.
    pub masker: Masker,
    /// The files whose content is never to be seen.
    pub never_read: NeverRead,
}
