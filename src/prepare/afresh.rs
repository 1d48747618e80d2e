//! The whole way of a hook: settings and playbook are read themselves.

use std::cell::{Cell, OnceCell};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;

use super::context::{Basis, OwnPoints};
use super::{NextStart, found, told};
use crate::account::Need;
use crate::at_stop;
use crate::env::Env;
use crate::hook::context::HookContext;
use crate::hook::source::{AnswerSource, FoundSettings, GivenContext, SourceDoubt};
use crate::hook::stop::{EndedTurn, TurnVerdict};
use crate::hook::{self, HookEvent, start_worker, throttle};
use crate::news;
use crate::paths::Paths;
use crate::playbook::render::InjectionLimits;
use crate::prepared::{self, Ready, StartKind};
use crate::queue::status::Notice;
use crate::trust::request;

/// What is said once and never again.
const EVER: SignedDuration = SignedDuration::MAX;

/// The source that is never in doubt.
#[derive(Default)]
struct Afresh {
    /// What it was asked about, where reflection is switched on.
    asked: OnceCell<(Paths, PathBuf)>,
    /// What the next start is given, where this one was given what it found.
    next: Cell<Option<NextStart>>,
}

/// Runs a hook as the whole life of this process, and makes what the next one finds ready.
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
            // Of one event it is asked once.
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
            match request::leave(&context.paths, project) {
                Ok(()) => start_worker::detached(context, need),
                Err(error) => context.log(&error.to_string()),
            }
        }
        let mut given = outcome.given;
        if let Some(news) = news::take(&context.paths, &context.project) {
            given.notices.push(Notice::new(&news.clone(), news));
        }
        for (mark, notice) in told::gone_settings(&context.paths, &context.project) {
            if throttle::is_due(&mark, context.now, EVER) {
                given.notices.push(notice);
            }
        }
        if let Some(target) = basis.link.as_ref().filter(|_| basis.standing.is_trusted()) {
            let file = told::link_file(&context.paths, &context.project, target);
            if throttle::is_due(&file, context.now, EVER) {
                given.notices.push(told::link(&context.project, target));
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
