//! The embedded backend: a durable table in one directory, in this process.
//!
//! The stream is the log. One writer thread evaluates requests in order, appends them to the log,
//! syncs once per group and publishes them to an ordered map in memory. A checkpoint moves that map
//! into an LMDB tree in the background. `docs/ENGINE.md` describes the files byte by byte.
//!
//! It is not a cluster: one process owns a directory. It is not a cache: acknowledged writes are on
//! disk.

mod archive;
mod audit;
mod backup;
mod catalog;
mod checkpoint;
mod cursor;
mod disk;
mod engine;
mod evaluate;
mod filter;
mod group;
mod health;
mod holds;
mod keys;
mod log;
mod memtable;
mod metrics;
mod options;
mod pauses;
mod read;
mod recent;
mod record;
mod recovery;
mod request;
mod segment;
mod shared;
mod signal;
#[cfg(feature = "testing")]
mod simulated;
mod stream;
mod threads;
mod tree;
mod upkeep;
mod view;
mod writer;

pub use backup::{Restore, RestoreError, RestorePoint, restore};
pub use disk::{DirectoryDisk, Disk, DiskFile};
pub use engine::Engine;
#[cfg(feature = "testing")]
pub use engine::step::EngineStep;
pub use health::EngineHealth;
pub use holds::StreamHold;
pub use metrics::{Distribution, Metrics};
pub use options::Options;
#[cfg(feature = "testing")]
pub use simulated::{DiskFault, IoStep, SimulatedDisk};
