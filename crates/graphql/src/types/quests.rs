//! Challenges with a reward, as the API shows them: to their owner, and to admins.

use async_graphql::{Context, ID, Object};
use roundtable_domain::QuestFilter;
use roundtable_model::{
    CountScope, GoalId, QuestDifficulty, QuestId, QuestKind, QuestStatus, TaskId, UserId, entities,
};

use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::QuestOf;
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id};
use crate::words::Word;

/// A challenge with a reward.
#[derive(Clone, Debug)]
pub(crate) struct Quest(pub(crate) entities::Quest);

impl From<entities::Quest> for Quest {
    fn from(quest: entities::Quest) -> Self {
        Self(quest)
    }
}

impl Quest {
    /// A quest of somebody, if the viewer may see it.
    pub(crate) async fn load(
        ctx: &Context<'_>,
        owner: &UserId,
        id: &QuestId,
    ) -> Result<Option<Self>, Refused> {
        let quest = QuestOf(owner.clone(), id.clone());
        Ok(Asked::of(ctx)?.load.one(quest).await?.map(Self))
    }
}

#[Object]
impl Quest {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Quest", &[&self.0.user_id.to_string(), &self.0.id.to_string()])
    }

    async fn id(&self) -> Id<&QuestId> {
        Id(&self.0.id)
    }

    async fn user_id(&self) -> Id<&UserId> {
        Id(&self.0.user_id)
    }

    async fn user(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.0.user_id).await
    }

    async fn title(&self) -> &str {
        &self.0.title
    }

    async fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    async fn difficulty(&self) -> Word<QuestDifficulty> {
        Word(self.0.difficulty)
    }

    /// What completing it earns.
    async fn reward_xp(&self) -> u64 {
        self.0.reward_xp
    }

    async fn status(&self) -> Word<QuestStatus> {
        Word(self.0.status)
    }

    async fn tags(&self) -> Vec<String> {
        self.0.tags.iter().map(ToString::to_string).collect()
    }

    async fn deadline(&self) -> Option<DateTime> {
        DateTime::maybe(self.0.deadline)
    }

    /// Whether it names what must be done, or how many.
    async fn kind(&self) -> Word<QuestKind> {
        Word(self.0.kind)
    }

    async fn linked_goal_ids(&self) -> Option<Vec<Id<&GoalId>>> {
        self.0.linked_goal_ids.as_ref().map(|ids| ids.iter().map(Id).collect())
    }

    async fn linked_task_ids(&self) -> Option<Vec<Id<&TaskId>>> {
        self.0.linked_task_ids.as_ref().map(|ids| ids.iter().map(Id).collect())
    }

    async fn target_count(&self) -> Option<u64> {
        self.0.target_count
    }

    /// Whether any task counts, or only those it names.
    async fn count_scope(&self) -> Option<Word<CountScope>> {
        self.0.count_scope.map(Word)
    }

    /// How much is done by now.
    async fn progress_count(&self) -> u64 {
        self.0.progress_count
    }

    /// Why it was cancelled, where nobody did it by hand.
    async fn cancel_reason(&self) -> Option<&str> {
        self.0.cancel_reason.as_deref()
    }

    async fn start_at(&self) -> Option<DateTime> {
        DateTime::maybe(self.0.start_at)
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

/// The quests of somebody that fit, the newest first.
pub(crate) async fn quests(
    ctx: &Context<'_>,
    owner: &UserId,
    filter: QuestFilter,
    paging: Paging,
) -> Result<Connection<Quest>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, quests) = (asked.caller()?, asked.services().quests());
    let list = format!("quests of {owner}, {filter:?}");
    paging.read(ctx, &list, async |page| quests.list(caller, owner, &filter, page).await).await
}
