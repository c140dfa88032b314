//! HTTP routes, and what applies to all of them: request ids, timing, CORS, compression, and errors in
//! the API's format.

mod batch;
mod body_budget;
mod byte_pool;
mod client_json;
mod compression;
mod console;
mod credentials;
mod graphql;
mod health;
mod internal;
mod media;
mod middleware;
mod responses;
mod sse;
mod unread_responses;
mod websocket;

use std::sync::Arc;

use axum::Router;
use axum::routing::{any, get};
use roundtable_domain::Code;
use roundtable_interface::ApiError;
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;

use crate::background::panic_text;
use crate::executor::Executor;
use crate::metrics::ServerMetrics;
use crate::shutdown::ShutdownSignal;
use crate::wiring::{Process, StartError};

use self::body_budget::BodyBudget;

pub(crate) use self::credentials::PeerAddress;
pub(crate) use self::unread_responses::StallSignal;

/// State shared by all handlers.
#[derive(Clone, Debug)]
pub(crate) struct AppState {
    pub(crate) process: Arc<Process>,
    pub(crate) executor: Executor,
    pub(crate) metrics: Arc<ServerMetrics>,
    pub(crate) shutdown: ShutdownSignal,
    /// Permits for live connections.
    pub(crate) live_permits: Arc<Semaphore>,
    body_budget: BodyBudget,
}

impl AppState {
    pub(crate) fn new(process: Arc<Process>, shutdown: ShutdownSignal) -> Result<Self, StartError> {
        let metrics = Arc::new(ServerMetrics::new());
        let executor = Executor::new(Arc::clone(&process), Arc::clone(&metrics))?;
        let live_permits = Arc::new(Semaphore::new(process.settings.live.connections_max));
        let body_budget = BodyBudget::new(&process.settings.http);
        Ok(Self { process, executor, metrics, shutdown, live_permits, body_budget })
    }
}

pub(crate) fn router(app: AppState) -> Router {
    let settings = &app.process.settings;
    let mut router =
        Router::new().route("/healthz", get(health::alive)).route("/readyz", get(health::ready));
    if settings.http.metrics {
        router = router.route("/metrics", get(health::metrics));
    }
    if app.process.serves_changes() {
        router = router.route(crate::relay::PATH, get(internal::changes));
    }
    if app.process.serves_api() {
        router = router
            .route("/graphql", get(graphql::get).post(graphql::post))
            .route("/.well-known/jwks.json", get(health::jwks));
        if settings.graphql.console {
            router = router
                .route("/", get(console::page))
                .route(console::FILES_ROUTE, get(console::file));
        }
        if app.process.files.is_some() {
            router = router.route("/media/{*key}", get(media::download).put(media::upload));
        }
    }
    let cors = middleware::cors(&settings.http);
    let mut router = router
        .method_not_allowed_fallback(responses::method_not_allowed)
        .fallback(any(responses::not_found))
        .layer(CatchPanicLayer::custom(panic_response));
    if settings.http.compression {
        router = router.layer(compression::layer());
    }
    let tracking = axum::middleware::from_fn_with_state(app.clone(), middleware::track);
    router.layer(cors).layer(tracking).with_state(app)
}

/// Responds to a panic in a handler without revealing its message.
#[expect(clippy::needless_pass_by_value, reason = "the layer's signature")]
fn panic_response(panic: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    tracing::error!(
        panic = panic_text(&*panic),
        "a request handler panicked; please report this as a bug"
    );
    responses::error_response(ApiError::new(
        Code::Internal,
        "internal error; it was logged with this response's x-request-id",
    ))
}
