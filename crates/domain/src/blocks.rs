//! Who wants nothing to do with whom: blocking, which also ends both follows, and unblocking.

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Block, Follow, User};
use roundtable_model::{Entity, RequestId, UserId, UserStatus};
use serde::{Deserialize, Serialize};

use crate::access::{Act, Standing, allows};
use crate::accounts::shown;
use crate::circle::circle;
use crate::follows::{counted, severed};
use crate::once::Kept;
use crate::pages::fill;
use crate::{Caller, Failure, Ground, Page, PageInput, refusals};

refusals! {
    /// Why a block was not changed.
    BlockError {
        Yourself: BadRequest = "nobody can block themselves",
        NoSuchUser: NotFound = "there is no such person",
        NotBlocked: NotFound = "you have not blocked this person",
    }
}

/// The blocks of everybody. What a block hides is for [`crate::Sight`] to say, at every read.
#[derive(Clone, Debug)]
pub struct Blocks {
    ground: Ground,
}

/// What a request led to: a block of this person, or the block as it was when it was removed.
#[derive(Debug, Serialize, Deserialize)]
enum Outcome {
    Blocked(UserId),
    Removed(Kept<Block>),
}

#[boxed]
impl Blocks {
    /// The blocks on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Blocks somebody: both follows end, and neither sees the other any more. Blocking twice is
    /// blocking once; whoever has blocked the caller can be blocked, too.
    pub async fn block(
        &self,
        caller: &Caller,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Block, BlockError> {
        let me = self.ground.account(caller).await?.id;
        if me == *user {
            return Err(BlockError::Yourself);
        }
        let request = self.ground.request(&me, request, "blockUser", user)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    if let Some(block) = self.edge(&me, user).await? {
                        let outcome = Outcome::Blocked(user.clone());
                        let request = request.as_ref();
                        return Ok(self.ground.nothing_to_do(request, &outcome, block).await?);
                    }
                    self.refuse_unknown(user).await?;
                    let core = self.ground.core();
                    let (mine, theirs) =
                        try_join(core.follows(&me, user).get(), core.follows(user, &me).get())
                            .await?;
                    let off = |edge: &Option<Follow>| -edge.as_ref().map_or(0, counted);
                    let now = self.ground.now();
                    let block =
                        Block { blocker_id: me.clone(), blocked_id: user.clone(), created_at: now };
                    let live = User::STATUS.is(&UserStatus::Active);
                    let mut commit = self
                        .ground
                        .commit()
                        .with("block", block.create())
                        .with("person", User::at(user).check(live))
                        .with("circle", circle(&me, off(&mine), now))
                        .with("circle", circle(user, off(&theirs), now));
                    let edges = [(mine, Follow::at(&me, user)), (theirs, Follow::at(user, &me))];
                    for (edge, place) in edges {
                        commit = match edge {
                            Some(edge) => severed(&edge, now)
                                .into_iter()
                                .fold(commit, |commit, (name, write)| commit.with(name, write)),
                            // A follow made meanwhile must not outlive the block.
                            None => commit.with("edge", place.absent()),
                        };
                    }
                    let outcome = Outcome::Blocked(user.clone());
                    let commit = commit.remembering(request.as_ref(), &outcome)?;
                    Ok(commit.done(block).await?)
                },
            )
            .await
    }

    /// Blocks somebody no longer; the follows do not come back. Answers with the block as it was.
    pub async fn unblock(
        &self,
        caller: &Caller,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Block, BlockError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "unblockUser", user)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(&me, outcome).await,
                async || {
                    let block = self.edge(&me, user).await?.ok_or(BlockError::NotBlocked)?;
                    let (now, outcome) = (self.ground.now(), Outcome::Removed(Kept(block.clone())));
                    let commit = self
                        .ground
                        .commit()
                        .with("block", block.key().delete())
                        .with("circle", circle(&me, 0, now))
                        .with("circle", circle(user, 0, now))
                        .remembering(request.as_ref(), &outcome)?;
                    Ok(commit.done(block).await?)
                },
            )
            .await
    }

    /// Whom the caller has blocked: the one place that still shows them, so that they can be unblocked.
    /// Of those who have blocked the caller, too, only the names.
    pub async fn list(&self, caller: &Caller, page: &PageInput) -> Result<Page<User>, BlockError> {
        let me = self.ground.reader(caller).await?.id;
        let core = self.ground.core();
        fill(
            page,
            async |limit, after| core.blocks(&me).limit(limit).after(after).page().await,
            async |blocks: Vec<Block>| {
                let ids: Vec<UserId> = blocks.into_iter().map(|block| block.blocked_id).collect();
                let (profiles, theirs) =
                    try_join(core.profiles(&ids).strong().get(), core.blocked_by(&ids, &me).get())
                        .await?;
                let seen = profiles.into_iter().zip(theirs).map(|(profile, theirs)| {
                    let profile = profile.filter(|profile| profile.status == UserStatus::Active)?;
                    let profile = shown(Some(caller), profile);
                    Some(if theirs.is_some() { names_only(profile) } else { profile })
                });
                Ok(seen.collect())
            },
        )
        .await
    }

    async fn edge(&self, blocker: &UserId, blocked: &UserId) -> Result<Option<Block>, Failure> {
        let found = self.ground.core().blocked(blocker, std::slice::from_ref(blocked)).get();
        Ok(found.await?.into_iter().flatten().next())
    }

    /// Refuses people there are none of. Whether they have blocked the caller does not matter: they
    /// must not be safe from being blocked by that.
    async fn refuse_unknown(&self, user: &UserId) -> Result<(), BlockError> {
        let profile = self.ground.core().profile(user).strong().get().await?;
        let live = profile.is_some_and(|profile| profile.status == UserStatus::Active);
        if live && allows(Act::Block, Standing::SIGNED_IN) {
            Ok(())
        } else {
            Err(BlockError::NoSuchUser)
        }
    }

    /// A block as it is now; one that was removed, as it was.
    async fn replayed(&self, me: &UserId, outcome: Outcome) -> Result<Block, BlockError> {
        match outcome {
            Outcome::Removed(Kept(block)) => Ok(block),
            Outcome::Blocked(user) => self.edge(me, &user).await?.ok_or(BlockError::NotBlocked),
        }
    }
}

/// A profile without what it says about the person.
fn names_only(profile: User) -> User {
    User {
        email: None,
        full_name: None,
        display_name: None,
        birth_date: None,
        country: None,
        language: None,
        gender: None,
        pronouns: None,
        bio: None,
        tags: Vec::new(),
        profile_image_url: None,
        ..profile
    }
}
