//! Cutting feeds that have become too long (R40). Nothing is lost by it: readers look up what lies before
//! the horizon, and the horizon is raised before anything is taken away.

use std::hash::{DefaultHasher, Hash, Hasher};

use futures::stream::{self, StreamExt, TryStreamExt};
use roundtable_model::entities::{FeedHorizon, FeedItem};
use roundtable_model::table::{BatchWrite, Error, Item, Query, SortRange};
use roundtable_model::{Answer, Entity, Time, UserId};

use super::FanOut;
use crate::Failure;

/// Feeds looked at at the same time.
const FEEDS_AT_ONCE: usize = 8;
/// Copies that one look takes away; a feed that is longer still is looked at again.
const TRIMMED_MAX: usize = 1_000;

impl FanOut {
    /// Whether a copy has the length of its feed looked at: one of so many has, the same ones every time.
    pub(super) fn looks_at(&self, activity: &str, reader: &str) -> bool {
        let one_in = self.ground.settings().feed.trim_one_in.max(1);
        let mut hasher = DefaultHasher::new();
        (activity, reader).hash(&mut hasher);
        hasher.finish().is_multiple_of(one_in)
    }

    pub(super) async fn trim_all(&self, readers: Vec<UserId>) -> Result<(), Failure> {
        let trims = stream::iter(readers).map(|reader| self.trim(reader));
        trims.buffer_unordered(FEEDS_AT_ONCE).try_for_each(|()| async { Ok(()) }).await
    }

    /// Takes away what a feed holds beyond its cap.
    async fn trim(&self, reader: UserId) -> Result<(), Failure> {
        let Some(oldest) = self.oldest_within_cap(&reader).await? else { return Ok(()) };
        self.raise_horizon(&reader, oldest).await?;
        // The time is followed by more, so that none of its own is before it.
        let before = SortRange::Between("TS#".into(), format!("TS#{oldest}").as_str().into());
        let table = self.ground.core().table();
        let query = feed(&reader).sort(before).limit(TRIMMED_MAX);
        let old = table.for_pattern("feed_items").query(query).await?.items;
        let delete = |item: &Item| table.definition().key.read(item).map(BatchWrite::Delete);
        let deletes: Vec<BatchWrite> = old.iter().filter_map(delete).collect();
        let count = deletes.len();
        self.write_batches(deletes).await?;
        self.tally.trimmed(count);
        Ok(())
    }

    /// When the last copy happened that a feed may keep; `None` if it may keep all. Most feeds that are
    /// looked at are short or near their cap, and only one of their copies is looked into.
    async fn oldest_within_cap(&self, reader: &UserId) -> Result<Option<Time>, Failure> {
        let table = self.ground.core().table().for_pattern("feed_items");
        let cap = self.ground.settings().feed.cap.max(1);
        let (mut seen, mut oldest, mut start) = (0, None, None);
        loop {
            let query = feed(reader).begins_with("TS#").descending();
            let page =
                table.query(query.limit(cap.saturating_add(1) - seen).after(start.take())).await?;
            let at = (cap - 1).checked_sub(seen);
            oldest = at.and_then(|at| page.items.get(at)).cloned().or(oldest);
            seen += page.items.len();
            if seen > cap {
                let oldest = oldest.as_ref().map(FeedItem::from_item).transpose()?;
                return Ok(oldest.map(|oldest| oldest.created_at));
            }
            if page.next.is_none() {
                return Ok(None);
            }
            start = page.next;
        }
    }

    /// Tells readers that nothing before this is held, unless they have been told of a later time.
    async fn raise_horizon(&self, reader: &UserId, oldest: Time) -> Result<(), Failure> {
        let lower = FeedHorizon::OLDEST.at_most(&oldest);
        let horizon = FeedHorizon { user_id: reader.clone(), oldest };
        let raised = horizon.put().when(FeedHorizon::OLDEST.absent().or(lower));
        match self.ground.core().table().put(raised).await {
            Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// A feed, as it is stored.
fn feed(reader: &UserId) -> Query {
    Query::new(FeedHorizon::at(reader).into_key().partition)
}
