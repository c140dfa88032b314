//! Comments: answers to posts and to each other, and who likes them (R19).

mod likes;
mod reads;

use std::time::Duration;

use futures::future::BoxFuture;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, ModerationCase, Post, User};
use roundtable_model::table::{Check, Condition, Delete};
use roundtable_model::{
    CaseId, CommentId, Entity, ModerationStatus, PostId, RequestId, Result as Found, Time,
};
use serde::{Deserialize, Serialize};

pub use self::reads::CommentMarks;

use crate::access::{Act, Standing, allows};
use crate::limits::{COMMENT_CHARS_MAX, COMMENT_DEPTH_MAX, check_filled};
use crate::once::Kept;
use crate::posts::{open_to, unchanged};
use crate::{Caller, Ground, audit, refusals};

refusals! {
    /// Why a comment was not written, changed or shown.
    CommentError {
        NoSuchPost: NotFound = "there is no such post",
        NoSuchComment: NotFound = "there is no such comment",
        NoSuchUser: NotFound = "there is no such person",
        NotYours: Forbidden = "only its author can do this to a comment",
        TooDeep: BadRequest = "this conversation is nested too deeply; answer further up",
        Permanent: Forbidden = "a like cannot be taken back here",
    }
}

/// Where indexes may be behind, a comment this young may not be in them yet.
const INDEX_LAG_MS: u64 = 5_000;
/// How often such a comment is looked for again.
const LOOKS_MAX: u32 = 4;
/// How long the first of these waits, doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(25);

/// The comments of everybody.
#[derive(Clone, Debug)]
pub struct Comments {
    ground: Ground,
}

/// A comment to be written.
#[derive(Clone, Debug, Serialize)]
pub struct NewComment {
    /// The post.
    pub post_id: PostId,
    /// Its text.
    pub content: String,
    /// The comment it answers.
    pub parent_comment_id: Option<CommentId>,
}

/// What a request led to: a comment, or what is left of one that was deleted.
#[derive(Debug, Serialize, Deserialize)]
enum Outcome {
    Comment { post: PostId, id: CommentId },
    Removed(Kept<Comment>),
}

#[boxed]
impl Comments {
    /// The comments on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Answers a post, or another comment on it, that the caller sees.
    pub async fn add(
        &self,
        caller: &Caller,
        input: &NewComment,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let me = self.ground.account(caller).await?;
        check_filled("content", &input.content, COMMENT_CHARS_MAX)?;
        let request = self.ground.request(&me.id, request, "addComment", input)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let open = open_to(&self.ground, caller, &me, Act::Comment, &input.post_id);
                    let open = open.await?.ok_or(CommentError::NoSuchPost)?;
                    let parent = match &input.parent_comment_id {
                        Some(parent) => Some(self.parent(caller, &me, &open.post, parent).await?),
                        None => None,
                    };
                    let comment = self.new_comment(caller, &open.post, input);
                    let answered = parent.as_ref().map(|parent| &parent.user_id);
                    let commit = self
                        .ground
                        .commit()
                        .with("comment", comment.create())
                        .with_any("post", open.checks(answered))
                        .with_any("parent", parent.as_ref().map(still_there))
                        .remembering(request.as_ref(), &Outcome::of(&comment))?;
                    Ok(commit.done(comment).await?)
                },
            )
            .await
    }

    /// Changes the text of a comment.
    pub async fn update(
        &self,
        caller: &Caller,
        id: &CommentId,
        content: &str,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let me = self.ground.account(caller).await?;
        check_filled("content", content, COMMENT_CHARS_MAX)?;
        let request = self.ground.request(&me.id, request, "updateComment", &(id, content))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let (comment, post, _) = self.found(caller, &me, id).await?;
                    let standing = (Standing::SIGNED_IN | Standing::SEES)
                        .and_if(comment.user_id == me.id, Standing::OWNER);
                    if !allows(Act::UpdateComment, standing) {
                        return Err(CommentError::NotYours);
                    }
                    let now = self.ground.now();
                    let changed =
                        Comment { content: content.to_owned(), updated_at: now, ..comment };
                    let patch = changed
                        .key()
                        .patch()
                        .set(Comment::CONTENT, &changed.content)
                        .set(Comment::UPDATED_AT, &now)
                        .when(Comment::IS_DELETED.is(&false));
                    let commit = self
                        .ground
                        .commit()
                        .with("comment", patch)
                        .with("post", unchanged(&post))
                        .remembering(request.as_ref(), &Outcome::of(&changed))?;
                    Ok(commit.done(changed).await?)
                },
            )
            .await
    }

    /// Deletes a comment, with the case about it; what answers it stays. Answers with it as it was,
    /// marked as deleted.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: &CommentId,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "deleteComment", id)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let comment = self.deletable(caller, &me, id).await?;
                    let left = tombstone(&comment, self.ground.now());
                    let gone = comment
                        .key()
                        .patch()
                        .set(Comment::IS_DELETED, &left.is_deleted)
                        .set(Comment::CONTENT, &left.content)
                        .set(Comment::UPDATED_AT, &left.updated_at)
                        .when(Comment::IS_DELETED.is(&false));
                    // There is nothing left to decide; whether there ever was does not matter.
                    let case = Delete::new(ModerationCase::at(&CaseId::from(id)));
                    let mut commit = self.ground.commit().with("comment", gone).with("case", case);
                    if comment.user_id != me.id {
                        let subject = &comment.id;
                        let entry = audit::entry(
                            &self.ground,
                            Some(caller),
                            "deleteComment",
                            subject,
                            None,
                        );
                        commit = commit.with("audit", entry);
                    }
                    let removed = Comment { is_deleted: true, ..comment };
                    // Sent again, the request tells no more than that it is gone: the text is not kept.
                    let outcome = Outcome::Removed(Kept(left));
                    let commit = commit.remembering(request.as_ref(), &outcome)?;
                    Ok(commit.done(removed).await?)
                },
            )
            .await
    }

    /// The comment that another one answers: one that the caller sees, and that is not nested too
    /// deeply itself.
    async fn parent(
        &self,
        caller: &Caller,
        me: &User,
        post: &Post,
        id: &CommentId,
    ) -> Result<Comment, CommentError> {
        let core = self.ground.core();
        let parent = core.comment_on(&post.id, id).get().await?;
        let parent = parent.ok_or(CommentError::NoSuchComment)?;
        let sight = self.ground.sight_of(caller, me, [&parent.user_id], []).await?;
        if !sight.comment(&parent) || sight.is_blocked(&parent.user_id) {
            return Err(CommentError::NoSuchComment);
        }
        // The parent is the first level; what answers it is one deeper than it is.
        let (mut depth, mut above) = (1, parent.parent_comment_id.clone());
        while let Some(id) = above {
            depth += 1;
            if depth >= COMMENT_DEPTH_MAX {
                return Err(CommentError::TooDeep);
            }
            above = core.comment_on(&post.id, &id).get().await?.and_then(|it| it.parent_comment_id);
        }
        Ok(parent)
    }

    fn new_comment(&self, caller: &Caller, post: &Post, input: &NewComment) -> Comment {
        let now = self.ground.now();
        Comment {
            post_id: post.id.clone(),
            id: self.ground.ids().next(),
            user_id: caller.user_id.clone(),
            content: input.content.clone(),
            parent_comment_id: input.parent_comment_id.clone(),
            post_user_id: post.author_id.clone(),
            post_sk: sort_key(post),
            moderation_status: ModerationStatus::Approved,
            is_deleted: false,
            created_at: now,
            updated_at: now,
        }
    }

    /// A comment that the caller may delete: their own, whether they still see the post or not, or any
    /// that a moderator sees.
    async fn deletable(
        &self,
        caller: &Caller,
        me: &User,
        id: &CommentId,
    ) -> Result<Comment, CommentError> {
        let comment = find(&self.ground, id).await?.filter(|comment| !comment.is_deleted);
        let comment = comment.ok_or(CommentError::NoSuchComment)?;
        let standing = Standing::SIGNED_IN
            .and_if(comment.user_id == caller.user_id, Standing::OWNER)
            .and_if(caller.moderates(), Standing::MODERATOR);
        if allows(Act::DeleteComment, standing) {
            return Ok(comment);
        }
        self.found(caller, me, id).await?;
        Err(CommentError::NotYours)
    }

    /// A comment as it is now, if the caller may still see it; of one that was deleted, its tombstone.
    async fn replayed(&self, caller: &Caller, outcome: Outcome) -> Result<Comment, CommentError> {
        match outcome {
            Outcome::Removed(Kept(comment)) => Ok(comment),
            Outcome::Comment { post, id } => {
                let comment = self.ground.core().comment_on(&post, &id).get().await?;
                let comment = comment.ok_or(CommentError::NoSuchComment)?;
                Ok(self.with_post(Some(caller), comment).await?.0)
            }
        }
    }
}

