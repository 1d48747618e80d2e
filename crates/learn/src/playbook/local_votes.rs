//! Votes that are not in the playbook file (`playbook.votes = "local"`). A counter is that of the
//! file plus these, whatever the setting is now.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

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
    pub fn add(&mut self, more: &Self) {
        self.helpful = self.helpful.saturating_add(more.helpful);
        self.harmful = self.harmful.saturating_add(more.harmful);
        self.used = self.used.max(more.used);
    }
}

impl Playbook {
    /// Adds votes to the counters of a file. Those for a point that was merged are added to the
    /// point that took it in.
    #[must_use]
    pub fn with_votes(mut self, votes: &LocalVotes) -> Self {
        let places = self.places();
        for (name, vote) in self.by_current_name(&places, votes) {
            let Some(fields) = places.get(&name).and_then(|place| self.entry_mut(place)) else {
                continue;
            };
            let [helpful, harmful] = counts(fields);
            let more = [vote.helpful, vote.harmful];
            set_counts(
                fields,
                [
                    helpful.saturating_add(more[0]),
                    harmful.saturating_add(more[1]),
                ],
            );
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
        let mut of_job = LocalVotes::new();
        for (name, place) in &places {
            let old = known.get(name).and_then(|place| file.entry(place));
            let stored = stored.get(name).cloned().unwrap_or_default();
            let Some(fields) = self.entry_mut(place) else {
                continue;
            };
            let whole = counts(fields);
            let before = [stored.helpful, stored.harmful];
            let kept = match old {
                Some(old) if is_local => counts(old),
                _ => [0, 1].map(|at| whole[at].saturating_sub(before[at]).max(0)),
            };
            let [helpful, harmful] = [0, 1].map(|at| {
                whole[at]
                    .saturating_sub(kept[at])
                    .saturating_sub(before[at])
            });
            set_counts(fields, kept);
            for (at, key) in COUNTERS.into_iter().enumerate() {
                // As it is written there.
                match old
                    .filter(|old| counts(old)[at] == kept[at])
                    .map(|old| old.get(key))
                {
                    Some(Some(value)) => _ = fields.insert(key.to_owned(), value.clone()),
                    Some(None) => _ = fields.shift_remove(key),
                    None => {}
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
