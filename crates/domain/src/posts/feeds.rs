//! Public lists of posts: by day, feed, moderation status and tag (R26).

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{ModerationCase, Post, TagRef};
use roundtable_model::table::Order;
use roundtable_model::{Day, Days, EntityKind, FeedName, ModerationStatus, PostId, Tag};

use super::{PostError, Posts, filter_visible, posts, reread};
use crate::access::Permission;
use crate::limits::{REVIEW_DAYS_MAX, TIMELINE_DAYS_MAX};
use crate::pages::fill_page;
use crate::{Caller, Page, PageInput, ServiceError};

/// The clock difference between processes up to which no day is missed.
const CLOCK_SKEW_MS: u64 = 10 * 60 * 1000;

#[boxed]
impl Posts {
    /// Returns the posts of a feed, or of all feeds. Only moderators may list posts that are not
    /// approved.
    pub async fn global(
        &self,
        viewer: Option<&Caller>,
        feed: Option<&FeedName>,
        status: Option<ModerationStatus>,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        match status.unwrap_or(ModerationStatus::Approved) {
            ModerationStatus::Approved => self.listed(viewer, feed, self.days(), order, page).await,
            status => self.unapproved(viewer, feed, status, order, page).await,
        }
    }

    /// Returns the posts published on a day.
    pub async fn on_day(
        &self,
        viewer: Option<&Caller>,
        day: Day,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        self.listed(viewer, None, Days::only(day), order, page).await
    }

    /// Returns the posts with a tag that the viewer may see, by id, which is by time.
    pub async fn tagged(
        &self,
        viewer: Option<&Caller>,
        tag: &Tag,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        let shards = self.context.settings().shards.tags.0;
        fill_page(
            page,
            async |limit, after| {
                let listing = self.context.core().tagged_of(tag, &EntityKind::Post, shards);
                listing.order(order).limit(limit).after(after).page().await
            },
            async |found: Vec<TagRef>| {
                let ids: Vec<PostId> = found.iter().map(|found| found.id.recast()).collect();
                let mut posts = posts(&self.context, &ids).await?;
                for post in &mut posts {
                    post.take_if(|post| !post.hashtags.iter().any(|other| other.same_as(tag)));
                }
                Ok(filter_visible(&self.context, viewer, posts).await?)
            },
        )
        .await
    }

    async fn listed(
        &self,
        viewer: Option<&Caller>,
        feed: Option<&FeedName>,
        days: Days,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        let (core, shards) = (self.context.core(), self.context.settings().shards.posts.0);
        fill_page(
            page,
            async |limit, after| {
                let listing = match feed.filter(|feed| !feed.is_global()) {
                    Some(feed) => core.feed_timeline(feed, days, shards),
                    None => core.timeline(days, shards),
                };
                listing.order(order).limit(limit).after(after).page().await
            },
            async |found| {
                Ok(filter_visible(&self.context, viewer, reread(&self.context, found).await?)
                    .await?)
            },
        )
        .await
    }

    /// Lists posts that are not approved through their cases.
    async fn unapproved(
        &self,
        viewer: Option<&Caller>,
        feed: Option<&FeedName>,
        status: ModerationStatus,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        let caller = viewer.ok_or(ServiceError::Unauthenticated)?;
        self.context.authorize_staff(caller, Permission::SeeModerationQueue).await?;
        let shards = self.context.settings().shards.cases.0;
        fill_page(
            page,
            async |limit, after| {
                let listing =
                    self.context.core().moderation_queue(&status, self.case_days(), shards);
                let of_posts = listing.filter(
                    ModerationCase::COMMENT_ID.absent().and(ModerationCase::POST_ID.exists()),
                );
                of_posts.order(order).limit(limit).after(after).page().await
            },
            async |found: Vec<ModerationCase>| {
                let ids: Vec<PostId> = found.into_iter().filter_map(|case| case.post_id).collect();
                let mut posts = posts(&self.context, &ids).await?;
                for post in &mut posts {
                    post.take_if(|post| {
                        post.moderation_status != status
                            || feed.is_some_and(|feed| *feed != post.feed_id)
                    });
                }
                Ok(filter_visible(&self.context, viewer, posts).await?)
            },
        )
        .await
    }

    fn days(&self) -> Days {
        let newest = self.context.now().plus_ms(CLOCK_SKEW_MS).day();
        Days::up_to(newest, self.context.settings().timeline_days.min(TIMELINE_DAYS_MAX))
    }

    fn case_days(&self) -> Days {
        Days::up_to(self.days().newest, REVIEW_DAYS_MAX)
    }
}
