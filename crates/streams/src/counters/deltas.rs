//! Groups changes by the counters they affect.

use std::collections::BTreeMap;
use std::ops::Add;

use roundtable_model::entities::{Comment, CommentLike, Like, Notification, Share, Upload};
use roundtable_model::table::{Change, Sequence};
use roundtable_model::{CommentId, Entity, LikeType, PostId, UploadState, UserCount, UserId};

use crate::Result;
use crate::processor::{Images, entity_type};

/// The effect of a change on the counter of a post.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PostDelta {
    pub(super) likes: i64,
    pub(super) loves: i64,
    pub(super) laughs: i64,
    pub(super) comments: i64,
    pub(super) shares: i64,
}

/// The effect of a change on the counter of a comment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CommentDelta {
    pub(super) likes: i64,
    pub(super) loves: i64,
    pub(super) laughs: i64,
    pub(super) replies: i64,
}

impl Add for PostDelta {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            likes: self.likes + other.likes,
            loves: self.loves + other.loves,
            laughs: self.laughs + other.laughs,
            comments: self.comments + other.comments,
            shares: self.shares + other.shares,
        }
    }
}

impl Add for CommentDelta {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            likes: self.likes + other.likes,
            loves: self.loves + other.loves,
            laughs: self.laughs + other.laughs,
            replies: self.replies + other.replies,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct CounterChange<D> {
    pub(super) sequence: Sequence,
    pub(super) delta: D,
}

/// The changes that affect each counter, in stream order.
#[derive(Debug, Default)]
pub(super) struct CounterChanges {
    pub(super) posts: BTreeMap<PostId, Vec<CounterChange<PostDelta>>>,
    pub(super) comments: BTreeMap<(PostId, CommentId), Vec<CounterChange<CommentDelta>>>,
    pub(super) users: BTreeMap<(UserId, UserCount), Vec<CounterChange<i64>>>,
}

pub(super) fn group_by_counter(changes: &[Change]) -> Result<CounterChanges> {
    let mut grouped = CounterChanges::default();
    for change in changes {
        let kind = entity_type(change).unwrap_or_default();
        if kind == Like::SHAPE.name {
            grouped.add_like(change)?;
        } else if kind == Share::SHAPE.name {
            grouped.add_share(change)?;
        } else if kind == Comment::SHAPE.name {
            grouped.add_comment(change)?;
        } else if kind == CommentLike::SHAPE.name {
            grouped.add_comment_like(change)?;
        } else if kind == Notification::SHAPE.name {
            grouped.add_notification(change)?;
        } else if kind == Upload::SHAPE.name {
            grouped.release_upload(change)?;
        }
    }
    Ok(grouped)
}

impl CounterChanges {
    fn add_like(&mut self, change: &Change) -> Result<()> {
        let images = Images::<Like>::of(change)?;
        let likes = count_delta(&images, |_| true);
        let of_type = |wanted| count_delta(&images, |like| like.like_type == wanted);
        let (loves, laughs) = (of_type(LikeType::Love), of_type(LikeType::Laugh));
        let like = images.new.or(images.old);
        let delta = PostDelta { likes, loves, laughs, ..PostDelta::default() };
        self.add_to_post(change, like.map(|like| like.post_id), delta);
        Ok(())
    }

    fn add_share(&mut self, change: &Change) -> Result<()> {
        let images = Images::<Share>::of(change)?;
        let shares = count_delta(&images, |_| true);
        let share = images.new.or(images.old);
        let delta = PostDelta { shares, ..PostDelta::default() };
        self.add_to_post(change, share.map(|share| share.post_id), delta);
        Ok(())
    }

    /// A tombstone counts for nothing, neither on its post nor on the comment it replied to.
    fn add_comment(&mut self, change: &Change) -> Result<()> {
        let images = Images::<Comment>::of(change)?;
        let comments = count_delta(&images, |comment| !comment.is_deleted);
        let Some(comment) = images.new.or(images.old) else { return Ok(()) };
        if let Some(parent) = comment.parent_comment_id {
            let key = (comment.post_id.clone(), parent);
            let delta = CommentDelta { replies: comments, ..CommentDelta::default() };
            self.add_to_comment(change, key, delta);
        }
        let delta = PostDelta { comments, ..PostDelta::default() };
        self.add_to_post(change, Some(comment.post_id), delta);
        Ok(())
    }

    fn add_comment_like(&mut self, change: &Change) -> Result<()> {
        let images = Images::<CommentLike>::of(change)?;
        let likes = count_delta(&images, |_| true);
        let of_type = |wanted| count_delta(&images, |like| like.like_type() == wanted);
        let (loves, laughs) = (of_type(LikeType::Love), of_type(LikeType::Laugh));
        if let Some(like) = images.new.or(images.old) {
            let delta = CommentDelta { likes, loves, laughs, ..CommentDelta::default() };
            self.add_to_comment(change, (like.post_id, like.comment_id), delta);
        }
        Ok(())
    }

