//! A subscription to one topic: each event is read with the subscriber's access on delivery.

use std::sync::Arc;

use futures::future::BoxFuture;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::User;
use tokio::sync::broadcast::error::RecvError;

use super::topic_events::TopicEvent;
use super::topics::TopicSubscriber;
use super::{LiveError, LiveEvent, LiveSource, LiveUpdates, Topic};
use crate::{
    Activities, ActivityError, Caller, CommentError, Comments, FollowError, Follows, GroupError,
    Groups, PostError, Posts, QuestError, Quests, ServiceError,
};

#[derive(Debug)]
pub struct TopicSubscription {
    live: LiveUpdates,
    caller: Caller,
    topic: Topic,
    /// The subscriber, or the reason why there will be no more events.
    subscriber: Result<TopicSubscriber, LiveError>,
    /// An event received but not delivered. It is read again if a read is cancelled or the store fails.
    pending: Option<Arc<TopicEvent>>,
}

#[boxed]
impl LiveUpdates {
    /// Subscribes to a topic. The caller must be able to see its object.
    pub async fn subscribe(
        &self,
        caller: &Caller,
        topic: Topic,
    ) -> Result<TopicSubscription, LiveError> {
        // The stream is not read here: a slow connection may leave this future unpolled, which
        // would hold up all other readers.
        let subscriber = self.bus.topics().subscribe(topic.clone());
        let subscription = TopicSubscription {
            live: self.clone(),
            caller: caller.clone(),
            topic,
            subscriber: Ok(subscriber),
            pending: None,
        };
        let me = self.context.authorize_read(caller).await?;
        subscription.check(&me).await?;
        Ok(subscription)
    }
}

impl LiveSource for TopicSubscription {
    type Event = LiveEvent;
    type Error = LiveError;

    /// Fails once the subscriber may no longer subscribe, when they fell behind, and when this process
    /// missed changes.
    fn read(&mut self) -> BoxFuture<'_, Result<Option<LiveEvent>, LiveError>> {
        Box::pin(async move {
            let Some(event) = self.pending.clone() else {
                return self.subscriber.as_ref().map(|_| None).map_err(LiveError::clone);
            };
            let me = self.live.context.authorize_read(&self.caller).await?;
            self.check_role(&me)?;
            let visible = self.visible(&event).await?;
            self.pending = None;
            Ok(visible)
        })
    }

    fn changed(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let Ok(subscriber) = &mut self.subscriber else { return };
            match subscriber.next().await {
                Ok(event) => self.pending = Some(event),
                Err(RecvError::Lagged(_)) => self.subscriber = Err(LiveError::TooSlow),
                // Disconnected by a gap, which is not the subscriber's fault.
                Err(RecvError::Closed) => self.subscriber = Err(LiveError::Missed),
            }
        })
    }
}

impl TopicSubscription {
    /// Fails if the caller cannot see the topic's object.
    async fn check(&self, me: &User) -> Result<(), LiveError> {
        self.check_role(me)?;
        let context = &self.live.context;
        match &self.topic {
            Topic::Post(post)
            | Topic::Likes(post)
            | Topic::Comments(post)
            | Topic::Decisions(Some(post)) => {
                let posts = Posts::new(context.clone());
                let found = posts.posts(Some(&self.caller), std::slice::from_ref(post)).await;
                let found = found?.into_iter().flatten().next();
                found.map(drop).ok_or(LiveError::NoSuchPost)
            }
            Topic::Followers(user) => {
                let access = context.viewer_access_of(&self.caller, me, [user], []).await?;
                access.visible_user(user).map(drop).ok_or(LiveError::NoSuchUser)
            }
            Topic::Members(group) => {
                let access = context.viewer_access_of(&self.caller, me, [], [group]).await?;
                access.visible_group(group).map(drop).ok_or(LiveError::NoSuchGroup)
            }
            Topic::Quests(user) if *user != me.id => Err(LiveError::NoSuchUser),
            _ => Ok(()),
        }
    }

    /// Only current moderators may follow all moderation decisions.
    fn check_role(&self, me: &User) -> Result<(), LiveError> {
        let is_staff = self.caller.current_roles(me).moderates();
        match &self.topic {
            Topic::Decisions(None) if !is_staff => Err(ServiceError::Forbidden.into()),
            _ => Ok(()),
        }
    }

    /// Reads an event's object as the subscriber may see it now.
    async fn visible(&self, event: &TopicEvent) -> Result<Option<LiveEvent>, LiveError> {
        let (context, viewer) = (self.live.context.clone(), Some(&self.caller));
        Ok(match event {
            TopicEvent::Activity(home, at, id) => {
                let key = (home.clone(), *at, id.clone());
                let found = Activities::new(context).at(viewer, &[key]).await?;
                first(found).map(|activity| LiveEvent::Activity(Box::new(activity)))
            }
            TopicEvent::Post(id) => {
                let found = Posts::new(context).posts(viewer, std::slice::from_ref(id)).await;
                first(found?).map(|post| LiveEvent::Post(Box::new(post)))
            }
            TopicEvent::Like(id, liked) => {
                let found = Posts::new(context).posts(viewer, std::slice::from_ref(id)).await;
                let found = first(found?);
                found.map(|post| LiveEvent::Like { post_id: post.id, liked: *liked })
            }
            TopicEvent::Comment(post, id) => {
                let key = (post.clone(), id.clone());
                let found = Comments::new(context).comments(viewer, &[key]).await;
                first(found?).map(|comment| LiveEvent::Comment(Box::new(comment)))
            }
            TopicEvent::Follow(follower, followee) => {
                let ends = (follower.clone(), followee.clone());
                let found = Follows::new(context).among(viewer, &[ends]).await?;
                first(found).map(|follow| LiveEvent::Follow(Box::new(follow)))
            }
            TopicEvent::Membership(member, has_left) => {
                let groups = Groups::new(context);
                let member = (**member).clone();
                let found = if *has_left {
                    groups.visible_former_membership(&self.caller, member).await?
                } else {
                    let key = (member.group_id, member.user_id);
                    first(groups.memberships(viewer, &[key]).await?)
                };
                found.map(|member| LiveEvent::Membership(Box::new(member)))
            }
            TopicEvent::Quest(user, id) => {
                match Quests::new(context).get(&self.caller, user, id).await {
                    Ok(quest) => Some(LiveEvent::Quest(Box::new(quest))),
                    Err(QuestError::NoSuchQuest) => None,
                    Err(error) => return Err(error.into()),
                }
            }
        })
    }
}

fn first<T>(found: Vec<Option<T>>) -> Option<T> {
    found.into_iter().flatten().next()
}

/// Reads of these services return `None` for hidden objects, so any error concerns the caller or
/// the store.
macro_rules! from_service_errors {
    ($($error:ident)*) => {$(
        impl From<$error> for LiveError {
            fn from(error: $error) -> Self {
                match error {
                    $error::Failed(failure) => failure.into(),
                    other => ServiceError::Internal(other.to_string()).into(),
                }
            }
        }
    )*};
}

from_service_errors! { ActivityError PostError CommentError FollowError GroupError QuestError }
