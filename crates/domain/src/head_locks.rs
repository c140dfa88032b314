//! Locks that queue writers of the same head within this process. A hundred concurrent writers
//! would keep failing each other's conditions until some give up. The locks only reduce contention:
//! correctness, also between processes, rests on the condition on the head's version.

use std::array;
use std::sync::LazyLock;
use std::time::Duration;

use roundtable_model::{Shard, Shards};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::timeout;

/// The number of locks. Two heads that share one only wait longer.
const LOCKS_COUNT: u16 = 1_000;
/// The longest wait for a lock; after that the writer proceeds without it.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(2);

static HEAD_LOCKS: LazyLock<[Mutex<()>; LOCKS_COUNT as usize]> =
    LazyLock::new(|| array::from_fn(|_| Mutex::new(())));

/// A held lock on a head; `None` if the wait timed out.
pub(crate) type HeadLock = Option<MutexGuard<'static, ()>>;

/// Waits for the lock on a head, identified by its owner.
pub(crate) async fn lock_head(head: &str) -> HeadLock {
    let shards = Shards::new(LOCKS_COUNT).unwrap_or(Shards::ONE);
    let lock = HEAD_LOCKS.get(usize::from(Shard::of(head, shards).number()))?;
    timeout(LOCK_WAIT_MAX, lock.lock()).await.ok()
}
