//! `playbook dream`: looks once more at what was learned lately.

use serde_json::json;

use super::session::NamedSession;
use super::{answer, curator};
use crate::queue::curate::CuratorWish;

pub(super) fn run(session: &NamedSession, sources: u64, as_json: bool) -> anyhow::Result<()> {
    let lines = usize::try_from(sources).unwrap_or(usize::MAX);
    let run = curator::run(session, CuratorWish::Dream(lines))?;
    answer::give(
        as_json,
        include_str!("screens/curator.txt"),
        json!({"curator": run}),
    )
}
