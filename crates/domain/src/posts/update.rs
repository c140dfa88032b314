//! Updates of posts.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Post;
use roundtable_model::{ModerationStatus, PostId, RequestId, rekey};

use super::case::{is_moderated, reopen};
use super::create::check_content;
use super::{PostChange, PostError, PostOutcome, Posts};
use crate::access::{Permission, allows};
use crate::groups::require_writable;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::tags::reference_writes;
use crate::text_references::resolve_references;
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
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("updatePost", &(id, change), request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let post = self.found(caller, &me, id).await?;
                if !allows(Permission::UpdatePost, caller.relations_to(&me, &post.author_id)) {
                    return Err(PostError::NotAuthor);
                }
                if let Some(group) = &post.group_id {
                    let group = self.context.core().group(group).get().await?;
                    group.as_ref().map_or(Ok(()), require_writable)?;
                }
                self.try_update(&post, change, attempt).await
            })
            .await
    }

    async fn try_update(
        &self,
        post: &Post,
        change: &PostChange,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Post>, PostError> {
        let context = &self.context;
        let mut changed = Post {
            visibility: change.visibility.unwrap_or(post.visibility),
            updated_at: context.now(),
            version: post.version + 1,
            ..post.clone()
        };
        let mut commit = attempt.commit();
        if let Some(content) = change.content.as_ref().filter(|content| **content != post.content) {
            check_content(post.content_type, content)?;
            let references = resolve_references(context, content).await?;
            changed.content.clone_from(content);
            (changed.hashtags, changed.mentions) = (references.tags, references.nicknames);
            commit = commit.with_all("tag", reference_writes(context, post, &changed).await?);
            if is_moderated(context) && post.moderation_status == ModerationStatus::Approved {
                commit = commit.with("case", reopen(context, &changed).await?);
                if context.settings().moderation == ModerationMode::Before {
                    changed.moderation_status = ModerationStatus::Pending;
                }
            }
        }
        commit
            .with("post", rekey(post, &changed)?)
            .finish(PostOutcome::Post(post.id.clone()), changed)
            .await
    }
}
