//! A server on this machine, asked over real connections.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its server has failed")]

mod away;
mod bad_input;
mod configuration;
mod cost;
mod files;
mod keys;
mod live;
mod operations;
mod served;
mod signing_in;
