//! Promise: a secret anywhere in a session is in no later request, file, log or answer. Texts that
//! only look like secrets stay.

use crate::common::prelude::*;

/// Secrets as they occur in texts, each after a name. The part that must be masked is in `«»`, `\n`
/// is a line's end, and `\\` a backslash. A `¦` is not part of a secret: it keeps other scanners
/// from reporting these as leaks.
const PLANTED: &str = include_str!("../fixtures/planted.txt");

fn planted() -> impl Iterator<Item = (&'static str, String)> {
    PLANTED.lines().map(|line| {
        let (name, text) = line.split_once(": ").expect("a name before a secret");
        let parts = text.split("\\\\").map(|part| part.replace("\\n", "\n"));
        (name, parts.collect::<Vec<_>>().join("\\"))
    })
}

const LOOK_ALIKES: &[&str] = &[
    "3f786850e387550fdab836ed7e6dc881de23001b",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha512-9NykojV5Uih4lgo5So5dtw+f0JgJX30KCNI8gwhz2J9A15wD0Ml6tjHKwf6fTSa6fAdVBdZeNOs9eJ71qCk8vA==",
    "API_KEY=<your-key>",
    "api_key: \"xxxxxxxxxxxxxxxx\"",
    "TOKEN=$TOKEN",
    "GH_TOKEN: ${{ secrets.X }}",
    "apiKey: process.env.X",
    "OPENAI_API_KEY=YOUR_API_KEY",
    "password: string",
    "max_tokens: 8192",
    "postgres://$USER:$PASS@localhost/db",
];

fn plain(text: &str) -> String {
    text.replace(['«', '»', '¦'], "")
}

fn all_plain() -> Vec<String> {
    planted().map(|(_, text)| plain(&text)).collect()
}

/// Returns the masked parts in all forms in which a file can contain them.
fn needles() -> Vec<(&'static str, String)> {
    let mut needles = Vec::new();
    for (name, text) in planted() {
        let text = text.replace('¦', "");
        let secret = text.split('«').nth(1).and_then(|s| s.split('»').next());
        let secret = secret.expect("a secret in brackets");
        for line in secret.split(['\n', ' ']).flat_map(|line| line.split("\\n")) {
            let is_header =
                line.len() < 8 || line.contains("PRIVATE") || line.contains("<private>");
            if !is_header {
                needles.push((name, line.to_owned()));
            }
        }
    }
    needles.push(("private", "Brunhilde".to_owned()));
    needles.push(("private open", "Kunibert".to_owned()));
    needles
}

/// Builds a session with each secret in each kind of place.
fn session() -> Session {
    let mut session = Session::new("s1");
    session.user(&format!("please set it up: {}", LOOK_ALIKES.join("\n")));
    for (name, text) in planted() {
        let text = plain(&text);
        // The texts are cut at about these places.
        let (before, after) = ("line of output\n".repeat(180), "more\n".repeat(900));
        let long = format!("{before}\n{text}\n{after}");
        let failed = format!("Exit code 1\nerror: {text}");
        let edit = json!({"file_path": "/a.rs", "new_string": text});
        let file = json!({"file_path": "/home/user/project/a.rs"});
        let written = json!({"file_path": "/a.rs", "content": text});
        session
            .user(&format!("always use this for {name}: {text}"))
            .assistant(&format!("By [pat-001] I use {text}"))
            .ran(&format!("echo {name}; {text}"), &text)
            .failed(&format!("run {name}"), &failed)
            .failed(&format!("{}{text}", "x ".repeat(170)), &long)
            .tool_error("Edit", &edit, "not found")
            .tool("Read", &file, &text)
            .rejected("Write", &written, &format!("no: {text}"))
            .tool("Task", &json!({"prompt": text}), &format!("found {text}"));
    }
    let (secret, file) = ("PLAIN=nobody-would-know-this", "/home/user/project/.env");
    session
        .tool_error("Read", &json!({"file_path": file}), secret)
        .failed("cat .env", &format!("Exit code 1\n{secret}"));
    session
}

