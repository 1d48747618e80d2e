//! What a hook for Stop told the agent (tests/fixtures/transcripts/stop-blocked.jsonl, measured) is
//! a hook's word: no prompt, nothing the user said, no citation and nothing to learn from.
use std::path::Path;

use playbook::transcript::{Digest, EventSource, ReadOptions, scan_reader};

const GUIDANCE: &str =
    "From now on always run the checks before you say [pat-002] that it is done.";

fn read(text: &str) -> Digest {
    scan_reader(text.as_bytes(), 0, &ReadOptions::default(), &mut |_, _| {
        false
    })
    .unwrap()
}

#[test]
fn guidance_is_neither_a_prompt_nor_the_users_words_nor_a_ground() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    let text = std::fs::read_to_string(fixtures.join("stop-blocked.jsonl")).unwrap();
    assert!(text.contains(GUIDANCE), "the fixture holds the guidance");
    let Digest {
        facts, evidence, ..
    } = read(&text);
    assert_eq!((facts.user_turns, facts.stated), (1, vec![]));
    assert_eq!(facts.first_request.as_deref(), Some("run the checks"));
    let cited: Vec<String> = facts.citations.iter().map(ToString::to_string).collect();
    assert_eq!(cited, ["pat-001"]);

    let shown = evidence.finish(24_000).shown;
    let (hook, others): (Vec<_>, Vec<_>) = shown.iter().partition(|event| event.kind == "hook");
    assert_eq!(hook.len(), 1, "{shown:?}");
    assert_eq!(hook[0].source, EventSource::Outcome);
    for event in others {
        lacks!(event.words.join("\n"), "From now on");
    }

    // A client that does not mark it as its own changes nothing of that.
    let facts = read(&text.replace(r#","isMeta":true"#, "")).facts;
    assert_eq!((facts.user_turns, facts.stated), (1, vec![]));
}
