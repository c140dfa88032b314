//! Town: the shared cast of all tests. People are known by their names, which are also their ids, so
//! that rows read as they are written: `USER#ana / FOLLOWING#bo`.
//!
//! For tests only: it panics where a test should stop.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![expect(clippy::missing_panics_doc, reason = "everything here panics there")]

mod accounts;
mod acts;
mod content;
mod far;
mod goals;
mod groups;
mod hidden;
mod meanwhile;
mod media;
mod moderation;
mod pursuits;
mod quests;
mod rooms;
mod rows;
mod split;
mod stops;
mod streams;
mod stuttering;
mod town;
mod trade;
mod yielding;

pub use acts::{Act, Done};
pub use far::Far;
pub use hidden::{Canary, Challenge, Hidden, Plan, VIEWERS, Wares, all_but};
pub use meanwhile::Meanwhile;
pub use media::Shelf;
pub use pursuits::{Gained, Pursuit};
pub use split::Split;
pub use stops::stop_at;
pub use stuttering::Stuttering;
pub use town::Town;
pub use yielding::Yielding;
