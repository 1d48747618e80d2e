//! Promise: recorded replies answer the prompts that they were written for.

use crate::common::prelude::*;
use crate::common::queue::record_by_hand;

#[test]
fn a_recording_written_by_hand_answers_its_prompts() {
    let play = |recorded: &str| {
        let env = TestEnv::with_point();
        env.write_config("backend = \"fixtures\"\n[fixtures]\npath = \"replies.jsonl\"\n");
        write(&env.config_dir().join("replies.jsonl"), recorded);
        env.learn_citing("s1");
        env
    };
    let judged = json!({"analysis": "well done", "bullet_tags": [
        {"name": "pat-001", "tag": "helpful", "rationale": "cited"}]});
    let curated = json!({"reasoning": "nothing new", "operations": []});
    let recorded = record_by_hand(&[judged, curated], play);
    let env = play(&recorded);
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    let line = &env.reflections()[0];
    assert_eq!(
        (&line["backend"], &line["reason"]),
        (&json!("fixtures"), &Value::Null)
    );
    let key = line["fixture_key"].as_str().unwrap();
    assert_eq!(key.len(), 12);
    has!(recorded, key);
}

/// Spec/2, section 4.2.
#[test]
fn a_missing_recording_is_named_and_writes_nothing() {
    let env = TestEnv::with_point();
    env.write_config("backend = \"fixtures\"\nfixtures.path = \"replies.jsonl\"\n");
    write(&env.config_dir().join("replies.jsonl"), "");
    env.end_citing("s1");
    let before = env.playbook();
    env.worker();
    assert_eq!(env.playbook(), before);
    assert_eq!(env.failed().len(), 1);
    let line = &env.reflections()[0];
    assert_eq!(line["reason"], "reflect_error:FixtureMissingError");
    assert_eq!(line["ops_written"], 0);
    assert_eq!(line["fixture_key"].as_str().unwrap().len(), 12);
}
