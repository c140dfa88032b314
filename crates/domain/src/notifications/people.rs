//! The number of users behind a notification: of all who liked or shared what it is about.

use futures::future::{try_join, try_join3};
use hashbrown::HashMap;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{CommentCounter, CommentLike, Notification};
use roundtable_model::{CommentId, NotificationKind, PostId, UserId};

use super::Notifications;
use super::cause::{Cause, CauseObject};
use crate::ServiceError;

/// The likes and shares of a post.
type PostReactions = (u64, u64);

#[boxed]
impl Notifications {
    /// Counts the actors of each notification: all who liked or shared the post, or liked the comment,
    /// except its author; one for other kinds.
    pub(super) async fn people(
        &self,
        user: &UserId,
        notes: &[&Notification],
    ) -> Result<Vec<u64>, ServiceError> {
        let about: Vec<Option<CauseObject>> = notes.iter().map(|note| counted(note)).collect();
        let posts = about.iter().flatten().filter_map(|about| match about {
            CauseObject::Post(post) => Some(post.clone()),
            _ => None,
        });
        let comments = about.iter().flatten().filter_map(|about| match about {
            CauseObject::Comment(post, comment) => Some((post.clone(), comment.clone())),
            _ => None,
        });
        let (posts, comments) = try_join(
            self.post_reactions(user, posts.collect()),
            self.comment_likes(user, comments.collect()),
        )
        .await?;
        let count = |(note, about): (&&Notification, Option<CauseObject>)| {
            let count = match about {
                Some(CauseObject::Post(post)) => {
                    let (likes, shares) = posts.get(&post).copied().unwrap_or_default();
                    if note.kind == NotificationKind::Share { shares } else { likes }
                }
                Some(CauseObject::Comment(_, id)) => comments.get(&id).copied().unwrap_or(1),
                _ => 1,
            };
            // The notification has at least one actor; the counters may lag.
            count.max(1)
        };
        Ok(notes.iter().zip(about).map(count).collect())
    }

    async fn post_reactions(
        &self,
        user: &UserId,
        mut posts: Vec<PostId>,
    ) -> Result<HashMap<PostId, PostReactions>, ServiceError> {
        posts.sort_unstable();
        posts.dedup();
        if posts.is_empty() {
            return Ok(HashMap::new());
        }
        let core = self.context.core();
        let (counters, likes, shares) = try_join3(
            core.post_counters(&posts).strong().get(),
            core.liked(&posts, user).get(),
            core.shared(&posts, user).get(),
        )
        .await?;
        let own =
            likes.into_iter().zip(shares).map(|(like, share)| (like.is_some(), share.is_some()));
        let counts = counters.into_iter().zip(own).map(|(counter, (like, share))| {
            let (likes, shares) = counter.map_or((0, 0), |counter| (counter.likes, counter.shares));
            (likes.saturating_sub(u64::from(like)), shares.saturating_sub(u64::from(share)))
        });
        Ok(posts.iter().cloned().zip(counts).collect())
    }

    async fn comment_likes(
        &self,
        user: &UserId,
        mut comments: Vec<(PostId, CommentId)>,
    ) -> Result<HashMap<CommentId, u64>, ServiceError> {
        comments.sort_unstable();
        comments.dedup();
        let counters = comments.iter().map(|(post, id)| CommentCounter::at(post, id));
        let own = comments.iter().map(|(post, id)| CommentLike::at(post, id, user));
        let (counters, own) = try_join(
            self.context.items_at("comment_counters", counters),
            self.context.items_at("comment_likes", own),
        )
        .await?;
        let counts = counters.into_iter().zip(own).map(|(counter, like)| {
            let likes = counter.map_or(0, |counter| counter.likes);
            likes.saturating_sub(u64::from(like.is_some()))
        });
        Ok(comments.into_iter().map(|(_, id)| id).zip(counts).collect())
    }
}

/// The object of a notification about likes or shares.
fn counted(note: &Notification) -> Option<CauseObject> {
    let is_counted = matches!(
        note.kind,
        NotificationKind::Like | NotificationKind::Share | NotificationKind::CommentLike
    );
    Cause::of(note).filter(|_| is_counted).map(|cause| cause.about)
}
