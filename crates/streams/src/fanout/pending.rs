//! Finds the activities of a source that are still to be copied, from its head and its watermark.

use roundtable_model::entities::{Activity, ActorHead, FeedItem, Promotion};
use roundtable_model::table::Order;
use roundtable_model::{ActorId, Expiry, Json, Span, Time};
use serde::{Deserialize, Serialize};

use super::readers::ReaderPosition;
use super::{FanOut, FanOutSource};
use crate::Result;

const ACTIVITIES_AT_ONCE: usize = 10;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The progress of a job: these activities have been copied to all readers before this position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FanOutProgress {
    since: Time,
    /// The last of these activities.
    upto: Time,
    readers: ReaderPosition,
}

impl FanOutProgress {
    /// The cursor of a job that starts over.
    pub(super) const START: &'static str = "";

    pub(super) fn decode(text: &str) -> Result<Option<Self>> {
        if text == Self::START {
            return Ok(None);
        }
        let json: Json = text.parse()?;
        Ok(Some(json.decode()?))
    }

    pub(super) fn encode(&self) -> Result<String> {
        Ok(Json::encode(self)?.to_string())
    }
}

/// The next activities to copy, all of one interval.
#[derive(Clone, Debug)]
pub(super) struct CopyPass {
    pub(super) since: Time,
    /// The last of these activities. Once they are copied, everything up to here is.
    pub(super) upto: Time,
    /// The feed items, without their reader. Expired activities are omitted.
    pub(super) copies: Vec<FeedItem>,
    /// The readers before this position have them.
    pub(super) position: ReaderPosition,
    /// Nothing else was pending when this pass was read.
    pub(super) is_last: bool,
    /// There is a promotion to write the watermark on.
    pub(super) has_promotion: bool,
}

impl CopyPass {
    /// The progress after some readers.
    pub(super) fn progress(&self, readers: ReaderPosition) -> FanOutProgress {
        FanOutProgress { since: self.since, upto: self.upto, readers }
    }
}

/// The part of an interval whose activities are still to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PendingInterval {
    since: Time,
    from: Time,
    to: Time,
    held_days: u32,
}

impl FanOut {
    /// Returns the next pass. Continues from `progress` if it is still valid.
    pub(super) async fn next_pass(
        &self,
        source: &FanOutSource,
        enqueued_at: Time,
        progress: Option<FanOutProgress>,
    ) -> Result<Option<CopyPass>> {
        let (core, actor) = (self.context.core(), source.actor());
        // Read the head first: everything it covers is committed, and later activities have a job
        // of their own.
        let heads = core.actor_heads(std::slice::from_ref(&actor)).strong().get().await?;
        let Some(head) = heads.into_iter().flatten().next() else { return Ok(None) };
        let promotion = core.promotion(&actor).strong().get().await?;
        let intervals = pending_intervals(&head, promotion.as_ref());
        let has_promotion = promotion.is_some();
        if let Some(progress) = progress
            && let Some(interval) = intervals.iter().find(|each| each.since == progress.since)
        {
            let rest = PendingInterval { to: progress.upto, ..*interval };
            let (activities, _) = self.load_activities(&actor, rest).await?;
            if !activities.is_empty() {
                let copies = self.feed_items(&activities, rest, enqueued_at);
                let FanOutProgress { since, upto, readers } = progress;
                let (position, is_last) = (readers, false);
                return Ok(Some(CopyPass {
                    since,
                    upto,
                    copies,
                    position,
                    is_last,
                    has_promotion,
                }));
            }
        }
        for (at, interval) in intervals.iter().enumerate() {
            let (activities, ends) = self.load_activities(&actor, *interval).await?;
            let Some(last) = activities.last() else { continue };
            return Ok(Some(CopyPass {
                since: interval.since,
                upto: last.created_at,
                copies: self.feed_items(&activities, *interval, enqueued_at),
                position: ReaderPosition::default(),
                is_last: ends && at + 1 == intervals.len(),
                has_promotion,
            }));
        }
        Ok(None)
    }

    /// Reads the first activities of an interval, and returns whether there are no more. The read
    /// is strongly consistent: the watermark would claim that a missed activity has been copied.
    async fn load_activities(
        &self,
        actor: &ActorId,
        interval: PendingInterval,
    ) -> Result<(Vec<Activity>, bool)> {
        let span = Span::between(interval.from, interval.to.plus_ms(1));
        let activities = self.context.core().activities_of(actor, span).strong();
        let oldest_first = activities.order(Order::Ascending).limit(ACTIVITIES_AT_ONCE);
        let page = oldest_first.page().await?;
        Ok((page.items, page.next.is_none()))
    }

