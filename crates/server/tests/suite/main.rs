//! A server on this machine, asked over real connections.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that cannot set up its server, or read its answer, has failed"
)]

mod away;
mod bad_input;
mod configuration;
mod cost;
mod files;
mod keys;
mod live;
mod oidc;
mod operations;
mod relay;
mod served;
mod signing_in;
mod socket;
mod tls;
