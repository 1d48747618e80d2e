//! Promise: however many processes change one playbook at the same time, nothing is lost.

use std::thread;

use crate::common::env::TestEnv;
use crate::common::story::{history, points, write_points};

const THREADS: usize = 64;
const EDITS: usize = 4;

/// Each thread edits its own point again and again, with a process for each edit.
#[test]
fn edits_of_64_threads_through_real_processes_are_all_there() {
    let env = TestEnv::in_memory();
    env.write_config("[playbook]\nmax_points = 100000\n");
    let names: Vec<String> = (1..=THREADS).map(|n| format!("oth-{n:03}")).collect();
    let texts: Vec<String> = (1..=THREADS).map(|n| text(n, 0)).collect();
    let rows: Vec<_> = names
        .iter()
        .zip(&texts)
        .map(|(name, text)| (name.as_str(), text.as_str(), 0, 0))
        .collect();
    write_points(&env, &rows);
    thread::scope(|scope| {
        for (n, name) in (1..).zip(&names) {
            let env = &env;
            scope.spawn(move || {
                for edit in 1..=EDITS {
                    let told = env.cli(&["edit", name, "--text", &text(n, edit)]);
                    // On a slow machine it prints that it waits for its turn.
                    assert_eq!(told.code, Some(0), "{told:?}");
                }
            });
        }
    });
    let expected: Vec<String> = (1..=THREADS)
        .map(|n| format!("oth-{n:03} {} 0/0", text(n, EDITS)))
        .collect();
    assert_eq!(points(&env), expected);

    // Each edit is a job in the history and found the text of the one before.
    let jobs = history(&env);
    assert_eq!(jobs.len(), THREADS * EDITS);
    let mut edits = vec![0; THREADS + 1];
    for job in jobs.iter().rev() {
        let change = &job["changes"][0];
        let point = change["point"].as_str().unwrap();
        let n: usize = point.trim_start_matches("oth-").parse().unwrap();
        assert_eq!(change["before"]["entry"]["text"], text(n, edits[n]));
        edits[n] += 1;
        assert_eq!(change["after"]["entry"]["text"], text(n, edits[n]));
    }
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

fn text(point: usize, edit: usize) -> String {
    format!("point {point} after edit {edit}")
}
