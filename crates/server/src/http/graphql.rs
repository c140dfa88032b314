//! `POST /graphql` with one request or a batch, and `GET /graphql` with a query, an event stream or a
//! WebSocket upgrade.

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request, State, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::stream::{self, StreamExt as _};
use roundtable_domain::Code;
use roundtable_graphql::{ApiError, GraphqlResponse, QueryLimits, error_code, is_request_error};

use super::AppState;
use super::body_budget::{BodyError, BodyPermits, CollectedBody};
use super::middleware::XRAY;
use super::responses::{JSON, error_response, with_status};
use super::{sse, websocket};
use crate::request_policy::AllowedOperations;

/// The content type of responses for clients that support GraphQL over HTTP.
const GRAPHQL_JSON: &str = "application/graphql-response+json";
const PLAIN_JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// Requests of a batch executed at the same time: one task runs them all, and each takes a permit that
/// other clients wait for.
const BATCH_CONCURRENCY: usize = 2;

enum GraphqlBody {
    Single(Box<async_graphql::Request>),
    Batch(Vec<async_graphql::Request>),
}

pub(super) async fn post(State(app): State<AppState>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let identity = match app.authenticate(&head.headers, &head.extensions).await {
        Ok(identity) => identity,
        Err(error) => return error_response(error),
    };
    // The budget is held until the response is ready: a parsed body is about as large as its text.
    let (body, _permits) = match read_body(&app, &head.headers, body).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let wants_cost = head.headers.get(&XRAY).is_some_and(|value| value == "1");
    match body {
        GraphqlBody::Single(request) if wants_events(&head.headers) => {
            sse::respond(&app, *request, identity, AllowedOperations::All)
        }
        GraphqlBody::Single(request) => {
            let client = &identity.client;
            let response = app
                .executor
                .execute(*request, client, AllowedOperations::QueriesAndMutations, wants_cost)
                .await;
            single_response(&head.headers, &response)
        }
        GraphqlBody::Batch(requests) => {
            let (executor, client) = (&app.executor, &identity.client);
            let responses = requests.into_iter().map(|request| async move {
                GraphqlResponse(
                    &executor
                        .execute(
                            request,
                            client,
                            AllowedOperations::QueriesAndMutations,
                            wants_cost,
                        )
                        .await,
                )
                .to_json()
            });
            let responses = stream::iter(responses).buffered(BATCH_CONCURRENCY);
            let responses: Vec<String> = responses.collect().await;
            json_response(StatusCode::OK, JSON, format!("[{}]", responses.join(",")))
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
                websocket::open(app, upgrade, address)
            }
            Err(_) => error_response(ApiError::bad_request("this is not a WebSocket handshake")),
        };
    }
    let identity = match app.authenticate(&head.headers, &head.extensions).await {
        Ok(identity) => identity,
        Err(error) => return error_response(error),
    };
    let query = head.uri.query().unwrap_or_default();
    let request = match async_graphql::http::parse_query_string(query) {
        Ok(request) if !request.query.is_empty() => request,
        _ => {
            return error_response(ApiError::bad_request(
                "expected a GraphQL document in the parameter `query`",
            ));
        }
    };
    if wants_events(&head.headers) {
        return sse::respond(&app, request, identity, AllowedOperations::QueriesAndSubscriptions);
    }
    let response = app
        .executor
        .execute(request, &identity.client, AllowedOperations::QueriesOnly, false)
        .await;
    single_response(&head.headers, &response)
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

fn single_response(headers: &HeaderMap, response: &async_graphql::Response) -> Response {
    if !accepts(headers, GRAPHQL_JSON) {
        return json_response(StatusCode::OK, JSON, GraphqlResponse(response).to_json());
    }
    let is_busy = |error| error_code(error) == Code::RateLimited.as_str();
    let status = match response.errors.as_slice() {
        _ if !is_request_error(response) => StatusCode::OK,
        [error] if is_busy(error) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    json_response(
        status,
        HeaderValue::from_static(GRAPHQL_JSON),
        GraphqlResponse(response).to_json(),
    )
}

fn json_response(status: StatusCode, kind: HeaderValue, text: String) -> Response {
    let mut response = (status, text).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    let private = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, private);
    response
}

async fn read_body(
    app: &AppState,
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
    let collected = tokio::time::timeout(limit, app.body_budget.collect(body, max)).await;
    let CollectedBody { bytes, permits } = match collected {
        Ok(Ok(body)) => body,
        Ok(Err(BodyError::TooLong)) => {
            let error =
                ApiError::new(Code::TooComplex, format!("the body is larger than {max} bytes"));
            return Err(with_status(StatusCode::PAYLOAD_TOO_LARGE, error));
        }
        Ok(Err(BodyError::Overloaded)) => {
            let problem = "the server is receiving too much at the moment; try again";
            let error = ApiError::new(Code::RateLimited, problem);
            return Err(with_status(StatusCode::SERVICE_UNAVAILABLE, error));
        }
        Ok(Err(BodyError::Incomplete)) => {
            return Err(error_response(ApiError::bad_request(
                "the body ended early; send it again",
            )));
        }
        Err(_) => {
            let error = ApiError::bad_request("the body took too long to arrive; send it again");
            return Err(with_status(StatusCode::REQUEST_TIMEOUT, error));
        }
    };
    let body = parse_body(&bytes, app.executor.limits()).map_err(error_response)?;
    Ok((body, permits))
}

fn parse_body(body: &[u8], limits: &QueryLimits) -> Result<GraphqlBody, ApiError> {
    let invalid = |_| {
        ApiError::bad_request(
            "the body is not the JSON of a GraphQL request: {\"query\": …, \"variables\": …}",
        )
    };
    if body.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[') {
        return Ok(GraphqlBody::Single(Box::new(serde_json::from_slice(body).map_err(invalid)?)));
    }
    let requests: Vec<async_graphql::Request> = serde_json::from_slice(body).map_err(invalid)?;
    if requests.is_empty() {
        return Err(ApiError::bad_request("the batch is empty"));
    }
    limits.check_batch(requests.len())?;
    Ok(GraphqlBody::Batch(requests))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The status tells a client whether to change its request or to retry later.
    #[test]
    fn a_request_that_was_not_executed_has_its_own_status() {
        let mut supports = HeaderMap::new();
        supports.insert(header::ACCEPT, HeaderValue::from_static(GRAPHQL_JSON));
        let status = |headers: &HeaderMap, code| {
            single_response(headers, &ApiError::new(code, "no").into()).status()
        };
        assert_eq!(status(&supports, Code::BadRequest), StatusCode::BAD_REQUEST);
        assert_eq!(status(&supports, Code::RateLimited), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status(&HeaderMap::new(), Code::RateLimited), StatusCode::OK);
        let executed = ApiError::new(Code::RateLimited, "no").into_unknown_outcome();
        assert_eq!(single_response(&supports, &executed).status(), StatusCode::OK);
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
