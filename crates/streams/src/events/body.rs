//! What an endpoint is sent of an event: a `CloudEvent` in JSON, with what everybody may see (I9).

use std::collections::BTreeMap;

use roundtable_domain::{
    AccountError, Accounts, CommentError, Comments, EventType, Ground, GroupError, Groups,
    Outgoing, PostError, Posts,
};
use roundtable_model::entities::{Comment, Group, Post, User};
use roundtable_model::{Entity, Time};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::watch::Happened;
use crate::Failure;

/// Makes what is sent of events.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    /// Where they come from, as `source` says.
    source: String,
    accounts: Accounts,
    groups: Groups,
    posts: Posts,
    comments: Comments,
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

impl Bodies {
    pub(super) fn new(ground: &Ground) -> Self {
        Self {
            source: format!("/roundtable/{}", ground.settings().tables.core),
            accounts: Accounts::new(ground.clone()),
            groups: Groups::new(ground.clone()),
            posts: Posts::new(ground.clone()),
            comments: Comments::new(ground.clone()),
        }
    }

    /// What is sent of an event now.
    pub(super) async fn of(&self, event: &Happened) -> Result<Outgoing, Failure> {
        let ids = event.ids.iter().map(|(name, id)| (name.clone(), Value::from(id.as_str())));
        let mut data: Map<String, Value> = ids.collect();
        if let Some(Value::Object(seen)) = self.seen_by_everybody(event).await? {
            data.extend(seen);
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
        let body = serde_json::to_vec(&cloud_event).map_err(Failure::broken)?;
        Ok(Outgoing { id: event.id.clone(), body })
    }

    /// What somebody can read of it who is not signed in. They ask as everybody does, so that it is
    /// hidden from endpoints whenever it is hidden at all.
    async fn seen_by_everybody(&self, event: &Happened) -> Result<Option<Value>, Failure> {
        // Of what only another version knows, ids are told.
        let Some(kind) = EventType::named(&event.kind) else { return Ok(None) };
        let entity = kind.entity;
        let ids = &event.ids;
        if entity == Post::SHAPE.name {
            return match self.posts.post(None, &id(ids, "postId")?).await {
                Ok(post) => Ok(Some(of_post(&post))),
                Err(PostError::Failed(failure)) => Err(failure.into()),
                Err(_) => Ok(None),
            };
        }
        if entity == Comment::SHAPE.name {
            return match self.comments.comment(None, &id(ids, "commentId")?).await {
                Ok(comment) => Ok(Some(json!({
                    "content": comment.content,
                    "createdAt": comment.created_at,
                    "updatedAt": comment.updated_at,
                }))),
                Err(CommentError::Failed(failure)) => Err(failure.into()),
                Err(_) => Ok(None),
            };
        }
        if entity == User::SHAPE.name {
            return match self.accounts.user(None, &id(ids, "userId")?).await {
                Ok(user) => Ok(user.filter(|user| !user.is_private).map(|user| of_user(&user))),
                Err(AccountError::Failed(failure)) => Err(failure.into()),
                Err(_) => Ok(None),
            };
        }
        if entity == Group::SHAPE.name {
            return match self.groups.get(None, &id(ids, "groupId")?).await {
                Ok(view) if view.group.is_private => Ok(None),
                Ok(view) => Ok(Some(of_group(&view.group))),
                Err(GroupError::Failed(failure)) => Err(failure.into()),
                Err(_) => Ok(None),
            };
        }
        Ok(None)
    }
}

fn id<I: std::str::FromStr<Err = roundtable_model::Misfit>>(
    ids: &BTreeMap<String, String>,
    name: &str,
) -> Result<I, Failure> {
    let id = ids.get(name).ok_or_else(|| Failure::broken(format!("an event without {name}")))?;
    Ok(id.parse()?)
}

fn of_post(post: &Post) -> Value {
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

fn of_user(user: &User) -> Value {
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

fn of_group(group: &Group) -> Value {
    json!({
        "name": group.name,
        "description": group.description,
        "tags": group.tags,
        "createdAt": group.created_at,
        "updatedAt": group.updated_at,
    })
}
