//! Votes that are not in the playbook file (`playbook.votes = "local"`). A counter is that of the
//! file plus these, whatever the setting is now.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry::{COUNTERS, counts, set_counts};
use super::model::{Playbook, PointPlace};

/// Votes for the key points of one project, by the names of the points.
pub type LocalVotes = BTreeMap<String, LocalVote>;

/// Votes for one key point; below zero where votes in the file were taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LocalVote {
    /// How often it helped.
    pub helpful: i64,
    /// How often it harmed.
    pub harmful: i64,
    /// When a session last cited it or was judged by it.
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
    /// Adds votes to the counters of a file. Those for a point that was merged go to the point
    /// that took it in.
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

    /// Parts what a job made of `file` with `votes`: returns the new file and the votes of the
    /// job. `is_local`: the counters of points that the file has stay as they are there.
    #[must_use]
    pub fn parted(mut self, file: &Self, votes: &LocalVotes, is_local: bool) -> (Self, LocalVotes) {
        let (places, known) = (self.places(), file.places());
        let stored = self.by_current_name(&places, votes);
        let in_file = self.sums_of(&places, file);
        let mut of_job = LocalVotes::new();
        for (name, place) in &places {
            let old = known.get(name).and_then(|place| file.entry(place));
            let stored = stored.get(name).cloned().unwrap_or_default();
            let Some(fields) = self.entry_mut(place) else {
                continue;
            };
            let mut of_this = [0; 2];
            let all = counts(fields);
            for (at, key) in COUNTERS.into_iter().enumerate() {
                let (whole, before) = (all[at], stored.counts()[at]);
                let kept = match in_file.get(name) {
                    Some(sums) if old.is_some() && is_local => sums[at],
                    _ => whole.saturating_sub(before).max(0),
                };
                of_this[at] = whole.saturating_sub(kept).saturating_sub(before);
                match old {
                    Some(old) if counts(old)[at] == kept => put_back(fields, key, old),
                    _ if kept != whole => _ = fields.insert(key.to_owned(), kept.into()),
                    _ => {}
                }
            }
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
                helpful: of_this[0],
                harmful: of_this[1],
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

    /// Returns the counters of `file` by the names of this playbook: a point that took others in
    /// has theirs.
    fn sums_of(
        &self,
        places: &HashMap<String, PointPlace>,
        file: &Self,
    ) -> HashMap<String, [i64; 2]> {
        let mut sums: HashMap<String, [i64; 2]> = HashMap::new();
        for (name, place) in file.places() {
            let Some(fields) = file.entry(&place) else {
                continue;
            };
            let sum = sums.entry(self.current_name(places, &name).to_owned());
            let sum = sum.or_default();
            for (sum, more) in sum.iter_mut().zip(counts(fields)) {
                *sum = sum.saturating_add(more);
            }
        }
        sums
    }
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
        /// Whatever jobs do, however often the setting changes: the file and the votes together
        /// say what one file would, and local votes alone leave the file as it is.
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
