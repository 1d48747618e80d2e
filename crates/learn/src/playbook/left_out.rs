//! The key points for the prompt that touches one which the start of its session did not say.

use std::collections::BTreeSet;

use super::clean::clean_text;
use super::context::Admission;
use super::json::Defect;
use super::migrate::migrate;
use super::model::Point;
use super::ranking::by_rank;
use super::render::is_showable;
use super::usage::UsageRecord;
use crate::digest::name_of;
use crate::hint::{Term, telling, terms};
use crate::prepared::PointLeftOut;

/// The points that a prompt may bring where the start does not say them: those that `admit`
/// lets pass, highest rank first, each with what a prompt must share with it.
///
/// How much a word tells depends on all of them.
pub fn for_prompts(
    bytes: &[u8],
    usage: &UsageRecord,
    admit: impl Fn(&Point<'_>) -> Admission,
) -> Result<Vec<PointLeftOut>, Defect> {
    let playbook = migrate(bytes)?.playbook;
    let points: Vec<Point<'_>> = playbook
        .points()
        .filter(|point| is_showable(point.name) && admit(point) == Admission::Given)
        .collect();
    let best: Vec<(&str, String)> = by_rank(&points, usage)
        .into_iter()
        .map(|index| (points[index].name, clean_text(points[index].text)))
        .collect();
    let mut words: Vec<BTreeSet<Term>> = best.iter().map(|(_, text)| terms(text)).collect();
    telling(&mut words);
    let found = best.into_iter().zip(words);
    let found = found.filter(|(_, terms)| !terms.is_empty());
    let found = found.map(|((name, text), terms)| PointLeftOut {
        name: name.to_owned(),
        hash: name_of(text.as_bytes()),
        text,
        terms: terms.into_iter().collect(),
    });
    Ok(found.collect())
}
