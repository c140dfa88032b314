//! Blocks: blocking, which also ends both follows, and unblocking.

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Block, Follow, User};
use roundtable_model::{Entity, RequestId, UserId, UserStatus};
use serde::{Deserialize, Serialize};

use crate::access::{Permission, Relations, allows};
use crate::account::active_account_check;
use crate::accounts::public_profile;
use crate::circle::raise_circle_version;
use crate::follows::{follow_count, removal_without_circle};
use crate::idempotency::RemovedEntity;
use crate::pages::fill_page;
use crate::{Caller, Context, Page, PageInput, ServiceError, refusals};

refusals! {
    BlockError {
        Yourself: BadRequest = "you cannot block yourself",
        NoSuchUser: NotFound = "there is no such user",
        NotBlocked: NotFound = "you have not blocked this user",
    }
}

/// The block service. [`crate::ViewerAccess`] applies blocks at every read.
#[derive(Clone, Debug)]
pub struct Blocks {
    context: Context,
}

#[derive(Debug, Serialize, Deserialize)]
enum BlockOutcome {
    Blocked(UserId),
    Removed(RemovedEntity<Block>),
}

#[boxed]
impl Blocks {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Blocks a user: both follows end, and neither sees the other any more. Repeating it has no
    /// effect. Works on users who have blocked the caller, too.
    pub async fn block(
        &self,
        caller: &Caller,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Block, BlockError> {
        let mutation = self.context.mutation(caller).await?;
        if mutation.account.id == *user {
            return Err(BlockError::Yourself);
        }
        mutation
            .once("blockUser", user, request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                if let Some(block) = self.find_block(&me.id, user).await? {
                    return attempt.unchanged(BlockOutcome::Blocked(user.clone()), block).await;
                }
                self.check_exists(user).await?;
                let core = self.context.core();
                let (mine, theirs) =
                    try_join(core.follows(&me.id, user).get(), core.follows(user, &me.id).get())
                        .await?;
                let off = |edge: &Option<Follow>| -edge.as_ref().map_or(0, follow_count);
                let now = self.context.now();
                let block =
                    Block { blocker_id: me.id.clone(), blocked_id: user.clone(), created_at: now };
                let mut commit = attempt
                    .commit()
                    .with("block", block.create())
                    .with("user", active_account_check(user))
                    .with("circle", raise_circle_version(&me.id, off(&mine), now))
                    .with("circle", raise_circle_version(user, off(&theirs), now));
                let edges = [(mine, Follow::at(&me.id, user)), (theirs, Follow::at(user, &me.id))];
                for (edge, item_key) in edges {
                    commit = match edge {
                        Some(edge) => commit.with_named(removal_without_circle(&edge, now)),
                        // A follow created concurrently must not outlive the block.
                        None => commit.with("edge", item_key.absent()),
                    };
                }
                commit.finish(BlockOutcome::Blocked(user.clone()), block).await
            })
            .await
    }

    /// Unblocks a user and returns the removed block. The follows do not come back.
    pub async fn unblock(
        &self,
        caller: &Caller,
        user: &UserId,
        request: Option<&RequestId>,
    ) -> Result<Block, BlockError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("unblockUser", user, request)?
            .replay(|outcome| self.replayed(&caller.user_id, outcome))
            .run(async |me, attempt| {
                let block = self.find_block(&me.id, user).await?.ok_or(BlockError::NotBlocked)?;
                let (now, outcome) =
                    (self.context.now(), BlockOutcome::Removed(RemovedEntity(block.clone())));
                attempt
                    .commit()
                    .with("block", block.key().delete())
                    .with("circle", raise_circle_version(&me.id, 0, now))
                    .with("circle", raise_circle_version(user, 0, now))
                    .finish(outcome, block)
                    .await
            })
            .await
    }

    /// Lists the users the caller has blocked: the only place that still shows them, so that they
    /// can be unblocked. For those who have blocked the caller too, only the names.
    pub async fn list(&self, caller: &Caller, page: &PageInput) -> Result<Page<User>, BlockError> {
        let profile = self.context.authorize_read(caller).await?;
        let (me, sees_emails) = (profile.id.clone(), caller.current_roles(&profile).admin);
        let core = self.context.core();
        fill_page(
            page,
            async |limit, after| core.blocks(&me).limit(limit).after(after).page().await,
            async |blocks: Vec<Block>| {
                let ids: Vec<UserId> = blocks.into_iter().map(|block| block.blocked_id).collect();
                let (profiles, theirs) =
                    try_join(core.profiles(&ids).strong().get(), core.blocked_by(&ids, &me).get())
                        .await?;
                let visible = profiles.into_iter().zip(theirs).map(|(profile, theirs)| {
                    let profile = profile.filter(|profile| profile.status == UserStatus::Active)?;
                    let profile = if sees_emails { profile } else { public_profile(profile) };
                    Some(if theirs.is_some() { names_only(profile) } else { profile })
                });
                Ok(visible.collect())
            },
        )
        .await
    }

    async fn find_block(
        &self,
        blocker: &UserId,
        blocked: &UserId,
    ) -> Result<Option<Block>, ServiceError> {
        let found = self.context.core().blocked(blocker, std::slice::from_ref(blocked)).get();
        Ok(found.await?.into_iter().flatten().next())
    }

    /// Refuses users who do not exist. Users who have blocked the caller are accepted: their block
    /// must not protect them from being blocked.
    async fn check_exists(&self, user: &UserId) -> Result<(), BlockError> {
        let profile = self.context.active_account(user).await?;
        if profile.is_some() && allows(Permission::Block, Relations::SIGNED_IN) {
            Ok(())
        } else {
            Err(BlockError::NoSuchUser)
        }
    }

    /// Returns the block as it is now; a removed one as it was.
    async fn replayed(&self, me: &UserId, outcome: BlockOutcome) -> Result<Block, BlockError> {
        match outcome {
            BlockOutcome::Removed(RemovedEntity(block)) => Ok(block),
            BlockOutcome::Blocked(user) => {
                self.find_block(me, &user).await?.ok_or(BlockError::NotBlocked)
            }
        }
    }
}

/// Keeps only the names of a profile.
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
