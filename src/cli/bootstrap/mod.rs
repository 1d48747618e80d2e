//! `playbook bootstrap`: learns from the sessions that are already there.
//!
//! First it looks which of them are new, and what they would take; that changes nothing.

mod run;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::output::{self, DIM, plain, refuse_if_off, say};
use super::session::NamedSession;
use super::{OK, answer, args};
use crate::backend::BackendName;
use crate::queue::bootstrap::{self, EarlierSession, News};
use crate::queue::bootstrap_budget;
use crate::queue::budget::Usage;
use crate::queue::context::WorkerContext;
use crate::queue::job::JobId;
use crate::queue::transcripts::{self, PastTranscript};
use run::BootstrapResult;

/// So much of a name tells sessions apart, and subagents (`agent-…`) too.
const SHORT_NAME: usize = 14;

pub(super) fn run(args: &args::BootstrapArgs) -> anyhow::Result<u8> {
    let session = &NamedSession::open(args.project.as_deref())?;
    refuse_if_off(session, "`playbook reflect FILE` shows what it would learn")?;
    // Else each session would be passed over for it.
    session.masker()?;
    let context = session.context()?;
    let plan = plan(session, &context, args)?;
    if !args.json {
        let mut told = plan.json();
        told["is_offline"] = plan.backend.is_offline().into();
        told["is_narrowed"] = (args.since.is_some() || args.skip_subagents).into();
        told["waiting"] = plan.waiting.into();
        answer::show(include_str!("../screens/plan.txt"), told)?;
    }
    if plan.is_empty() || !agreed(args)? {
        if args.json {
            output::json(&with_done(plan.json(), None))?;
        }
        return Ok(OK);
    }
    bootstrap_budget::agree(
        &session.paths,
        &context.memory(),
        &session.project,
        plan.estimate,
    )?;
    let done = run::all(session, context, &plan, args.json)?;
    let told = with_done(plan.json(), Some(&done));
    answer::give(args.json, include_str!("../screens/bootstrap.txt"), told)?;
    Ok(done.status())
}

/// Asks the user; without a terminal only `--yes` is a yes.
fn agreed(args: &args::BootstrapArgs) -> anyhow::Result<bool> {
    if args.yes || args.json {
        return Ok(args.yes);
    }
    let agreed = output::confirm("Learn from them?")?;
    match agreed {
        None => say!("Nothing was done: say `--yes` to agree to that."),
        Some(false) => say!("Nothing was done."),
        Some(true) => {}
    }
    Ok(agreed.unwrap_or_default())
}

/// The one object of `--json`: the plan, and what was done, if anything was.
fn with_done(mut plan: Value, done: Option<&BootstrapResult>) -> Value {
    let none = json!({"started": false, "done": [], "waiting": [], "left": 0, "stopped": false});
    let more = done.map_or(none, BootstrapResult::json);
    if let (Value::Object(plan), Value::Object(more)) = (&mut plan, more) {
        plan.extend(more);
    }
    plan
}

#[derive(Debug)]
struct Planned {
    earlier: EarlierSession,
    /// As lines show it: its day and the beginning of its id.
    name: String,
    /// Whether others come first: it holds copies of their records.
    follows: bool,
}

#[derive(Debug)]
struct BootstrapPlan {
    /// Sessions to make jobs of, oldest first.
    new: Vec<Planned>,
    /// Jobs of an earlier run that have not ended, oldest first, as lines show them.
    begun: Vec<(JobId, String)>,
    estimate: Usage,
    backend: BackendName,
    project: PathBuf,
    found: usize,
    too_little: usize,
    open: usize,
    /// Jobs of this project that something else than a bootstrap has made.
    waiting: usize,
    unreadable: Vec<String>,
}

fn plan(
    session: &NamedSession,
    context: &Arc<WorkerContext>,
    args: &args::BootstrapArgs,
) -> anyhow::Result<BootstrapPlan> {
    let candidates = candidates(session, args);
    let waiting = bootstrap::waiting(context, &session.project)?;
    let open = bootstrap::open_now(&context.surroundings);
    let mut plan = BootstrapPlan {
        new: Vec::new(),
        begun: Vec::new(),
        estimate: Usage::default(),
        backend: context.surroundings.account.need.backend,
        project: session.project.clone(),
        found: candidates.len(),
        too_little: 0,
        open: 0,
        waiting: waiting.others,
        unreadable: Vec::new(),
    };
    let mut evidence: Vec<u64> = Vec::new();
    for job in &waiting.ours {
        evidence.push(bootstrap::evidence_of(
            &context.surroundings,
            &session.config,
            job,
        ));
        let ticket = &job.ticket;
        let past = PastTranscript::read(ticket.transcript.clone(), String::new(), false);
        let began = past.map_or(ticket.at, |past| past.began);
        let name = name(&ticket.transcript, began);
        plan.begun.push((ticket.id.clone(), name));
    }
    let most = args
        .max
        .map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let bar = output::bar("reading {bar:30} {pos}/{len}", candidates.len());
    for (place, planned) in (0..).zip(candidates) {
        if plan.new.len() + plan.begun.len() >= most {
            break;
        }
        bar.inc(1);
        if open.contains(&planned.earlier.transcript) {
            plan.open += 1;
            continue;
        }
        match bootstrap::look(context, &session.config, &waiting, &planned.earlier, place) {
            Ok(News::Enough { tokens, has_copies }) => {
                evidence.push(tokens);
                plan.new.push(Planned {
                    follows: has_copies,
                    ..planned
                });
            }
            Ok(News::TooLittle) => plan.too_little += 1,
            Ok(News::Nothing) => {}
            Err(error) => plan.unreadable.push(error.to_string()),
        }
    }
    bar.finish_and_clear();
    plan.estimate = bootstrap::estimate(
        &context.surroundings,
        &session.config,
        &session.project,
        &evidence,
    )?;
    Ok(plan)
}

fn candidates(session: &NamedSession, args: &args::BootstrapArgs) -> Vec<Planned> {
    let now = session.env.clock().now();
    let since = args.since.and_then(|since| now.checked_sub(since).ok());
    transcripts::of_project(&session.paths, &session.project)
        .into_iter()
        .filter(|past| !(args.skip_subagents && past.is_subagents))
        .filter(|past| since.is_none_or(|since| past.ended >= since))
        .map(|past| Planned {
            name: name(&past.transcript, past.began),
            follows: false,
            earlier: EarlierSession {
                session: past.session,
                transcript: past.transcript,
                cwd: past.cwd.unwrap_or_else(|| session.project.clone()),
                project: session.project.clone(),
            },
        })
        .collect()
}

fn name(transcript: &Path, began: Timestamp) -> String {
    let file = transcript.file_stem().unwrap_or_default();
    let name = plain(&file.to_string_lossy());
    let short: String = name.chars().take(SHORT_NAME).collect();
    let day = began.strftime("%Y-%m-%d");
    format!("{DIM}{day}{DIM:#} {short:<SHORT_NAME$}")
}

impl BootstrapPlan {
    fn is_empty(&self) -> bool {
        self.new.is_empty() && self.begun.is_empty()
    }

    fn json(&self) -> Value {
        json!({
            "project": self.project,
            "found": self.found,
            "new": self.new.len(),
            "begun": self.begun.len(),
            "too_little": self.too_little,
            "open": self.open,
            "unreadable": self.unreadable,
            "backend": self.backend,
            "estimate": {"calls": self.estimate.calls, "tokens": self.estimate.tokens},
        })
    }
}
