//! Which verdicts of a session are votes.
//!
//! A model judges every key point that it sees in its prompt, also those that the session
//! knew nothing of. A verdict counts only for a point that the session was shown or cited,
//! with the text that the point has now, and is helpful only where the session does not say
//! that the point failed it. This stands before
//! [`apply_bullet_tags`](super::tags::apply_bullet_tags), which counts whatever it is given.

use std::collections::{HashMap, HashSet};

use super::change::Skipped;
use super::clean::clean_text;
use super::entry;
use super::id::Id;
use super::model::Playbook;
use super::shown::ShownPoints;
use super::tags::{BulletTag, Tag};

/// What a session knew of the playbook.
pub struct Known<'a> {
    /// What it was shown, as far as that is known.
    pub shown: &'a ShownPoints,
    /// What it cited.
    pub cited: &'a [Id],
    /// Whether it says of a cited point that it failed, is outdated or did not help.
    pub is_disowned: &'a dyn Fn(&Id) -> bool,
}

/// What counts of a session's verdicts and citations.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Votes {
    /// The verdicts that count.
    pub tags: Vec<BulletTag>,
    /// The citations that count.
    pub cited: Vec<Id>,
    /// The verdicts that do not, with the reason of each.
    pub dropped: Vec<Skipped>,
}

/// Why a point gets no vote from a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoVote {
    NotShown,
    OtherText,
}

impl NoVote {
    const fn reason(self) -> &'static str {
        match self {
            Self::NotShown => "not shown to this session",
            Self::OtherText => "its text was another when it was shown",
        }
    }
}

