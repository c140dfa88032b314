//! The runner and its processors: what follows from changes, exactly once, whatever happens.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod cast;
mod counters;
mod crashes;
mod delivery;
mod events;
mod facts;
mod fanout;
mod faults;
mod files;
mod jobs;
mod kinds;
mod late;
mod letters;
mod milestones;
mod notifications;
mod privacy;
mod promotion;
mod purge;
mod quests;
mod refusing;
mod running;
mod scene;
mod sharing;
mod stage;
mod trade;
mod trim;
mod verdicts;
