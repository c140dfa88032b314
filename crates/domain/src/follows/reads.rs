//! Reads of follows, as far as the viewer may see them (R22).

use std::collections::HashSet;

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Follow, User};
use roundtable_model::{Day, Days, FollowStatus, UserId};

use super::{FollowError, Follows};
use crate::pages::fill_page;
use crate::{Caller, Page, PageInput};

#[boxed]
impl Follows {
    /// Returns whether one user follows the other, if the viewer may see the list of either.
    pub async fn is_following(
        &self,
        viewer: Option<&Caller>,
        follower: &UserId,
        followee: &UserId,
    ) -> Result<bool, FollowError> {
        let access = self.context.viewer_access(viewer, [follower, followee], []).await?;
        let both =
            access.visible_user(follower).is_some() && access.visible_user(followee).is_some();
        if !both || !(access.can_see_inside_user(follower) || access.can_see_inside_user(followee))
        {
            return Ok(false);
        }
        let edge = self.edge(follower, followee).await?;
        Ok(edge.is_some_and(|edge| edge.status == FollowStatus::Active))
    }

    /// Returns, for each of `users`, whether they follow the caller.
    pub async fn followed_by(
        &self,
        caller: &Caller,
        users: &[UserId],
    ) -> Result<Vec<bool>, FollowError> {
        let me = &caller.user_id;
        let (access, edges) =
            try_join(self.context.viewer_access(Some(caller), users, []), self.edges(users, me))
                .await?;
        let followers: HashSet<UserId> = edges
            .into_iter()
            .filter(|edge| edge.status == FollowStatus::Active)
            .map(|edge| edge.follower_id)
            .collect();
        let mine = access.can_see_inside_user(me);
        let visible = |user: &UserId| mine && access.visible_user(user).is_some();
        Ok(users.iter().map(|user| followers.contains(user) && visible(user)).collect())
    }

    /// Returns, for each of `users`, whether the caller is an accepted follower.
    pub async fn followed(
        &self,
        caller: &Caller,
        users: &[UserId],
    ) -> Result<Vec<bool>, FollowError> {
        let access = self.context.viewer_access(Some(caller), users, []).await?;
        let followed = |user: &UserId| access.follows(user) && access.visible_user(user).is_some();
        Ok(users.iter().map(followed).collect())
    }

    /// Returns follows by follower and followee, in the order given. The two users also see pending
    /// requests; others see a follow if they may see the lists of one of them.
    pub async fn among(
        &self,
        viewer: Option<&Caller>,
        ends: &[(UserId, UserId)],
    ) -> Result<Vec<Option<Follow>>, FollowError> {
        let item_keys = ends.iter().map(|(follower, followee)| Follow::at(follower, followee));
        let edges = self.context.items_at("follows", item_keys);
        let people = ends.iter().flat_map(|(follower, followee)| [follower, followee]);
        let access = self.context.viewer_access(viewer, people, []);
        let (edges, access) = try_join(edges, access).await?;
        let is_visible = |edge: &Follow| {
            let ends = [&edge.follower_id, &edge.followee_id];
            let is_mine = viewer.is_some_and(|viewer| ends.contains(&&viewer.user_id));
            let is_listed = edge.status == FollowStatus::Active
                && ends.iter().any(|end| access.can_see_inside_user(end));
            ends.iter().all(|end| access.visible_user(end).is_some()) && (is_mine || is_listed)
        };
        let edges = edges.into_iter().map(|edge| edge.filter(is_visible));
        Ok(edges.map(|edge| Some(redacted(viewer, edge?))).collect())
    }

    /// Returns the users a user follows, if the viewer may see the profile.
    pub async fn following(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<Follow>, FollowError> {
        self.require_visible_lists(viewer, user).await?;
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().following(user).limit(limit).after(after);
                listing.filter_by(Follow::STATUS, &FollowStatus::Active).page().await
            },
            async |edges| self.filter_visible(viewer, edges, |edge| &edge.followee_id).await,
        )
        .await
    }

    /// Returns a user's followers, if the viewer may see the profile.
    pub async fn followers(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<Follow>, FollowError> {
        let shards = self.require_visible_lists(viewer, user).await?.follower_shards;
        fill_page(
            page,
            async |limit, after| {
                self.context.core().followers(user, shards).limit(limit).after(after).page().await
            },
            async |edges| self.filter_visible(viewer, edges, |edge| &edge.follower_id).await,
        )
        .await
    }

    /// Returns the pending requests to follow the caller.
    pub async fn requests(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<Follow>, FollowError> {
        let me = self.context.authorize_read(caller).await?;
        fill_page(
            page,
            async |limit, after| {
                self.context.core().follow_requests(&me.id).limit(limit).after(after).page().await
            },
            async |edges| self.filter_visible(Some(caller), edges, |edge| &edge.follower_id).await,
        )
        .await
    }

    /// Returns the follows of a day between users whose profiles the viewer may see.
    pub async fn activity_of(
        &self,
        viewer: Option<&Caller>,
        day: Day,
        page: &PageInput,
    ) -> Result<Page<Follow>, FollowError> {
        let shards = self.context.settings().shards.follows.0;
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().follow_activity(Days::only(day), shards);
                listing.limit(limit).after(after).page().await
            },
            async |edges: Vec<Follow>| {
                let ends = edges.iter().flat_map(|edge| [&edge.follower_id, &edge.followee_id]);
                let access = self.context.viewer_access(viewer, ends, []).await?;
                let visible = |edge: &Follow| {
                    access.can_see_inside_user(&edge.follower_id)
                        && access.can_see_inside_user(&edge.followee_id)
                };
                let each = edges.into_iter();
                Ok(each.map(|edge| visible(&edge).then(|| redacted(viewer, edge))).collect())
            },
        )
        .await
    }

    /// Reads the follows of one user by several; each is stored with its follower.
    async fn edges(
        &self,
        followers: &[UserId],
        followee: &UserId,
    ) -> roundtable_model::Result<Vec<Follow>> {
        let item_keys = followers.iter().map(|follower| Follow::at(follower, followee));
        Ok(self.context.items_at("follows", item_keys).await?.into_iter().flatten().collect())
    }

    /// Returns the profile of a user whose lists the viewer may see.
    async fn require_visible_lists(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
    ) -> Result<User, FollowError> {
        let access = self.context.viewer_access(viewer, [user], []).await?;
        let person = access.visible_user(user).filter(|_| access.can_see_inside_user(user));
        person.cloned().ok_or(FollowError::NoSuchUser)
    }

    /// Keeps the follows whose other end the viewer may see.
    async fn filter_visible(
        &self,
        viewer: Option<&Caller>,
        edges: Vec<Follow>,
        end: impl Fn(&Follow) -> &UserId,
    ) -> Result<Vec<Option<Follow>>, FollowError> {
        let access = self.context.viewer_access(viewer, edges.iter().map(&end), []).await?;
        let visible = |edge: &Follow| access.visible_user(end(edge)).is_some();
        Ok(edges.into_iter().map(|edge| visible(&edge).then(|| redacted(viewer, edge))).collect())
    }
}

/// Hides the mute and notification settings from viewers other than the follower.
pub(super) fn redacted(viewer: Option<&Caller>, edge: Follow) -> Follow {
    if viewer.is_some_and(|viewer| viewer.user_id == edge.follower_id) {
        return edge;
    }
    Follow { muted: false, notification_enabled: true, notify_posts: None, ..edge }
}
