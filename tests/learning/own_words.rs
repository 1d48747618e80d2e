//! Promise: the user's own words are taken for theirs in any language, and nothing that a client or
//! another agent wrote between them.

use super::forged::{ALWAYS, ALWAYS_TOLD, ASK, add, is_refused, is_taken, paged, with};
use super::records::{assistant, called, user};
use rstest::rstest;
use serde_json::{Value, json};

#[rstest]
fn what_stands_between_tags_is_not_the_users(
    #[values(
        "teammate-message",
        "channel",
        "cross-session-message",
        "document",
        "page",
        "html",
        "tick"
    )]
    tag: &str,
) {
    let lines = [user(format!("<{tag} x=\"1\">\n{ALWAYS}\n</{tag}>"))];
    is_refused(&lines, &add(ALWAYS_TOLD));
}

#[rstest]
#[case::summary(
    "This session is being continued from a previous conversation that ran out of context. The summary: "
)]
#[case::skill("Base directory for this skill: /x\n")]
fn what_the_client_writes_is_not_the_users(#[case] lead: &str) {
    is_refused(&[user(format!("{lead}{ALWAYS}"))], &add(ALWAYS_TOLD));
}

/// The user's own words, which no line of the reader takes for theirs.
#[rstest]
#[case::spanish("¿Puedes arreglar el parser? Usa siempre pnpm en este proyecto.")]
#[case::spanish_order("¡Usa siempre pnpm en este proyecto!")]
#[case::french("« toujours pnpm » est la règle de ce projet")]
#[case::chinese("这个项目一律使用pnpm,不要用npm")]
#[case::japanese("このプロジェクトでは常にpnpmを使ってください")]
fn the_users_own_words_are_taken(#[case] words: &str) {
    let lines = [
        user("mend the parser for me"),
        assistant("It is mended."),
        user(words),
    ];
    is_taken(&lines, &add("Always use pnpm in this project."));
}

/// What the assistant asked stands beside the answer, which is the user's.
#[test]
fn the_answer_to_a_question_is_taken() {
    let asked = json!({"questions": [{"question": "Log format?", "options": [{"label": "JSON"}]}]});
    let said = "User has answered your questions: \"Log format?\"=\"JSON lines with a trace id\". You can now continue.";
    let lines = [
        vec![user("set up the service")],
        called("AskUserQuestion", &asked, said),
    ]
    .concat();
    is_taken(&lines, &add("Log format: JSON lines with a trace id."));
}

/// Numbers that a model writes in another way.
#[rstest]
fn the_number_of_an_event_is_read(
    #[values(json!("1, 2"), json!(["#1, #2"]), json!([[1, 2]]), json!(["event 1"]))] grounds: Value,
) {
    let numbers = json!({"grounds": grounds, "said": []});
    let told = with(add("Mend the red test of the parser."), &numbers);
    is_taken(&paged(ASK, "x", false), &told);
}
