//! What happens to every request on its way in and out: it gets an id, it is timed and counted, and pages
//! of other origins are told whether they may ask.

use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use roundtable_model::JobId;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tracing::Instrument as _;

use super::App;
use crate::configuration::HttpSettings;

/// What a request is known by, in answers and in what is written down.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Asks for the cost of an answer.
pub(super) const XRAY: HeaderName = HeaderName::from_static("x-roundtable-xray");
/// Characters of an id that clients give.
const ID_CHARS_MAX: usize = 128;
/// How long browsers remember what they were told about origins.
const ORIGINS_KEPT: Duration = Duration::from_hours(1);

/// A request's id: the one it came with, if it can be written anywhere, or a new one.
fn id(app: &App, request: &Request) -> String {
    let given = request.headers().get(&REQUEST_ID).and_then(|id| id.to_str().ok());
    let plain = |id: &&str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        (1..=ID_CHARS_MAX).contains(&id.len()) && id.chars().all(fits)
    };
    match given.filter(plain) {
        Some(id) => id.to_owned(),
        None => app.process.services.ground.ids().next::<JobId>().to_string(),
    }
}

/// Passes a request on.
pub(super) async fn pass(State(app): State<App>, request: Request, next: Next) -> Response {
    let (id, started) = (id(&app, &request), Instant::now());
    let method = request.method().clone();
    let route =
        request.extensions().get::<MatchedPath>().map_or("none", |path| name(path.as_str()));
    let span = tracing::info_span!("request", id, %method, route);
    let mut response = next.run(request).instrument(span.clone()).await;
    let (status, took) = (response.status().as_u16(), started.elapsed());
    app.meters.request(route, status, took);
    span.in_scope(|| {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(status, us, "answered");
    });
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, value);
    }
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    let none = HeaderValue::from_static("no-referrer");
    headers.insert(header::REFERRER_POLICY, none);
    response
}

/// A route by a name that is there for good, so that what is counted stays bounded.
fn name(path: &str) -> &'static str {
    const ROUTES: [&str; 10] = [
        "/graphql",
        "/",
        "/healthz",
        "/readyz",
        "/metrics",
        "/media/{*key}",
        "/.well-known/jwks.json",
        crate::relay::PATH,
        "/console.js",
        "/console.css",
    ];
    ROUTES.into_iter().find(|route| *route == path).unwrap_or("other")
}

/// Which pages may ask. No cookie ever counts, so none are let through.
pub(super) fn origins(settings: &HttpSettings) -> CorsLayer {
    let listed = settings.cors_origins.iter();
    let origins = if settings.cors_origins.iter().any(|origin| origin == "*") {
        AllowOrigin::any()
    } else {
        AllowOrigin::list(listed.filter_map(|origin| HeaderValue::from_str(origin).ok()))
    };
    let api_key = HeaderName::from_static("x-api-key");
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::HEAD])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::ACCEPT,
            header::RANGE,
            REQUEST_ID,
            XRAY,
            api_key,
        ])
        .expose_headers([REQUEST_ID, header::CONTENT_RANGE, header::ACCEPT_RANGES])
        .max_age(ORIGINS_KEPT)
}
