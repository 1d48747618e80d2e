//! A scratch folder for each call of the client, removed after the answer. If a worker was killed,
//! the next one kills the client and removes the folder.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;

use crate::fsx::{self, FsError};
use crate::platform::{Life, ProcessMark};

const PREFIX: &str = ".playbook-client-";
const MARK: &str = "mark.json";
const MAX_MARK: u64 = 1 << 12;

pub(super) struct Den {
    folder: TempDir,
    pub(super) room: PathBuf,
}

/// The process that asks, and the client, which leads a process group.
#[derive(Serialize, Deserialize)]
struct ClientMark {
    asks: ProcessMark,
    asked: ProcessMark,
}

impl Den {
    #[expect(
        clippy::disallowed_methods,
        reason = "a folder of the system, not of ours"
    )]
    pub(super) fn make() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let room = folder.path().join("empty");
        fs::create_dir(&room)?;
        Ok(Self { folder, room })
    }

    /// Writes the client's settings outside its working folder; returns the file's path.
    pub(super) fn keep_settings(&self, settings: &Value) -> Result<OsString, FsError> {
        let file = self.folder.path().join("settings.json");
        fsx::quick(&file, &fsx::to_json(&file, settings)?)?;
        Ok(file.into())
    }

    /// Records the client's process id. If that fails, a later worker cannot find the client.
    pub(super) fn note(&self, asked: i32) {
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        let mark = ClientMark {
            asks: ProcessMark::of(own),
            asked: ProcessMark::of(asked),
        };
        let file = self.folder.path().join(MARK);
        _ = fsx::to_json(&file, &mark).and_then(|mark| fsx::quick(&file, &mark));
    }
}

/// Ends the clients that killed workers have left, and removes their folders.
#[expect(
    clippy::disallowed_methods,
    reason = "a folder of the system, not of ours"
)]
pub(crate) fn clear() {
    let own = rustix::process::getuid().as_raw();
    let folders = fs::read_dir(std::env::temp_dir()).into_iter().flatten();
    for folder in folders.flatten() {
        let is_den = folder.file_name().to_string_lossy().starts_with(PREFIX);
        // Any user can create folders in the shared temporary folder; only our own are read.
        let is_ours = |about: fs::Metadata| about.is_dir() && about.uid() == own;
        if !is_den || !folder.metadata().is_ok_and(is_ours) {
            continue;
        }
        let mark: Option<ClientMark> = fsx::read_json(&folder.path().join(MARK), MAX_MARK);
        let Some(mark) = mark.filter(|mark| mark.asks.life() == Life::Dead) else {
            continue;
        };
        if mark.asked.life() == Life::Alive
            && let Some(group) = Pid::from_raw(mark.asked.pid)
        {
            // Fails only if no process of the group is left.
            _ = kill_process_group(group, Signal::KILL);
        }
        _ = fs::remove_dir_all(folder.path());
    }
}
