//! The binary itself, called as users call it.

#![expect(
    clippy::indexing_slicing,
    reason = "an answer that is not as expected has failed the test"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files has failed")]

mod admin;
mod attacks;
mod backup;
mod binary;
mod catch_up;
mod completions;
mod configuration;
mod create;
mod demo;
mod derived;
mod descriptors;
mod doc;
mod killed;
mod roles;
mod serve;
mod serving;
mod transfer;
mod upgrade;
mod usage;
mod verify;
mod xray;
