//! Tests of a server on this machine, over real connections.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot set up its server, or read its answer, has failed"
)]

mod api_keys;
mod bad_input;
mod configuration;
mod connections;
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
mod revoked;
mod signed_out;
mod signing_in;
mod store_outage;
mod store_probes;
mod test_server;
mod tls;
mod unread_responses;
mod upgrade;
mod upload_limits;
mod websocket_client;
