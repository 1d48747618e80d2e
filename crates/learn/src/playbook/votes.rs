//! The counters of key points: a session's valid verdicts, the use of each point, the votes of each
//! job, and votes outside the playbook file.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use jiff::Timestamp;
use playbook_core::worded;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::change::{Applied, ChangeKind, Editor, PointState, Skipped};
use super::clean::clean_text;
use super::entry::{self, COUNTERS, Counts, counts, minus, plus, set_counts};
use super::id::{Id, is_own_name};
use super::model::{APPLIED_KEPT, Meta, Playbook};
use crate::digest::name_of;
use crate::shown_record::ShownPoints;

worded! {
    pub enum Tag {
        Helpful = "helpful",
        Harmful = "harmful",
        /// Neither, or without evidence.
        Neutral = "neutral",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulletTag {
    pub name: String,
    pub tag: Tag,
    /// The event that shows it.
    #[serde(default)]
    pub rationale: String,
}

impl BulletTag {
    /// A rationale that is not a string counts as absent.
    fn read(item: &Value) -> Result<Self, Skipped> {
        let field = |key: &str| item.get(key).and_then(Value::as_str);
        let flaw = match (field("name"), field("tag").and_then(Tag::from_word)) {
            (Some(name), Some(tag)) => {
                return Ok(Self {
                    name: name.to_owned(),
                    tag,
                    rationale: field("rationale").unwrap_or_default().to_owned(),
                });
            }
            (None, _) => "no name",
            (_, None) => "neither helpful, harmful nor neutral",
        };
        Err(Skipped::new(format!("tag {}", one_line(item)), flaw))
    }
}

/// Drops an invalid item with its reason and keeps the others.
pub fn read_bullet_tags(value: &Value) -> (Vec<BulletTag>, Vec<Skipped>) {
    let mut skipped = Vec::new();
    let items = match value {
        Value::Array(items) => items.as_slice(),
        Value::Null => &[],
        other => {
            let what = format!("tags {}", one_line(other));
            skipped.push(Skipped::new(what, "not a list"));
            &[]
        }
    };
    let read = items.iter().map(BulletTag::read);
    let tags = read.filter_map(|read| read.map_err(|why| skipped.push(why)).ok());
    (tags.collect(), skipped)
}

pub(super) fn one_line(value: &Value) -> String {
    clean_text(&value.to_string())
}

/// Counts the verdicts: each helpful or harmful tag raises its counter by one; neutral changes
/// nothing (REQ-REFL-007).
///
/// Counters are only ever raised (INV-REFL-003), and each call counts every tag once more
/// (INV-REFL-004). The name of a merged point credits the point that replaced it; an unknown name
/// is skipped with its reason.
pub fn apply_bullet_tags(playbook: &mut Playbook, tags: &[BulletTag]) -> Applied {
    let mut editor = Editor::new(playbook, "", Timestamp::UNIX_EPOCH);
    for tag in tags {
        let Some(state) = editor.playbook.find(&tag.name) else {
            let what = format!("tag for {}", clean_text(&tag.name));
            editor.skip(what, "no such key point");
            continue;
        };
        let (counter, kind) = match tag.tag {
            Tag::Helpful => (entry::HELPFUL, ChangeKind::Helpful),
            Tag::Harmful => (entry::HARMFUL, ChangeKind::Harmful),
            Tag::Neutral => continue,
        };
        editor.reason = clean_text(&tag.rationale);
        editor.alter(state, kind, |state| entry::raise(&mut state.entry, counter));
    }
    editor.done
}

/// The number of root sessions in which a key point was seen, each counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PointUsage {
    /// Sessions that were given the point, or cited it.
    pub shown: u64,
    /// Sessions whose agent cited it.
    pub cited: u64,
    /// Sessions in which its guard led to another way, and in which it was wrong.
    pub guard_helped: u64,
    pub guard_wrong: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointInSession {
    pub name: String,
    /// Set if the agent cited it and did not say that it failed.
    pub is_cited: bool,
    pub vote: Option<Tag>,
}

/// The record is stored in the state folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageRecord {
    pub points: BTreeMap<String, PointUsage>,
    /// The names of the points that hold a rule the user stated in a session.
    pub said: BTreeSet<String>,
    /// The names of the points that the user added or edited by hand.
    pub by_hand: BTreeSet<String>,
    /// The names of the points whose cue or guard the user set by hand.
    pub cued_by_hand: BTreeSet<String>,
}

impl UsageRecord {
    pub fn of(&self, name: &str) -> PointUsage {
        self.points.get(name).copied().unwrap_or_default()
    }
}

impl fmt::Display for PointUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, cited, .. } = self;
        let s = if *shown == 1 { "" } else { "s" };
        match (shown, cited) {
            (0, _) => f.write_str("not shown yet"),
            (_, 0) => write!(f, "shown in {shown} session{s}, never cited"),
            _ => write!(f, "shown in {shown} session{s}, cited in {cited}"),
        }?;
        match (self.guard_helped, self.guard_wrong) {
            (0, 0) => Ok(()),
            (helped, wrong) => write!(f, "; its guard helped in {helped}, was wrong in {wrong}"),
        }
    }
}

