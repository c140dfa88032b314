//! What changes count for, and on which counters.

use std::collections::BTreeMap;
use std::ops::Add;

use roundtable_model::entities::{Comment, CommentLike, Like, Notification, Share};
use roundtable_model::table::{Change, Sequence};
use roundtable_model::{CommentId, Entity, PostId, UserId};

use crate::Failure;
use crate::processor::{Images, entity};

/// What a change counts for on a post.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OnPost {
    pub(super) likes: i64,
    pub(super) comments: i64,
    pub(super) shares: i64,
}

/// What a change counts for on a comment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OnComment {
    pub(super) likes: i64,
    pub(super) replies: i64,
}

impl Add for OnPost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            likes: self.likes + other.likes,
            comments: self.comments + other.comments,
            shares: self.shares + other.shares,
        }
    }
}

impl Add for OnComment {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { likes: self.likes + other.likes, replies: self.replies + other.replies }
    }
}

/// A change, as far as a counter is concerned.
#[derive(Clone, Debug)]
pub(super) struct Counted<By> {
    pub(super) sequence: Sequence,
    pub(super) by: By,
}

/// The changes that concern each counter, in the order they happened.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) posts: BTreeMap<PostId, Vec<Counted<OnPost>>>,
    pub(super) comments: BTreeMap<(PostId, CommentId), Vec<Counted<OnComment>>>,
    /// What each person has not read.
    pub(super) readers: BTreeMap<UserId, Vec<Counted<i64>>>,
}

/// Sorts changes by the counters they concern.
pub(super) fn fold(changes: &[Change]) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    for change in changes {
        let kind = entity(change).unwrap_or_default();
        if kind == Like::SHAPE.name {
            tally.like(change)?;
        } else if kind == Share::SHAPE.name {
            tally.share(change)?;
        } else if kind == Comment::SHAPE.name {
            tally.comment(change)?;
        } else if kind == CommentLike::SHAPE.name {
            tally.comment_like(change)?;
        } else if kind == Notification::SHAPE.name {
            tally.notification(change)?;
        }
    }
    Ok(tally)
}

impl Tally {
    fn like(&mut self, change: &Change) -> Result<(), Failure> {
        let images = Images::<Like>::of(change)?;
        let likes = difference(&images, |_| true);
        let like = images.new.or(images.old);
        self.on_post(change, like.map(|like| like.post_id), OnPost { likes, ..OnPost::default() });
        Ok(())
    }

    fn share(&mut self, change: &Change) -> Result<(), Failure> {
        let images = Images::<Share>::of(change)?;
        let shares = difference(&images, |_| true);
        let share = images.new.or(images.old);
        let by = OnPost { shares, ..OnPost::default() };
        self.on_post(change, share.map(|share| share.post_id), by);
        Ok(())
    }

    /// A tombstone counts for nothing, on its post and on the comment it answered.
    fn comment(&mut self, change: &Change) -> Result<(), Failure> {
        let images = Images::<Comment>::of(change)?;
        let comments = difference(&images, |comment| !comment.is_deleted);
        let Some(comment) = images.new.or(images.old) else { return Ok(()) };
        if let Some(parent) = comment.parent_comment_id {
            let place = (comment.post_id.clone(), parent);
            let by = OnComment { replies: comments, ..OnComment::default() };
            self.on_comment(change, place, by);
        }
        let by = OnPost { comments, ..OnPost::default() };
        self.on_post(change, Some(comment.post_id), by);
        Ok(())
    }

    fn comment_like(&mut self, change: &Change) -> Result<(), Failure> {
        let images = Images::<CommentLike>::of(change)?;
        let likes = difference(&images, |_| true);
        if let Some(like) = images.new.or(images.old) {
            let by = OnComment { likes, ..OnComment::default() };
            self.on_comment(change, (like.post_id, like.comment_id), by);
        }
        Ok(())
    }

    /// One that goes in time has been read by nobody, and counts no more.
    fn notification(&mut self, change: &Change) -> Result<(), Failure> {
        let images = Images::<Notification>::of(change)?;
        let by = difference(&images, |note| note.read_at.is_none());
        if let Some(note) = images.new.or(images.old).filter(|_| by != 0) {
            let counted = Counted { sequence: change.sequence.clone(), by };
            self.readers.entry(note.user_id).or_default().push(counted);
        }
        Ok(())
    }

    fn on_post(&mut self, change: &Change, post: Option<PostId>, by: OnPost) {
        if let Some(post) = post.filter(|_| by != OnPost::default()) {
            let counted = Counted { sequence: change.sequence.clone(), by };
            self.posts.entry(post).or_default().push(counted);
        }
    }

    fn on_comment(&mut self, change: &Change, comment: (PostId, CommentId), by: OnComment) {
        if by != OnComment::default() {
            let counted = Counted { sequence: change.sequence.clone(), by };
            self.comments.entry(comment).or_default().push(counted);
        }
    }
}

/// By how much a change changes the number of things that count.
fn difference<E>(images: &Images<E>, counts: impl Fn(&E) -> bool) -> i64 {
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

    /// R37: tombstones, and comments that come back, count on the post and on the comment above.
    #[test]
    fn a_reply_counts_while_it_is_no_tombstone() {
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
        let tally = fold(&changes).unwrap();
        let post = samples::comment().post_id;
        let on_post: Vec<i64> = tally.posts[&post].iter().map(|c| c.by.comments).collect();
        let replies: Vec<i64> =
            tally.comments[&(post, parent)].iter().map(|c| c.by.replies).collect();
        assert_eq!(on_post, [1, -1, 1]);
        assert_eq!(replies, on_post);
    }

    #[test]
    fn another_kind_of_like_is_still_one() {
        let like = samples::like();
        let love = Like { like_type: roundtable_model::LikeType::Love, ..like.clone() };
        let tally = fold(&[change(1, Some(like.item()), Some(love.item()))]).unwrap();
        assert!(tally.posts.is_empty());
    }
}
