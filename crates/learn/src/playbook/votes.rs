//! Which verdicts of a session are votes.
//!
//! A model judges every key point that it sees in its prompt, also those that the session
//! knew nothing of. A verdict counts only for a point that the session was shown or cited,
//! with the text that the point has now. A point gets one verdict, however often a reply judges
//! it, and by whatever name; where verdicts contradict each other, none.
//! [`apply_bullet_tags`](super::tags::apply_bullet_tags) counts what is left.

use std::collections::{BTreeMap, HashMap};

use super::change::Skipped;
use super::clean::{clean, clean_text};
use super::entry;
use super::id::{Id, is_own_name};
use super::model::Playbook;
use super::tags::{BulletTag, Tag};
use super::usage::PointInSession;
use crate::digest::name_of;
use crate::shown_record::ShownPoints;

const NOT_SHOWN: &str = "not shown to this session";
const OTHER_TEXT: &str = "its text was another when it was shown";
const CONTRADICTED: &str = "the reply judges it in both ways";

/// The tags and citations of a session that count, by the names that the points have now.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Votes {
    pub tags: Vec<BulletTag>,
    pub cited: Vec<Id>,
    /// The verdicts that do not count, with the reason of each.
    pub dropped: Vec<Skipped>,
    /// What the session says of each point that it knew with the text of now.
    pub seen: Vec<PointInSession>,
}

/// Chooses the verdicts and citations of a session that count in `playbook` as it is now.
///
/// Of a point that was merged away the one that took it in counts as shown: what it says now
/// was made of both texts. A verdict on a point that is not there is left to the caller, who
/// applies it. Neutral verdicts that do not count are dropped without a word: they change nothing.
pub fn votes(tags: &[BulletTag], shown: &ShownPoints, cited: &[Id], playbook: &Playbook) -> Votes {
    let places = playbook.places();
    let text_of = |name: &str| entry::text(playbook.entry(places.get(name)?)?);
    let hash = |text: &str| name_of(clean(text).as_bytes());
    // A merge may have given a text that was shown another number.
    let mut moved: HashMap<&str, &str> = HashMap::new();
    for (name, hashes) in shown.each() {
        if text_of(name).is_some_and(|text| !hashes.contains(&hash(text)))
            && let Some(point) = playbook.points().find(|p| hashes.contains(&hash(p.text)))
        {
            moved.insert(name, point.name);
        }
    }
    // A model may write a name in brackets or in capitals.
    let today = |written: &str| -> String {
        let plain = written.trim().trim_matches(['[', ']']).trim();
        let forms = [written.to_owned(), plain.to_owned(), plain.to_lowercase()];
        let mut forms = forms.into_iter();
        let is_there = |name: &String| places.contains_key(playbook.current_name(&places, name));
        let name = forms.find(is_there).unwrap_or_else(|| written.to_owned());
        let moved = moved.get(name.as_str()).copied();
        let now = moved.unwrap_or_else(|| playbook.current_name(&places, &name));
        now.to_owned()
    };
    // Whether a text of today was shown.
    let mut is_same: BTreeMap<String, bool> = BTreeMap::new();
    for (name, hashes) in shown.each().filter(|(name, _)| !is_own_name(name)) {
        let now = today(name);
        let same = now != *name || text_of(&now).is_some_and(|text| hashes.contains(&hash(text)));
        *is_same.entry(now).or_default() |= same;
    }
    for id in cited {
        is_same.entry(today(id.as_str())).or_insert(true);
    }
    let flaw = |name: &str| match is_same.get(name) {
        _ if !places.contains_key(name) => None,
        Some(true) => None,
        Some(false) => Some(OTHER_TEXT),
        None => Some(NOT_SHOWN),
    };
    let mut votes = Votes::default();
    let mut drop = |tag: &BulletTag, reason: &str| {
        if tag.tag != Tag::Neutral {
            let what = format!("{} tag for {}", tag.tag.word(), clean_text(&tag.name));
            votes.dropped.push(Skipped::new(what, reason));
        }
    };
    let mut by_point: Vec<Vec<BulletTag>> = Vec::new();
    // The user's own points get no votes.
    for tag in tags.iter().filter(|tag| !is_own_name(&tag.name)) {
        let name = today(&tag.name);
        let tag = BulletTag {
            name,
            ..tag.clone()
        };
        if let Some(flaw) = flaw(&tag.name) {
            drop(&tag, flaw);
            continue;
        }
        match by_point.iter_mut().find(|known| known[0].name == tag.name) {
            Some(known) => known.push(tag),
            None => by_point.push(vec![tag]),
        }
    }
    for mut verdicts in by_point {
        let first = |wanted| verdicts.iter().position(|verdict| verdict.tag == wanted);
        let chosen = match (first(Tag::Helpful), first(Tag::Harmful)) {
            (Some(helpful), Some(_)) => {
                drop(&verdicts[helpful], CONTRADICTED);
                verdicts[helpful].tag = Tag::Neutral;
                helpful
            }
            (helpful, harmful) => helpful.or(harmful).unwrap_or_default(),
        };
        votes.tags.push(verdicts.swap_remove(chosen));
    }
    for id in cited {
        let now = today(id.as_str());
        if flaw(&now).is_none() {
            votes
                .cited
                .push(Id::parse(&now).unwrap_or_else(|| id.clone()));
        }
    }
    for (name, _) in is_same
        .iter()
        .filter(|(name, same)| **same && places.contains_key(*name))
    {
        let tag = votes.tags.iter().find(|tag| tag.name == *name);
        votes.seen.push(PointInSession {
            name: name.clone(),
            is_cited: cited.iter().any(|id| today(id.as_str()) == *name),
            vote: tag.map(|tag| tag.tag).filter(|tag| *tag != Tag::Neutral),
        });
    }
    votes
}

