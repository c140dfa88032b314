//! What is refused before a service sees it, in the words of the contract and with a fitting status.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use roundtable_domain::Code;
use roundtable_graphql::{Answer, Refused};

/// What JSON is called.
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// The status of a whole request that is refused.
const fn status(code: Code) -> StatusCode {
    match code {
        Code::BadRequest | Code::TooComplex => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::Forbidden => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::Conflict | Code::IdempotencyMismatch => StatusCode::CONFLICT,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The whole request is refused.
pub(super) fn refused(why: Refused) -> Response {
    let status = status(why.code());
    with_status(status, why)
}

/// The same with a status that says more.
pub(super) fn with_status(status: StatusCode, why: Refused) -> Response {
    let mut response = (status, Answer(&why.into()).to_json()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    if status == StatusCode::UNAUTHORIZED {
        let bearer = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// There is nothing at this address.
pub(super) async fn nowhere() -> Response {
    refused(Refused::new(Code::NotFound, "there is nothing at this address"))
}

/// There is something, for other methods.
pub(super) async fn method() -> Response {
    let why = Refused::bad("this address does not take that method");
    with_status(StatusCode::METHOD_NOT_ALLOWED, why)
}
