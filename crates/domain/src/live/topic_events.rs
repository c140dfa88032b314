//! Maps changes of the table to events and topics.

use roundtable_model::entities::{
    Activity, Comment, Follow, GroupMember, Like, Post, ProfileActivity, Quest,
};
use roundtable_model::table::{Change, Item};
use roundtable_model::{
    ActivityId, ActorId, CommentId, Entity, FollowStatus, FromItem, PostId, QuestId, TYPE, Time,
    UserId,
};

use super::Topic;

/// An event and the key of its object, which is read on delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TopicEvent {
    Activity(ActorId, Time, ActivityId),
    Post(PostId),
    Like(PostId, bool),
    Comment(PostId, CommentId),
    Follow(UserId, UserId),
    /// With the membership's last state if the member has left.
    Membership(Box<GroupMember>, HasLeft),
    Quest(UserId, QuestId),
}

pub(crate) type HasLeft = bool;

/// Returns the events of a change, each with its topics.
pub(super) fn topic_events(change: &Change) -> Vec<(Vec<Topic>, TopicEvent)> {
    let image = change.new.as_ref().or(change.old.as_ref());
    let Some(kind) = image.and_then(|image| image.text(TYPE)) else { return Vec::new() };
    match kind {
        _ if kind == Activity::ENTITY.name => activity(change, read::<Activity>).collect(),
        _ if kind == ProfileActivity::ENTITY.name => {
            let read = |image: Option<&Item>| read::<ProfileActivity>(image).map(Activity::from);
            activity(change, read).collect()
        }
        _ if kind == Post::ENTITY.name => post(change),
        _ if kind == Like::ENTITY.name => like(change).into_iter().collect(),
        _ if kind == Comment::ENTITY.name => comment(change).into_iter().collect(),
        _ if kind == Follow::ENTITY.name => follow(change).into_iter().collect(),
        _ if kind == GroupMember::ENTITY.name => member(change).into_iter().collect(),
        _ if kind == Quest::ENTITY.name => quest(change).into_iter().collect(),
        _ => Vec::new(),
    }
}

type TopicDelivery = (Vec<Topic>, TopicEvent);

fn read<E: Entity + FromItem>(item: Option<&Item>) -> Option<E> {
    let unreadable =
        |error: &_| tracing::warn!(error = %error, "cannot decode a changed item; skipping it");
    E::from_item(item?).inspect_err(unreadable).ok()
}

fn activity(
    change: &Change,
    read: impl Fn(Option<&Item>) -> Option<Activity>,
) -> impl Iterator<Item = TopicDelivery> {
    let new = change.new.as_ref().filter(|_| change.old.is_none());
    read(new).map(new_activity).into_iter()
}

fn new_activity(activity: Activity) -> TopicDelivery {
    let home = Activity::home(&activity.actor_id, &activity.group_id);
    let actor = ActorId::from(&activity.actor_id);
    let mut topics = vec![Topic::Activities(None), Topic::Activities(Some(home.clone()))];
    if actor != home {
        topics.push(Topic::Activities(Some(actor)));
    }
    (topics, TopicEvent::Activity(home, activity.created_at, activity.activity_id))
}

fn post(change: &Change) -> Vec<TopicDelivery> {
    let (old, new) = (read::<Post>(change.old.as_ref()), read::<Post>(change.new.as_ref()));
    let Some(post) = new else { return Vec::new() };
    let mut deliveries = Vec::new();
    // A post is published once for all: its author and staff, who see it before, get no second event.
    let was_out = old.as_ref().is_some_and(|old| old.published_at.is_some());
    if !was_out && post.published_at.is_some() {
        let feed = Topic::NewPosts(Some(post.feed_id.clone()));
        deliveries.push((vec![Topic::NewPosts(None), feed], TopicEvent::Post(post.id.clone())));
    }
    let Some(old) = old else { return deliveries };
    if is_changed(&old, &post) {
        deliveries.push((vec![Topic::Post(post.id.clone())], TopicEvent::Post(post.id.clone())));
    }
    if old.moderation_status != post.moderation_status {
        let about = Topic::Decisions(Some(post.id.clone()));
        deliveries.push((vec![Topic::Decisions(None), about], TopicEvent::Post(post.id)));
    }
    deliveries
}

/// Returns whether a visible part of the post changed. Its score, its version and index attributes
/// change on their own.
fn is_changed(old: &Post, new: &Post) -> bool {
    old.content != new.content
        || old.visibility != new.visibility
        || old.moderation_status != new.moderation_status
        || old.media != new.media
        || old.is_deleted != new.is_deleted
}

fn like(change: &Change) -> Option<TopicDelivery> {
    let liked = change.new.is_some();
    let like: Like = read(change.new.as_ref().or(change.old.as_ref()))?;
    Some((vec![Topic::Likes(like.post_id.clone())], TopicEvent::Like(like.post_id, liked)))
}

fn comment(change: &Change) -> Option<TopicDelivery> {
    // A comment is new only when it is written: hiding and restoring it is no event.
    if change.old.is_some() {
        return None;
    }
    let comment: Comment = read(change.new.as_ref())?;
    let topic = Topic::Comments(comment.post_id.clone());
    Some((vec![topic], TopicEvent::Comment(comment.post_id, comment.id)))
}

fn follow(change: &Change) -> Option<TopicDelivery> {
    let old: Option<Follow> = change.old.as_ref().and_then(|old| read(Some(old)));
    let follow: Follow = read(change.new.as_ref())?;
    let accepted =
        |old: Follow| old.status != FollowStatus::Active && follow.status == FollowStatus::Active;
    if !old.is_none_or(accepted) {
        return None;
    }
    let topic = Topic::Followers(follow.followee_id.clone());
    Some((vec![topic], TopicEvent::Follow(follow.follower_id, follow.followee_id)))
}

fn member(change: &Change) -> Option<TopicDelivery> {
    let has_left = change.new.is_none();
    let member: GroupMember = read(change.new.as_ref().or(change.old.as_ref()))?;
    let topic = Topic::Members(member.group_id.clone());
    Some((vec![topic], TopicEvent::Membership(Box::new(member), has_left)))
}

fn quest(change: &Change) -> Option<TopicDelivery> {
    let quest: Quest = read(change.new.as_ref())?;
    Some((vec![Topic::Quests(quest.user_id.clone())], TopicEvent::Quest(quest.user_id, quest.id)))
}
