//! Which verdicts of a session are votes.
//!
//! A model judges every key point that it sees in its prompt, also those that the session
//! knew nothing of. A verdict counts only for a point that the session was shown or cited,
//! with the text that the point has now, and is helpful only where the session does not say
//! that the point failed it. A point gets one verdict, however often a reply judges it, and
//! by whatever name; where verdicts contradict each other, none. This stands before
//! [`apply_bullet_tags`](super::tags::apply_bullet_tags), which counts whatever it is given.

use std::collections::HashMap;

use super::change::Skipped;
use super::clean::clean_text;
use super::entry;
use super::id::{Id, is_own_name};
use super::model::Playbook;
use super::shown;
use super::tags::{BulletTag, Tag};
use super::usage::PointInSession;
use crate::shown_record::ShownPoints;

/// Why a point gets no vote from a session.
const NOT_SHOWN: &str = "not shown to this session";
const OTHER_TEXT: &str = "its text was another when it was shown";
const CONTRADICTED: &str = "the reply judges it in both ways";

/// What is known of the session whose tags are to count.
pub struct KnownSession<'a> {
    /// The points that it was given, with the hashes of their texts.
    pub shown: &'a ShownPoints,
    /// The points that its assistant cited.
    pub cited: &'a [Id],
}

/// Which tags and citations of a session count.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Votes {
    pub tags: Vec<BulletTag>,
    /// The citations that count.
    pub cited: Vec<Id>,
    /// The verdicts that do not, with the reason of each.
    pub dropped: Vec<Skipped>,
    /// What the session says of each point that it knew with the text of now.
    pub seen: Vec<PointInSession>,
}

/// Chooses the verdicts and citations of a session that count in `playbook` as it is now.
///
/// Of a point that was merged away the one that took it in counts as shown: what it says now
/// was made of both texts. A verdict on a point that is not there is left to whoever applies
/// it. Neutral verdicts that do not count are dropped without a word: they change nothing.
pub fn votes(tags: &[BulletTag], known: &KnownSession<'_>, playbook: &Playbook) -> Votes {
    let places = playbook.places();
    let text_of = |name: &str| entry::text(playbook.entry(places.get(name)?)?);
    let moved = moved(known.shown, playbook, text_of);
    let current = |name| match moved.get(name) {
        Some(now) => now,
        None => playbook.current_name(&places, name),
    };
    let is_there = |name: &str| places.contains_key(playbook.current_name(&places, name));
    // The user's own points get no votes.
    let is_of_here = |name: &str| !is_own_name(name);
    let tags = tags.iter().filter(|tag| is_of_here(&tag.name));
    let tags = tags.map(|tag| as_listed(tag, is_there));
    let tags: Vec<BulletTag> = tags.map(|tag| renumbered(tag, &moved)).collect();
    let cited = known.cited.iter();
    let cited: Vec<Id> = cited.map(|id| now_called(id, &moved)).collect();
    // By the names of today: whether a text of today was shown.
    let mut is_same: HashMap<&str, bool> = HashMap::new();
    for (name, was_shown) in shown::each(known.shown).filter(|(name, _)| is_of_here(name)) {
        let today = current(name);
        let same = today != name || text_of(today).is_some_and(&was_shown);
        *is_same.entry(today).or_default() |= same;
    }
    for id in &cited {
        is_same.entry(current(id.as_str())).or_insert(true);
    }
    let flaw = |name| match is_same.get(current(name)) {
        _ if !places.contains_key(current(name)) => None,
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
    // By the names of today: all verdicts on a point.
    let mut verdicts: Vec<Vec<BulletTag>> = Vec::new();
    let mut on: HashMap<&str, usize> = HashMap::new();
    for tag in &tags {
        if let Some(flaw) = flaw(&tag.name) {
            drop(tag, flaw);
            continue;
        }
        let name = current(&tag.name);
        let at = *on.entry(name).or_insert(verdicts.len());
        match verdicts.get_mut(at) {
            Some(known) => known.push(tag.clone()),
            None => verdicts.push(vec![tag.clone()]),
        }
    }
    for mut verdicts in verdicts {
        let is = |wanted| verdicts.iter().position(|verdict| verdict.tag == wanted);
        let chosen = match (is(Tag::Helpful), is(Tag::Harmful)) {
            (Some(helpful), Some(_)) => {
                drop(&verdicts[helpful], CONTRADICTED);
                verdicts[helpful].tag = Tag::Neutral;
                helpful
            }
            (helpful, harmful) => helpful.or(harmful).unwrap_or_default(),
        };
        votes.tags.push(verdicts.swap_remove(chosen));
    }
    let counted = cited.iter().filter(|id| flaw(id.as_str()).is_none());
    votes.cited = counted.map(|id| (*id).clone()).collect();
    let known_points = is_same
        .iter()
        .filter(|(name, same)| **same && is_there(name));
    let mut names: Vec<&str> = known_points.map(|(name, _)| *name).collect();
    names.sort_unstable();
    let vote_of = |name: &str| {
        let vote = votes.tags.iter().find(|tag| current(&tag.name) == name);
        vote.map(|tag| tag.tag).filter(|tag| *tag != Tag::Neutral)
    };
    let is_cited = |name: &str| {
        let mut cited = votes.cited.iter().map(|id| current(id.as_str()));
        cited.any(|cited| cited == name)
    };
    let seen = names.iter().map(|name| PointInSession {
        name: (*name).to_owned(),
        is_cited: is_cited(name),
        vote: vote_of(name),
    });
    let seen = seen.collect();
    votes.seen = seen;
    votes
}

/// The points that another number was given since they were shown, by their old names: under that
/// stands another text now, and what was shown stands under the new one.
fn moved<'p>(
    shown: &ShownPoints,
    playbook: &'p Playbook,
    text_of: impl Fn(&str) -> Option<&'p str>,
) -> HashMap<String, &'p str> {
    let mut moved = HashMap::new();
    for (name, was_shown) in shown::each(shown) {
        if text_of(name).is_some_and(|text| !was_shown(text))
            && let Some(point) = playbook.points().find(|point| was_shown(point.text))
        {
            moved.insert(name.to_owned(), point.name);
        }
    }
    moved
}

