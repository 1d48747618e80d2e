//! The process between a hook and the worker.
//!
//! When a hook takes too long, the client ends its process group and every descendant by parent id.
//! Only an orphan survives that: this process becomes its own session, starts the worker and ends.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use super::HookEvent;
use crate::fault;

/// The argument that makes a program this process. For a hook's binary, the command to start
/// follows.
pub const DETACH: &str = "--detach";

/// Becomes its own session and starts the command without waiting for it.
pub fn start(command: &mut Command) -> io::Result<()> {
    // Fails only for the leader of a process group, which is separate already.
    _ = rustix::process::setsid();
    fault::write("spawn").and_then(|()| command.spawn())?;
    fault::stop("spawned");
    Ok(())
}

/// Starts the program that a hook's binary was asked to start; `None` if there is no such request.
pub(super) fn run(args: &[OsString]) -> Option<io::Result<()>> {
    let [first, program, args @ ..] = args else {
        return None;
    };
    if first != DETACH {
        return None;
    }
    // The folder is changed here and not by the command, so that it can be started without a fork.
    let left = std::env::set_current_dir("/");
    Some(left.and_then(|()| start(Command::new(program).args(args))))
}

/// Returns our own program, if it is the small binary of this event.
pub(super) fn own_binary(event: HookEvent) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    (own.file_name()? == event.name()).then_some(own)
}
