//! The `claude-cli` backend against a scripted `claude`.

use std::ffi::OsStr;
use std::time::Instant;

use super::backend_anthropic::{self, wait};
use super::backends::{FAKE, assert_gone};
use crate::common::prelude::*;
use playbook::backend::{
    Ask, Backend, BackendFailure, BackendName, BackendReply, ClaudeCli, FailureKind,
};
use tempfile::TempDir;

const ASK: Ask<'static> = Ask {
    prompt: "Evidence between <<0123456789abcdef>>",
    model: "haiku",
    ..backend_anthropic::ASK
};

const ANSWER: &str = r#"
echo '{"type":"result","subtype":"success","is_error":false,"result":"the answer","stop_reason":"end_turn",'\
'"usage":{"input_tokens":2,"cache_creation_input_tokens":3,"output_tokens":4},'\
'"modelUsage":{"claude-haiku-5-5":{"outputTokens":4}},"api_error_status":null}'
"#;

/// A fake client with its own home, in which it records how it was called.
struct Client {
    home: TempDir,
}

impl Client {
    fn that(play: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("play"), play).unwrap();
        Self { home }
    }

    fn backend(&self, limit: Duration) -> ClaudeCli {
        let program = ClaudeCli::find(OsStr::new(FAKE)).unwrap();
        let home = self.home.path().to_str().unwrap();
        let environment = [
            ("HOME", home),
            ("TMPDIR", home),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("CLAUDE_CONFIG_DIR", "/somewhere/claude"),
            ("HTTPS_PROXY", "http://proxy.example"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", "outer"),
            ("CLAUDE_CODE_MESSAGING_TOKEN", "outer-token"),
            ("ANTHROPIC_API_KEY", "sk-ant-not-for-the-child"),
            ("DATABASE_PASSWORD", "not-for-the-child"),
        ];
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        ClaudeCli::new(program, environment, limit)
    }

    fn ask(&self, ask: &Ask<'_>, limit: Duration) -> Result<BackendReply, BackendFailure> {
        wait(self.backend(limit).answer(ask))
    }

    fn answers(&self) -> Result<BackendReply, BackendFailure> {
        self.ask(&ASK, Duration::from_secs(30))
    }

    fn note(&self, name: &str) -> String {
        fs::read_to_string(self.home.path().join(name)).unwrap()
    }

    fn pids(&self) -> Vec<String> {
        let pids = fs::read_to_string(self.home.path().join("pids")).unwrap_or_default();
        pids.lines().map(str::to_owned).collect()
    }

    /// Asserts that every process that recorded its number ends.
    #[track_caller]
    fn assert_nobody_is_left(&self) {
        assert_gone(&self.pids());
    }
}

#[test]
fn a_good_answer_comes_back_with_its_model_and_cost() {
    let client = Client::that(&format!("cat > \"$HOME/prompt\"\n{ANSWER}"));
    let reply = client.answers().unwrap();
    let tokens = (reply.tokens.input, reply.tokens.output);
    assert_eq!((&*reply.text, reply.attempts), ("the answer", 1));
    assert_eq!((&*reply.model, tokens), ("claude-haiku-5-5", (5, 4)));
    assert_eq!(client.note("prompt"), ASK.prompt);
    client.assert_nobody_is_left();
}

#[test]
fn the_client_is_isolated_by_its_flags_its_environment_and_its_folder() {
    let client = Client::that(&format!("touch left-behind\n{ANSWER}"));
    client.answers().unwrap();
    let arguments = client.note("arguments");
    let arguments: Vec<&str> = arguments.split_terminator('\n').collect();
    // Two spaces enclose an empty word.
    let expected = "-p --settings {\"disableAllHooks\":true} --setting-sources  \
        --no-session-persistence --tools  --strict-mcp-config --disable-slash-commands \
        --max-turns 1 --output-format json --effort low --system-prompt You_judge_sessions. \
        --model haiku";
    let expected = expected.split(' ').map(|word| word.replace('_', " "));
    assert_eq!(arguments, expected.collect::<Vec<_>>());

    let environment = client.note("environment");
    has!(environment, "CLAUDE_CONFIG_DIR=/somewhere/claude\n");
    has!(environment, "HTTPS_PROXY=http://proxy.example\n");
    has!(environment, "PLAYBOOK_WORKER=1\n");
    lacks!(environment, "CLAUDECODE", "SESSION", "outer-token");
    lacks!(environment, "not-for-the-child");

    assert_eq!(client.note("listing"), "");
    assert!(!Path::new(client.note("folder").trim()).exists());
}

#[rstest]
#[case::that_talks_first(
    "head -c 300000 /dev/zero | tr '\\0' x >&2; wc -c > \"$HOME/length\"",
    "500000"
)]
#[case::that_does_not_read("echo > \"$HOME/length\"", "")]
fn a_large_prompt_does_not_block_a_client(#[case] play: &str, #[case] read: &str) {
    let client = Client::that(&format!("{play}\n{ANSWER}"));
    let prompt = &*"word ".repeat(100_000);
    let reply = client.ask(&Ask { prompt, ..ASK }, Duration::from_secs(30));
    assert_eq!(reply.unwrap().text, "the answer");
    assert_eq!(client.note("length").trim(), read);
}

