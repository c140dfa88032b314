//! Reads of rooms and their members, as a member sees them.

use futures::future::{try_join, try_join_all};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Room, RoomMember};
use roundtable_model::{RoomId, UserId};

use super::unread::unread;
use super::{RoomError, RoomMembership, Rooms};
use crate::pages::{PAGE_ITEMS_MAX, fill_page};
use crate::{Caller, Page, PageInput, ServiceError};

/// A room as one of its members sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomView {
    pub room: Room,
    /// The number of unread messages, at most a thousand; in a list of many rooms with many
    /// messages each, possibly fewer.
    pub unread_count: u64,
}

#[boxed]
impl Rooms {
    /// Returns a room the caller is in (R28).
    pub async fn room(&self, caller: &Caller, id: &RoomId) -> Result<RoomView, RoomError> {
        let me = self.context.authorize_read(caller).await?.id;
        let membership = RoomMembership::of(&self.context, &me, id).await?;
        let views = self.views(caller, vec![membership]).await?;
        views.into_iter().next().ok_or(RoomError::NoSuchRoom)
    }

    /// Lists the caller's rooms, the latest joined first (R28).
    pub async fn mine(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<RoomView>, RoomError> {
        let me = self.context.authorize_read(caller).await?.id;
        let core = self.context.core();
        fill_page(
            page,
            async |limit, after| core.rooms_of(&me).limit(limit).after(after).page().await,
            async |listed: Vec<RoomMember>| {
                let ids: Vec<RoomId> = listed.iter().map(|member| member.room_id.clone()).collect();
                // The index may lag, so memberships are read again.
                self.views_of(caller, &me, &ids).await
            },
        )
        .await
    }

    /// Returns several rooms, in the same order; `None` for rooms the caller is not in.
    pub async fn rooms(
        &self,
        caller: &Caller,
        ids: &[RoomId],
    ) -> Result<Vec<Option<RoomView>>, RoomError> {
        let me = self.context.authorize_read(caller).await?.id;
        self.views_of(caller, &me, ids).await
    }

    async fn views_of(
        &self,
        caller: &Caller,
        me: &UserId,
        ids: &[RoomId],
    ) -> Result<Vec<Option<RoomView>>, RoomError> {
        let memberships = self.memberships(me, ids).await?;
        let is_member: Vec<bool> = memberships.iter().map(Option::is_some).collect();
        let views = self.views(caller, memberships.into_iter().flatten().collect()).await?;
        let mut views = views.into_iter();
        Ok(is_member.into_iter().map(|is| if is { views.next() } else { None }).collect())
    }

    /// Returns the first hundred members of each room as far as the caller may see them; none for
    /// rooms the caller is not in. No query covers several rooms, so they are read concurrently.
    pub async fn member_ids(
        &self,
        caller: &Caller,
        rooms: &[RoomId],
    ) -> Result<Vec<Vec<UserId>>, RoomError> {
        let me = self.context.authorize_read(caller).await?.id;
        let core = self.context.core();
        let listings =
            rooms.iter().map(|room| core.room_members(room).strong().limit(PAGE_ITEMS_MAX).page());
        let listings = async { Ok(try_join_all(listings).await?) };
        let (memberships, mut found) = try_join(self.memberships(&me, rooms), listings).await?;
        for (page, membership) in found.iter_mut().zip(&memberships) {
            if membership.is_none() {
                page.items.clear();
            }
        }
        let members = found.iter().flat_map(|page| &page.items);
        let people: Vec<&UserId> = members.map(|member| &member.user_id).collect();
        let viewer = Caller::user(me);
        let access = self.context.viewer_access(Some(&viewer), people, []).await?;
        let visible_id = |member: RoomMember| {
            access.visible_user(&member.user_id)?;
            Some(member.user_id)
        };
        let each =
            found.into_iter().map(|page| page.items.into_iter().filter_map(visible_id).collect());
        Ok(each.collect())
    }

    /// Lists the members of a room the caller is in, as far as they may see them.
    pub async fn members(
        &self,
        caller: &Caller,
        room: &RoomId,
        page: &PageInput,
    ) -> Result<Page<RoomMember>, RoomError> {
        let me = self.context.authorize_read(caller).await?.id;
        RoomMembership::of(&self.context, &me, room).await?;
        fill_page(
            page,
            async |limit, after| {
                self.context
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
                // Staff roles do not apply in rooms.
                let viewer = Caller::user(me.clone());
                let access = self.context.viewer_access(Some(&viewer), people, []).await?;
                let shown = |member: RoomMember| {
                    access.visible_user(&member.user_id)?;
                    // Read positions are private.
                    let read_seq = if member.user_id == me { member.read_seq } else { 0 };
                    Some(RoomMember { read_seq, ..member })
                };
                Ok(members.into_iter().map(shown).collect())
            },
        )
        .await
    }

    async fn memberships(
        &self,
        me: &UserId,
        ids: &[RoomId],
    ) -> Result<Vec<Option<RoomMembership>>, RoomError> {
        let memberships = RoomMembership::among(&self.context, me, ids).await?;
        Ok(ids.iter().map(|id| memberships.get(id).cloned()).collect())
    }

    async fn views(
        &self,
        caller: &Caller,
        memberships: Vec<RoomMembership>,
    ) -> Result<Vec<RoomView>, ServiceError> {
        let read = |membership: &RoomMembership| {
            (membership.room.id.clone(), membership.mine.as_ref().map(|it| it.read_seq))
        };
        let rooms: Vec<_> = memberships.iter().map(read).collect();
        let unread = unread(&self.context, caller, &rooms).await?;
        let views = memberships.into_iter().zip(unread);
        Ok(views
            .map(|(membership, unread_count)| RoomView { room: membership.room, unread_count })
            .collect())
    }
}
