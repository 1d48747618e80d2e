//! What a key point has shown of its worth in the sessions that had it before them.
//!
//! A new point is on probation. It is proven when a session cites it or is helped by it, and
//! rests when [`PATIENCE`] sessions were shown it and none was, or when so many more went by in
//! which it did not come up: it is kept, and sessions are told it again once one cites it or is
//! helped by it. What the user said, added, edited or pinned never rests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::model::Point;
use super::tags::Tag;

/// In so many sessions a point may be shown in vain before it rests. It has as many for each
/// session that it came up in: what comes up less often is not worth its room in every start.
pub const PATIENCE: u64 = 12;

/// A point that came up in so many sessions that did not have it is worth its room in every start.
const OFTEN: u64 = 2;

/// In how many root sessions something was seen of a point, each counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Proof {
    /// It was given to them, or they cited it.
    pub shown: u64,
    /// Their assistant cited it.
    pub cited: u64,
    /// They were helped.
    pub helpful: u64,
    /// They were harmed.
    pub harmful: u64,
    /// It came up again: it was not given and would have helped, or it was corrected or widened.
    pub needed: u64,
    /// A model judged them after it was learned; they did not have it and it did not come up.
    pub passed: u64,
}

impl Proof {
    fn is_in_vain(&self) -> bool {
        let sessions = self.shown.saturating_add(self.passed);
        self.shown >= PATIENCE || sessions >= PATIENCE.saturating_mul(self.needed + 1)
    }
}

/// What one session says of a point that it was shown or that it cited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointInSession {
    /// The name of the point.
    pub name: String,
    /// Whether its assistant cited it, and did not say that it failed.
    pub is_cited: bool,
    /// Its verdict, if it has one.
    pub vote: Option<Tag>,
    /// Whether the session did not have it, and would have been helped.
    pub is_needed: bool,
}

/// How the points of a project did, as the file in the state folder has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProofRecord {
    /// The root sessions that were shown any point.
    pub sessions: u64,
    /// By name.
    pub points: BTreeMap<String, Proof>,
    /// The names of the points that the user added, edited or said.
    pub by_user: BTreeSet<String>,
    /// The names of the points that a model learned here which tells what came up.
    pub by_model: BTreeSet<String>,
}

/// Where a point stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The user wants it told first, whatever is seen of it.
    Pinned,
    /// A session cited it or was helped by it.
    Proven,
    /// It has not shown anything yet.
    Probation,
    /// It was shown in vain, or did not come up, for long.
    Resting,
}

impl ProofRecord {
    /// What is known of a point. Votes from before this was counted stand in the file alone: it
    /// was shown as often as it was voted on.
    pub fn of(&self, point: &Point<'_>) -> Proof {
        let seen = self.points.get(point.name).copied().unwrap_or_default();
        Proof {
            shown: seen.shown.max(point.helpful.saturating_add(point.harmful)),
            cited: seen.cited,
            helpful: seen.helpful.max(point.helpful),
            harmful: seen.harmful.max(point.harmful),
            needed: seen.needed,
            passed: seen.passed,
        }
    }

    /// Where a point stands.
    pub fn stage(&self, point: &Point<'_>) -> Stage {
        let proof = self.of(point);
        match proof {
            _ if point.is_pinned() => Stage::Pinned,
            Proof { cited: 1.., .. } | Proof { helpful: 1.., .. } => Stage::Proven,
            _ if proof.is_in_vain() && !self.by_user.contains(point.name) => Stage::Resting,
            _ => Stage::Probation,
        }
    }

    /// Tells whether a model learned the point here and nothing has shown yet that it is worth its
    /// room in every start. What others wrote, or learned elsewhere, they have their reasons for.
    pub(super) fn is_untried(&self, point: &Point<'_>) -> bool {
        self.by_model.contains(point.name)
            && !self.by_user.contains(point.name)
            && self.stage(point) == Stage::Probation
            && self.of(point).needed < OFTEN
    }

    /// Says where a point stands, and why.
    pub fn told(&self, point: &Point<'_>) -> String {
        format!("{}: {}", self.stage(point), self.of(point))
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pinned => "pinned",
            Self::Proven => "proven",
            Self::Probation => "on probation",
            Self::Resting => "resting",
        })
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shown,
            cited,
            helpful,
            harmful,
            needed,
            passed,
        } = self;
        let s = |count: u64| if count == 1 { "" } else { "s" };
        match (*needed, *passed) {
            (0, 0) => {}
            (0, passed) => write!(f, "did not come up in {passed} session{}, ", s(passed))?,
            (needed, 0) => write!(f, "came up again in {needed} session{}, ", s(needed))?,
            (needed, passed) => {
                let all = needed + passed;
                write!(f, "came up again in {needed} of {all} sessions, ")?;
            }
        }
        if *shown == 0 {
            return f.write_str("not shown yet");
        }
        write!(f, "shown in {shown} session{}", s(*shown))?;
        if [cited, helpful, harmful].iter().all(|count| **count == 0) {
            return f.write_str(", never cited");
        }
        for (count, how) in [(cited, "cited"), (helpful, "helpful"), (harmful, "harmful")] {
            if *count > 0 {
                write!(f, ", {how} in {count}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::Playbook;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case::new((0, 0), (0, 0), false, Stage::Probation)]
    #[case::shown_in_vain_not_for_long((11, 0), (0, 0), false, Stage::Probation)]
    #[case::shown_in_vain_for_long((12, 0), (0, 0), false, Stage::Resting)]
    #[case::harmful_alone((12, 0), (0, 3), false, Stage::Resting)]
    #[case::cited_once((40, 1), (0, 0), false, Stage::Proven)]
    #[case::helped_before_it_was_counted((12, 0), (1, 0), false, Stage::Proven)]
    #[case::of_the_user((40, 0), (0, 0), true, Stage::Probation)]
    #[case::voted_against_before_it_was_counted((0, 0), (0, 12), false, Stage::Resting)]
    fn a_point_goes_through_its_life(
        #[case] (shown, cited): (u64, u64),
        #[case] (helpful, harmful): (u64, u64),
        #[case] is_by_user: bool,
        #[case] stage: Stage,
    ) {
        let name = "oth-001";
        let point = json!({"name": name, "text": "t", "helpful": helpful, "harmful": harmful});
        let file = json!({"sections": {"OTHERS": [point]}}).to_string();
        let playbook = Playbook::parse(file.as_bytes()).unwrap();
        let seen = Proof {
            shown,
            cited,
            ..Proof::default()
        };
        let record = ProofRecord {
            points: [(name.to_owned(), seen)].into(),
            by_user: is_by_user.then(|| name.to_owned()).into_iter().collect(),
            ..ProofRecord::default()
        };
        assert_eq!(record.stage(&playbook.named(name).unwrap()), stage);
    }

    #[rstest]
    #[case::not_for_long(0, 11, 0, false)]
    #[case::for_long(0, 12, 0, true)]
    #[case::shown_in_some_of_them(6, 6, 0, true)]
    #[case::but_once(0, 23, 1, false)]
    #[case::but_once_in_twice_as_many(0, 24, 1, true)]
    #[case::often(0, 40, 4, false)]
    #[case::shown_in_vain_though_it_came_up_before(12, 0, 4, true)]
    fn what_does_not_come_up_is_in_vain(
        #[case] shown: u64,
        #[case] passed: u64,
        #[case] needed: u64,
        #[case] is_in_vain: bool,
    ) {
        let proof = Proof {
            shown,
            needed,
            passed,
            ..Proof::default()
        };
        assert_eq!(proof.is_in_vain(), is_in_vain);
    }
}
