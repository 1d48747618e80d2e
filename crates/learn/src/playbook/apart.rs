//! Votes that stand apart from the playbook file (`playbook.votes = "local"`): the file changes
//! only when a text does, and what sessions voted here is added to its counters when it is read.
//!
//! A counter is that of the file plus what is apart, so the votes of others, who write the
//! format of spec/1, keep counting, and nothing has to be moved when the setting changes.

mod followed;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry::{self, COUNTERS};
use super::job_votes::counted;
use super::meta;
use super::model::{LAST_UPDATED, Playbook};

/// What is apart from a playbook file: more or fewer votes for its points than it says, when
/// they were last used, and the jobs that this comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct VotesApart {
    points: BTreeMap<String, PointApart>,
    applied: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    votes: BTreeMap<String, String>,
    /// The job with which all of this goes into the file: once the file has it, nothing is apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    into_file: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct PointApart {
    helpful: i64,
    harmful: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<Timestamp>,
    /// The hash of the text that was voted on last, by which a point is known again under
    /// another number.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl PointApart {
    fn is_nothing(&self) -> bool {
        self.helpful == 0 && self.harmful == 0 && self.used.is_none()
    }

    fn add(&mut self, more: &Self) {
        self.helpful += more.helpful;
        self.harmful += more.harmful;
        self.used = self.used.max(more.used);
        self.text = more.text.clone().or(self.text.take());
    }
}

/// A changed playbook in its two parts.
#[derive(Debug, Clone)]
pub struct PlaybookParts {
    /// The file, if it has to be written.
    pub file: Option<Playbook>,
    /// What the job adds to what is apart.
    pub votes: VotesApart,
}

impl VotesApart {
    /// Tells whether the votes of a job stand here.
    pub fn is_applied(&self, job: &str) -> bool {
        self.applied.iter().any(|known| known == job)
    }

    /// Adds what a job votes, once; tells whether it was not there.
    pub fn add(&mut self, of_job: &Self) -> bool {
        if of_job.applied.iter().any(|job| self.is_applied(job)) {
            return false;
        }
        for (name, more) in &of_job.points {
            self.points.entry(name.clone()).or_default().add(more);
        }
        self.points.retain(|_, point| !point.is_nothing());
        // They are not all on their way any more.
        self.into_file = None;
        self.applied.extend(of_job.applied.iter().cloned());
        let surplus = self.applied.len().saturating_sub(meta::APPLIED_KEPT);
        self.applied.drain(..surplus);
        self.votes.extend(of_job.votes.clone());
        self.votes.retain(|job, _| self.applied.contains(job));
        true
    }

    /// What of it is still apart from a file, by the names there: nothing, where it went into that.
    #[must_use]
    pub fn beside(self, file: &Playbook) -> Self {
        let is_in_file = |job: &String| file.is_applied(job);
        if self.into_file.as_ref().is_some_and(is_in_file) {
            Self::default()
        } else {
            self.followed(file)
        }
    }
}

impl Playbook {
    /// The playbook of a file with the votes that stand apart from it.
    #[must_use]
    pub fn with_votes(mut self, apart: &VotesApart) -> Self {
        let places = self.places();
        for (name, point) in &apart.points {
            let Some(fields) = places.get(name).and_then(|place| self.entry_mut(place)) else {
                continue;
            };
            for (counter, more) in COUNTERS.into_iter().zip([point.helpful, point.harmful]) {
                let count = counted(fields, counter).saturating_add(more).max(0);
                if more != 0 {
                    fields.insert(counter.key().to_owned(), count.into());
                }
            }
            if point.used.is_some() {
                let note = self.meta.points.entry(name.clone()).or_default();
                note.used = note.used.max(point.used);
            }
        }
        // The last job to vote is the last of all: each votes here, also one that writes the file.
        self.meta.applied.retain(|job| !apart.is_applied(job));
        self.meta.applied.extend(apart.applied.iter().cloned());
        self.meta.votes.extend(apart.votes.clone());
        self
    }

