//! What happened, as the API shows it.

use async_graphql::{Context, ID, Object};
use roundtable_model::table::Order;
use roundtable_model::{
    ActivityId, ActivityVerb, ActorId, GroupId, ObjectType, SubjectId, UserId, entities,
};

use super::media::{self, Media};
use super::unions::TimelineEntity;
use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id};
use crate::words::Word;

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) struct Activity(pub(crate) entities::Activity);

impl From<entities::Activity> for Activity {
    fn from(activity: entities::Activity) -> Self {
        Self(activity)
    }
}

/// What finds an activity again: whose or which group's it is, when it happened, and which it is.
pub(crate) fn place(activity: &entities::Activity) -> [String; 3] {
    let home = entities::Activity::home(&activity.actor_id, &activity.group_id);
    [home.to_string(), activity.created_at.ms().to_string(), activity.activity_id.to_string()]
}

#[Object]
impl Activity {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Activity", &place(&self.0).each_ref().map(String::as_str))
    }

    async fn activity_id(&self) -> Id<&ActivityId> {
        Id(&self.0.activity_id)
    }

    async fn actor_id(&self) -> Id<&UserId> {
        Id(&self.0.actor_id)
    }

    async fn actor(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        User::load(ctx, &self.0.actor_id).await
    }

    /// The group it was done in.
    async fn group_id(&self) -> Option<Id<&GroupId>> {
        self.0.group_id.as_ref().map(Id)
    }

    async fn verb(&self) -> Word<ActivityVerb> {
        Word(self.0.verb)
    }

    async fn object_type(&self) -> Word<ObjectType> {
        Word(self.0.object_type)
    }

    async fn object_id(&self) -> Id<&SubjectId> {
        Id(&self.0.object_id)
    }

    /// What it was done to, if the viewer may see that.
    async fn object(&self, ctx: &Context<'_>) -> Result<Option<TimelineEntity>, Refused> {
        TimelineEntity::object(ctx, &self.0).await
    }

    async fn preview_text(&self) -> Option<&str> {
        self.0.preview_text.as_deref()
    }

    async fn media(&self, ctx: &Context<'_>) -> Result<Option<Media>, Refused> {
        Ok(media::shown(ctx, &self.0.media).await?.into_iter().next())
    }

    async fn tags(&self) -> Vec<String> {
        self.0.tags.iter().map(ToString::to_string).collect()
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }
}

/// What a person did outside groups, or what was done in a group.
pub(crate) async fn of(
    ctx: &Context<'_>,
    actor: &ActorId,
    order: Order,
    paging: Paging,
) -> Result<Connection<Activity>, Refused> {
    let asked = Asked::of(ctx)?;
    let activities = asked.services().activities();
    let list = format!("activities of {actor}, {order:?}");
    paging
        .read(ctx, &list, async |page| activities.of(asked.viewer(), actor, order, page).await)
        .await
}