/// Chooses the verdicts and citations of a session that count in `playbook` as it is now.
///
/// Of a point that was merged away the one that took it in counts as shown: what it says now
/// was made of both texts. A verdict on a point that is not there is left to whoever applies
/// it. Neutral verdicts that do not count are dropped without a word: they change nothing.
pub fn votes(tags: &[BulletTag], known: &Known<'_>, playbook: &Playbook) -> Votes {
    let places = playbook.places();
    let current = |name| playbook.current_name(&places, name);
    let text_of = |name: &str| entry::text(playbook.entry(places.get(name)?)?);
    // By the names of today: whether a text of today was shown.
    let mut is_same: HashMap<&str, bool> = HashMap::new();
    for (name, was_shown) in known.shown.each() {
        let today = current(name);
        let same = today != name || text_of(today).is_some_and(was_shown);
        *is_same.entry(today).or_default() |= same;
    }
    for id in known.cited {
        is_same.entry(current(id.as_str())).or_insert(true);
    }
    let disowned: HashSet<&str> = known
        .cited
        .iter()
        .filter(|id| (known.is_disowned)(id))
        .map(|id| current(id.as_str()))
        .collect();
    let flaw = |name| match is_same.get(current(name)) {
        _ if !places.contains_key(current(name)) => None,
        Some(true) => None,
        Some(false) => Some(NoVote::OtherText),
        None => Some(NoVote::NotShown),
    };
    let mut votes = Votes::default();
    for tag in tags {
        let mut drop = |reason: &str| {
            if tag.tag != Tag::Neutral {
                let what = format!("{} tag for {}", tag.tag.word(), clean_text(&tag.name));
                votes.dropped.push(Skipped::new(what, reason));
            }
        };
        if let Some(flaw) = flaw(&tag.name) {
            drop(flaw.reason());
        } else if tag.tag == Tag::Helpful && disowned.contains(current(&tag.name)) {
            drop("the session says that it did not help");
            let tag = BulletTag {
                tag: Tag::Neutral,
                ..tag.clone()
            };
            votes.tags.push(tag);
        } else {
            votes.tags.push(tag.clone());
        }
    }
    let cited = known.cited.iter();
    votes.cited = cited
        .filter(|id| flaw(id.as_str()).is_none())
        .cloned()
        .collect();
    votes
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn playbook() -> Playbook {
        let file = json!({
            "sections": {"OTHERS": [
                {"name": "oth-001", "text": "use tabs"},
                {"name": "oth-002", "text": "test first, as it says now"},
                {"name": "oth-003", "text": "of two points"}]},
            "playbook": {"aliases": {"oth-000": "oth-003"}}});
        Playbook::parse(file.to_string().as_bytes()).unwrap()
    }

    fn shown(lines: &[&str]) -> ShownPoints {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| line.replacen(' ', "] helpful=0 harmful=0 :: ", 1))
            .map(|line| format!("[{line}"))
            .collect();
        ShownPoints::in_text(&lines.join("\n"))
    }

    const COUNTS: Option<&str> = None;
    const NOT_SHOWN: Option<&str> = Some("not shown to this session");
    const OTHER_TEXT: Option<&str> = Some("its text was another when it was shown");
    const DISOWNED: Option<&str> = Some("the session says that it did not help");

    #[rstest]
    #[case::shown(&["oth-001 use tabs"], &[], "oth-001", COUNTS)]
    #[case::neither_shown_nor_cited(&["oth-001 use tabs"], &[], "oth-002", NOT_SHOWN)]
    #[case::cited_with_no_record(&[], &["oth-001"], "oth-001", COUNTS)]
    #[case::cited_but_not_among_the_shown(&["oth-002 x"], &["oth-001"], "oth-001", COUNTS)]
    #[case::nothing_is_known(&[], &[], "oth-001", NOT_SHOWN)]
    #[case::another_text_was_shown(&["oth-002 test last"], &[], "oth-002", OTHER_TEXT)]
    #[case::another_text_was_cited(&["oth-002 test last"], &["oth-002"], "oth-002", OTHER_TEXT)]
    #[case::both_texts_were_shown(&["oth-002 test last", "oth-002 test first, as it says now"], &[], "oth-002", COUNTS)]
    #[case::merged_away_since(&["oth-000 one of two"], &[], "oth-003", COUNTS)]
    #[case::called_by_its_old_name(&["oth-000 one of two"], &[], "oth-000", COUNTS)]
    #[case::cited_by_its_old_name(&[], &["oth-000"], "oth-003", COUNTS)]
    #[case::there_is_no_such_point(&[], &[], "oth-009", COUNTS)]
    #[case::disowned(&["oth-001 use tabs"], &["oth-001", "mis-666"], "oth-001", DISOWNED)]
    fn only_what_the_session_knew_gets_its_vote(
        #[case] lines: &[&str],
        #[case] cited: &[&str],
        #[case] name: &str,
        #[case] reason: Option<&str>,
    ) {
        let cited: Vec<Id> = cited.iter().map(|id| Id::parse(id).unwrap()).collect();
        let is_disowned = |_: &Id| cited.len() > 1;
        let shown = shown(lines);
        let known = Known {
            shown: &shown,
            cited: &cited,
            is_disowned: &is_disowned,
        };
        for verdict in [Tag::Helpful, Tag::Harmful, Tag::Neutral] {
            let tag = BulletTag {
                name: name.to_owned(),
                tag: verdict,
                rationale: String::new(),
            };
            let votes = votes(&[tag], &known, &playbook());
            let reason = reason.filter(|_| verdict == Tag::Helpful || reason != DISOWNED);
            let told = reason.filter(|_| verdict != Tag::Neutral);
            let dropped: Vec<_> = votes.dropped.iter().map(|d| d.reason.as_str()).collect();
            assert_eq!(dropped, Vec::from_iter(told), "{verdict:?}");
            let left: Vec<_> = votes.tags.iter().map(|tag| tag.tag).collect();
            match reason {
                None => assert_eq!(left, [verdict]),
                DISOWNED => assert_eq!(left, [Tag::Neutral]),
                Some(_) => assert_eq!(left, []),
            }
            let is_cited = !cited.is_empty() && reason != OTHER_TEXT;
            assert_eq!(!votes.cited.is_empty(), is_cited);
        }
    }
}
