//! The key points that a session was not told at its start, for the prompt that touches one.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::clean::clean_text;
use super::context::{Admission, by_worth};
use super::defect::Defect;
use super::migrate::migrate;
use super::model::Point;
use super::render::is_showable;
use crate::digest::name_of;
use crate::hint::{Term, telling, terms};
use crate::prepared::PointLeftOut;
use crate::shown_record::ShownPoints;

/// Finds the points that `admit` lets pass and that are not among those `said`, those worth
/// most first.
///
/// How much a word tells depends on all admitted points, said or not.
pub fn left_out(
    bytes: &[u8],
    said: &ShownPoints,
    now: Timestamp,
    admit: impl Fn(&Point<'_>) -> Admission,
) -> Result<Vec<PointLeftOut>, Defect> {
    let playbook = migrate(bytes)?.playbook;
    let points: Vec<Point<'_>> = playbook
        .points()
        .filter(|point| is_showable(point.name) && admit(point) == Admission::Given)
        .collect();
    let texts: Vec<String> = points.iter().map(|point| clean_text(point.text)).collect();
    let mut words: Vec<BTreeSet<Term>> = texts.iter().map(|text| terms(text)).collect();
    telling(&mut words);
    let order = by_worth(&points, now).into_iter();
    let left = order.filter(|&index| !said.has(points[index].name));
    let told = left.map(|index| PointLeftOut {
        name: points[index].name.to_owned(),
        text: texts[index].clone(),
        hash: name_of(texts[index].as_bytes()),
        terms: words[index].iter().copied().collect(),
    });
    Ok(told.filter(|point| !point.terms.is_empty()).collect())
}
