//! Mutations of quests.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewQuest;
use roundtable_model::{
    CountScope, GoalId, QuestDifficulty, QuestId, QuestKind, Tag, TaskId, UserId,
};

use crate::ApiError;
use crate::enums::EnumValue;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::{ApiId, ApiText, DateTime};
use crate::types::quests::Quest;

#[derive(Debug, Default)]
pub(super) struct QuestMutations;

/// A new quest.
#[derive(Debug, InputObject)]
pub(crate) struct CreateQuestInput {
    title: String,
    description: Option<String>,
    difficulty: EnumValue<QuestDifficulty>,
    /// The experience for completing it; the difficulty limits it.
    reward_xp: u64,
    tags: Option<Vec<ApiText<Tag>>>,
    /// The time at which an open quest ends.
    deadline: Option<DateTime>,
    /// Linked to certain goals and tasks, or a number of tasks.
    kind: EnumValue<QuestKind>,
    linked_goal_ids: Option<Vec<ApiId<GoalId>>>,
    linked_task_ids: Option<Vec<ApiId<TaskId>>>,
    /// The number of tasks that must be done.
    target_count: Option<u64>,
    /// Determines whether any task counts or only linked ones.
    count_scope: Option<EnumValue<CountScope>>,
    /// The time from which tasks count.
    start_at: Option<DateTime>,
    /// The period after startAt in which tasks count.
    period_seconds: Option<u64>,
}

fn ids<T>(ids: Option<Vec<ApiId<T>>>) -> Vec<T> {
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
impl QuestMutations {
    async fn create_quest(
        &self,
        ctx: &Context<'_>,
        input: CreateQuestInput,
        request_id: RequestIdArg,
    ) -> Result<Quest, ApiError> {
        let context = RequestContext::of(ctx)?;
        let quests = context.services().quests();
        Ok(quests.create(context.caller()?, &input.into(), id_ref(&request_id)).await?.into())
    }

    /// Cancels a quest of the caller.
    async fn cancel_quest(
        &self,
        ctx: &Context<'_>,
        quest_id: ApiId<QuestId>,
        request_id: RequestIdArg,
    ) -> Result<Quest, ApiError> {
        let context = RequestContext::of(ctx)?;
        let quests = context.services().quests();
        Ok(quests.cancel(context.caller()?, &quest_id.0, id_ref(&request_id)).await?.into())
    }

    /// Deletes a quest of any user and returns it as it was. For admins.
    async fn delete_quest(
        &self,
        ctx: &Context<'_>,
        quest_id: ApiId<QuestId>,
        user_id: Option<ApiId<UserId>>,
        request_id: RequestIdArg,
    ) -> Result<Quest, ApiError> {
        let context = RequestContext::of(ctx)?;
        let (quests, caller, owner) =
            (context.services().quests(), context.caller()?, context.user_or_caller(user_id)?);
        Ok(quests.delete(caller, &owner, &quest_id.0, id_ref(&request_id)).await?.into())
    }
}
