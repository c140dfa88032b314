//! An actor's head: the time of its newest activity, and which activities are copied into feeds.
//! Writes are conditional on the version read, so no activity is lost between two changes.

use roundtable_model::entities::{ActorHead, Interval};
use roundtable_model::table::Write;
use roundtable_model::{ActorId, Entity, Time};

use crate::settings::{FeedPolicy, FeedSettings};
use crate::{Context, ServiceError};

/// Closed intervals that are stored. Activities copied in older ones are read from the actor again.
const INTERVALS_MAX: usize = 4;
/// The window in which activities are counted.
const WINDOW_MS: u64 = 24 * 60 * 60 * 1000;

/// An actor's head as it was read, and whether it is missing from the table.
#[derive(Clone, Debug)]
pub(crate) struct StoredHead {
    read: ActorHead,
    is_new: bool,
}

impl StoredHead {
    pub(crate) async fn of(context: &Context, actor: &ActorId) -> Result<Self, ServiceError> {
        let heads = context.core().actor_heads(std::slice::from_ref(actor)).strong().get();
        let read = heads.await?.into_iter().flatten().next();
        let is_new = read.is_none();
        Ok(Self { read: read.unwrap_or_else(|| ActorHead::idle(actor.clone())), is_new })
    }

    /// The time of the next activity: after all others, even where clocks differ.
    pub(crate) fn next_ts(&self, now: Time) -> Time {
        if self.read.last_ts == Time::EPOCH { now } else { now.max(self.read.last_ts.plus_ms(1)) }
    }

    /// The head with one more activity, copied or not according to the policy.
    pub(crate) fn raised(&self, ts: Time, policy: FeedPolicy, feed: &FeedSettings) -> ActorHead {
        let mut next = self.read.clone();
        let is_copied = match policy {
            FeedPolicy::Documents => next.promoted,
            FeedPolicy::Pull => false,
            FeedPolicy::Push => true,
        };
        // All copies of one interval have the same lifetime, so that readers know how far back they
        // reach.
        if let Some(since) = next.since
            && !(is_copied && next.held_days == feed.ttl_days)
        {
            let (until, held_days) = (next.last_ts, next.held_days);
            next.intervals.push(Interval { since, until, held_days });
            let excess = next.intervals.len().saturating_sub(INTERVALS_MAX);
            next.intervals.drain(..excess);
            next.since = None;
        }
        if is_copied && next.since.is_none() {
            (next.since, next.held_days) = (Some(ts), feed.ttl_days);
        }
        if ts >= next.window_at.plus_ms(WINDOW_MS) {
            (next.window_at, next.window_count) = (ts, 0);
        }
        next.window_count += 1;
        next.last_ts = ts;
        next
    }

    pub(crate) fn promoted(&self, promoted: bool) -> ActorHead {
        ActorHead { promoted, ..self.read.clone() }
    }

    /// The write of the next head; its condition fails if the head has changed since it was read.
    pub(crate) fn write(&self, next: ActorHead) -> Write {
        if self.is_new {
            return next.create().into();
        }
        let unchanged = ActorHead::VERSION.is(&self.read.version);
        ActorHead { version: self.read.version + 1, ..next }.put().when(unchanged).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> StoredHead {
        let actor: ActorId = "ana".parse().unwrap();
        StoredHead { read: ActorHead::idle(actor), is_new: true }
    }

    /// The head after activities at these times, each under a policy.
    fn after(steps: &[(u64, FeedPolicy)]) -> ActorHead {
        let feed = FeedSettings::default();
        let raise = |head: StoredHead, (ms, policy): &(u64, FeedPolicy)| {
            let read = head.raised(Time::from_ms(*ms), *policy, &feed);
            StoredHead { read, is_new: false }
        };
        steps.iter().fold(head(), raise).read
    }

    fn closed(head: &ActorHead) -> Vec<(u64, u64)> {
        head.intervals.iter().map(|one| (one.since.ms(), one.until.ms())).collect()
    }

    #[test]
    fn an_interval_begins_and_ends_with_an_activity() {
        use FeedPolicy::{Pull, Push};
        let pushed = after(&[(10, Pull), (20, Push), (30, Push)]);
        assert_eq!((pushed.since, closed(&pushed)), (Some(Time::from_ms(20)), vec![]));
        let pulled = after(&[(10, Pull), (20, Push), (30, Push), (40, Pull)]);
        assert_eq!((pulled.since, closed(&pulled)), (None, vec![(20, 30)]));
        assert_eq!((pulled.last_ts, pulled.window_count), (Time::from_ms(40), 4));
    }

    #[test]
    fn only_the_last_few_intervals_are_stored() {
        use FeedPolicy::{Pull, Push};
        let steps: Vec<_> =
            (1..=20).map(|n| (n * 10, if n % 2 == 0 { Push } else { Pull })).collect();
        let head = after(&steps);
        assert_eq!(head.since, Some(Time::from_ms(200)));
        assert_eq!(closed(&head), [(120, 120), (140, 140), (160, 160), (180, 180)]);
    }

    #[test]
    fn copies_that_are_held_longer_begin_an_interval() {
        let before = StoredHead { read: after(&[(10, FeedPolicy::Push)]), is_new: false };
        let longer = FeedSettings { ttl_days: 60, ..FeedSettings::default() };
        let head = before.raised(Time::from_ms(20), FeedPolicy::Push, &longer);
        assert_eq!((head.since, head.held_days), (Some(Time::from_ms(20)), 60));
        assert_eq!(closed(&head), [(10, 10)]);
    }

    #[test]
    fn under_the_documents_policy_promotion_decides() {
        let feed = FeedSettings::default();
        let idle = head();
        let quiet = idle.raised(Time::from_ms(10), FeedPolicy::Documents, &feed);
        assert_eq!(quiet.since, None);
        let promoted = StoredHead { read: idle.promoted(true), is_new: false };
        let pushed = promoted.raised(Time::from_ms(10), FeedPolicy::Documents, &feed);
        assert_eq!(pushed.since, Some(Time::from_ms(10)));
    }

    #[test]
    fn timestamps_never_go_back() {
        let read = after(&[(1_000, FeedPolicy::Pull)]);
        let head = StoredHead { read, is_new: false };
        assert_eq!(head.next_ts(Time::from_ms(400)), Time::from_ms(1_001));
        assert_eq!(head.next_ts(Time::from_ms(2_000)), Time::from_ms(2_000));
    }
}
