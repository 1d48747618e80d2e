//! Promise: whenever a hook, a worker or a command is stopped, and wherever it finds the
//! disk full, nothing is lost, nothing counts twice, and no answer is paid for twice.
//!
//! A scenario of three sessions (a compaction, a resume, a fork, six citations, an undo)
//! is played once undisturbed. Then it is played again for every point of every process
//! of it (see `src/fault.rs`): there the process is killed, or a write fails. The rest of
//! the scenario follows, and in the end playbook, history and spool must be the same.

#[path = "../common/mod.rs"]
mod common;
mod files;
mod left;
mod model;
mod point;
mod scenario;
mod stage;

use std::collections::{BTreeMap, VecDeque};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use point::{Fault, with_fates};
use scenario::MOVES;
use stage::{Outcome, Stage};

fn main() -> ExitCode {
    let begun = Instant::now();
    let mut reference = Stage::new();
    let points = reference.count_points();
    let expected = match reference.play_from(0, None) {
        Ok(left) if left.is_the_truth() => left,
        Ok(left) => {
            eprintln!("the undisturbed scenario left {left:#?}");
            return ExitCode::FAILURE;
        }
        Err(why) => {
            eprintln!("the undisturbed scenario: {why}");
            return ExitCode::FAILURE;
        }
    };
    let faults: VecDeque<Fault> = points.iter().flat_map(with_fates).collect();
    let planned = faults.len();
    let faults = Mutex::new(faults);
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                let mut stage = Stage::new();
                stage.count_points();
                while let Some(fault) = next(&faults) {
                    let outcome = stage.prove(&fault, &expected);
                    lock(&outcomes).push((fault, outcome));
                }
            });
        }
    });
    let outcomes = outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    report(&points, planned, &outcomes, begun)
}

fn report(
    points: &[Fault],
    planned: usize,
    outcomes: &[(Fault, Outcome)],
    begun: Instant,
) -> ExitCode {
    let (mut failed, mut missed, mut elsewhere) = (0, 0, 0);
    let mut struck: BTreeMap<&str, usize> = BTreeMap::new();
    for (fault, outcome) in outcomes {
        let of = MOVES[fault.step].name;
        if outcome.struck {
            *struck.entry(fault.fate).or_default() += 1;
        } else if fault.role == WITH_ANOTHER_WAY {
            elsewhere += 1;
        } else {
            missed += 1;
            eprintln!("\n{fault:?} in \"{of}\" never struck");
        }
        if let Err(why) = &outcome.survived {
            failed += 1;
            eprintln!("\n{fault:?} in \"{of}\":\n{why}");
        }
    }
    let mut by_role: BTreeMap<&str, usize> = BTreeMap::new();
    for point in points {
        *by_role.entry(&point.role).or_default() += 1;
    }
    println!("fault points: {} in {by_role:?}", points.len());
    println!("struck: {struck:?} of {planned}, {failed} of them not survived");
    println!("{elsewhere} not met, as the whole program answered");
    println!("{:.0} s", begun.elapsed().as_secs_f64());
    let all_ran = outcomes.len() == planned && points.len() >= FEWEST_POINTS;
    if failed == 0 && missed == 0 && all_ran {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Of this one the whole program may do the work, in doubt of what lies ready: that depends on
/// how long ago files were copied. The whole program's points, of the role `hook`, are struck
/// in each start.
const WITH_ANOTHER_WAY: &str = "session-start";

/// With fewer points than this the feature is not compiled in, or the scenario is broken.
const FEWEST_POINTS: usize = 200;

/// Processes wait more than they work.
fn threads() -> usize {
    thread::available_parallelism().map_or(2, usize::from) * 2
}

fn next(faults: &Mutex<VecDeque<Fault>>) -> Option<Fault> {
    lock(faults).pop_front()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
