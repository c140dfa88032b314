//! Questions and changes: `POST /graphql` with one request or a few, `GET /graphql` with a question, and
//! the ways to listen that begin with a GET.

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request, State, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::stream::{self, StreamExt as _};
use roundtable_domain::Code;
use roundtable_graphql::{Answer, Limits, Refused, code_of, is_unasked};

use super::App;
use super::bodies::{Collected, NotCollected, Room};
use super::passage::XRAY;
use super::refusals::{JSON, refused, with_status};
use super::{events, socket};
use crate::gate::Allows;

/// What answers are called for clients that know the difference.
const GRAPHQL_JSON: &str = "application/graphql-response+json";
const PLAIN_JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// Requests of one body that are answered at the same time: one task does them all, and each takes a turn
/// that others wait for.
const BATCH_AT_ONCE: usize = 2;

/// One request, or several.
enum Asked {
    One(Box<async_graphql::Request>),
    Several(Vec<async_graphql::Request>),
}

/// `POST /graphql`.
pub(super) async fn post(State(app): State<App>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let known = match app.known(&head.headers, &head.extensions).await {
        Ok(known) => known,
        Err(why) => return refused(why),
    };
    // The room is held until there is an answer: what was read of a body is about as large.
    let (asked, _room) = match read(&app, &head.headers, body).await {
        Ok(read) => read,
        Err(response) => return response,
    };
    let wants_cost = head.headers.get(&XRAY).is_some_and(|value| value == "1");
    match asked {
        Asked::One(request) if wants_events(&head.headers) => {
            events::answer(&app, *request, known, Allows::Everything)
        }
        Asked::One(request) => {
            let client = &known.client;
            let answer = app.execution.once(*request, client, Allows::Calls, wants_cost).await;
            one(&head.headers, &answer)
        }
        Asked::Several(requests) => {
            let (execution, client) = (&app.execution, &known.client);
            let answers = requests.into_iter().map(|request| async move {
                Answer(&execution.once(request, client, Allows::Calls, wants_cost).await).to_json()
            });
            let answers = stream::iter(answers).buffered(BATCH_AT_ONCE);
            let answers: Vec<String> = answers.collect().await;
            json(StatusCode::OK, JSON, format!("[{}]", answers.join(",")))
        }
    }
}

/// `GET /graphql`: a WebSocket, events, or a question in the address.
pub(super) async fn get(State(app): State<App>, request: Request) -> Response {
    let (mut head, _) = request.into_parts();
    if head.headers.contains_key(header::UPGRADE) {
        return match WebSocketUpgrade::from_request_parts(&mut head, &()).await {
            Ok(upgrade) => {
                let address = app.address(&head.headers, &head.extensions);
                socket::open(app, upgrade, address)
            }
            Err(_) => refused(Refused::bad("this is no request for a WebSocket")),
        };
    }
    let known = match app.known(&head.headers, &head.extensions).await {
        Ok(known) => known,
        Err(why) => return refused(why),
    };
    let query = head.uri.query().unwrap_or_default();
    let request = match async_graphql::http::parse_query_string(query) {
        Ok(request) if !request.query.is_empty() => request,
        _ => return refused(Refused::bad("expected a document in `query`")),
    };
    if wants_events(&head.headers) {
        return events::answer(&app, request, known, Allows::Listening);
    }
    let answer = app.execution.once(request, &known.client, Allows::Queries, false).await;
    one(&head.headers, &answer)
}

/// What a client takes, in its order.
fn accepted(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(','))
        .filter_map(|value| value.split(';').next())
        .map(str::trim)
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    accepted(headers).any(|name| name.eq_ignore_ascii_case(kind))
}

/// Whether a client would have events rather than an answer: of those that take both, such as urql, it is
/// what they name first.
fn wants_events(headers: &HeaderMap) -> bool {
    let known = [EVENTS, GRAPHQL_JSON, PLAIN_JSON];
    let known = |name: &&str| known.iter().any(|known| name.eq_ignore_ascii_case(known));
    accepted(headers).find(known).is_some_and(|first| first.eq_ignore_ascii_case(EVENTS))
}

