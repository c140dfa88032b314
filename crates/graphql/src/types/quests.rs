//! The GraphQL type of quests, which only their owner and admins see.

use async_graphql::{Context, ID, Object};
use roundtable_domain::QuestFilter;
use roundtable_model::{
    CountScope, GoalId, QuestDifficulty, QuestId, QuestKind, QuestStatus, TaskId, UserId, entities,
};

use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::loaders::QuestKey;
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};

#[derive(Clone, Debug)]
pub(crate) struct Quest(pub(crate) entities::Quest);

impl From<entities::Quest> for Quest {
    fn from(quest: entities::Quest) -> Self {
        Self(quest)
    }
}

impl Quest {
    pub(crate) async fn load(
        ctx: &Context<'_>,
        owner: &UserId,
        id: &QuestId,
    ) -> Result<Option<Self>, ApiError> {
        let key = QuestKey(owner.clone(), id.clone());
        Ok(RequestContext::of(ctx)?.loaders.load(key).await?.map(Self))
    }
}

#[Object]
impl Quest {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Quest", &[&self.0.user_id.to_string(), &self.0.id.to_string()])
    }

    async fn id(&self) -> ApiId<&QuestId> {
        ApiId(&self.0.id)
    }

    async fn user_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.user_id)
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn title(&self) -> &str {
        &self.0.title
    }

    async fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    async fn difficulty(&self) -> EnumValue<QuestDifficulty> {
        EnumValue(self.0.difficulty)
    }

    /// The experience for completing the quest.
    async fn reward_xp(&self) -> u64 {
        self.0.reward_xp
    }

    async fn status(&self) -> EnumValue<QuestStatus> {
        EnumValue(self.0.status)
    }

    async fn tags(&self) -> Vec<String> {
        self.0.tags.iter().map(ToString::to_string).collect()
    }

    async fn deadline(&self) -> Option<DateTime> {
        DateTime::optional(self.0.deadline)
    }

    /// Linked to certain goals and tasks, or a number of tasks.
    async fn kind(&self) -> EnumValue<QuestKind> {
        EnumValue(self.0.kind)
    }

    async fn linked_goal_ids(&self) -> Option<Vec<ApiId<&GoalId>>> {
        self.0.linked_goal_ids.as_ref().map(|ids| ids.iter().map(ApiId).collect())
    }

    async fn linked_task_ids(&self) -> Option<Vec<ApiId<&TaskId>>> {
        self.0.linked_task_ids.as_ref().map(|ids| ids.iter().map(ApiId).collect())
    }

    async fn target_count(&self) -> Option<u64> {
        self.0.target_count
    }

    /// Determines whether any task counts or only linked ones.
    async fn count_scope(&self) -> Option<EnumValue<CountScope>> {
        self.0.count_scope.map(EnumValue)
    }

    /// The number of goals or tasks done so far.
    async fn progress_count(&self) -> u64 {
        self.0.progress_count
    }

    /// The reason of an automatic cancellation.
    async fn cancel_reason(&self) -> Option<&str> {
        self.0.cancel_reason.as_deref()
    }

    async fn start_at(&self) -> Option<DateTime> {
        DateTime::optional(self.0.start_at)
    }

    async fn period_seconds(&self) -> Option<u64> {
        self.0.period_seconds
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

pub(crate) async fn list_quests(
    ctx: &Context<'_>,
    owner: &UserId,
    filter: QuestFilter,
    paging: PageArguments,
) -> Result<Connection<Quest>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, quests) = (context.caller()?, context.services().quests());
    let list = format!("quests of {owner}, {filter:?}");
    paging.read(ctx, &list, async |page| quests.list(caller, owner, &filter, page).await).await
}
