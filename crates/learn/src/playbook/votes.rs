//! The counters of key points: a session's valid verdicts, the use of each point, the votes of each
//! job, and votes outside the playbook file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use jiff::Timestamp;
use playbook_core::worded;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::change::{Applied, ChangeKind, PointChange, PointState, Skipped};
use super::clean::{clean, clean_text};
use super::entry::{self, COUNTERS, counts, set_counts};
use super::id::{Id, is_own_name};
use super::model::{APPLIED_KEPT, Meta, Playbook, PointPlace};
use crate::digest::name_of;
use crate::shown_record::ShownPoints;

worded! {
    /// The effect of a key point on a session.
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
    /// Reads one item of a model's `bullet_tags`; a rationale that is not a string counts as
    /// absent.
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

/// Reads the `bullet_tags` of a model's reply item by item. An invalid item is dropped with its
/// reason; the others are kept.
pub fn read_bullet_tags(value: &Value) -> (Vec<BulletTag>, Vec<Skipped>) {
    let mut skipped = Vec::new();
    let items = match value {
        Value::Array(items) => items.as_slice(),
        Value::Null => &[],
        other => {
            skipped.push(Skipped::new(
                format!("tags {}", one_line(other)),
                "not a list",
            ));
            &[]
        }
    };
    let read = items.iter().map(BulletTag::read);
    let tags = read.filter_map(|read| read.map_err(|why| skipped.push(why)).ok());
    (tags.collect(), skipped)
}

/// Formats a value for a log: one line, cut.
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
    let mut applied = Applied::default();
    let places = playbook.places();
    for tag in tags {
        let name = playbook.current_name(&places, &tag.name).to_owned();
        let Some(place) = places.get(&name) else {
            let what = format!("tag for {}", clean_text(&tag.name));
            let skipped = Skipped::new(what, "no such key point");
            applied.skipped.push(skipped);
            continue;
        };
        let (counter, kind) = match tag.tag {
            Tag::Helpful => (entry::HELPFUL, ChangeKind::Helpful),
            Tag::Harmful => (entry::HARMFUL, ChangeKind::Harmful),
            Tag::Neutral => continue,
        };
        let before = PointState::of(playbook, place);
        if let Some(fields) = playbook.entry_mut(place) {
            entry::raise(fields, counter);
        }
        applied.changes.push(PointChange {
            kind,
            id: name,
            before,
            after: PointState::of(playbook, place),
            into: None,
            reason: clean_text(&tag.rationale),
        });
    }
    applied
}

/// The number of root sessions in which a key point was seen, each counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PointUsage {
    /// Sessions that were given the point, or cited it.
    pub shown: u64,
    /// Sessions whose agent cited it.
    pub cited: u64,
}

/// The verdict of one session on a key point that it was shown or that it cited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointInSession {
    pub name: String,
    /// Set if the agent cited it and did not say that it failed.
    pub is_cited: bool,
    pub vote: Option<Tag>,
}

/// The use of all key points of a project, as stored in the state folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageRecord {
    pub points: BTreeMap<String, PointUsage>,
    /// The names of the points that hold a rule the user stated in a session.
    pub said: BTreeSet<String>,
    /// The names of the points that the user added or edited by hand.
    pub by_hand: BTreeSet<String>,
}

impl UsageRecord {
    /// Returns the use of a point; zero if no session has seen it.
    pub fn of(&self, name: &str) -> PointUsage {
        self.points.get(name).copied().unwrap_or_default()
    }
}

impl fmt::Display for PointUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, cited } = self;
        let s = if *shown == 1 { "" } else { "s" };
        match (shown, cited) {
            (0, _) => f.write_str("not shown yet"),
            (_, 0) => write!(f, "shown in {shown} session{s}, never cited"),
            _ => write!(f, "shown in {shown} session{s}, cited in {cited}"),
        }
    }
}

const NOT_SHOWN: &str = "not shown to this session";
const OTHER_TEXT: &str = "its text was another when it was shown";
const CONTRADICTED: &str = "the reply judges it in both ways";

/// The valid tags and citations of a session, by the current names of the points.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Votes {
    pub tags: Vec<BulletTag>,
    pub cited: Vec<Id>,
    /// The verdicts that do not count, with their reasons.
    pub dropped: Vec<Skipped>,
    /// The session's verdict on each point that it saw with its current text.
    pub seen: Vec<PointInSession>,
}

