//! Subscriptions over WebSocket, in the protocol `graphql-transport-ws`. Each client is bounded in the
//! time to authenticate, in its number of subscriptions, and in the size and age of its queue. When its
//! credential expires, the client reconnects with a new one and resumes.

mod protocol;
mod session;

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::response::Response;
use roundtable_domain::Code;
use roundtable_interface::ApiError;

use super::AppState;
use super::responses::error_response;

const PROTOCOL: &str = "graphql-transport-ws";

pub(super) fn open(app: AppState, upgrade: WebSocketUpgrade, address: Option<IpAddr>) -> Response {
    let upgrade = upgrade.protocols([PROTOCOL]);
    if upgrade.selected_protocol().is_none() {
        return error_response(ApiError::bad_request(
            "expected `sec-websocket-protocol: graphql-transport-ws`",
        ));
    }
    let Ok(permit) = Arc::clone(&app.live_permits).try_acquire_owned() else {
        return error_response(ApiError::new(
            Code::RateLimited,
            "too many live connections; try again later",
        ));
    };
    let bytes_max = app.process.settings.live.message_bytes_max;
    let upgrade = upgrade.max_message_size(bytes_max).max_frame_size(bytes_max);
    upgrade.on_upgrade(async move |socket| {
        let _guard = app.metrics.track_live_connection();
        session::serve(&app, socket, address).await;
        drop(permit);
    })
}
