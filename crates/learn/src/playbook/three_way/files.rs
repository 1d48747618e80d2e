//! Merges playbook files as they are on disk or in git.

use std::fmt;

use super::conflict::sides;
use super::{Merged, NewerFormat, merge};
use crate::playbook::migrate::migrate;
use crate::playbook::{Defect, Playbook};

/// One of the three files of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeFile {
    /// What both sides began with.
    Base,
    Ours,
    /// The other side.
    Theirs,
}

impl fmt::Display for MergeFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "the base",
            Self::Ours => "our side",
            Self::Theirs => "their side",
        })
    }
}

/// Why files are not merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmergeable {
    /// One of them is no playbook.
    #[error("{file}: {flaw}")]
    Unreadable { file: MergeFile, flaw: Defect },
    /// A newer version wrote one of them.
    #[error(transparent)]
    Newer(#[from] NewerFormat),
}

/// Merges what two files made of a third, if there is one and it is not empty.
///
/// A base with conflict markers is what git made of several bases: it counts as their merge.
pub fn merge_files(base: Option<&[u8]>, ours: &[u8], theirs: &[u8]) -> Result<Merged, Unmergeable> {
    let base = base.filter(|bytes| !bytes.is_empty());
    let base = base.map(merged_base).transpose()?;
    let ours = read(MergeFile::Ours, ours)?;
    let theirs = read(MergeFile::Theirs, theirs)?;
    Ok(merge(base.as_ref(), [&ours, &theirs])?)
}

fn merged_base(bytes: &[u8]) -> Result<Playbook, Unmergeable> {
    let Some(bases) = sides(bytes) else {
        return read(MergeFile::Base, bytes);
    };
    let [one, other] = [&bases.ours, &bases.theirs].map(|side| read(MergeFile::Base, side));
    Ok(merge(None, [&one?, &other?])?.playbook)
}

fn read(file: MergeFile, bytes: &[u8]) -> Result<Playbook, Unmergeable> {
    match migrate(bytes) {
        Ok(migrated) => Ok(migrated.playbook),
        Err(flaw) => Err(Unmergeable::Unreadable { file, flaw }),
    }
}
