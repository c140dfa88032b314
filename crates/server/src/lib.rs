//! The server between the network and the services: configuration, wiring, sign-in keys, HTTP, live
//! updates and graceful shutdown.
//!
//! It holds no domain rules: services decide who may do or see what, and `roundtable-graphql` defines
//! the API.

// A response is a future nested in another for each level of the schema.
#![recursion_limit = "256"]

mod admin;
mod admin_socket;
mod answer_budget;
mod authentication;
mod background;
mod backups;
mod change_forwarding;
mod client_key;
mod client_limits;
mod configuration;
mod connection_slots;
mod connections;
mod descriptors;
mod documents;
#[cfg(feature = "dynamodb")]
mod dynamodb;
mod executor;
mod http;
mod https_client;
mod keys;
mod media_sweep;
mod memory;
mod metrics;
mod oidc;
mod optional_parts;
mod read_shares;
mod relay;
mod request_log;
mod request_policy;
mod scheduler;
mod seal;
mod search;
mod server;
mod shutdown;
mod store;
mod store_probe;
mod stream_holds;
mod stream_status;
mod tokens;
mod wiring;
mod worker_address;
mod worker_leases;
mod xray;

pub use admin::{
    AdminCommand, AdminReply, AdminService, DeadLetterSummary, HoldSummary, IdentitySummary,
    SignInLockSummary, UpgradeSummary,
};
pub use admin_socket::{AdminSocketError, send_command};
pub use backups::{CopyError, backup, copy_secret_and_media, media_directory, restore};
pub use configuration::{
    Configuration, ConfigurationError, GraphqlSettings, HttpSettings, Layers, LiveSettings,
    LogFormat, LogSettings, OidcSettings, ProcessRole, ProcessSettings, SearchSettings,
    SignInSettings, StoreKind, StoreSettings, TlsSettings,
};
pub use https_client::{HttpsClient, https_client};
pub use keys::KeyError;
pub use memory::keep_freed_memory;
pub use search::search_location;
pub use server::{Server, ServerHandle};
pub use shutdown::{ShutdownSignal, ShutdownTrigger};
pub use store::{OpenStore, open_store};
pub use store_probe::ProbeFailure;
pub use wiring::StartError;

pub use roundtable_graphql::SDL;
