//! Hands an event to the whole program, which can read settings and playbooks itself.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::{HookEvent, start_worker};
use crate::env::Env;
use crate::fault;

/// Gives the program our standard output; returns `true` if it started.
pub(super) fn run(env: &Env, event: HookEvent, args: &[OsString], input: &[u8]) -> bool {
    let Some(program) = start_worker::program(env) else {
        return false;
    };
    let mut command = Command::new(program);
    command
        .args(["hook", event.name()])
        .args(args)
        .stdin(Stdio::piped())
        .stderr(Stdio::null());
    let Ok(mut child) = fault::write("spawn").and_then(|()| command.spawn()) else {
        return false;
    };
    if let Some(mut stdin) = child.stdin.take() {
        // The program may have ended without reading it.
        _ = stdin.write_all(input);
    }
    _ = child.wait();
    true
}
