//! A small file system that can be filled up.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::Fallible;

const SIZE: &str = "size=160m";

/// A folder, on a file system of its own if one can be mounted.
pub(crate) struct Disk {
    folder: TempDir,
    is_mounted: bool,
}

impl Disk {
    /// Mounts a small file system in memory; needs root.
    pub(crate) fn new() -> Fallible<Self> {
        let folder = tempfile::Builder::new()
            .prefix("playbook-soak-")
            .tempdir()?;
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", SIZE, "tmpfs"])
            .arg(folder.path())
            .output();
        let is_mounted = mount.is_ok_and(|done| done.status.success());
        Ok(Self { folder, is_mounted })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn describe(&self) -> &'static str {
        if self.is_mounted {
            "the disk: a tmpfs of 160 MB that fills up"
        } else {
            "the disk: could not mount a small file system (that needs root), so it never fills up"
        }
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }

    /// Fills the file system; returns `false` if that is not possible here.
    pub(crate) fn fill(&self) -> bool {
        if !self.is_mounted {
            return false;
        }
        let Ok(mut file) = File::create(self.filler()) else {
            return true;
        };
        for size in [1 << 20, 1 << 12] {
            let block = vec![0; size];
            while file.write_all(&block).is_ok() {}
        }
        true
    }

    pub(crate) fn is_full(&self) -> bool {
        self.filler().exists()
    }

    pub(crate) fn empty(&self) {
        // If the file is missing, there is space already.
        _ = fs::remove_file(self.filler());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.is_mounted {
            _ = Command::new("umount").arg(self.folder.path()).status();
        }
    }
}
