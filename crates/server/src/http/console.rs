//! The GraphQL console. It is part of the binary and loads nothing from other origins.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};

const PAGE: &str = include_str!("console/page.html");
const SCRIPT: &str = include_str!("console/console.js");
const STYLE: &str = include_str!("console/console.css");

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
    served(PAGE, "text/html; charset=utf-8")
}

pub(super) async fn script() -> Response {
    served(SCRIPT, "text/javascript; charset=utf-8")
}

pub(super) async fn style() -> Response {
    served(STYLE, "text/css; charset=utf-8")
}
