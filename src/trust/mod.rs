//! Which playbooks, and which of their key points, a session may be given.
//!
//! A playbook can arrive with a clone or a pull, and each of its key points becomes a word
//! in the ear of an agent with a shell. So a small record outside of the project says
//! whether the project is trusted, in which checkout of it, and which points our worker or
//! command line wrote or screened ([`TrustRecord`]). The hook reads that one file ([`Standing`]) and gives nothing else.
//!
//! Hooks use all of this: no regex, no database.

pub(crate) mod outside;
pub(crate) mod record;
pub(crate) mod request;
mod standing;

pub(crate) use record::{TrustMark, TrustRecord, Word};
pub(crate) use standing::Standing;