/// A comment by its id alone, as it is now: the index tells where it is. Where that may be behind, it
/// is asked again about what was only just written.
pub(crate) async fn find(ground: &Ground, id: &CommentId) -> Found<Option<Comment>> {
    let found = ground.core().comment(id).get().await?;
    if ground.store().capabilities().strong_index_reads {
        return Ok(found);
    }
    let (mut found, mut wait) = (found, FIRST_WAIT);
    let is_young = id.time().is_some_and(|time| time.plus_ms(INDEX_LAG_MS) > ground.now());
    for _ in 0..if is_young { LOOKS_MAX } else { 0 } {
        if found.is_some() {
            break;
        }
        tokio::time::sleep(wait).await;
        found = ground.core().comment(id).get().await?;
        wait *= 2;
    }
    match found {
        Some(found) => ground.core().comment_on(&found.post_id, id).get().await,
        None => Ok(None),
    }
}

/// Comments on many posts, as they are now, each in its place.
pub(crate) fn comments<'a>(
    ground: &Ground,
    places: impl IntoIterator<Item = (&'a PostId, &'a CommentId)>,
) -> BoxFuture<'static, Found<Vec<Option<Comment>>>> {
    let places = places.into_iter().map(|(post, id)| Comment::at(post, id));
    ground.at("comment_on", places)
}

/// What stays of a comment.
fn tombstone(comment: &Comment, now: Time) -> Comment {
    Comment { is_deleted: true, content: String::new(), updated_at: now, ..comment.clone() }
}

/// The comment is still there, and as moderators left it.
fn still_there(comment: &Comment) -> Check {
    let live: Condition = Comment::IS_DELETED.is(&false);
    let same = live.and(Comment::MODERATION_STATUS.is(&comment.moderation_status));
    comment.key().check(same)
}

/// The sort key of a post, which what people do with it carries along (R37).
pub(crate) fn sort_key(post: &Post) -> String {
    let sort = post.key().into_key().sort;
    sort.and_then(|sort| sort.as_text().map(str::to_owned)).unwrap_or_default()
}

impl Outcome {
    fn of(comment: &Comment) -> Self {
        Self::Comment { post: comment.post_id.clone(), id: comment.id.clone() }
    }
}
