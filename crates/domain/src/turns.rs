//! Turns of those in this process who write the same head: a hundred at once would keep refusing each
//! other until some give up, so they queue. It is a courtesy only: what the head was when it was read
//! decides, also between processes.

use std::array;
use std::sync::LazyLock;
use std::time::Duration;

use roundtable_model::{Shard, Shards};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::timeout;

/// How many heads can be told apart while people wait; two that share a place only wait longer.
const PLACES: u16 = 1_000;
/// How long to wait for a turn before trying without one.
const TURN_WAIT: Duration = Duration::from_secs(2);

static TURNS: LazyLock<[Mutex<()>; PLACES as usize]> =
    LazyLock::new(|| array::from_fn(|_| Mutex::new(())));

/// One's turn: it ends when this is dropped.
pub(crate) type Turn = Option<MutexGuard<'static, ()>>;

/// Waits for one's turn with a head, known by whose it is.
pub(crate) async fn turn_of(head: &str) -> Turn {
    let places = Shards::new(PLACES).unwrap_or(Shards::ONE);
    let place = TURNS.get(usize::from(Shard::of(head, places).number()))?;
    timeout(TURN_WAIT, place.lock()).await.ok()
}
