//! Promise: a hook, worker or command may stop at any point, and the disk may be full at any write.
//! Nothing is lost, nothing counts twice, and no answer is paid for twice.
//!
//! A scenario of three sessions (a compaction, a resume, a fork, six citations, an undo) runs once
//! undisturbed. Then it runs again for every point of each of its processes (see
//! `crates/core/src/fault.rs`). At that point the process is killed, or a write fails. The rest of
//! the scenario follows, and the final playbook, history and spool must be the same.
//!
//! Each point is hit once, in a way that a seed draws; `all` tries every way.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]

#[path = "../common/mod.rs"]
mod common;
mod files;
mod left;
mod model;
mod point;
mod scenario;
mod stage;
mod wanted;

use std::collections::{BTreeMap, VecDeque};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use point::Fault;
use scenario::MOVES;
use stage::{Outcome, Stage};
use wanted::Wanted;

fn main() -> ExitCode {
    let begun = Instant::now();
    let wanted = Wanted::by_arguments();
    println!("{wanted}");
    let mut reference = Stage::new(wanted.votes);
    let points = reference.count_points();
    if points.is_empty() {
        eprintln!("a release build has no fault points: run this without --release");
        return ExitCode::FAILURE;
    }
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
    let faults: VecDeque<Fault> = wanted.of(&points).into();
    let planned = faults.len();
    let faults = Mutex::new(faults);
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                let mut stage = Stage::new(wanted.votes);
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
    let (mut failed, mut missed) = (0, 0);
    let mut struck: BTreeMap<&str, usize> = BTreeMap::new();
    for (fault, outcome) in outcomes {
        let of = MOVES[fault.step].name;
        if outcome.struck {
            *struck.entry(fault.fate).or_default() += 1;
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
    println!("{:.0} s", begun.elapsed().as_secs_f64());
    let all_ran = outcomes.len() == planned && points.len() >= FEWEST_POINTS;
    if failed == 0 && missed == 0 && all_ran {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The number of points below which the feature is not compiled in or the scenario is broken.
const FEWEST_POINTS: usize = 200;

/// Returns twice the number of cores, since processes mostly wait.
fn threads() -> usize {
    thread::available_parallelism().map_or(2, usize::from) * 2
}

fn next(faults: &Mutex<VecDeque<Fault>>) -> Option<Fault> {
    lock(faults).pop_front()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
