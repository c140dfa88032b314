//! Comments on posts, replies to comments, and comment likes (R19).

mod likes;
mod reads;

use std::time::Duration;

use futures::future::BoxFuture;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, ModerationCase, Post, User};
use roundtable_model::table::{Check, Condition, Delete};
use roundtable_model::{
    CaseId, CommentId, Entity, ModerationStatus, PostId, RequestId, Result as ModelResult, Time,
};
use serde::{Deserialize, Serialize};

pub use self::reads::CommentEngagement;

use crate::access::{Permission, Relations, allows};
use crate::activities::{ActivityDraft, prepare_activity};
use crate::idempotency::RemovedEntity;
use crate::limits::{COMMENT_CHARS_MAX, COMMENT_DEPTH_MAX, check_filled};
use crate::posts::{load_actionable, unchanged};
use crate::tags::{reference_writes, references};
use crate::text_references::resolve_references;
use crate::{Caller, Context, ServiceError, audit, refusals};

refusals! {
    CommentError {
        NoSuchPost: NotFound = "there is no such post",
        NoSuchComment: NotFound = "there is no such comment",
        NoSuchUser: NotFound = "there is no such user",
        NotAuthor: Forbidden = "only the author can change a comment",
        TooDeep: BadRequest = "replies are nested too deeply; reply to a comment further up",
        LikesPermanent: Forbidden = "likes cannot be removed on this server",
    }
}

/// A comment younger than this may be missing from an eventually consistent index.
const INDEX_LAG_MS: u64 = 5_000;
/// Lookups of such a comment.
const LOOKUPS_MAX: u32 = 4;
/// The first wait between lookups; doubles each time.
const INITIAL_BACKOFF: Duration = Duration::from_millis(25);

#[derive(Clone, Debug)]
pub struct Comments {
    context: Context,
}

#[derive(Clone, Debug, Serialize)]
pub struct NewComment {
    pub post_id: PostId,
    pub content: String,
    /// The comment it replies to.
    pub parent_comment_id: Option<CommentId>,
}

#[derive(Debug, Serialize, Deserialize)]
enum CommentOutcome {
    Comment { post: PostId, id: CommentId },
    Removed(RemovedEntity<Comment>),
}

