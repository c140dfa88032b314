//! Creation of posts.

use std::collections::BTreeSet;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Holder, Media, Post, User};
use roundtable_model::{
    ContentType, Entity, FeedName, InvalidValue, MediaKey, MediaUse, ModerationStatus, RequestId,
    Shard, UserCount, Visibility,
};

use super::case::{self, is_moderated};
use super::{NewPost, PostError, PostOutcome, Posts};
use crate::access::{Permission, Relations, require};
use crate::account::{SINGLE_SHARD, is_active};
use crate::activities::{ActivityDraft, PostingAccess, posting_access, prepare_activity};
use crate::circle::change_count;
use crate::limits::{
    POST_CHARS_MAX, POST_MEDIA_MAX, check_count, check_filled, check_media_type, check_text,
};
use crate::media::{claim, unclaimed};
use crate::mutation::{Attempt, AttemptOutcome};
use crate::tags::references;
use crate::text_references::resolve_references;
use crate::{Caller, ModerationMode, ServiceError};

#[boxed]
impl Posts {
    /// Creates a post. It is published at once, unless moderators review posts first (R34).
    pub async fn create(
        &self,
        caller: &Caller,
        input: &NewPost,
        request: Option<&RequestId>,
    ) -> Result<Post, PostError> {
        let mutation = self.context.mutation(caller).await?;
        require(Permission::CreatePost, Relations::SIGNED_IN)?;
        check(input)?;
        mutation
            .once("createPost", input, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| self.try_create(caller, &me, input, attempt).await)
            .await
    }

    async fn try_create(
        &self,
        caller: &Caller,
        me: &User,
        input: &NewPost,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Post>, PostError> {
        let context = &self.context;
        let mut commit = attempt.commit();
        if let Some(group) = &input.group_id {
            match posting_access(context, caller, group).await? {
                PostingAccess::Allowed(active) => commit = commit.with_all("group", active),
                PostingAccess::NotAMember => return Err(PostError::NotAMember),
                PostingAccess::NoGroup => return Err(PostError::NoSuchGroup),
            }
        }
        let media = unclaimed(context, &me.id, &input.media, MediaUse::Post).await?;
        let media = media.ok_or(PostError::NoSuchMedia)?;
        let mut post = self.new_post(me, input, media).await?;
        let published = match context.settings().moderation {
            ModerationMode::Before => None,
            ModerationMode::Off | ModerationMode::After => {
                post.moderation_status = ModerationStatus::Approved;
                let draft = ActivityDraft::of_publication(&post);
                Some(prepare_activity(context, attempt, draft).await?)
            }
        };
        if let Some(published) = &published {
            post.published_at = Some(published.activity.created_at);
            commit = published.add_to(commit);
        }
        let opened = is_moderated(context).then(|| case::new_case(context, &post).create());
        let holder = Holder::post(&post.id);
        // The author must still be active and as private as the post says.
        let same = is_active().and(User::IS_PRIVATE.is(&me.is_private));
        commit
            .with("post", post.create())
            .with_all("file", post.media.iter().map(|media| claim(&me.id, media, &holder)))
            .with("author", me.key().check(same))
            .with("posts", change_count(&me.id, UserCount::Posts, SINGLE_SHARD, 1, post.created_at))
            .with_all("tag", references(context, &post).iter().map(Entity::create))
            .with_all("case", opened)
            .finish(PostOutcome::Post(post.id.clone()), post)
            .await
    }

    async fn new_post(
        &self,
        me: &User,
        input: &NewPost,
        media: Vec<Media>,
    ) -> Result<Post, ServiceError> {
        let (now, found) =
            (self.context.now(), resolve_references(&self.context, &input.content).await?);
        let id = self.context.ids().next_at(now);
        let shard = Shard::of(&format!("{id}"), self.context.settings().shards.posts.0);
        Ok(Post {
            id,
            author_id: me.id.clone(),
            author_nickname: me.nickname.clone(),
            group_id: input.group_id.clone(),
            content: input.content.clone(),
            content_type: input.content_type,
            media,
            visibility: input.visibility.unwrap_or(Visibility::Public),
            moderation_status: ModerationStatus::Pending,
            is_deleted: false,
            hashtags: found.tags,
            mentions: found.nicknames,
            feed_id: input.feed_id.clone().unwrap_or(FeedName::GLOBAL),
            activity_pub_id: None,
            audience: Vec::new(),
            author_is_private: me.is_private,
            published_at: None,
            score: None,
            shard,
            version: 1,
            created_at: now,
            updated_at: now,
        })
    }
}

fn check(input: &NewPost) -> Result<(), PostError> {
    check_count("media", input.media.len(), POST_MEDIA_MAX)?;
    for media in &input.media {
        check_media_type("contentType", &media.content_type)?;
    }
    let files: BTreeSet<&MediaKey> = input.media.iter().map(|media| &media.s3_key).collect();
    if files.len() < input.media.len() {
        return Err(ServiceError::bad_input(
            "media",
            InvalidValue::new("each file once", "one of them twice"),
        )
        .into());
    }
    check_content(input.content_type, &input.content)?;
    if input.content_type != ContentType::Text && input.media.is_empty() {
        return Err(PostError::NoMedia);
    }
    Ok(())
}

/// Refuses a text that is too long, or empty in a text post.
pub(super) fn check_content(content_type: ContentType, content: &str) -> Result<(), ServiceError> {
    match content_type {
        ContentType::Text => check_filled("content", content, POST_CHARS_MAX),
        ContentType::Image | ContentType::Video => check_text("content", content, POST_CHARS_MAX),
    }
}
