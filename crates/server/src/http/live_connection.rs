//! A WebSocket or an event stream: its slot among these, and the connection under it.

use std::net::IpAddr;

use axum::http::Extensions;
use roundtable_domain::Code;
use roundtable_interface::{ApiError, ClientInfo};

use super::AppState;
use crate::client_key::ClientNetwork;
use crate::connection_slots::{ConnectionSlot, SlotLimitReached, SlotWork};
use crate::connections::OpenConnection;

#[derive(Debug)]
pub(super) struct LiveConnection {
    slot: ConnectionSlot,
    /// `None` for clients in the same process.
    connection: Option<OpenConnection>,
}

/// An operation that runs on a live connection, until this is dropped.
#[derive(Debug)]
pub(super) struct LiveWork {
    _slot: SlotWork,
    _connection: Option<SlotWork>,
}

impl LiveConnection {
    pub(super) fn open(
        app: &AppState,
        address: Option<IpAddr>,
        extensions: &Extensions,
    ) -> Result<Self, ApiError> {
        let connection: Option<OpenConnection> = extensions.get().cloned();
        // A proxy that does not report the addresses of its clients: they are not one network.
        let is_proxy = app.process.settings.http.proxies > 0
            && connection.as_ref().is_some_and(|open| address == Some(open.peer().ip()));
        let network = (!is_proxy).then(|| ClientNetwork::of(address));
        let slot = app.live_slots.enter(network).map_err(too_many)?;
        Ok(Self { slot, connection })
    }

    /// Keeps the connection for the account of a client, if it has one.
    pub(super) fn sign_in(&self, client: &ClientInfo) -> Result<(), ApiError> {
        let Some(caller) = &client.caller else { return Ok(()) };
        if let Some(connection) = &self.connection {
            connection.sign_in(&caller.user_id);
        }
        self.slot.keep_for(&caller.user_id).map_err(too_many)
    }

    pub(super) fn work(&self) -> LiveWork {
        let connection = self.connection.as_ref().map(OpenConnection::work);
        LiveWork { _slot: self.slot.work(), _connection: connection }
    }

    /// Forgets the bytes of a message that has arrived.
    pub(super) fn finish_message(&self) {
        if let Some(connection) = &self.connection {
            connection.received().finish_message();
        }
    }

    /// Ends when another connection has got the slot of this one, or of the connection under it.
    pub(super) async fn displaced(&self) {
        let of_connection = async {
            match &self.connection {
                Some(connection) => connection.displaced().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.slot.displaced() => {}
            () = of_connection => {}
        }
    }
}

fn too_many(reached: SlotLimitReached) -> ApiError {
    let problem = match reached {
        SlotLimitReached::All => "too many live connections; try again later",
        SlotLimitReached::Account => "this account has too many live connections; close one first",
    };
    ApiError::new(Code::RateLimited, problem)
}
