//! The GraphQL type of activities.

use async_graphql::{Context, ID, Object};
use roundtable_model::table::Order;
use roundtable_model::{
    ActivityId, ActivityVerb, ActorId, GroupId, ObjectType, SubjectId, UserId, entities,
};

use super::media::{self, Media};
use super::unions::TimelineEntity;
use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};

#[derive(Clone, Debug)]
pub(crate) struct Activity(pub(crate) entities::Activity);

impl From<entities::Activity> for Activity {
    fn from(activity: entities::Activity) -> Self {
        Self(activity)
    }
}

/// Returns the parts of an activity's global id: its home (a user or a group), time and id.
pub(crate) fn node_id_parts(activity: &entities::Activity) -> [String; 3] {
    let home = entities::Activity::home(&activity.actor_id, &activity.group_id);
    [home.to_string(), activity.created_at.ms().to_string(), activity.activity_id.to_string()]
}

#[Object]
impl Activity {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Activity", &node_id_parts(&self.0).each_ref().map(String::as_str))
    }

    async fn activity_id(&self) -> ApiId<&ActivityId> {
        ApiId(&self.0.activity_id)
    }

    async fn actor_id(&self) -> ApiId<&UserId> {
        ApiId(&self.0.actor_id)
    }

    async fn actor(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        User::load(ctx, &self.0.actor_id).await
    }

    /// The group in which it happened.
    async fn group_id(&self) -> Option<ApiId<&GroupId>> {
        self.0.group_id.as_ref().map(ApiId)
    }

    async fn verb(&self) -> EnumValue<ActivityVerb> {
        EnumValue(self.0.verb)
    }

    async fn object_type(&self) -> EnumValue<ObjectType> {
        EnumValue(self.0.object_type)
    }

    async fn object_id(&self) -> ApiId<&SubjectId> {
        ApiId(&self.0.object_id)
    }

    /// The object of the activity, if the viewer may see it.
    async fn object(&self, ctx: &Context<'_>) -> Result<Option<TimelineEntity>, ApiError> {
        TimelineEntity::object(ctx, &self.0).await
    }

    async fn preview_text(&self) -> Option<&str> {
        self.0.preview_text.as_deref()
    }

    async fn media(&self, ctx: &Context<'_>) -> Result<Option<Media>, ApiError> {
        Ok(media::fetchable(ctx, &self.0.media).await?.into_iter().next())
    }

    async fn tags(&self) -> Vec<String> {
        self.0.tags.iter().map(ToString::to_string).collect()
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

pub(crate) async fn list_by_actor(
    ctx: &Context<'_>,
    actor: &ActorId,
    order: Order,
    paging: PageArguments,
) -> Result<Connection<Activity>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let activities = context.services().activities();
    let list = format!("activities of {actor}, {order:?}");
    paging
        .read(ctx, &list, async |page| activities.of(context.viewer(), actor, order, page).await)
        .await
}