fn renumbered(mut tag: BulletTag, moved: &HashMap<String, &str>) -> BulletTag {
    if let Some(now) = moved.get(&tag.name) {
        (*now).clone_into(&mut tag.name);
    }
    tag
}

fn now_called(id: &Id, moved: &HashMap<String, &str>) -> Id {
    let now = moved.get(id.as_str()).and_then(|now| Id::parse(now));
    now.unwrap_or_else(|| id.clone())
}

/// A verdict by the name that the playbook has, where a model wrote it in brackets or in
/// capitals.
fn as_listed(tag: &BulletTag, is_there: impl Fn(&str) -> bool) -> BulletTag {
    let mut tag = tag.clone();
    let plain = tag.name.trim().trim_matches(['[', ']']).trim().to_owned();
    let written = [&tag.name, &plain, &plain.to_lowercase()].map(Clone::clone);
    if let Some(name) = written.into_iter().find(|name| is_there(name)) {
        tag.name = name;
    }
    tag
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

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
        let file = json!({
            "sections": {"OTHERS": [{"name": "oth-003", "text": "of two points"}]},
            "playbook": {"aliases": {"oth-000": "oth-003"}}});
        let playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
        let known = KnownSession {
            shown: &shown::in_text(given),
            cited: &[],
        };
        let tag = |tag| BulletTag {
            name: name.to_owned(),
            tag,
            rationale: String::new(),
        };
        let votes = votes(&[tag(Tag::Harmful), tag(Tag::Neutral)], &known, &playbook);
        let reasons: Vec<_> = votes.dropped.iter().map(|d| d.reason.as_str()).collect();
        assert_eq!(reasons, dropped);
        assert_eq!(votes.tags.is_empty(), !dropped.is_empty());
    }

    /// Fixes the vote that was lost: a merge gave the shown text another number.
    #[test]
    fn what_was_shown_gets_its_vote_under_the_number_that_a_merge_gave_it() {
        let file = json!({"sections": {"OTHERS": [
            {"name": "oth-001", "text": "of the other branch"},
            {"name": "oth-002", "text": "what was shown"}]}});
        let playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
        let id = Id::parse("oth-001").unwrap();
        let known = KnownSession {
            shown: &shown::in_text("[oth-001] helpful=0 harmful=0 :: what was shown"),
            cited: std::slice::from_ref(&id),
        };
        let tag = BulletTag {
            name: "oth-001".to_owned(),
            tag: Tag::Helpful,
            rationale: String::new(),
        };
        let votes = votes(&[tag], &known, &playbook);
        assert_eq!(votes.tags[0].name, "oth-002");
        assert_eq!(votes.cited[0].as_str(), "oth-002");
        let seen: Vec<_> = votes.seen.iter().map(|point| point.name.as_str()).collect();
        assert_eq!((seen, votes.dropped), (vec!["oth-002"], Vec::new()));
    }
}
