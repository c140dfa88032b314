//! `POST /graphql` with one request or a batch, and `GET /graphql` with a query, an event stream or a
//! WebSocket upgrade.

use std::pin::pin;
use std::task::Poll;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request, State, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::poll;
use roundtable_domain::Code;
use roundtable_graphql::{QueryLimits, Request as GraphqlRequest, RequestError};
use roundtable_interface::{ApiError, ClientInfo};
use tracing::Instrument as _;

use super::AppState;
use super::batch::Batch;
use super::body_budget::{BodyError, BodyPermits, CollectedBody};
use super::client_json;
use super::middleware::XRAY;
use super::responses::{JSON, channel_body, error_response, with_retry_hint, with_status};
use super::{sse, websocket};
use crate::answer_budget::ReservedAnswer;
use crate::authentication::ClientIdentity;
use crate::request_policy::AllowedOperations;

/// The content type of responses for clients that support GraphQL over HTTP.
const GRAPHQL_JSON: &str = "application/graphql-response+json";
const PLAIN_JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const INVALID_BODY: &str =
    "the body is not the JSON of a GraphQL request: {\"query\": …, \"variables\": …}";

enum GraphqlBody {
    Single(Box<GraphqlRequest>),
    Batch(Vec<GraphqlRequest>),
}

pub(super) async fn post(State(app): State<AppState>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let identity = match app.authenticate(&head.headers, &head.extensions).await {
        Ok(identity) => identity,
        Err(error) => return error_response(error),
    };
    // The budget is held until the response is ready: it covers the parsed body, too.
    let (body, permits) = match read_signed_in(&app, &identity, &head.headers, body).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let wants_cost = head.headers.get(&XRAY).is_some_and(|value| value == "1");
    match body {
        GraphqlBody::Single(request) if wants_events(&head.headers) => {
            let allowed = AllowedOperations::All;
            sse::respond(&app, *request, identity, allowed, &head.extensions)
        }
        GraphqlBody::Single(request) => {
            let client = &identity.client;
            let answer = app
                .executor
                .execute(*request, client, AllowedOperations::QueriesAndMutations, wants_cost)
                .await;
            single_response(&head.headers, answer)
        }
        GraphqlBody::Batch(requests) => {
            let (sender, body) = channel_body(1);
            let batch = Batch { requests, client: identity.client, wants_cost, permits };
            tokio::spawn(batch.answer(app, sender).in_current_span());
            json_response(StatusCode::OK, JSON, body)
        }
    }
}

/// `GET /graphql`: a WebSocket, events, or a query in the URL.
pub(super) async fn get(State(app): State<AppState>, request: Request) -> Response {
    let (mut head, _) = request.into_parts();
    if head.headers.contains_key(header::UPGRADE) {
        return match WebSocketUpgrade::from_request_parts(&mut head, &()).await {
            Ok(upgrade) => {
                let address = app.client_address(&head.headers, &head.extensions);
                websocket::open(app, upgrade, address, &head.extensions)
            }
            Err(_) => error_response(ApiError::bad_request("this is not a WebSocket handshake")),
        };
    }
    let identity = match app.authenticate(&head.headers, &head.extensions).await {
        Ok(identity) => identity,
        Err(error) => return error_response(error),
    };
    let request = match parse_query_string(head.uri.query().unwrap_or_default()) {
        Ok(request) => request,
        Err(error) => return error_response(error),
    };
    if wants_events(&head.headers) {
        let allowed = AllowedOperations::QueriesAndSubscriptions;
        return sse::respond(&app, request, identity, allowed, &head.extensions);
    }
    let answer = app
        .executor
        .execute(request, &identity.client, AllowedOperations::QueriesOnly, false)
        .await;
    single_response(&head.headers, answer)
}