fn chatty(_: &str) -> String {
    let all = all_plain();
    let operations: Vec<_> = all
        .iter()
        .take(8)
        .map(|text| json!({"type": "ADD", "section": "OTHERS", "text": format!("remember {text}")}))
        .collect();
    json!({
        "analysis": all.join("\n"),
        "bullet_tags": [{"name": "pat-001", "tag": "helpful", "rationale": all[44]}],
        "reflection": all[20..].join("\n"), "strategy": all[..20].join("\n"),
        "tags": ["a"], "issues": all, "confidence": 0.9, "importance": 0.9,
        "reasoning": all.join("\n"), "operations": operations,
    })
    .to_string()
}

#[track_caller]
fn assert_clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let found: Vec<_> = needles()
        .into_iter()
        .filter(|(_, needle)| text.contains(needle.as_str()))
        .collect();
    if let Some((name, needle)) = found.first() {
        let at = text.find(needle.as_str()).unwrap_or_default();
        let around: String = text[..at].chars().rev().take(60).collect();
        let around: String = around.chars().rev().collect();
        panic!("{what} holds {name}: …{around}{needle}");
    }
    lacks!(text, "nobody-would-know-this");
}

fn written(env: &TestEnv, ours: &[PathBuf]) -> Vec<(PathBuf, Vec<u8>)> {
    let files = env.files().into_iter();
    files
        .map(|(path, bytes)| (env.root().join(path), bytes))
        .filter(|(path, _)| !ours.contains(path))
        .collect()
}

#[test]
fn planted_secrets_are_nowhere_afterwards() {
    let error = all_plain();
    let api = Api::script([Step::error(401, "authentication_error", &error[25])]);
    let mut env = TestEnv::new();
    env.write_playbook(&[
        ("pat-001", "run the tests"),
        ("oth-001", "password=k3Jd92mLqPz71xVb"),
    ]);
    let transcript = env.write_transcript(&session());
    env.use_api(&api.base_url(), "sk-ant-our-own-key-0123456789");
    env.write_config(
        "[retry]\nattempts = 1\nbase_ms = 1\n[evidence]\ntokens = 400000\n[budgets]\ntokens = 0\n",
    );
    env.set("PLAYBOOK_DEBUG", env.root().join("debug"));
    let ours = [transcript.clone()];

    // A refusal with a key in it: the job waits with its evidence.
    env.ends("s1");
    env.settle();
    assert_eq!(env.spool().len(), 1, "the job waits");
    assert!(!api.requests().is_empty());
    for (path, bytes) in written(&env, &ours) {
        if path != env.playbook_path() {
            assert_clean(&path.display().to_string(), &bytes);
        }
    }

    // An answer with all secrets in it.
    api.now([Step::Answer(chatty)]);
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.settle();
    let is_fine = env.spool().is_empty() && env.failed().is_empty();
    assert!(is_fine, "{:?}", env.reasons());
    for request in api.requests() {
        assert_clean("a request", &request.body);
    }
    for (path, bytes) in written(&env, &ours) {
        assert_clean(&path.display().to_string(), &bytes);
    }
    for args in [&["show"][..], &["log"], &["jobs"], &["export"], &["doctor"]] {
        let output = env.cli(args);
        assert_clean(&format!("{args:?}"), format!("{output:?}").as_bytes());
    }
    let path = transcript.display().to_string();
    assert_clean("evidence", env.cli(&["evidence", &path]).ok().as_bytes());

    let prompts: String = api.requests().iter().map(Request::prompt).collect();
    let folded = prompts.split_whitespace().collect::<Vec<_>>().join(" ");
    for look_alike in LOOK_ALIKES {
        assert!(folded.contains(look_alike), "{look_alike} is gone");
    }
    has!(env.log(), "masked: ", "gitlab-token ");
}

