//! `playbook` and `playbook status`: a project at a glance.
//!
//! It always answers: what cannot be read is named with the command that mends it, and the
//! rest is shown.

mod glance;
mod screen;

use super::args;
use super::output::{self, say};
use super::width;
use crate::env::Env;
use glance::Glance;

pub(super) fn run(args: &args::On) -> anyhow::Result<()> {
    let env = Env::from_process();
    let glance = Glance::at(args.project.as_deref())?;
    if args.json {
        return output::json(&glance);
    }
    say!(
        "{}",
        screen::draw(&glance, width::of_screen(&env)).trim_end()
    );
    Ok(())
}
