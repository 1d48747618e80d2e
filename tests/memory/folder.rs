//! A database in a folder of its own.

use std::path::PathBuf;

use playbook::memory::Memory;

pub(super) struct Folder {
    _dir: tempfile::TempDir,
    pub(super) file: PathBuf,
}

/// Makes a database in a folder of its own.
pub(super) fn opened() -> (Folder, Memory) {
    let folder = Folder::new();
    let memory = folder.open();
    (folder, memory)
}

impl Folder {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("state/memory.db");
        Self { _dir: dir, file }
    }

    pub(super) fn open(&self) -> Memory {
        Memory::open(&self.file).unwrap()
    }
}
