//! Follows: requesting, accepting, muting and unfollowing.

mod edge;
mod reads;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Block, Follow, User};
use roundtable_model::table::Write;
use roundtable_model::{Entity, FollowStatus, RequestId, Shards, UserId, UserStatus, rekey};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows};
use crate::circle::raise_circle_version;
use crate::commit::CommitError;
use crate::idempotency::{AttemptOutcome, IdempotentRequest, RemovedEntity};
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
        let me = self.context.authorize_write(caller).await?;
        if me.id == *followee {
            return Err(FollowError::Yourself);
        }
        let request = self.context.idempotent_request(&me.id, request, "followUser", followee)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: FollowOutcome| self.replayed(outcome).await,
                async || {
                    let access = self.context.viewer_access_of(caller, &me, [followee], []).await?;
                    let them = may_follow(&access, followee)?;
                    match access.follow_of(followee) {
                        None => {
                            let edge = new_edge(&self.context, &me, them).await?;
                            let write = edge.create().into();
                            self.write_follow(edge, write, them, request.as_ref()).await
                        }
                        Some(requested) if !them.is_private && follow_count(requested) == 0 => {
                            let edge = activate(&self.context, requested).await?;
                            let write = rekey(requested, &edge)?.into();
                            self.write_follow(edge, write, them, request.as_ref()).await
                        }
                        Some(edge) => {
                            let (outcome, edge) = (FollowOutcome::of(edge), edge.clone());
                            let request = request.as_ref();
                            Ok(self.context.finish_unchanged(request, &outcome, edge).await?)
                        }
                    }
                },
            )
            .await
    }

    /// Writes a follow with its counters, on the condition that the followee is active and as
    /// private as when the decision was made.
    async fn write_follow(
        &self,
        edge: Follow,
        write: Write,
        them: &User,
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<Follow>, FollowError> {
        let (now, me) = (self.context.now(), &edge.follower_id);
        let same = User::STATUS.is(&UserStatus::Active).and(User::IS_PRIVATE.is(&them.is_private));
        // The circle's version is not checked: every action of the follower raises it, and of a
        // hundred concurrent follows only one would succeed.
        let mut commit = self
            .context
            .commit()
            .with("edge", write)
            .with("user", them.key().check(same))
            .with("block", Block::at(me, &them.id).absent())
            .with("block", Block::at(&them.id, me).absent());
        if follow_count(&edge) != 0 {
            commit = commit
                .with("circle", raise_circle_version(me, follow_count(&edge), now))
                .with("followers", change_follower_count(&edge, follow_count(&edge), now));
        }
        Ok(commit.recording(request, &FollowOutcome::of(&edge))?.finish(edge).await?)
    }

    /// Removes a follow or a request for one, and returns it.
    pub async fn unfollow(
        &self,
        caller: &Caller,
        followee: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let me = self.context.authorize_write(caller).await?;
        let request = self.context.idempotent_request(&me.id, request, "unfollowUser", followee)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: FollowOutcome| self.replayed(outcome).await,
                async || {
                    let edge = self.edge(&me.id, followee).await?;
                    let edge = edge.ok_or(FollowError::NotFollowing)?;
                    self.remove(edge, request.as_ref()).await
                },
            )
            .await
    }

    /// Accepts a follow request.
    pub async fn accept(
        &self,
        caller: &Caller,
        follower: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let me = self.context.authorize_write(caller).await?;
        let request =
            self.context.idempotent_request(&me.id, request, "acceptFollower", follower)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: FollowOutcome| self.replayed(outcome).await,
                async || {
                    let edge = self.edge(follower, &me.id).await?;
                    let edge = edge.ok_or(FollowError::NoSuchRequest)?;
                    if edge.status == FollowStatus::Active {
                        let outcome = FollowOutcome::of(&edge);
                        let request = request.as_ref();
                        return Ok(self.context.finish_unchanged(request, &outcome, edge).await?);
                    }
                    let now = self.context.now();
                    let accepted = activate(&self.context, &edge).await?;
                    let commit = self
                        .context
                        .commit()
                        .with("edge", rekey(&edge, &accepted)?)
                        .with("circle", raise_circle_version(follower, 1, now))
                        .with("followers", change_follower_count(&accepted, 1, now))
                        .recording(request.as_ref(), &FollowOutcome::of(&accepted))?;
                    Ok(commit.finish(accepted).await?)
                },
            )
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
        let me = self.context.authorize_write(caller).await?;
        let request =
            self.context.idempotent_request(&me.id, request, "rejectFollower", follower)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: FollowOutcome| self.replayed(outcome).await,
                async || {
                    let edge = self.edge(follower, &me.id).await?;
                    let edge = edge.ok_or(FollowError::NoSuchRequest)?;
                    self.remove(edge, request.as_ref()).await
                },
            )
            .await
            .map(|edge| reads::redacted(Some(caller), edge))
    }

    /// Mutes a followee or switches their notifications; `None` leaves a setting as it is.
    pub async fn update(
        &self,
        caller: &Caller,
        followee: &UserId,
        muted: Option<bool>,
        notification_enabled: Option<bool>,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let me = self.context.authorize_write(caller).await?;
        let input = (followee, muted, notification_enabled);
        let request = self.context.idempotent_request(&me.id, request, "updateFollow", &input)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: FollowOutcome| self.replayed(outcome).await,
                async || {
                    let edge = self.edge(&me.id, followee).await?;
                    let mut changed = edge.ok_or(FollowError::NotFollowing)?;
                    // Writes only what was given: another device may be changing the other setting.
                    let mut patch = changed.key().patch();
                    let mut commit = self.context.commit();
                    if let Some(muted) = muted {
                        changed.muted = muted;
                        patch = patch.set(Follow::MUTED, &muted);
                        commit = commit
                            .with("circle", raise_circle_version(&me.id, 0, self.context.now()));
                    }
                    if let Some(enabled) = notification_enabled {
                        changed.notification_enabled = enabled;
                        patch = patch.set(Follow::NOTIFICATION_ENABLED, &enabled);
                    }
                    if muted.is_some() || notification_enabled.is_some() {
                        commit = commit.with("edge", patch);
                    }
                    let commit =
                        commit.recording(request.as_ref(), &FollowOutcome::of(&changed))?;
                    Ok(commit.finish(changed).await?)
                },
            )
            .await
    }

    /// Spreads the followers of a large account over more partitions, while it is in use. Existing
    /// follows stay where they are: each stores its shard.
    pub async fn grow_shards(&self, user: &UserId, shards: Shards) -> Result<(), FollowError> {
        let fewer = User::FOLLOWER_SHARDS.at_most(&shards);
        let patch = User::at(user).patch().set(User::FOLLOWER_SHARDS, &shards).when(fewer);
        match self.context.commit().with("user", patch).run().await {
            // They have been grown further concurrently, or the account is gone.
            Ok(()) | Err(CommitError::ConditionsFailed(_)) => Ok(()),
            Err(CommitError::Failed(failure)) => Err(failure.into()),
        }
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
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<Follow>, FollowError> {
        let outcome = FollowOutcome::Removed(RemovedEntity(edge.clone()));
        let mut commit = self.context.commit();
        for (name, write) in removal_writes(&edge, self.context.now()) {
            commit = commit.with(name, write);
        }
        Ok(commit.recording(request, &outcome)?.finish(edge).await?)
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

/// Returns the profile of a user the caller may follow. Staff also see users who are suspended or
/// have blocked them, but cannot follow them.
fn may_follow<'a>(access: &'a ViewerAccess, user: &UserId) -> Result<&'a User, FollowError> {
    let person = access
        .visible_user(user)
        .filter(|person| person.status == UserStatus::Active && !access.is_blocked(user));
    let relations = Relations::SIGNED_IN.with_if(person.is_some(), Relations::CAN_SEE);
    person.filter(|_| allows(Permission::Follow, relations)).ok_or(FollowError::NoSuchUser)
}