#[test]
fn each_bad_end_is_told_apart_and_leaves_nobody() {
    use FailureKind::{Crashed, EchoedPrompt, NotAMessage, RateLimited, RefusedKey};
    let echo = r#"printf '{"type":"result","is_error":false,"result":"%s"}' "$(cat)""#;
    let limit =
        r#"echo '{"type":"result","is_error":false,"result":"You have hit your session limit"}'"#;
    let nobody = r#"echo '{"type":"result","is_error":true,"result":"Not logged in · Please run /login"}'; exit 1"#;
    let flood = "exec yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    let unknown = "echo \"error: unknown option '--effort'\" >&2; exit 1";
    for (name, play, kind, may_pass) in [
        ("raw echo", "cat", NotAMessage, true),
        ("echo as result", echo, EchoedPrompt, false),
        ("session limit", limit, RateLimited, true),
        ("not logged in", nobody, RefusedKey, true),
        ("garbage", "echo 'Welcome!'", NotAMessage, true),
        ("binary", "head -c 5000 /dev/urandom", NotAMessage, true),
        ("flood", flood, NotAMessage, true),
        ("nothing", "true", NotAMessage, true),
        ("unknown flag", unknown, Crashed, true),
        ("killed", "kill -9 $$", Crashed, true),
    ] {
        let client = Client::that(play);
        let failure = client.answers().unwrap_err();
        assert_eq!(failure.kind, kind, "{name}: {failure}");
        assert_eq!(failure.kind.may_pass(), may_pass, "{name}");
        has!(failure.message, "`claude -p`");
        client.assert_nobody_is_left();
    }
}

#[test]
fn the_callers_deadline_counts_when_it_is_nearer() {
    let client = Client::that("sleep 600");
    let ask = Ask {
        deadline: Some(Instant::now() + Duration::from_secs(1)),
        ..ASK
    };
    let failure = client.ask(&ask, Duration::from_secs(600)).unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (FailureKind::Timeout, 1));
    let over = client.ask(&ask, Duration::from_secs(600)).unwrap_err();
    assert_eq!((over.kind, over.attempts), (FailureKind::Timeout, 0));
    client.assert_nobody_is_left();
}

#[test]
fn a_child_that_stays_behind_neither_delays_the_answer_nor_remains() {
    // It ignores all signals that can be ignored and holds the client's stdout open.
    let client = Client::that(&format!(
        "(trap '' TERM HUP INT; while :; do sleep 600; done) & echo $! >> \"$HOME/pids\"\n{ANSWER}"
    ));
    assert_eq!(client.answers().unwrap().text, "the answer");
    assert_eq!(client.pids().len(), 2);
    client.assert_nobody_is_left();
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_left_the_group_does_not_delay_the_answer() {
    let play = format!("setsid sleep 600 & echo $! >> \"$HOME/pids\"\n{ANSWER}");
    let client = Client::that(&play);
    assert_eq!(client.answers().unwrap().text, "the answer");
    let escaped = &client.pids()[1];
    let ended = Command::new("kill").arg(escaped).status().unwrap();
    assert!(ended.success(), "it was there until now");
}

#[test]
fn an_answer_nobody_waits_for_leaves_nobody() {
    let client = Client::that("sleep 600 & echo $! >> \"$HOME/pids\"; wait");
    let backend = client.backend(Duration::from_secs(600));
    wait(async {
        let started = async {
            while client.pids().len() < 2 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            _ = backend.answer(&ASK) => panic!("it hangs"),
            () = started => {}
        }
    });
    client.assert_nobody_is_left();
}

#[test]
fn a_program_that_cannot_be_started_is_named_and_may_pass() {
    let backend = ClaudeCli::new("/nowhere/claude".into(), [], Duration::from_secs(30));
    assert_eq!(backend.name(), BackendName::ClaudeCli);
    let failure = wait(backend.answer(&ASK)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotStarted);
    assert!(failure.kind.may_pass());
    has!(failure.message, "/nowhere/claude");
}

#[test]
fn a_system_prompt_that_no_command_line_can_carry_is_the_requests_fault() {
    let client = Client::that(ANSWER);
    for system in [&*"x".repeat(4 << 20), "a\0b"] {
        let failure = client.ask(&Ask { system, ..ASK }, Duration::from_secs(30));
        let failure = failure.unwrap_err();
        assert_eq!(failure.kind, FailureKind::BadQuestion, "{failure}");
    }
}

#[test]
fn claude_is_found_in_absolute_folders_only() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("claude"), "not executable").unwrap();
    let find = |folders: &[&Path]| ClaudeCli::find(&std::env::join_paths(folders).unwrap());
    let fake = Path::new(FAKE);
    let found = find(&[Path::new("/nowhere"), folder.path(), fake]);
    assert_eq!(found, Some(fake.join("claude")));
    let relative = Path::new("tests/fixtures/fake-claude");
    assert!(relative.join("claude").exists());
    assert_eq!(find(&[relative, folder.path()]), None);
    assert_eq!(ClaudeCli::find(OsStr::new("")), None);
}
