//! The runner and its processors: effects are exactly once despite failures.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod archival;
mod assists_and_offers;
mod cast;
mod counters;
mod crashes;
mod dead_letters;
mod delivery;
mod events;
mod facts;
mod fanout;
mod faulty_backend;
mod feed_fixture;
mod files;
mod jobs;
mod late_reader;
mod leases;
mod milestones;
mod new_notifications;
mod notification_kinds;
mod notifications;
mod privacy;
mod promotion;
mod purge;
mod quests;
mod refusing_backend;
mod running;
pub mod shape_upgrades;
mod shard_assignment;
mod test_store;
mod trim;
mod verdicts;
