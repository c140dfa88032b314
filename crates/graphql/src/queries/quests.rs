//! Queries for quests.

use async_graphql::{Context, Object};
use roundtable_domain::QuestFilter;
use roundtable_model::{GoalId, QuestId, QuestStatus, TaskId, UserId};

use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::request::RequestContext;
use crate::scalars::ApiId;
use crate::types::quests::{Quest, list_quests};

#[derive(Debug, Default)]
pub(super) struct QuestQueries;

#[Object]
impl QuestQueries {
    /// A quest of the caller or, for admins, of another user.
    async fn get_quest(
        &self,
        ctx: &Context<'_>,
        quest_id: ApiId<QuestId>,
        user_id: Option<ApiId<UserId>>,
    ) -> Result<Option<Quest>, ApiError> {
        let owner = RequestContext::of(ctx)?.user_or_caller(user_id)?;
        Quest::load(ctx, &owner, &quest_id.0).await
    }

    /// The quests of the caller or, for admins, of another user that match all given filters, newest first.
    #[expect(clippy::too_many_arguments, reason = "the contract has these arguments")]
    async fn list_quests(
        &self,
        ctx: &Context<'_>,
        user_id: Option<ApiId<UserId>>,
        status: Option<EnumValue<QuestStatus>>,
        linked_goal_id: Option<ApiId<GoalId>>,
        linked_task_id: Option<ApiId<TaskId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Quest>, ApiError> {
        let owner = RequestContext::of(ctx)?.user_or_caller(user_id)?;
        let filter = QuestFilter {
            status: status.map(|status| status.0),
            linked_goal_id: linked_goal_id.map(|id| id.0),
            linked_task_id: linked_task_id.map(|id| id.0),
        };
        list_quests(ctx, &owner, filter, PageArguments::new(limit, next_token, first, after)).await
    }
}
