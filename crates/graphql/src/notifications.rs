//! Notifications: their type, queries, mutation and subscription.

use roundtable_domain::{NotificationView, ResumePoint};
use roundtable_graphql_macros::{fields, input, object};
use roundtable_interface::ApiError;
use roundtable_model::{
    EntityKind, NotificationId, NotificationKind, RequestId, SubjectId, ThreadId, Time, entities,
};

use crate::assistance::AssistThread;
use crate::connection::{Connection, PageArguments};
use crate::events::{EventStream, event_stream};
use crate::node::node_id;
use crate::objects::{converted, objects};
use crate::request::RequestContext;
use crate::timelines::{ObjectKey, TimelineEntity};
use crate::users::User;

objects! {
    Notification of NotificationView;
}

impl Notification {
    /// Returns the viewer's notifications in the order of their ids; `None` where one is hidden.
    pub(crate) async fn load(
        context: &RequestContext,
        ids: &[NotificationId],
    ) -> Result<Vec<Option<Self>>, ApiError> {
        let Some(viewer) = context.viewer() else { return Ok(vec![None; ids.len()]) };
        Ok(converted(context.services().notifications().by_ids(viewer, ids).await?))
    }
}

#[object(of = self.0.notification)]
impl Notification {
    fn node_id(&self) -> String {
        node_id("Notification", &[&self.0.notification.id])
    }

    fn resume_after(&self, context: &RequestContext) -> ResumePoint<NotificationId> {
        context.services().bus.resume_point(self.0.notification.id.clone())
    }

    /// A collapsed notification carries the time of its latest event.
    fn created_at(&self) -> Time {
        self.0.notification.time()
    }

    async fn actor(
        notifications: &[Self],
        context: &RequestContext,
    ) -> Result<Vec<Option<User>>, ApiError> {
        let actors = notifications.iter().map(|it| it.0.notification.actor_id.clone());
        User::load_given(context, &actors.collect::<Vec<_>>()).await
    }

    fn people_count(&self) -> u64 {
        self.0.people
    }

    async fn assist_thread(
        notifications: &[Self],
        context: &RequestContext,
    ) -> Result<Vec<Option<AssistThread>>, ApiError> {
        let thread = |note: &Self| {
            let is_about_help = matches!(
                note.0.notification.kind,
                NotificationKind::AssistRequest | NotificationKind::AssistAnswer
            );
            note.0.notification.within.as_ref().filter(|_| is_about_help).map(SubjectId::recast)
        };
        let ids: Vec<Option<ThreadId>> = notifications.iter().map(thread).collect();
        let known: Vec<ThreadId> = ids.iter().flatten().cloned().collect();
        let mut threads = AssistThread::load(context, &known).await?.into_iter();
        Ok(ids.into_iter().map(|id| id.and_then(|_| threads.next()?)).collect())
    }

    async fn object(
        notifications: &[Self],
        context: &RequestContext,
    ) -> Result<Vec<Option<TimelineEntity>>, ApiError> {
        let keys = notifications.iter().map(|it| object_key(&it.0.notification));
        ObjectKey::load(context, &keys.collect::<Vec<_>>()).await
    }
}

/// Returns the key of the object of a notification. Quests belong to the recipient.
fn object_key(notification: &entities::Notification) -> Option<ObjectKey> {
    let object = notification.object.as_ref()?;
    let (id, within) = (&object.id, notification.within.as_ref());
    Some(match (object.entity, within) {
        (EntityKind::User, _) => ObjectKey::User(id.recast()),
        (EntityKind::Group, _) => ObjectKey::Group(id.recast()),
        (EntityKind::Quest, _) => ObjectKey::Quest(notification.user_id.clone(), id.recast()),
        (EntityKind::Post, _) => ObjectKey::Post(id.recast()),
        (EntityKind::Task, Some(goal)) => ObjectKey::Task(goal.recast(), id.recast()),
        (EntityKind::Comment, Some(post)) => ObjectKey::Comment(post.recast(), id.recast()),
        (EntityKind::Message, Some(room)) => ObjectKey::Message(room.recast(), id.recast()),
        _ => return None,
    })
}

#[derive(Clone, Debug)]
pub(crate) struct NotificationPreference(roundtable_domain::NotificationPreference);

#[object]
impl NotificationPreference {
    fn kind(&self) -> NotificationKind {
        self.0.kind
    }

    fn enabled(&self) -> bool {
        self.0.is_enabled
    }
}

#[input]
#[derive(Debug)]
pub(crate) struct NotificationPreferenceInput {
    kind: NotificationKind,
    enabled: bool,
}

impl From<NotificationPreferenceInput> for roundtable_domain::NotificationPreference {
    fn from(input: NotificationPreferenceInput) -> Self {
        Self { kind: input.kind, is_enabled: input.enabled }
    }
}

pub(crate) struct NotificationQueries;

#[fields(Query)]
impl NotificationQueries {
    async fn list_notifications(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Notification>, ApiError> {
        let (caller, notifications) = (context.caller()?, context.services().notifications());
        let read = async |page: &_| notifications.list(caller, page).await;
        paging.read(context, "notifications", read).await
    }

    async fn notification_preferences(
        context: &RequestContext,
    ) -> Result<Vec<NotificationPreference>, ApiError> {
        let found = context.services().notifications().preferences(context.caller()?).await?;
        Ok(found.into_iter().map(NotificationPreference).collect())
    }

    async fn unread_notification_count(context: &RequestContext) -> Result<u64, ApiError> {
        Ok(context.services().notifications().unread(context.caller()?).await?)
    }
}

pub(crate) struct NotificationMutations;

#[fields(Mutation)]
impl NotificationMutations {
    async fn mark_notifications_read(
        context: &RequestContext,
        before: Time,
        request_id: Option<RequestId>,
    ) -> Result<u64, ApiError> {
        let (notifications, caller) = (context.services().notifications(), context.caller()?);
        Ok(notifications.mark_read(caller, before, request_id.as_ref()).await?)
    }

    async fn mark_notification_read(
        context: &RequestContext,
        id: NotificationId,
        request_id: Option<RequestId>,
    ) -> Result<Notification, ApiError> {
        let (notifications, caller) = (context.services().notifications(), context.caller()?);
        Ok(notifications.mark_one_read(caller, &id, request_id.as_ref()).await?.into())
    }

    async fn update_notification_preferences(
        context: &RequestContext,
        preferences: Vec<NotificationPreferenceInput>,
        request_id: Option<RequestId>,
    ) -> Result<Vec<NotificationPreference>, ApiError> {
        let (notifications, caller) = (context.services().notifications(), context.caller()?);
        let changes: Vec<_> = preferences.into_iter().map(Into::into).collect();
        let found = notifications.update_preferences(caller, &changes, request_id.as_ref()).await?;
        Ok(found.into_iter().map(NotificationPreference).collect())
    }
}

pub(crate) struct NotificationSubscriptions;

#[fields(Subscription)]
impl NotificationSubscriptions {
    async fn on_notification(
        context: &RequestContext,
        after: Option<ResumePoint<NotificationId>>,
    ) -> Result<EventStream<Notification>, ApiError> {
        let (services, caller) = (context.services(), context.caller()?);
        let notifications = services.notifications();
        let live = notifications.live(&services.bus, caller, after.as_ref()).await?;
        Ok(event_stream(live, |view| Some(view.into())))
    }
}