const NOT_SHOWN: &str = "not shown to this session";
const OTHER_TEXT: &str = "its text was another when it was shown";
const CONTRADICTED: &str = "the reply judges it in both ways";

/// The names are the current ones of the points.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Votes {
    pub tags: Vec<BulletTag>,
    pub cited: Vec<Id>,
    pub dropped: Vec<Skipped>,
    /// The session's verdict on each point that it saw with its current text.
    pub seen: Vec<PointInSession>,
}

/// For a merged point, its replacement counts as shown, since its text was made of both. A verdict
/// on a missing point is kept; the caller skips it when applying. Invalid neutral verdicts are
/// dropped silently, since they change nothing.
pub fn votes(tags: &[BulletTag], shown: &ShownPoints, cited: &[Id], playbook: &Playbook) -> Votes {
    let states = playbook.states();
    let texts: HashMap<String, String> = states
        .map(|it| (it.name().to_owned(), it.text().to_owned()))
        .collect();
    let names: HashSet<&str> = texts.keys().map(String::as_str).collect();
    let text_of = |name: &str| texts.get(name).map(String::as_str);
    let hash = |text: &str| name_of(clean_text(text).as_bytes());
    // A merge may have given a shown text another number.
    let mut moved: HashMap<&str, &str> = HashMap::new();
    for (name, hashes) in shown.each() {
        if text_of(name).is_some_and(|text| !hashes.contains(&hash(text)))
            && let Some(point) = playbook.points().find(|p| hashes.contains(&hash(p.text)))
        {
            moved.insert(name, point.name);
        }
    }
    // A model may write a name in brackets or capitals.
    let today = |written: &str| -> String {
        let plain = written.trim().trim_matches(['[', ']']).trim();
        let forms = [written.to_owned(), plain.to_owned(), plain.to_lowercase()];
        let mut forms = forms.into_iter();
        let is_there = |name: &String| names.contains(playbook.current_name(&names, name));
        let name = forms.find(is_there).unwrap_or_else(|| written.to_owned());
        let moved = moved.get(name.as_str()).copied();
        let now = moved.unwrap_or_else(|| playbook.current_name(&names, &name));
        now.to_owned()
    };
    // True for a current text that was shown.
    let mut is_same: BTreeMap<String, bool> = BTreeMap::new();
    for (name, hashes) in shown.each().filter(|(name, _)| !is_own_name(name)) {
        let now = today(name);
        let same = now != *name || text_of(&now).is_some_and(|text| hashes.contains(&hash(text)));
        *is_same.entry(now).or_default() |= same;
    }
    let cited_now: Vec<String> = cited.iter().map(|id| today(id.as_str())).collect();
    for name in &cited_now {
        is_same.entry(name.clone()).or_insert(true);
    }
    let flaw = |name: &str| match is_same.get(name) {
        _ if !names.contains(name) => None,
        Some(true) => None,
        Some(false) => Some(OTHER_TEXT),
        None => Some(NOT_SHOWN),
    };
    let mut votes = Votes::default();
    let mut drop = |tag: Tag, name: &str, reason: &str| {
        if tag != Tag::Neutral {
            let what = format!("{} tag for {}", tag.word(), clean_text(name));
            votes.dropped.push(Skipped::new(what, reason));
        }
    };
    let mut contradicted = BTreeSet::new();
    // The user's own points get no votes.
    for tag in tags.iter().filter(|tag| !is_own_name(&tag.name)) {
        let mut tag = tag.clone();
        tag.name = today(&tag.name);
        let known = votes.tags.iter_mut().find(|known| known.name == tag.name);
        match (flaw(&tag.name), known) {
            (Some(flaw), _) => drop(tag.tag, &tag.name, flaw),
            (None, None) => votes.tags.push(tag),
            (None, Some(known)) => {
                if known.tag == Tag::Neutral && !contradicted.contains(&tag.name) {
                    *known = tag;
                } else if ![Tag::Neutral, known.tag].contains(&tag.tag)
                    && contradicted.insert(tag.name)
                {
                    known.tag = Tag::Neutral;
                    drop(Tag::Helpful, &known.name, CONTRADICTED);
                }
            }
        }
    }
    let valid = cited.iter().zip(&cited_now);
    let valid = valid.filter(|(_, now)| flaw(now).is_none());
    let valid = valid.map(|(id, now)| Id::parse(now).unwrap_or_else(|| id.clone()));
    votes.cited = valid.collect();
    for (name, is_same) in is_same {
        if is_same && names.contains(name.as_str()) {
            let tag = votes.tags.iter().find(|tag| tag.name == name);
            votes.seen.push(PointInSession {
                is_cited: cited_now.contains(&name),
                vote: tag.map(|tag| tag.tag).filter(|tag| *tag != Tag::Neutral),
                name,
            });
        }
    }
    votes
}

