//! Prepares the files that hooks read: their settings, and the context of the next start.
//!
//! The worker does so for each project it worked in, commands for the one they changed. `playbook
//! hook EVENT` does so where the prepared files could not be used. All of them can be made again,
//! so errors are only logged.

mod afresh;
mod context;

use std::path::Path;

use context::{Basis, OwnPoints};
use jiff::Timestamp;

use crate::config::{self, Config, Notices, WorkerMode};
use crate::fsx::FsError;
use crate::hook::source::FoundSettings;
use crate::paths::Paths;
use crate::prepared::{self, ProjectSettings, Ready, Stamp, StartKind};
use crate::shown_record::ShownPoints;
use crate::{account, state_guard, telemetry};

pub use afresh::hook;

/// Makes what the next hooks of a project find ready, unless reflection is off.
pub(crate) fn ready(paths: &Paths, project: &Path, now: Timestamp) {
    keep(paths, project, now, |settings| {
        let made_from = prepared::look::<Ready>(paths, project);
        let basis = Basis::read(paths, project, OwnPoints::of(settings))?;
        Ok(NextStart::of(made_from, &basis, settings.max_units))
    });
}

/// Returns the key points that the next start of a project is given, the user's own among them,
/// and the number of the project's that have no room.
pub(crate) fn given_next(
    paths: &Paths,
    project: &Path,
    config: &Config,
) -> Result<(ShownPoints, usize), FsError> {
    let settings = of_hooks(config);
    let basis = Basis::read(paths, project, OwnPoints::of(&settings))?;
    let start = basis.give(StartKind::Full, settings.max_units);
    let given = start.given.injection.map(|it| it.points);
    Ok((given.unwrap_or_default(), start.left_out))
}

/// Writes the settings for a project's hooks, and the context that `next` makes for the next start.
fn keep(
    paths: &Paths,
    project: &Path,
    now: Timestamp,
    next: impl FnOnce(&ProjectSettings) -> Result<Option<NextStart>, FsError>,
) {
    let keep = || {
        let made_from = prepared::look::<ProjectSettings>(paths, project);
        let FoundSettings::Known(settings) = found(paths, project) else {
            return Ok(());
        };
        if let Some(made_from) = made_from
            && ProjectSettings::has_files(paths, project)
        {
            prepared::keep(paths, project, made_from, settings.clone())?;
        }
        match next(&settings)? {
            Some(start) => prepared::keep(paths, project, start.made_from, start.ready),
            None => Ok(()),
        }
    };
    if paths.state().is_dir()
        && state_guard::check(paths).is_ok()
        && let Err(error) = keep()
    {
        telemetry::note(paths, now, "prepare", &error.to_string());
    }
}

/// The context of a project's next start, with the stamps of the files that it is made from.
#[derive(Debug)]
struct NextStart {
    made_from: Vec<Stamp>,
    ready: Ready,
}

impl NextStart {
    /// Makes it of files that looked like `made_from` before they were read.
    fn of(made_from: Option<Vec<Stamp>>, basis: &Basis<'_>, max_units: usize) -> Option<Self> {
        let (made_from, ready) = made_from.zip(basis.ready(max_units))?;
        Some(Self { made_from, ready })
    }
}

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
        // Both name the client's model, in two ways.
        known.account.claude_cli.both = Some(DEFAULT_CLIENT_MODEL.to_owned());
        assert_eq!(of_hooks(&Config::default()), known);
    }
}
