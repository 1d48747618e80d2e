//! What a session brought, as it is kept with its job: small, masked, enough to judge by.

use serde::{Deserialize, Serialize};

use crate::reflect::note::{CheckedNotes, SessionRecord};
use crate::reflect::reply::Reflection;
use crate::transcript::{Digest, Evidence, Facts};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionEvidence {
    pub(crate) facts: Facts,
    pub(crate) evidence: Evidence,
}

impl SessionEvidence {
    pub(crate) fn of(digest: Digest, tokens: u64) -> Self {
        Self {
            evidence: digest.evidence.finish(tokens),
            facts: digest.facts,
        }
    }

    /// Checks the notes of an answer about this session.
    pub(crate) fn check(&self, reflection: &mut Reflection) -> CheckedNotes {
        let record = SessionRecord {
            evidence: &self.evidence,
            is_outside: self.facts.is_outside,
        };
        record.check(reflection)
    }
}
