//! Reads of quests by their owner and by admins (R24).

use std::collections::HashSet;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Quest, User};
use roundtable_model::{GoalId, QuestId, QuestStatus, TaskId, UserId};

use super::{QuestError, Quests};
use crate::access::{Permission, Relations, allows};
use crate::accounts::staff::StaffMember;
use crate::pages::fill_page;
use crate::{Caller, Page, PageInput, ServiceError};

/// Selects quests; all given conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestFilter {
    pub status: Option<QuestStatus>,
    pub linked_goal_id: Option<GoalId>,
    pub linked_task_id: Option<TaskId>,
}

#[boxed]
impl Quests {
    /// Returns the caller's own quest or, for admins, any user's.
    pub async fn get(
        &self,
        caller: &Caller,
        owner: &UserId,
        quest: &QuestId,
    ) -> Result<Quest, QuestError> {
        self.may_see(caller, owner).await?;
        self.quest(owner, quest).await?.ok_or(QuestError::NoSuchQuest)
    }

    /// Returns quests by owner and id, in the order given; `None` where the caller may not see one.
    pub async fn quests(
        &self,
        caller: &Caller,
        item_keys: &[(UserId, QuestId)],
    ) -> Result<Vec<Option<Quest>>, QuestError> {
        let me = self.context.authorize_read(caller).await?;
        let owners = item_keys.iter().map(|(owner, _)| owner);
        let owners = self.visible_owners(caller, &me, owners).await?;
        let is_visible = |(owner, _): &&(UserId, QuestId)| owners.contains(owner);
        let visible_keys =
            item_keys.iter().filter(is_visible).map(|(owner, id)| Quest::at(owner, id));
        let mut found = self.context.items_at("quests_among", visible_keys).await?.into_iter();
        let quest = |item_key| if is_visible(&item_key) { found.next().flatten() } else { None };
        Ok(item_keys.iter().map(quest).collect())
    }

    /// Returns the caller's quests or, for admins, any user's, newest first.
    pub async fn list(
        &self,
        caller: &Caller,
        owner: &UserId,
        filter: &QuestFilter,
        page: &PageInput,
    ) -> Result<Page<Quest>, QuestError> {
        self.may_see(caller, owner).await?;
        let core = self.context.core();
        fill_page(
            page,
            async |limit, after| {
                let QuestFilter { status, linked_goal_id, linked_task_id } = filter;
                let mut quests = match (linked_goal_id, linked_task_id) {
                    (Some(goal), None) => core.quests_linked_to_goal(owner, goal),
                    (None, Some(task)) => core.quests_linked_to_task(owner, task),
                    (Some(goal), Some(task)) => core
                        .quests_linked_to_goal(owner, goal)
                        .filter(Quest::LINKED_TASK_IDS.has(task)),
                    (None, None) => core.quests(owner),
                };
                if let Some(status) = status {
                    quests = quests.filter_by(Quest::STATUS, status);
                }
                quests.limit(limit).after(after).page().await
            },
            async |quests| Ok(self.reread(owner, filter, quests).await?),
        )
        .await
    }

    /// Re-reads quests found through an index that may be stale, and keeps those that still match.
    async fn reread(
        &self,
        owner: &UserId,
        filter: &QuestFilter,
        found: Vec<Quest>,
    ) -> Result<Vec<Option<Quest>>, ServiceError> {
        if self.context.store().capabilities().strong_index_reads {
            return Ok(found.into_iter().map(Some).collect());
        }
        let ids: Vec<QuestId> = found.into_iter().map(|quest| quest.id).collect();
        let quests = self.context.core().quests_among(owner, &ids).get().await?;
        // The links of a quest never change.
        let fits = |quest: &Quest| filter.status.is_none_or(|status| status == quest.status);
        Ok(quests.into_iter().map(|quest| quest.filter(fits)).collect())
    }

    /// Other users' quests look as if they did not exist.
    async fn may_see(&self, caller: &Caller, owner: &UserId) -> Result<(), QuestError> {
        let me = self.context.authorize_read(caller).await?;
        let visible = self.visible_owners(caller, &me, [owner]).await?;
        if visible.is_empty() { Err(QuestError::NoSuchQuest) } else { Ok(()) }
    }

    /// Returns the users whose quests the caller may see, with a single read. Quests of deleted
    /// accounts are hidden from all.
    async fn visible_owners<'a>(
        &self,
        caller: &Caller,
        me: &User,
        owners: impl IntoIterator<Item = &'a UserId>,
    ) -> Result<HashSet<&'a UserId>, ServiceError> {
        let is_staff = StaffMember::new(caller, me).require(Permission::SeeQuests).is_ok();
        let is_mine = |owner: &UserId| {
            allows(
                Permission::SeeQuests,
                Relations::SIGNED_IN.with_if(me.id == *owner, Relations::OWNER),
            )
        };
        let mut visible: HashSet<&UserId> =
            owners.into_iter().filter(|owner| is_staff || is_mine(owner)).collect();
        if visible.iter().any(|owner| !is_mine(owner)) {
            let access =
                self.context.viewer_access_of(caller, me, visible.iter().copied(), []).await?;
            visible.retain(|owner| is_mine(owner) || access.visible_user(owner).is_some());
        }
        Ok(visible)
    }
}
