//! Activities: their type, queries, mutations and subscriptions.

use roundtable_domain::{LiveEvent, NewActivity, Topic};
use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::table::Order;
use roundtable_model::{ActivityId, ActorId, RequestId, Time, UserId, entities};

use crate::connection::{Connection, PageArguments};
use crate::enums::ModelSortDirection;
use crate::events::{EventStream, subscribe};
use crate::media::{self, Media};
use crate::node::node_id;
use crate::objects::{converted, objects};
use crate::request::RequestContext;
use crate::timelines::{ObjectKey, TimelineEntity};
use crate::users::User;

objects! {
    Activity of entities::Activity;
}

impl Activity {
    pub(crate) async fn load(
        context: &RequestContext,
        positions: &[(ActorId, Time, ActivityId)],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        Ok(converted(context.services().activities().at(context.viewer(), positions).await?))
    }
}

/// Returns a global id that names an activity by its home (a user or a group), time and id.
pub(crate) fn activity_node_id(kind: &str, activity: &entities::Activity) -> String {
    let home = entities::Activity::home(&activity.actor_id, &activity.group_id);
    node_id(kind, &[&home, &activity.created_at.ms(), &activity.activity_id])
}

#[object(of = self.0)]
impl Activity {
    fn node_id(&self) -> String {
        activity_node_id("Activity", &self.0)
    }

    fn actor(&self) -> &UserId {
        &self.0.actor_id
    }

    async fn object(
        activities: &[Self],
        context: &RequestContext,
    ) -> Result<Vec<Option<TimelineEntity>>, ApiError> {
        let keys: Vec<_> = activities.iter().map(|it| ObjectKey::of_activity(&it.0)).collect();
        ObjectKey::load(context, &keys).await
    }

    async fn media(
        activities: &[Self],
        context: &RequestContext,
    ) -> Result<Vec<Option<Media>>, ApiError> {
        let files = activities.iter().map(|activity| activity.0.media.as_slice());
        let files = media::fetchable(context, files).await?;
        Ok(files.into_iter().map(|files| files.into_iter().next()).collect())
    }
}

pub(crate) async fn list_by_actor(
    context: &RequestContext,
    actor: &ActorId,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<Activity>, ApiError> {
    let (activities, viewer) = (context.services().activities(), context.viewer());
    let list = format!("activities of {actor}, {order:?}");
    paging.read(context, &list, async |page| activities.of(viewer, actor, order, page).await).await
}

pub(crate) struct ActivityQueries;

#[fields(Query)]
impl ActivityQueries {
    async fn list_activities(
        context: &RequestContext,
        actor_id: ActorId,
        paging: PageArguments,
        sort_direction: Option<ModelSortDirection>,
    ) -> Result<Connection<Activity>, ApiError> {
        let order = ModelSortDirection::order_or(sort_direction, Order::Descending);
        list_by_actor(context, &actor_id, order, paging).await
    }
}

pub(crate) struct ActivityMutations;

#[fields(Mutation)]
impl ActivityMutations {
    async fn post_activity(
        context: &RequestContext,
        input: NewActivity,
        request_id: Option<RequestId>,
    ) -> Result<Activity, ApiError> {
        let (activities, caller) = (context.services().activities(), context.caller()?);
        Ok(activities.post(caller, &input, request_id.as_ref()).await?.into())
    }
}

pub(crate) struct ActivitySubscriptions;

#[fields(Subscription)]
impl ActivitySubscriptions {
    async fn on_post_activity(
        context: &RequestContext,
        actor_id: Option<ActorId>,
    ) -> Result<EventStream<Activity>, ApiError> {
        subscribe(context, Topic::Activities(actor_id), |event| match event {
            LiveEvent::Activity(activity) => Some((*activity).into()),
            _ => None,
        })
        .await
    }
}
