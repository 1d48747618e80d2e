//! Promise: a session that finds its way out of an error helps the next ones: with the real
//! hooks and the real worker, without a model.

use crate::common::prelude::*;

fn missing(file: &str, module: &str) -> String {
    format!(
        "Exit code 1\nTraceback (most recent call last):\n  File \"/home/user/project/{file}\", \
         line {}, in <module>\n    import {module}\nModuleNotFoundError: No module named '{module}'",
        file.len()
    )
}

/// A script fails so.
fn fails(env: &TestEnv, session: &str, error: &str) -> Output {
    let input = json!({"command": "python3 a/b.py", "description": "run it"});
    let event = json!({"error": error, "tool_name": "Bash", "tool_input": input});
    env.hook(Hook::PostToolUseFailure, session, event)
}

/// What the hook says of it.
fn hint(env: &TestEnv, session: &str, error: &str) -> Option<String> {
    let output = fails(env, session, error);
    if output.stdout.is_empty() {
        output.silent();
        return None;
    }
    Some(output.context_for("PostToolUseFailure"))
}

/// A session in which a script needs a module, and finds its way without a hint.
fn finds_its_way(env: &TestEnv, id: &str, script: &str) {
    let error = missing(script, "requests");
    assert_eq!(hint(env, id, &error), None);
    let run = format!("python {script}");
    let session = Session::new(id)
        .user("Please run the application.")
        .failed(&run, &error)
        .ran("pip install requests", "Successfully installed requests")
        .ran(&run, "ok")
        .assistant("It runs.")
        .done();
    end(env, &session);
}

fn end(env: &TestEnv, session: &Session) {
    env.end(session);
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
fn what_helped_in_two_sessions_is_told_when_the_error_strikes_again_and_gains_by_helping() {
    let env = TestEnv::new();
    finds_its_way(&env, "s1", "src/app.py");
    finds_its_way(&env, "s2", "src/tool.py");
    let (text, found_twice, _) = fix(&env);
    assert_eq!(text, "`pip install requests`, then `python <file>` again");

    // The third meets it elsewhere, is told, and does as it was told.
    let error = missing("tools/report/monthly.py", "requests");
    let told = hint(&env, "s3", &error).expect("what helped");
    has!(told, "pip install requests", "struck twice before");
    assert_eq!(hint(&env, "s3", &error), None, "once in a session");
    let third = Session::new("s3")
        .user("Please make the report.")
        .failed("python tools/report/monthly.py", &error)
        .hinted(&told)
        .ran("pip install requests", "Successfully installed requests")
        .ran("python tools/report/monthly.py", "ok")
        .assistant("Here is the report.")
        .done();
    end(&env, &third);
    let (_, effectiveness, occurrences) = fix(&env);
    assert!(
        effectiveness > found_twice,
        "{effectiveness} > {found_twice}"
    );
    assert_eq!(occurrences, 3);
    let stats = env.cli(&["stats", "--json"]).json();
    assert_eq!(stats["errors_fixed"], 1, "{stats}");
    assert_eq!(stats["shown"], 1, "{stats}");
}

#[test]
fn a_person_at_the_terminal_sees_that_the_agent_was_reminded() {
    let mut env = TestEnv::new();
    finds_its_way(&env, "s1", "src/app.py");
    finds_its_way(&env, "s2", "src/tool.py");
    let told = |env: &TestEnv, session: &str| {
        let error = missing("a.py", "requests");
        fails(env, session, &error).json()["systemMessage"].clone()
    };
    assert_eq!(told(&env, "s3"), Value::Null, "`-p`");
    env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    let line = told(&env, "s4");
    has!(line.as_str().unwrap(), "Playbook: reminded Claude of `les-");
    env.write_config("notices = \"quiet\"\n");
    assert_eq!(told(&env, "s5"), Value::Null);
}
