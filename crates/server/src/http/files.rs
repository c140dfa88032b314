//! Files of people, where they are in a directory of this machine: sent and fetched by signed addresses,
//! without which there is nothing here.

use std::ops::Range;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use roundtable_domain::Code;
use roundtable_graphql::Refused;
use roundtable_media::{NotFetched, NotReceived, SAFE_HEADERS};

use super::App;
use super::refusals::{refused, with_status};

/// How long the next part of a file may take.
const PART: Duration = Duration::from_secs(30);

fn denied() -> Response {
    refused(Refused::new(Code::Forbidden, "this address is not, or no longer, good for that"))
}

fn failed(error: &dyn std::fmt::Display) -> Response {
    tracing::error!(%error, "the store of files failed");
    refused(Refused::new(Code::Internal, "the file cannot be had at the moment; try again"))
}

/// Takes a file.
pub(super) async fn send(
    State(app): State<App>,
    Path(key): Path<String>,
    request: Request,
) -> Response {
    let Some(files) = &app.process.files else { return denied() };
    let (head, body) = request.into_parts();
    let Ok(leave) = files.may_send(&key, head.uri.query().unwrap_or_default()) else {
        return denied();
    };
    let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let parts = body.into_data_stream();
    // Whoever stops sending is not waited for.
    let parts = futures::stream::unfold(parts, async |mut parts| {
        match tokio::time::timeout(PART, parts.next()).await {
            Ok(part) => part.map(|part| (part.map_err(drop), parts)),
            Err(_) => Some((Err(()), parts)),
        }
    });
    match files.receive(&leave, kind, parts).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(NotReceived::Failed(error)) => failed(&error),
        Err(why) => refused(Refused::bad(why.to_string())),
    }
}

/// Hands a file out, or a part of it.
pub(super) async fn fetch(
    State(app): State<App>,
    Path(key): Path<String>,
    request: Request,
) -> Response {
    let Some(files) = &app.process.files else { return denied() };
    let Ok(leave) = files.may_fetch(&key, request.uri().query().unwrap_or_default()) else {
        return denied();
    };
    let (range, wants_body) = (range(request.headers()), request.method() != Method::HEAD);
    let is_part = range.is_some();
    match files.fetch(&leave, range).await {
        Ok(found) => {
            let length = found.range.end - found.range.start;
            let body = if wants_body { Body::from_stream(found.body) } else { Body::empty() };
            let mut response = Response::new(body);
            let headers = response.headers_mut();
            safe(headers, &found.content_type);
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
            if is_part {
                let Range { start, end } = found.range;
                let said = format!("bytes {start}-{}/{}", end.saturating_sub(1), found.length);
                if let Ok(said) = HeaderValue::from_str(&said) {
                    headers.insert(header::CONTENT_RANGE, said);
                }
                *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            }
            response
        }
        Err(NotFetched::Gone) => refused(Refused::new(Code::NotFound, "there is no such file")),
        Err(NotFetched::OutOfRange) => {
            with_status(StatusCode::RANGE_NOT_SATISFIABLE, Refused::bad("the file is shorter"))
        }
        Err(NotFetched::Failed(error)) => failed(&error),
    }
}

fn safe(headers: &mut HeaderMap, content_type: &str) {
    for (name, value) in SAFE_HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Ok(kind) = HeaderValue::from_str(content_type) {
        headers.insert(header::CONTENT_TYPE, kind);
    }
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    // The address is as private as what it shows.
    let private = HeaderValue::from_static("private, max-age=300");
    headers.insert(header::CACHE_CONTROL, private);
}

/// The one part that is asked for. Several at once, or the end of a file, are answered with all of it.
fn range(headers: &HeaderMap) -> Option<Range<u64>> {
    let asked = headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?;
    let (start, end) = asked.split_once('-')?;
    let start: u64 = start.trim().parse().ok()?;
    let end = match end.trim() {
        "" => u64::MAX,
        end => end.parse::<u64>().ok()?.saturating_add(1),
    };
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_part_of_a_file_can_be_asked_for() {
        let asked = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RANGE, HeaderValue::from_static(text));
            range(&headers)
        };
        assert_eq!(asked("bytes=0-99"), Some(0..100));
        assert_eq!(asked("bytes=5-"), Some(5..u64::MAX));
        for other in ["bytes=-5", "bytes=0-1,4-5", "bytes=", "lines=1-2", "bytes=x-y"] {
            assert_eq!(asked(other), None, "{other}");
        }
    }
}