    /// Returns the feed items of some activities, without their reader. The result is the same each
    /// time.
    fn feed_items(
        &self,
        activities: &[Activity],
        interval: PendingInterval,
        enqueued_at: Time,
    ) -> Vec<FeedItem> {
        let held_ms = u64::from(interval.held_days) * DAY_MS;
        let copy = |activity: &Activity| FeedItem {
            follower_id: activity.actor_id.clone(),
            activity_id: activity.activity_id.clone(),
            actor_id: activity.actor_id.clone(),
            group_id: activity.group_id.clone(),
            verb: activity.verb,
            object_type: activity.object_type,
            object_id: activity.object_id.clone(),
            preview_text: activity.preview_text.clone(),
            created_at: activity.created_at,
            inserted_at: enqueued_at.max(activity.created_at),
            ttl: Expiry::at(activity.created_at.plus_ms(held_ms)),
        };
        let now = self.context.now();
        let activities = activities.iter().filter(|activity| activity.fanout);
        activities.map(copy).filter(|copy| copy.ttl.time() > now).collect()
    }
}

/// Returns what is still to be copied, earliest first. Intervals that the head has dropped are
/// skipped: readers look up their activities at the source.
fn pending_intervals(head: &ActorHead, promotion: Option<&Promotion>) -> Vec<PendingInterval> {
    let mark = promotion.and_then(|mark| Some((mark.watermark_since?, mark.watermark?)));
    let closed = head.intervals.iter().map(|one| (one.since, one.until, one.held_days));
    let open = head.since.map(|since| (since, head.last_ts, head.held_days));
    let pending = |(since, to, held_days): (Time, Time, u32)| {
        let from = match mark {
            Some((interval, _)) if since < interval => return None,
            Some((interval, watermark)) if since == interval => watermark.plus_ms(1).max(since),
            _ => since,
        };
        (from <= to).then_some(PendingInterval { since, from, to, held_days })
    };
    closed.chain(open).filter_map(pending).collect()
}

#[cfg(test)]
mod tests {
    use roundtable_model::entities::Interval;
    use roundtable_model::samples;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_ms(ms)
    }

    fn head(closed: &[(u64, u64)], since: Option<u64>, last_ts: u64) -> ActorHead {
        let interval = |(since, until): &(u64, u64)| Interval {
            since: at(*since),
            until: at(*until),
            held_days: 45,
        };
        ActorHead {
            intervals: closed.iter().map(interval).collect(),
            since: since.map(at),
            last_ts: at(last_ts),
            ..samples::actor_head()
        }
    }

    fn pending(head: &ActorHead, mark: Option<(u64, u64)>) -> Vec<(u64, u64, u64)> {
        let promotion = Promotion {
            watermark_since: mark.map(|(since, _)| at(since)),
            watermark: mark.map(|(_, watermark)| at(watermark)),
            ..samples::promotion()
        };
        let bounds = |each: &PendingInterval| (each.since.ms(), each.from.ms(), each.to.ms());
        pending_intervals(head, Some(&promotion)).iter().map(bounds).collect()
    }

    #[test]
    fn only_activities_after_the_watermark_are_pending() {
        let head = head(&[(10, 19), (30, 39)], Some(50), 60);
        assert_eq!(pending(&head, None), [(10, 10, 19), (30, 30, 39), (50, 50, 60)]);
        assert_eq!(pending(&head, Some((30, 35))), [(30, 36, 39), (50, 50, 60)]);
        assert_eq!(pending(&head, Some((30, 39))), [(50, 50, 60)]);
        assert_eq!(pending(&head, Some((50, 60))), []);
    }

    #[test]
    fn a_watermark_in_a_dropped_interval_leaves_all_later_intervals_pending() {
        let head = head(&[(30, 39)], None, 70);
        assert_eq!(pending(&head, Some((10, 19))), [(30, 30, 39)]);
    }

    #[test]
    fn a_watermark_in_a_later_interval_leaves_nothing_pending_before_it() {
        let head = head(&[(30, 39)], None, 70);
        assert_eq!(pending(&head, Some((80, 90))), []);
    }

    #[test]
    fn progress_round_trips_through_its_cursor() {
        let progress =
            FanOutProgress { since: at(10), upto: at(19), readers: ReaderPosition::default() };
        assert_eq!(FanOutProgress::decode(&progress.encode().unwrap()).unwrap(), Some(progress));
        assert_eq!(FanOutProgress::decode(FanOutProgress::START).unwrap(), None);
        assert!(FanOutProgress::decode("{").is_err());
    }
}
