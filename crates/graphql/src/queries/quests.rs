//! Asking for quests.

use async_graphql::{Context, Object};
use roundtable_domain::QuestFilter;
use roundtable_model::{GoalId, QuestId, QuestStatus, TaskId, UserId};

use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::request::Asked;
use crate::scalars::Id;
use crate::types::quests::{Quest, quests};
use crate::words::Word;

/// Queries of quests.
#[derive(Debug, Default)]
pub(super) struct Quests;

#[Object]
impl Quests {
    /// A quest of the caller's, or, for admins, of this person's.
    async fn get_quest(
        &self,
        ctx: &Context<'_>,
        quest_id: Id<QuestId>,
        user_id: Option<Id<UserId>>,
    ) -> Result<Option<Quest>, Refused> {
        let owner = Asked::of(ctx)?.meant(user_id)?;
        Quest::load(ctx, &owner, &quest_id.0).await
    }

    /// The quests of the caller, or, for admins, of this person, the newest first: all that fit
    /// everything given.
    #[expect(clippy::too_many_arguments, reason = "the contract has them")]
    async fn list_quests(
        &self,
        ctx: &Context<'_>,
        user_id: Option<Id<UserId>>,
        status: Option<Word<QuestStatus>>,
        linked_goal_id: Option<Id<GoalId>>,
        linked_task_id: Option<Id<TaskId>>,
        limit: Option<i32>,
        next_token: Option<String>,
        first: Option<i32>,
        after: Option<String>,
    ) -> Result<Connection<Quest>, Refused> {
        let owner = Asked::of(ctx)?.meant(user_id)?;
        let filter = QuestFilter {
            status: status.map(|status| status.0),
            linked_goal_id: linked_goal_id.map(|id| id.0),
            linked_task_id: linked_task_id.map(|id| id.0),
        };
        quests(ctx, &owner, filter, Paging::new(limit, next_token, first, after)).await
    }
}
