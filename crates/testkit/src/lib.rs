//! Town: the shared fixture of all tests. A user's name is also the user's id, so that rows are
//! easy to read: `USER#ana / FOLLOWING#bo`.
//!
//! For tests only: it panics on every error.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::missing_panics_doc, reason = "everything here panics there")]

mod accounts;
mod content;
mod feature_actions;
mod goals;
mod groups;
mod interleaving;
mod lagging;
mod media;
mod moderation;
mod quests;
mod rooms;
mod rows;
mod search;
mod secrets;
mod sources;
mod split_stream;
mod stops;
pub mod storm;
mod streams;
mod stuttering;
mod town;
mod trade;
mod unreliable;
mod user_actions;
mod yielding;

pub use feature_actions::{FeatureAction, FeatureOutcome};
pub use interleaving::Interleaving;
pub use lagging::LaggingBackend;
pub use media::MemoryMediaStore;
pub use search::CurrentSearchIndex;
pub use secrets::{
    Canary, SecretGoal, SecretQuest, SecretTown, SecretTrade, VIEWERS, viewers_except,
};
pub use sources::{processor_types, service_operations};
pub use split_stream::SplitStreamBackend;
pub use stops::stop_at;
pub use stuttering::StutteringBackend;
pub use town::Town;
pub use unreliable::UnreliableBackend;
pub use user_actions::{ActionOutcome, UserAction};
pub use yielding::YieldingBackend;
