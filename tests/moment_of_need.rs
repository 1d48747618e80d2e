//! Promise: a session that finds its way out of an error helps the next ones: with the real
//! hooks and the real worker, without a model.

mod common;

use common::env::{Hook, TestEnv};
use common::session::Session;
use serde_json::{Value, json};

/// The error of this file, about this module.
fn missing(file: &str, module: &str) -> String {
    format!(
        "Exit code 1\nTraceback (most recent call last):\n  File \"/home/user/project/{file}\", \
         line {}, in <module>\n    import {module}\nModuleNotFoundError: No module named '{module}'",
        file.len()
    )
}

fn bash(command: &str) -> Value {
    json!({"command": command, "description": "run it"})
}

/// What the hook says when a call fails so.
fn hint(env: &TestEnv, session: &str, error: &str) -> Option<String> {
    let output = env.hook(Hook::PostToolUseFailure, session, json!({"error": error}));
    if output.stdout.is_empty() {
        output.silent();
        return None;
    }
    Some(output.context_for("PostToolUseFailure"))
}

/// The session ends, and the worker does what there is to do.
fn end(env: &TestEnv, session: &Session) {
    env.write_transcript(session);
    env.hook(Hook::SessionEnd, session.id(), json!({})).silent();
    env.settle();
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

/// The fix that is known, and how effective it is.
fn fix(env: &TestEnv) -> (String, f64, u64) {
    let error = missing("somewhere/else.py", "requests");
    let answer = env.cli_with(&["seen", "--json"], error.as_bytes()).json();
    let fix = &answer["fixes"][0];
    (
        fix["text"].as_str().expect("a fix").to_owned(),
        fix["effectiveness"].as_f64().expect("a number"),
        answer["occurrences"].as_u64().expect("a number"),
    )
}

#[test]
fn what_helped_once_is_told_when_the_error_strikes_again_and_gains_by_helping() {
    let env = TestEnv::new();

    // The first session finds its way out.
    let error = missing("src/app.py", "requests");
    assert_eq!(hint(&env, "s1", &error), None);
    let mut first = Session::new("s1");
    first
        .user("Please run the application.")
        .tool_error("Bash", &bash("python src/app.py"), &error)
        .tool(
            "Bash",
            &bash("pip install requests"),
            "Successfully installed requests",
        )
        .tool("Bash", &bash("python src/app.py"), "ok")
        .assistant("It runs.");
    end(&env, &first);
    let (text, at_birth, _) = fix(&env);
    assert!(text.contains("pip install requests"), "{text}");

    // The second meets it elsewhere, is told, and does as it was told.
    let error = missing("tools/report/monthly.py", "requests");
    let told = hint(&env, "s2", &error).expect("what helped");
    assert!(told.contains("pip install requests"), "{told}");
    assert!(told.contains("struck once before"), "{told}");
    assert_eq!(hint(&env, "s2", &error), None, "once in a session");
    let mut second = Session::new("s2");
    second
        .user("Please make the report.")
        .tool_error("Bash", &bash("python tools/report/monthly.py"), &error)
        .hinted(&told)
        .tool(
            "Bash",
            &bash("pip install requests"),
            "Successfully installed requests",
        )
        .tool("Bash", &bash("python tools/report/monthly.py"), "ok")
        .assistant("Here is the report.");
    end(&env, &second);
    let (_, after_one, occurrences) = fix(&env);
    assert!(after_one > at_birth, "{after_one} > {at_birth}");
    assert_eq!(occurrences, 2);

    // So does the third.
    let error = missing("x.py", "requests");
    let told = hint(&env, "s3", &error).expect("what helped");
    assert!(told.contains("struck twice before"), "{told}");
    let mut third = Session::new("s3");
    third
        .user("Please run x.")
        .tool_error("Bash", &bash("python x.py"), &error)
        .hinted(&told)
        .tool(
            "Bash",
            &bash("pip install requests"),
            "Successfully installed requests",
        )
        .tool("Bash", &bash("python x.py"), "ok")
        .assistant("Done.");
    end(&env, &third);
    let (_, after_two, occurrences) = fix(&env);
    assert!(after_two > after_one, "{after_two} > {after_one}");
    assert_eq!(occurrences, 3);
    let stats = env.cli(&["stats", "--json"]).json();
    assert_eq!(stats["errors_fixed"], 1, "{stats}");
    assert!(stats["shown"].as_u64() >= Some(2), "{stats}");
}

#[test]
fn what_does_not_help_is_told_no_more() {
    let env = TestEnv::new();
    let error = missing("src/app.py", "requests");
    let mut first = Session::new("s1");
    first
        .user("Please run the application.")
        .tool_error("Bash", &bash("python src/app.py"), &error)
        .tool(
            "Bash",
            &bash("pip install requests"),
            "Successfully installed requests",
        )
        .tool("Bash", &bash("python src/app.py"), "ok")
        .assistant("It runs.");
    end(&env, &first);
    let mut told = Vec::new();
    for n in 2..6 {
        let id = format!("s{n}");
        let Some(text) = hint(&env, &id, &error) else {
            break;
        };
        let mut session = Session::new(&id);
        session
            .user("Please run the application again.")
            .tool_error("Bash", &bash("python src/app.py"), &error)
            .hinted(&text)
            .tool(
                "Bash",
                &bash("pip install requests"),
                "Successfully installed requests",
            )
            .tool_error("Bash", &bash("python src/app.py"), &error)
            .assistant("It still fails.");
        end(&env, &session);
        told.push(text);
    }
    assert!((1..4).contains(&told.len()), "told {} times", told.len());
    assert_eq!(hint(&env, "s9", &error), None);
}
