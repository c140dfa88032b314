//! HTTP: which address is what, and what holds for all of them: ids, times, origins, compression, and that
//! whatever goes wrong is said in the words of the contract.

mod asking;
mod bodies;
mod calls;
mod console;
mod events;
mod files;
mod health;
mod internal;
mod passage;
mod refusals;
mod socket;

use std::sync::Arc;

use axum::Router;
use axum::routing::{any, get};
use roundtable_domain::Code;
use roundtable_graphql::Refused;
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate as _};

use crate::background::panic_text;
use crate::execution::Execution;
use crate::meters::Meters;
use crate::stopping::Stopping;
use crate::wiring::Process;

use self::bodies::Bodies;

pub(crate) use self::asking::Peer;

/// What every handler has.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) process: Arc<Process>,
    pub(crate) execution: Execution,
    pub(crate) meters: Arc<Meters>,
    pub(crate) stopping: Stopping,
    /// Room for those who listen.
    pub(crate) seats: Arc<Semaphore>,
    /// Room for what is sent.
    bodies: Bodies,
}

impl App {
    pub(crate) fn new(process: Arc<Process>, stopping: Stopping) -> Self {
        let meters = Arc::new(Meters::new());
        let execution = Execution::new(Arc::clone(&process), Arc::clone(&meters));
        let seats = Arc::new(Semaphore::new(process.settings.live.connections_max));
        let bodies = Bodies::new(&process.settings.http);
        Self { process, execution, meters, stopping, seats, bodies }
    }
}

/// Everything that can be asked of this process.
pub(crate) fn router(app: App) -> Router {
    let settings = &app.process.settings;
    let mut router =
        Router::new().route("/healthz", get(health::alive)).route("/readyz", get(health::ready));
    if settings.http.metrics {
        router = router.route("/metrics", get(health::metrics));
    }
    if app.process.tells_others() {
        router = router.route(crate::relay::PATH, get(internal::changes));
    }
    if app.process.answers() {
        router = router
            .route("/graphql", get(calls::get).post(calls::post))
            .route("/.well-known/jwks.json", get(health::keys));
        if settings.graphql.console {
            router = router
                .route("/", get(console::page))
                .route("/console.js", get(console::script))
                .route("/console.css", get(console::style));
        }
        if app.process.files.is_some() {
            router = router.route("/media/{*key}", get(files::fetch).put(files::send));
        }
    }
    let cors = passage::origins(&settings.http);
    let mut router = router
        .method_not_allowed_fallback(refusals::method)
        .fallback(any(refusals::nowhere))
        .layer(CatchPanicLayer::custom(broke));
    if settings.http.compression {
        // Images are left as they are by default; films are as dense, and longer.
        let dense = NotForContentType::const_new("video/");
        let worth_it = DefaultPredicate::new().and(dense);
        router = router.layer(CompressionLayer::new().compress_when(worth_it));
    }
    let passing = axum::middleware::from_fn_with_state(app.clone(), passage::pass);
    router.layer(cors).layer(passing).with_state(app)
}

/// A handler broke: nobody outside learns how.
#[expect(clippy::needless_pass_by_value, reason = "this is how the layer hands it over")]
fn broke(why: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    tracing::error!(why = panic_text(&*why), "a handler broke");
    refusals::refused(Refused::new(Code::Internal, "something went wrong here; it was noted"))
}
