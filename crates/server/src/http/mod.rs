//! The HTTP server: authentication, limits, routes and metrics.

mod body;
mod handlers;
mod store;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::body::Problem;
use self::store::{Here, TenantStore};
use anyhow::Context as _;
use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use playbook::service::Service;
use playbook::sharing::Sending;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

use crate::postgres::roles::TenantName;
use crate::postgres::{self, Address};
use crate::tokens::TokenFile;

const MAX_BODY: usize = 4 << 20;
/// The time limit of a request; requests that a model answers have a longer one.
const PATIENCE: Duration = Duration::from_secs(30);
const PATIENCE_WITH_MODEL: Duration = Duration::from_secs(300);
/// The time that open requests have at shutdown.
const GRACE: Duration = Duration::from_secs(10);
const CONNECTIONS: usize = 16;
/// The number of simultaneous model requests; it leaves threads for other requests.
const MODELS: usize = 4;
const REQUEST_ID: &str = "x-request-id";

#[derive(Debug, clap::Args)]
pub(crate) struct ServerOptions {
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7480")]
    listen: SocketAddr,
    /// Keep everything in the database of `memory.url`, not on this machine
    #[arg(long)]
    postgres: bool,
    /// Requests of a tenant per second
    #[arg(long, value_name = "N", default_value = "2000")]
    rate: NonZeroU32,
}

pub(crate) struct App {
    service: Arc<Service>,
    store: TenantStore,
    tokens: TokenFile,
    rates: DefaultKeyedRateLimiter<TenantName>,
    models: Semaphore,
    metrics: Metrics,
}

pub(crate) async fn serve(options: &ServerOptions) -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .json()
        .with_writer(std::io::stderr)
        .with_target(false)
        .init();
    let service = Arc::new(Service::open()?);
    let store = if options.postgres {
        let login = Sending::login()?;
        let login =
            login.context("there is no database; hint: set memory.url, see docs/server.md")?;
        let pool = postgres::pool(&Address::of(&login)?, CONNECTIONS)?;
        TenantStore::Postgres(pool)
    } else {
        TenantStore::Here(Arc::new(Here::new(Arc::clone(&service))))
    };
    store.check().await?;
    let app = Arc::new(App {
        tokens: TokenFile::new(service.tokens_file()),
        service,
        store,
        rates: RateLimiter::keyed(Quota::per_second(options.rate)),
        models: Semaphore::new(MODELS),
        metrics: Metrics::default(),
    });
    let listener = TcpListener::bind(options.listen).await;
    let listener = listener.with_context(|| format!("could not listen on {}", options.listen))?;
    let address = listener.local_addr()?;
    tracing::info!(%address, "listens");
    if !address.ip().is_loopback() {
        tracing::warn!("tokens and texts travel unencrypted: put a proxy with TLS before this");
    }
    let (stop, mut end) = tokio::sync::watch::channel(());
    let serving = axum::serve(listener, router(app)).with_graceful_shutdown(async move {
        shutdown_signal().await;
        stop.send_replace(());
    });
    tokio::select! {
        served = serving => served?,
        () = async {
            // Fails if the sender was dropped with the server, which has then ended.
            _ = end.changed().await;
            tokio::time::sleep(GRACE).await;
        } => tracing::warn!("ended before all was answered"),
    }
    tracing::info!("ended");
    Ok(())
}

async fn shutdown_signal() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

fn router(app: Arc<App>) -> Router {
    let api = Router::new()
        .route("/reflections/generate", post(handlers::generate))
        .route("/reflections", post(handlers::store_reflection))
        .route("/reflections/query", post(handlers::query))
        .route("/lessons", post(handlers::store_lesson))
        .route("/lessons/{id}/outcome", post(handlers::lesson_outcome))
        .route("/errors/seen", post(handlers::seen))
        .route("/stats", get(handlers::stats))
        .route("/playbooks/{*project}", get(handlers::key_points))
        .fallback(async || Problem::not_found("no such endpoint"))
        .method_not_allowed_fallback(async || {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "not by this method")
        })
        .layer(from_fn_with_state(Arc::clone(&app), admitted));
    Router::new()
        .nest("/api/v1", api)
        .route("/healthz", get(health))
        .route("/metrics", get(numbers))
        .fallback(async || Problem::not_found("no such endpoint"))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(Arc::clone(&app), observed))
        .with_state(app)
}

