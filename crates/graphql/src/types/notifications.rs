//! What people are told, as the API shows it.

use async_graphql::{Context, ID, Object};
use roundtable_domain::Notice;
use roundtable_model::{EntityKind, NotificationId, NotificationKind};

use super::comments::Comment;
use super::goals::Task;
use super::groups::Group;
use super::posts::Post;
use super::quests::Quest;
use super::rooms::Message;
use super::unions::TimelineEntity;
use super::users::User;
use crate::Refused;
use crate::connection::{Connection, Paging};
use crate::loaders::{CommentOn, TaskOf};
use crate::node::node_id;
use crate::request::Asked;
use crate::scalars::{DateTime, Id};
use crate::words::Word;

/// Something the viewer is told.
#[derive(Clone, Debug)]
pub(crate) struct Notification(pub(crate) Notice);

impl From<Notice> for Notification {
    fn from(notice: Notice) -> Self {
        Self(notice)
    }
}

#[Object]
impl Notification {
    pub(crate) async fn node_id(&self) -> ID {
        node_id("Notification", &[&self.0.notification.id.to_string()])
    }

    async fn id(&self) -> Id<&NotificationId> {
        Id(&self.0.notification.id)
    }

    async fn kind(&self) -> Word<NotificationKind> {
        Word(self.0.notification.kind)
    }

    /// Who did it; of several, the latest.
    async fn actor(&self, ctx: &Context<'_>) -> Result<Option<User>, Refused> {
        match &self.0.notification.actor_id {
            Some(actor) => User::load(ctx, actor).await,
            None => Ok(None),
        }
    }

    /// How many did it by now.
    async fn people_count(&self) -> u64 {
        self.0.people
    }

    /// What it was done to, if the viewer may still see it.
    async fn object(&self, ctx: &Context<'_>) -> Result<Option<TimelineEntity>, Refused> {
        let note = &self.0.notification;
        let Some(object) = &note.object else { return Ok(None) };
        let (id, load) = (&object.id, &Asked::of(ctx)?.load);
        Ok(match (object.entity, note.within.as_ref()) {
            (EntityKind::User, _) => {
                User::load(ctx, &id.recast()).await?.map(|it| Box::new(it).into())
            }
            (EntityKind::Post, _) => Post::load(ctx, &id.recast()).await?.map(Into::into),
            (EntityKind::Comment, Some(post)) => {
                let comment = load.one(CommentOn(post.recast(), id.recast())).await?;
                comment.map(|it| Box::new(Comment::from(it)).into())
            }
            (EntityKind::Group, _) => {
                Group::load(ctx, &id.recast()).await?.map(|it| Box::new(it).into())
            }
            (EntityKind::Quest, _) => {
                let quest = Quest::load(ctx, &note.user_id, &id.recast()).await?;
                quest.map(|it| Box::new(it).into())
            }
            (EntityKind::Task, Some(goal)) => {
                let task = load.one(TaskOf(goal.recast(), id.recast())).await?;
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
        DateTime::maybe(self.0.notification.read_at)
    }

    async fn created_at(&self) -> DateTime {
        DateTime(self.0.notification.created_at)
    }
}

/// What the caller was told.
pub(crate) async fn mine(
    ctx: &Context<'_>,
    paging: Paging,
) -> Result<Connection<Notification>, Refused> {
    let asked = Asked::of(ctx)?;
    let (caller, notifications) = (asked.caller()?, &asked.services().notifications);
    paging.read(ctx, "notifications", async |page| notifications.list(caller, page).await).await
}
