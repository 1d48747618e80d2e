//! `playbook merge-files`: two playbook files become one. git's merge driver runs the same.

use std::path::Path;

use serde_json::json;

use super::output::Hinted;
use super::{answer, args};
use crate::fsx;
use crate::playbook::three_way::{MergeFile, Unmergeable, merge_files};
use crate::store::MAX_FILE_BYTES;

pub(super) fn run(args: &args::MergeFiles) -> anyhow::Result<()> {
    let base = fsx::read_if_there(&args.base, MAX_FILE_BYTES)?;
    let ours = fsx::read(&args.ours, MAX_FILE_BYTES)?;
    let theirs = fsx::read(&args.theirs, MAX_FILE_BYTES)?;
    let merged = merge_files(base.as_deref(), &ours, &theirs).map_err(|why| told(args, why))?;
    fsx::durable(&args.output, &merged.playbook.to_bytes())?;
    let told = json!({
        "output": args.output,
        "points": merged.playbook.points().count(),
        "decided": merged.decided,
    });
    answer::give(args.json, include_str!("screens/merge_files.txt"), told)
}

fn told(args: &args::MergeFiles, why: Unmergeable) -> anyhow::Error {
    let file = |file| -> &Path {
        match file {
            MergeFile::Base => &args.base,
            MergeFile::Ours => &args.ours,
            MergeFile::Theirs => &args.theirs,
        }
    };
    let (what, hint) = match why {
        Unmergeable::Unreadable { file: which, flaw } => (
            format!("could not read playbook: {}: {flaw}", file(which).display()),
            "mend that file, then try again; nothing was written",
        ),
        Unmergeable::Newer(error) => (
            format!("could not merge playbooks: {error}"),
            "update Playbook, then try again; nothing was written",
        ),
    };
    Hinted::error(what, hint)
}
