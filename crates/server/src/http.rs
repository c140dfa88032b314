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
mod guarded_body;
mod health;
mod internal;
mod live_connection;
mod media;
mod middleware;
mod reserved_responses;
mod responses;
mod sse;
mod transfer_limits;
mod unread_responses;
mod websocket;

use std::sync::Arc;

use axum::Router;
use axum::http::HeaderValue;
use axum::routing::{any, get};
use roundtable_domain::Code;
use roundtable_interface::ApiError;
use tower_http::catch_panic::CatchPanicLayer;

use crate::background::panic_text;
use crate::connection_slots::{ConnectionSlots, SlotMaxima, account_connections_max};
use crate::connections::ReceiveBudget;
use crate::descriptors::DescriptorLimit;
use crate::executor::Executor;
use crate::metrics::ServerMetrics;
use crate::shutdown::ShutdownSignal;
use crate::wiring::{Process, StartError};

use self::body_budget::BodyBudget;
use self::transfer_limits::TransferLimits;

pub(crate) use self::unread_responses::StallSignal;

/// State shared by all handlers.
#[derive(Clone, Debug)]
pub(crate) struct AppState {
    pub(crate) process: Arc<Process>,
    pub(crate) executor: Executor,
    pub(crate) metrics: Arc<ServerMetrics>,
    pub(crate) shutdown: ShutdownSignal,
    /// The configured number, or less if there are not so many descriptors.
    pub(crate) connections_max: usize,
    pub(crate) connection_slots: ConnectionSlots,
    /// Of WebSockets and event streams.
    pub(crate) live_slots: ConnectionSlots,
    pub(crate) receive_budget: ReceiveBudget,
    hsts: Option<HeaderValue>,
    body_budget: BodyBudget,
    transfer_limits: TransferLimits,
}

impl AppState {
    pub(crate) fn new(
        process: Arc<Process>,
        shutdown: ShutdownSignal,
        descriptors: DescriptorLimit,
    ) -> Result<Self, StartError> {
        let metrics = Arc::new(ServerMetrics::new());
        let executor = Executor::new(Arc::clone(&process), Arc::clone(&metrics), shutdown.clone())?;
        let (http, live) = (&process.settings.http, &process.settings.live);
        let connections_max = descriptors.connections(http.connections_max);
        let connection_slots = ConnectionSlots::new(SlotMaxima {
            all: connections_max,
            network: http.network_connections_max,
            account: account_connections_max(connections_max),
        });
        let live_slots = ConnectionSlots::new(SlotMaxima {
            all: live.connections_max,
            network: live.network_connections_max,
            account: live.account_connections_max,
        });
        let receive_budget = ReceiveBudget::new(http.unfinished_bytes_max);
        let (body_budget, hsts) = (BodyBudget::new(http), middleware::hsts(&http.tls));
        let media = &process.services.context.settings().media;
        let transfer_limits = TransferLimits::new(media.transfers_max);
        Ok(Self {
            process,
            executor,
            metrics,
            shutdown,
            connections_max,
            connection_slots,
            live_slots,
            receive_budget,
            hsts,
            body_budget,
            transfer_limits,
        })
    }
}

pub(crate) fn router(app: AppState) -> Router {
    let settings = &app.process.settings;
    let page = axum::middleware::from_fn_with_state(app.clone(), reserved_responses::reserve_page);
    let mut router =
        Router::new().route("/healthz", get(health::alive)).route("/readyz", get(health::ready));
    if settings.http.metrics {
        router = router.route("/metrics", get(health::metrics).layer(page.clone()));
    }
    if app.process.serves_changes() {
        router = router.route(crate::relay::PATH, get(internal::changes));
    }
    if app.process.serves_api() {
        router = router
            .route(middleware::GRAPHQL, get(graphql::get).post(graphql::post))
            .route("/.well-known/jwks.json", get(health::jwks));
        if settings.graphql.console {
            router = router
                .route("/", get(console::page).layer(page.clone()))
                .route(console::FILES_ROUTE, get(console::file).layer(page));
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
    let room = axum::middleware::from_fn(middleware::refuse_without_room);
    router.layer(room).layer(cors).layer(tracking).with_state(app)
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
