//! What each of the jobs applied last did to the counters, so that a job that two branches
//! have both applied counts once when they are merged.
//!
//! In the file: `"votes": {"20261121T120000-5afdf445": "pat-001 +1 ctx-004 -1"}`, `+` for
//! helpful and `-` for harmful.

use std::collections::BTreeMap;

use super::entry;
use super::meta::{APPLIED_KEPT, Meta};
use super::model::Playbook;

/// How much a counter rose or fell, by point: helpful and harmful.
pub(super) type Moves = BTreeMap<String, [i64; 2]>;

impl Playbook {
    /// Remembers `job` as applied, with what it did to the counters of `before`.
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

    fn moves_since(&self, before: &Self) -> Moves {
        let counts = |playbook: &Self| -> Moves {
            let named = playbook.entries().filter_map(|(_, fields)| {
                Some((entry::name(fields)?.to_owned(), entry::counts(fields)))
            });
            named.collect()
        };
        let mut moves = counts(self);
        let here = self.places();
        // What a point took over from one that was merged into it is no vote.
        for (name, was) in counts(before) {
            if let Some(now) = moves.get_mut(self.current_name(&here, &name)) {
                *now = [now[0] - was[0], now[1] - was[1]];
            }
        }
        moves.retain(|name, now| *now != [0, 0] && !name.contains(char::is_whitespace));
        moves
    }
}

impl Meta {
    /// What these jobs did to the counters, as far as the file knows.
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

/// `pat-001 +1`, `pat-001 -2`; what was taken back has a second sign: `pat-001 +-1`.
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

/// Gives the points of some jobs' votes other names.
pub(super) fn renamed(votes: &str, names: &BTreeMap<String, String>) -> String {
    let moves = read(votes).into_iter();
    let moves = moves.map(|(name, by)| (names.get(&name).cloned().unwrap_or(name), by));
    written(&moves.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_job_did_to_the_counters_is_kept_as_long_as_the_job() {
        let file = |points: &str| format!(r#"{{"sections": {{"OTHERS": [{points}]}}}}"#);
        let parse = |points: &str| Playbook::parse(file(points).as_bytes()).unwrap();
        let before = parse(
            r#"{"name": "oth-001", "text": "a", "helpful": 2}, {"name": "oth-002", "text": "b"}"#,
        );
        let mut after = parse(
            r#"{"name": "oth-001", "text": "a", "helpful": 1, "harmful": 3}, {"name": "oth-002", "text": "b"}"#,
        );
        after.mark_applied_to(&before, "job-1");
        assert_eq!(after.meta.votes["job-1"], "oth-001 +-1 oth-001 -3");
        let moves = after.meta.moves_of(&["job-1".to_owned()]);
        assert_eq!(moves["oth-001"], [-1, 3]);
        let names = BTreeMap::from([("oth-001".to_owned(), "oth-009".to_owned())]);
        assert_eq!(renamed("oth-001 +2", &names), "oth-009 +2");
        for n in 0..300 {
            let same = after.clone();
            after.mark_applied_to(&same, &format!("later-{n}"));
        }
        assert!(after.meta.votes.is_empty(), "the job is no longer known");
    }
}
