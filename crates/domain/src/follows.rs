//! Who follows whom: asking, accepting, muting, and leaving again.

mod edge;
mod reads;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Block, Follow, User};
use roundtable_model::table::Write;
use roundtable_model::{Entity, FollowStatus, RequestId, Shards, UserId, UserStatus, rekey};
use serde::{Deserialize, Serialize};

use crate::access::{Act, Standing, allows};
use crate::circle::circle;
use crate::commit::Rejected;
use crate::once::{Kept, Request, Tried};
use crate::{Caller, Failure, Ground, Sight, refusals};

use edge::{active_from_now, followers, new_edge};
pub(crate) use edge::{active_since, counted, removal, severed};

refusals! {
    /// Why a follow was not changed.
    FollowError {
        Yourself: BadRequest = "nobody can follow themselves",
        NoSuchUser: NotFound = "there is no such person",
        NotFollowing: NotFound = "you do not follow this person",
        NoSuchRequest: NotFound = "this person neither follows you nor has asked to",
    }
}

/// The follows of everybody.
#[derive(Clone, Debug)]
pub struct Follows {
    ground: Ground,
}

/// What a request led to: the edge, by its ends, or as it was when it was removed.
#[derive(Debug, Serialize, Deserialize)]
enum Outcome {
    Edge { follower: UserId, followee: UserId },
    Removed(Kept<Follow>),
}

