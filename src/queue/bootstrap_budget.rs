//! What the user agreed that `playbook bootstrap` may spend in a project.
//!
//! The limits of a day neither hold these calls back nor know of them. The agreement is a
//! file beside what else we keep of the project; what was spent of it is in the ledger, so
//! it holds through kills and over many runs.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::QueueError;
use super::budget::Usage;
use crate::fsx;
use crate::memory::{BudgetKind, Memory, MemoryError};
use crate::paths::Paths;

const VERSION: u32 = 1;
const MAX_FILE: u64 = 1 << 16;

/// What may be spent in all, of what was spent before and what was agreed to last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Agreement {
    v: u32,
    calls: u64,
    tokens: u64,
}

/// Lets bootstrap spend `more` in a project beyond what it has spent there.
pub(crate) fn agree(
    paths: &Paths,
    memory: &Memory,
    project: &Path,
    more: Usage,
) -> Result<(), QueueError> {
    let spent = spent(memory, project)?;
    let agreement = Agreement {
        v: VERSION,
        calls: spent.calls + more.calls,
        tokens: spent.tokens + more.tokens,
    };
    let file = file(paths, project);
    fsx::ensure_dir(&paths.project(project))?;
    Ok(fsx::durable(&file, &fsx::to_json(&file, &agreement)?)?)
}

/// Returns how many calls are left of what was agreed to; `None` when no call may begin.
///
/// `pending` is under way. The last call may go beyond the tokens by what it costs.
pub(super) fn room(
    paths: &Paths,
    memory: &Memory,
    project: &Path,
    pending: Usage,
) -> Result<Option<u32>, MemoryError> {
    let agreed: Option<Agreement> = fsx::read_json(&file(paths, project), MAX_FILE);
    let Some(agreed) = agreed.filter(|agreed| agreed.v == VERSION) else {
        return Ok(None);
    };
    let spent = spent(memory, project)?;
    let calls = agreed.calls.saturating_sub(spent.calls + pending.calls);
    let has_tokens = spent.tokens + pending.tokens < agreed.tokens;
    Ok((calls > 0 && has_tokens).then(|| u32::try_from(calls).unwrap_or(u32::MAX)))
}

fn spent(memory: &Memory, project: &Path) -> Result<Usage, MemoryError> {
    let name = project.to_string_lossy();
    let rows = memory.spending_of(BudgetKind::Agreed, Timestamp::MIN, Timestamp::MAX)?;
    Ok(Usage::of(rows.iter().filter(|row| row.project == name)))
}

fn file(paths: &Paths, project: &Path) -> PathBuf {
    paths.project(project).join("bootstrap.json")
}