/// Reads a request from the parameters of a URL.
fn parse_query_string(query: &str) -> Result<GraphqlRequest, ApiError> {
    let mut request = GraphqlRequest::default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "query" => request.query = value.into_owned(),
            "operationName" if !value.is_empty() => {
                request.operation_name = Some(value.into_owned());
            }
            "variables" if !value.is_empty() => {
                let problem = "variables: expected the JSON of an object";
                let variables = client_json::parse_checked(value.as_bytes());
                request.variables = variables.map_err(|error| error.into_api_error(problem))?;
            }
            "extensions" if !value.is_empty() => {
                let problem = "extensions: expected the JSON of an object";
                let extensions = client_json::parse_checked(value.as_bytes());
                request.extensions = extensions.map_err(|error| error.into_api_error(problem))?;
            }
            "documentId" | "doc_id" if !value.is_empty() => {
                request.document_id = Some(value.into_owned());
            }
            _ => {}
        }
    }
    let names_document = request.document_id.is_some() || !request.extensions.is_empty();
    if request.query.is_empty() && !names_document {
        let problem = "expected a GraphQL document in the parameter `query`";
        return Err(ApiError::bad_request(problem));
    }
    Ok(request)
}

/// The media types that a client accepts, in its order.
fn accepted(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(','))
        .filter_map(|value| value.split(';').next())
        .map(str::trim)
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    accepted(headers).any(|name| name.eq_ignore_ascii_case(kind))
}

/// Returns whether a client prefers events. Some, such as urql, accept both: the type named first wins.
fn wants_events(headers: &HeaderMap) -> bool {
    let types = [EVENTS, GRAPHQL_JSON, PLAIN_JSON];
    let is_known = |name: &&str| types.iter().any(|known| name.eq_ignore_ascii_case(known));
    accepted(headers).find(is_known).is_some_and(|first| first.eq_ignore_ascii_case(EVENTS))
}

fn single_response(headers: &HeaderMap, reserved: ReservedAnswer) -> Response {
    let has_code = |code: &str| reserved.answer.error_codes().contains(&code);
    // An answer with a reservation is of the request itself: what is limited then is not the server.
    let is_busy = reserved.reservation.is_none() && has_code(Code::RateLimited.as_str());
    // Some clients look at the status first, and would not send the text of the document.
    let is_unknown_hash = has_code(RequestError::PERSISTED_QUERY_NOT_FOUND);
    let kind = accepts(headers, GRAPHQL_JSON).then_some(HeaderValue::from_static(GRAPHQL_JSON));
    let status = match reserved.answer.is_refused() && !is_unknown_hash && kind.is_some() {
        false => StatusCode::OK,
        true if is_busy => StatusCode::SERVICE_UNAVAILABLE,
        true => StatusCode::BAD_REQUEST,
    };
    let reservation = reserved.reservation.clone();
    let mut response = json_response(status, kind.unwrap_or(JSON), reserved.into_bytes());
    // For the bytes that take its place when it is compressed.
    if let Some(reservation) = reservation {
        response.extensions_mut().insert(reservation);
    }
    with_retry_hint(response, is_busy)
}

fn json_response(status: StatusCode, kind: HeaderValue, json: impl Into<Body>) -> Response {
    let mut response = (status, json.into()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    let private = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, private);
    response
}

/// Reads a body. If it had to be waited for, the client may have been signed out since the head of the
/// request arrived, so its credential is checked again.
async fn read_signed_in(
    app: &AppState,
    identity: &ClientIdentity,
    headers: &HeaderMap,
    body: Body,
) -> Result<(GraphqlBody, BodyPermits), Response> {
    let mut reading = pin!(read_body(app, &identity.client, headers, body));
    if let Poll::Ready(read) = poll!(&mut reading) {
        return read;
    }
    let read = reading.await?;
    app.check_credential(identity).await.map_err(error_response)?;
    Ok(read)
}

async fn read_body(
    app: &AppState,
    client: &ClientInfo,
    headers: &HeaderMap,
    body: Body,
) -> Result<(GraphqlBody, BodyPermits), Response> {
    let settings = &app.process.settings;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim).unwrap_or_default();
    // A page of any origin could send other types without a preflight request.
    if ![GRAPHQL_JSON, PLAIN_JSON].iter().any(|known| kind.eq_ignore_ascii_case(known)) {
        let error = ApiError::bad_request("expected `content-type: application/json`");
        return Err(with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE, error));
    }
    let limit = std::time::Duration::from_secs(settings.http.request_seconds.max(1));
    // A subscription's document stays in memory as long as it runs, so it has the limit of a WebSocket
    // message.
    let max = settings.http.body_bytes_max;
    let max = if wants_events(headers) { max.min(settings.live.message_bytes_max) } else { max };
    let collected = tokio::time::timeout(limit, app.body_budget.collect(client, body, max)).await;
    let collected = collected.map_err(|_| {
        let error = ApiError::bad_request("the body took too long to arrive; send it again");
        with_status(StatusCode::REQUEST_TIMEOUT, error)
    })?;
    let CollectedBody { bytes, mut permits } =
        collected.map_err(|error| body_refused(&error, max))?;
    let limits = app.executor.limits();
    let is_batch = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let requests_max = if is_batch { limits.batch_max } else { 1 };
    let values = client_json::check_values(&bytes, requests_max);
    let values = values.map_err(|error| error_response(error.into_api_error(INVALID_BODY)))?;
    permits.charge_values(values).await.map_err(|error| body_refused(&error, max))?;
    let body = if is_batch { parse_batch(&bytes, limits) } else { parse_single(&bytes) };
    Ok((body.map_err(error_response)?, permits))
}

