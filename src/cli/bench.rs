//! `playbook bench`: one reflection of a fixed session, without a network (spec/2, section 12).
//!
//! The session is built in, so that the answer depends on nothing but settings and program.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::Context as _;
use serde::Serialize;

use super::args;
use super::output;
use super::session::runtime;
use crate::account::{Account, Need, Refusal};
use crate::backend::{Answer, Ask, Backend, Name, PromptHash, Recorder};
use crate::config::{self, BackendChoice, Config};
use crate::env::{Env, name};
use crate::paths::Paths;
use crate::playbook::tags::apply_bullet_tags;
use crate::playbook::{Id, Playbook};
use crate::queue::ask::Question;
use crate::queue::backends::{Parts, build};
use crate::queue::budget::TIMEOUT;
use crate::queue::evidence::SessionEvidence;
use crate::reflect::pipeline::Cause;
use crate::reflect::prompt::{CURATOR_TEMPLATE, REFLECTOR_TEMPLATE};
use crate::transcript::{
    CitationUse, Evidence, Facts, FollowUp, Said, SaidKind, Stance, estimate_tokens,
};

const PLAYBOOK: &str = r#"{"version": "1.0", "sections": {"PATTERNS & APPROACHES": [
    {"name": "pat-001", "text": "write the test first", "helpful": 2, "harmful": 0},
    {"name": "pat-002", "text": "keep functions short", "helpful": 0, "harmful": 0}]}}"#;
const CITED: &str = "pat-001";
const REQUEST: &str = "Make the settings parser accept comments.";
const INSTRUCTION: &str = "Always run cargo fmt before you commit.";
const QUOTE: &str = "As [pat-001] says, the test comes first.";
const TRANSCRIPT: &str = "\
user: Make the settings parser accept comments.
assistant: As [pat-001] says, the test comes first.
tool call: Bash: cargo test parser
check passed: 14 passed, 0 failed
user: Always run cargo fmt before you commit.
assistant: Done, and formatted.
";

/// What the bench prints: the keys of spec/2, section 12.
#[derive(Debug, Serialize)]
struct Bench {
    backend: Name,
    allow_reflection: bool,
    tokens_budget: usize,
    summary_len: usize,
    ops: usize,
    embed: bool,
    ops_cap: usize,
    time_budget_ms: u64,
    ms: f64,
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixture_key: Option<String>,
}

pub(super) fn run(args: &args::Bench) -> anyhow::Result<()> {
    let env = Env::from_process();
    let paths = Paths::resolve(&env)?;
    let config = settings(&paths, args.config.as_deref())?;
    let bench = Setting {
        paths: &paths,
        config: &config,
        account: Account {
            need: Need::bare(Name::Rules),
            secret: None,
            client: None,
            refusal: Refusal::None,
        },
        session: session()?,
        playbook: Playbook::parse(PLAYBOOK.as_bytes()).context("could not read the playbook")?,
    };
    if args.record {
        bench.record()?;
    }
    let mut result = bench.measure()?;
    if env.is_on(name::CI) {
        result.ms = 0.0;
    }
    output::json(&result)
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

/// The session that is reflected on: one citation that went well, one rule of the user's.
fn session() -> anyhow::Result<SessionEvidence> {
    let id = Id::parse(CITED).context("not an id")?;
    Ok(SessionEvidence {
        facts: Facts {
            citations: vec![id.clone()],
            uses: vec![CitationUse {
                id,
                quote: QUOTE.to_owned(),
                stance: Stance::Takes,
                followed_by: FollowUp::Clean,
            }],
            said: vec![Said {
                kind: SaidKind::StandingInstruction,
                text: INSTRUCTION.to_owned(),
            }],
            first_request: Some(REQUEST.to_owned()),
            user_turns: 2,
            assistant_texts: 2,
            tool_calls: 1,
            tool_results: 1,
            checks_passed: 1,
            ..Facts::default()
        },
        evidence: Evidence {
            text: TRANSCRIPT.to_owned(),
            tokens: estimate_tokens(TRANSCRIPT),
            ..Evidence::default()
        },
    })
}

struct Setting<'a> {
    paths: &'a Paths,
    config: &'a Config,
    /// Nobody's: nothing here costs anything.
    account: Account,
    session: SessionEvidence,
    playbook: Playbook,
}

