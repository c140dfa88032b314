//! What a change of the table means to those who listen.

use roundtable_model::entities::{Activity, Comment, Follow, GroupMember, Like, Post, Quest};
use roundtable_model::table::{Change, Item};
use roundtable_model::{
    ActivityId, ActorId, Answer, CommentId, Entity, FollowStatus, PostId, QuestId, TYPE, Time,
    UserId,
};

use super::Matter;

/// Something that happened, and to what. What it is by now is read when it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Happening {
    Activity(ActorId, Time, ActivityId),
    Post(PostId),
    Like(PostId, bool),
    Comment(PostId, CommentId),
    Follow(UserId, UserId),
    /// With the membership as it was, where it is over.
    Membership(Box<GroupMember>, IsOver),
    Quest(UserId, QuestId),
}

/// Whether somebody has left.
pub(super) type IsOver = bool;

/// What a change gives to tell, and to those who listen to which matters.
pub(super) fn heard(change: &Change) -> Vec<(Vec<Matter>, Happening)> {
    let image = change.new.as_ref().or(change.old.as_ref());
    let Some(kind) = image.and_then(|image| image.text(TYPE)) else { return Vec::new() };
    match kind {
        _ if kind == Activity::ENTITY.name => activity(change).into_iter().collect(),
        _ if kind == Post::ENTITY.name => post(change),
        _ if kind == Like::ENTITY.name => like(change).into_iter().collect(),
        _ if kind == Comment::ENTITY.name => comment(change).into_iter().collect(),
        _ if kind == Follow::ENTITY.name => follow(change).into_iter().collect(),
        _ if kind == GroupMember::ENTITY.name => member(change).into_iter().collect(),
        _ if kind == Quest::ENTITY.name => quest(change).into_iter().collect(),
        _ => Vec::new(),
    }
}

type Told = (Vec<Matter>, Happening);

fn read<E: Entity + Answer>(item: Option<&Item>) -> Option<E> {
    let unreadable = |error: &_| tracing::warn!(error = %error, "unreadable");
    E::from_item(item?).inspect_err(unreadable).ok()
}

fn activity(change: &Change) -> Option<Told> {
    if change.old.is_some() {
        return None;
    }
    let activity: Activity = read(change.new.as_ref())?;
    let home = Activity::home(&activity.actor_id, &activity.group_id);
    let actor = ActorId::from(&activity.actor_id);
    let mut matters = vec![Matter::Activities(None), Matter::Activities(Some(home.clone()))];
    if actor != home {
        matters.push(Matter::Activities(Some(actor)));
    }
    Some((matters, Happening::Activity(home, activity.created_at, activity.activity_id)))
}

fn post(change: &Change) -> Vec<Told> {
    let (old, new) = (read::<Post>(change.old.as_ref()), read::<Post>(change.new.as_ref()));
    let Some(post) = new else { return Vec::new() };
    let mut told = Vec::new();
    // It comes out once, for everybody: its author and the staff, who see it before, are not told twice.
    let was_out = old.as_ref().is_some_and(|old| old.published_at.is_some());
    if !was_out && post.published_at.is_some() {
        let feed = Matter::NewPosts(Some(post.feed_id.clone()));
        told.push((vec![Matter::NewPosts(None), feed], Happening::Post(post.id.clone())));
    }
    let Some(old) = old else { return told };
    if is_changed(&old, &post) {
        told.push((vec![Matter::Post(post.id.clone())], Happening::Post(post.id.clone())));
    }
    if old.moderation_status != post.moderation_status {
        let about = Matter::Decisions(Some(post.id.clone()));
        told.push((vec![Matter::Decisions(None), about], Happening::Post(post.id)));
    }
    told
}

/// Whether a post has changed in what is shown of it: its score, its version and what indexes need of
/// its author change on their own.
fn is_changed(old: &Post, new: &Post) -> bool {
    old.content != new.content
        || old.visibility != new.visibility
        || old.moderation_status != new.moderation_status
        || old.media != new.media
        || old.is_deleted != new.is_deleted
}

fn like(change: &Change) -> Option<Told> {
    let liked = change.new.is_some();
    let like: Like = read(change.new.as_ref().or(change.old.as_ref()))?;
    Some((vec![Matter::Likes(like.post_id.clone())], Happening::Like(like.post_id, liked)))
}

fn comment(change: &Change) -> Option<Told> {
    // It comes out when it is written: hidden by moderators and shown again, it is no other one.
    if change.old.is_some() {
        return None;
    }
    let comment: Comment = read(change.new.as_ref())?;
    let matter = Matter::Comments(comment.post_id.clone());
    Some((vec![matter], Happening::Comment(comment.post_id, comment.id)))
}

fn follow(change: &Change) -> Option<Told> {
    let old: Option<Follow> = change.old.as_ref().and_then(|old| read(Some(old)));
    let follow: Follow = read(change.new.as_ref())?;
    let accepted =
        |old: Follow| old.status != FollowStatus::Active && follow.status == FollowStatus::Active;
    if !old.is_none_or(accepted) {
        return None;
    }
    let matter = Matter::Followers(follow.followee_id.clone());
    Some((vec![matter], Happening::Follow(follow.follower_id, follow.followee_id)))
}

fn member(change: &Change) -> Option<Told> {
    let is_over = change.new.is_none();
    let member: GroupMember = read(change.new.as_ref().or(change.old.as_ref()))?;
    let matter = Matter::Members(member.group_id.clone());
    Some((vec![matter], Happening::Membership(Box::new(member), is_over)))
}

fn quest(change: &Change) -> Option<Told> {
    let quest: Quest = read(change.new.as_ref())?;
    Some((vec![Matter::Quests(quest.user_id.clone())], Happening::Quest(quest.user_id, quest.id)))
}
