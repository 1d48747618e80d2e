//! Prepares the files that hooks read: their settings, and the context of the next start.
//!
//! The worker does so for each project it worked in, commands for the one they changed. `playbook
//! hook EVENT` does so where the prepared files could not be used. All of them can be made again,
//! so errors are only logged.

mod context;

use std::cell::{Cell, OnceCell};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use self::context::{Basis, OwnPoints};
use crate::account::{self, Need};
use crate::config::{self, Config, WorkerMode};
use crate::env::Env;
use crate::fsx::FsError;
use crate::hook::context::HookContext;
use crate::hook::source::{AnswerSource, FoundSettings, GivenContext, SourceDoubt};
use crate::hook::stop::{EndedTurn, TurnVerdict};
use crate::hook::{self, HookEvent, start_worker, throttle};
use crate::paths::Paths;
use crate::playbook::render::InjectionLimits;
use crate::prepared::{self, ProjectSettings, Ready, Stamp, StartKind};
use crate::queue::status::Notice;
use crate::shown_record::ShownPoints;
use crate::{at_stop, news, state_guard, telemetry, trust};

/// Makes what the next hooks of a project find ready, unless reflection is off.
pub(crate) fn ready(paths: &Paths, project: &Path, now: Timestamp) {
    keep(paths, project, now, |settings| {
        let made_from = prepared::look::<Ready>(paths, project);
        let basis = Basis::read(paths, project, OwnPoints::of(settings))?;
        Ok(NextStart::of(made_from, &basis, settings.max_units))
    });
}

/// Returns the points, the user's own among them, and the number of the project's without room.
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
        max_units: config.injection.max_units,
        gives_own: config.injection.own,
        notices: config.top.notices,
        account: account::chosen(config),
    }
}

const EVER: SignedDuration = SignedDuration::MAX;

/// A hook source that reads the original files and is never stale.
#[derive(Default)]
struct Afresh {
    /// The project it was asked about, if reflection is switched on there.
    asked: OnceCell<(Paths, PathBuf)>,
    /// The context prepared for the next start, if this one was given what it read.
    next: Cell<Option<NextStart>>,
}

/// Runs a hook as the whole life of this process, then prepares the files for the next one.
pub fn hook(event: HookEvent, args: impl IntoIterator<Item = OsString>) -> ! {
    let env = Env::from_process();
    hook::exit_on_panic(event, &env);
    let args: Vec<OsString> = args.into_iter().collect();
    let source = Afresh::default();
    hook::run(event, &args, &env, &source);
    if event == HookEvent::SessionStart
        && let Some((paths, project)) = source.asked.get()
    {
        let now = env.clock().now();
        match source.next.take() {
            Some(next) => keep(paths, project, now, |_| Ok(Some(next))),
            None => ready(paths, project, now),
        }
    }
    std::process::exit(0);
}

impl AnswerSource for Afresh {
    fn settings(&self, paths: &Paths, project: &Path) -> Result<FoundSettings, SourceDoubt> {
        let found = found(paths, project);
        if found != FoundSettings::Off {
            // Set once per process: an event asks once.
            _ = self.asked.set((paths.clone(), project.to_owned()));
        }
        Ok(found)
    }

    fn given(
        &self,
        context: &HookContext<'_>,
        need: Option<&Need>,
        kind: StartKind,
    ) -> Result<GivenContext, SourceDoubt> {
        let settings = context.settings.as_ref();
        let max_units = settings.map_or(InjectionLimits::FULL.units, |settings| settings.max_units);
        let own = settings.map_or(OwnPoints::LeftOut, OwnPoints::of);
        let made_from = prepared::look::<Ready>(&context.paths, &context.project);
        let basis = match Basis::read(&context.paths, &context.project, own) {
            Ok(basis) => basis,
            Err(error) => {
                let text = error.to_string();
                return Ok(GivenContext {
                    notices: vec![Notice::new(&text.clone(), text)],
                    ..GivenContext::default()
                });
            }
        };
        let outcome = basis.give(kind, max_units);
        for project in outcome.to_screen {
            match trust::ask_to_screen(&context.paths, project) {
                Ok(()) => start_worker::detached(context, need),
                Err(error) => context.log(&error.to_string()),
            }
        }
        let mut given = outcome.given;
        if let Some(news) = news::take(&context.paths, &context.project) {
            given.notices.push(Notice::new(&news.clone(), news));
        }
        for (mark, notice) in context::gone_settings(&context.paths, &context.project) {
            if throttle::is_due(&mark, context.now, EVER) {
                given.notices.push(notice);
            }
        }
        if let Some(target) = basis.link.as_ref().filter(|_| basis.standing.is_trusted()) {
            let file = context::link_file(&context.paths, &context.project, target);
            if throttle::is_due(&file, context.now, EVER) {
                given
                    .notices
                    .push(context::link_notice(&context.project, target));
            }
        }
        self.next.set(NextStart::of(made_from, &basis, max_units));
        Ok(given)
    }

    fn gate(
        &self,
        context: &HookContext<'_>,
        stop: &EndedTurn<'_>,
    ) -> Result<Option<TurnVerdict>, SourceDoubt> {
        Ok(at_stop::verdict(context, stop))
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
        known.account.client_model = Some(DEFAULT_CLIENT_MODEL.to_owned());
        assert_eq!(of_hooks(&Config::default()), known);
    }
}
