//! Deletion of posts: a tombstone at once, and the purge in the background.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Post, User};
use roundtable_model::table::Write;
use roundtable_model::{Entity, PostId, RequestId, Time, UserCount, UserStatus, rekey};

use super::{PostError, PostOutcome, Posts, tags};
use crate::access::{Permission, Relations, allows};
use crate::account::SINGLE_SHARD;
use crate::circle::change_count;
use crate::idempotency::{AttemptOutcome, IdempotentRequest, RemovedEntity};
use crate::{Caller, ServiceError, audit};

#[boxed]
impl Posts {
    /// Deletes a post and returns it as it was, marked as deleted.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: &PostId,
        request: Option<&RequestId>,
    ) -> Result<Post, PostError> {
        let me = self.context.authorize_write(caller).await?;
        let request = self.context.idempotent_request(&me.id, request, "deletePost", id)?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: PostOutcome| self.replayed(caller, outcome).await,
                async || {
                    let post = self.found(caller, &me, id).await?;
                    let relations = Relations::SIGNED_IN
                        .with_if(post.author_id == me.id, Relations::OWNER)
                        .with_if(caller.moderates(), Relations::MODERATOR);
                    if !allows(Permission::DeletePost, relations) {
                        return Err(PostError::NotAuthor);
                    }
                    self.try_delete(caller, post, request.as_ref()).await
                },
            )
            .await
    }

    async fn try_delete(
        &self,
        caller: &Caller,
        post: Post,
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<Post>, PostError> {
        let context = &self.context;
        let author = context.core().profile(&post.author_id).strong().get().await?;
        // The purge deletes the posts of deleted accounts.
        let author = author.filter(|author| author.status != UserStatus::Deleted);
        let author = author.ok_or(PostError::NoSuchPost)?;
        let mut commit = context
            .commit()
            .with("author", author.key().check(User::STATUS.is_not(&UserStatus::Deleted)));
        let tombstone = tombstone(&post, context.now());
        for (name, write) in self.removal_writes(&post, &tombstone).await? {
            commit = commit.with(name, write);
        }
        if caller.user_id != post.author_id {
            let entry = audit::entry(context, Some(caller), "deletePost", &post.id, None);
            commit = commit.with("audit", entry);
        }
        let removed = Post { is_deleted: true, ..post };
        // A replay returns only the tombstone: the text is not kept.
        let outcome = PostOutcome::Removed(Box::new(RemovedEntity(tombstone)));
        let commit = commit.recording(request, &outcome)?;
        Ok(commit.finish(removed).await?)
    }

    /// Returns the writes that replace a post by its tombstone, with its count and tags; they fail
    /// when it has changed.
    async fn removal_writes(
        &self,
        post: &Post,
        tombstone: &Post,
    ) -> Result<Vec<(&'static str, Write)>, ServiceError> {
        let tags = tags::reference_writes(&self.context, post, tombstone).await?;
        let posts =
            change_count(&post.author_id, UserCount::Posts, SINGLE_SHARD, -1, tombstone.updated_at);
        let mut writes: Vec<(&'static str, Write)> =
            vec![("post", rekey(post, tombstone)?.into()), ("posts", posts.into())];
        writes.extend(tags.into_iter().map(|tag| ("tag", tag)));
        Ok(writes)
    }
}

fn tombstone(post: &Post, now: Time) -> Post {
    Post {
        is_deleted: true,
        content: String::new(),
        media: Vec::new(),
        hashtags: Vec::new(),
        mentions: Vec::new(),
        updated_at: now,
        ..post.clone()
    }
}
