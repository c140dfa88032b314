//! Posts of everybody: day by day, by feed, by what moderators think, and by tag (R26).

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{ModerationCase, Post, TagRef};
use roundtable_model::table::Order;
use roundtable_model::{Day, Days, EntityKind, FeedName, ModerationStatus, PostId, Tag};

use super::{PostError, Posts, current, posts, seen};
use crate::access::{Act, Standing, allows};
use crate::limits::{REVIEW_DAYS_MAX, TIMELINE_DAYS_MAX};
use crate::pages::fill;
use crate::{Caller, Failure, Page, PageInput};

/// How far the clocks of two processes may be apart without a day missing from what one reads.
const CLOCK_SKEW_MS: u64 = 10 * 60 * 1000;

#[boxed]
impl Posts {
    /// The posts of everybody in a feed, or outside all feeds. Those that moderators have not approved
    /// are for moderators only.
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
            status => self.with_status(viewer, feed, status, order, page).await,
        }
    }

    /// The posts of everybody that came out on a day.
    pub async fn on_day(
        &self,
        viewer: Option<&Caller>,
        day: Day,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        self.listed(viewer, None, Days::only(day), order, page).await
    }

    /// The posts that carry a tag, as far as the viewer may see them; by id, which is by time.
    pub async fn tagged(
        &self,
        viewer: Option<&Caller>,
        tag: &Tag,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        let shards = self.ground.settings().shards.tags.0;
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().tagged_of(tag, &EntityKind::Post, shards);
                listing.order(order).limit(limit).after(after).page().await
            },
            async |found: Vec<TagRef>| {
                let ids: Vec<PostId> = found.iter().map(|found| found.id.recast()).collect();
                let mut posts = posts(&self.ground, &ids).await?;
                for post in &mut posts {
                    post.take_if(|post| !post.hashtags.iter().any(|other| other.same_as(tag)));
                }
                Ok(seen(&self.ground, viewer, posts).await?)
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
        let (core, shards) = (self.ground.core(), self.ground.settings().shards.posts.0);
        fill(
            page,
            async |limit, after| {
                let listing = match feed.filter(|feed| !feed.is_global()) {
                    Some(feed) => core.feed_timeline(feed, days, shards),
                    None => core.timeline(days, shards),
                };
                listing.order(order).limit(limit).after(after).page().await
            },
            async |found| {
                Ok(seen(&self.ground, viewer, current(&self.ground, found).await?).await?)
            },
        )
        .await
    }

    /// Posts that are not approved, found through their cases.
    async fn with_status(
        &self,
        viewer: Option<&Caller>,
        feed: Option<&FeedName>,
        status: ModerationStatus,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Post>, PostError> {
        let staff = viewer.is_some_and(Caller::moderates);
        let standing = Standing::ANONYMOUS.and_if(staff, Standing::MODERATOR);
        if !allows(Act::SeeModerationQueue, standing) {
            let signed_in = viewer.is_some();
            let refused = if signed_in { Failure::Forbidden } else { Failure::Unauthenticated };
            return Err(refused.into());
        }
        let shards = self.ground.settings().shards.cases.0;
        fill(
            page,
            async |limit, after| {
                let listing =
                    self.ground.core().moderation_queue(&status, self.days_of_cases(), shards);
                let of_posts = listing.only(ModerationCase::COMMENT_ID.absent());
                of_posts.order(order).limit(limit).after(after).page().await
            },
            async |found: Vec<ModerationCase>| {
                let ids: Vec<PostId> = found.into_iter().map(|case| case.post_id).collect();
                let mut posts = posts(&self.ground, &ids).await?;
                for post in &mut posts {
                    post.take_if(|post| {
                        post.moderation_status != status
                            || feed.is_some_and(|feed| *feed != post.feed_id)
                    });
                }
                Ok(seen(&self.ground, viewer, posts).await?)
            },
        )
        .await
    }

    /// The days that can be read.
    fn days(&self) -> Days {
        let newest = self.ground.now().plus_ms(CLOCK_SKEW_MS).day();
        Days::up_to(newest, self.ground.settings().timeline_days.min(TIMELINE_DAYS_MAX))
    }

    /// The days whose cases can be read.
    fn days_of_cases(&self) -> Days {
        Days::up_to(self.days().newest, REVIEW_DAYS_MAX)
    }
}