    /// Parts what a job made of `file` with the votes `before` it: the counters of points that
    /// the file has stay as they are there.
    pub fn parted(self, job: &str, file: &Self, before: &Self) -> PlaybookParts {
        let mut votes = VotesApart::default();
        let mut kept = self.clone();
        let (places, known) = (self.places(), file.places());
        let was = before.places();
        for (name, place) in &places {
            let in_file = known.get(name).and_then(|place| file.entry(place));
            let now = self.entry(place);
            if let (Some(old), Some(fields)) = (in_file, kept.entry_mut(place)) {
                for counter in COUNTERS {
                    put_back(fields, counter.key(), old);
                }
                let used = file.meta.points.get(name).and_then(|note| note.used);
                if let Some(note) = kept.meta.points.get_mut(name) {
                    note.used = used;
                }
            }
            let apart_now = now
                .zip(kept.entry(place))
                .map(|(now, file)| apart(now, file));
            let apart_then = was
                .get(name)
                .and_then(|place| before.entry(place))
                .zip(in_file)
                .map(|(then, file)| apart(then, file));
            let now_text = now.and_then(entry::text).map(followed::hash);
            let [now, then] = [apart_now, apart_then].map(Option::unwrap_or_default);
            let used = |playbook: &Self| playbook.meta.points.get(name).and_then(|n| n.used);
            let point = PointApart {
                helpful: now[0] - then[0],
                harmful: now[1] - then[1],
                used: used(&self).filter(|used| Some(*used) != used_of(before, name)),
                text: now_text,
            };
            if !point.is_nothing() {
                votes.points.insert(name.clone(), point);
            }
        }
        votes.applied.push(job.to_owned());
        if let Some(moves) = self.meta.votes.get(job) {
            votes.votes.insert(job.to_owned(), moves.clone());
        }
        let is_same = kept.without_jobs(file).to_bytes() == file.to_bytes();
        if !is_same {
            let (applied, moves) = (file.meta.applied.clone(), file.meta.votes.clone());
            (kept.meta.applied, kept.meta.votes) = (applied, moves);
            kept.mark_applied(job);
        }
        PlaybookParts {
            file: (!is_same).then_some(kept),
            votes,
        }
    }

    /// The same with the jobs, the date and the numbers of another: what alone is no change.
    fn without_jobs(&self, of: &Self) -> Self {
        let mut same = self.clone();
        same.meta.applied.clone_from(&of.meta.applied);
        same.meta.votes.clone_from(&of.meta.votes);
        same.meta.next.clone_from(&of.meta.next);
        same.meta
            .points
            .retain(|name, note| !note.is_blank() || of.meta.points.contains_key(name));
        match of.root.get(LAST_UPDATED) {
            Some(date) => same.root.insert(LAST_UPDATED.to_owned(), date.clone()),
            None => same.root.shift_remove(LAST_UPDATED),
        };
        same
    }
}

fn used_of(playbook: &Playbook, name: &str) -> Option<Timestamp> {
    playbook.meta.points.get(name)?.used
}

/// How many more votes one entry has than the other.
fn apart(now: &Map<String, Value>, file: &Map<String, Value>) -> [i64; 2] {
    COUNTERS.map(|counter| counted(now, counter) - counted(file, counter))
}

