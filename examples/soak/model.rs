//! The model's server: tags the evidence's citations, and misbehaves now and then.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use crate::api::Step;
use crate::dice::Dice;

/// The beginning of a citation in a session.
const CITES: &str = "By [pat-";
/// The number of scripted replies; after them the server always behaves.
const REPLIES: usize = 200_000;
/// The percentage of bad replies.
const FAULTS: u64 = 15;

/// Returns a script of good replies and faults; [`faults_among`] counts the faults.
pub(crate) fn script(mut dice: Dice) -> Vec<Step> {
    (0..REPLIES)
        .map(|_| {
            if dice.happens(FAULTS) {
                fault(&mut dice)
            } else {
                good()
            }
        })
        .collect()
}

pub(crate) fn good() -> Step {
    Step::Answer(answer)
}

/// Returns how many of the first `count` replies of a script were faults.
pub(crate) fn faults_among(dice: Dice, count: usize) -> usize {
    let is_fault = |step: &Step| !matches!(step, Step::Answer(_));
    let script = script(dice);
    script
        .iter()
        .take(count)
        .filter(|step| is_fault(step))
        .count()
}

fn fault(dice: &mut Dice) -> Step {
    match dice.below(20) {
        0..=4 => Step::error(500, "api_error", "down"),
        5 | 6 => Step::error(529, "overloaded_error", "busy"),
        7 | 8 => Step::retry_after(429, "0"),
        9..=11 => Step::Drop,
        12 | 13 => Step::Broken,
        14 | 15 => Step::Truncated,
        16 => Step::text("I would rather talk about the weather."),
        17 => Step::Stop("max_tokens", "{\"analysis\": \"cut".to_owned()),
        18 if dice.happens(5) => Step::error(401, "authentication_error", "invalid x-api-key"),
        _ => good().after(Duration::from_millis(dice.below(400))),
    }
}

fn answer(prompt: &str) -> String {
    if prompt.contains("merged_text") || prompt.contains("source_ids") {
        return json!({"reasoning": "nothing to add", "operations": []}).to_string();
    }
    let cited: BTreeSet<&str> = prompt
        .match_indices(CITES)
        .filter_map(|(at, _)| prompt[at + CITES.len()..].split(']').next())
        .filter(|number| number.len() < 8 && number.bytes().all(|b| b.is_ascii_digit()))
        .collect();
    let tags: Vec<_> = cited
        .into_iter()
        .map(|n| json!({"name": format!("pat-{n}"), "tag": "helpful", "rationale": "cited"}))
        .collect();
    json!({"analysis": "as cited", "bullet_tags": tags}).to_string()
}