async fn admitted(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let token = request.headers().get(header::AUTHORIZATION);
    let token = token.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let known = token
        .map(|token| app.tokens.tenant(token.trim()))
        .transpose();
    let tenant = match known {
        Ok(tenant) => tenant.flatten(),
        Err(error) => return Problem::from(error).into_response(),
    };
    let Some(tenant) = tenant else {
        let message = "there is no token, or it is not known";
        return Problem::new(StatusCode::UNAUTHORIZED, message).into_response();
    };
    if app.rates.check_key(&tenant).is_err() {
        let message = "too many requests";
        return Problem::new(StatusCode::TOO_MANY_REQUESTS, message).into_response();
    }
    let name = tenant.clone();
    request.extensions_mut().insert(tenant);
    let mut response = next.run(request).await;
    response.extensions_mut().insert(name);
    response
}

async fn observed(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let id = format!("{:016x}", rand::random::<u64>());
    let (method, path) = (request.method().clone(), route(&request));
    let patience = if path.ends_with("/generate") {
        PATIENCE_WITH_MODEL
    } else {
        PATIENCE
    };
    let answer = tokio::time::timeout(patience, next.run(request)).await;
    let mut response = answer.unwrap_or_else(|_| {
        Problem::new(StatusCode::GATEWAY_TIMEOUT, "it took too long").into_response()
    });
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    let (took, status) = (begun.elapsed(), response.status().as_u16());
    let tenant = response.extensions().get::<TenantName>();
    let (tenant, ms) = (tenant.map(TenantName::as_str), took.as_secs_f64() * 1e3);
    tracing::info!(request = id, %method, path, status, tenant, ms, "answered");
    app.metrics.count(path, status, took);
    response
}

/// Returns the route pattern of a request, so that names are neither counted nor logged.
fn route(request: &Request) -> String {
    let matched = request.extensions().get::<MatchedPath>();
    matched.map_or("other", MatchedPath::as_str).to_owned()
}

async fn health(State(app): State<Arc<App>>) -> Response {
    match app.store.check().await {
        Ok(()) => "ok\n".into_response(),
        Err(error) => Problem::from(error).into_response(),
    }
}

async fn numbers(State(app): State<Arc<App>>) -> Response {
    match app.metrics.text() {
        Ok(text) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(error) => Problem::from(error).into_response(),
    }
}

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The upper bounds of the histogram's buckets, in seconds.
const CLASSES: [f64; 10] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0, 30.0];

type Labels = Vec<(&'static str, String)>;

/// The number of answered requests and their durations, without tenants.
struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram>,
}

impl Default for Metrics {
    fn default() -> Self {
        let requests = Family::default();
        let seconds: Family<Labels, Histogram> =
            Family::new_with_constructor(|| Histogram::new(CLASSES));
        let mut registry = Registry::with_prefix("playbook");
        registry.register("requests", "Requests answered", requests.clone());
        registry.register("request_seconds", "How long that took", seconds.clone());
        Self {
            registry,
            requests,
            seconds,
        }
    }
}

impl Metrics {
    fn count(&self, path: String, status: u16, took: Duration) {
        let path = vec![("path", path)];
        let seconds = self.seconds.get_or_create(&path);
        seconds.observe(took.as_secs_f64());
        let answered = [path, vec![("status", status.to_string())]].concat();
        self.requests.get_or_create(&answered).inc();
    }

    fn text(&self) -> anyhow::Result<String> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
