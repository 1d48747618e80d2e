//! What an agent learned by evaluating its own work (spec/5): pure.

use serde::Deserialize;

use super::reply::Score;
use super::trace::or_default;
use crate::memory::Signature;

/// So much must quality gain to be worth a memory.
const WORTH_A_MEMORY: f64 = 0.1;
/// Characters of a critique that are kept.
const MAX_CRITIQUE: usize = 200;
/// Characters of a critique beside a gain.
const MAX_BESIDE: usize = 150;
/// Characters of a claim.
const MAX_CLAIM: usize = 100;
/// Characters of a query and of a context.
pub(crate) const MAX_CONTEXT: usize = 200;
/// The tags of each reflection of spec/5.
pub(crate) const MARKS: [&str; 2] = ["reflection", "self-correction"];
const CONFLICTS: &str = "CONFLICTS";
/// What is said where the agent does not say.
const UNKNOWN: &str = "Unknown";

/// Spec/5's arguments of `create_reflection_from_evaluation`; empty where the agent did not
/// evaluate itself.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct Critique {
    #[serde(rename = "critique", default, deserialize_with = "or_default")]
    pub(crate) text: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) verification_results: Vec<Verification>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) query: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) context: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) iteration: u64,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) quality_before: Score,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) quality_after: Score,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Verification {
    pub(crate) status: Status,
    pub(crate) conflict_reason: Option<String>,
    #[serde(rename = "claim_text")]
    pub(crate) claim: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Conflict,
    Unverified,
    #[serde(other)]
    Other,
}

/// What is worth remembering of an evaluation (spec/5 `Reflection`).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SelfCorrection {
    /// `conflict`, `unverified_claim`, `factual_error` or `quality_improvement`.
    pub(crate) error_type: &'static str,
    pub(crate) content: String,
    /// The same for the same kind of error.
    pub(crate) signature: Signature,
    /// How much quality gained.
    pub(crate) quality_delta: f64,
}

impl SelfCorrection {
    /// Draws it from an evaluation; `None` when nothing weighs enough.
    pub(crate) fn of(critique: &Critique) -> Option<Self> {
        let quality_delta = critique.quality_after.get() - critique.quality_before.get();
        let first = |status| {
            critique
                .verification_results
                .iter()
                .find(|v| v.status == status)
        };
        let (error_type, content) = if let Some(conflict) = first(Status::Conflict) {
            let reason = conflict.conflict_reason.as_deref().unwrap_or(UNKNOWN);
            ("conflict", format!("Detected conflict: {reason}"))
        } else if let Some(unverified) = first(Status::Unverified) {
            let claim = cut(unverified.claim.as_deref().unwrap_or(UNKNOWN), MAX_CLAIM);
            (
                "unverified_claim",
                format!("Made unverified claim about: {claim}"),
            )
        } else if critique.text.contains(CONFLICTS) {
            ("factual_error", cut(&critique.text, MAX_CRITIQUE))
        } else if quality_delta > WORTH_A_MEMORY {
            let critique = cut(&critique.text, MAX_BESIDE);
            let content = format!("Quality improved by {quality_delta:.2}: {critique}");
            ("quality_improvement", content)
        } else {
            return None;
        };
        Some(Self {
            signature: Signature::of(error_type, &content),
            error_type,
            content,
            quality_delta,
        })
    }

    pub(crate) fn tags(&self) -> Vec<String> {
        let words = MARKS
            .into_iter()
            .chain([self.error_type])
            .map(str::to_owned);
        words.chain([signature_tag(self.signature)]).collect()
    }
}

/// The tag by which all memories about an error are found.
pub(crate) fn signature_tag(signature: Signature) -> String {
    format!("sig:{signature}")
}

pub(crate) fn cut(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn critique(text: &str, verifications: &[Verification], before: f64, after: f64) -> Critique {
        Critique {
            text: text.to_owned(),
            verification_results: verifications.to_vec(),
            quality_before: Score::new(before).unwrap(),
            quality_after: Score::new(after).unwrap(),
            ..Critique::default()
        }
    }

    fn found(status: Status, text: &str) -> Verification {
        Verification {
            status,
            conflict_reason: Some(text.to_owned()),
            claim: Some(text.to_owned()),
        }
    }

    #[rstest]
    #[case::conflict_first(
        critique("CONFLICTS", &[found(Status::Unverified, "a"), found(Status::Conflict, "b")], 0.0, 1.0),
        Some(("conflict", "Detected conflict: b"))
    )]
    #[case::unverified(
        critique("x", &[found(Status::Other, "a"), found(Status::Unverified, "b")], 0.0, 1.0),
        Some(("unverified_claim", "Made unverified claim about: b"))
    )]
    #[case::factual(critique("CONFLICTS: two", &[], 0.5, 0.5), Some(("factual_error", "CONFLICTS: two")))]
    #[case::gain(critique("better", &[], 0.5, 0.75), Some(("quality_improvement", "Quality improved by 0.25: better")))]
    #[case::too_little(critique("better", &[], 0.5, 0.6), None)]
    #[case::worse(critique("worse", &[], 0.9, 0.1), None)]
    fn the_weightiest_finding_is_what_was_learned(
        #[case] critique: Critique,
        #[case] want: Option<(&str, &str)>,
    ) {
        let got = SelfCorrection::of(&critique);
        assert_eq!(
            got.as_ref().map(|c| (c.error_type, c.content.as_str())),
            want
        );
    }
}
