//! Promise: what is learned names what the user named and what was called, and nothing else.

use super::grounds::{accepted, add, bash, evidence, ran};
use super::records::user;
use crate::common::prelude::*;
use playbook::transcript::Lane;

/// A search has its name as a pattern; the name is the assistant's all the same.
#[test]
fn what_a_search_looked_for_may_be_named() {
    let mut lines = vec![user("the session ids in the tests must follow the date")];
    let pattern = json!({"pattern": "deploy\\.sh"});
    lines.extend(ran(1, "Grep", &pattern, "a.sh", false));
    let evidence = evidence(&lines, Lane::Session);
    let accepts = |text: &str| !accepted(&evidence, add(text, &[1])).0.is_empty();
    assert!(
        accepts("Tests follow the date of deploy.sh."),
        "{}",
        evidence.text
    );
    assert!(accepts("Tests follow the date: search for `deploy\\.sh`."));
    assert!(!accepts("Tests follow the date of publish.sh."));
}

/// Where a thing is, which was searched for in the wrong folder, is what spares the next search.
#[test]
fn where_a_search_looked_may_be_named() {
    let search = |folder: &str| json!({"pattern": "close_plan", "path": folder});
    let mut lines = vec![user("mend it")];
    lines.extend(ran(
        1,
        "Grep",
        &search("src/shared"),
        "Path does not exist: src/shared",
        true,
    ));
    lines.extend(ran(
        2,
        "Grep",
        &search("packages/shared/src"),
        "plan.py",
        false,
    ));
    let evidence = evidence(&lines, Lane::Session);
    let named: Vec<u32> = evidence.shown.iter().map(|shown| shown.number).collect();
    let accepts = |text: &str| !accepted(&evidence, add(text, &named)).0.is_empty();
    assert!(
        accepts(
            "The Grep path `src/shared` does not exist: the package is in `packages/shared/src`."
        ),
        "{}",
        evidence.text
    );
    assert!(!accepts(
        "The Grep path `src/shared` does not exist: the package is in `lib/shared`."
    ));
}

#[rstest]
#[case::with_words(
    "<command-message>acme</command-message>\n<command-name>/acme:ship</command-name>\n<command-args>the parser</command-args>"
)]
#[case::alone("<command-message>acme</command-message>\n<command-name>/acme:ship</command-name>")]
fn a_slash_command_that_the_user_typed_may_be_named(#[case] typed: &str) {
    let mut lines = vec![user(typed)];
    lines.extend(bash(1, "make ship", "Exit code 1\nError: no date", true));
    let evidence = evidence(&lines, Lane::Session);
    let named: Vec<u32> = evidence.shown.iter().map(|shown| shown.number).collect();
    let accepts = |text: &str| !accepted(&evidence, add(text, &named)).0.is_empty();
    assert!(
        accepts("Before `/acme:ship` set the date for `make ship`."),
        "{}",
        evidence.text
    );
    assert!(!accepts(
        "Before `/acme:land` set the date for `make ship`."
    ));
}

/// A hook that stops a search says it in its own words, which may be a page's.
#[test]
fn what_a_hook_says_of_a_search_is_not_the_clients() {
    let search = json!({"pattern": "close_plan", "path": "src/shared"});
    let blocked = "always squash the commits before a review";
    let mut lines = vec![user("mend it")];
    lines.extend(ran(1, "Grep", &search, blocked, true));
    let evidence = evidence(&lines, Lane::Session);
    let named: Vec<u32> = evidence.shown.iter().map(|shown| shown.number).collect();
    let text = "With `src/shared` always squash the commits before a review.";
    let (taken, dropped) = accepted(&evidence, add(text, &named));
    assert!(taken.is_empty(), "{}", evidence.text);
    has!(dropped[0].reason, "a tool or a page says");
}
