//! The parts that all interfaces to the services share. `graphql` is such an interface.
//!
//! An interface answers the requests of a client ([`ClientInfo`]) with the services of its process
//! ([`Services`]), hands out encrypted cursors ([`CursorCipher`]), and reports errors whose text is meant
//! for clients ([`ApiError`]). This crate knows no protocol.

mod api_error;
mod client_info;
mod cursors;
mod services;

pub use crate::api_error::{ApiError, INTERNAL_MESSAGE, none_if_hidden};
pub use crate::client_info::ClientInfo;
pub use crate::cursors::{CursorCipher, SealedCursor};
pub use crate::services::{IdentityVerifier, Services, StreamBacklog, StreamControl, TokenIssuer};
