//! `playbook generate`: reflects on any agent's trace, JSON in, JSON out (spec/3's `POST
//! /api/v1/reflections/generate`).

use std::io::Read as _;

use super::doctor::off_by;
use super::prelude::*;
use crate::memory::{Limits, MemoryError, reflection_ids};
use crate::queue::ask::{self, Asker, BackendParts, SessionQuestion};
use crate::queue::progress::SessionEvidence;
use crate::queue::record::{self, Generated};
use crate::queue::screening;
use crate::reflect::evaluate::evaluate;
use crate::reflect::learned::{Learned, LearnedFrom, NewReflection};
use crate::reflect::note::NewNote;
use crate::reflect::remember;
use crate::reflect::reply::Reflection;
use crate::reflect::self_correction::self_correction;
use crate::reflect::tellable::{RefusedText, refusal, tellable};
use crate::reflect::trace::{Trace, TraceDefect};
use crate::tenant::Tenant;
use crate::transcript::Facts;
use crate::usage;

const MAX_BODY: u64 = 64 << 20;
/// The longest wait for another process that has the memory locked.
const PATIENCE: Duration = Duration::from_secs(600);

/// Prints one JSON object in any case; a failure has `error` and a status of its own.
pub(super) fn run(args: &args::GenerateArgs) -> anyhow::Result<u8> {
    let store = args.store.then_some(&store_patiently as StoreLearned<'_>);
    let tenant = args.whose.tenant.as_ref();
    let generated = body().and_then(|body| generate(body, tenant, args.project.as_deref(), store));
    let (answer, status) = match generated {
        // An answer that a model was paid for is printed even if it cannot be stored.
        Ok(answer) if !answer["problem"].is_null() => (answer, super::USER_ERROR),
        Ok(answer) => (answer, super::OK),
        Err(error) => {
            let (path, message) = flaw(&error);
            let answer = json!({"error": {"path": path, "message": message}});
            (answer, super::USER_ERROR)
        }
    };
    output::json(&answer).map(|()| status)
}

pub type StoreLearned<'a> = &'a dyn Fn(&ToStore<'_>) -> anyhow::Result<Vec<String>>;

pub struct ToStore<'a> {
    pub tenant: &'a Tenant,
    pub source: &'a LearnedFrom,
    pub learned: &'a [Learned],
    session: &'a NamedSession,
    refused: &'a [RefusedText],
    facts: &'a Facts,
}

/// Returns the wrong field, if the error names one, and the problem.
pub fn flaw(error: &anyhow::Error) -> (Option<&str>, String) {
    match error.downcast_ref::<TraceDefect>() {
        Some(flaw) => (Some(&flaw.path), flaw.problem.clone()),
        None => (None, format!("{error:#}")),
    }
}

/// Reads spec/3's `ReflectionContext`; `chosen` and `project` apply where it names none. Returns
/// spec/3's `ReflectionResult` with the ids, and the evaluator's verdict.
pub fn generate(
    mut body: Value,
    chosen: Option<&Tenant>,
    project: Option<&Path>,
    store: Option<StoreLearned<'_>>,
) -> anyhow::Result<Value> {
    let begun = Instant::now();
    let session = NamedSession::open(project)?;
    if let Some(by) = off_by(&session) {
        anyhow::bail!("reflection is switched off by {by}");
    }
    let secrecy = session.config.secrets.secrecy()?;
    // Read before masking, by which two names could become one.
    let tenant = tenant(&body, chosen)?;
    if let (Some(body), Some(chosen)) = (body.as_object_mut(), chosen) {
        body.insert("tenant_id".to_owned(), chosen.name().into());
    }
    // Masked once here: names, ids and descriptions appear in the answer and in the memory, too.
    secrecy.masker.mask_value(&mut body);
    let trace = Trace::read(&body)?;
    let digest = trace.session(session.paths.home(), secrecy);
    let digest = digest.context("could not read the trace")?;
    let evidence = SessionEvidence::of(digest, session.config.evidence.tokens);
    let account = session.account()?;
    let mut answered = ask(&session, &account, &evidence)?;
    let checked = evidence.check(&mut answered);
    let mut notes = checked.notes;
    for note in &mut notes {
        // Any agent may send a trace, so a second session has to confirm what it teaches.
        note.detail.is_outside = true;
    }
    let project = trace.project.clone();
    let project = project.unwrap_or_else(|| session.project_name());
    let found = LearnedFromTrace::of((&trace, &project), &evidence, &answered, &notes);
    let now = session.env.clock().now();
    let (mut stored, mut problem) = (Vec::new(), None);
    if let Some(store) = store
        && trace.critique.changed_behaviour != Some(false)
        && !(found.learned.is_empty() && found.refused.is_empty())
    {
        let source = LearnedFrom {
            project: project.clone(),
            session: trace.session.clone().unwrap_or_default(),
            root: trace.session.clone().unwrap_or_default(),
            job: JobId::new(now, rand::random()).to_string(),
            time: now,
        };
        let to_store = ToStore {
            tenant: &tenant,
            source: &source,
            learned: &found.learned,
            session: &session,
            refused: &found.refused,
            facts: &evidence.facts,
        };
        match store(&to_store) {
            Ok(ids) => stored = ids,
            Err(error) => problem = Some(format!("not stored: {error:#}")),
        }
        record::generated(&Generated {
            surroundings: (&session.paths, &session.env),
            source: &source,
            backend: account.need.backend,
            said: &answered,
            facts: &evidence.facts,
            problem: problem.as_deref(),
            took: begun.elapsed(),
        });
    }
    let mut answer = found.in_json(&project, &stored);
    if let Some(refused) = answer["refused"].as_array_mut() {
        refused.extend(checked.dropped.iter().map(|dropped| {
            // The operation's word alone: its text may be an attack.
            let sort = dropped.what.split(' ').next().unwrap_or_default();
            format!("{sort}: {}", dropped.reason).into()
        }));
    }
    answer["lessons"] = json!(notes);
    answer["evaluation"] = json!(evaluate(&evidence.facts));
    answer["problem"] = json!(problem);
    answer["metadata"] = json!({
        "tenant_id": trace.tenant,
        "project_id": project,
        "session_id": trace.session,
        "outcome": trace.outcome,
        "task_description": trace.task_description,
        "task_goal": trace.task_goal,
        "event_count": trace.events.len(),
        "backend": account.need.backend,
    });
    answer["generated_at"] = json!(now);
    Ok(answer)
}

struct LearnedFromTrace {
    learned: Vec<Learned>,
    refused: Vec<RefusedText>,
    /// The reflection, which is also in `learned`.
    text: NewReflection,
    /// The lesson of the agent's own evaluation (spec/5).
    self_correction: Option<NewReflection>,
}

impl LearnedFromTrace {
    fn of(
        (trace, project): (&Trace, &str),
        evidence: &SessionEvidence,
        said: &Reflection,
        notes: &[NewNote],
    ) -> Self {
        let remembered = remember::ReflectedSession {
            project,
            tenant: &trace.tenant,
            facts: &evidence.facts,
            evidence: &evidence.evidence,
            reflection: Some(said),
            changes: 0,
            notes,
            related: &trace.related,
        };
        let (mut learned, mut refused) = tellable(remember::all(&remembered));
        let category = trace.error.as_ref();
        let category = category.and_then(|error| error.category.clone());
        let mut text = NewReflection::default();
        for item in &mut learned {
            if let Learned::Reflection(new) = item {
                new.event_ids = trace.sources(&new.event_ids);
                new.event_count = trace.events.len() as u64;
                new.task = trace.task();
                new.error_category = category.clone().or(new.error_category.take());
                text = new.clone();
            }
        }
        let own = self_correction(&trace.critique, &text);
        let refusal = own
            .as_ref()
            .and_then(|new| refusal("a self-correction", &new.text));
        let own = own.filter(|_| refusal.is_none());
        learned.extend(own.clone().map(Learned::Reflection));
        refused.extend(refusal);
        Self {
            learned,
            refused,
            text,
            self_correction: own,
        }
    }

    fn in_json(&self, project: &str, stored: &[String]) -> Value {
        let text = &self.text;
        let (reflection, strategy) = reflection_ids(project, text);
        let kept = |id: &String| stored.contains(id);
        let self_correction = self.self_correction.as_ref().map(|new| {
            let (id, _) = reflection_ids(project, new);
            json!({
                "id": Some(id).filter(kept), "signature": new.signature, "text": new.text,
                "tags": new.tags, "correction": new.correction,
            })
        });
        let refused = self.refused.iter().map(|refused| refused.why.clone());
        json!({
            // Null if nothing is stored.
            "reflection_id": Some(reflection).filter(kept),
            "strategy_id": strategy.filter(kept),
            "self_correction": self_correction,
            "reflection_text": text.text,
            "strategy_text": text.strategy,
            "importance": text.importance,
            "confidence": text.confidence,
            "tags": text.tags,
            "error_category": text.error_category,
            "source_event_ids": text.event_ids,
            "related_memory_ids": text.related,
            // What is not kept looks like an attack, or no event of the trace supports it.
            "refused": refused.collect::<Vec<_>>(),
        })
    }
}

fn body() -> anyhow::Result<Value> {
    let mut bytes = Vec::new();
    let stdin = std::io::stdin().lock();
    let read = stdin.take(MAX_BODY + 1).read_to_end(&mut bytes);
    read.context("could not read stdin")?;
    let whole = |problem: String| TraceDefect {
        path: "$".to_owned(),
        problem,
    };
    if bytes.len() as u64 > MAX_BODY {
        return Err(whole(format!("is longer than {MAX_BODY} bytes")).into());
    }
    serde_json::from_slice(&bytes).map_err(|error| whole(format!("is no JSON: {error}")).into())
}

fn ask(
    session: &NamedSession,
    account: &crate::account::Account,
    evidence: &SessionEvidence,
) -> anyhow::Result<Reflection> {
    let parts = BackendParts {
        paths: &session.paths,
        account,
        config: &session.config,
        facts: &evidence.facts,
    };
    let context = session.context_for(account)?;
    let backend = session.backend(parts, context.as_deref())?;
    // The trace is no session of the project's, whichever project it names.
    let question = SessionQuestion {
        session: evidence,
        playbook: &Playbook::empty(),
        given: &[],
        known_notes: &[],
        config: &session.config,
    };
    let template = ask::reflector_template(&session.paths)?;
    let asker = Asker::now(parts, backend.as_ref());
    let answer = asker.reflector(question.prompt(&template));
    let answered = runtime()?.block_on(answer).answered;
    match answered.cause {
        None => Ok(answered.result),
        Some(cause) => anyhow::bail!("reflect_error:{}: {}", cause.kind.word(), cause.message),
    }
}

/// Returns the tenant of the trace or of the command; they must not differ.
fn tenant(body: &Value, chosen: Option<&Tenant>) -> anyhow::Result<Tenant> {
    let named = match &body["tenant_id"] {
        Value::Null => None,
        Value::String(name) if name.is_empty() => None,
        named => Some(Tenant::named(named.as_str().unwrap_or_default())),
    };
    match (named, chosen.cloned()) {
        (Some(named), Some(chosen)) if named != chosen => Err(TraceDefect {
            path: "tenant_id".to_owned(),
            problem: "is another than that of --tenant".to_owned(),
        }
        .into()),
        (named, chosen) => Ok(chosen.or(named).unwrap_or_default()),
    }
}

fn store_patiently(what: &ToStore<'_>) -> anyhow::Result<Vec<String>> {
    let begun = Instant::now();
    let is_busy = |error: &anyhow::Error| {
        let error = error.downcast_ref::<MemoryError>();
        error.is_some_and(MemoryError::is_busy) && begun.elapsed() < PATIENCE
    };
    loop {
        // Each attempt waits ten seconds for the lock, and counts nothing twice.
        match store(what) {
            Err(error) if is_busy(&error) => output::note(&format!("{error:#}; still waiting")),
            stored => return stored,
        }
    }
}

/// Hooks use only the user's own memory, and another tenant's texts are not held back for review.
/// Only the answer says what was refused.
pub fn store(what: &ToStore<'_>) -> anyhow::Result<Vec<String>> {
    let (tenant, source, session) = (what.tenant, what.source, what.session);
    let file = session.paths.memory_of(tenant);
    if let Some(folder) = file.parent() {
        fsx::ensure_dir(folder)?;
    }
    let mut memory = match tenant {
        Tenant::User => sharing::open_memory(&session.paths, &session.config)?,
        Tenant::Other(_) => Memory::open(&file)?,
    };
    let ids = memory.learn(source, what.learned)?;
    let verdict = evaluate(what.facts);
    memory.judge(source, &(&verdict).into(), what.facts.outcome.word())?;
    if *tenant == Tenant::User {
        let held = screening::held_memories(&source.job, what.refused);
        memory.hold_back(&source.project, &held, &|_| false, source.time)?;
        let project = Path::new(&source.project);
        usage::refresh_corrections(&session.paths, &memory, project)?;
    } else {
        memory.prune(&Limits::default(), source.time)?;
    }
    Ok(ids)
}
