//! `playbook evidence`: the part of a session that would be sent, and what was left out.

use std::path::Path;

use serde_json::json;

use super::session::NamedSession;
use super::{answer, args};
use crate::queue::claim::lane_of;
use crate::queue::files::SessionEvidence;
use crate::queue::job::JobEvent;
use crate::transcript::{Digest, Range, ReadOptions};
use crate::transcript_file;

pub(super) fn run(session: &NamedSession, args: &args::EvidenceArgs) -> anyhow::Result<()> {
    let path = std::path::absolute(&args.transcript)?;
    let budget = args.budget.unwrap_or(session.config.evidence.tokens);
    let shown = SessionEvidence::of(read(session, &path)?, budget);
    let mut told = json!(shown);
    if !args.json {
        told["budget"] = budget.into();
        told["sign"] = shown.facts.sign().into();
    }
    answer::give(args.json, include_str!("screens/evidence.txt"), told)
}

/// Reads a whole transcript, as a job of its own would.
pub(super) fn read(session: &NamedSession, path: &Path) -> anyhow::Result<Digest> {
    let end = transcript_file::complete_end(path, 0)?;
    let options = options(session, path)?;
    let (range, is_copy) = (Range { start: 0, end }, &mut |_, _| false);
    Ok(transcript_file::scan(path, range, &options, is_copy)?)
}

pub(super) fn options(session: &NamedSession, path: &Path) -> anyhow::Result<ReadOptions> {
    let home = session.paths.home().and_then(Path::to_str);
    Ok(ReadOptions {
        lane: lane_of(JobEvent::Reflect, path),
        home: home.map(str::to_owned),
        secrecy: session.config.secrets.secrecy()?,
        ..ReadOptions::default()
    })
}
