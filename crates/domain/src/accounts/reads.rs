//! Profiles by every name they have, and what is counted of a person (R21, R42).

use std::collections::{BTreeMap, HashMap};

use futures::future::{try_join, try_join_all};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{User, UserCounter};
use roundtable_model::{Email, Handle, Nickname, Shards, UserCount, UserId};

use super::{AccountError, Accounts, is_there, shown};
use crate::Caller;

/// Experience that the second level takes.
const LEVEL_XP: u64 = 100;

/// What is counted of a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Who follows them.
    pub followers: u64,
    /// Whom they follow.
    pub following: u64,
    /// What they have posted and not deleted.
    pub posts: u64,
    /// What quests have brought them.
    pub xp: u64,
}

impl Counts {
    /// How far the experience has brought them: each level takes more than the one before.
    pub const fn level(&self) -> u64 {
        1 + (self.xp / LEVEL_XP).isqrt()
    }

    const fn add(&mut self, counter: &UserCounter) {
        let count = match counter.counter {
            UserCount::Followers => &mut self.followers,
            UserCount::Following => &mut self.following,
            UserCount::Posts => &mut self.posts,
            UserCount::Xp => &mut self.xp,
            UserCount::Unread => return,
        };
        *count = count.saturating_add(counter.count);
    }
}

#[boxed]
impl Accounts {
    /// The caller's own profile; a suspended one, too, so that its owner sees what it is.
    pub async fn me(&self, caller: &Caller) -> Result<Option<User>, AccountError> {
        let me = self.ground.core().profile(&caller.user_id).strong().get().await?;
        Ok(me.filter(is_there))
    }

    /// Somebody's profile, if the viewer may see it.
    pub async fn user(
        &self,
        viewer: Option<&Caller>,
        id: &UserId,
    ) -> Result<Option<User>, AccountError> {
        let people = self.people(viewer, std::slice::from_ref(id)).await?;
        Ok(people.into_iter().next().flatten())
    }

    /// Several profiles, in the order asked for; `None` where the viewer may not see one.
    pub async fn people(
        &self,
        viewer: Option<&Caller>,
        ids: &[UserId],
    ) -> Result<Vec<Option<User>>, AccountError> {
        let sight = self.ground.sight(viewer, ids, []).await?;
        let person = |id| sight.person(id).filter(|user| is_there(user)).cloned();
        Ok(ids.iter().map(|id| person(id).map(|user| shown(viewer, user))).collect())
    }

    /// Who is called so.
    pub async fn by_nickname(
        &self,
        viewer: Option<&Caller>,
        nickname: &Nickname,
    ) -> Result<Option<User>, AccountError> {
        // The index may be behind: what counts is the profile itself.
        let Some(found) = self.ground.core().user_by_nickname(nickname).get().await? else {
            return Ok(None);
        };
        let user = self.user(viewer, &found.id).await?;
        Ok(user.filter(|user| user.nickname.same_as(nickname)))
    }

    /// Who is called so: username is another word for nickname.
    pub async fn by_username(
        &self,
        viewer: Option<&Caller>,
        username: &Nickname,
    ) -> Result<Option<User>, AccountError> {
        self.by_nickname(viewer, username).await
    }

    /// Who has this handle.
    pub async fn by_handle(
        &self,
        viewer: Option<&Caller>,
        handle: &Handle,
    ) -> Result<Option<User>, AccountError> {
        match self.ground.core().handle_lock(handle).get().await? {
            Some(lock) => self.user(viewer, &lock.user_id).await,
            None => Ok(None),
        }
    }

    /// Who has this e-mail address: for admins, and for whoever it is. To everybody else nobody has it,
    /// whether somebody does or not.
    pub async fn by_email(
        &self,
        viewer: Option<&Caller>,
        email: &Email,
    ) -> Result<Option<User>, AccountError> {
        let Some(viewer) = viewer else { return Ok(None) };
        let Some(found) = self.ground.core().user_by_email(email).get().await? else {
            return Ok(None);
        };
        if found.id != viewer.user_id && !viewer.roles.admin {
            return Ok(None);
        }
        let user = self.user(Some(viewer), &found.id).await?;
        Ok(user.filter(|user| user.email.as_ref().is_some_and(|known| known.same_as(email))))
    }

    /// What is counted of people, in the order asked for; `None` where the viewer may not see one.
    pub async fn counts(
        &self,
        viewer: Option<&Caller>,
        ids: &[UserId],
    ) -> Result<Vec<Option<Counts>>, AccountError> {
        let sight = self.ground.sight(viewer, ids, []).await?;
        let mut counts: HashMap<UserId, Counts> = HashMap::new();
        let mut by_shards: BTreeMap<Shards, Vec<UserId>> = BTreeMap::new();
        let seen = ids.iter().filter_map(|id| sight.person(id)).filter(|user| is_there(user));
        for user in seen {
            if counts.insert(user.id.clone(), Counts::default()).is_none() {
                by_shards.entry(user.follower_shards).or_default().push(user.id.clone());
            }
        }
        let seen: Vec<UserId> = counts.keys().cloned().collect();
        let core = self.ground.core();
        let followers = by_shards
            .iter()
            .map(|(shards, ids)| core.counts_among(ids, &UserCount::Followers, *shards).get());
        let others = [UserCount::Following, UserCount::Posts, UserCount::Xp];
        let others = others.iter().map(|of| core.counts_among(&seen, of, Shards::ONE).get());
        let (followers, others) = try_join(try_join_all(followers), try_join_all(others)).await?;
        for counter in followers.into_iter().chain(others).flatten().flatten() {
            if let Some(counts) = counts.get_mut(&counter.user_id) {
                counts.add(&counter);
            }
        }
        Ok(ids.iter().map(|id| counts.get(id).copied()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_takes_more_than_the_one_before() {
        let level = |xp| Counts { xp, ..Counts::default() }.level();
        assert_eq!([0, 99, 100, 399, 400, 899, 900].map(level), [1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(level(u64::MAX), 429_496_730);
    }
}
