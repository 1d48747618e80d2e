//! The endpoints: the operations of spec/3, spec/4 and spec/5 over HTTP.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use jiff::Timestamp;
use playbook::digest::name_of;
use playbook::errors::Signature;
use playbook::memory::{Question, RecallQuery};
use playbook::reflect::learned::{
    Effect, EffectWhenShown, Learned, LearnedFrom, NewLesson, NewReflection, NoteDetail,
};
use playbook::reflect::remembered::{MemoryKind, Remembered};
use playbook::reflect::tellable::tellable;
use playbook::service::{self, ErrorQuestion, ToStore, together};
use playbook::tenant::Tenant;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::App;
use super::body::{self, Body, Problem, name, share, tags, time};
use super::store::TenantStore;
use crate::postgres::roles::TenantName;

/// The default project (spec/3).
const PROJECT: &str = "default";
/// The default number of memories found (spec/3 `k`).
const FOUND: u64 = 5;
const MOST_FOUND: u64 = 100;
/// The default least importance (spec/3 `min_importance`).
const MIN_IMPORTANCE: f64 = 0.5;
const IMPORTANCE_OF_LESSON: f64 = 0.8;
const HALF: f64 = 0.5;

type HttpResult = Result<Json<Value>, Problem>;
type AppState = State<Arc<App>>;
type TenantOf = Extension<TenantName>;

#[derive(Deserialize)]
pub(crate) struct GenerateOptions {
    /// The result is stored unless this is `false`.
    store: Option<bool>,
}

