//! Promise: after a kill at any point of a change, the playbook and its history agree in the end.
//! No edit of the file by hand is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::env::TestEnv;
use crate::common::story::{history, points};

/// The number of changes that are killed, each a little later than the one before.
const KILLS: u32 = 90;
/// The number of parts of a change's duration; the kills go through them in turn.
const PARTS: u32 = 30;

#[test]
fn file_and_history_agree_after_kills_at_any_moment() {
    let env = TestEnv::in_memory();
    let started = Instant::now();
    env.cli(&["add", "the first rule"]).ok();
    let part = started.elapsed() / PARTS;
    for n in 0..KILLS {
        let text = format!("rule number {n}");
        killed_after(&env, &["add", &text], part * (n % PARTS + 1));
        if n % 7 == 3
            && let Some(job) = history(&env).first().and_then(|job| job["job"].as_str())
        {
            killed_after(&env, &["undo", job], part * (n % PARTS + 1));
        }
        if n % 10 == 9 {
            env.worker();
        }
    }
    env.worker();

    let jobs = history(&env);
    let mut told = BTreeMap::new();
    let mut given = BTreeMap::new();
    for job in jobs.iter().rev() {
        assert_ne!(job["event"], "hand-edit", "{job}");
        for change in job["changes"].as_array().expect("changes") {
            let name = change["point"].as_str().expect("a name").to_owned();
            let text = change["after"]["entry"]["text"].as_str();
            match text {
                Some(text) => {
                    let texts: &mut BTreeSet<_> = given.entry(name.clone()).or_default();
                    texts.insert(text.to_owned());
                    told.insert(name, text.to_owned());
                }
                None => _ = told.remove(&name),
            }
        }
    }
    let expected = told.iter();
    let expected = expected.map(|(name, text)| format!("{name} {text} 0/0"));
    let mut expected: Vec<String> = expected.collect();
    let mut found = points(&env);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert!(given.values().all(|texts| texts.len() == 1), "{given:?}");
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

fn killed_after(env: &TestEnv, args: &[&str], time: Duration) {
    let mut command = env.command("playbook");
    command
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary starts");
    thread::park_timeout(time);
    // The process may have ended before.
    _ = child.kill();
    child.wait().expect("a child of ours");
}