struct Reflected {
    summary_len: usize,
    operations: usize,
    cause: Option<Cause>,
    keys: Vec<String>,
}

impl Setting<'_> {
    fn backend(&self, name: Name) -> anyhow::Result<Box<dyn Backend + '_>> {
        let parts = Parts {
            paths: self.paths,
            account: &self.account,
            config: self.config,
            session: &self.session,
            playbook: &self.playbook,
        };
        build(name, parts).map_err(anyhow::Error::msg)
    }

    fn record(&self) -> anyhow::Result<()> {
        let file = self.config.fixtures.path.as_ref();
        let file = file.context("no file for the replies: set `fixtures.path`")?;
        let recorder = Recorder::new(self.backend(Name::Rules)?, file);
        self.reflect(&recorder).map(drop)
    }

    fn measure(&self) -> anyhow::Result<Bench> {
        let name = match self.config.top.backend {
            BackendChoice::Fixtures => Name::Fixtures,
            _ => Name::Rules,
        };
        let backend = self.backend(name)?;
        let begun = Instant::now();
        let reflected = self.reflect(backend.as_ref())?;
        let took = begun.elapsed();
        let budgets = &self.config.budgets;
        let is_late = budgets
            .time_ms
            .deadline(begun)
            .is_some_and(|deadline| begun + took > deadline);
        let reason = match reflected.cause {
            Some(cause) => Some(format!("reflect_error:{}", cause.word)),
            None => is_late.then(|| TIMEOUT.to_owned()),
        };
        let (summary_len, ops) = match reason {
            None => (reflected.summary_len, reflected.operations.min(budgets.ops)),
            Some(_) => (0, 0),
        };
        Ok(Bench {
            backend: name,
            allow_reflection: self.config.reflection.enabled,
            tokens_budget: self.config.reflection.summary_tokens,
            summary_len,
            ops,
            embed: false,
            ops_cap: budgets.ops,
            time_budget_ms: budgets.time_ms.get().unwrap_or_default(),
            ms: took.as_secs_f64() * 1_000.0,
            reason,
            fixture_key: (name == Name::Fixtures)
                .then(|| reflected.keys.into_iter().next())
                .flatten(),
        })
    }

    fn reflect(&self, backend: &dyn Backend) -> anyhow::Result<Reflected> {
        let keyed = Keyed {
            backend,
            keys: Mutex::default(),
        };
        let need = Need::bare(backend.name());
        let question = Question {
            session: &self.session,
            playbook: &self.playbook,
            backend: &keyed,
            need: &need,
            config: self.config,
            deadline: None,
        };
        let runtime = runtime()?;
        let judged = runtime
            .block_on(question.reflector(REFLECTOR_TEMPLATE))
            .answered;
        let mut after = self.playbook.clone();
        apply_bullet_tags(&mut after, &judged.result.bullet_tags);
        let curated = if judged.cause.is_none() {
            let question = Question {
                playbook: &after,
                ..question
            };
            let curated = question.curator(CURATOR_TEMPLATE, &judged.result);
            Some(runtime.block_on(curated).answered)
        } else {
            None
        };
        Ok(Reflected {
            summary_len: judged.result.analysis.split_whitespace().count(),
            operations: curated.as_ref().map_or(0, |c| c.result.operations.len()),
            cause: judged.cause.or(curated.and_then(|c| c.cause)),
            keys: keyed.keys.into_inner().unwrap_or_default(),
        })
    }
}

struct Keyed<'a> {
    backend: &'a dyn Backend,
    keys: Mutex<Vec<String>>,
}

impl Backend for Keyed<'_> {
    fn name(&self) -> Name {
        self.backend.name()
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> Answer<'a> {
        if let Ok(mut keys) = self.keys.lock() {
            keys.push(PromptHash::of(ask).key().to_owned());
        }
        self.backend.answer(ask)
    }
}
