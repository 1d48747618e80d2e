//! The folder of a client that was asked: empty, gone with the answer, and, where a worker was
//! killed, cleared with the client in it by the next one.

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
    /// The empty folder.
    pub(super) room: PathBuf,
}

/// Who asks, and who is asked: the leader of a process group.
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

    /// Writes settings for the client, outside of the empty folder; returns the file.
    pub(super) fn keep_settings(&self, settings: &Value) -> Result<OsString, FsError> {
        let file = self.folder.path().join("settings.json");
        fsx::quick(&file, &fsx::to_json(&file, settings)?)?;
        Ok(file.into())
    }

    /// Notes who is asked; without the note the client is merely not found again.
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
        // Anybody may make folders there; only what is in ours is believed.
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
            // Fails only when nobody is left.
            _ = kill_process_group(group, Signal::KILL);
        }
        _ = fs::remove_dir_all(folder.path());
    }
}
