//! Profiles by id, nickname, handle and e-mail address, and user counters (R21, R42).

use std::collections::HashMap;
use std::sync::Arc;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{User, UserCounter};
use roundtable_model::{Email, Handle, Nickname, Shard, UserCount, UserId};

use super::{AccountError, Accounts};
use crate::Caller;
use crate::memory::UserCounterId;

/// The counts of a profile that have no shards.
const UNSHARDED: [UserCount; 3] = [UserCount::Following, UserCount::Posts, UserCount::Xp];
/// Experience needed for level two.
const LEVEL_XP: u64 = 100;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserCounts {
    pub followers: u64,
    pub following: u64,
    pub posts: u64,
    /// Experience earned by quests.
    pub xp: u64,
}

impl UserCounts {
    /// The level; each one takes more experience than the one before.
    pub const fn level(&self) -> u64 {
        1 + (self.xp / LEVEL_XP).isqrt()
    }

    const fn add(&mut self, counter: &UserCounter) {
        let count = match counter.counter {
            UserCount::Followers => &mut self.followers,
            UserCount::Following => &mut self.following,
            UserCount::Posts => &mut self.posts,
            UserCount::Xp => &mut self.xp,
            UserCount::Unread | UserCount::MediaBytes | UserCount::PendingUploads => return,
        };
        *count = count.saturating_add(counter.count);
    }
}

#[boxed]
impl Accounts {
    /// Returns the caller's own profile, also when it is suspended.
    pub async fn me(&self, caller: &Caller) -> Result<Option<User>, AccountError> {
        Ok(self.context.existing_account(&caller.user_id).await?)
    }

    pub async fn user(
        &self,
        viewer: Option<&Caller>,
        id: &UserId,
    ) -> Result<Option<User>, AccountError> {
        let people = self.people(viewer, std::slice::from_ref(id)).await?;
        Ok(people.into_iter().next().flatten().map(Arc::unwrap_or_clone))
    }

    /// Returns profiles in the order of `ids`; `None` where the viewer may not see one.
    pub async fn people(
        &self,
        viewer: Option<&Caller>,
        ids: &[UserId],
    ) -> Result<Vec<Option<Arc<User>>>, AccountError> {
        let access = self.context.viewer_access(viewer, ids, []).await?;
        Ok(ids.iter().map(|id| access.shown_profile(id)).collect())
    }

    pub async fn by_nickname(
        &self,
        viewer: Option<&Caller>,
        nickname: &Nickname,
    ) -> Result<Option<User>, AccountError> {
        // The index may be stale; the profile itself decides.
        let Some(found) = self.context.core().user_by_nickname(nickname).get().await? else {
            return Ok(None);
        };
        let user = self.user(viewer, &found.id).await?;
        Ok(user.filter(|user| user.nickname.same_as(nickname)))
    }

    /// A username is a nickname.
    pub async fn by_username(
        &self,
        viewer: Option<&Caller>,
        username: &Nickname,
    ) -> Result<Option<User>, AccountError> {
        self.by_nickname(viewer, username).await
    }

    pub async fn by_handle(
        &self,
        viewer: Option<&Caller>,
        handle: &Handle,
    ) -> Result<Option<User>, AccountError> {
        match self.context.core().handle_lock(handle).get().await? {
            Some(lock) => self.user(viewer, &lock.user_id).await,
            None => Ok(None),
        }
    }

    /// Returns the user with this e-mail address, only to admins and to that user. All others get
    /// `None` whether or not the address is in use.
    pub async fn by_email(
        &self,
        viewer: Option<&Caller>,
        email: &Email,
    ) -> Result<Option<User>, AccountError> {
        let Some(viewer) = viewer else { return Ok(None) };
        let Some(found) = self.context.core().user_by_email(email).get().await? else {
            return Ok(None);
        };
        let access = self.context.viewer_access(Some(viewer), [&found.id], []).await?;
        let user = access.visible_user(&found.id).filter(|user| access.sees_email(&user.id));
        let has_email = |user: &&User| user.email.as_ref().is_some_and(|own| own.same_as(email));
        Ok(user.filter(has_email).cloned())
    }

    /// Returns counters in the order of `ids`; `None` where the viewer may not see the user.
    pub async fn counts(
        &self,
        viewer: Option<&Caller>,
        ids: &[UserId],
    ) -> Result<Vec<Option<UserCounts>>, AccountError> {
        let access = self.context.viewer_access(viewer, ids, []).await?;
        let mut counts: HashMap<UserId, UserCounts> = HashMap::new();
        let mut parts: Vec<UserCounterId> = Vec::new();
        for user in ids.iter().filter_map(|id| access.visible_user(id)) {
            if counts.insert(user.id.clone(), UserCounts::default()).is_none() {
                let part = |of, shard| (user.id.clone(), of, shard);
                let shards = user.follower_shards.iter();
                parts.extend(shards.map(|shard| part(UserCount::Followers, shard)));
                parts.extend(UNSHARDED.map(|of| part(of, Shard::ZERO)));
            }
        }
        for counter in self.counters(&parts).await? {
            if let Some(counts) = counts.get_mut(&counter.user_id) {
                counts.add(&counter);
            }
        }
        Ok(ids.iter().map(|id| counts.get(id).copied()).collect())
    }

    /// Returns the counters that exist: from memory where that is exact.
    async fn counters(&self, ids: &[UserCounterId]) -> Result<Vec<Arc<UserCounter>>, AccountError> {
        if let Some(memory) = self.context.exact_memory().await {
            let counters = memory.user_counters(&self.context, ids).await?;
            return Ok(counters.into_values().collect());
        }
        let places = ids.iter().map(|(user, of, shard)| UserCounter::at(user, of, shard));
        let counters = self.context.items_at_eventual("counts_among", places).await?;
        Ok(counters.into_iter().flatten().map(Arc::new).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_takes_more_than_the_one_before() {
        let level = |xp| UserCounts { xp, ..UserCounts::default() }.level();
        assert_eq!([0, 99, 100, 399, 400, 899, 900].map(level), [1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(level(u64::MAX), 429_496_730);
    }
}
