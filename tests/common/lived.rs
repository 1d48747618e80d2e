//! A project with a long history, for commands that show it: sessions with every ending, votes over
//! weeks, errors, costs.

use playbook::memory::{
    BudgetKind, Evaluation, FinishedJob, JobOutcome, JobRecord, Memory, ModelCall,
};
use playbook::playbook::{ChangeKind, PointChange, PointState};
use serde_json::json;

use super::env::TestEnv;
use super::learned::{days_ago, error, job};
use super::story::{Row, write_points};

/// A text of an attacker: a page that does not escape it runs it or breaks.
pub(crate) const HOSTILE: &str =
    "</td></script><img src=x onerror=\"document.title='owned'\">'\"&amp;<!--\u{202e}";

/// The key points apart from the hostile one: name, helpful and harmful, text.
const POINTS: &str = "pat-001 31/2 Run `just check` before every commit; it is quicker than CI.
pat-002 24/0 Write a failing test that shows a bug before you fix it.
pat-003 6/1 Read the error to its end before opening a file.
mis-001 12/0 Do not edit files under `generated/`: the next build overwrites them, and the change is lost without a word.
mis-002 3/3 Mocking the clock in integration tests hides the daylight-saving bug.
pref-001 9/0 Release with `just release`, never by pushing to a branch.
pref-002 0/0 Answer in German when asked in German: „bitte kurz“.
ctx-001 100/4 The API is versioned by header; 日本語のパスもある。";

fn points() -> Vec<Row<'static>> {
    let points = POINTS.lines().map(|line| {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().unwrap();
        let (name, (helpful, harmful)) = (word(), word().split_once('/').unwrap());
        let counts = [helpful, harmful].map(|count| count.parse().unwrap());
        (name, word(), counts[0], counts[1])
    });
    points.chain([("oth-001", HOSTILE, 1, 0)]).collect()
}

const ENDS: [&str; 8] = [
    "success", "success", "partial", "success", "failure", "success", "timeout", "error",
];

impl TestEnv {
    pub(crate) fn live(&self) {
        write_points(self, &points());
        let mut memory = self.memory();
        for day in (0..70).rev() {
            for part in 0..=(day % 3) {
                self.end_session(&mut memory, day, part);
            }
        }
        let rust = "error[E0382]: borrow of moved value: `config`";
        let python = "ModuleNotFoundError: No module named 'yaml'";
        let hostile = format!("error: {HOSTILE}");
        let git = "fatal: refusing to merge unrelated histories";
        for (job, days, known) in [
            ("e1", 9, error(rust, 7)),
            ("e2", 2, error(python, 12)),
            ("e3", 1, error(&hostile, 3)),
            ("e4", 20, error(git, 1)),
        ] {
            self.learn(job, days, &[known]);
        }
    }

    /// Records a part of a session that ended this many days ago.
    fn end_session(&self, memory: &mut Memory, day: i64, part: i64) {
        let project = self.project().display().to_string();
        let n = day * 3 + part;
        let id = format!("20260101T000000-{n:08x}");
        let time = days_ago(day);
        let which = usize::try_from(n).unwrap();
        let is_skipped = n % 7 == 3;
        let mut record = JobRecord::new(FinishedJob {
            session: format!("session {n}"),
            transcript: String::new(),
            backend: "anthropic".to_owned(),
            ..job(&id, &project, time)
        });
        if is_skipped {
            record.job.outcome = JobOutcome::Skipped;
        } else {
            let share = 1.0 - f64::from(u8::try_from(day).unwrap()) / 140.0;
            record.ended = Some(ENDS[which % ENDS.len()].to_owned());
            record.evaluation = Some(Evaluation {
                correctness: share,
                helpfulness: 0.9 * share,
                safety: 1.0,
                completeness: 0.8 * share,
                efficiency: 0.6,
            });
        }
        record.changes = vec![Self::vote(which / 3 + which % 3, day)];
        record.calls = vec![ModelCall {
            job: id,
            seq: 0,
            project,
            time,
            backend: "anthropic".to_owned(),
            model: ["a-small-model", "a-model"][usize::from(n % 4 != 0)].to_owned(),
            attempts: 2,
            input_tokens: 8_000 + 900 * u64::try_from(n % 11).unwrap(),
            output_tokens: 700 + 90 * u64::try_from(n % 5).unwrap(),
            budget_kind: BudgetKind::Day,
        }];
        memory.record(&record).unwrap();
    }

    /// Returns one more vote for a key point, on the way to its present votes.
    fn vote(which: usize, day: i64) -> PointChange {
        let points = points();
        let (name, text, helpful, harmful) = points[which % points.len()];
        let passed = u64::try_from(70 - day).unwrap();
        let state: PointState = serde_json::from_value(json!({
            "section": "OTHERS", "index": 0,
            "entry": {
                "name": name, "text": text,
                "helpful": helpful * passed / 70, "harmful": harmful * passed / 70,
            },
        }))
        .expect("a point");
        PointChange {
            kind: ChangeKind::Helpful,
            id: name.to_owned(),
            before: Some(state.clone()),
            after: Some(state),
            into: None,
            reason: HOSTILE.to_owned(),
        }
    }
}
