//! Middleware for every request: an id, timing and metrics, security headers, and CORS.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderValue, Method, StatusCode, Version};
use axum::middleware::Next;
use axum::response::Response;
use roundtable_domain::Code;
use roundtable_interface::ApiError;
use roundtable_model::JobId;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};
use tracing::Instrument as _;

use super::guarded_body::GuardedBody;
use super::responses::with_status;
use super::{AppState, StallSignal, compression};
use crate::configuration::{HttpSettings, TlsSettings};
use crate::connections::{NoRoomToReceive, OpenConnection};

/// Identifies a request in responses and logs.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Asks for the cost of a response.
pub(super) const XRAY: HeaderName = HeaderName::from_static("x-roundtable-xray");
const ID_CHARS_MAX: usize = 128;
/// The route of operations.
pub(super) const GRAPHQL: &str = "/graphql";
const CORS_MAX_AGE: Duration = Duration::from_hours(1);

/// The client's own id if it is safe to log, else a new one.
fn request_id(app: &AppState, request: &Request) -> String {
    let given = request.headers().get(&REQUEST_ID).and_then(|id| id.to_str().ok());
    let is_safe = |id: &&str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        (1..=ID_CHARS_MAX).contains(&id.len()) && id.chars().all(fits)
    };
    match given.filter(is_safe) {
        Some(id) => id.to_owned(),
        None => app.process.services.context.ids().next::<JobId>().to_string(),
    }
}

pub(super) async fn track(
    State(app): State<AppState>,
    mut request: Request,
    next: Next,
) -> Response {
    // With HTTP/1, what is not taken blocks a write, which has a time limit.
    let is_http2 = request.version() == Version::HTTP_2;
    let stall = request.extensions().get::<StallSignal>().filter(|_| is_http2).cloned();
    let limit = Duration::from_secs(app.process.settings.live.slow_seconds.max(1));
    let watched = |response: Response| match &stall {
        Some(stall) => stall.watch(response, limit),
        None => response,
    };
    let connection = request.extensions().get::<OpenConnection>();
    let under_way = connection.map(|connection| connection.start(&request)).transpose();
    let under_way = under_way.unwrap_or_else(|refused: NoRoomToReceive| {
        request.extensions_mut().insert(refused);
        None
    });
    let (id, started) = (request_id(&app, &request), Instant::now());
    let method = request.method().clone();
    let route =
        request.extensions().get::<MatchedPath>().map_or("none", |path| route_name(path.as_str()));
    let span = tracing::info_span!("request", id, %method, route);
    let respond = async { compression::finish(next.run(request).await).await };
    let mut response = respond.instrument(span.clone()).await;
    let (status, took) = (response.status().as_u16(), started.elapsed());
    app.metrics.record_request(route, status, took);
    span.in_scope(|| {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(status, us, "responded");
        // Operations are logged by themselves: a response may have several, a WebSocket any number.
        if route != GRAPHQL || !response.status().is_success() {
            app.executor.request_log().request(status, took);
        }
    });
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, value);
    }
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    let none = HeaderValue::from_static("no-referrer");
    headers.insert(header::REFERRER_POLICY, none);
    if let Some(hsts) = &app.hsts {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, hsts.clone());
    }
    watched(match under_way {
        Some(request) => response.map(|body| Body::new(GuardedBody::new(body, request))),
        None => response,
    })
}

/// Refuses a request whose head and body have no room beside all others that are unfinished. CORS comes
/// before it: a browser shows no response to its client without those headers.
pub(super) async fn refuse_without_room(request: Request, next: Next) -> Response {
    if request.extensions().get::<NoRoomToReceive>().is_none() {
        return next.run(request).await;
    }
    let problem = "the server is receiving too much at the moment; try again";
    let error = ApiError::new(Code::RateLimited, problem);
    with_status(StatusCode::SERVICE_UNAVAILABLE, error)
}

/// A fixed name for a route, so that the number of label values stays bounded.
fn route_name(path: &str) -> &'static str {
    const ROUTES: [&str; 9] = [
        GRAPHQL,
        "/",
        "/healthz",
        "/readyz",
        "/metrics",
        "/media/{*key}",
        "/.well-known/jwks.json",
        crate::relay::PATH,
        super::console::FILES_ROUTE,
    ];
    ROUTES.into_iter().find(|route| *route == path).unwrap_or("other")
}

/// Tells browsers to use only HTTPS here from now on. Without a certificate of its own, the server cannot
/// know whether clients reach it that way.
pub(super) fn hsts(tls: &TlsSettings) -> Option<HeaderValue> {
    let is_wanted = tls.certificate.is_some() && tls.hsts_seconds > 0;
    let value = is_wanted.then(|| format!("max-age={}", tls.hsts_seconds))?;
    HeaderValue::from_str(&value).ok()
}

/// CORS rules. Credentials are not allowed, because no cookie is ever used.
pub(super) fn cors(settings: &HttpSettings) -> CorsLayer {
    let listed = settings.cors_origins.iter();
    let origins = if settings.cors_origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(listed.filter_map(|origin| HeaderValue::from_str(origin).ok()))
    };
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::HEAD])
        // Clients and tools send headers of their own; a listed origin may send any.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            REQUEST_ID,
            header::RETRY_AFTER,
            header::CONTENT_RANGE,
            header::ACCEPT_RANGES,
        ])
        .max_age(CORS_MAX_AGE)
}
