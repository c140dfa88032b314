//! The binary itself, called as people call it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files has failed")]

mod binary;
mod catching;
mod create;
mod derived;
mod doc;
mod usage;
mod verify;
