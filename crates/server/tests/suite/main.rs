//! Tests of a server on this machine, over real connections.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot set up its server, or read its answer, has failed"
)]

mod bad_input;
mod configuration;
mod cost;
mod fair_shares;
mod files;
mod http2;
mod keys;
mod live;
mod oidc;
mod operations;
mod persisted;
mod relay;
mod signing_in;
mod store_outage;
mod test_server;
mod tls;
mod unread_responses;
mod upgrade;
mod websocket_client;
