//! Updates of posts.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Post;
use roundtable_model::{ModerationStatus, PostId, RequestId, rekey};

use super::case::{is_moderated, reopen};
use super::create::check_content;
use super::{PostChange, PostError, PostOutcome, Posts, resolve_references, tags};
use crate::access::{Permission, Relations, allows};
use crate::idempotency::{AttemptOutcome, IdempotentRequest};
use crate::{Caller, ModerationMode};

#[boxed]
impl Posts {
    /// Changes the text or visibility of a post. Where moderators review posts, they review a new
    /// text, too; where they do so before publication, the post is hidden until then.
    pub async fn update(
        &self,
        caller: &Caller,
        id: &PostId,
        change: &PostChange,
        request: Option<&RequestId>,
    ) -> Result<Post, PostError> {
        let me = self.context.authorize_write(caller).await?;
        let request =
            self.context.idempotent_request(&me.id, request, "updatePost", &(id, change))?;
        self.context
            .run_once(
                request.as_ref(),
                async |outcome: PostOutcome| self.replayed(caller, outcome).await,
                async || {
                    let post = self.found(caller, &me, id).await?;
                    let mine =
                        Relations::SIGNED_IN.with_if(post.author_id == me.id, Relations::OWNER);
                    if !allows(Permission::UpdatePost, mine) {
                        return Err(PostError::NotAuthor);
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
        request: Option<&IdempotentRequest>,
    ) -> Result<AttemptOutcome<Post>, PostError> {
        let context = &self.context;
        let mut changed = Post {
            visibility: change.visibility.unwrap_or(post.visibility),
            updated_at: context.now(),
            version: post.version + 1,
            ..post.clone()
        };
        let mut commit = context.commit();
        if let Some(content) = change.content.as_ref().filter(|content| **content != post.content) {
            check_content(post.content_type, content)?;
            let references = resolve_references(context, content).await?;
            changed.content.clone_from(content);
            (changed.hashtags, changed.mentions) = (references.tags, references.nicknames);
            commit = commit.with_all("tag", tags::reference_writes(context, post, &changed).await?);
            if is_moderated(context) && post.moderation_status == ModerationStatus::Approved {
                commit = commit.with("case", reopen(context, &changed).await?);
                if context.settings().moderation == ModerationMode::Before {
                    changed.moderation_status = ModerationStatus::Pending;
                }
            }
        }
        let commit = commit
            .with("post", rekey(post, &changed)?)
            .recording(request, &PostOutcome::Post(post.id.clone()))?;
        Ok(commit.finish(changed).await?)
    }
}
