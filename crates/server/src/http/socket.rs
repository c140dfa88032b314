//! Listening by WebSocket, in the protocol `graphql-transport-ws`. Everything about a client is bounded:
//! how long it may take to say who it is, how many subscriptions it has, how much waits for it, and how
//! long that may wait. What it has shown to prove who it is holds until that is over; then it comes back
//! with a new one, and goes on where it left off.

mod protocol;
mod session;

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::response::Response;
use roundtable_domain::Code;
use roundtable_graphql::Refused;

use super::App;
use super::refusals::refused;

/// What the protocol is called.
const PROTOCOL: &str = "graphql-transport-ws";

/// Opens a WebSocket.
pub(super) fn open(app: App, upgrade: WebSocketUpgrade, address: Option<IpAddr>) -> Response {
    let upgrade = upgrade.protocols([PROTOCOL]);
    if upgrade.selected_protocol().is_none() {
        return refused(Refused::bad("expected `sec-websocket-protocol: graphql-transport-ws`"));
    }
    let Ok(seat) = Arc::clone(&app.seats).try_acquire_owned() else {
        return refused(Refused::new(Code::RateLimited, "too many are listening; try again later"));
    };
    let bytes_max = app.process.settings.live.message_bytes_max;
    let upgrade = upgrade.max_message_size(bytes_max).max_frame_size(bytes_max);
    upgrade.on_upgrade(async move |socket| {
        let _held = app.meters.listener();
        session::serve(&app, socket, address).await;
        drop(seat);
    })
}
