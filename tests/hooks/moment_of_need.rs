//! Promise: what a session taught about an error helps the next ones: with the real hooks and
//! the real worker.

use crate::common::prelude::*;

fn missing(file: &str, module: &str) -> String {
    format!(
        "Exit code 1\nTraceback (most recent call last):\n  File \"/home/user/project/{file}\", \
         line {}, in <module>\n    import {module}\nModuleNotFoundError: No module named '{module}'",
        file.len()
    )
}

fn fails(env: &TestEnv, session: &str, error: &str) -> Output {
    let input = json!({"command": "python3 a/b.py", "description": "run it"});
    let event = json!({"error": error, "tool_name": "Bash", "tool_input": input});
    env.hook(Hook::PostToolUseFailure, session, event)
}

fn hint(env: &TestEnv, session: &str, error: &str) -> Option<String> {
    let output = fails(env, session, error);
    if output.stdout.is_empty() {
        output.silent();
        return None;
    }
    Some(output.context_for("PostToolUseFailure"))
}

fn experienced() -> TestEnv {
    let env = TestEnv::new();
    let right = "run `pip install requests` first";
    let met = missing("a.py", "requests");
    let known = lesson("the module was not there", right, Some(&met));
    env.learn("j1", 3, &[error(&met, 1), known]);
    env
}

/// How effective the lesson is, and how often the error struck.
fn known(env: &TestEnv) -> (f64, u64) {
    let error = missing("somewhere/else.py", "requests");
    let answer = env.cli_with(&["seen", "--json"], error.as_bytes()).json();
    let effectiveness = answer["lessons"][0]["effectiveness"].as_f64();
    (
        effectiveness.expect("a number"),
        answer["occurrences"].as_u64().expect("a number"),
    )
}

#[test]
fn what_was_learned_is_told_when_the_error_strikes_again_and_gains_by_helping() {
    let env = experienced();
    let (before, _) = known(&env);
    let error = missing("tools/report/monthly.py", "requests");
    let told = hint(&env, "s3", &error).expect("what helped");
    has!(told, "pip install requests", "learned once");
    assert_eq!(hint(&env, "s3", &error), None, "once in a session");
    let session = Session::new("s3")
        .user("Please make the report.")
        .failed("python tools/report/monthly.py", &error)
        .hinted(&told)
        .ran("pip install requests", "Successfully installed requests")
        .ran("python tools/report/monthly.py", "ok")
        .assistant("Here is the report.")
        .done();
    env.end(&session);
    env.settle();
    assert!(env.spool().is_empty() && env.failed().is_empty());
    let (effectiveness, occurrences) = known(&env);
    assert!(effectiveness > before, "{effectiveness} > {before}");
    assert_eq!(occurrences, 2);
    let stats = env.cli(&["stats", "--json"]).json();
    assert_eq!(stats["shown"], 1, "{stats}");
}

#[test]
fn a_person_at_the_terminal_sees_that_the_agent_was_reminded() {
    let mut env = experienced();
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
