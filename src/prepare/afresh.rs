//! A hook that reads settings and playbook itself, without prepared files.

use std::cell::{Cell, OnceCell};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;

use super::context::{self, Basis, OwnPoints};
use super::{NextStart, found};
use crate::account::Need;
use crate::env::Env;
use crate::hook::context::HookContext;
use crate::hook::source::{AnswerSource, FoundSettings, GivenContext, SourceDoubt};
use crate::hook::stop::{EndedTurn, TurnVerdict};
use crate::hook::{self, HookEvent, start_worker, throttle};
use crate::paths::Paths;
use crate::playbook::render::InjectionLimits;
use crate::prepared::{self, Ready, StartKind};
use crate::queue::status::Notice;
use crate::trust;
use crate::{at_stop, news};

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
            Some(next) => super::keep(paths, project, now, |_| Ok(Some(next))),
            None => super::ready(paths, project, now),
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