#[boxed]
impl Comments {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Comments on a post that the caller sees, or replies to a comment on it. The activity about it
    /// is written with it (R51).
    pub async fn add(
        &self,
        caller: &Caller,
        input: &NewComment,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let mutation = self.context.mutation(caller).await?;
        check_filled("content", &input.content, COMMENT_CHARS_MAX)?;
        mutation
            .once("addComment", input, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let actionable = load_actionable(
                    &self.context,
                    caller,
                    &me,
                    Permission::Comment,
                    &input.post_id,
                );
                let actionable = actionable.await?.ok_or(CommentError::NoSuchPost)?;
                let parent = match &input.parent_comment_id {
                    Some(parent) => Some(self.parent(caller, &me, &actionable.post, parent).await?),
                    None => None,
                };
                let mut comment = self.new_comment(caller, &actionable.post, input).await?;
                let draft = ActivityDraft::of_comment(&comment, &actionable.post);
                let published = prepare_activity(&self.context, attempt, draft).await?;
                // The purge finds the activity by this time.
                comment.created_at = published.activity.created_at;
                let answered = parent.as_ref().map(|parent| &parent.user_id);
                published
                    .add_to(attempt.commit())
                    .with("comment", comment.create())
                    .with_all("tag", references(&self.context, &comment).iter().map(Entity::create))
                    .with_all("post", actionable.checks(answered)?)
                    .with_all("parent", parent.as_ref().map(unchanged_check))
                    .finish(CommentOutcome::of(&comment), comment)
                    .await
            })
            .await
    }

    pub async fn update(
        &self,
        caller: &Caller,
        id: &CommentId,
        content: &str,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let mutation = self.context.mutation(caller).await?;
        check_filled("content", content, COMMENT_CHARS_MAX)?;
        mutation
            .once("updateComment", &(id, content), request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let (comment, post, access) = self.visible_with_access(caller, &me, id).await?;
                let relations = caller.relations_to(&me, &comment.user_id) | Relations::CAN_SEE;
                if !allows(Permission::UpdateComment, relations) {
                    return Err(CommentError::NotAuthor);
                }
                access.require_writable(post.group_id.as_ref())?;
                let changed = self.changed(&comment, content).await?;
                let tags = reference_writes(&self.context, &comment, &changed).await?;
                let patch = changed
                    .key()
                    .patch()
                    .set(Comment::CONTENT, &changed.content)
                    .set(Comment::HASHTAGS, &changed.hashtags)
                    .set(Comment::MENTIONS, &changed.mentions)
                    .set(Comment::UPDATED_AT, &changed.updated_at)
                    .when(same_text(&comment));
                attempt
                    .commit()
                    .with("comment", patch)
                    .with_all("tag", tags)
                    .with("post", unchanged(&post))
                    .finish(CommentOutcome::of(&changed), changed)
                    .await
            })
            .await
    }

    /// Deletes a comment and its moderation case; replies stay. Returns the comment as it was,
    /// marked as deleted.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: &CommentId,
        request: Option<&RequestId>,
    ) -> Result<Comment, CommentError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("deleteComment", id, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let comment = self.deletable(caller, &me, id).await?;
                let tombstone = tombstone(&comment, self.context.now());
                let tags = reference_writes(&self.context, &comment, &tombstone).await?;
                let deletion = comment
                    .key()
                    .patch()
                    .set(Comment::IS_DELETED, &tombstone.is_deleted)
                    .set(Comment::CONTENT, &tombstone.content)
                    .set(Comment::HASHTAGS, &tombstone.hashtags)
                    .set(Comment::MENTIONS, &tombstone.mentions)
                    .set(Comment::UPDATED_AT, &tombstone.updated_at)
                    .when(same_text(&comment));
                // Nothing is left to decide; the case may not exist.
                let case = Delete::new(ModerationCase::at(&CaseId::from(id)));
                let mut commit = attempt.commit().with("comment", deletion).with("case", case);
                commit = commit.with_all("tag", tags);
                if comment.user_id != me.id {
                    let subject = &comment.id;
                    let entry =
                        audit::entry(&self.context, Some(caller), "deleteComment", subject, None);
                    commit = commit.with("audit", entry);
                }
                let removed = Comment { is_deleted: true, ..comment };
                // A replay returns only the tombstone: the text is not kept.
                let outcome = CommentOutcome::Removed(RemovedEntity(tombstone));
                commit.finish(outcome, removed).await
            })
            .await
    }

    /// Returns the comment to reply to: visible to the caller, and not nested too deeply.
    async fn parent(
        &self,
        caller: &Caller,
        me: &User,
        post: &Post,
        id: &CommentId,
    ) -> Result<Comment, CommentError> {
        let core = self.context.core();
        let parent = core.comment_on(&post.id, id).get().await?;
        let parent = parent.ok_or(CommentError::NoSuchComment)?;
        let access = self.context.viewer_access_of(caller, me, [&parent.user_id], []).await?;
        if !access.can_see_comment(&parent) || access.is_blocked(&parent.user_id) {
            return Err(CommentError::NoSuchComment);
        }
        // The parent is level one; a reply is one level deeper.
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

    async fn new_comment(
        &self,
        caller: &Caller,
        post: &Post,
        input: &NewComment,
    ) -> Result<Comment, ServiceError> {
        let found = resolve_references(&self.context, &input.content).await?;
        let now = self.context.now();
        Ok(Comment {
            post_id: post.id.clone(),
            id: self.context.ids().next(),
            user_id: caller.user_id.clone(),
            content: input.content.clone(),
            parent_comment_id: input.parent_comment_id.clone(),
            post_user_id: post.author_id.clone(),
            post_sk: sort_key(post),
            moderation_status: ModerationStatus::Approved,
            is_deleted: false,
            hashtags: present(found.tags),
            mentions: present(found.nicknames),
            created_at: now,
            updated_at: now,
        })
    }

    /// Returns the comment with another text.
    async fn changed(&self, comment: &Comment, content: &str) -> Result<Comment, ServiceError> {
        let found = resolve_references(&self.context, content).await?;
        Ok(Comment {
            content: content.to_owned(),
            hashtags: present(found.tags),
            mentions: present(found.nicknames),
            updated_at: self.context.now(),
            ..comment.clone()
        })
    }

    /// Returns a comment the caller may delete: their own, whether or not they still see the post,
    /// or any as a moderator.
    async fn deletable(
        &self,
        caller: &Caller,
        me: &User,
        id: &CommentId,
    ) -> Result<Comment, CommentError> {
        let comment = find(&self.context, id).await?.filter(|comment| !comment.is_deleted);
        let comment = comment.ok_or(CommentError::NoSuchComment)?;
        if allows(Permission::DeleteComment, caller.relations_to(me, &comment.user_id)) {
            return Ok(comment);
        }
        self.visible_with_access(caller, me, id).await?;
        Err(CommentError::NotAuthor)
    }

    /// Returns the comment as it is now, if the caller may still see it; a deleted one as its
    /// tombstone.
    async fn replayed(
        &self,
        caller: &Caller,
        outcome: CommentOutcome,
    ) -> Result<Comment, CommentError> {
        match outcome {
            CommentOutcome::Removed(RemovedEntity(comment)) => Ok(comment),
            CommentOutcome::Comment { post, id } => {
                let comment = self.context.core().comment_on(&post, &id).get().await?;
                let comment = comment.ok_or(CommentError::NoSuchComment)?;
                Ok(self.with_post(Some(caller), comment).await?.0)
            }
        }
    }
}

