//! Memories from an agent's evaluation of its own work (spec/5): pure.

use serde::Deserialize;

use super::reply::Score;
use super::trace::or_default;
use crate::errors::Signature;
use crate::reflect::learned::{Correction, NewReflection};

/// The gain of quality that is worth a memory.
const WORTH_A_MEMORY: f64 = 0.1;
// The longest excerpts in characters: of a critique, alone and with a gain; of a claim; of a query
// and of a context; of a context in a rationale.
const MAX_CRITIQUE: usize = 200;
const MAX_BESIDE: usize = 150;
const MAX_CLAIM: usize = 100;
const MAX_CONTEXT: usize = 200;
const MAX_DURING: usize = 100;
/// The tags of every reflection and of a self-correction.
pub(crate) const REFLECTION: &str = "reflection";
pub(crate) const SELF_CORRECTION: &str = "self-correction";
const CONFLICTS: &str = "CONFLICTS";
const UNKNOWN: &str = "Unknown";

/// The arguments of spec/5's `create_reflection_from_evaluation`; empty without an evaluation.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Critique {
    #[serde(rename = "critique", default, deserialize_with = "or_default")]
    pub text: String,
    #[serde(default, deserialize_with = "or_default")]
    pub verification_results: Vec<Verification>,
    #[serde(default, deserialize_with = "or_default")]
    pub query: String,
    #[serde(default, deserialize_with = "or_default")]
    pub context: String,
    #[serde(default, deserialize_with = "or_default")]
    pub iteration: u64,
    #[serde(default, deserialize_with = "or_default")]
    pub quality_before: Score,
    #[serde(default, deserialize_with = "or_default")]
    pub quality_after: Score,
    /// Set to `false` if the agent's answer did not change; then nothing is stored.
    #[serde(alias = "changed_behavior")]
    pub changed_behaviour: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Verification {
    pub status: CorrectionStatus,
    pub conflict_reason: Option<String>,
    #[serde(rename = "claim_text")]
    pub claim: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorrectionStatus {
    Conflict,
    Unverified,
    #[serde(other)]
    Other,
}

pub const TYPES: [&str; 5] = [
    "conflict",
    "unverified_claim",
    "factual_error",
    "quality_improvement",
    "incomplete_response",
];

/// Returns spec/5's `Reflection`, or `None` if the evaluation is not worth one.
pub fn self_correction(critique: &Critique, task: &NewReflection) -> Option<NewReflection> {
    let quality_improvement = critique.quality_after.get() - critique.quality_before.get();
    let found = &critique.verification_results;
    let first = |status| found.iter().find(|found| found.status == status);
    let (error_type, text) = if let Some(conflict) = first(CorrectionStatus::Conflict) {
        let reason = conflict.conflict_reason.as_deref().unwrap_or(UNKNOWN);
        ("conflict", format!("Detected conflict: {reason}"))
    } else if let Some(unverified) = first(CorrectionStatus::Unverified) {
        let claim = cut(unverified.claim.as_deref().unwrap_or(UNKNOWN), MAX_CLAIM);
        let text = format!("Made unverified claim about: {claim}");
        ("unverified_claim", text)
    } else if critique.text.contains(CONFLICTS) {
        ("factual_error", cut(&critique.text, MAX_CRITIQUE))
    } else if quality_improvement > WORTH_A_MEMORY {
        let critique = cut(&critique.text, MAX_BESIDE);
        let text = format!("Quality improved by {quality_improvement:.2}: {critique}");
        ("quality_improvement", text)
    } else {
        return None;
    };
    let signature = Signature::of_error(error_type, &text);
    let tags = [REFLECTION, SELF_CORRECTION, error_type].into_iter();
    let tags = tags.map(str::to_owned);
    let during = cut(&critique.context, MAX_DURING);
    let original_query = cut(&critique.query, MAX_CONTEXT);
    let reflection_context = cut(&critique.context, MAX_CONTEXT);
    Some(NewReflection {
        tags: tags.chain([signature_tag(signature)]).collect(),
        text,
        strategy: None,
        signature: Some(signature),
        task: format!("{original_query}\n{reflection_context}"),
        correction: Some(Correction {
            rationale: format!("Self-correction during: {during}"),
            original_query,
            reflection_context,
            iteration_count: critique.iteration,
            quality_improvement,
        }),
        ..task.clone()
    })
}

/// Returns the tag by which all memories about an error are found.
pub(crate) fn signature_tag(signature: Signature) -> String {
    format!("sig:{signature}")
}

fn cut(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::sync::LazyLock;

    fn critique(text: &str, verifications: &[Verification], before: f64, after: f64) -> Critique {
        Critique {
            text: text.to_owned(),
            verification_results: verifications.to_vec(),
            quality_before: Score::new(before).unwrap(),
            quality_after: Score::new(after).unwrap(),
            ..Critique::default()
        }
    }

    fn learned(critique: &Critique) -> Option<NewReflection> {
        self_correction(critique, &NewReflection::default())
    }

    static LONG: LazyLock<String> = LazyLock::new(|| "é".repeat(300));
    const UNNAMED: Verification = Verification {
        status: CorrectionStatus::Conflict,
        conflict_reason: None,
        claim: None,
    };

    fn found(status: CorrectionStatus, text: &str) -> Verification {
        Verification {
            status,
            conflict_reason: Some(text.to_owned()),
            claim: Some(text.to_owned()),
        }
    }

    /// Spec/5's `compute_error_signature`, as Python computes it.
    #[test]
    fn a_signature_is_of_type_and_content_in_lower_case() {
        let critique = critique("", &[UNNAMED], 0.0, 0.0);
        let tags = learned(&critique).unwrap().tags;
        assert_eq!(tags[3], "sig:f92bc1dc88503ade");
    }

    /// The length limits of spec/5, and the placeholder for missing details.
    #[rstest]
    #[case::claim(critique("", &[found(CorrectionStatus::Unverified, &LONG)], 0.0, 0.0), 29 + 100)]
    #[case::critique(critique(&format!("CONFLICTS{}", *LONG), &[], 0.0, 0.0), 200)]
    #[case::gain(critique(&LONG, &[], 0.0, 1.0), 26 + 150)]
    fn what_is_long_is_cut(#[case] critique: Critique, #[case] length: usize) {
        let text = learned(&critique).unwrap().text;
        assert_eq!(text.chars().count(), length, "{text}");
    }

    #[rstest]
    #[case::unnamed(critique("", &[UNNAMED], 0.0, 0.0), Some(("conflict", "Detected conflict: Unknown")))]
    #[case::conflict_first(
        critique("CONFLICTS", &[found(CorrectionStatus::Unverified, "a"), found(CorrectionStatus::Conflict, "b")], 0.0, 1.0),
        Some(("conflict", "Detected conflict: b"))
    )]
    #[case::unverified(
        critique("x", &[found(CorrectionStatus::Other, "a"), found(CorrectionStatus::Unverified, "b")], 0.0, 1.0),
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
        let got = learned(&critique);
        let got = got.as_ref().map(|new| (&*new.tags[2], &*new.text));
        assert_eq!(got, want);
    }
}
