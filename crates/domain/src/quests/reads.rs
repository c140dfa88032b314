//! Quests, for their owner and for admins (R24).

use std::collections::{BTreeMap, HashMap};

use roundtable_model::entities::Quest;
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
        let mut by_owner: BTreeMap<&UserId, Vec<QuestId>> = BTreeMap::new();
        for (owner, id) in places {
            by_owner.entry(owner).or_default().push(id.clone());
        }
        let mut found: HashMap<(UserId, QuestId), Quest> = HashMap::new();
        for (owner, mut ids) in by_owner {
            ids.sort_unstable();
            ids.dedup();
            match self.may_see(caller, owner).await {
                Ok(()) => {}
                Err(QuestError::NoSuchQuest) => continue,
                Err(error) => return Err(error),
            }
            let quests = self.ground.core().quests_among(owner, &ids).get().await?;
            let quests = quests.into_iter().flatten();
            found.extend(quests.map(|quest| ((owner.clone(), quest.id.clone()), quest)));
        }
        Ok(places.iter().map(|place| found.get(place).cloned()).collect())
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
        let mine = Standing::SIGNED_IN.and_if(me.id == *owner, Standing::OWNER);
        if allows(Act::SeeQuests, mine) {
            return Ok(());
        }
        // Of somebody whose account is gone nobody sees any.
        let owner_is_there =
            self.ground.sight_of(caller, &me, [owner], []).await?.person(owner).is_some();
        let official = Official::new(caller, me).may(Act::SeeQuests);
        official.ok().filter(|()| owner_is_there).ok_or(QuestError::NoSuchQuest)
    }
}
