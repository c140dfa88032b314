//! Error responses with the API's error format and an HTTP status, and bodies that are sent as they grow.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use roundtable_domain::Code;
use roundtable_graphql::Answer;
use roundtable_interface::ApiError;
use tokio::sync::mpsc;

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

const fn status(code: Code) -> StatusCode {
    match code {
        Code::BadRequest | Code::TooComplex => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::Forbidden | Code::QuotaExceeded => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::Conflict | Code::IdempotencyMismatch => StatusCode::CONFLICT,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
        Code::ReadOnly | Code::IndexBuilding => StatusCode::SERVICE_UNAVAILABLE,
        Code::OutcomeUnknown | Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

pub(super) fn error_response(error: ApiError) -> Response {
    let status = status(error.code());
    with_status(status, error)
}

pub(super) fn with_status(status: StatusCode, error: ApiError) -> Response {
    let mut response = (status, Answer::refused(&error.into()).into_json()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    if status == StatusCode::UNAUTHORIZED {
        let bearer = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
    }
    with_retry_hint(response, status == StatusCode::SERVICE_UNAVAILABLE)
}

/// Tells a client that was refused for lack of capacity when to try again.
pub(super) fn with_retry_hint(mut response: Response, is_busy: bool) -> Response {
    if is_busy {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Returns a body, and the sender of its chunks. It ends when the sender is dropped.
pub(super) fn channel_body(chunks_max: usize) -> (mpsc::Sender<Bytes>, Body) {
    let (chunks, from) = mpsc::channel(chunks_max);
    let body = stream::unfold(from, async |mut from: mpsc::Receiver<Bytes>| {
        let chunk = from.recv().await?;
        Some((Ok::<_, Infallible>(chunk), from))
    });
    (chunks, Body::from_stream(body))
}

pub(super) async fn not_found() -> Response {
    error_response(ApiError::new(Code::NotFound, "there is nothing at this address"))
}

pub(super) async fn method_not_allowed() -> Response {
    let error = ApiError::bad_request("this address does not support that method");
    with_status(StatusCode::METHOD_NOT_ALLOWED, error)
}