fn one(headers: &HeaderMap, answer: &async_graphql::Response) -> Response {
    if !accepts(headers, GRAPHQL_JSON) {
        return json(StatusCode::OK, JSON, Answer(answer).to_json());
    }
    let is_busy = |error| code_of(error) == Code::RateLimited.as_str();
    let status = match answer.errors.as_slice() {
        _ if !is_unasked(answer) => StatusCode::OK,
        [error] if is_busy(error) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    json(status, HeaderValue::from_static(GRAPHQL_JSON), Answer(answer).to_json())
}

fn json(status: StatusCode, kind: HeaderValue, text: String) -> Response {
    let mut response = (status, text).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    let private = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, private);
    response
}

/// Reads the body, in time and up to its limit.
async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<(Asked, Room), Response> {
    let settings = &app.process.settings;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim).unwrap_or_default();
    // Anything else a page of any origin could send without asking first.
    if ![GRAPHQL_JSON, PLAIN_JSON].iter().any(|known| kind.eq_ignore_ascii_case(known)) {
        let why = Refused::bad("expected `content-type: application/json`");
        return Err(with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    let limit = std::time::Duration::from_secs(settings.http.request_seconds.max(1));
    // Who listens keeps what they sent for as long as they do, and is held to what a WebSocket takes.
    let max = settings.http.body_bytes_max;
    let max = if wants_events(headers) { max.min(settings.live.message_bytes_max) } else { max };
    let collected = tokio::time::timeout(limit, app.bodies.collect(body, max)).await;
    let Collected { bytes, room } = match collected {
        Ok(Ok(body)) => body,
        Ok(Err(NotCollected::TooLong)) => {
            let why = Refused::new(Code::TooComplex, format!("a body has at most {max} bytes"));
            return Err(with_status(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        Ok(Err(NotCollected::NoRoom)) => {
            let why = "too much is being sent to this server at the moment; try again";
            let why = Refused::new(Code::RateLimited, why);
            return Err(with_status(StatusCode::SERVICE_UNAVAILABLE, why));
        }
        Ok(Err(NotCollected::BrokeOff)) => return Err(refused(Refused::bad("the body broke off"))),
        Err(_) => {
            let why = Refused::bad("the body took too long");
            return Err(with_status(StatusCode::REQUEST_TIMEOUT, why));
        }
    };
    let asked = parse(&bytes, app.execution.limits()).map_err(refused)?;
    Ok((asked, room))
}

fn parse(body: &[u8], limits: &Limits) -> Result<Asked, Refused> {
    let wrong = |_| {
        Refused::bad(
            "the body is not the JSON of a GraphQL request: {\"query\": …, \"variables\": …}",
        )
    };
    if body.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[') {
        return Ok(Asked::One(Box::new(serde_json::from_slice(body).map_err(wrong)?)));
    }
    let several: Vec<async_graphql::Request> = serde_json::from_slice(body).map_err(wrong)?;
    if several.is_empty() {
        return Err(Refused::bad("there is no request in this list"));
    }
    limits.check_batch(several.len())?;
    Ok(Asked::Several(several))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever knows the difference is told by the status whether to ask otherwise, or later.
    #[test]
    fn what_was_not_begun_has_a_status_of_its_own() {
        let mut knows = HeaderMap::new();
        knows.insert(header::ACCEPT, HeaderValue::from_static(GRAPHQL_JSON));
        let status =
            |headers: &HeaderMap, code| one(headers, &Refused::new(code, "no").into()).status();
        assert_eq!(status(&knows, Code::BadRequest), StatusCode::BAD_REQUEST);
        assert_eq!(status(&knows, Code::RateLimited), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(status(&HeaderMap::new(), Code::RateLimited), StatusCode::OK);
        let begun = Refused::new(Code::RateLimited, "no").unfinished();
        assert_eq!(one(&knows, &begun).status(), StatusCode::OK);
    }

    #[test]
    fn events_are_for_those_who_would_rather_have_them() {
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
