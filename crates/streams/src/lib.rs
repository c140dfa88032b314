//! Processes the change stream: the runner, its processors, and the jobs they enqueue.
//!
//! A [processor](Processor) is a name, the entities it wants, and one function from changes to
//! writes. The [runner](Runner) owns the rest: shard assignment ([`ShardAssignment`]),
//! checkpoints, retries ([`RetrySettings`]), parked work ([`DeadLetters`]) and metrics
//! ([`StreamMetrics`]). Work too large for one change is a job of a [`JobHandler`], done a page at
//! a time.
//!
//! # Guarantees
//! - Every processor sees every change it wants at least once, and the changes of one item in
//!   order.
//! - Its effect is exactly once. In one process, the writes of a batch commit with their
//!   checkpoint, on the condition that it is unchanged; on DynamoDB the checkpoint follows. On both,
//!   writes are guarded by themselves, so that changes delivered again change nothing.
//! - A change that keeps failing is parked, and the rest continues. For processors that add up
//!   changes, later changes of the same item are parked behind it and counted in order when they
//!   are redriven: a counter is wrong by at most what is parked, and never negative.
//! - While the store is unavailable everything waits, and nothing is parked.
//! - A crash at any point, or two readers at once, change none of this.
//!
//! This crate knows no backend. [`Leases`] let several [workers](ShardWorker) share the shards of a
//! stream through any table.

mod all_processors;
mod archival;
mod backoff;
mod commit;
mod counters;
mod dead_letters;
mod error;
mod events;
mod fanout;
mod files;
mod follower_shards;
mod jobs;
mod lane;
mod leases;
mod metrics;
mod milestones;
mod notifications;
mod privacy;
mod processor;
mod promotion;
mod purge;
mod quests;
mod reads;
mod runner;
mod runner_state;
mod scores;
mod sequence_guard;
mod shape_upgrades;
mod shard_assignment;
mod shard_tail;
mod shard_worker;
mod stop_signal;
mod unread;
mod verdicts;
mod work_signal;

pub use archival::GroupArchiver;
pub use backoff::Backoff;
pub use counters::CounterUpdater;
pub use dead_letters::{DeadLetterSubject, DeadLetters, ParkedChange, RedriveSummary};
pub use error::ProcessingError;
use error::Result;
pub use events::{EventDelivery, EventDetector};
pub use fanout::FanOut;
pub use files::{FileRemover, UnusedFileDetector};
pub use follower_shards::FollowerShardScaler;
pub use jobs::{JobHandler, PageOutcome, new_job};
pub use leases::{ActiveWorkers, AnnouncedWorker, Lease, LeaseConfig, Leases};
pub use metrics::{LaneMetrics, QueueMetrics, StreamMetrics};
pub use milestones::MilestoneUpdater;
pub use notifications::{NotificationWriter, PostNotifier};
pub use privacy::PrivacyUpdater;
pub use processor::{Batch, Delivery, Effects, Images, Processor};
pub use promotion::PromotionUpdater;
pub use purge::Purge;
pub use quests::QuestUpdater;
pub use runner::{Runner, RunnerBuilder};
pub use runner_state::RetrySettings;
pub use scores::ScoreUpdater;
pub use sequence_guard::SequenceGuard;
pub use shape_upgrades::{ShapeUpgrader, UpgradeProgress, UpgradeState};
pub use shard_assignment::{ShardAssignment, SingleWorker};
pub use shard_worker::ShardWorker;
pub use verdicts::CaseReviewer;
