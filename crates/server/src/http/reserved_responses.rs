//! The budget of answers, for responses that are none: pages such as the console and the metrics, and files.
//!
//! Errors and other responses of some hundred bytes have a deadline only.

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt as _};
use http_body_util::{BodyExt as _, Collected};
use roundtable_domain::{Code, MediaStoreError};
use roundtable_interface::ApiError;
use roundtable_media::FileDownload;

use super::AppState;
use super::responses::with_status;
use crate::answer_budget::{AnswerBudget, NO_ROOM};
use crate::client_key::ClientShares;

/// Reserves the bytes of a page until its client has taken them.
pub(super) async fn reserve_page(
    State(app): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    let length = response.body().size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok());
    let Some(length) = length.filter(|_| response.status().is_success()) else { return response };
    let Ok(reservation) = app.executor.answers().reserve_page(length) else {
        let error = ApiError::new(Code::RateLimited, NO_ROOM);
        return with_status(StatusCode::SERVICE_UNAVAILABLE, error);
    };
    let (mut head, body) = response.into_parts();
    // At once: it is in memory, and it cannot fail.
    let bytes = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    let body = Body::from(reservation.clone().hold(bytes));
    // For the bytes that take its place when it is compressed.
    head.extensions.insert(reservation);
    Response::from_parts(head, body)
}

/// Reserves each chunk of a file before it is read, until the client has taken it. A download waits for
/// room; other clients give theirs back when they read, or lose their connection.
pub(super) fn reserve_chunks(
    budget: &AnswerBudget,
    client: &ClientShares,
    chunks: BoxStream<'static, Result<Bytes, MediaStoreError>>,
) -> impl Stream<Item = Result<Bytes, MediaStoreError>> + use<> {
    let state = (budget.clone(), client.clone(), chunks);
    futures::stream::unfold(state, async |(budget, client, mut chunks)| {
        let reservation = budget.reserve_chunk(&client, FileDownload::CHUNK_BYTES).await;
        let chunk = chunks.next().await?;
        let chunk = chunk.map(|bytes| reservation.hold(bytes));
        Some((chunk, (budget, client, chunks)))
    })
}
