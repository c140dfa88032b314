//! Quests, which only their owner and admins see.

use roundtable_domain::{LiveEvent, NewQuest, QuestFilter, Topic};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::{GoalId, QuestId, QuestStatus, RequestId, TaskId, UserId, entities};

use crate::connection::{Connection, PageArguments};
use crate::events::{EventStream, subscribe};
use crate::node::node_id;
use crate::objects::{converted, objects, only};
use crate::request::RequestContext;
use crate::users::User;

objects! {
    Quest of entities::Quest;
}

impl Quest {
    /// Returns quests in the order of their keys; `None` where the viewer may not see one.
    pub(crate) async fn load(
        context: &RequestContext,
        keys: &[(UserId, QuestId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(caller) = context.viewer() else { return Ok(vec![None; keys.len()]) };
        Ok(converted(context.services().quests().quests(caller, keys).await?))
    }
}

#[object(of = self.0)]
impl Quest {
    fn node_id(&self) -> String {
        node_id("Quest", &[&self.0.user_id, &self.0.id])
    }

    fn user(&self) -> &UserId {
        &self.0.user_id
    }
}

pub(crate) async fn list_quests(
    context: &RequestContext,
    owner: &UserId,
    filter: QuestFilter,
    paging: PageArguments,
) -> Result<Connection<Quest>, ApiError> {
    let (caller, quests) = (context.caller()?, context.services().quests());
    let list = format!("quests of {owner}, {filter:?}");
    let read = async |page: &_| quests.list(caller, owner, &filter, page).await;
    paging.read(context, &list, read).await
}

pub(crate) struct QuestQueries;

#[fields(Query)]
impl QuestQueries {
    async fn get_quest(
        context: &RequestContext,
        quest_id: QuestId,
        user_id: Option<UserId>,
    ) -> Result<Option<Quest>, ApiError> {
        let owner = context.user_or_caller(user_id)?;
        Ok(only(Quest::load(context, &[(owner, quest_id)]).await?))
    }

    async fn list_quests(
        context: &RequestContext,
        user_id: Option<UserId>,
        status: Option<QuestStatus>,
        linked_goal_id: Option<GoalId>,
        linked_task_id: Option<TaskId>,
        paging: PageArguments,
    ) -> Result<Connection<Quest>, ApiError> {
        let owner = context.user_or_caller(user_id)?;
        let filter = QuestFilter { status, linked_goal_id, linked_task_id };
        list_quests(context, &owner, filter, paging).await
    }
}

pub(crate) struct QuestMutations;

#[fields(Mutation)]
impl QuestMutations {
    async fn create_quest(
        context: &RequestContext,
        input: NewQuest,
        request_id: Option<RequestId>,
    ) -> Result<Quest, ApiError> {
        let (quests, caller) = (context.services().quests(), context.caller()?);
        Ok(quests.create(caller, &input, request_id.as_ref()).await?.into())
    }

    async fn cancel_quest(
        context: &RequestContext,
        quest_id: QuestId,
        request_id: Option<RequestId>,
    ) -> Result<Quest, ApiError> {
        let (quests, caller) = (context.services().quests(), context.caller()?);
        Ok(quests.cancel(caller, &quest_id, request_id.as_ref()).await?.into())
    }

    async fn delete_quest(
        context: &RequestContext,
        quest_id: QuestId,
        user_id: Option<UserId>,
        request_id: Option<RequestId>,
    ) -> Result<Quest, ApiError> {
        let (quests, caller) = (context.services().quests(), context.caller()?);
        let owner = context.user_or_caller(user_id)?;
        Ok(quests.delete(caller, &owner, &quest_id, request_id.as_ref()).await?.into())
    }
}

pub(crate) struct QuestSubscriptions;

fn changed_quest(event: LiveEvent) -> Option<Quest> {
    match event {
        LiveEvent::Quest(quest) => Some((*quest).into()),
        _ => None,
    }
}

#[fields(Subscription)]
impl QuestSubscriptions {
    async fn on_quest_change(context: &RequestContext) -> Result<EventStream<Quest>, ApiError> {
        let me = context.caller()?.user_id.clone();
        subscribe(context, Topic::Quests(me), changed_quest).await
    }
}
