//! Reads of mutes, by the users who made them.

use std::collections::BTreeSet;

use futures::future::try_join;
use hashbrown::HashMap;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Follow, Mute};
use roundtable_model::{Error, UserId};

use super::{MuteError, Mutes};
use crate::pages::fill_page;
use crate::{Caller, Context, Page, PageInput, ServiceError};

#[boxed]
impl Mutes {
    /// Lists the caller's mutes of users they may see: first those that are items of their own, then
    /// those that an earlier version stored in follows, each by the id of the muted user.
    pub async fn list(&self, caller: &Caller, page: &PageInput) -> Result<Page<Mute>, MuteError> {
        let me = self.context.authorize_read(caller).await?.id;
        let wanted = page.size()?;
        let mut listed = match self.own_items(caller, &me, page).await {
            // A cursor of the second part.
            Err(MuteError::Failed(ServiceError::Store(Error::InvalidCursor { .. }))) => {
                return self.in_follows(caller, &me, page).await;
            }
            listed => listed?,
        };
        if listed.next.is_some() {
            return Ok(listed);
        }
        let missing = wanted - listed.items.len();
        let rest = PageInput { limit: Some(missing.max(1)), after: None };
        let rest = self.in_follows(caller, &me, &rest).await?;
        if missing == 0 {
            let end = listed.items.last().map(|(_, cursor)| cursor.clone());
            listed.next = end.filter(|_| !rest.items.is_empty());
        } else {
            listed.items.extend(rest.items);
            listed.next = rest.next;
        }
        Ok(listed)
    }

    /// Returns the caller's mutes of these users, in the same order; `None` for those that are not muted.
    pub async fn among(
        &self,
        caller: &Caller,
        users: &[UserId],
    ) -> Result<Vec<Option<Mute>>, MuteError> {
        let me = self.context.authorize_read(caller).await?.id;
        Ok(self.context.mutes_in_force(&me, users).await?)
    }

    async fn own_items(
        &self,
        caller: &Caller,
        me: &UserId,
        page: &PageInput,
    ) -> Result<Page<Mute>, MuteError> {
        let now = self.context.now();
        fill_page(
            page,
            async |limit, after| {
                self.context.core().mutes(me).strong().limit(limit).after(after).page().await
            },
            async |mutes: Vec<Mute>| {
                let access = self.context.viewer_access(
                    Some(caller),
                    mutes.iter().map(|mute| &mute.muted_id),
                    [],
                );
                let access = access.await?;
                let is_shown = |mute: &Mute| {
                    mute.is_in_force(now) && access.visible_user(&mute.muted_id).is_some()
                };
                Ok(mutes.into_iter().map(|mute| Some(mute).filter(is_shown)).collect())
            },
        )
        .await
    }

    async fn in_follows(
        &self,
        caller: &Caller,
        me: &UserId,
        page: &PageInput,
    ) -> Result<Page<Mute>, MuteError> {
        let core = self.context.core();
        fill_page(
            page,
            async |limit, after| {
                let listing = core.following(me).strong().limit(limit).after(after);
                listing.filter_by(Follow::MUTED, &true).page().await
            },
            async |edges: Vec<Follow>| {
                let ids: Vec<UserId> = edges.iter().map(|edge| edge.followee_id.clone()).collect();
                let access =
                    async { Ok(self.context.viewer_access(Some(caller), &ids, []).await?) };
                let own = self.context.mutes_in_force(me, &ids);
                let (access, own) = try_join(access, own).await?;
                let shown = edges.into_iter().zip(own).map(|(edge, own)| {
                    let is_shown = access.visible_user(&edge.followee_id).is_some();
                    // One that is an item as well has been listed.
                    own.filter(|own| is_shown && *own == Mute::of_follow(&edge))
                });
                Ok(shown.collect())
            },
        )
        .await
    }
}

impl Context {
    /// Returns a user's mutes of others that are in force, in the order of `others`.
    pub(crate) async fn mutes_in_force(
        &self,
        muter: &UserId,
        others: &[UserId],
    ) -> Result<Vec<Option<Mute>>, ServiceError> {
        let distinct: Vec<UserId> =
            others.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect();
        let core = self.core();
        let (mutes, edges) = try_join(
            core.mutes_among(muter, &distinct).get(),
            core.follows_among(muter, &distinct).strong().get(),
        )
        .await?;
        let now = self.now();
        let found = distinct.into_iter().zip(mutes.into_iter().zip(edges));
        let found: HashMap<UserId, Mute> = found
            .filter_map(|(user, (mute, edge))| {
                let mute = mute.filter(|mute| mute.is_in_force(now));
                let earlier = || edge.filter(|edge| edge.muted).map(|edge| Mute::of_follow(&edge));
                Some((user, mute.or_else(earlier)?))
            })
            .collect();
        Ok(others.iter().map(|user| found.get(user).cloned()).collect())
    }
}
