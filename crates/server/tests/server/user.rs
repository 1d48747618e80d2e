//! A user with a separate HOME.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::session::Session;

const SERVER: &str = env!("CARGO_BIN_EXE_playbook-server");

pub(crate) struct User(tempfile::TempDir);

impl User {
    pub(crate) fn new() -> Self {
        let user = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(user.project().join(".git")).unwrap();
        user
    }

    pub(crate) fn sharing(url: &str) -> Self {
        let user = Self::new();
        user.ok(&["config", "set", "memory.url", url]);
        user
    }

    pub(crate) fn home(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.home().join(".local/state/playbook/memory.db")
    }

    pub(crate) fn cloned(self, remote: &str) -> Self {
        for args in [&["init", "-q"][..], &["remote", "add", "origin", remote]] {
            let mut git = Command::new("git");
            git.args(args).current_dir(self.project());
            git.env("HOME", self.home())
                .env("GIT_CONFIG_GLOBAL", "/dev/null");
            assert!(git.status().unwrap().success());
        }
        self
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        // `cargo test` builds it next to the server.
        let program = Path::new(SERVER).with_file_name("playbook");
        let is_fine = program.is_file();
        assert!(is_fine, "build it first: cargo build --bin playbook");
        self.of_program(&program, args)
    }

    /// Builds the command that writes to the database what waits.
    pub(crate) fn sender(&self) -> Command {
        self.of_program(Path::new(SERVER), &["send"])
    }

    fn of_program(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .envs([("PATH", "/usr/bin:/bin"), ("PLAYBOOK_NO_WORKER", "1")])
            .env("HOME", self.home())
            .current_dir(self.project());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub(crate) fn ok(&self, args: &[&str]) -> (String, String) {
        let output = self.run(args);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (told, complaint) = (text(output.stdout), text(output.stderr));
        assert!(output.status.success(), "{args:?}: {complaint}");
        (told, complaint)
    }

    pub(crate) fn learn(&self, correction: &str) -> String {
        let lesson = "lesson add --json --task release --mistake tagged-first --correction";
        let (told, _) = self.ok(&lesson.split(' ').chain([correction]).collect::<Vec<_>>());
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        told["id"].as_str().unwrap().to_owned()
    }

    /// Ends a session with an error; its job stays in the spool.
    pub(crate) fn end_of_a_session(&self) {
        let project = self.project();
        let error = "Exit code 128\nfatal: 'upstream' does not appear to be a git repository";
        let session = Session::new("s1")
            .user("Push it, please.")
            .failed("git push upstream main", error)
            .assistant("It failed [pat-001].")
            .done();
        let folder = self.home().join(".claude/projects/p");
        fs::create_dir_all(&folder).unwrap();
        let transcript = folder.join("s1.jsonl");
        fs::write(&transcript, session.text()).unwrap();
        let event = json!({
            "session_id": "s1", "transcript_path": transcript, "cwd": project,
            "hook_event_name": "SessionEnd", "reason": "exit",
        });
        let mut hook = self.command(&["hook", "session-end"]);
        let mut hook = hook.stdin(Stdio::piped()).spawn().unwrap();
        write!(hook.stdin.take().unwrap(), "{event}").unwrap();
        assert!(hook.wait().unwrap().success());
    }

    pub(crate) fn knows(&self, word: &str) -> usize {
        self.ok(&["recall", word]).0.matches(word).count()
    }

    pub(crate) fn send(&self) {
        assert_eq!(self.cannot_send(), "");
    }

    /// Returns the reason why nothing can be written.
    pub(crate) fn cannot_send(&self) -> String {
        String::from_utf8(self.sender().output().unwrap().stderr).unwrap()
    }
}
