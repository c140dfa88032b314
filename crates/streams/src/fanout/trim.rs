//! Trims feeds that have become too long (R40). Nothing is lost: readers look up activities before
//! the horizon at their source, and the horizon is raised before anything is removed.

use std::hash::{DefaultHasher, Hash, Hasher};

use futures::stream::{self, StreamExt, TryStreamExt};
use roundtable_model::entities::{FeedHorizon, FeedItem};
use roundtable_model::table::{BatchWrite, Error, Item, Order};
use roundtable_model::{Entity, Span, Time, UserId};

use super::FanOut;
use crate::Result;

const FEEDS_AT_ONCE: usize = 8;
/// Copies removed at once. A feed that is still too long is trimmed again later.
const TRIMMED_MAX: usize = 1_000;

impl FanOut {
    /// Returns whether the length of the feed is checked for this copy: for one copy in
    /// `trim_one_in`, always the same ones.
    pub(super) fn should_check_length(&self, activity: &str, reader: &str) -> bool {
        let one_in = self.context.settings().feed.trim_one_in.max(1);
        let mut hasher = DefaultHasher::new();
        (activity, reader).hash(&mut hasher);
        hasher.finish().is_multiple_of(one_in)
    }

    pub(super) async fn trim_feeds(&self, readers: Vec<UserId>) -> Result<()> {
        let trims = stream::iter(readers).map(|reader| self.trim_feed(reader));
        trims.buffer_unordered(FEEDS_AT_ONCE).try_for_each(|()| async { Ok(()) }).await
    }

    /// Removes the items of a feed beyond its cap.
    async fn trim_feed(&self, reader: UserId) -> Result<()> {
        let Some(oldest) = self.oldest_within_cap(&reader).await? else { return Ok(()) };
        self.raise_horizon(&reader, oldest).await?;
        let core = self.context.core();
        let older = core.feed_items(&reader, Span::until(oldest)).order(Order::Ascending);
        let old = older.limit(TRIMMED_MAX).stored().await?.items;
        let key = &core.table().definition().key;
        let delete = |item: &Item| key.read(item).map(BatchWrite::Delete);
        let deletes: Vec<BatchWrite> = old.iter().filter_map(delete).collect();
        let count = deletes.len();
        self.write_batches(deletes).await?;
        self.metrics.add_trimmed(count);
        Ok(())
    }

    /// Returns the time of the oldest copy that a feed may keep, or `None` if it may keep all. Most
    /// checked feeds are short or near their cap, and no item is decoded but one.
    async fn oldest_within_cap(&self, reader: &UserId) -> Result<Option<Time>> {
        let cap = self.context.settings().feed.cap.max(1);
        let newest = self.context.core().feed_items(reader, Span::ALL);
        let items = newest.limit(cap.saturating_add(1)).stored().await?.items;
        let oldest = items.get(cap - 1).filter(|_| items.len() > cap);
        Ok(oldest.map(|oldest| FeedItem::CREATED_AT.read(oldest)).transpose()?)
    }

    /// Raises the horizon to `oldest`, unless it is already later.
    async fn raise_horizon(&self, reader: &UserId, oldest: Time) -> Result<()> {
        let lower = FeedHorizon::OLDEST.at_most(&oldest);
        let horizon = FeedHorizon { user_id: reader.clone(), oldest };
        let raised = horizon.put().when(FeedHorizon::OLDEST.absent().or(lower));
        match self.context.core().table().put(raised).await {
            Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
