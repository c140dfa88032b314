//! Who follows whom: asking, accepting, muting, and leaving again.

mod edge;

use roundtable_model::entities::{Block, Follow, User};
use roundtable_model::{Day, Days, Entity, FollowStatus, RequestId, Shards, UserId, rekey};
use serde::{Deserialize, Serialize};

use crate::access::{Act, Standing, allows};
use crate::circle::circle;
use crate::commit::Rejected;
use crate::once::{Kept, Request, Tried};
use crate::pages::fill;
use crate::{Caller, Failure, Ground, Page, PageInput, Sight, refusals};

pub(crate) use edge::{active_since, counted, removal, severed};
use edge::{followers, new_edge};

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

impl Follows {
    /// The follows on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Follows somebody, or asks to if their account is private. Following twice is following once.
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
                    if let Some(edge) = sight.edge(followee).cloned() {
                        let outcome = Outcome::of(&edge);
                        let request = request.as_ref();
                        return Ok(self.ground.nothing_to_do(request, &outcome, edge).await?);
                    }
                    let edge = new_edge(&self.ground, &me, them).await?;
                    let outcome = Outcome::of(&edge);
                    // Not the version of the circle, which everything one does raises: of a hundred
                    // follows at once only one would pass.
                    let mut commit = self
                        .ground
                        .commit()
                        .with("edge", edge.create())
                        .with("block", Block::at(&me.id, followee).absent())
                        .with("block", Block::at(followee, &me.id).absent());
                    if edge.status == FollowStatus::Active {
                        commit = commit
                            .with("circle", circle(&me.id, 1, edge.created_at))
                            .with("followers", followers(&edge, 1, edge.created_at));
                    }
                    let commit = commit.remembering(request.as_ref(), &outcome)?;
                    Ok(commit.done(edge).await?)
                },
            )
            .await
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
                    let since = active_since(&self.ground, &(&me.id).into(), now).await?;
                    let accepted = Follow {
                        status: FollowStatus::Active,
                        active_since: Some(since),
                        ..edge.clone()
                    };
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
                    let edge = edge.ok_or(FollowError::NotFollowing)?;
                    let changed = Follow {
                        muted: muted.unwrap_or(edge.muted),
                        notification_enabled: notification_enabled
                            .unwrap_or(edge.notification_enabled),
                        ..edge.clone()
                    };
                    let patch = Follow::at(&me.id, followee)
                        .patch()
                        .set(Follow::MUTED, &changed.muted)
                        .set(Follow::NOTIFICATION_ENABLED, &changed.notification_enabled);
                    let mut commit = self.ground.commit().with("edge", patch);
                    if changed.muted != edge.muted {
                        commit = commit.with("circle", circle(&me.id, 0, self.ground.now()));
                    }
                    let commit = commit.remembering(request.as_ref(), &Outcome::of(&changed))?;
                    Ok(commit.done(changed).await?)
                },
            )
            .await
    }

    /// Whether one follows the other, as far as the viewer may know.
    pub async fn is_following(
        &self,
        viewer: Option<&Caller>,
        follower: &UserId,
        followee: &UserId,
    ) -> Result<bool, FollowError> {
        let sight = self.ground.sight(viewer, [follower, followee], []).await?;
        if !sight.sees_inside(follower) || sight.person(followee).is_none() {
            return Ok(false);
        }
        let edge = self.edge(follower, followee).await?;
        Ok(edge.is_some_and(|edge| edge.status == FollowStatus::Active))
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
                Ok(edges.into_iter().map(|edge| seen(&edge).then_some(edge)).collect())
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
        Ok(edges.into_iter().map(|edge| seen(&edge).then_some(edge)).collect())
    }
}

impl Outcome {
    fn of(edge: &Follow) -> Self {
        Self::Edge { follower: edge.follower_id.clone(), followee: edge.followee_id.clone() }
    }
}

/// The profile of somebody the caller may follow.
fn may_follow<'a>(sight: &'a Sight, user: &UserId) -> Result<&'a User, FollowError> {
    let person = sight.person(user).filter(|_| !sight.is_blocked(user));
    let standing = Standing::SIGNED_IN.and_if(person.is_some(), Standing::SEES);
    person.filter(|_| allows(Act::Follow, standing)).ok_or(FollowError::NoSuchUser)
}
