//! Builds the body of an event: a `CloudEvent` in JSON with what an anonymous viewer may see (I9).

use std::collections::BTreeMap;

use roundtable_domain::{
    AccountError, Accounts, Caller, Code, CommentError, Comments, Context, EventType, GroupError,
    Groups, NotificationError, NotificationView, Notifications, PostError, Posts, Refusal,
    WebhookMessage,
};
use roundtable_model::entities::{Comment, Group, Notification, Post, User};
use roundtable_model::{Entity, Time};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::event_sources::PendingEvent;
use crate::{ProcessingError, Result};

#[derive(Clone, Debug)]
pub(super) struct EventBodyBuilder {
    /// The `source` attribute.
    source: String,
    accounts: Accounts,
    groups: Groups,
    posts: Posts,
    comments: Comments,
    notifications: Notifications,
}

#[derive(Serialize)]
struct CloudEvent<'a> {
    specversion: &'static str,
    id: &'a str,
    source: &'a str,
    r#type: &'a str,
    subject: &'a str,
    time: Time,
    datacontenttype: &'static str,
    data: Map<String, Value>,
}

impl EventBodyBuilder {
    pub(super) fn new(context: &Context) -> Self {
        Self {
            source: format!("/roundtable/{}", context.settings().tables.core),
            accounts: Accounts::new(context.clone()),
            groups: Groups::new(context.clone()),
            posts: Posts::new(context.clone()),
            comments: Comments::new(context.clone()),
            notifications: Notifications::new(context.clone()),
        }
    }

    /// Builds the message for an event from the current state.
    pub(super) async fn build(&self, event: &PendingEvent) -> Result<WebhookMessage> {
        let ids = event.ids.iter().map(|(name, id)| (name.clone(), Value::from(id.as_str())));
        let mut data: Map<String, Value> = ids.collect();
        if let Some(Value::Object(public)) = self.public_data(event).await? {
            data.extend(public);
        }
        let cloud_event = CloudEvent {
            specversion: "1.0",
            id: &event.id,
            source: &self.source,
            r#type: &event.kind,
            subject: &event.subject,
            time: event.time,
            datacontenttype: "application/json",
            data,
        };
        let body = serde_json::to_vec(&cloud_event).map_err(ProcessingError::unprocessable)?;
        Ok(WebhookMessage { id: event.id.clone(), body })
    }

    /// Returns what an anonymous viewer can read of the entity; of a notification, what its recipient
    /// can. It goes through the services, so
    /// that anything hidden from users is hidden from endpoints.
    async fn public_data(&self, event: &PendingEvent) -> Result<Option<Value>> {
        // An event type of another version is sent with its ids only.
        let Some(kind) = EventType::named(&event.kind) else { return Ok(None) };
        let entity = kind.entity;
        let ids = &event.ids;
        if entity == Post::SHAPE.name {
            return match self.posts.post(None, &parse_id(ids, "postId")?).await {
                Ok(post) => Ok(Some(post_data(&post))),
                Err(PostError::Failed(error)) => Err(error.into()),
                Err(_) => Ok(None),
            };
        }
        if entity == Comment::SHAPE.name {
            return match self.comments.comment(None, &parse_id(ids, "commentId")?).await {
                Ok(comment) => Ok(Some(json!({
                    "content": comment.content,
                    "hashtags": comment.tags(),
                    "mentions": comment.mentions.as_deref().unwrap_or_default(),
                    "createdAt": comment.created_at,
                    "updatedAt": comment.updated_at,
                }))),
                Err(CommentError::Failed(error)) => Err(error.into()),
                Err(_) => Ok(None),
            };
        }
        if entity == User::SHAPE.name {
            return match self.accounts.user(None, &parse_id(ids, "userId")?).await {
                Ok(user) => Ok(user.filter(|user| !user.is_private).map(|user| user_data(&user))),
                Err(AccountError::Failed(error)) => Err(error.into()),
                Err(_) => Ok(None),
            };
        }
        if entity == Group::SHAPE.name {
            return match self.groups.get(None, &parse_id(ids, "groupId")?).await {
                Ok(view) if view.group.is_private => Ok(None),
                Ok(view) => Ok(Some(group_data(&view.group))),
                Err(GroupError::Failed(error)) => Err(error.into()),
                Err(_) => Ok(None),
            };
        }
        if entity == Notification::SHAPE.name {
            return self.notification_data(ids).await;
        }
        Ok(None)
    }

    async fn notification_data(&self, ids: &BTreeMap<String, String>) -> Result<Option<Value>> {
        let recipient = Caller::user(parse_id(ids, "userId")?);
        let id = parse_id(ids, "notificationId")?;
        match self.notifications.by_ids(&recipient, &[id]).await {
            Ok(found) => Ok(found.into_iter().flatten().next().map(notification_data)),
            // The account is suspended or gone.
            Err(error) if matches!(error.code(), Code::Forbidden | Code::Unauthenticated) => {
                Ok(None)
            }
            Err(NotificationError::Failed(error)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }
}

fn parse_id<I: std::str::FromStr<Err = roundtable_model::InvalidValue>>(
    ids: &BTreeMap<String, String>,
    name: &str,
) -> Result<I> {
    let id = ids
        .get(name)
        .ok_or_else(|| ProcessingError::unprocessable(format!("the event has no {name}")))?;
    Ok(id.parse()?)
}

fn post_data(post: &Post) -> Value {
    json!({
        "authorNickname": post.author_nickname,
        "content": post.content,
        "contentType": post.content_type,
        "hashtags": post.hashtags,
        "mentions": post.mentions,
        "visibility": post.visibility,
        "createdAt": post.created_at,
        "updatedAt": post.updated_at,
    })
}

fn user_data(user: &User) -> Value {
    json!({
        "nickname": user.nickname,
        "displayName": user.display_name,
        "handle": user.handle,
        "bio": user.bio,
        "tags": user.tags,
        "profileImageUrl": user.profile_image_url,
        "isVerified": user.is_verified,
        "createdAt": user.created_at,
    })
}

/// Ids and the kind, for the service that notifies the recipient: no texts.
fn notification_data(view: NotificationView) -> Value {
    let NotificationView { notification, people } = view;
    let object = notification.object.as_ref();
    json!({
        "kind": notification.kind,
        "actorId": notification.actor_id,
        "objectType": object.map(|object| object.entity),
        "objectId": object.map(|object| &object.id),
        "withinId": notification.within,
        "peopleCount": people,
        "createdAt": notification.time(),
    })
}

fn group_data(group: &Group) -> Value {
    json!({
        "name": group.name,
        "description": group.description,
        "tags": group.tags,
        "createdAt": group.created_at,
        "updatedAt": group.updated_at,
    })
}
