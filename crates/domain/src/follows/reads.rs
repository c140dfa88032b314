//! Who follows whom, as far as each viewer may see it (R22).

use std::collections::HashSet;

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Follow, User};
use roundtable_model::{Day, Days, FollowStatus, UserId};

use super::{FollowError, Follows};
use crate::pages::fill;
use crate::{Caller, Page, PageInput};

#[boxed]
impl Follows {
    /// Whether one follows the other, as far as the viewer may know: as the list of either tells.
    pub async fn is_following(
        &self,
        viewer: Option<&Caller>,
        follower: &UserId,
        followee: &UserId,
    ) -> Result<bool, FollowError> {
        let sight = self.ground.sight(viewer, [follower, followee], []).await?;
        let both = sight.person(follower).is_some() && sight.person(followee).is_some();
        if !both || !(sight.sees_inside(follower) || sight.sees_inside(followee)) {
            return Ok(false);
        }
        let edge = self.edge(follower, followee).await?;
        Ok(edge.is_some_and(|edge| edge.status == FollowStatus::Active))
    }

    /// Which of these people follow the caller, each in its place.
    pub async fn followed_by(
        &self,
        caller: &Caller,
        users: &[UserId],
    ) -> Result<Vec<bool>, FollowError> {
        let me = &caller.user_id;
        let (sight, edges) =
            try_join(self.ground.sight(Some(caller), users, []), self.edges(users, me)).await?;
        let followers: HashSet<UserId> = edges
            .into_iter()
            .filter(|edge| edge.status == FollowStatus::Active)
            .map(|edge| edge.follower_id)
            .collect();
        let mine = sight.sees_inside(me);
        let seen = |user: &UserId| mine && sight.person(user).is_some();
        Ok(users.iter().map(|user| followers.contains(user) && seen(user)).collect())
    }

    /// Which of these people the caller follows, and was accepted by, each in its place.
    pub async fn followed(
        &self,
        caller: &Caller,
        users: &[UserId],
    ) -> Result<Vec<bool>, FollowError> {
        let sight = self.ground.sight(Some(caller), users, []).await?;
        let followed = |user: &UserId| sight.follows(user) && sight.person(user).is_some();
        Ok(users.iter().map(followed).collect())
    }

    /// Follows by their ends, each in its place: requests for those at either end, and what holds for
    /// whoever may see the lists of one of them.
    pub async fn among(
        &self,
        viewer: Option<&Caller>,
        ends: &[(UserId, UserId)],
    ) -> Result<Vec<Option<Follow>>, FollowError> {
        let places = ends.iter().map(|(follower, followee)| Follow::at(follower, followee));
        let edges = self.ground.at("follows", places);
        let people = ends.iter().flat_map(|(follower, followee)| [follower, followee]);
        let sight = self.ground.sight(viewer, people, []);
        let (edges, sight) = try_join(edges, sight).await?;
        let shows = |edge: &Follow| {
            let ends = [&edge.follower_id, &edge.followee_id];
            let is_mine = viewer.is_some_and(|viewer| ends.contains(&&viewer.user_id));
            let is_listed = edge.status == FollowStatus::Active
                && ends.iter().any(|end| sight.sees_inside(end));
            ends.iter().all(|end| sight.person(end).is_some()) && (is_mine || is_listed)
        };
        let edges = edges.into_iter().map(|edge| edge.filter(shows));
        Ok(edges.map(|edge| Some(shown(viewer, edge?))).collect())
    }

    /// Whom a person follows, for those who may see the profile.
    pub async fn following(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<Follow>, FollowError> {
        self.inside(viewer, user).await?;
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().following(user).limit(limit).after(after);
                listing.with(Follow::STATUS, &FollowStatus::Active).page().await
            },
            async |edges| self.seen(viewer, edges, |edge| &edge.followee_id).await,
        )
        .await
    }

    /// Who follows a person, for those who may see the profile.
    pub async fn followers(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        page: &PageInput,
    ) -> Result<Page<Follow>, FollowError> {
        let shards = self.inside(viewer, user).await?.follower_shards;
        fill(
            page,
            async |limit, after| {
                self.ground.core().followers(user, shards).limit(limit).after(after).page().await
            },
            async |edges| self.seen(viewer, edges, |edge| &edge.follower_id).await,
        )
        .await
    }

    /// Who has asked to follow the caller.
    pub async fn requests(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<Follow>, FollowError> {
        let me = self.ground.reader(caller).await?;
        fill(
            page,
            async |limit, after| {
                self.ground.core().follow_requests(&me.id).limit(limit).after(after).page().await
            },
            async |edges| self.seen(Some(caller), edges, |edge| &edge.follower_id).await,
        )
        .await
    }

    /// Who followed whom on a day, as far as the viewer may see both.
    pub async fn activity_of(
        &self,
        viewer: Option<&Caller>,
        day: Day,
        page: &PageInput,
    ) -> Result<Page<Follow>, FollowError> {
        let shards = self.ground.settings().shards.follows.0;
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().follow_activity(Days::only(day), shards);
                listing.limit(limit).after(after).page().await
            },
            async |edges: Vec<Follow>| {
                let ends = edges.iter().flat_map(|edge| [&edge.follower_id, &edge.followee_id]);
                let sight = self.ground.sight(viewer, ends, []).await?;
                let seen = |edge: &Follow| {
                    sight.sees_inside(&edge.follower_id) && sight.sees_inside(&edge.followee_id)
                };
                let each = edges.into_iter();
                Ok(each.map(|edge| seen(&edge).then(|| shown(viewer, edge))).collect())
            },
        )
        .await
    }

    /// The edges of these people to one. Each lies with its follower.
    async fn edges(
        &self,
        followers: &[UserId],
        followee: &UserId,
    ) -> roundtable_model::Result<Vec<Follow>> {
        let places = followers.iter().map(|follower| Follow::at(follower, followee));
        Ok(self.ground.at("follows", places).await?.into_iter().flatten().collect())
    }

    /// The profile of somebody whose lists the viewer may see.
    async fn inside(&self, viewer: Option<&Caller>, user: &UserId) -> Result<User, FollowError> {
        let sight = self.ground.sight(viewer, [user], []).await?;
        let person = sight.person(user).filter(|_| sight.sees_inside(user));
        person.cloned().ok_or(FollowError::NoSuchUser)
    }

    /// The edges whose other end the viewer may see.
    async fn seen(
        &self,
        viewer: Option<&Caller>,
        edges: Vec<Follow>,
        end: impl Fn(&Follow) -> &UserId,
    ) -> Result<Vec<Option<Follow>>, FollowError> {
        let sight = self.ground.sight(viewer, edges.iter().map(&end), []).await?;
        let seen = |edge: &Follow| sight.person(end(edge)).is_some();
        Ok(edges.into_iter().map(|edge| seen(&edge).then(|| shown(viewer, edge))).collect())
    }
}

/// A follow as the viewer is shown it: whether it is muted is the follower's to know, and nobody else's.
pub(super) fn shown(viewer: Option<&Caller>, edge: Follow) -> Follow {
    if viewer.is_some_and(|viewer| viewer.user_id == edge.follower_id) {
        return edge;
    }
    Follow { muted: false, notification_enabled: true, ..edge }
}
