//! `playbook bench`: one reflection of a fixed session, without a network (spec/2, section 12).
//!
//! The session is built in, so the result depends only on settings and program.

use std::sync::OnceLock;

use super::prelude::*;
use super::sandbox::{PLAYBOOK, SESSION};
use crate::account::{Account, ClientEnv, Need, Refusal};
use crate::backend::{Ask, Backend, BackendName, BackendResult, fixture_key, prompt_hash};
use crate::config::{self, BackendChoice, Config};
use crate::queue::ask::{Asker, BackendParts, SessionQuestion, build};
use crate::queue::budget::TIMEOUT;
use crate::queue::progress::SessionEvidence;
use crate::reflect::prompt::REFLECTOR_TEMPLATE;
use crate::reflect::rules;
use crate::transcript::{ReadOptions, scan_reader};

const BUDGET: u64 = 4_000;

pub(super) fn run(args: &args::BenchArgs) -> anyhow::Result<()> {
    let env = Env::from_process();
    let paths = Paths::resolve(&env)?;
    let config = &settings(&paths, args.config.as_deref())?;
    let name = match config.top.backend {
        BackendChoice::Fixtures => BackendName::Fixtures,
        _ => BackendName::Rules,
    };
    let session = fixed_session()?;
    let playbook = Playbook::parse(PLAYBOOK.as_bytes()).context("could not read the playbook")?;
    let parts = BackendParts {
        paths: &paths,
        // An empty account, since nothing here costs anything.
        account: &Account {
            need: Need::bare(name),
            secret: None,
            client: None,
            refusal: Refusal::None,
            found_in: ClientEnv::default(),
        },
        config,
        facts: &session.facts,
    };
    let observed = Observed {
        backend: build(name, parts).map_err(anyhow::Error::msg)?,
        first: OnceLock::new(),
    };
    let question = SessionQuestion {
        session: &session,
        playbook: &playbook,
        given: &[],
        known_notes: &[],
        config,
    };
    let asker = Asker {
        deadline: None,
        ..Asker::now(parts, &observed)
    };
    let begun = Instant::now();
    let answer = asker.reflector(question.prompt(REFLECTOR_TEMPLATE));
    let judged = runtime()?.block_on(answer).answered;
    let operations = rules::operations(&session.facts, &playbook).len();
    let took = begun.elapsed();
    let budgets = &config.budgets;
    let deadline = budgets.time_ms.deadline(begun);
    let reason = match judged.cause {
        Some(cause) => {
            output::note(&cause.message);
            Some(format!("reflect_error:{}", cause.kind.word()))
        }
        None if deadline.is_some_and(|deadline| begun + took > deadline) => {
            Some(TIMEOUT.to_owned())
        }
        None => None,
    };
    let words = judged.result.analysis.split_whitespace().count();
    let (words, operations) = match reason {
        Some(_) => (0, 0),
        None => (words, operations.min(budgets.ops)),
    };
    let ms = took.as_secs_f64() * 1_000.0;
    let mut answer = json!({
        "backend": name,
        "allow_reflection": config.reflection.enabled,
        "tokens_budget": config.reflection.summary_tokens,
        "summary_len": words,
        "ops": operations,
        "embed": false,
        "ops_cap": budgets.ops,
        "time_budget_ms": budgets.time_ms.get().unwrap_or_default(),
        "ms": if env.is_on(name::CI) { 0.0 } else { ms },
        "reason": reason,
    });
    if let (BackendName::Fixtures, Some(hash)) = (name, observed.first.get()) {
        answer["fixture_key"] = fixture_key(hash).into();
    }
    output::json(&answer)
}

/// Reads the settings; relative paths in them start at their folder.
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

fn fixed_session() -> anyhow::Result<SessionEvidence> {
    let (options, bytes) = (ReadOptions::default(), SESSION.as_bytes());
    let digest = scan_reader(bytes, 0, &options, &mut |_, _| false);
    let digest = digest.context("could not read the session")?;
    Ok(SessionEvidence::of(digest, BUDGET))
}

struct Observed<'a> {
    backend: Box<dyn Backend + 'a>,
    first: OnceLock<String>,
}

impl Backend for Observed<'_> {
    fn name(&self) -> BackendName {
        self.backend.name()
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        self.first.get_or_init(|| prompt_hash(ask));
        self.backend.answer(ask)
    }
}
