//! `playbook bench`: one reflection of a fixed session, without a network (spec/2, section 12).
//!
//! The session is built in, so that the answer depends on nothing but settings and program.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::Context as _;
use serde_json::json;

use super::args;
use super::fixtures::both;
use super::output;
use super::sandbox::{PLAYBOOK, SESSION};
use crate::account::{Account, Need, Refusal};
use crate::backend::{
    Ask, Backend, BackendFailure, BackendName, BackendResult, PromptHash, Recorder,
};
use crate::config::{self, BackendChoice, Config};
use crate::env::{Env, name};
use crate::paths::Paths;
use crate::playbook::Playbook;
use crate::queue::ask::Question;
use crate::queue::backends::{BackendParts, build};
use crate::queue::budget::TIMEOUT;
use crate::queue::evidence::SessionEvidence;
use crate::reflect::known::KnownLessons;
use crate::reflect::prompt::{CURATOR_TEMPLATE, REFLECTOR_TEMPLATE};
use crate::transcript::{ReadOptions, scan_reader};

/// So much of the session is shown, whatever the settings say.
const BUDGET: u64 = 4_000;

pub(super) fn run(args: &args::BenchArgs) -> anyhow::Result<()> {
    let env = Env::from_process();
    let paths = Paths::resolve(&env)?;
    let config = &settings(&paths, args.config.as_deref())?;
    let name = match config.top.backend {
        BackendChoice::Fixtures => BackendName::Fixtures,
        _ => BackendName::Rules,
    };
    let parts = BackendParts {
        paths: &paths,
        // Nobody's: nothing here costs anything.
        account: &Account {
            need: Need::bare(name),
            secret: None,
            client: None,
            refusal: Refusal::None,
        },
        config,
        session: &fixed_session()?,
        playbook: &Playbook::parse(PLAYBOOK.as_bytes()).context("could not read the playbook")?,
    };
    let built = |name| build(name, parts).map_err(anyhow::Error::msg);
    if args.record {
        let file = config.fixtures.path.as_ref();
        let file = file.context("no file for the replies: set `fixtures.path`")?;
        let recorder = Recorder::new(built(BackendName::Rules)?, file);
        // What went wrong shows when the replies are asked for.
        _ = reflect(parts, &recorder)?;
    }
    let keyed = Keyed {
        backend: built(name)?,
        key: OnceLock::new(),
    };
    let begun = Instant::now();
    let reflected = reflect(parts, &keyed)?;
    let took = begun.elapsed();
    let budgets = &config.budgets;
    let deadline = budgets.time_ms.deadline(begun);
    let ((words, operations), reason) = match reflected {
        Ok(_) if deadline.is_some_and(|deadline| begun + took > deadline) => {
            ((0, 0), Some(TIMEOUT.to_owned()))
        }
        Ok(done) => (done, None),
        Err(cause) => ((0, 0), Some(format!("reflect_error:{}", cause.kind.word()))),
    };
    let ms = took.as_secs_f64() * 1_000.0;
    let mut told = json!({
        "backend": name,
        "allow_reflection": config.reflection.enabled,
        "tokens_budget": config.reflection.summary_tokens,
        "summary_len": words,
        "ops": operations.min(budgets.ops),
        "embed": false,
        "ops_cap": budgets.ops,
        "time_budget_ms": budgets.time_ms.get().unwrap_or_default(),
        "ms": if env.is_on(name::CI) { 0.0 } else { ms },
        "reason": reason,
    });
    if let (BackendName::Fixtures, Some(key)) = (name, keyed.key.get()) {
        told["fixture_key"] = key.as_str().into();
    }
    output::json(&told)
}

/// The settings; files that they name lie beside them.
fn settings(paths: &Paths, file: Option<&Path>) -> anyhow::Result<Config> {
    let Some(file) = file else {
        return Ok(config::load(&paths.config_file())?);
    };
    let file = std::path::absolute(file)?;
    std::fs::metadata(&file).with_context(|| format!("could not read {}", file.display()))?;
    let mut config = config::load(&file)?;
    let folder = file.parent().unwrap_or(&file);
    config.fixtures.path = config.fixtures.path.map(|path| folder.join(path));
    Ok(config)
}

/// The session of the demo: citations that went well and ill, and a rule of the user's.
pub(super) fn fixed_session() -> anyhow::Result<SessionEvidence> {
    let (options, bytes) = (ReadOptions::default(), SESSION.as_bytes());
    let digest = scan_reader(bytes, 0, &options, &mut |_, _| false);
    let digest = digest.context("could not read the session")?;
    Ok(SessionEvidence::of(digest, BUDGET))
}

/// Asks both questions with the built-in templates; tells the words of the analysis and the
/// number of operations.
fn reflect(
    parts: BackendParts<'_>,
    backend: &dyn Backend,
) -> anyhow::Result<Result<(usize, usize), BackendFailure>> {
    let known = KnownLessons::default();
    let question = Question {
        deadline: None,
        ..Question::now(parts, backend, &known)
    };
    let answered = both(question, [REFLECTOR_TEMPLATE, CURATOR_TEMPLATE])?;
    Ok(answered.map(|(judged, curated)| {
        let words = judged.analysis.split_whitespace().count();
        (words, curated.operations.len())
    }))
}

/// A backend that knows the first prompt it was asked.
struct Keyed<'a> {
    backend: Box<dyn Backend + 'a>,
    key: OnceLock<String>,
}

impl Backend for Keyed<'_> {
    fn name(&self) -> BackendName {
        self.backend.name()
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        self.key
            .get_or_init(|| PromptHash::of(ask).key().to_owned());
        self.backend.answer(ask)
    }
}
