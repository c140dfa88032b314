//! What follows for posts when their author's account turns private, or public again.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Post, User};
use roundtable_model::{Cursor, UserId, rekey};

use super::{Posts, posts};
use crate::commit::Rejected;
use crate::{Failure, PAGE_ITEMS_MAX};

#[boxed]
impl Posts {
    /// Takes the posts of somebody whose account has turned private out of the lists for everybody, or
    /// puts them back: a page of their posts at a time, from `after` on. Answers with where to go on,
    /// `None` at the end.
    ///
    /// For the stream's processors. It can be repeated from any page; where the account has turned
    /// again meanwhile it stops, since that change is followed by its own.
    pub async fn set_author_private(
        &self,
        author: &UserId,
        is_private: bool,
        after: Option<Cursor>,
    ) -> Result<Option<Cursor>, Failure> {
        let listing = self.ground.core().posts_by(author).limit(PAGE_ITEMS_MAX).after(after);
        let page = listing.page().await?;
        for post in page.items {
            if post.author_is_private == is_private || post.is_deleted {
                continue;
            }
            if !self.tell_author_private(post, is_private).await? {
                return Ok(None);
            }
        }
        Ok(page.next)
    }

    /// Tells one post; `false` when it is no longer true.
    async fn tell_author_private(&self, mut post: Post, is_private: bool) -> Result<bool, Failure> {
        while post.author_is_private != is_private && !post.is_deleted {
            let told = Post { author_is_private: is_private, ..post.clone() };
            let so = User::IS_PRIVATE.is(&is_private);
            let commit = self
                .ground
                .commit()
                .with("post", rekey(&post, &told)?)
                .with("author", User::at(&post.author_id).check(so));
            match commit.run().await {
                Ok(()) => return Ok(true),
                Err(Rejected::Refused(refused)) if refused.has("author") => return Ok(false),
                Err(Rejected::Refused(_)) => {}
                Err(Rejected::Failed(failure)) => return Err(failure),
            }
            let now = posts(&self.ground, std::slice::from_ref(&post.id)).await?;
            let Some(now) = now.into_iter().flatten().next() else { return Ok(true) };
            post = now;
        }
        Ok(true)
    }
}