#[boxed]
impl Follows {
    /// The follows on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Follows somebody, or asks to if their account is private. Following twice is following once;
    /// whoever has asked, and asks again when the account is no longer private, follows.
    pub async fn follow(
        &self,
        caller: &Caller,
        followee: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let me = self.ground.account(caller).await?;
        if me.id == *followee {
            return Err(FollowError::Yourself);
        }
        let request = self.ground.request(&me.id, request, "followUser", followee)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || {
                    let sight = self.ground.sight_of(caller, &me, [followee], []).await?;
                    let them = may_follow(&sight, followee)?;
                    match sight.edge(followee) {
                        None => {
                            let edge = new_edge(&self.ground, &me, them).await?;
                            let write = edge.create().into();
                            self.join(edge, write, them, request.as_ref()).await
                        }
                        Some(asked) if !them.is_private && counted(asked) == 0 => {
                            let edge = active_from_now(&self.ground, asked).await?;
                            let write = rekey(asked, &edge)?.into();
                            self.join(edge, write, them, request.as_ref()).await
                        }
                        Some(edge) => {
                            let (outcome, edge) = (Outcome::of(edge), edge.clone());
                            let request = request.as_ref();
                            Ok(self.ground.nothing_to_do(request, &outcome, edge).await?)
                        }
                    }
                },
            )
            .await
    }

    /// Writes an edge, with what it counts for, to somebody who is still there, and as private as when
    /// that was decided on.
    async fn join(
        &self,
        edge: Follow,
        write: Write,
        them: &User,
        request: Option<&Request>,
    ) -> Result<Tried<Follow>, FollowError> {
        let (now, me) = (self.ground.now(), &edge.follower_id);
        let same = User::STATUS.is(&UserStatus::Active).and(User::IS_PRIVATE.is(&them.is_private));
        // Not the version of the circle, which everything one does raises: of a hundred follows at
        // once only one would pass.
        let mut commit = self
            .ground
            .commit()
            .with("edge", write)
            .with("person", them.key().check(same))
            .with("block", Block::at(me, &them.id).absent())
            .with("block", Block::at(&them.id, me).absent());
        if counted(&edge) != 0 {
            commit = commit
                .with("circle", circle(me, counted(&edge), now))
                .with("followers", followers(&edge, counted(&edge), now));
        }
        Ok(commit.remembering(request, &Outcome::of(&edge))?.done(edge).await?)
    }

    /// Follows somebody no longer, or asks no longer; answers with the edge as it was.
    pub async fn unfollow(
        &self,
        caller: &Caller,
        followee: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "unfollowUser", followee)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || {
                    let edge = self.edge(&me.id, followee).await?;
                    let edge = edge.ok_or(FollowError::NotFollowing)?;
                    self.remove(edge, request.as_ref()).await
                },
            )
            .await
    }

    /// Lets somebody who asked follow.
    pub async fn accept(
        &self,
        caller: &Caller,
        follower: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "acceptFollower", follower)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || {
                    let edge = self.edge(follower, &me.id).await?;
                    let edge = edge.ok_or(FollowError::NoSuchRequest)?;
                    if edge.status == FollowStatus::Active {
                        let outcome = Outcome::of(&edge);
                        let request = request.as_ref();
                        return Ok(self.ground.nothing_to_do(request, &outcome, edge).await?);
                    }
                    let now = self.ground.now();
                    let accepted = active_from_now(&self.ground, &edge).await?;
                    let commit = self
                        .ground
                        .commit()
                        .with("edge", rekey(&edge, &accepted)?)
                        .with("circle", circle(follower, 1, now))
                        .with("followers", followers(&accepted, 1, now))
                        .remembering(request.as_ref(), &Outcome::of(&accepted))?;
                    Ok(commit.done(accepted).await?)
                },
            )
            .await
            .map(|edge| reads::shown(Some(caller), edge))
    }

    /// Turns somebody away who asked, or who follows.
    pub async fn reject(
        &self,
        caller: &Caller,
        follower: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "rejectFollower", follower)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || {
                    let edge = self.edge(follower, &me.id).await?;
                    let edge = edge.ok_or(FollowError::NoSuchRequest)?;
                    self.remove(edge, request.as_ref()).await
                },
            )
            .await
            .map(|edge| reads::shown(Some(caller), edge))
    }

    /// Mutes somebody one follows, or switches their notifications; what is `None` stays.
    pub async fn update(
        &self,
        caller: &Caller,
        followee: &UserId,
        muted: Option<bool>,
        notification_enabled: Option<bool>,
        request: Option<&RequestId>,
    ) -> Result<Follow, FollowError> {
        let me = self.ground.account(caller).await?;
        let input = (followee, muted, notification_enabled);
        let request = self.ground.request(&me.id, request, "updateFollow", &input)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || {
                    let edge = self.edge(&me.id, followee).await?;
                    let mut changed = edge.ok_or(FollowError::NotFollowing)?;
                    // Only what was given: another device may be changing the other one.
                    let mut patch = changed.key().patch();
                    let mut commit = self.ground.commit();
                    if let Some(muted) = muted {
                        changed.muted = muted;
                        patch = patch.set(Follow::MUTED, &muted);
                        commit = commit.with("circle", circle(&me.id, 0, self.ground.now()));
                    }
                    if let Some(enabled) = notification_enabled {
                        changed.notification_enabled = enabled;
                        patch = patch.set(Follow::NOTIFICATION_ENABLED, &enabled);
                    }
                    if muted.is_some() || notification_enabled.is_some() {
                        commit = commit.with("edge", patch);
                    }
                    let commit = commit.remembering(request.as_ref(), &Outcome::of(&changed))?;
                    Ok(commit.done(changed).await?)
                },
            )
            .await
    }

    /// Spreads the followers of a large account over more partitions, while it is in use. Follows made
    /// before stay where they are: every one knows its shard.
    pub async fn grow_shards(&self, user: &UserId, shards: Shards) -> Result<(), FollowError> {
        let fewer = User::FOLLOWER_SHARDS.at_most(&shards);
        let patch = User::at(user).patch().set(User::FOLLOWER_SHARDS, &shards).when(fewer);
        match self.ground.commit().with("user", patch).run().await {
            // Somebody else has grown them further, or the account is gone.
            Ok(()) | Err(Rejected::Refused(_)) => Ok(()),
            Err(Rejected::Failed(failure)) => Err(failure.into()),
        }
    }

    async fn edge(&self, follower: &UserId, followee: &UserId) -> Result<Option<Follow>, Failure> {
        Ok(self.ground.core().follows(follower, followee).get().await?)
    }

    /// Takes an edge away, with what it counts for.
    async fn remove(
        &self,
        edge: Follow,
        request: Option<&Request>,
    ) -> Result<Tried<Follow>, FollowError> {
        let outcome = Outcome::Removed(Kept(edge.clone()));
        let mut commit = self.ground.commit();
        for (name, write) in removal(&edge, self.ground.now()) {
            commit = commit.with(name, write);
        }
        Ok(commit.remembering(request, &outcome)?.done(edge).await?)
    }

    /// An edge as it is now; one that was removed, as it was.
    async fn replayed(&self, outcome: Outcome) -> Result<Follow, FollowError> {
        match outcome {
            Outcome::Removed(Kept(edge)) => Ok(edge),
            Outcome::Edge { follower, followee } => {
                self.edge(&follower, &followee).await?.ok_or(FollowError::NotFollowing)
            }
        }
    }
}

impl Outcome {
    fn of(edge: &Follow) -> Self {
        Self::Edge { follower: edge.follower_id.clone(), followee: edge.followee_id.clone() }
    }
}

/// The profile of somebody the caller may follow. Staff see who is suspended, or has blocked them, but
/// can follow neither.
fn may_follow<'a>(sight: &'a Sight, user: &UserId) -> Result<&'a User, FollowError> {
    let person = sight
        .person(user)
        .filter(|person| person.status == UserStatus::Active && !sight.is_blocked(user));
    let standing = Standing::SIGNED_IN.and_if(person.is_some(), Standing::SEES);
    person.filter(|_| allows(Act::Follow, standing)).ok_or(FollowError::NoSuchUser)
}