pub(super) type Moves = BTreeMap<String, Counts>;

impl Meta {
    pub(super) fn moves_of<'j>(&self, jobs: impl IntoIterator<Item = &'j String>) -> Moves {
        let votes = jobs.into_iter().filter_map(|job| self.votes.get(job));
        sum(votes.flat_map(|votes| read(votes)))
    }
}

fn sum(all: impl IntoIterator<Item = (String, Counts)>) -> Moves {
    let mut sum = Moves::new();
    for (name, by) in all {
        let known = sum.entry(name).or_default();
        *known = plus(*known, by);
    }
    sum
}

/// Formats votes: `pat-001 +1`, `pat-001 -2`. An undone vote has a second sign: `pat-001 +-1`.
fn written(moves: &Moves) -> String {
    let parts = moves.iter().flat_map(|(name, moved)| {
        let signs = ['+', '-'].into_iter().zip(moved);
        let signs = signs.filter(|(_, by)| **by != 0);
        signs.map(move |(sign, by)| format!("{name} {sign}{by}"))
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn read(votes: &str) -> Moves {
    let words: Vec<&str> = votes.split_whitespace().collect();
    let moves = words.chunks_exact(2).filter_map(|pair| {
        let (sign, by) = pair[1].split_at_checked(1)?;
        let by = i64::from(by.parse::<i32>().ok()?);
        let moved = match sign {
            "+" => [by, 0],
            "-" => [0, by],
            _ => return None,
        };
        Some((pair[0].to_owned(), moved))
    });
    sum(moves)
}

pub(super) fn renamed(votes: &str, names: &BTreeMap<String, String>) -> String {
    let moves = read(votes).into_iter();
    let moves = moves.map(|(name, by)| (names.get(&name).cloned().unwrap_or(name), by));
    written(&moves.collect())
}

pub type LocalVotes = BTreeMap<String, LocalVote>;

/// The votes for one key point; negative where votes in the file were undone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LocalVote {
    pub helpful: i64,
    pub harmful: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<Timestamp>,
}

impl LocalVote {
    fn counts(&self) -> Counts {
        [self.helpful, self.harmful]
    }

    pub fn add(&mut self, more: &Self) {
        [self.helpful, self.harmful] = plus(self.counts(), more.counts());
        self.used = self.used.max(more.used);
    }
}

impl Playbook {
    /// Marks `job` as applied, with its changes to the counters of `before`.
    pub fn mark_applied_to(&mut self, before: &Self, job: &str) {
        let moves = self.moves_since(before);
        let Meta { applied, votes, .. } = &mut self.meta;
        if !applied.iter().any(|known| known == job) {
            applied.push(job.to_owned());
            applied.drain(..applied.len().saturating_sub(APPLIED_KEPT));
        }
        if !moves.is_empty() {
            votes.insert(job.to_owned(), written(&moves));
        }
        votes.retain(|job, _| applied.contains(job));
    }

    fn counted(&self) -> LocalVotes {
        let vote = |state: PointState| {
            let [helpful, harmful] = counts(&state.entry);
            let used = state.note.used;
            (
                state.name().to_owned(),
                LocalVote {
                    helpful,
                    harmful,
                    used,
                },
            )
        };
        self.states().map(vote).collect()
    }

    fn moves_since(&self, before: &Self) -> Moves {
        // Counters taken over from a merged point are no votes.
        let was = self.current_votes(&before.counted());
        let moves = self.counted().into_iter().map(|(name, now)| {
            let was = was.get(&name).map_or([0, 0], LocalVote::counts);
            (name, minus(now.counts(), was))
        });
        let is_vote = |name: &str, by| by != [0, 0] && !name.contains(char::is_whitespace);
        moves.filter(|(name, by)| is_vote(name, *by)).collect()
    }

    /// Adds votes to the counters of a file. Those for a merged point go to its replacement.
    #[must_use]
    pub fn with_votes(mut self, votes: &LocalVotes) -> Self {
        let votes = self.current_votes(votes);
        for mut state in self.states().collect::<Vec<_>>() {
            if let Some(vote) = votes.get(state.name()) {
                let sum = plus(counts(&state.entry), vote.counts());
                set_counts(&mut state.entry, sum);
                state.note.used = state.note.used.max(vote.used);
                self.set(&state);
            }
        }
        self
    }

    /// Separates a job's result on `file` with `votes` into the new file and the votes of the job.
    /// `is_local` keeps the file's counters of existing points unchanged.
    #[must_use]
    pub fn parted(mut self, file: &Self, votes: &LocalVotes, is_local: bool) -> (Self, LocalVotes) {
        let mut stored = self.current_votes(votes);
        // A point that replaced others has their counters.
        let in_file = self.current_votes(&file.counted());
        let known = file.states().map(|it| (it.name().to_owned(), it));
        let known: HashMap<String, PointState> = known.collect();
        let mut of_job = LocalVotes::new();
        for mut state in self.states().collect::<Vec<_>>() {
            let name = state.name().to_owned();
            let old = known.get(&name);
            let stored = stored.remove(&name).unwrap_or_default();
            let whole = counts(&state.entry);
            let kept = match in_file.get(&name) {
                Some(sums) if old.is_some() && is_local => sums.counts(),
                _ => minus(whole, stored.counts()).map(|count| count.max(0)),
            };
            set_counts(&mut state.entry, kept);
            for (at, key) in COUNTERS.into_iter().enumerate() {
                if let Some(old) = old.filter(|old| counts(&old.entry)[at] == kept[at]) {
                    put_back(&mut state.entry, key, &old.entry);
                }
            }
            let [helpful, harmful] = minus(minus(whole, kept), stored.counts());
            let used_in_file = file.note(&name).used;
            let used = state.note.used;
            let is_used = used != used_in_file.max(stored.used);
            if old.is_some() && (is_local || !is_used) {
                state.note.used = used_in_file;
            }
            let vote = LocalVote {
                helpful,
                harmful,
                used: used.filter(|_| is_used && is_local && old.is_some()),
            };
            if vote != LocalVote::default() {
                of_job.insert(name, vote);
            }
            self.set(&state);
        }
        (self, of_job)
    }

    fn current_votes(&self, votes: &LocalVotes) -> LocalVotes {
        let names = self.names().collect();
        let mut current = LocalVotes::new();
        for (name, vote) in votes {
            let name = self.current_name(&names, name).to_owned();
            current.entry(name).or_default().add(vote);
        }
        current
    }
}

fn put_back(fields: &mut Map<String, Value>, key: &str, from: &Map<String, Value>) {
    match from.get(key) {
        Some(value) => fields.insert(key.to_owned(), value.clone()),
        None => fields.shift_remove(key),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::render::in_text;
    use serde_json::json;

    /// Regression: a vote was lost when a merge gave the shown text another number.
    #[test]
    fn what_was_shown_gets_its_vote_under_the_number_that_a_merge_gave_it() {
        let file = json!({"sections": {"OTHERS": [
            {"name": "oth-001", "text": "of the other branch"},
            {"name": "oth-002", "text": "what was shown"}]}});
        let playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
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
