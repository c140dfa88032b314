//! Updates of posts after their author's account has become private or public.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Post, User};
use roundtable_model::{Cursor, UserId, rekey};

use super::{Posts, posts};
use crate::mutation::AttemptOutcome::{Done, Retry};
use crate::{PAGE_ITEMS_MAX, ServiceError};

#[boxed]
impl Posts {
    /// Removes the posts of an account that became private from public lists, or puts them back:
    /// one page from `after` on. Returns where to continue, `None` at the end.
    ///
    /// For the stream processors. Every page can be repeated. Stops when the account has changed
    /// again, since that change has its own run.
    pub async fn set_author_private(
        &self,
        author: &UserId,
        is_private: bool,
        after: Option<Cursor>,
    ) -> Result<Option<Cursor>, ServiceError> {
        let listing = self.context.core().posts_by(author).limit(PAGE_ITEMS_MAX).after(after);
        let page = listing.page().await?;
        for post in page.items {
            if post.author_is_private == is_private || post.is_deleted {
                continue;
            }
            if !self.update_author_private(post, is_private).await? {
                return Ok(None);
            }
        }
        Ok(page.next)
    }

    /// Updates one post; returns `false` when the account has changed again.
    async fn update_author_private(
        &self,
        post: Post,
        is_private: bool,
    ) -> Result<bool, ServiceError> {
        self.context
            .retry(async |attempt| {
                let post = if attempt.is_retry() {
                    let now = posts(&self.context, std::slice::from_ref(&post.id)).await?;
                    now.into_iter().flatten().next()
                } else {
                    Some(post.clone())
                };
                let post = post.filter(|it| it.author_is_private != is_private && !it.is_deleted);
                let Some(post) = post else { return Ok(Done(true)) };
                let updated = Post { author_is_private: is_private, ..post.clone() };
                let still_private = User::IS_PRIVATE.is(&is_private);
                let commit = attempt
                    .commit()
                    .with("post", rekey(&post, &updated)?)
                    .with("author", User::at(&post.author_id).check(still_private));
                commit
                    .finish_or(true, |failed| {
                        let has_account_changed = failed.contains("author");
                        Ok(if has_account_changed { Done(false) } else { Retry })
                    })
                    .await
            })
            .await
    }
}
