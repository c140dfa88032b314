//! Uploads and downloads of media files in a local directory. Only signed URLs are served.

use std::ops::Range;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use roundtable_domain::{Caller, Code, MediaError, MediaStoreError};
use roundtable_interface::{ApiError, ClientInfo};
use roundtable_media::{DownloadError, SAFE_HEADERS, UploadError};

use super::AppState;
use super::reserved_responses::reserve_chunks;
use super::responses::{error_response, with_status};
use crate::client_key::ClientShares;
use crate::connections::OpenConnection;

/// Time that the next chunk of an upload may take.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(30);

fn denied() -> Response {
    error_response(ApiError::new(
        Code::Forbidden,
        "this URL is invalid or has expired; request a new one",
    ))
}

fn failed(error: &dyn std::fmt::Display) -> Response {
    tracing::error!(%error, "the media store failed");
    error_response(ApiError::new(
        Code::Internal,
        "the file cannot be read or written at the moment; try again",
    ))
}

/// Receives the bytes of an upload that is announced and pending, once and one at a time.
pub(super) async fn upload(
    State(app): State<AppState>,
    Path(key): Path<String>,
    request: Request,
) -> Response {
    let Some(files) = &app.process.files else { return denied() };
    let (head, body) = request.into_parts();
    let Ok(grant) = files.upload_grant(&key, head.uri.query().unwrap_or_default()) else {
        return denied();
    };
    let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let transfer = match files.begin(&grant, kind).await {
        Ok(transfer) => transfer,
        Err(error) => return upload_failed(error),
    };
    // Only now: before, another transfer might have ended meanwhile, and the upload with it.
    let owner = match app.process.services.media.awaiting_owner(grant.key()).await {
        Ok(owner) => owner,
        Err(error) => return error_response(error.into()),
    };
    // The URL is a credential of its owner.
    if let Some(connection) = head.extensions.get::<OpenConnection>() {
        connection.sign_in(&owner);
    }
    let address = app.client_address(&head.headers, &head.extensions);
    let caller = Some(Caller::user(owner));
    let client = ClientInfo { caller, address };
    let _permit = match app.transfer_limits.start(&client) {
        Ok(permit) => permit,
        Err(error) => return with_status(StatusCode::SERVICE_UNAVAILABLE, error),
    };
    let chunks = body.into_data_stream();
    // A client that stops sending is not waited for.
    let chunks = futures::stream::unfold(chunks, async |mut chunks| {
        match tokio::time::timeout(CHUNK_TIMEOUT, chunks.next()).await {
            Ok(chunk) => chunk.map(|chunk| (chunk.map_err(drop), chunks)),
            Err(_) => Some((Err(()), chunks)),
        }
    });
    match files.receive(transfer, chunks).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => upload_failed(error),
    }
}

fn upload_failed(error: UploadError) -> Response {
    match error {
        UploadError::Failed(error @ MediaStoreError::Failed(_)) => failed(&error),
        UploadError::Failed(error @ MediaStoreError::Full) => {
            tracing::warn!(%error, "an upload was refused");
            error_response(MediaError::from(error).into())
        }
        UploadError::InProgress | UploadError::AlreadyUploaded => {
            error_response(ApiError::new(Code::Conflict, error.to_string()))
        }
        UploadError::TooSlow(_) => {
            with_status(StatusCode::REQUEST_TIMEOUT, ApiError::bad_request(error.to_string()))
        }
        UploadError::WrongType | UploadError::WrongLength | UploadError::Incomplete => {
            error_response(ApiError::bad_request(error.to_string()))
        }
    }
}

/// Sends a file, or a range of it.
pub(super) async fn download(
    State(app): State<AppState>,
    Path(key): Path<String>,
    request: Request,
) -> Response {
    let Some(files) = &app.process.files else { return denied() };
    let Ok(grant) = files.download_grant(&key, request.uri().query().unwrap_or_default()) else {
        return denied();
    };
    let (range, wants_body) = (range(request.headers()), request.method() != Method::HEAD);
    let is_part = range.is_some();
    match files.fetch(&grant, range).await {
        Ok(file) => {
            let length = file.range.end - file.range.start;
            let body = if wants_body {
                // The URL is all that its client has shown.
                let address = app.client_address(request.headers(), request.extensions());
                let client = ClientShares::of(&ClientInfo { caller: None, address });
                let chunks = reserve_chunks(app.executor.answers(), &client, file.body);
                Body::from_stream(chunks)
            } else {
                Body::empty()
            };
            let mut response = Response::new(body);
            let headers = response.headers_mut();
            set_headers(headers, &file.content_type);
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
            if is_part {
                let Range { start, end } = file.range;
                let content_range =
                    format!("bytes {start}-{}/{}", end.saturating_sub(1), file.length);
                if let Ok(content_range) = HeaderValue::from_str(&content_range) {
                    headers.insert(header::CONTENT_RANGE, content_range);
                }
                *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            }
            response
        }
        Err(DownloadError::NotFound) => {
            error_response(ApiError::new(Code::NotFound, "there is no such file"))
        }
        Err(DownloadError::OutOfRange) => with_status(
            StatusCode::RANGE_NOT_SATISFIABLE,
            ApiError::bad_request("the range is beyond the end of the file"),
        ),
        Err(DownloadError::Failed(error)) => failed(&error),
    }
}

fn set_headers(headers: &mut HeaderMap, content_type: &str) {
    for (name, value) in SAFE_HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Ok(kind) = HeaderValue::from_str(content_type) {
        headers.insert(header::CONTENT_TYPE, kind);
    }
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    // The URL is as private as the file.
    let private = HeaderValue::from_static("private, max-age=300");
    headers.insert(header::CACHE_CONTROL, private);
}

/// The single range of a request. Multiple ranges and suffix ranges get the whole file.
fn range(headers: &HeaderMap) -> Option<Range<u64>> {
    let requested = headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?;
    let (start, end) = requested.split_once('-')?;
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
    fn one_range_of_a_file_can_be_requested() {
        let requested = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RANGE, HeaderValue::from_static(text));
            range(&headers)
        };
        assert_eq!(requested("bytes=0-99"), Some(0..100));
        assert_eq!(requested("bytes=5-"), Some(5..u64::MAX));
        for other in ["bytes=-5", "bytes=0-1,4-5", "bytes=", "lines=1-2", "bytes=x-y"] {
            assert_eq!(requested(other), None, "{other}");
        }
    }
}
