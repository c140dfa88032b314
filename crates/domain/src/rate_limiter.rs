//! Rate limits per caller and per address: a burst, and a sustained rate. Counts are in memory, so
//! each process counts for itself. Failed sign-ins are not counted here but in a table of their own.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_model::table::Clock;
use roundtable_model::{Tier, UserId};

use crate::{RateSettings, ServiceError, Settings, TierLimits};

const MINUTE_US: u64 = 60 * 1_000_000;
const HOUR_US: u64 = 60 * MINUTE_US;

/// Keys tracked at the same time; above it, those nearest to idle are evicted.
const KEYS_MAX: usize = 100_000;
/// Below this many keys, idle ones are not evicted.
const KEYS_FEW: usize = 1_000;

#[derive(Debug)]
pub(crate) struct RateLimiter {
    clock: Arc<dyn Clock>,
    writes: Vec<WriteRate>,
    top_feeds: TokenBuckets<UserId>,
    sign_ups: TokenBuckets<IpAddr>,
}

/// The writes of the users of one tier.
#[derive(Debug)]
struct WriteRate {
    tier: Tier,
    per_minute: u32,
    buckets: TokenBuckets<UserId>,
}

impl WriteRate {
    fn of(limits: &TierLimits) -> Self {
        let TierLimits { tier, writes_burst, writes_per_minute: per_minute, .. } = *limits;
        let rate = BucketRate::new(writes_burst, per_minute, MINUTE_US);
        Self { tier, per_minute, buckets: TokenBuckets::new(rate) }
    }

    fn refusal(&self, EmptyBucket { retry_after_seconds }: EmptyBucket) -> ServiceError {
        let Self { tier, per_minute, .. } = *self;
        ServiceError::TooManyWrites { tier, per_minute, retry_after_seconds }
    }
}

impl RateLimiter {
    pub(crate) fn new(clock: Arc<dyn Clock>, settings: &Settings) -> Self {
        let RateSettings { sign_ups_burst, sign_ups_per_hour, .. } = settings.rates;
        let RateSettings { top_feeds_burst, top_feeds_per_hour, .. } = settings.rates;
        let top_feeds = BucketRate::new(top_feeds_burst, top_feeds_per_hour, HOUR_US);
        let sign_ups = BucketRate::new(sign_ups_burst, sign_ups_per_hour, HOUR_US);
        let writes = Tier::ALL.iter().map(|tier| WriteRate::of(&settings.limits_of(*tier)));
        let (writes, top_feeds) = (writes.collect(), TokenBuckets::new(top_feeds));
        Self { clock, writes, top_feeds, sign_ups: TokenBuckets::new(sign_ups) }
    }

    /// Refuses a user who has written too much, before their tier is known: nothing needs to be read for
    /// that. After a change of the tier, this may refuse for as long as one write of the former.
    pub(crate) fn check_write(&self, user: &UserId) -> Result<(), ServiceError> {
        let now_us = self.now_us();
        self.writes.iter().try_for_each(|rate| {
            rate.buckets.check(user, now_us).map_err(|empty| rate.refusal(empty))
        })
    }

    /// Counts a user's write, or refuses it.
    pub(crate) fn write(&self, user: &UserId, tier: Tier) -> Result<(), ServiceError> {
        let now_us = self.now_us();
        let mut of_tier = self.writes.iter().filter(|rate| rate.tier == tier);
        of_tier.try_for_each(|rate| {
            rate.buckets.take(user, now_us).map_err(|empty| rate.refusal(empty))
        })
    }

    /// Counts the order of a feed that is stored for a user, or refuses it.
    pub(crate) fn top_feed(&self, user: &UserId) -> Result<(), ServiceError> {
        let taken = self.top_feeds.take(user, self.now_us());
        taken.map_err(|EmptyBucket { retry_after_seconds }| ServiceError::RateLimited {
            retry_after_seconds,
        })
    }

    /// Counts a sign-up from an address, or refuses it.
    pub(crate) fn sign_up(&self, address: IpAddr) -> Result<(), ServiceError> {
        let taken = self.sign_ups.take(&network(address), self.now_us());
        taken.map_err(|EmptyBucket { retry_after_seconds }| ServiceError::RateLimited {
            retry_after_seconds,
        })
    }

    fn now_us(&self) -> u64 {
        self.clock.now_ms().saturating_mul(1000)
    }
}

/// The key of an address. For IPv6 it is the /64 network, within which one customer can choose addresses.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// A bucket's size and refill rate.
#[derive(Clone, Copy, Debug)]
struct BucketRate {
    /// The time in which one token is added.
    each_us: u64,
    /// The time in which an empty bucket fills up.
    all_us: u64,
}

impl BucketRate {
    fn new(burst: u32, count: u32, period_us: u64) -> Self {
        let each_us = (period_us / u64::from(count.max(1))).max(1);
        Self { each_us, all_us: each_us.saturating_mul(burst.max(1).into()) }
    }
}

/// A bucket without a token.
#[derive(Clone, Copy, Debug)]
struct EmptyBucket {
    retry_after_seconds: u64,
}

/// One bucket per key, stored as the time at which it will be full. A full bucket is not stored: it
/// equals one that was never used.
#[derive(Debug)]
struct TokenBuckets<K> {
    rate: BucketRate,
    table: Mutex<BucketTable<K>>,
}

#[derive(Debug)]
struct BucketTable<K> {
    full_at_us: HashMap<K, u64>,
    /// The number of buckets at which idle ones are evicted.
    capacity: usize,
}

