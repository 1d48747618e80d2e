//! Starts a process the way the client does, with a deadline, and keeps all its output.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The time after which anything counts as hanging; far above what it needs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(5);

/// Polls until `look` finds something; fails the test, naming `what`, at the deadline.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited {DEADLINE:?} for {what}");
        thread::park_timeout(LOOK);
    }
}

#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    wait_for(what, || condition().then_some(()));
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdin {
    Closed,
    HeldOpen,
}

#[derive(Debug)]
#[must_use = "assert what was printed and how it ended"]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The exit status; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
}

impl Output {
    #[track_caller]
    pub(crate) fn silent(&self) {
        assert_eq!((&*self.stdout, &*self.stderr, self.code), ("", "", Some(0)));
    }

    /// Asserts success with nothing on stderr; returns stdout.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        self.stdout
    }

    /// Asserts success; returns the one JSON value on stdout.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("not JSON: {e}: {text}"))
    }

    /// Asserts a `SessionStart` reply in the client's JSON form; returns the context in it.
    #[track_caller]
    pub(crate) fn context(self) -> String {
        self.context_for("SessionStart")
    }

    /// Asserts a reply to the client's event `name`; returns the context in it.
    #[track_caller]
    pub(crate) fn context_for(self, name: &str) -> String {
        let mut reply = self.json();
        let output = &mut reply["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], name);
        match output["additionalContext"].take() {
            Value::String(text) => text,
            other => panic!("no additionalContext: {other}"),
        }
    }

    #[track_caller]
    pub(crate) fn code_is(&self, code: i32) {
        let said = (self.code, self.stderr.as_str());
        assert_eq!(said, (Some(code), ""), "{self:?}");
    }

    /// Asserts a failure with `code`, `words` on stderr and nothing on stdout.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        let found = (self.code, self.stdout.as_str());
        assert_eq!(found, (Some(code), ""), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in {self:?}");
        }
    }
}

/// A running process, with our ends of its three sockets.
pub(crate) struct Running {
    child: Child,
    stdin: Option<UnixStream>,
    feeder: JoinHandle<()>,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

impl Running {
    /// Starts `command`; the three streams are unix sockets, as the client makes them.
    pub(crate) fn start(mut command: Command, input: &[u8], stdin: Stdin) -> Self {
        let (ours_in, theirs) = pair();
        command.stdin(theirs);
        let (ours_out, theirs) = pair();
        command.stdout(theirs);
        let (ours_err, theirs) = pair();
        command.stderr(theirs);
        let child = command.spawn().expect("the binary starts");
        // The command holds the far ends. Without them we notice when the last process that
        // inherited one has ended.
        drop(command);

        let mut feed = ours_in.try_clone().expect("a second handle");
        let input = input.to_vec();
        let feeder = thread::spawn(move || {
            // A process may exit before it has read all input.
            _ = feed.write_all(&input);
            if stdin == Stdin::Closed {
                _ = feed.shutdown(Shutdown::Write);
            }
        });
        Self {
            child,
            stdin: Some(ours_in),
            feeder,
            stdout: drain(ours_out),
            stderr: drain(ours_err),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    #[track_caller]
    pub(crate) fn finish(mut self) -> Output {
        let end = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                break status;
            }
            if Instant::now() > end {
                _ = self.child.kill();
                _ = self.child.wait();
                panic!("did not end within {DEADLINE:?}");
            }
            thread::park_timeout(LOOK);
        };
        drop(self.stdin.take());
        self.feeder.join().expect("stdin was fed");
        wait_until("the end of stdout and stderr", || {
            self.stdout.is_finished() && self.stderr.is_finished()
        });
        Output {
            stdout: self.stdout.join().expect("stdout was read"),
            stderr: self.stderr.join().expect("stderr was read"),
            code: status.code(),
        }
    }
}

fn pair() -> (UnixStream, Stdio) {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    (ours, Stdio::from(OwnedFd::from(theirs)))
}

fn drain(mut stream: UnixStream) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a readable stream");
        String::from_utf8(bytes).expect("UTF-8")
    })
}
