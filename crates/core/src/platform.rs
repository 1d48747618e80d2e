//! System-specific functions: process identity, file size limit, file opener.
//!
//! Process identity comes from `/proc` on Linux. On other systems the answer is `None`, and callers
//! judge by age.

use std::path::Path;
use std::process::{Command, Stdio};

/// The identity of a process that survives the reuse of its number.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ProcessMark {
    pub pid: i32,
    /// The clock ticks since boot; `None` where the system does not report it.
    pub started: Option<u64>,
    /// The boot of the machine; `None` where the system does not report it.
    pub boot: Option<String>,
    /// The namespace of the number; `None` where the system does not report it.
    pub namespace: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Alive,
    /// The process has ended, though another may have its number.
    Dead,
    /// Another boot or namespace, or a system that does not report it.
    Unknown,
}

impl ProcessMark {
    pub fn of(pid: i32) -> Self {
        Self {
            pid,
            started: started(pid),
            boot: boot_id(),
            namespace: pid_namespace(),
        }
    }

    pub fn life(&self) -> Life {
        if self.boot.is_none() || self.boot != boot_id() || self.namespace != pid_namespace() {
            return Life::Unknown;
        }
        match (self.started, started(self.pid)) {
            (Some(then), Some(now)) if then == now => Life::Alive,
            (Some(_), _) => Life::Dead,
            (None, _) => Life::Unknown,
        }
    }
}

/// The index of the start time in `/proc/PID/stat`, counted from the field after the state.
const START_TIME_FIELD: usize = 18;

/// Returns `None` for an ended process, even while it is a zombie.
fn started(pid: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold spaces and parentheses; the last `)` ends it.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(START_TIME_FIELD)?.parse().ok()
}

fn boot_id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

fn pid_namespace() -> Option<String> {
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.to_string_lossy().into_owned())
}

/// Returns `None` without a limit; a signal ends a process that exceeds it.
pub fn largest_file() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

#[cfg(target_os = "macos")]
const OPENER: &str = "open";
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";

pub fn opener(file: &Path) -> Command {
    let mut command = Command::new(OPENER);
    // Its output concerns itself; ours says where the file is.
    command
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    #[test]
    fn a_process_is_alive_until_it_ends_and_a_reused_number_is_another() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let mark = ProcessMark::of(pid);
        assert_eq!(mark.life(), Life::Alive);
        let other = ProcessMark {
            started: mark.started.map(|t| t + 1),
            ..mark.clone()
        };
        assert_eq!(other.life(), Life::Dead);
        child.kill().unwrap();
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&child)), ended).unwrap();
        assert_eq!(
            mark.life(),
            Life::Dead,
            "before anybody has asked how it ended"
        );
        child.wait().unwrap();
        assert_eq!(mark.life(), Life::Dead);
    }
}
