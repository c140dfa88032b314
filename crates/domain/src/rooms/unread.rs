//! Unread messages: those newer than the last one read that exist and are visible. They are counted
//! on demand, so expired and purged messages drop out.

use futures::future::try_join_all;
use roundtable_model::{RoomId, Span};

use super::visible_messages;
use crate::{Caller, Context, ServiceError};

/// The highest count reported.
const UNREAD_MAX: u64 = 1_000;
const BATCH: usize = 100;
/// Messages read for one request, over all rooms: a blocked user may have sent any number. Rooms
/// with new messages share it equally, each with at least one batch.
const SCANNED_MAX: usize = 10_000;

/// Counts unread messages in each of these rooms, given the caller's read positions. A member who
/// has not opened the room since it was created has none. Without new messages the room's head says
/// so and no message is read.
pub(super) async fn unread(
    context: &Context,
    caller: &Caller,
    rooms: &[(RoomId, Option<u64>)],
) -> Result<Vec<u64>, ServiceError> {
    let ids: Vec<RoomId> = rooms.iter().map(|(room, _)| room.clone()).collect();
    let heads = context.core().room_heads(&ids).get().await?;
    let read_positions = rooms.iter().zip(heads).map(|((_, read), head)| {
        let newest = head.map_or(0, |head| head.seq);
        read.filter(|read| *read < newest)
    });
    let read_positions: Vec<Option<u64>> = read_positions.collect();
    let scanned_max = SCANNED_MAX / read_positions.iter().flatten().count().max(1);
    let each = rooms.iter().zip(read_positions).map(async |((room, _), read)| match read {
        Some(read) => in_room(context, caller, room, read, scanned_max).await,
        None => Ok(0),
    });
    try_join_all(each).await
}

async fn in_room(
    context: &Context,
    caller: &Caller,
    room: &RoomId,
    read: u64,
    scanned_max: usize,
) -> Result<u64, ServiceError> {
    let (mut unread, mut scanned, mut after) = (0, 0, None);
    loop {
        let listing = context.core().messages(room, Span::ALL).limit(BATCH).after(after.take());
        let page = listing.page().await?;
        let found = page.items.len();
        scanned += found;
        let newer: Vec<_> = page.items.into_iter().take_while(|it| it.seq > read).collect();
        let is_end = newer.len() < found || page.next.is_none() || scanned >= scanned_max;
        unread +=
            visible_messages(context, caller, newer).await?.into_iter().flatten().count() as u64;
        if is_end || unread >= UNREAD_MAX {
            return Ok(unread.min(UNREAD_MAX));
        }
        after = page.next;
    }
}
