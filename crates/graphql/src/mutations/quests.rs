//! Setting quests and giving them up.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewQuest;
use roundtable_model::{
    CountScope, GoalId, QuestDifficulty, QuestId, QuestKind, Tag, TaskId, UserId,
};

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::{DateTime, Id, Text};
use crate::types::quests::Quest;
use crate::words::Word;

/// Mutations of quests.
#[derive(Debug, Default)]
pub(super) struct Questing;

/// A quest to be set.
#[derive(Debug, InputObject)]
pub(crate) struct CreateQuestInput {
    title: String,
    description: Option<String>,
    difficulty: Word<QuestDifficulty>,
    /// What completing it earns; the difficulty caps it.
    reward_xp: u64,
    tags: Option<Vec<Text<Tag>>>,
    /// When it is over.
    deadline: Option<DateTime>,
    /// Whether it names what must be done, or how many.
    kind: Word<QuestKind>,
    linked_goal_ids: Option<Vec<Id<GoalId>>>,
    linked_task_ids: Option<Vec<Id<TaskId>>>,
    /// How many tasks must be done.
    target_count: Option<u64>,
    /// Whether any task counts, or only those it names.
    count_scope: Option<Word<CountScope>>,
    /// From when tasks count.
    start_at: Option<DateTime>,
    /// For how long after that they do.
    period_seconds: Option<u64>,
}

fn ids<T>(ids: Option<Vec<Id<T>>>) -> Vec<T> {
    ids.unwrap_or_default().into_iter().map(|id| id.0).collect()
}

impl From<CreateQuestInput> for NewQuest {
    fn from(input: CreateQuestInput) -> Self {
        Self {
            title: input.title,
            description: input.description,
            difficulty: input.difficulty.0,
            reward_xp: input.reward_xp,
            tags: input.tags.unwrap_or_default().into_iter().map(|tag| tag.0).collect(),
            deadline: input.deadline.map(|at| at.0),
            kind: input.kind.0,
            linked_goal_ids: ids(input.linked_goal_ids),
            linked_task_ids: ids(input.linked_task_ids),
            target_count: input.target_count,
            count_scope: input.count_scope.map(|scope| scope.0),
            start_at: input.start_at.map(|at| at.0),
            period_seconds: input.period_seconds,
        }
    }
}

#[Object]
impl Questing {
    async fn create_quest(
        &self,
        ctx: &Context<'_>,
        input: CreateQuestInput,
        request_id: Once,
    ) -> Result<Quest, Refused> {
        let asked = Asked::of(ctx)?;
        let quests = asked.services().quests();
        Ok(quests.create(asked.caller()?, &input.into(), once(&request_id)).await?.into())
    }

    /// Gives a quest of one's own up.
    async fn cancel_quest(
        &self,
        ctx: &Context<'_>,
        quest_id: Id<QuestId>,
        request_id: Once,
    ) -> Result<Quest, Refused> {
        let asked = Asked::of(ctx)?;
        let quests = asked.services().quests();
        Ok(quests.cancel(asked.caller()?, &quest_id.0, once(&request_id)).await?.into())
    }

    /// Takes a quest away, whosever it is; answers with it as it was. For admins.
    async fn delete_quest(
        &self,
        ctx: &Context<'_>,
        quest_id: Id<QuestId>,
        user_id: Option<Id<UserId>>,
        request_id: Once,
    ) -> Result<Quest, Refused> {
        let asked = Asked::of(ctx)?;
        let (quests, caller, owner) =
            (asked.services().quests(), asked.caller()?, asked.meant(user_id)?);
        Ok(quests.delete(caller, &owner, &quest_id.0, once(&request_id)).await?.into())
    }
}