/// Selects the verdicts and citations of a session that are valid in the current `playbook`.
///
/// For a merged point, its replacement counts as shown, since its text was made of both. A verdict
/// on a missing point is kept; the caller skips it when applying. Invalid neutral verdicts are
/// dropped silently, since they change nothing.
pub fn votes(tags: &[BulletTag], shown: &ShownPoints, cited: &[Id], playbook: &Playbook) -> Votes {
    let places = playbook.places();
    let text_of = |name: &str| entry::text(playbook.entry(places.get(name)?)?);
    let hash = |text: &str| name_of(clean(text).as_bytes());
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
        let is_there = |name: &String| places.contains_key(playbook.current_name(&places, name));
        let name = forms.find(is_there).unwrap_or_else(|| written.to_owned());
        let moved = moved.get(name.as_str()).copied();
        let now = moved.unwrap_or_else(|| playbook.current_name(&places, &name));
        now.to_owned()
    };
    // True for a current text that was shown.
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
    let mut drop = |tag: Tag, name: &str, reason: &str| {
        if tag != Tag::Neutral {
            let what = format!("{} tag for {}", tag.word(), clean_text(name));
            votes.dropped.push(Skipped::new(what, reason));
        }
    };
    let mut contradicted = BTreeSet::new();
    // The user's own points get no votes.
    for tag in tags.iter().filter(|tag| !is_own_name(&tag.name)) {
        let name = today(&tag.name);
        let tag = BulletTag {
            name: name.clone(),
            ..tag.clone()
        };
        let known = votes.tags.iter_mut().find(|known| known.name == name);
        match (flaw(&name), known) {
            (Some(flaw), _) => drop(tag.tag, &name, flaw),
            (None, None) => votes.tags.push(tag),
            (None, Some(known)) => {
                if known.tag == Tag::Neutral && !contradicted.contains(&name) {
                    *known = tag;
                } else if tag.tag != Tag::Neutral
                    && tag.tag != known.tag
                    && contradicted.insert(name)
                {
                    known.tag = Tag::Neutral;
                    drop(Tag::Helpful, &tag.name, CONTRADICTED);
                }
            }
        }
    }
    for id in cited {
        let now = today(id.as_str());
        if flaw(&now).is_none() {
            let now = Id::parse(&now).unwrap_or_else(|| id.clone());
            votes.cited.push(now);
        }
    }
    let seen = is_same.iter().filter(|(_, is_same)| **is_same);
    for (name, _) in seen.filter(|(name, _)| places.contains_key(*name)) {
        let tag = votes.tags.iter().find(|tag| tag.name == *name);
        votes.seen.push(PointInSession {
            name: name.clone(),
            is_cited: cited.iter().any(|id| today(id.as_str()) == *name),
            vote: tag.map(|tag| tag.tag).filter(|tag| *tag != Tag::Neutral),
        });
    }
    votes
}

/// The changes of the helpful and harmful counters, by point.
pub(super) type Moves = BTreeMap<String, [i64; 2]>;

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

    /// Returns the counters of all named entries; of two with one name, those of the last.
    fn counters(&self) -> Moves {
        let named = self.entries();
        let named =
            named.filter_map(|(_, fields)| Some((entry::name(fields)?.to_owned(), counts(fields))));
        named.collect()
    }

    fn moves_since(&self, before: &Self) -> Moves {
        let mut moves = self.counters();
        let here = self.places();
        // Counters taken over from a merged point are no votes.
        for (name, was) in before.counters() {
            if let Some(now) = moves.get_mut(self.current_name(&here, &name)) {
                *now = [now[0] - was[0], now[1] - was[1]];
            }
        }
        moves.retain(|name, now| *now != [0, 0] && !name.contains(char::is_whitespace));
        moves
    }
}