/// Gives a field the value that it has in another entry.
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
    use crate::playbook::tags::{apply_bullet_tags, read_bullet_tags};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

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

    /// What a job does, by number: votes, a new point, a merge, an edit, a removal.
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

    fn said(playbook: &Playbook) -> Vec<(String, String, u64, u64, Option<Timestamp>)> {
        let used = |name: &str| used_of(playbook, name);
        let points = playbook.points();
        points
            .map(|p| {
                (
                    p.name.to_owned(),
                    p.text.to_owned(),
                    p.helpful,
                    p.harmful,
                    used(p.name),
                )
            })
            .collect()
    }

    #[test]
    fn a_vote_leaves_the_file_alone() {
        let file = start();
        let mut after = file.clone();
        work(&mut after, 0, at(1));
        after.mark_applied_to(&file, "job-1");
        let parts = after.clone().parted("job-1", &file, &file);
        assert!(parts.file.is_none());
        let mut votes = VotesApart::default();
        votes.add(&parts.votes);
        votes.add(&parts.votes);
        assert_eq!(said(&file.clone().with_votes(&votes)), said(&after), "once");
        // On its way into the file it counts until the file has the job.
        let moved = votes.moved_with("job-2");
        assert_eq!(moved.clone().beside(&file), moved);
        let mut whole = file.with_votes(&votes);
        whole.mark_applied("job-2");
        assert_eq!(moved.beside(&whole), VotesApart::default());
    }

    /// Fixes the votes that went to another text: a merge had given the point's number to it.
    #[test]
    fn votes_follow_their_text_to_another_number() {
        let file = start();
        let mut after = file.clone();
        let tags = json!([{"name": "pat-001", "tag": "helpful", "rationale": "r"}]);
        apply_bullet_tags(&mut after, &read_bullet_tags(&tags).0);
        after.mark_applied_to(&file, "job-1");
        let mut votes = after.parted("job-1", &file, &file).votes;
        let merged = json!({"sections": {"PATTERNS & APPROACHES": [
            {"name": "pat-001", "text": "of the other branch"}, {"name": "pat-002", "text": "b"},
            {"name": "pat-003", "text": "a", "helpful": 2, "harmful": 1}]}});
        let merged = Playbook::parse(merged.to_string().as_bytes()).unwrap();
        votes = votes.beside(&merged);
        let counts = |votes: &VotesApart| {
            let whole = merged.clone().with_votes(votes);
            let counts = whole.points().map(|p| (p.name.to_owned(), p.helpful));
            counts.collect::<Vec<_>>()
        };
        let expected = [("pat-001", 0), ("pat-002", 0), ("pat-003", 3)];
        assert_eq!(
            counts(&votes),
            expected.map(|(name, n)| (name.to_owned(), n))
        );
        assert_eq!(votes.votes["job-1"], "pat-003 +1");
        // A text that was edited keeps them.
        let edited = merged.to_bytes();
        let edited = String::from_utf8(edited)
            .unwrap()
            .replace("\"a\"", "\"a, always\"");
        let edited = Playbook::parse(edited.as_bytes()).unwrap();
        assert_eq!(votes.clone().beside(&edited), votes);
    }

    proptest! {
        /// Whatever jobs do, in whatever order the setting changes: file and votes together say
        /// what one file would.
        #[test]
        fn both_parts_say_what_the_whole_says(works in vec((0..400_usize, any::<bool>()), 0..24)) {
            let mut whole = start();
            let (mut file, mut votes) = (start(), VotesApart::default());
            for (number, (what, is_apart)) in works.into_iter().enumerate() {
                let job = format!("job-{number:03}");
                let now = at(number);
                let mut all = whole.clone();
                work(&mut all, what, now);
                all.mark_applied_to(&whole, &job);
                whole = all;
                let before = file.clone().with_votes(&votes);
                let mut after = before.clone();
                work(&mut after, what, now);
                after.mark_applied_to(&before, &job);
                if is_apart {
                    let bytes = file.to_bytes();
                    let texts = |p: &Playbook| said(p).into_iter().map(|s| (s.0, s.1)).collect::<Vec<_>>();
                    let is_text = texts(&before) != texts(&after);
                    let parts = after.parted(&job, &file, &before);
                    prop_assert_eq!(parts.file.is_some(), is_text);
                    file = parts.file.unwrap_or(file);
                    prop_assert!(is_text || file.to_bytes() == bytes);
                    votes.add(&parts.votes);
                } else {
                    file = after;
                    votes = VotesApart::default();
                }
                let known = file.clone().with_votes(&votes);
                prop_assert_eq!(said(&known), said(&whole));
                prop_assert!(known.is_applied(&job));
            }
        }
    }
}
