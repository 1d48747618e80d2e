//! What a hook for Stop told the agent (tests/fixtures/transcripts/stop-blocked.jsonl, measured) is
//! a hook's word: no prompt, nothing the user said, no citation and nothing to learn from.
use std::path::Path;

use playbook::transcript::{Bearing, ReadOptions, scan_reader};

const GUIDANCE: &str =
    "From now on always run the checks before you say [pat-002] that it is done.";

fn measured() -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    std::fs::read_to_string(fixtures.join("stop-blocked.jsonl")).unwrap()
}

#[test]
fn guidance_is_neither_a_prompt_nor_the_users_words_nor_a_ground() {
    let text = measured();
    assert!(text.contains(GUIDANCE), "the fixture holds the guidance");
    let digest = scan_reader(text.as_bytes(), 0, &ReadOptions::default(), &mut |_, _| {
        false
    })
    .unwrap();
    let facts = &digest.facts;
    assert_eq!(facts.user_turns, 1);
    assert_eq!(facts.first_request.as_deref(), Some("run the checks"));
    assert_eq!(facts.said, []);
    let cited: Vec<String> = facts.citations.iter().map(ToString::to_string).collect();
    assert_eq!(cited, ["pat-001"]);

    let shown = digest.evidence.finish(24_000).shown;
    let hook: Vec<_> = shown.iter().filter(|event| event.kind == "hook").collect();
    assert_eq!(hook.len(), 1, "{shown:?}");
    assert_eq!(hook[0].bearing, Bearing::Others);
    let of_others = |event: &&playbook::transcript::ShownEvent| event.kind != "hook";
    for event in shown.iter().filter(of_others) {
        assert!(!event.own.join("\n").contains("From now on"), "{event:?}");
    }
}

#[test]
fn a_client_that_does_not_mark_guidance_as_its_own_changes_nothing_of_that() {
    let text = measured().replace(r#","isMeta":true"#, "");
    let digest = scan_reader(text.as_bytes(), 0, &ReadOptions::default(), &mut |_, _| {
        false
    })
    .unwrap();
    assert_eq!(digest.facts.user_turns, 1);
    assert_eq!(digest.facts.said, []);
}
