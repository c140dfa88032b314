//! Deletion of posts: a tombstone at once, and the purge in the background.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Post;
use roundtable_model::table::Write;
use roundtable_model::{PostId, RequestId, Time, UserCount, rekey};

use super::{PostError, PostOutcome, Posts};
use crate::access::{Permission, allows};
use crate::account::{SINGLE_SHARD, existing_account_check};
use crate::circle::change_count;
use crate::idempotency::RemovedEntity;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::tags::reference_writes;
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
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("deletePost", id, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let post = self.found(caller, &me, id).await?;
                if !allows(Permission::DeletePost, caller.relations_to(&me, &post.author_id)) {
                    return Err(PostError::NotAuthor);
                }
                self.try_delete(caller, post, attempt).await
            })
            .await
    }

    async fn try_delete(
        &self,
        caller: &Caller,
        post: Post,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Post>, PostError> {
        let context = &self.context;
        // The purge deletes the posts of deleted accounts.
        let author = context.existing_account(&post.author_id).await?;
        let author = author.ok_or(PostError::NoSuchPost)?;
        let tombstone = tombstone(&post, context.now());
        let mut commit = attempt
            .commit()
            .with("author", existing_account_check(&author.id))
            .with_named(self.removal_writes(&post, &tombstone).await?);
        if caller.user_id != post.author_id {
            let entry = audit::entry(context, Some(caller), "deletePost", &post.id, None);
            commit = commit.with("audit", entry);
        }
        let removed = Post { is_deleted: true, ..post };
        // A replay returns only the tombstone: the text is not kept.
        let outcome = PostOutcome::Removed(Box::new(RemovedEntity(tombstone)));
        commit.finish(outcome, removed).await
    }

    /// Returns the writes that replace a post by its tombstone, with its count and tags; they fail
    /// when it has changed.
    async fn removal_writes(
        &self,
        post: &Post,
        tombstone: &Post,
    ) -> Result<Vec<(&'static str, Write)>, ServiceError> {
        let tags = reference_writes(&self.context, post, tombstone).await?;
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