impl<K: Hash + Eq + Clone> TokenBuckets<K> {
    fn new(rate: BucketRate) -> Self {
        Self {
            rate,
            table: Mutex::new(BucketTable { full_at_us: HashMap::new(), capacity: KEYS_FEW }),
        }
    }

    /// Returns whether there is a token.
    fn check(&self, key: &K, now_us: u64) -> Result<(), EmptyBucket> {
        self.next(&mut self.table.lock(), key, now_us).map(drop)
    }

    fn take(&self, key: &K, now_us: u64) -> Result<(), EmptyBucket> {
        let mut table = self.table.lock();
        let next = self.next(&mut table, key, now_us)?;
        table.evict_idle(now_us);
        table.full_at_us.insert(key.clone(), next);
        Ok(())
    }

    /// Returns the time at which the bucket will be full once a token has been taken.
    fn next(&self, table: &mut BucketTable<K>, key: &K, now_us: u64) -> Result<u64, EmptyBucket> {
        let BucketRate { each_us, all_us } = self.rate;
        let latest = now_us.saturating_add(all_us);
        // A clock that stepped back must not lock a caller out for longer than a bucket takes to fill.
        let full_at = table.full_at_us.get(key).map_or(now_us, |at| (*at).clamp(now_us, latest));
        let next = full_at.saturating_add(each_us);
        if next <= latest {
            return Ok(next);
        }
        if let Some(at) = table.full_at_us.get_mut(key) {
            *at = full_at;
        }
        let retry_after_seconds = (next - latest).div_ceil(1_000_000).max(1);
        Err(EmptyBucket { retry_after_seconds })
    }
}

impl<K: Hash + Eq> BucketTable<K> {
    /// Evicts idle keys at capacity, and others only when there are too many.
    fn evict_idle(&mut self, now_us: u64) {
        if self.full_at_us.len() < self.capacity {
            return;
        }
        self.full_at_us.retain(|_, full_at| *full_at > now_us);
        if self.full_at_us.len() >= KEYS_MAX {
            let mut times: Vec<u64> = self.full_at_us.values().copied().collect();
            let middle = times.len() / 2;
            let (_, median, _) = times.select_nth_unstable(middle);
            self.full_at_us.retain(|_, full_at| *full_at > *median);
        }
        // Leave space for as many again, or the next key would scan all of them once more.
        self.capacity = (2 * self.full_at_us.len()).clamp(KEYS_FEW, KEYS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_US: u64 = 1_000_000;

    fn buckets(burst: u32, per_minute: u32) -> TokenBuckets<u32> {
        TokenBuckets::new(BucketRate::new(burst, per_minute, MINUTE_US))
    }

    fn retry_after(refused: Result<(), EmptyBucket>) -> u64 {
        refused.unwrap_err().retry_after_seconds
    }

    #[test]
    fn a_burst_passes_and_then_one_at_a_time() {
        let buckets = buckets(100, 60);
        for _ in 0..100 {
            buckets.take(&1, 0).unwrap();
        }
        assert_eq!(retry_after(buckets.take(&1, 0)), 1);
        buckets.take(&2, 0).unwrap();
        buckets.take(&1, SECOND_US).unwrap();
        assert_eq!(retry_after(buckets.take(&1, SECOND_US)), 1);
        assert_eq!(retry_after(buckets.take(&1, SECOND_US + 1)), 1);
        for _ in 0..100 {
            buckets.take(&1, 200 * SECOND_US).unwrap();
        }
        assert!(buckets.take(&1, 200 * SECOND_US).is_err());
    }

    #[test]
    fn a_caller_who_waits_for_retry_after_succeeds() {
        let buckets = buckets(1, 1);
        buckets.take(&1, 0).unwrap();
        assert_eq!(retry_after(buckets.take(&1, 500)), 60);
        buckets.take(&1, 60 * SECOND_US).unwrap();
    }

    #[test]
    fn a_clock_that_steps_back_locks_no_caller_out() {
        let buckets = buckets(2, 60);
        let late = 3_600 * SECOND_US;
        buckets.take(&1, late).unwrap();
        buckets.take(&1, late).unwrap();
        assert_eq!(retry_after(buckets.take(&1, 0)), 1);
        buckets.take(&1, SECOND_US).unwrap();
    }

    #[test]
    fn idle_keys_are_evicted() {
        let buckets = buckets(10, 60);
        for key in 0..200_000_u32 {
            buckets.take(&key, u64::from(key) * SECOND_US).unwrap();
        }
        assert!(buckets.table.lock().full_at_us.len() <= KEYS_FEW);
    }

    #[test]
    fn the_number_of_keys_is_bounded() {
        let buckets = buckets(10, 1);
        for key in 0..300_000_u32 {
            buckets.take(&key, u64::from(key)).unwrap();
        }
        assert!(buckets.table.lock().full_at_us.len() <= KEYS_MAX);
        let last = 299_999;
        let table = buckets.table.lock().full_at_us.contains_key(&last);
        assert!(table, "those who did most are remembered longest");
    }

    #[test]
    fn one_customer_is_one_network() {
        let same = |one: &str, other: &str| {
            network(one.parse().unwrap()) == network(other.parse().unwrap())
        };
        assert!(same("2001:db8:1:2:aaaa::1", "2001:db8:1:2:bbbb::2"));
        assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
        assert!(same("::ffff:192.0.2.7", "192.0.2.7"));
        assert!(!same("192.0.2.7", "192.0.2.8"));
    }
}
