//! Quests, for their owner and for admins (R24).

use std::collections::HashSet;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Quest, User};
use roundtable_model::{GoalId, QuestId, QuestStatus, TaskId, UserId};

use super::{QuestError, Quests};
use crate::access::{Act, Standing, allows};
use crate::accounts::staff::Official;
use crate::pages::fill;
use crate::{Caller, Failure, Page, PageInput};

/// Which quests are asked for: all that fit everything given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestFilter {
    /// Only those that stand so.
    pub status: Option<QuestStatus>,
    /// Only those that name this goal.
    pub linked_goal_id: Option<GoalId>,
    /// Only those that name this task.
    pub linked_task_id: Option<TaskId>,
}

#[boxed]
impl Quests {
    /// A quest of the caller's own, or, for admins, of anybody's.
    pub async fn get(
        &self,
        caller: &Caller,
        owner: &UserId,
        quest: &QuestId,
    ) -> Result<Quest, QuestError> {
        self.may_see(caller, owner).await?;
        self.quest(owner, quest).await?.ok_or(QuestError::NoSuchQuest)
    }

    /// Quests by owner and id, each in its place; `None` where there is none for the caller.
    pub async fn quests(
        &self,
        caller: &Caller,
        places: &[(UserId, QuestId)],
    ) -> Result<Vec<Option<Quest>>, QuestError> {
        let me = self.ground.reader(caller).await?;
        let owners = places.iter().map(|(owner, _)| owner);
        let owners = self.owners_seen(caller, &me, owners).await?;
        let is_shown = |(owner, _): &&(UserId, QuestId)| owners.contains(owner);
        let shown = places.iter().filter(is_shown).map(|(owner, id)| Quest::at(owner, id));
        let mut found = self.ground.at("quests_among", shown).await?.into_iter();
        let quest = |place| if is_shown(&place) { found.next().flatten() } else { None };
        Ok(places.iter().map(quest).collect())
    }

    /// The quests of the caller, or, for admins, of anybody, newest first.
    pub async fn list(
        &self,
        caller: &Caller,
        owner: &UserId,
        filter: &QuestFilter,
        page: &PageInput,
    ) -> Result<Page<Quest>, QuestError> {
        self.may_see(caller, owner).await?;
        let core = self.ground.core();
        fill(
            page,
            async |limit, after| {
                let QuestFilter { status, linked_goal_id, linked_task_id } = filter;
                let mut quests = match (linked_goal_id, linked_task_id) {
                    (Some(goal), None) => core.quests_linked_to_goal(owner, goal),
                    (None, Some(task)) => core.quests_linked_to_task(owner, task),
                    (Some(goal), Some(task)) => core
                        .quests_linked_to_goal(owner, goal)
                        .only(Quest::LINKED_TASK_IDS.has(task)),
                    (None, None) => core.quests(owner),
                };
                if let Some(status) = status {
                    quests = quests.with(Quest::STATUS, status);
                }
                quests.limit(limit).after(after).page().await
            },
            async |quests| Ok(self.current(owner, filter, quests).await?),
        )
        .await
    }

    /// Quests that an index told of, as they are now, each in its place: those that still fit. Where
    /// indexes are never behind, all do.
    async fn current(
        &self,
        owner: &UserId,
        filter: &QuestFilter,
        found: Vec<Quest>,
    ) -> Result<Vec<Option<Quest>>, Failure> {
        if self.ground.store().capabilities().strong_index_reads {
            return Ok(found.into_iter().map(Some).collect());
        }
        let ids: Vec<QuestId> = found.into_iter().map(|quest| quest.id).collect();
        let quests = self.ground.core().quests_among(owner, &ids).get().await?;
        // What a quest names never changes.
        let fits = |quest: &Quest| filter.status.is_none_or(|status| status == quest.status);
        Ok(quests.into_iter().map(|quest| quest.filter(fits)).collect())
    }

    /// What is somebody else's is not there.
    async fn may_see(&self, caller: &Caller, owner: &UserId) -> Result<(), QuestError> {
        let me = self.ground.reader(caller).await?;
        let seen = self.owners_seen(caller, &me, [owner]).await?;
        if seen.is_empty() { Err(QuestError::NoSuchQuest) } else { Ok(()) }
    }

    /// Those of the people whose quests the caller may see, by one look at them all. Of somebody whose
    /// account is gone nobody sees any.
    async fn owners_seen<'a>(
        &self,
        caller: &Caller,
        me: &User,
        owners: impl IntoIterator<Item = &'a UserId>,
    ) -> Result<HashSet<&'a UserId>, Failure> {
        let is_official = Official::new(caller, me.clone()).may(Act::SeeQuests).is_ok();
        let is_mine = |owner: &UserId| {
            allows(Act::SeeQuests, Standing::SIGNED_IN.and_if(me.id == *owner, Standing::OWNER))
        };
        let mut seen: HashSet<&UserId> =
            owners.into_iter().filter(|owner| is_official || is_mine(owner)).collect();
        if seen.iter().any(|owner| !is_mine(owner)) {
            let sight = self.ground.sight_of(caller, me, seen.iter().copied(), []).await?;
            seen.retain(|owner| is_mine(owner) || sight.person(owner).is_some());
        }
        Ok(seen)
    }
}
