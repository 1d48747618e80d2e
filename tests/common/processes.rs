//! Finds the processes of a test by a variable of their environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use super::env::TestEnv;
use super::run::wait_until;

/// The number of looks in a row that must see no process. A single look may miss the moment in
/// which one process starts another and ends.
const QUIET_LOOKS: u32 = 4;

/// The relation of a process to the test, according to `/proc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ours,
    /// It is just executing another program and shows no variables yet.
    BetweenPrograms,
    Other,
}

/// Returns the processes that were started with `variable` (`NAME=value`).
pub(crate) fn started_with(variable: &str) -> Vec<u32> {
    let is_ours = |pid: &u32| kind(*pid, variable) == Kind::Ours;
    all().filter(is_ours).collect()
}

/// Returns `true` if a process that was started with `variable` runs, or may turn out to.
pub(crate) fn may_run(variable: &str) -> bool {
    all().any(|pid| kind(pid, variable) != Kind::Other)
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn kind(pid: u32, variable: &str) -> Kind {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let of_variables = |variables: &[u8]| {
        let mut variables = variables.split(|&byte| byte == 0);
        if variables.any(|one| one == variable.as_bytes()) {
            Kind::Ours
        } else {
            Kind::Other
        }
    };
    match fs::read(process.join("environ")) {
        // Another user's process, or one that has ended meanwhile.
        Err(_) => Kind::Other,
        Ok(variables) if !variables.is_empty() => of_variables(&variables),
        Ok(_) => match Memory::of(&process) {
            Memory::None => of_variables(&variables_of_threads(&process)),
            Memory::Unfinished => Kind::BetweenPrograms,
            // It has no variables, or has just got them.
            Memory::Whole => of_variables(&fs::read(process.join("environ")).unwrap_or_default()),
        },
    }
}

/// The memory of a process that shows no variables.
enum Memory {
    /// A process of the system's, or one whose first thread has ended.
    None,
    Unfinished,
    Whole,
}

impl Memory {
    /// The positions in `/proc/PID/stat`, counted after the name.
    const SIZE: usize = 20;
    const END_OF_VARIABLES: usize = 48;

    fn of(process: &Path) -> Self {
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        // The name may hold spaces and parentheses; the last `)` ends it.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let is_none = |field: usize| fields.get(field).is_none_or(|value| *value == "0");
        match (is_none(Self::SIZE), is_none(Self::END_OF_VARIABLES)) {
            (true, _) => Self::None,
            (false, true) => Self::Unfinished,
            (false, false) => Self::Whole,
        }
    }
}

/// Returns the variables from the other threads of a process whose first one has ended. They hold
/// its files and locks until they end.
fn variables_of_threads(process: &Path) -> Vec<u8> {
    let threads = fs::read_dir(process.join("task")).into_iter().flatten();
    threads
        .flatten()
        .filter_map(|thread| fs::read(thread.path().join("environ")).ok())
        .find(|variables| !variables.is_empty())
        .unwrap_or_default()
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        _ = kill_process(pid, signal);
    }
}

impl TestEnv {
    pub(crate) fn kill_all(&self) {
        for pid in self.processes() {
            signal(pid, Signal::KILL);
        }
    }

    #[track_caller]
    pub(crate) fn settle(&self) {
        let mut quiet = 0;
        wait_until("the background work to end", || {
            let is_quiet = !may_run(&self.started());
            quiet = if is_quiet { quiet + 1 } else { 0 };
            quiet >= QUIET_LOOKS
        });
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        started_with(&self.started())
    }

    /// Returns the variable that identifies this test's processes.
    fn started(&self) -> String {
        format!("PLAYBOOK_STATE_DIR={}", self.state().display())
    }
}

impl Drop for TestEnv {
    /// Ends the running processes by id, and shows the logs of a failed test.
    fn drop(&mut self) {
        self.kill_all();
        if thread::panicking() {
            let logs = fs::read_dir(self.state().join("log")).into_iter().flatten();
            for path in logs.flatten().map(|entry| entry.path()) {
                let text = fs::read_to_string(&path).unwrap_or_default();
                eprintln!("--- {}\n{text}", path.display());
            }
        }
    }
}
