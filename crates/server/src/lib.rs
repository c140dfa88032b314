//! The server: everything between the network and the services. Configuration, wiring, sign-in keys,
//! HTTP, live updates, and an end in good order.
//!
//! It keeps no rules: who may do or see what the services decide, and what can be asked is
//! `roundtable-graphql`'s.

// What answers a query is one future within another for each kind of thing that can be asked.
#![recursion_limit = "256"]

mod background;
mod backstage;
mod configuration;
mod copies;
mod execution;
mod gate;
mod http;
mod identity;
mod keys;
mod listening;
mod memory;
mod meters;
mod office;
mod oidc;
mod outgoing;
mod relay;
mod seal;
mod server;
mod sharing;
mod socket;
mod stopping;
mod store;
mod tap;
mod tokens;
mod turns;
mod wiring;
mod xray;

pub use configuration::{
    Configuration, GraphqlSettings, HttpSettings, Layers, LiveSettings, LogFormat, LogSettings,
    Misconfigured, OidcSettings, ProcessSettings, Role, SignInSettings, StoreKind, StoreSettings,
    TlsSettings,
};
pub use copies::{CopyError, backup, copy_beside, restore};
pub use keys::KeyError;
pub use memory::keep_freed_memory;
pub use office::{Answer, Letter, Office, Order};
pub use outgoing::{Client, client};
pub use server::{Handle, Server};
pub use socket::{AskError, ask};
pub use stopping::{Stop, Stopping};
pub use store::{Opened, open_store};
pub use wiring::StartError;

/// What can be asked of a server, in the language of GraphQL.
pub fn sdl() -> String {
    roundtable_graphql::Limits::default().on(roundtable_graphql::schema()).sdl()
}
