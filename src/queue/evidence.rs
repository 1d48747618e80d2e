//! What a session brought, as it is kept with its job: small, masked, enough to judge by.

use serde::{Deserialize, Serialize};

use crate::transcript::{Digest, Evidence, Facts};

/// The evidence of one range and the facts the rules judge by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionEvidence {
    pub(crate) facts: Facts,
    pub(crate) evidence: Evidence,
}

impl SessionEvidence {
    /// Chooses the evidence of a digest within a budget of tokens.
    pub(crate) fn of(digest: Digest, tokens: u64) -> Self {
        Self {
            evidence: digest.evidence.finish(tokens),
            facts: digest.facts,
        }
    }
}
