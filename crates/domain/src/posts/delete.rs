//! Taking a post back: a tombstone at once, and the purge in the background.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Post, User};
use roundtable_model::table::Write;
use roundtable_model::{Entity, PostId, RequestId, Time, UserCount, UserStatus, rekey};

use super::{Outcome, PostError, Posts, tags};
use crate::access::{Act, Standing, allows};
use crate::account::WHOLE;
use crate::circle::count;
use crate::once::{Kept, Request, Tried};
use crate::{Caller, Failure, audit};

#[boxed]
impl Posts {
    /// Deletes a post; answers with it as it was, marked as deleted.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: &PostId,
        request: Option<&RequestId>,
    ) -> Result<Post, PostError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "deletePost", id)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let post = self.found(caller, &me, id).await?;
                    let standing = Standing::SIGNED_IN
                        .and_if(post.author_id == me.id, Standing::OWNER)
                        .and_if(caller.moderates(), Standing::MODERATOR);
                    if !allows(Act::DeletePost, standing) {
                        return Err(PostError::NotYours);
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
        request: Option<&Request>,
    ) -> Result<Tried<Post>, PostError> {
        let ground = &self.ground;
        let author = ground.core().profile(&post.author_id).strong().get().await?;
        // What a deleted account leaves behind is the purge's.
        let author = author.filter(|author| author.status != UserStatus::Deleted);
        let author = author.ok_or(PostError::NoSuchPost)?;
        let mut commit = ground
            .commit()
            .with("author", author.key().check(User::STATUS.is_not(&UserStatus::Deleted)));
        let tombstone = tombstone(&post, ground.now());
        for (name, write) in self.removal(&post, &tombstone).await? {
            commit = commit.with(name, write);
        }
        if caller.user_id != post.author_id {
            let entry = audit::entry(ground, Some(caller), "deletePost", &post.id, None);
            commit = commit.with("audit", entry);
        }
        let removed = Post { is_deleted: true, ..post };
        // Sent again, the request tells no more than that it is gone: the text is not kept.
        let outcome = Outcome::Removed(Box::new(Kept(tombstone)));
        let commit = commit.remembering(request, &outcome)?;
        Ok(commit.done(removed).await?)
    }

    /// The writes that turn a post into its tombstone, with what it counts for and its tags; refused
    /// when it has changed.
    async fn removal(
        &self,
        post: &Post,
        tombstone: &Post,
    ) -> Result<Vec<(&'static str, Write)>, Failure> {
        let tags = tags::moved(&self.ground, post, tombstone).await?;
        let posts = count(&post.author_id, UserCount::Posts, WHOLE, -1, tombstone.updated_at);
        let mut writes: Vec<(&'static str, Write)> =
            vec![("post", rekey(post, tombstone)?.into()), ("posts", posts.into())];
        writes.extend(tags.into_iter().map(|tag| ("tag", tag)));
        Ok(writes)
    }
}

/// What stays of a post.
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