#[cfg(test)]
mod tests {
    use super::super::shown::in_text;
    use super::super::tags::read_bullet_tags;
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn playbook(file: &Value) -> Playbook {
        Playbook::parse(file.to_string().as_bytes()).unwrap()
    }

    #[rstest]
    #[case::called_by_its_old_name("[oth-000] helpful=0 harmful=0 :: one of two", "oth-000", &[])]
    #[case::called_by_its_new_name("[oth-000] helpful=0 harmful=0 :: one of two", "oth-003", &[])]
    #[case::not_shown("", "oth-003", &["not shown to this session"])]
    #[case::there_is_no_such_point("", "oth-009", &[])]
    fn a_point_that_was_merged_away_stands_for_the_one_that_took_it_in(
        #[case] given: &str,
        #[case] name: &str,
        #[case] dropped: &[&str],
    ) {
        let playbook = playbook(&json!({
            "sections": {"OTHERS": [{"name": "oth-003", "text": "of two points"}]},
            "playbook": {"aliases": {"oth-000": "oth-003"}}}));
        let tags = ["harmful", "neutral"].map(|tag| json!({"name": name, "tag": tag}));
        let (tags, _) = read_bullet_tags(&tags.to_vec().into());
        let votes = votes(&tags, &in_text(given), &[], &playbook);
        let reasons: Vec<_> = votes.dropped.iter().map(|d| d.reason.as_str()).collect();
        assert_eq!(reasons, dropped);
        assert_eq!(votes.tags.is_empty(), !dropped.is_empty());
    }

    /// Fixes the vote that was lost: a merge gave the shown text another number.
    #[test]
    fn what_was_shown_gets_its_vote_under_the_number_that_a_merge_gave_it() {
        let playbook = playbook(&json!({"sections": {"OTHERS": [
            {"name": "oth-001", "text": "of the other branch"},
            {"name": "oth-002", "text": "what was shown"}]}}));
        let shown = in_text("[oth-001] helpful=0 harmful=0 :: what was shown");
        let id = Id::parse("oth-001").unwrap();
        let (tags, _) = read_bullet_tags(&json!([{"name": "oth-001", "tag": "helpful"}]));
        let votes = votes(&tags, &shown, &[id], &playbook);
        assert_eq!(votes.tags[0].name, "oth-002");
        assert_eq!(votes.cited[0].as_str(), "oth-002");
        let seen: Vec<_> = votes.seen.iter().map(|point| point.name.as_str()).collect();
        assert_eq!((seen, votes.dropped), (vec!["oth-002"], Vec::new()));
    }
}
