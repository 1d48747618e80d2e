//! Promise: every command of docs/guide.md, typed as written, has the documented result, in a new
//! project and in one with a past.

use crate::common::prelude::*;
use crate::documents::{typed, with_program};

const GUIDE: &str = include_str!("../../docs/guide.md");

/// The replacements for commands that build for minutes.
const INSTEAD: [(&str, &str); 2] = [
    ("cargo run --release -- demo", "playbook demo"),
    ("./install.sh", "playbook install"),
];

/// The ids that the user reads off the screen: of the key point added last, and of the last
/// change's job.
#[derive(Default)]
struct Seen {
    id: String,
    job: String,
}

impl Seen {
    fn look(&mut self, line: &str, screen: &str) {
        if line.starts_with("playbook add ") {
            let id = screen.split_whitespace().next().unwrap();
            id.clone_into(&mut self.id);
        }
        let undo = screen.split("`playbook undo ").nth(1);
        if let Some((job, _)) = undo.and_then(|rest| rest.split_once('`')) {
            job.clone_into(&mut self.job);
        }
    }

    fn filled_in(&self, line: &str) -> String {
        let words = line.split(' ').map(|word| match word {
            "ID" => &self.id,
            "JOB" => &self.job,
            word => word,
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

fn commands() -> Vec<&'static str> {
    let mut found = Vec::new();
    for (i, part) in GUIDE.split("```").enumerate() {
        if i % 2 == 1 {
            let lines = part.strip_prefix("sh\n").unwrap().lines();
            found.extend(lines.map(|line| line.split(" #").next().unwrap().trim()));
        } else {
            let spans = part.split('`').skip(1).step_by(2);
            found.extend(spans.filter(|span| span.starts_with("playbook ")));
        }
    }
    found
}

/// Creates a repository with a past session, whose playbook has names from before sections had
/// their own.
fn old_project(env: &TestEnv) {
    env.git(&["init", "-q"]);
    let old = json!({"version": "1.0", "sections": {"PATTERNS & APPROACHES": [
        {"name": "kpt_001", "text": "read the docs first", "helpful": 3, "harmful": 0},
        {"name": "pat-007", "text": "keep functions short", "helpful": 0, "harmful": 1},
    ]}});
    write(&env.playbook_path(), old.to_string());
    env.commit();
    env.cli(&["trust"]).ok();
    let session = Session::new("s1")
        .user("fix the tests; from now on, always use uv, never pip")
        .assistant("By [pat-007], done.")
        .user("thanks, that works")
        .assistant("Done.")
        .done();
    env.write_held(&session);
}

#[rstest]
#[case::new(|_: &TestEnv| (), "pat-001", &[])]
#[case::old(old_project, "pat-008", &["kpt_001", "pat-007", "from now on, always use uv, never pip"])]
fn every_command_of_the_guide_works_as_it_is_typed(
    #[case] project: fn(&TestEnv),
    #[case] first_id: &str,
    #[case] left: &[&str],
) {
    let env = with_program();
    project(&env);
    let mut seen = Seen::default();
    let all = commands();
    assert!(all.len() > 20, "{all:?}");
    for line in all {
        let instead = INSTEAD.iter().find(|(there, _)| *there == line);
        let line = instead.map_or(line, |(_, here)| *here);
        let done = typed(&env, &seen.filled_in(line));
        assert_eq!(done.code, Some(0), "{line}\n{}{}", done.stdout, done.stderr);
        seen.look(line, &done.stdout);
        if line.starts_with("playbook add ") {
            assert_eq!(seen.id, first_id);
        }
    }
    env.settle();
    assert!(!env.state().exists(), "`uninstall --purge` leaves nothing");
    let playbook = env.playbook().to_string();
    for text in left {
        has!(playbook, *text);
    }
}