#[test]
fn a_key_in_a_playbook_edited_by_hand_is_not_injected() {
    let env = TestEnv::without_worker();
    let points = (1..).zip(all_plain());
    let points: Vec<(String, String)> = points
        .map(|(n, text)| (format!("oth-{n:03}"), format!("note {text}")))
        .collect();
    env.write_playbook(&points);
    let (context, _) = env.start("s1");
    has!(context, "[masked gitlab-token]");
    assert_clean("the context", context.as_bytes());
}

#[test]
fn the_filter_masks_a_stream_of_any_length() {
    let env = TestEnv::new();
    let mut input = String::new();
    for (n, (_, text)) in (0..).zip(planted().filter(|(name, _)| *name != "private open")) {
        // So that secrets cross all borders of chunks.
        input.push_str(&"x y\n".repeat(9_000 + n));
        input.push_str(&plain(&text));
        input.push('\n');
    }
    input.push_str(&LOOK_ALIKES.join("\n"));
    let output = env.cli_with(&["redact"], input.as_bytes()).ok();
    assert!(!output.contains("k3Jd92mLqPz71xVb"), "a secret");
    for (name, needle) in needles().iter().filter(|(name, _)| *name != "private open") {
        assert!(!output.contains(needle.as_str()), "{name}");
    }
    assert!(output.ends_with(&LOOK_ALIKES.join("\n")));
}

/// A name and its value in two colours are one secret; other escape sequences stay.
#[test]
fn the_filter_sees_through_colours() {
    let env = TestEnv::new();
    let coloured =
        b"\x1b[32mAPI_KEY\x1b[0m=\x1b[33mlMsvcZiNlDF9SvmyY8yY\x1b[0m\t\x1b]8;;\x07 \xff\r\n";
    let output = env.cli_with(&["redact"], coloured).ok();
    let expected = "API_KEY=[masked env-secret]\t\x1b]8;;\x07 \u{fffd}\r\n";
    assert_eq!(output, expected);
}

#[test]
fn own_patterns_and_own_files_are_kept_out_too() {
    let api = Api::canned();
    let mut env = TestEnv::new();
    let secret = "nobody-would-know-this";
    let file = json!({"file_path": "/p/notes.txt"});
    let edit = json!({"file_path": "/p/notes.txt", "old_string": secret});
    let failed = format!(
        "<tool_use_error>String to replace not found in file.\nString: {secret}</tool_use_error>"
    );
    let session = Session::new("s1")
        .user("the ticket is ACME-4711-77, always read notes.txt")
        .tool("Read", &file, secret)
        .tool_error("Edit", &edit, &failed)
        .assistant("By [pat-001], done: ACME-4711-77.")
        .done();
    env.write_transcript(&session);
    env.use_api(&api.base_url(), "sk-ant-our-own-key-0123456789");
    env.write_config("[secrets]\npatterns = ['ACME-[0-9-]+']\nnever_read = ['notes.*']\n");
    env.ends("s1");
    env.settle();
    assert!(!api.requests().is_empty());
    for request in api.requests() {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        lacks!(text, "ACME-4711", "nobody-would-know");
    }
    env.assert_nowhere(&["ACME-4711", "nobody-would-know"], &["s1.jsonl"]);
}

#[test]
fn a_pattern_that_cannot_be_used_is_named_and_jobs_wait() {
    let (env, api) = TestEnv::with_model();
    env.write_config("[secrets]\npatterns = ['(']\n");
    env.end_citing("s1");
    let flaw = "config.toml:2: could not use pattern 1 of `secrets.patterns`";
    env.cli(&["worker"]).fails(1, &[flaw]);
    assert!(api.requests().is_empty(), "nothing is sent unmasked");
    assert_eq!(env.spool().len(), 1);
    has!(env.told_at_start("s2"), flaw);
    has!(format!("{:?}", env.cli(&["config", "check"])), flaw);
    let words = [flaw, "hint: correct the line"];
    env.cli(&["bootstrap", "--yes"]).fails(1, &words);
}
