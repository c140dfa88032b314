//! Changing a post.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Post;
use roundtable_model::{ModerationStatus, PostId, RequestId, rekey};

use super::case::{is_looked_at, reopened};
use super::create::check_content;
use super::{Outcome, PostChange, PostError, Posts, names, tags};
use crate::access::{Act, Standing, allows};
use crate::once::{Request, Tried};
use crate::{Caller, ModerationMode};

#[boxed]
impl Posts {
    /// Changes the text of a post, or whom it is for. Where moderators see posts, they see a new text,
    /// too; where they see it first, the post is hidden until they have.
    pub async fn update(
        &self,
        caller: &Caller,
        id: &PostId,
        change: &PostChange,
        request: Option<&RequestId>,
    ) -> Result<Post, PostError> {
        let me = self.ground.account(caller).await?;
        let request = self.ground.request(&me.id, request, "updatePost", &(id, change))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let post = self.found(caller, &me, id).await?;
                    let mine = Standing::SIGNED_IN.and_if(post.author_id == me.id, Standing::OWNER);
                    if !allows(Act::UpdatePost, mine) {
                        return Err(PostError::NotYours);
                    }
                    self.try_update(&post, change, request.as_ref()).await
                },
            )
            .await
    }

    async fn try_update(
        &self,
        post: &Post,
        change: &PostChange,
        request: Option<&Request>,
    ) -> Result<Tried<Post>, PostError> {
        let ground = &self.ground;
        let mut changed = Post {
            visibility: change.visibility.unwrap_or(post.visibility),
            updated_at: ground.now(),
            version: post.version + 1,
            ..post.clone()
        };
        let mut commit = ground.commit();
        if let Some(content) = change.content.as_ref().filter(|content| **content != post.content) {
            check_content(post.content_type, content)?;
            let named = names(ground, content).await?;
            changed.content.clone_from(content);
            (changed.hashtags, changed.mentions) = (named.tags, named.nicknames);
            commit = commit.with_any("tag", tags::moved(ground, post, &changed).await?);
            if is_looked_at(ground) && post.moderation_status == ModerationStatus::Approved {
                commit = commit.with("case", reopened(ground, &changed).await?);
                if ground.settings().moderation == ModerationMode::Before {
                    changed.moderation_status = ModerationStatus::Pending;
                }
            }
        }
        let commit = commit
            .with("post", rekey(post, &changed)?)
            .remembering(request, &Outcome::Post(post.id.clone()))?;
        Ok(commit.done(changed).await?)
    }
}
