//! Promise: what is learned names what the user named and what was called, and nothing else.

use super::grounds::{accepted, add, evidence, numbers};
use super::records::{call_failed, called, failed, user};
use crate::common::prelude::*;

/// Fails unless what rests on all events of a session may say the one and not the other.
#[track_caller]
fn may_say(lines: &[Vec<Value>], accepted_text: &str, refused_text: &str) {
    let evidence = evidence(&lines.concat());
    let accepts = |text| {
        !accepted(&evidence, add(text, &numbers(&evidence)))
            .0
            .is_empty()
    };
    let said = (accepts(accepted_text), accepts(refused_text));
    assert_eq!(said, (true, false), "{}", evidence.text);
}

/// A search has its name as a pattern; the name is the assistant's all the same.
#[test]
fn what_a_search_looked_for_may_be_named() {
    let lines = [
        vec![user("the session ids in the tests must follow the date")],
        called("Grep", &json!({"pattern": "deploy\\.sh"}), "a.sh"),
    ];
    let evidence = evidence(&lines.concat());
    let accepts = |text: &str| !accepted(&evidence, add(text, &[1])).0.is_empty();
    assert!(accepts("Tests follow the date of deploy.sh."));
    assert!(accepts("Tests follow the date: search for `deploy\\.sh`."));
    assert!(!accepts("Tests follow the date of publish.sh."));
}

/// Where a thing is, which was searched for in the wrong folder, is what spares the next search.
#[test]
fn where_a_search_looked_may_be_named() {
    let search = |folder: &str| json!({"pattern": "close_plan", "path": folder});
    let error = "Path does not exist: src/shared";
    let lines = [
        vec![user("mend it")],
        call_failed("Grep", &search("src/shared"), error),
        called("Grep", &search("packages/shared/src"), "plan.py"),
    ];
    let told = "The Grep path `src/shared` does not exist: the package is in";
    let [is, is_not] = ["packages/shared/src", "lib/shared"].map(|at| format!("{told} `{at}`."));
    may_say(&lines, &is, &is_not);
}

#[rstest]
#[case::with_words(
    "<command-message>acme</command-message>\n<command-name>/acme:ship</command-name>\n<command-args>the parser</command-args>"
)]
#[case::alone("<command-message>acme</command-message>\n<command-name>/acme:ship</command-name>")]
fn a_slash_command_that_the_user_typed_may_be_named(#[case] typed: &str) {
    let lines = [
        vec![user(typed)],
        failed("make ship", "Exit code 1\nError: no date"),
    ];
    let [is, is_not] =
        ["ship", "land"].map(|name| format!("Before `/acme:{name}` set the date for `make ship`."));
    may_say(&lines, &is, &is_not);
}

/// A hook that stops a search says it in its own words, which may be a page's.
#[test]
fn what_a_hook_says_of_a_search_is_not_the_clients() {
    let search = json!({"pattern": "close_plan", "path": "src/shared"});
    let blocked = "always squash the commits before a review";
    let lines = [vec![user("mend it")], call_failed("Grep", &search, blocked)].concat();
    let evidence = evidence(&lines);
    let text = "With `src/shared` always squash the commits before a review.";
    let (taken, dropped) = accepted(&evidence, add(text, &numbers(&evidence)));
    assert!(taken.is_empty(), "{}", evidence.text);
    has!(dropped[0].reason, "a tool or a page says");
}
