//! Makes what hooks find ready: what they need of the settings, and the context of the next
//! start.
//!
//! The worker does it for each project it has worked in, commands for the one they have
//! changed something in, and `playbook hook EVENT` for the one in which nothing that lay ready
//! could be relied on. All of it can be made anew at any time, so what goes wrong is logged
//! and holds nothing up.

mod afresh;
mod context;
mod told;

use std::path::Path;

use jiff::Timestamp;

pub use afresh::hook;

use context::{Basis, OwnPoints};

use crate::account;
use crate::config::{self, Config, Notices, WorkerMode};
use crate::fsx::FsError;
use crate::hook::source::FoundSettings;
use crate::paths::Paths;
use crate::prepared::{self, ProjectSettings, Ready};
use crate::state_guard;
use crate::telemetry;

/// Makes what the next hooks of a project find ready. Where reflection is switched off they
/// leave no trace, and nothing is made for them.
pub(crate) fn ready(paths: &Paths, project: &Path, now: Timestamp) {
    if paths.state().is_dir()
        && state_guard::check(paths).is_ok()
        && let Err(error) = make(paths, project, now)
    {
        telemetry::note(paths, now, "prepare", &error.to_string());
    }
}

fn make(paths: &Paths, project: &Path, now: Timestamp) -> Result<(), FsError> {
    let made_from = prepared::look::<ProjectSettings>(paths, project);
    let FoundSettings::Known(settings) = found(paths, project) else {
        return Ok(());
    };
    let (max_units, own) = (settings.max_units, OwnPoints::of(&settings));
    if let Some(made_from) = made_from
        && ProjectSettings::has_files(paths, project)
    {
        prepared::keep(paths, project, made_from, settings)?;
    }
    let made_from = prepared::look::<Ready>(paths, project);
    if let Some(made_from) = made_from
        && let Some((ready, left)) = Basis::read(paths, project, now, own)?.ready(max_units)
    {
        prepared::keep(paths, project, made_from.clone(), ready)?;
        for (kind, left) in left {
            left.keep(paths, project, kind, made_from.clone())?;
        }
    }
    Ok(())
}

/// What the settings say of a project's hooks.
fn found(paths: &Paths, project: &Path) -> FoundSettings {
    match config::unless_switched_off(paths, project) {
        None => FoundSettings::Off,
        Some(Ok(config)) => FoundSettings::Known(of_hooks(&config)),
        Some(Err(error)) => FoundSettings::Broken(error.to_string()),
    }
}

fn of_hooks(config: &Config) -> ProjectSettings {
    ProjectSettings {
        on_exit: config.hooks.on_exit,
        on_clear: config.hooks.on_clear,
        on_subagent_stop: config.hooks.on_subagent_stop,
        on_tool_failure: config.hooks.on_tool_failure,
        on_prompt: config.hooks.on_prompt,
        is_inline: config.worker.mode == WorkerMode::Inline,
        inline_ms: config.worker.inline_ms,
        max_units: config.injection.max_units,
        gives_own: config.injection.own,
        notices: match config.top.notices {
            Notices::All => prepared::Notices::All,
            Notices::Quiet => prepared::Notices::Quiet,
        },
        account: account::chosen(config),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::named::DEFAULT_CLIENT_MODEL;

    #[test]
    fn hooks_know_the_defaults_by_themselves() {
        let mut known = ProjectSettings::default();
        // Of the client's model both say the same in two ways.
        known.account.claude_cli.both = Some(DEFAULT_CLIENT_MODEL.to_owned());
        assert_eq!(of_hooks(&Config::default()), known);
    }
}
