//! `playbook` and `playbook status`: a project at a glance.
//!
//! It always answers: what cannot be read is named with the command that mends it, and the
//! rest is shown.

mod glance;

use anyhow::Context as _;
use serde_json::json;

use super::output::{self, say};
use super::{answer, args, width};
use crate::env::Env;
use glance::Glance;

pub(super) fn run(args: &args::On) -> anyhow::Result<()> {
    let env = Env::from_process();
    let glance = Glance::at(args.project.as_deref())?;
    if args.json {
        return output::json(&glance);
    }
    let votes = glance
        .sections
        .iter()
        .map(|sums| sums.helpful.saturating_add(sums.harmful));
    let mut told = json!(glance);
    told["most"] = votes.max().into();
    told["width"] = width::of_screen(&env).into();
    let text = answer::laid_out(include_str!("../screens/status.txt"), told);
    for line in text
        .context("could not draw the screen")?
        .trim_end()
        .lines()
    {
        say!("{}", line.trim_end());
    }
    Ok(())
}