/// Finds a comment by id through the index. Where the index is eventually consistent, retries for
/// recent ids and reads the comment itself.
pub(crate) async fn find(context: &Context, id: &CommentId) -> ModelResult<Option<Comment>> {
    let found = context.core().comment(id).get().await?;
    if context.store().capabilities().strong_index_reads {
        return Ok(found);
    }
    let (mut found, mut wait) = (found, INITIAL_BACKOFF);
    let is_young = id.time().is_some_and(|time| time.plus_ms(INDEX_LAG_MS) > context.now());
    for _ in 0..if is_young { LOOKUPS_MAX } else { 0 } {
        if found.is_some() {
            break;
        }
        tokio::time::sleep(wait).await;
        found = context.core().comment(id).get().await?;
        wait *= 2;
    }
    match found {
        Some(found) => context.core().comment_on(&found.post_id, id).get().await,
        None => Ok(None),
    }
}

/// Reads comments by post and id, in the order given.
pub(crate) fn comments<'a>(
    context: &Context,
    item_keys: impl IntoIterator<Item = (&'a PostId, &'a CommentId)>,
) -> BoxFuture<'static, ModelResult<Vec<Option<Comment>>>> {
    let item_keys = item_keys.into_iter().map(|(post, id)| Comment::at(post, id));
    context.items_at("comment_on", item_keys)
}

fn tombstone(comment: &Comment, now: Time) -> Comment {
    Comment {
        is_deleted: true,
        content: String::new(),
        hashtags: None,
        mentions: None,
        updated_at: now,
        ..comment.clone()
    }
}

/// Requires the text that was read, and with it the tags whose references the transaction changes.
fn same_text(comment: &Comment) -> Condition {
    let not_deleted: Condition = Comment::IS_DELETED.is(&false);
    let same = Comment::CONTENT.is(&comment.content);
    not_deleted.and(same).and(Comment::HASHTAGS.is(&comment.hashtags))
}

/// An empty list is not stored.
fn present<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// Checks that the comment exists and its moderation status is unchanged.
pub(crate) fn unchanged_check(comment: &Comment) -> Check {
    let not_deleted: Condition = Comment::IS_DELETED.is(&false);
    let same = not_deleted.and(Comment::MODERATION_STATUS.is(&comment.moderation_status));
    comment.key().check(same)
}

/// The post's sort key, which likes and comments store, too (R37).
pub(crate) fn sort_key(post: &Post) -> String {
    let sort = post.key().into_key().sort;
    sort.and_then(|sort| sort.as_text().map(str::to_owned)).unwrap_or_default()
}

impl CommentOutcome {
    fn of(comment: &Comment) -> Self {
        Self::Comment { post: comment.post_id.clone(), id: comment.id.clone() }
    }
}
