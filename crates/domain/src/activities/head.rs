//! An actor's head: the newest of its activities, and which of them are copied into feeds. Whoever
//! changes it demands the version they read, so nothing falls between two changes.

use roundtable_model::entities::{ActorHead, Interval};
use roundtable_model::table::Write;
use roundtable_model::{ActorId, Entity, Time};

use crate::settings::{FeedPolicy, FeedSettings};
use crate::{Failure, Ground};

/// Closed intervals that are remembered. What was copied in older ones is looked up like the rest.
const INTERVALS_MAX: usize = 4;
/// How long activities are counted before the count begins anew.
const WINDOW_MS: u64 = 24 * 60 * 60 * 1000;

/// An actor's head as it is, or as it would be; and whether it is there.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    read: ActorHead,
    is_new: bool,
}

impl Head {
    /// Reads it.
    pub(crate) async fn of(ground: &Ground, actor: &ActorId) -> Result<Self, Failure> {
        let heads = ground.core().actor_heads(std::slice::from_ref(actor)).strong().get();
        let read = heads.await?.into_iter().flatten().next();
        let is_new = read.is_none();
        Ok(Self { read: read.unwrap_or_else(|| ActorHead::idle(actor.clone())), is_new })
    }

    /// When the next activity happens: after all others, also where clocks differ.
    pub(crate) fn next_ts(&self, now: Time) -> Time {
        if self.read.last_ts == Time::EPOCH { now } else { now.max(self.read.last_ts.plus_ms(1)) }
    }

    /// The head with one activity more, copied or not as the policy has it.
    pub(crate) fn raised(&self, ts: Time, policy: FeedPolicy, feed: &FeedSettings) -> ActorHead {
        let mut next = self.read.clone();
        let is_copied = match policy {
            FeedPolicy::Documents => next.promoted,
            FeedPolicy::Pull => false,
            FeedPolicy::Push => true,
        };
        // Copies of one interval are held equally long, so that readers know how far they reach.
        if let Some(since) = next.since
            && !(is_copied && next.held_days == feed.ttl_days)
        {
            let (until, held_days) = (next.last_ts, next.held_days);
            next.intervals.push(Interval { since, until, held_days });
            let forgotten = next.intervals.len().saturating_sub(INTERVALS_MAX);
            next.intervals.drain(..forgotten);
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

    /// The head with another word on whether activities are to be copied.
    pub(crate) fn promoted(&self, promoted: bool) -> ActorHead {
        ActorHead { promoted, ..self.read.clone() }
    }

    /// Writes what has become of it; refused when it is no longer the one read.
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

    fn head() -> Head {
        let actor: ActorId = "ana".parse().unwrap();
        Head { read: ActorHead::idle(actor), is_new: true }
    }

    /// A head after activities at these times, each under a policy.
    fn after(steps: &[(u64, FeedPolicy)]) -> ActorHead {
        let feed = FeedSettings::default();
        let raise = |head: Head, (ms, policy): &(u64, FeedPolicy)| {
            let read = head.raised(Time::from_ms(*ms), *policy, &feed);
            Head { read, is_new: false }
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
    fn only_the_last_few_intervals_are_remembered() {
        use FeedPolicy::{Pull, Push};
        let steps: Vec<_> =
            (1..=20).map(|n| (n * 10, if n % 2 == 0 { Push } else { Pull })).collect();
        let head = after(&steps);
        assert_eq!(head.since, Some(Time::from_ms(200)));
        assert_eq!(closed(&head), [(120, 120), (140, 140), (160, 160), (180, 180)]);
    }

    #[test]
    fn copies_that_are_held_longer_begin_an_interval() {
        let before = Head { read: after(&[(10, FeedPolicy::Push)]), is_new: false };
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
        let promoted = Head { read: idle.promoted(true), is_new: false };
        let pushed = promoted.raised(Time::from_ms(10), FeedPolicy::Documents, &feed);
        assert_eq!(pushed.since, Some(Time::from_ms(10)));
    }

    #[test]
    fn time_never_goes_back() {
        let read = after(&[(1_000, FeedPolicy::Pull)]);
        let head = Head { read, is_new: false };
        assert_eq!(head.next_ts(Time::from_ms(400)), Time::from_ms(1_001));
        assert_eq!(head.next_ts(Time::from_ms(2_000)), Time::from_ms(2_000));
    }
}
