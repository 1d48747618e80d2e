//! What the user types while the agent works is the user's word, once.

use super::records::{assistant as claude, read, user};
use super::transcript_facts::{facts, with};
use crate::common::prelude::*;
use playbook::transcript::{Digest, Reason, SaidKind};

fn attachment(attachment: &Value) -> Value {
    json!({"type": "attachment", "attachment": attachment})
}

#[rstest]
#[case::text(json!("No, stop. Never touch the tests."))]
#[case::blocks(json!([{"type": "text", "text": "No, stop. Never touch the tests."}]))]
fn what_is_typed_while_the_agent_works_is_the_users_word(#[case] prompt: Value) {
    let queued =
        attachment(&json!({"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}));
    let again = user("No, stop. Never touch the tests.");
    let Digest { facts, stats, .. } = read(&[
        user("go"),
        claude("By [pat-001]."),
        queued,
        again,
        claude("ok"),
    ]);
    assert_eq!((facts.user_turns, facts.queued_prompts), (1, 1));
    let said = |kind| facts.said.iter().any(|said| said.kind == kind);
    assert!(said(SaidKind::StandingInstruction));
    assert_eq!(stats.skipped[&Reason::Repeated], 1);
    assert_eq!(stats.events["queued_prompt"], 1);
}

#[rstest]
#[case::task(json!({"type": "queued_command", "prompt": "<task-notification>x", "commandMode": "task-notification"}))]
#[case::meta(json!({"type": "queued_command", "prompt": "No, stop", "commandMode": "prompt", "isMeta": true}))]
#[case::other(json!({"type": "file", "prompt": "No, stop"}))]
#[case::session(json!({"type": "queued_command", "prompt": "No, stop", "origin": {"kind": "peer"}}))]
fn what_the_client_queues_is_not_the_users_word(#[case] queued: Value) {
    let Digest { facts, stats, .. } = read(&[user("go"), claude("ok"), attachment(&queued)]);
    assert_eq!(facts.queued_prompts, 0);
    assert_eq!(stats.skipped[&Reason::Bookkeeping], 1);
}

/// What older clients give the agent of their queue stands nowhere else.
#[test]
fn what_an_older_client_gives_of_its_queue_is_the_users_word_once() {
    let operation = |what: &str, content: Value| {
        with(
            json!({"type": "queue-operation", "operation": what}),
            "content",
            content,
        )
    };
    let lines = [
        operation("enqueue", "go".into()),
        operation("dequeue", Value::Null),
        user("go"),
        operation("enqueue", "never push to main".into()),
        operation("remove", Value::Null),
        operation("enqueue", r#"{"task_id": "b"}"#.into()),
        operation("remove", Value::Null),
        claude("ok"),
        user("never push to main"),
    ];
    let facts = facts(&lines);
    assert_eq!((facts.user_turns, facts.queued_prompts), (1, 1));
    assert_eq!(facts.said.len(), 1);
}