    /// A notification that expires unread no longer counts.
    fn add_notification(&mut self, change: &Change) -> Result<()> {
        let images = Images::<Notification>::of(change)?;
        let delta = count_delta(&images, |notification| notification.read_at.is_none());
        if let Some(notification) = images.new.or(images.old) {
            self.add_to_user(change, (notification.user_id, UserCount::Unread), delta);
        }
        Ok(())
    }

    /// A completed upload is not pending, and a removed one takes no bytes. What was never charged is
    /// not released.
    fn release_upload(&mut self, change: &Change) -> Result<()> {
        let Images { old: Some(old), new } = Images::<Upload>::of(change)? else { return Ok(()) };
        let Some(bytes) = old.charged_bytes else { return Ok(()) };
        let is_pending = |upload: &Upload| upload.state == UploadState::Pending;
        if is_pending(&old) && !new.as_ref().is_some_and(is_pending) {
            self.add_to_user(change, (old.user_id.clone(), UserCount::PendingUploads), -1);
        }
        if new.is_none() {
            let released = i64::try_from(bytes).unwrap_or(i64::MAX);
            self.add_to_user(change, (old.user_id, UserCount::MediaBytes), -released);
        }
        Ok(())
    }

    fn add_to_user(&mut self, change: &Change, counter: (UserId, UserCount), delta: i64) {
        if delta != 0 {
            let counted = CounterChange { sequence: change.sequence.clone(), delta };
            self.users.entry(counter).or_default().push(counted);
        }
    }

    fn add_to_post(&mut self, change: &Change, post: Option<PostId>, delta: PostDelta) {
        if let Some(post) = post.filter(|_| delta != PostDelta::default()) {
            let counted = CounterChange { sequence: change.sequence.clone(), delta };
            self.posts.entry(post).or_default().push(counted);
        }
    }

    fn add_to_comment(
        &mut self,
        change: &Change,
        comment: (PostId, CommentId),
        delta: CommentDelta,
    ) {
        if delta != CommentDelta::default() {
            let counted = CounterChange { sequence: change.sequence.clone(), delta };
            self.comments.entry(comment).or_default().push(counted);
        }
    }
}

/// Returns by how much a change alters the number of entities that count.
fn count_delta<E>(images: &Images<E>, counts: impl Fn(&E) -> bool) -> i64 {
    let number = |image: &Option<E>| i64::from(image.as_ref().is_some_and(&counts));
    number(&images.new) - number(&images.old)
}

#[cfg(test)]
mod tests {
    use roundtable_model::samples;
    use roundtable_model::table::Item;

    use super::*;

    fn change(sequence: u64, old: Option<Item>, new: Option<Item>) -> Change {
        let key = samples::like().key().into_key();
        Change { sequence: sequence.into(), at_ms: 0, key, old, new, expired: false }
    }

    /// R37: deleted and restored replies change the counts of the post and of the parent comment.
    #[test]
    fn a_reply_counts_until_it_is_deleted() {
        let parent: CommentId = "parent".parse().unwrap();
        let live = Comment { parent_comment_id: Some(parent.clone()), ..samples::comment() };
        let dead = Comment { is_deleted: true, ..live.clone() };
        let edited = Comment { content: "hm".into(), ..live.clone() };
        let [live, dead, edited] = [live, dead, edited].map(|comment| comment.item());
        let changes = [
            change(1, None, Some(live.clone())),
            change(2, Some(live.clone()), Some(edited.clone())),
            change(3, Some(edited), Some(dead.clone())),
            change(4, Some(dead.clone()), Some(live)),
            change(5, Some(dead), None),
        ];
        let grouped = group_by_counter(&changes).unwrap();
        let post = samples::comment().post_id;
        let on_post: Vec<i64> = grouped.posts[&post].iter().map(|c| c.delta.comments).collect();
        let replies: Vec<i64> =
            grouped.comments[&(post, parent)].iter().map(|c| c.delta.replies).collect();
        assert_eq!(on_post, [1, -1, 1]);
        assert_eq!(replies, on_post);
    }

    /// R53: a like that changes its type is counted as the other type, and not as another like.
    #[test]
    fn changing_the_type_of_a_like_moves_it_from_one_type_to_the_other() {
        let like = samples::like();
        let of_type = |like_type| Some(Like { like_type, ..like.clone() }.item());
        let [plain, love, laugh] = [LikeType::Like, LikeType::Love, LikeType::Laugh].map(of_type);
        let changes = [change(1, plain, love.clone()), change(2, love, laugh)];
        let grouped = group_by_counter(&changes).unwrap();
        let deltas = grouped.posts[&like.post_id].iter().map(|counted| counted.delta);
        let [loved, laughed] = deltas.collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(loved, PostDelta { loves: 1, ..PostDelta::default() });
        assert_eq!(laughed, PostDelta { loves: -1, laughs: 1, ..PostDelta::default() });
    }
}
