//! The GraphQL console. It is part of the binary and loads nothing from other origins.

use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

use super::responses;

/// The route of all files but the page itself.
pub(super) const FILES_ROUTE: &str = "/console/{file}";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' \
                      ws: wss:; img-src data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

fn served(text: &'static str, kind: &'static str) -> Response {
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let policy = HeaderName::from_static("content-security-policy");
    headers.insert(policy, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

pub(super) async fn page() -> Response {
    served(include_str!("console/page.html"), HTML)
}

pub(super) async fn file(Path(name): Path<String>) -> Response {
    match &*name {
        "console.css" => served(include_str!("console/console.css"), CSS),
        "console.js" => served(include_str!("console/console.js"), SCRIPT),
        "document.js" => served(include_str!("console/document.js"), SCRIPT),
        "schema.js" => served(include_str!("console/schema.js"), SCRIPT),
        "session.js" => served(include_str!("console/session.js"), SCRIPT),
        _ => responses::not_found().await,
    }
}
