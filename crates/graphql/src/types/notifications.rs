//! The GraphQL type of notifications.

use async_graphql::{Context, ID, Object};
use roundtable_domain::NotificationView;
use roundtable_model::{EntityKind, NotificationId, NotificationKind};

use super::comments::Comment;
use super::goals::Task;
use super::groups::Group;
use super::posts::Post;
use super::quests::Quest;
use super::rooms::Message;
use super::unions::TimelineEntity;
use super::users::User;
use crate::ApiError;
use crate::connection::{Connection, PageArguments};
use crate::enums::EnumValue;
use crate::loaders::{CommentKey, TaskKey};
use crate::node::node_id;
use crate::request::RequestContext;
use crate::scalars::{ApiId, DateTime};

#[derive(Clone, Debug)]
pub(crate) struct Notification(pub(crate) NotificationView);

impl From<NotificationView> for Notification {
    fn from(view: NotificationView) -> Self {
        Self(view)
    }
}

#[Object]
impl Notification {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Notification", &[&self.0.notification.id.to_string()])
    }

    async fn id(&self) -> ApiId<&NotificationId> {
        ApiId(&self.0.notification.id)
    }

    async fn kind(&self) -> EnumValue<NotificationKind> {
        EnumValue(self.0.notification.kind)
    }

    /// The user who caused it; the latest of several.
    async fn actor(&self, ctx: &Context<'_>) -> Result<Option<User>, ApiError> {
        match &self.0.notification.actor_id {
            Some(actor) => User::load(ctx, actor).await,
            None => Ok(None),
        }
    }

    /// The number of users who caused it so far.
    async fn people_count(&self) -> u64 {
        self.0.people
    }

    /// The object of the event, if the viewer may still see it.
    async fn object(&self, ctx: &Context<'_>) -> Result<Option<TimelineEntity>, ApiError> {
        let notification = &self.0.notification;
        let Some(object) = &notification.object else { return Ok(None) };
        let (id, loaders) = (&object.id, &RequestContext::of(ctx)?.loaders);
        Ok(match (object.entity, notification.within.as_ref()) {
            (EntityKind::User, _) => {
                User::load(ctx, &id.recast()).await?.map(|it| Box::new(it).into())
            }
            (EntityKind::Post, _) => Post::load(ctx, &id.recast()).await?.map(Into::into),
            (EntityKind::Comment, Some(post)) => {
                let comment = loaders.load(CommentKey(post.recast(), id.recast())).await?;
                comment.map(|it| Box::new(Comment::from(it)).into())
            }
            (EntityKind::Group, _) => {
                Group::load(ctx, &id.recast()).await?.map(|it| Box::new(it).into())
            }
            (EntityKind::Quest, _) => {
                let quest = Quest::load(ctx, &notification.user_id, &id.recast()).await?;
                quest.map(|it| Box::new(it).into())
            }
            (EntityKind::Task, Some(goal)) => {
                let task = loaders.load(TaskKey(goal.recast(), id.recast())).await?;
                task.map(|it| Box::new(Task::from(it)).into())
            }
            (EntityKind::Message, Some(room)) => {
                let message = Message::load(ctx, room.recast(), id.recast()).await?;
                message.map(|it| Box::new(it).into())
            }
            _ => None,
        })
    }

    async fn read_at(&self) -> Option<DateTime> {
        DateTime::optional(self.0.notification.read_at)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.notification.created_at)
    }
}

pub(crate) async fn list_mine(
    ctx: &Context<'_>,
    paging: PageArguments,
) -> Result<Connection<Notification>, ApiError> {
    let context = RequestContext::of(ctx)?;
    let (caller, notifications) = (context.caller()?, context.services().notifications());
    paging.read(ctx, "notifications", async |page| notifications.list(caller, page).await).await
}
