//! Follows: requesting, accepting and unfollowing, and the settings of a follow.

mod edge;
mod reads;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Follow, User};
use roundtable_model::table::Write;
use roundtable_model::{Entity, FollowStatus, RequestId, UserId, rekey};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows};
use crate::account::is_active;
use crate::circle::raise_circle_version;
use crate::contact::unblocked_checks;
use crate::idempotency::RemovedEntity;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::mutes::mute_of_followee;
use crate::{Caller, Context, ServiceError, ViewerAccess, refusals};

use edge::{activate, change_follower_count, new_edge};
pub(crate) use edge::{active_since, follow_count, removal_without_circle, removal_writes};

refusals! {
    FollowError {
        Yourself: BadRequest = "you cannot follow yourself",
        NoSuchUser: NotFound = "there is no such user",
        NotFollowing: NotFound = "you do not follow this user",
        NoSuchRequest: NotFound = "this user neither follows you nor has requested to",
    }
}

#[derive(Clone, Debug)]
pub struct Follows {
    context: Context,
}

#[derive(Debug, Serialize, Deserialize)]
enum FollowOutcome {
    Edge { follower: UserId, followee: UserId },
    Removed(RemovedEntity<Follow>),
}

#[boxed]
impl Follows {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Follows a user, or requests to if their account is private. Repeating it has no effect,
    /// except that a pending request becomes a follow once the account is no longer private.
    pub async fn follow(
        &self,
        caller: &Caller,
        followee: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let mutation = self.context.mutation(caller).await?;
        if mutation.account.id == *followee {
            return Err(FollowError::Yourself);
        }
        mutation
            .once("followUser", followee, request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| {
                let access = self.context.viewer_access_of(caller, &me, [followee], []).await?;
                let them = may_follow(&access, followee)?;
                match access.follow_of(followee) {
                    None => {
                        let edge = new_edge(&self.context, &me, them).await?;
                        let write = edge.create().into();
                        self.write_follow(edge, write, them, attempt).await
                    }
                    Some(requested) if !them.is_private && follow_count(requested) == 0 => {
                        let edge = activate(&self.context, requested).await?;
                        let write = rekey(requested, &edge)?.into();
                        self.write_follow(edge, write, them, attempt).await
                    }
                    Some(edge) => attempt.unchanged(FollowOutcome::of(edge), edge.clone()).await,
                }
            })
            .await
    }

