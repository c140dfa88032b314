//! Rooms as those who are in them see them: each room, all of somebody's, and who is in.

use futures::future::{try_join, try_join_all};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Room, RoomMember};
use roundtable_model::{RoomId, UserId};

use super::unread::unread;
use super::{RoomError, Rooms, Seat};
use crate::pages::{PAGE_ITEMS_MAX, fill};
use crate::{Caller, Failure, Page, PageInput};

/// A room as somebody who is in it sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomView {
    /// The room.
    pub room: Room,
    /// How many messages the viewer has not read, a thousand at the most; fewer in a list of many rooms
    /// that each have many.
    pub unread_count: u64,
}

#[boxed]
impl Rooms {
    /// A room the caller is in (R28).
    pub async fn room(&self, caller: &Caller, id: &RoomId) -> Result<RoomView, RoomError> {
        let me = self.ground.reader(caller).await?.id;
        let seat = Seat::of(&self.ground, &me, id).await?;
        let views = self.views(caller, vec![seat]).await?;
        views.into_iter().next().ok_or(RoomError::NoSuchRoom)
    }

    /// The rooms the caller is in, the one they came to last first (R28).
    pub async fn mine(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<RoomView>, RoomError> {
        let me = self.ground.reader(caller).await?.id;
        let core = self.ground.core();
        fill(
            page,
            async |limit, after| core.rooms_of(&me).limit(limit).after(after).page().await,
            async |listed: Vec<RoomMember>| {
                let ids: Vec<RoomId> = listed.iter().map(|member| member.room_id.clone()).collect();
                // The index may be behind: whether the caller is in is read again.
                self.entered(caller, &me, &ids).await
            },
        )
        .await
    }

    /// Several rooms, each in its place; `None` where the caller is not in.
    pub async fn rooms(
        &self,
        caller: &Caller,
        ids: &[RoomId],
    ) -> Result<Vec<Option<RoomView>>, RoomError> {
        let me = self.ground.reader(caller).await?.id;
        self.entered(caller, &me, ids).await
    }

    async fn entered(
        &self,
        caller: &Caller,
        me: &UserId,
        ids: &[RoomId],
    ) -> Result<Vec<Option<RoomView>>, RoomError> {
        let seats = self.seats(me, ids).await?;
        let taken: Vec<bool> = seats.iter().map(Option::is_some).collect();
        let views = self.views(caller, seats.into_iter().flatten().collect()).await?;
        let mut views = views.into_iter();
        Ok(taken.into_iter().map(|is| if is { views.next() } else { None }).collect())
    }

    /// Who is in rooms that the caller is in, as far as they may see them: the first hundred of each, and
    /// nobody where the caller is not in. Members of several rooms are not found by one question, so all
    /// are asked at once.
    pub async fn member_ids(
        &self,
        caller: &Caller,
        rooms: &[RoomId],
    ) -> Result<Vec<Vec<UserId>>, RoomError> {
        let me = self.ground.reader(caller).await?.id;
        let core = self.ground.core();
        let listings =
            rooms.iter().map(|room| core.room_members(room).strong().limit(PAGE_ITEMS_MAX).page());
        let listings = async { Ok(try_join_all(listings).await?) };
        let (seats, mut found) = try_join(self.seats(&me, rooms), listings).await?;
        for (page, seat) in found.iter_mut().zip(&seats) {
            if seat.is_none() {
                page.items.clear();
            }
        }
        let members = found.iter().flat_map(|page| &page.items);
        let people: Vec<&UserId> = members.map(|member| &member.user_id).collect();
        let viewer = Caller::user(me);
        let sight = self.ground.sight(Some(&viewer), people, []).await?;
        let seen = |member: RoomMember| {
            sight.person(&member.user_id)?;
            Some(member.user_id)
        };
        let each = found.into_iter().map(|page| page.items.into_iter().filter_map(seen).collect());
        Ok(each.collect())
    }

    /// Who is in a room that the caller is in, as far as they may see them.
    pub async fn members(
        &self,
        caller: &Caller,
        room: &RoomId,
        page: &PageInput,
    ) -> Result<Page<RoomMember>, RoomError> {
        let me = self.ground.reader(caller).await?.id;
        Seat::of(&self.ground, &me, room).await?;
        fill(
            page,
            async |limit, after| {
                self.ground
                    .core()
                    .room_members(room)
                    .strong()
                    .limit(limit)
                    .after(after)
                    .page()
                    .await
            },
            async |members: Vec<RoomMember>| {
                let people = members.iter().map(|member| &member.user_id);
                // Staff see whom anybody would: their sight is for their work.
                let viewer = Caller::user(me.clone());
                let sight = self.ground.sight(Some(&viewer), people, []).await?;
                let shown = |member: RoomMember| {
                    sight.person(&member.user_id)?;
                    // How far others have read is theirs to know.
                    let read_seq = if member.user_id == me { member.read_seq } else { 0 };
                    Some(RoomMember { read_seq, ..member })
                };
                Ok(members.into_iter().map(shown).collect())
            },
        )
        .await
    }

    /// The caller's seats in some rooms; `None` where they have none.
    async fn seats(&self, me: &UserId, ids: &[RoomId]) -> Result<Vec<Option<Seat>>, RoomError> {
        let seats = Seat::among(&self.ground, me, ids).await?;
        Ok(ids.iter().map(|id| seats.get(id).cloned()).collect())
    }

    async fn views(&self, caller: &Caller, seats: Vec<Seat>) -> Result<Vec<RoomView>, Failure> {
        let read = |seat: &Seat| (seat.room.id.clone(), seat.mine.as_ref().map(|it| it.read_seq));
        let rooms: Vec<_> = seats.iter().map(read).collect();
        let unread = unread(&self.ground, caller, &rooms).await?;
        let views = seats.into_iter().zip(unread);
        Ok(views.map(|(seat, unread_count)| RoomView { room: seat.room, unread_count }).collect())
    }
}
