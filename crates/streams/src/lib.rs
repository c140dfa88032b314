//! What follows from changes: the runner of the stream, its processors, and the work they leave for
//! later.
//!
//! A [processor](Processor) is a name, what it wants, and one function: changes in, writes out. The
//! [runner](Runner) owns the rest: who reads which shard ([`Sharing`]), how far every processor has come,
//! what is tried again and when ([`Retries`]), what is parked ([`DeadLetters`]), and how far behind
//! everything is ([`Snapshot`]). What is more than a change can do at once is a [job](Work), done a
//! page at a time.
//!
//! # What holds
//! - Every processor sees every change it wants at least once, and the changes of one item in order.
//! - Its effect is exactly once. In one process, the writes of a batch commit with the checkpoint they
//!   move, on the condition that it is where it was read; on DynamoDB the checkpoint follows. On both,
//!   writes are guarded by themselves, so that changes which come again change nothing.
//! - A change that keeps failing is parked, and the rest goes on. Where changes add up, later changes of
//!   the same item are parked behind it, so that they are counted in order when they are redriven: a
//!   counter is never wrong by more than what is parked, and never negative.
//! - While the store is away everything waits, and nothing is parked.
//! - A crash anywhere, or two readers at once, change none of this.
//!
//! It knows no backend: sharing by leases is given to it from outside.

mod asked;
mod backoff;
mod commit;
mod counters;
mod events;
mod everything;
mod failure;
mod fanout;
mod figures;
mod files;
mod follower_shards;
mod guard;
mod jobs;
mod lane;
mod letters;
mod milestones;
mod notifications;
mod privacy;
mod processor;
mod promotion;
mod purge;
mod quests;
mod reads;
mod runner;
mod scores;
mod shared;
mod sharing;
mod stop;
mod tail;
mod verdicts;

pub use backoff::Backoff;
pub use counters::Counters;
pub use events::{EventWatch, Events};
pub use failure::Failure;
pub use fanout::FanOut;
pub use figures::{LaneFigures, QueueFigures, Snapshot};
pub use files::{FileRemoval, Files};
pub use follower_shards::FollowerShards;
pub use guard::Guard;
pub use jobs::{Next, Work, job};
pub use letters::{DeadLetters, ParkedChange, Redriven, Subject};
pub use milestones::MilestoneRule;
pub use notifications::Notices;
pub use privacy::Privacy;
pub use processor::{Batch, Delivery, Effects, Images, Processor};
pub use promotion::PromotionRule;
pub use purge::Purge;
pub use quests::QuestProgress;
pub use runner::{Runner, Setup};
pub use scores::Scores;
pub use shared::Retries;
pub use sharing::{Alone, Sharing};
pub use verdicts::Verdicts;