impl Meta {
    /// Returns the recorded changes of counters by these jobs.
    pub(super) fn moves_of<'j>(&self, jobs: impl IntoIterator<Item = &'j String>) -> Moves {
        let mut sum = Moves::new();
        for votes in jobs.into_iter().filter_map(|job| self.votes.get(job)) {
            for (name, moved) in read(votes) {
                let known = sum.entry(name).or_default();
                *known = [known[0] + moved[0], known[1] + moved[1]];
            }
        }
        sum
    }
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
    let mut moves = Moves::new();
    let mut words = votes.split_whitespace();
    while let (Some(name), Some(vote)) = (words.next(), words.next()) {
        let (sign, by) = vote.split_at(vote.len().min(1));
        let which = match sign {
            "+" => 0,
            "-" => 1,
            _ => continue,
        };
        if let Ok(by) = by.parse::<i32>() {
            moves.entry(name.to_owned()).or_default()[which] += i64::from(by);
        }
    }
    moves
}

pub(super) fn renamed(votes: &str, names: &BTreeMap<String, String>) -> String {
    let moves = read(votes).into_iter();
    let moves = moves.map(|(name, by)| (names.get(&name).cloned().unwrap_or(name), by));
    written(&moves.collect())
}

/// The votes for the key points of one project, by name.
pub type LocalVotes = BTreeMap<String, LocalVote>;

/// The votes for one key point; negative where votes in the file were undone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LocalVote {
    pub helpful: i64,
    pub harmful: i64,
    /// The time at which a session last cited or judged it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<Timestamp>,
}

impl LocalVote {
    fn counts(&self) -> [i64; 2] {
        [self.helpful, self.harmful]
    }

    pub fn add(&mut self, more: &Self) {
        self.helpful = self.helpful.saturating_add(more.helpful);
        self.harmful = self.harmful.saturating_add(more.harmful);
        self.used = self.used.max(more.used);
    }
}

impl Playbook {
    /// Adds votes to the counters of a file. Those for a merged point go to its replacement.
    #[must_use]
    pub fn with_votes(mut self, votes: &LocalVotes) -> Self {
        let places = self.places();
        for (name, vote) in self.by_current_name(&places, votes) {
            let Some(fields) = places.get(&name).and_then(|place| self.entry_mut(place)) else {
                continue;
            };
            let (old, more) = (counts(fields), vote.counts());
            set_counts(fields, [0, 1].map(|at| old[at].saturating_add(more[at])));
            if vote.used.is_some() {
                let note = self.meta.points.entry(name).or_default();
                note.used = note.used.max(vote.used);
            }
        }
        self
    }

    /// Separates a job's result on `file` with `votes` into the new file and the votes of the job.
    /// `is_local` keeps the file's counters of existing points unchanged.
    #[must_use]
    pub fn parted(mut self, file: &Self, votes: &LocalVotes, is_local: bool) -> (Self, LocalVotes) {
        let (places, known) = (self.places(), file.places());
        let stored = self.by_current_name(&places, votes);
        // A point that replaced others has their counters.
        let mut in_file = Moves::new();
        for (name, more) in file.counters() {
            let name = self.current_name(&places, &name).to_owned();
            let sum = in_file.entry(name).or_default();
            *sum = [0, 1].map(|at| sum[at].saturating_add(more[at]));
        }
        let mut of_job = LocalVotes::new();
        for (name, place) in &places {
            let old = known.get(name).and_then(|place| file.entry(place));
            let stored = stored.get(name).cloned().unwrap_or_default();
            let Some(fields) = self.entry_mut(place) else {
                continue;
            };
            let (whole, before) = (counts(fields), stored.counts());
            let kept = match in_file.get(name) {
                Some(sums) if old.is_some() && is_local => *sums,
                _ => [0, 1].map(|at| whole[at].saturating_sub(before[at]).max(0)),
            };
            set_counts(fields, kept);
            for (at, key) in COUNTERS.into_iter().enumerate() {
                if let Some(old) = old.filter(|old| counts(old)[at] == kept[at]) {
                    put_back(fields, key, old);
                }
            }
            let of_job_alone = |at: usize| whole[at].saturating_sub(kept[at]);
            let [helpful, harmful] = [0, 1].map(|at| of_job_alone(at).saturating_sub(before[at]));
            let used = |playbook: &Self| playbook.meta.points.get(name).and_then(|note| note.used);
            let (used_now, used_in_file) = (used(&self), used(file));
            let is_used = used_now != used_in_file.max(stored.used);
            if old.is_some()
                && (is_local || !is_used)
                && let Some(note) = self.meta.points.get_mut(name)
            {
                note.used = used_in_file;
            }
            let vote = LocalVote {
                helpful,
                harmful,
                used: used_now.filter(|_| is_used && is_local && old.is_some()),
            };
            if vote != LocalVote::default() {
                of_job.insert(name.clone(), vote);
            }
        }
        let is_known = |name: &String| file.meta.points.contains_key(name);
        let points = &mut self.meta.points;
        points.retain(|name, note| !note.is_blank() || is_known(name));
        (self, of_job)
    }

