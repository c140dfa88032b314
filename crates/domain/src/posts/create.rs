//! Writing a post.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Holder, Media, Post, User};
use roundtable_model::{
    ContentType, Entity, FeedName, MediaKey, MediaUse, Misfit, ModerationStatus, RequestId, Shard,
    UserCount, UserStatus, Visibility,
};

use super::case::{self, is_looked_at};
use super::{NewPost, Outcome, PostError, Posts, names, tags};
use crate::access::{Act, Standing, allows};
use crate::account::WHOLE;
use crate::activities::{Membership, News, membership, publish};
use crate::circle::count;
use crate::limits::{
    POST_CHARS_MAX, POST_MEDIA_MAX, check_count, check_filled, check_media_type, check_text,
};
use crate::media::{claim, unclaimed};
use crate::once::{Request, Tried};
use crate::{Caller, Failure, ModerationMode};

#[boxed]
impl Posts {
    /// Writes a post. It is out at once, unless moderators see posts first (R34).
    pub async fn create(
        &self,
        caller: &Caller,
        input: &NewPost,
        request: Option<&RequestId>,
    ) -> Result<Post, PostError> {
        let me = self.ground.account(caller).await?;
        if !allows(Act::CreatePost, Standing::SIGNED_IN) {
            return Err(Failure::Forbidden.into());
        }
        check(input)?;
        let request = self.ground.request(&me.id, request, "createPost", input)?;
        let is_late = AtomicBool::new(false);
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let is_late = is_late.swap(true, Relaxed);
                    self.try_create(caller, &me, input, is_late, request.as_ref()).await
                },
            )
            .await
    }

    async fn try_create(
        &self,
        caller: &Caller,
        me: &User,
        input: &NewPost,
        is_late: bool,
        request: Option<&Request>,
    ) -> Result<Tried<Post>, PostError> {
        let ground = &self.ground;
        // What refused the first attempt may have been that the profile has changed.
        let now = if is_late { Some(ground.reader(caller).await?) } else { None };
        let me = now.as_ref().unwrap_or(me);
        let mut commit = ground.commit();
        if let Some(group) = &input.group_id {
            match membership(ground, caller, group).await? {
                Membership::Active(active) => commit = commit.with_any("group", active),
                Membership::None => return Err(PostError::NotAMember),
                Membership::NoGroup => return Err(PostError::NoSuchGroup),
            }
        }
        let media = unclaimed(ground, &me.id, &input.media, MediaUse::Post).await?;
        let media = media.ok_or(PostError::NoSuchMedia)?;
        let mut post = self.new_post(me, input, media).await?;
        let published = match ground.settings().moderation {
            ModerationMode::Before => None,
            ModerationMode::Off | ModerationMode::After => {
                post.moderation_status = ModerationStatus::Approved;
                Some(publish(ground, News::of_publication(&post).again(is_late)).await?)
            }
        };
        if let Some(published) = &published {
            post.published_at = Some(published.activity.created_at);
            commit = published.in_commit(commit);
        }
        let opened = is_looked_at(ground).then(|| case::new(ground, &post).create());
        let holder = Holder::post(&post.id);
        // Who has gone or turned private meanwhile must not leave a post behind that says otherwise.
        let same = User::STATUS.is(&UserStatus::Active).and(User::IS_PRIVATE.is(&me.is_private));
        let commit = commit
            .with("post", post.create())
            .with_any("file", post.media.iter().map(|media| claim(&me.id, media, &holder)))
            .with("author", me.key().check(same))
            .with("posts", count(&me.id, UserCount::Posts, WHOLE, 1, post.created_at))
            .with_any("tag", tags::references(ground, &post).iter().map(Entity::create))
            .with_any("case", opened)
            .remembering(request, &Outcome::Post(post.id.clone()))?;
        Ok(commit.done(post).await?)
    }

    /// The post as it is before anybody has looked at it.
    async fn new_post(
        &self,
        me: &User,
        input: &NewPost,
        media: Vec<Media>,
    ) -> Result<Post, Failure> {
        let (now, named) = (self.ground.now(), names(&self.ground, &input.content).await?);
        let id = self.ground.ids().next_at(now);
        let shard = Shard::of(&format!("{id}"), self.ground.settings().shards.posts.0);
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
            hashtags: named.tags,
            mentions: named.nicknames,
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

/// Refuses what is no post.
fn check(input: &NewPost) -> Result<(), PostError> {
    check_count("media", input.media.len(), POST_MEDIA_MAX)?;
    for media in &input.media {
        check_media_type("contentType", &media.content_type)?;
    }
    let files: BTreeSet<&MediaKey> = input.media.iter().map(|media| &media.s3_key).collect();
    if files.len() < input.media.len() {
        return Err(
            Failure::bad("media", Misfit::new("each file once", "one of them twice")).into()
        );
    }
    check_content(input.content_type, &input.content)?;
    if input.content_type != ContentType::Text && input.media.is_empty() {
        return Err(PostError::NoMedia);
    }
    Ok(())
}

/// Refuses a text that is too long; a post that is nothing but text must have some.
pub(super) fn check_content(content_type: ContentType, content: &str) -> Result<(), Failure> {
    match content_type {
        ContentType::Text => check_filled("content", content, POST_CHARS_MAX),
        ContentType::Image | ContentType::Video => check_text("content", content, POST_CHARS_MAX),
    }
}
