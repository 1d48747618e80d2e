//! Runs a program that neither outlives its deadline nor leaves processes behind.
//!
//! The program leads its own process group. The whole group is killed at the deadline, when the
//! caller drops the future and, except for [`Followers::Left`], when the program ends. The group is
//! killed before its leader is reaped, so its number cannot belong to other processes.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

const GLANCE: Duration = Duration::from_millis(10);
/// The time in which the last output may arrive after the program ended.
const LAST_WORDS: Duration = Duration::from_secs(1);
const MAX_STDERR: usize = 64 << 10;

/// The fate of child processes that are still running when the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Followers {
    Killed,
    /// The program was run to leave them: a hook starts a worker.
    Left,
}

pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) status: ExitStatus,
}

pub(crate) enum Broken {
    NotStarted(io::Error),
    Timeout,
    TooLarge,
}

/// Reads at most `max` bytes of stdout; calls `started` with the process id.
pub(crate) async fn run(
    mut command: Command,
    input: &[u8],
    limit: Duration,
    max: usize,
    followers: Followers,
    started: impl FnOnce(i32),
) -> Result<Output, Broken> {
    let mut child = command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Broken::NotStarted)?;
    // Declared after the child, hence dropped, and its processes killed, before it.
    let mut group = ProcessGroup::of(&child);
    if let Some(leader) = group.0 {
        started(leader.as_raw_nonzero().get());
    }
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(mut stdout), Some(mut stderr)) = pipes else {
        return Err(Broken::NotStarted(io::Error::other("no pipes")));
    };

    let (mut said, mut complained) = (Vec::new(), Vec::new());
    let ended = {
        let feed = async move {
            // A program may stop reading its input early and explain why in its output.
            _ = stdin.write_all(input).await;
            Ok(())
        };
        let listen = keep(&mut stdout, &mut said, max, true);
        let overhear = keep(&mut stderr, &mut complained, MAX_STDERR, false);
        let talk = async { tokio::try_join!(feed, listen, overhear).map(drop) };
        timeout(limit, converse(&mut group, talk, followers)).await
    };
    match (&ended, followers) {
        (Ok(Ok(())), Followers::Left) => group.0 = None,
        _ => group.kill(),
    }
    let status = timeout(LAST_WORDS, child.wait()).await;
    ended.unwrap_or(Err(Broken::Timeout))?;
    Ok(Output {
        stdout: said,
        stderr: complained,
        status: status
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(Broken::NotStarted)?,
    })
}

async fn converse(
    group: &mut ProcessGroup,
    talk: impl Future<Output = Result<(), Broken>>,
    followers: Followers,
) -> Result<(), Broken> {
    tokio::pin!(talk);
    let mut silent = false;
    loop {
        tokio::select! {
            end = group.leader_ended() => break end.map_err(Broken::NotStarted)?,
            said = &mut talk, if !silent => { said?; silent = true }
        }
    }
    if followers == Followers::Killed {
        group.kill();
    }
    if !silent {
        // A process that left the group may keep the pipes open, so the wait is short.
        timeout(LAST_WORDS, talk).await.unwrap_or(Ok(()))?;
    }
    Ok(())
}

/// Keeps the first `max` bytes of a stream. With `is_wanted_whole`, more is an error at once.
async fn keep(
    stream: &mut (impl AsyncRead + Unpin),
    kept: &mut Vec<u8>,
    max: usize,
    is_wanted_whole: bool,
) -> Result<(), Broken> {
    let mut chunk = vec![0; 4 << 10];
    // An error ends a pipe like its closing does.
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        let room = max - kept.len();
        kept.extend_from_slice(&chunk[..read.min(room)]);
        if is_wanted_whole && read > room {
            return Err(Broken::TooLarge);
        }
    }
    Ok(())
}

struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    fn of(leader: &Child) -> Self {
        let pid = leader.id().and_then(|pid| i32::try_from(pid).ok());
        Self(pid.and_then(Pid::from_raw))
    }

    /// Waits until the leader has ended, without reaping it.
    async fn leader_ended(&self) -> io::Result<()> {
        let Some(leader) = self.0 else { return Ok(()) };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(leader), look)?.is_none() {
            sleep(GLANCE).await;
        }
        Ok(())
    }

    fn kill(&mut self) {
        if let Some(group) = self.0.take() {
            // Fails only if no process of the group is left.
            _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