fn body_refused(error: &BodyError, bytes_max: usize) -> Response {
    match error {
        BodyError::TooLong => {
            let problem = format!("the body is larger than {bytes_max} bytes");
            let error = ApiError::new(Code::TooComplex, problem);
            with_status(StatusCode::PAYLOAD_TOO_LARGE, error)
        }
        BodyError::Overloaded => {
            let problem = "the server is receiving too much at the moment; try again";
            let error = ApiError::new(Code::RateLimited, problem);
            with_status(StatusCode::SERVICE_UNAVAILABLE, error)
        }
        BodyError::Incomplete => {
            error_response(ApiError::bad_request("the body ended early; send it again"))
        }
    }
}

fn parse_single(body: &[u8]) -> Result<GraphqlBody, ApiError> {
    let request = client_json::parse(body);
    let request = request.map_err(|error| error.into_api_error(INVALID_BODY))?;
    Ok(GraphqlBody::Single(Box::new(request)))
}

fn parse_batch(body: &[u8], limits: &QueryLimits) -> Result<GraphqlBody, ApiError> {
    let requests = client_json::parse_batch(body, limits.batch_max);
    let requests = requests.map_err(|error| error.into_api_error(INVALID_BODY))?;
    if requests.is_empty() {
        return Err(ApiError::bad_request("the batch is empty"));
    }
    let batch = limits.check_batch(requests.len());
    batch.map_err(|error| ApiError::new(Code::TooComplex, error.message))?;
    Ok(GraphqlBody::Batch(requests))
}

#[cfg(test)]
mod tests {
    use roundtable_graphql::Answer;

    use super::*;

    /// The status tells a client whether to change its request or to retry later.
    #[test]
    fn a_request_that_was_not_executed_has_its_own_status() {
        let mut supports = HeaderMap::new();
        supports.insert(header::ACCEPT, HeaderValue::from_static(GRAPHQL_JSON));
        let response = |headers: &HeaderMap, code| {
            let answer = Answer::refused(&ApiError::new(code, "no").into());
            single_response(headers, answer.into())
        };
        let status = |headers: &HeaderMap, code| response(headers, code).status();
        assert_eq!(status(&supports, Code::BadRequest), StatusCode::BAD_REQUEST);
        assert_eq!(status(&supports, Code::RateLimited), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status(&HeaderMap::new(), Code::RateLimited), StatusCode::OK);
        // It may have taken effect, so that nothing but its client should repeat it.
        let abandoned = Answer::abandoned(&ApiError::new(Code::RateLimited, "no").into());
        let abandoned = single_response(&supports, abandoned.into());
        assert_eq!(abandoned.status(), StatusCode::OK);
        assert_eq!(abandoned.headers()[header::RETRY_AFTER], "1");
        let busy = response(&HeaderMap::new(), Code::RateLimited);
        assert_eq!(busy.headers()[header::RETRY_AFTER], "1");
    }

    #[test]
    fn events_are_sent_to_clients_that_prefer_them() {
        let wants = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            wants_events(&headers)
        };
        assert!(wants("text/event-stream"));
        assert!(wants("text/event-stream;q=1, multipart/mixed"));
        assert!(wants("*/*, Text/Event-Stream, application/json"));
        assert!(!wants("application/graphql-response+json, application/json, text/event-stream"));
        assert!(!wants("application/json"));
        assert!(!wants("*/*"));
    }
}
