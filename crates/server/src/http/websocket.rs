//! Subscriptions over WebSocket, in the protocol `graphql-transport-ws`. Each client is bounded in the
//! time to authenticate, in the time without an operation, in its number of subscriptions, and in the size
//! and age of its queue. When its
//! credential expires, the client reconnects with a new one and resumes.

mod protocol;
mod session;

use std::net::IpAddr;

use axum::extract::ws::WebSocketUpgrade;
use axum::http::Extensions;
use axum::response::Response;
use roundtable_interface::ApiError;
use tracing::{Instrument as _, Span};

use super::AppState;
use super::live_connection::LiveConnection;
use super::responses::error_response;

const PROTOCOL: &str = "graphql-transport-ws";
/// Enough for ordinary messages. Every socket has such a buffer; for a longer message it grows.
const READ_BUFFER_BYTES: usize = 4 << 10;

pub(super) fn open(
    app: AppState,
    upgrade: WebSocketUpgrade,
    address: Option<IpAddr>,
    extensions: &Extensions,
) -> Response {
    let upgrade = upgrade.protocols([PROTOCOL]);
    if upgrade.selected_protocol().is_none() {
        return error_response(ApiError::bad_request(
            "expected `sec-websocket-protocol: graphql-transport-ws`",
        ));
    }
    let live = match LiveConnection::open(&app, address, extensions) {
        Ok(live) => live,
        Err(error) => return error_response(error),
    };
    let bytes_max = app.process.settings.live.message_bytes_max;
    let upgrade = upgrade.max_message_size(bytes_max).max_frame_size(bytes_max);
    let span = Span::current();
    upgrade.read_buffer_size(READ_BUFFER_BYTES).on_upgrade(async move |socket| {
        let _guard = app.metrics.track_live_connection();
        session::serve(&app, socket, address, &live).instrument(span).await;
    })
}
