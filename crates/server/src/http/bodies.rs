//! The bodies of requests, collected: each up to its limit, and all of them together up to another, so that
//! no number of connections can fill the memory with them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::configuration::HttpSettings;

/// As much of each body comes out of a room of its own: ordinary calls never wait behind long ones.
const BEGINNING: usize = 16 << 10;
/// How much larger the room is for everything else.
const LONG_SHARE: usize = 4;
/// As many of them have room at the same time, however little there is.
const BEGINNINGS_MIN: usize = 16;
/// How long the next part of a body may wait for room.
const PATIENCE: Duration = Duration::from_secs(1);

/// Room for bodies. It is taken by what has come, not by what was announced: announcing costs nothing.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    /// In bytes, of what lies beyond the beginnings.
    long: Arc<Semaphore>,
    long_max: usize,
    /// In bytes, of beginnings.
    short: Arc<Semaphore>,
    short_max: usize,
    /// How long a beginning is.
    beginning: usize,
}

/// What is taken of it, until this is dropped.
#[derive(Debug, Default)]
pub(super) struct Room {
    short: Option<OwnedSemaphorePermit>,
    long: Option<OwnedSemaphorePermit>,
}

/// A body, and the room that it takes.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) bytes: Vec<u8>,
    pub(super) room: Room,
}

/// Why there is no body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotCollected {
    /// It is longer than one may be.
    TooLong,
    /// Too much is being sent by everybody together.
    NoRoom,
    /// It came to no end.
    BrokeOff,
}

impl Bodies {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        let long_max = settings.bodies_bytes_max.min(Semaphore::MAX_PERMITS);
        let short_max = long_max / LONG_SHARE;
        let [long, short] = [long_max, short_max].map(|bytes| Arc::new(Semaphore::new(bytes)));
        let beginning = BEGINNING.min(short_max / BEGINNINGS_MIN);
        Self { long, long_max, short, short_max, beginning }
    }

    /// Bytes that are taken.
    pub(super) fn taken(&self) -> usize {
        let (long, short) = (self.long.available_permits(), self.short.available_permits());
        (self.long_max + self.short_max).saturating_sub(long + short)
    }

    pub(super) async fn collect(
        &self,
        mut body: Body,
        bytes_max: usize,
    ) -> Result<Collected, NotCollected> {
        let mut all = Collected::default();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| NotCollected::BrokeOff)?;
            let Some(part) = frame.data_ref() else { continue };
            if part.len() > bytes_max.saturating_sub(all.bytes.len()) {
                return Err(NotCollected::TooLong);
            }
            let begun = self.beginning.saturating_sub(all.bytes.len()).min(part.len());
            take(&self.short, begun, &mut all.room.short).await?;
            take(&self.long, part.len() - begun, &mut all.room.long).await?;
            all.bytes.extend_from_slice(part);
        }
        Ok(all)
    }
}

/// Takes so much more of a room.
async fn take(
    room: &Arc<Semaphore>,
    bytes: usize,
    taken: &mut Option<OwnedSemaphorePermit>,
) -> Result<(), NotCollected> {
    if bytes == 0 {
        return Ok(());
    }
    let bytes = u32::try_from(bytes).map_err(|_| NotCollected::TooLong)?;
    let more = timeout(PATIENCE, Arc::clone(room).acquire_many_owned(bytes)).await;
    let more = more.ok().and_then(Result::ok).ok_or(NotCollected::NoRoom)?;
    match taken {
        Some(taken) => taken.merge(more),
        None => *taken = Some(more),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(bodies_bytes_max: usize) -> Bodies {
        Bodies::new(&HttpSettings { bodies_bytes_max, ..HttpSettings::default() })
    }

    #[tokio::test]
    async fn bodies_share_one_room_and_give_it_back() {
        let bodies = room(10);
        let collect = async |text: &'static str| bodies.collect(Body::from(text), 8).await;
        let first = collect("12345678").await.unwrap();
        assert_eq!((first.bytes.as_slice(), bodies.taken()), (b"12345678".as_slice(), 8));
        assert_eq!(collect("abc").await.unwrap_err(), NotCollected::NoRoom);
        assert_eq!(collect("123456789").await.unwrap_err(), NotCollected::TooLong);
        assert_eq!(bodies.taken(), 8);
        drop(first);
        assert_eq!(collect("abc").await.unwrap().bytes, b"abc");
        assert_eq!(bodies.taken(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_short_body_does_not_wait_behind_long_ones() {
        let bodies = room(1 << 20);
        let long = bodies.collect(Body::from(vec![b' '; 1 << 20]), 1 << 20).await.unwrap();
        let other = bodies.collect(Body::from(vec![b' '; 1 << 19]), 1 << 20).await;
        assert_eq!(other.unwrap_err(), NotCollected::NoRoom);
        assert_eq!(bodies.collect(Body::from("abc"), 8).await.unwrap().bytes, b"abc");
        drop(long);
        assert_eq!(bodies.taken(), 0);
    }

    /// Who has waited for a while is served as soon as there is room.
    #[tokio::test]
    async fn a_body_waits_a_moment_for_room() {
        let bodies = room(10);
        let first = bodies.collect(Body::from("12345678"), 8).await.unwrap();
        let second = bodies.collect(Body::from("abc"), 8);
        let (second, ()) = futures::future::join(second, async { drop(first) }).await;
        assert_eq!(second.unwrap().bytes, b"abc");
    }
}