    /// Writes a follow with its counters, on the condition that the followee is active and as
    /// private as when the decision was made.
    async fn write_follow(
        &self,
        edge: Follow,
        write: Write,
        them: &User,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Follow>, FollowError> {
        let (now, me) = (self.context.now(), &edge.follower_id);
        let same = is_active().and(User::IS_PRIVATE.is(&them.is_private));
        // The circle's version is not checked: every action of the follower raises it, and of a
        // hundred concurrent follows only one would succeed.
        let mut commit = attempt
            .commit()
            .with("edge", write)
            .with("user", them.key().check(same))
            .with_all("block", unblocked_checks(me, &them.id));
        if follow_count(&edge) != 0 {
            commit = commit
                .with("circle", raise_circle_version(me, follow_count(&edge), now))
                .with("followers", change_follower_count(&edge, follow_count(&edge), now));
        }
        commit.finish(FollowOutcome::of(&edge), edge).await
    }

    /// Removes a follow or a request for one, and returns it.
    pub async fn unfollow(
        &self,
        caller: &Caller,
        followee: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("unfollowUser", followee, request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| {
                let edge = self.edge(&me.id, followee).await?;
                let edge = edge.ok_or(FollowError::NotFollowing)?;
                self.remove(edge, attempt).await
            })
            .await
    }

    /// Accepts a follow request.
    pub async fn accept(
        &self,
        caller: &Caller,
        follower: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("acceptFollower", follower, request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| {
                let edge = self.edge(follower, &me.id).await?;
                let edge = edge.ok_or(FollowError::NoSuchRequest)?;
                if edge.status == FollowStatus::Active {
                    return attempt.unchanged(FollowOutcome::of(&edge), edge).await;
                }
                let now = self.context.now();
                let accepted = activate(&self.context, &edge).await?;
                attempt
                    .commit()
                    .with("edge", rekey(&edge, &accepted)?)
                    .with("circle", raise_circle_version(follower, 1, now))
                    .with("followers", change_follower_count(&accepted, 1, now))
                    .finish(FollowOutcome::of(&accepted), accepted)
                    .await
            })
            .await
            .map(|edge| reads::redacted(Some(caller), edge))
    }

    /// Rejects a follow request or removes a follower.
    pub async fn reject(
        &self,
        caller: &Caller,
        follower: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("rejectFollower", follower, request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| {
                let edge = self.edge(follower, &me.id).await?;
                let edge = edge.ok_or(FollowError::NoSuchRequest)?;
                self.remove(edge, attempt).await
            })
            .await
            .map(|edge| reads::redacted(Some(caller), edge))
    }

    /// Mutes a followee without end, or ends the mute; switches notifications about them; or asks for
    /// notifications of their new posts. `None` leaves a setting as it is.
    pub async fn update(
        &self,
        caller: &Caller,
        followee: &UserId,
        muted: Option<bool>,
        notification_enabled: Option<bool>,
        notify_posts: Option<bool>,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let mutation = self.context.mutation(caller).await?;
        let input = (followee, muted, notification_enabled, notify_posts);
        mutation
            .once("updateFollow", &input, request)?
            .replay(|outcome| self.replayed(outcome))
            .run(async |me, attempt| {
                let edge = self.edge(&me.id, followee).await?;
                let mut changed = edge.ok_or(FollowError::NotFollowing)?;
                // Writes only what was given: another device may be changing the other setting.
                let mut patch = changed.key().patch();
                let mut commit = attempt.commit();
                if let Some(muted) = muted {
                    let now = self.context.now();
                    commit = commit
                        .with("mute", mute_of_followee(&changed, muted, now))
                        .with("circle", raise_circle_version(&me.id, 0, now));
                    changed.muted = false;
                    patch = patch.set(Follow::MUTED, &false);
                }
                if let Some(enabled) = notification_enabled {
                    changed.notification_enabled = enabled;
                    patch = patch.set(Follow::NOTIFICATION_ENABLED, &enabled);
                }
                if let Some(notify) = notify_posts {
                    changed.notify_posts = Some(notify);
                    patch = patch.set(Follow::NOTIFY_POSTS, &changed.notify_posts);
                    let now = self.context.now();
                    commit = commit.with("watch", edge::watch_write(&changed, notify, now));
                }
                if muted.is_some() || notification_enabled.is_some() || notify_posts.is_some() {
                    commit = commit.with("edge", patch);
                }
                commit.finish(FollowOutcome::of(&changed), changed).await
            })
            .await
    }

    async fn edge(
        &self,
        follower: &UserId,
        followee: &UserId,
    ) -> Result<Option<Follow>, ServiceError> {
        Ok(self.context.core().follows(follower, followee).get().await?)
    }

    /// Removes a follow with its counters.
    async fn remove(
        &self,
        edge: Follow,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Follow>, FollowError> {
        let outcome = FollowOutcome::Removed(RemovedEntity(edge.clone()));
        let writes = removal_writes(&edge, self.context.now());
        attempt.commit().with_named(writes).finish(outcome, edge).await
    }

    /// Returns the follow as it is now; a removed one as it was.
    async fn replayed(&self, outcome: FollowOutcome) -> Result<Follow, FollowError> {
        match outcome {
            FollowOutcome::Removed(RemovedEntity(edge)) => Ok(edge),
            FollowOutcome::Edge { follower, followee } => {
                self.edge(&follower, &followee).await?.ok_or(FollowError::NotFollowing)
            }
        }
    }
}

impl FollowOutcome {
    fn of(edge: &Follow) -> Self {
        Self::Edge { follower: edge.follower_id.clone(), followee: edge.followee_id.clone() }
    }
}

/// Returns the profile of a user the caller may follow.
fn may_follow<'a>(access: &'a ViewerAccess, user: &UserId) -> Result<&'a User, FollowError> {
    let person = access.addressable(user);
    let relations = Relations::SIGNED_IN.with_if(person.is_some(), Relations::CAN_SEE);
    person.filter(|_| allows(Permission::Follow, relations)).ok_or(FollowError::NoSuchUser)
}
