//! The bodies of requests, collected: each up to its limit, and all of them together up to another, so that
//! no number of connections can fill the memory with them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::configuration::HttpSettings;

/// How long the next part of a body may wait for room.
const PATIENCE: Duration = Duration::from_secs(1);

/// Room for bodies. It is taken by what has come, not by what was announced: announcing costs nothing.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    /// In bytes.
    room: Arc<Semaphore>,
    all_bytes_max: usize,
    each_bytes_max: usize,
}

/// What is taken of it, until this is dropped.
pub(super) type Room = Option<OwnedSemaphorePermit>;

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
        let all_bytes_max = settings.bodies_bytes_max.min(Semaphore::MAX_PERMITS);
        let room = Arc::new(Semaphore::new(all_bytes_max));
        Self { room, all_bytes_max, each_bytes_max: settings.body_bytes_max }
    }

    /// Bytes that are taken.
    pub(super) fn taken(&self) -> usize {
        self.all_bytes_max.saturating_sub(self.room.available_permits())
    }

    pub(super) async fn collect(&self, mut body: Body) -> Result<Collected, NotCollected> {
        let mut all = Collected::default();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| NotCollected::BrokeOff)?;
            let Some(part) = frame.data_ref() else { continue };
            if part.len() > self.each_bytes_max.saturating_sub(all.bytes.len()) {
                return Err(NotCollected::TooLong);
            }
            let room = self.take(part.len()).await?;
            match &mut all.room {
                Some(taken) => taken.merge(room),
                None => all.room = Some(room),
            }
            all.bytes.extend_from_slice(part);
        }
        Ok(all)
    }

    async fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, NotCollected> {
        let bytes = u32::try_from(bytes).map_err(|_| NotCollected::TooLong)?;
        let taken = timeout(PATIENCE, Arc::clone(&self.room).acquire_many_owned(bytes)).await;
        taken.ok().and_then(Result::ok).ok_or(NotCollected::NoRoom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(all: usize, each: usize) -> Bodies {
        Bodies::new(&HttpSettings {
            bodies_bytes_max: all,
            body_bytes_max: each,
            ..HttpSettings::default()
        })
    }

    #[tokio::test]
    async fn bodies_share_one_room_and_give_it_back() {
        let bodies = room(10, 8);
        let collect = async |text: &'static str| bodies.collect(Body::from(text)).await;
        let first = collect("12345678").await.unwrap();
        assert_eq!((first.bytes.as_slice(), bodies.taken()), (b"12345678".as_slice(), 8));
        assert_eq!(collect("abc").await.unwrap_err(), NotCollected::NoRoom);
        assert_eq!(collect("123456789").await.unwrap_err(), NotCollected::TooLong);
        assert_eq!(bodies.taken(), 8);
        drop(first);
        assert_eq!(collect("abc").await.unwrap().bytes, b"abc");
        assert_eq!(bodies.taken(), 0);
    }

    /// Who has waited for a while is served as soon as there is room.
    #[tokio::test]
    async fn a_body_waits_a_moment_for_room() {
        let bodies = room(10, 8);
        let first = bodies.collect(Body::from("12345678")).await.unwrap();
        let second = bodies.collect(Body::from("abc"));
        let (second, ()) = futures::future::join(second, async { drop(first) }).await;
        assert_eq!(second.unwrap().bytes, b"abc");
    }
}
