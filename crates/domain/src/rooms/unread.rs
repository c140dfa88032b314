//! How many messages somebody has not read: those that are there, that they may see, and that are newer
//! than the last one they read. Counted when asked for, so it is never wrong: a message that expires or
//! is purged stops counting by itself.

use futures::future::try_join_all;
use roundtable_model::{RoomId, Span};

use super::seen;
use crate::{Caller, Failure, Ground};

/// As many are counted at the most, and said to be unread.
const UNREAD_MAX: u64 = 1_000;
/// Messages looked at in one go.
const LOOK: usize = 100;
/// Messages looked at for one request, in all its rooms: somebody whom the viewer blocked may have said
/// any number of things. Each room with news has its part of it, but never less than one look.
const LOOKED_MAX: usize = 10_000;

/// How many messages the caller has not read in each of these rooms that they are in, given how far they
/// have read; whoever has not been in a room since it was made has missed nothing. Where nothing is new,
/// the head of the room tells so, and no message is read.
pub(super) async fn unread(
    ground: &Ground,
    caller: &Caller,
    rooms: &[(RoomId, Option<u64>)],
) -> Result<Vec<u64>, Failure> {
    let ids: Vec<RoomId> = rooms.iter().map(|(room, _)| room.clone()).collect();
    let heads = ground.core().room_heads(&ids).get().await?;
    let news = rooms.iter().zip(heads).map(|((_, read), head)| {
        let newest = head.map_or(0, |head| head.seq);
        read.filter(|read| *read < newest)
    });
    let news: Vec<Option<u64>> = news.collect();
    let looked_max = LOOKED_MAX / news.iter().flatten().count().max(1);
    let each = rooms.iter().zip(news).map(async |((room, _), read)| match read {
        Some(read) => in_room(ground, caller, room, read, looked_max).await,
        None => Ok(0),
    });
    try_join_all(each).await
}

async fn in_room(
    ground: &Ground,
    caller: &Caller,
    room: &RoomId,
    read: u64,
    looked_max: usize,
) -> Result<u64, Failure> {
    let (mut unread, mut looked, mut after) = (0, 0, None);
    loop {
        let listing = ground.core().messages(room, Span::ALL).limit(LOOK).after(after.take());
        let page = listing.page().await?;
        let found = page.items.len();
        looked += found;
        let newer: Vec<_> = page.items.into_iter().take_while(|it| it.seq > read).collect();
        let is_end = newer.len() < found || page.next.is_none() || looked >= looked_max;
        unread += seen(ground, caller, newer).await?.into_iter().flatten().count() as u64;
        if is_end || unread >= UNREAD_MAX {
            return Ok(unread.min(UNREAD_MAX));
        }
        after = page.next;
    }
}