    fn by_current_name(
        &self,
        places: &HashMap<String, PointPlace>,
        votes: &LocalVotes,
    ) -> LocalVotes {
        let mut current = LocalVotes::new();
        for (name, vote) in votes {
            let name = self.current_name(places, name).to_owned();
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
    use crate::playbook::ops::apply_operations;
    use crate::playbook::render::in_text;
    use proptest::collection::vec;
    use proptest::prelude::*;
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

    fn start() -> Playbook {
        let file = json!({"version": "1.0", "last_updated": null, "sections": {
            "PATTERNS & APPROACHES": [
                {"name": "pat-001", "text": "a", "helpful": 2, "harmful": 1},
                {"name": "pat-002", "text": "b"}]}});
        Playbook::parse(file.to_string().as_bytes()).unwrap()
    }

    fn at(second: usize) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + i64::try_from(second).unwrap()).unwrap()
    }

    /// Does one of several jobs, by number: votes, a new point, a merge, an edit, a removal.
    fn work(playbook: &mut Playbook, what: usize, now: Timestamp) {
        let names: Vec<String> = playbook.points().map(|p| p.name.to_owned()).collect();
        let name = names.get(what / 8 % names.len().max(1));
        let name = name.map_or("none", String::as_str);
        let operation = match what % 8 {
            0..=3 => {
                let tag = if what.is_multiple_of(2) {
                    "helpful"
                } else {
                    "harmful"
                };
                let tags = json!([{"name": name, "tag": tag, "rationale": "r"}]);
                apply_bullet_tags(playbook, &read_bullet_tags(&tags).0);
                playbook.mark_used([name], now);
                return;
            }
            4 => json!({"type": "ADD", "text": format!("new {what}"), "section": "OTHERS"}),
            5 => json!({"type": "UPDATE", "target_id": name, "text": format!("edited {what}")}),
            6 => {
                json!({"type": "MERGE", "source_ids": [name, names.last()], "merged_text": "both"})
            }
            _ => json!({"type": "DELETE", "target_id": name, "reason": "r"}),
        };
        apply_operations(playbook, &[operation], "r", now);
    }

    fn counters(playbook: &Playbook) -> Vec<(String, String, u64, u64, Option<Timestamp>)> {
        let used = |name: &str| playbook.meta.points.get(name).and_then(|note| note.used);
        let points = playbook.points();
        let all = points.map(|p| {
            let texts = (p.name.to_owned(), p.text.to_owned());
            (texts.0, texts.1, p.helpful, p.harmful, used(p.name))
        });
        all.collect()
    }

    fn texts(playbook: &Playbook) -> Vec<(String, String)> {
        let points = counters(playbook).into_iter();
        points.map(|point| (point.0, point.1)).collect()
    }

    proptest! {
        /// Checks that the file and the votes together equal a single file for any jobs and any
        /// changes of the setting. With local votes alone the file stays unchanged.
        #[test]
        fn both_parts_say_what_the_whole_says(works in vec((0..400_usize, any::<bool>()), 0..24)) {
            let mut whole = start();
            let (mut file, mut votes) = (start(), LocalVotes::new());
            for (number, (what, is_local)) in works.into_iter().enumerate() {
                work(&mut whole, what, at(number));
                let before = file.clone().with_votes(&votes);
                let mut after = before.clone();
                work(&mut after, what, at(number));
                let is_text = texts(&before) != texts(&after);
                let (new, of_job) = after.parted(&file, &votes, is_local);
                prop_assert!(is_text || !is_local || new.to_bytes() == file.to_bytes());
                prop_assert!(is_local || of_job.is_empty());
                file = new;
                for (name, vote) in &of_job {
                    votes.entry(name.clone()).or_default().add(vote);
                }
                prop_assert_eq!(counters(&file.clone().with_votes(&votes)), counters(&whole));
            }
        }
    }
}