/// `POST /api/v1/reflections/generate`: reflects on a trace (spec/3 `generate_reflection`).
pub(crate) async fn generate(
    State(app): AppState,
    Extension(tenant): TenantOf,
    Query(keep): Query<GenerateOptions>,
    Body(body): Body,
) -> HttpResult {
    own_tenant(&body, &tenant)?;
    for field in ["project_id", "session_id"] {
        name(field, body[field].as_str().map(str::to_owned))?;
    }
    let is_stored = keep.store.unwrap_or(true);
    let turn = Arc::clone(&app);
    let _turn = turn.models.acquire().await.map_err(anyhow::Error::from)?;
    let runtime = Handle::current();
    let generated = tokio::task::spawn_blocking(move || {
        let store = |what: &ToStore<'_>| match &app.store {
            TenantStore::Here(_) => service::store_here(what),
            there @ TenantStore::Postgres(_) => {
                let (source, learned) = (what.source.clone(), what.learned.to_vec());
                runtime.block_on(there.learn(&tenant, source, learned))
            }
        };
        let (chosen, own) = (Tenant::named(tenant.as_str()), app.service.own());
        service::generate(body, Some(&chosen), Some(own), is_stored.then_some(&store))
    });
    let generated = generated.await.map_err(anyhow::Error::from)?;
    match generated {
        Ok(answer) => Ok(Json(answer)),
        Err(error) => {
            Err(match service::flaw(&error) {
                (Some(path), message) => Problem::field(path, message),
                // The model does not answer.
                (None, message) => Problem::new(StatusCode::BAD_GATEWAY, message),
            })
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadyReflection {
    project_id: Option<String>,
    session_id: Option<String>,
    reflection_text: String,
    strategy_text: Option<String>,
    importance: Option<f64>,
    confidence: Option<f64>,
    #[serde(default)]
    tags: Vec<String>,
    error_category: Option<String>,
    outcome: Option<String>,
    task_description: Option<String>,
    #[serde(default)]
    source_event_ids: Vec<String>,
    #[serde(default)]
    related_memory_ids: Vec<String>,
}

/// `POST /api/v1/reflections`: stores a finished reflection (spec/3 `store_reflection`).
pub(crate) async fn store_reflection(
    State(app): AppState,
    Extension(tenant): TenantOf,
    body: Body,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let new: ReadyReflection = masked(&app, &tenant, body)?;
    let reflection = NewReflection {
        tenant: tenant.as_str().to_owned(),
        text: body::text("reflection_text", new.reflection_text)?,
        strategy: new.strategy_text,
        outcome: new.outcome,
        error_category: new.error_category,
        signature: None,
        importance: share("importance", new.importance.unwrap_or(HALF))?,
        confidence: share("confidence", new.confidence.unwrap_or(HALF))?,
        tags: tags(new.tags)?,
        event_count: new.source_event_ids.len() as u64,
        event_ids: new.source_event_ids,
        task: new.task_description.unwrap_or_default(),
        related: new.related_memory_ids,
        correction: None,
    };
    let has_strategy = reflection.strategy.is_some();
    let source = source(&app, (new.project_id, new.session_id))?;
    let ids = learn(&app, &tenant, source, Learned::Reflection(reflection)).await?;
    let answer = json!({
        "reflection_id": ids.first(), "strategy_id": ids.get(1).filter(|_| has_strategy),
    });
    Ok((StatusCode::CREATED, Json(answer)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReflectionQuery {
    project_id: Option<String>,
    query_text: Option<String>,
    k: Option<u64>,
    min_importance: Option<f64>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    kinds: Vec<MemoryKind>,
    outcome: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

/// `POST /api/v1/reflections/query`: searches the memories (spec/3 `query_reflections`).
pub(crate) async fn query(
    State(app): AppState,
    Extension(tenant): TenantOf,
    body: Body,
) -> HttpResult {
    let asked: ReflectionQuery = own(&tenant, body)?;
    let limit = asked.k.unwrap_or(FOUND);
    if !(1..=MOST_FOUND).contains(&limit) {
        let problem = format!("is no number from 1 to {MOST_FOUND}");
        return Err(Problem::field("k", problem));
    }
    let least = asked.min_importance.unwrap_or(MIN_IMPORTANCE);
    let query = RecallQuery {
        text: asked.query_text.filter(|text| !text.trim().is_empty()),
        kinds: asked.kinds,
        project: name("project_id", asked.project_id)?,
        min_importance: share("min_importance", least)?,
        tags: tags(asked.tags)?,
        outcome: asked.outcome,
        since: time("since", asked.since)?,
        until: time("until", asked.until)?,
        limit,
    };
    let found = app.store.ask(&tenant, Question::Recall(query)).await?;
    Ok(Json(json!({"memories": together(found.memories)})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadyLesson {
    project_id: Option<String>,
    session_id: Option<String>,
    task_type: String,
    #[serde(default)]
    mistake: String,
    correction: String,
    /// The error that it prevents, as `/errors/seen` names it.
    error_signature: Option<Signature>,
    importance: Option<f64>,
    #[serde(default)]
    tags: Vec<String>,
}

/// `POST /api/v1/lessons`: stores a lesson (spec/4 `store_lesson`).
pub(crate) async fn store_lesson(
    State(app): AppState,
    Extension(tenant): TenantOf,
    body: Body,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let new: ReadyLesson = masked(&app, &tenant, body)?;
    let task_type = body::text("task_type", new.task_type)?;
    let lesson = NewLesson {
        context_hash: name_of(task_type.as_bytes()),
        task_type,
        mistake: new.mistake,
        correction: body::text("correction", new.correction)?,
        signature: new.error_signature,
        importance: share("importance", new.importance.unwrap_or(IMPORTANCE_OF_LESSON))?,
        tags: tags(new.tags)?,
        // Any agent may send a lesson: a second session has to confirm it.
        note: NoteDetail {
            is_outside: true,
            ..NoteDetail::default()
        },
    };
    let source = source(&app, (new.project_id, new.session_id))?;
    let ids = learn(&app, &tenant, source, Learned::Lesson(lesson)).await?;
    Ok((StatusCode::CREATED, Json(json!({"lesson_id": ids.first()}))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeBody {
    helped: bool,
}

/// `POST /api/v1/lessons/{id}/outcome`: records if a lesson helped (spec/4
/// `record_lesson_outcome`).
pub(crate) async fn lesson_outcome(
    State(app): AppState,
    Extension(tenant): TenantOf,
    Path(id): Path<String>,
    body: Body,
) -> HttpResult {
    let outcome: OutcomeBody = body.read()?;
    let effect = if outcome.helped {
        Effect::Helped
    } else {
        Effect::Failed
    };
    let unknown = || Problem::not_found("no lesson of this id");
    if id.contains('\0') {
        return Err(unknown());
    }
    let mut source = source(&app, (None, None))?;
    source.project = lesson(&app, &tenant, &id)
        .await?
        .ok_or_else(unknown)?
        .project;
    let shown = EffectWhenShown {
        id: id.clone(),
        effect,
    };
    let shown = vec![Learned::Shown(shown)];
    app.store.learn(&tenant, source, shown).await?;
    let lesson = lesson(&app, &tenant, &id).await?.ok_or_else(unknown)?;
    Ok(Json(
        json!({"id": id, "effectiveness": lesson.effectiveness}),
    ))
}

async fn lesson(app: &App, tenant: &TenantName, id: &str) -> anyhow::Result<Option<Remembered>> {
    let query = RecallQuery {
        text: Some(id.to_owned()),
        ..RecallQuery::best(1)
    };
    let found = app.store.ask(tenant, Question::Recall(query)).await?;
    Ok(found.memories.into_iter().find(|found| found.id == id))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorAsked {
    project_id: Option<String>,
    error: String,
    tool: Option<String>,
}

/// `POST /api/v1/errors/seen`: returns earlier occurrences of an error and its lessons (spec/5).
pub(crate) async fn seen(
    State(app): AppState,
    Extension(tenant): TenantOf,
    body: Body,
) -> HttpResult {
    let asked: ErrorAsked = own(&tenant, body)?;
    let text = body::text("error", asked.error)?;
    let project = name("project_id", asked.project_id)?;
    let wanted = ErrorQuestion::of(&text, asked.tool.as_deref());
    let question = Question::Seen {
        keys: wanted.keys.clone(),
        project: project.clone(),
    };
    let found = app.store.ask(&tenant, question).await?;
    Ok(Json(wanted.answer(project.as_deref(), found.errors)))
}

#[derive(Deserialize)]
pub(crate) struct StatsOptions {
    project_id: Option<String>,
}

/// `GET /api/v1/stats`: returns figures about the memory (spec/4 `get_stats`).
pub(crate) async fn stats(
    State(app): AppState,
    Extension(tenant): TenantOf,
    Query(of): Query<StatsOptions>,
) -> HttpResult {
    let project = name("project_id", of.project_id)?;
    let found = app.store.ask(&tenant, Question::Stats { project }).await?;
    Ok(Json(json!(found.stats)))
}

/// `GET /api/v1/playbooks/{project}`: returns the key points of one of the user's projects.
pub(crate) async fn key_points(
    State(app): AppState,
    Extension(tenant): TenantOf,
    Path(project): Path<String>,
) -> HttpResult {
    // Playbooks are files of the user: no other tenant has any.
    let is_user = Tenant::named(tenant.as_str()) == Tenant::User;
    let found = tokio::task::spawn_blocking(move || {
        let known = is_user.then(|| app.service.key_points(&project));
        Ok::<_, anyhow::Error>(known.transpose()?.flatten())
    });
    let found = found.await.map_err(anyhow::Error::from)??;
    found
        .map(Json)
        .ok_or_else(|| Problem::not_found("no playbook of this project"))
}

/// Stores a memory; one that looks like an attack is an error.
async fn learn(
    app: &App,
    tenant: &TenantName,
    source: LearnedFrom,
    new: Learned,
) -> Result<Vec<String>, Problem> {
    let (learned, refused) = tellable(vec![new]);
    if let Some(refused) = refused.first() {
        let why = format!("not stored: {}", refused.why);
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, why));
    }
    Ok(app.store.learn(tenant, source, learned).await?)
}

fn masked<T: DeserializeOwned>(app: &App, tenant: &TenantName, body: Body) -> Result<T, Problem> {
    let mut body = of_tenant(tenant, body)?;
    app.service.mask(&mut body.0);
    body.read()
}

fn own<T: DeserializeOwned>(tenant: &TenantName, body: Body) -> Result<T, Problem> {
    of_tenant(tenant, body)?.read()
}

/// Removes the tenant that a body names, after checking it unmasked.
fn of_tenant(tenant: &TenantName, mut body: Body) -> Result<Body, Problem> {
    own_tenant(&body.0, tenant)?;
    if let Some(fields) = body.0.as_object_mut() {
        fields.remove("tenant_id");
    }
    Ok(body)
}

/// Checks that a body names no other tenant than its token does (spec/3).
fn own_tenant(body: &Value, tenant: &TenantName) -> Result<(), Problem> {
    match &body["tenant_id"] {
        Value::Null => Ok(()),
        Value::String(named) if named == tenant.as_str() => Ok(()),
        _ => Err(Problem::new(
            StatusCode::FORBIDDEN,
            "the token is not one of this tenant",
        )),
    }
}

fn source(
    app: &App,
    (project, session): (Option<String>, Option<String>),
) -> Result<LearnedFrom, Problem> {
    let project = name("project_id", project)?;
    let session = name("session_id", session)?.unwrap_or_default();
    Ok(LearnedFrom {
        project: project.unwrap_or_else(|| PROJECT.to_owned()),
        root: session.clone(),
        session,
        job: app.service.job(),
        time: app.service.now(),
    })
}
