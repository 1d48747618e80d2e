//! The key points for the prompt that touches one which the start of its session did not say.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::clean::clean_text;
use super::context::Admission;
use super::defect::Defect;
use super::migrate::migrate;
use super::model::Point;
use super::order::{MOST, by_worth};
use super::proof::ProofRecord;
use super::render::is_showable;
use crate::digest::name_of;
use crate::hint::{Term, telling, terms};
use crate::prepared::PointLeftOut;

/// The points that a prompt may bring where the start does not say them: those that `admit`
/// lets pass, those worth most first, each with what a prompt must share with it.
///
/// How much a word tells depends on all of them.
pub fn for_prompts(
    bytes: &[u8],
    (now, proof): (Timestamp, &ProofRecord),
    admit: impl Fn(&Point<'_>) -> Admission,
) -> Result<Vec<PointLeftOut>, Defect> {
    let playbook = migrate(bytes)?.playbook;
    let points: Vec<Point<'_>> = playbook
        .points()
        .filter(|point| {
            let may_be_told = [Admission::Given, Admission::Resting].contains(&admit(point));
            is_showable(point.name) && may_be_told
        })
        .collect();
    let order = by_worth(&points, now, proof);
    let order = order.into_iter().take(MOST);
    let best: Vec<(&str, String)> = order
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::Playbook;
    use crate::playbook::proof::Proof;
    use serde_json::json;

    #[test]
    fn what_came_up_again_is_brought_before_what_did_not() {
        let point = |name, text| json!({"name": name, "text": text});
        let file = json!({"sections": {"OTHERS": [
            point("oth-001", "`make parcel` wants the stub"),
            point("oth-002", "`make parcel` wants the net"),
        ]}});
        let playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
        let mut proof = ProofRecord::default();
        let needed = Proof {
            needed: 1,
            ..Proof::default()
        };
        proof.points.insert("oth-002".to_owned(), needed);
        let now = "2026-11-21T00:00:00Z".parse().unwrap();
        let found = for_prompts(&playbook.to_bytes(), (now, &proof), |_| Admission::Given);
        let names: Vec<_> = found.unwrap().into_iter().map(|point| point.name).collect();
        assert_eq!(names, ["oth-002", "oth-001"]);
    }
}
