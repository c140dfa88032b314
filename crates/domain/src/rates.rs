//! How much one caller, or one address, may do in a while: so many at once, and so many in the long
//! run. Counted in memory, so each process counts for itself; failed sign-ins are counted elsewhere,
//! in a table of their own, and never here.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::Mutex;
use roundtable_model::UserId;
use roundtable_model::table::Clock;

use crate::{Failure, RateSettings};

const MINUTE_US: u64 = 60 * 1_000_000;
const HOUR_US: u64 = 60 * MINUTE_US;

/// Keys that are remembered at the same time; beyond them, those nearest to being idle are forgotten.
const KEYS_MAX: usize = 100_000;
/// Below so many, nobody looks for idle keys.
const KEYS_FEW: usize = 1_000;

/// The rates of an installation.
#[derive(Debug)]
pub(crate) struct Rates {
    clock: Arc<dyn Clock>,
    writes: Buckets<UserId>,
    sign_ups: Buckets<IpAddr>,
}

impl Rates {
    pub(crate) fn new(clock: Arc<dyn Clock>, settings: &RateSettings) -> Self {
        let writes = Rate::new(settings.writes_burst, settings.writes_per_minute, MINUTE_US);
        let sign_ups = Rate::new(settings.sign_ups_burst, settings.sign_ups_per_hour, HOUR_US);
        Self { clock, writes: Buckets::new(writes), sign_ups: Buckets::new(sign_ups) }
    }

    /// Counts a write of somebody, or refuses it.
    pub(crate) fn write(&self, user: &UserId) -> Result<(), Failure> {
        self.writes.take(user, self.now_us())
    }

    /// Counts a sign-up from somewhere, or refuses it.
    pub(crate) fn sign_up(&self, address: IpAddr) -> Result<(), Failure> {
        self.sign_ups.take(&network(address), self.now_us())
    }

    fn now_us(&self) -> u64 {
        self.clock.now_ms().saturating_mul(1000)
    }
}

/// What stands for everybody at an address: of IPv6, the network of 64 bits that one customer has to
/// choose addresses from.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// A bucket's size and how fast it fills.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// The time in which one more is allowed.
    each_us: u64,
    /// The time in which an empty bucket is full.
    all_us: u64,
}

impl Rate {
    fn new(burst: u32, count: u32, period_us: u64) -> Self {
        let each_us = (period_us / u64::from(count.max(1))).max(1);
        Self { each_us, all_us: each_us.saturating_mul(burst.max(1).into()) }
    }
}

/// One bucket for each key, known by the time at which it will be full again. A full one need not be
/// remembered: it is as if it had never been used.
#[derive(Debug)]
struct Buckets<K> {
    rate: Rate,
    known: Mutex<Known<K>>,
}

/// The buckets in use.
#[derive(Debug)]
struct Known<K> {
    full_at_us: HashMap<K, u64>,
    /// So many may there be before somebody looks for idle ones.
    room: usize,
}

impl<K: Hash + Eq + Clone> Buckets<K> {
    fn new(rate: Rate) -> Self {
        Self { rate, known: Mutex::new(Known { full_at_us: HashMap::new(), room: KEYS_FEW }) }
    }

    fn take(&self, key: &K, now_us: u64) -> Result<(), Failure> {
        let Rate { each_us, all_us } = self.rate;
        let latest = now_us.saturating_add(all_us);
        let mut known = self.known.lock();
        // A clock that stepped back must not keep anybody out for longer than a bucket takes to fill.
        let full_at = known.full_at_us.get(key).map_or(now_us, |at| (*at).clamp(now_us, latest));
        let next = full_at.saturating_add(each_us);
        if next > latest {
            if let Some(at) = known.full_at_us.get_mut(key) {
                *at = full_at;
            }
            let retry_after_seconds = (next - latest).div_ceil(1_000_000).max(1);
            return Err(Failure::RateLimited { retry_after_seconds });
        }
        known.make_room(now_us);
        known.full_at_us.insert(key.clone(), next);
        Ok(())
    }
}

impl<K: Hash + Eq> Known<K> {
    /// Forgets idle keys when there is no more room, and others only when there are too many.
    fn make_room(&mut self, now_us: u64) {
        if self.full_at_us.len() < self.room {
            return;
        }
        self.full_at_us.retain(|_, full_at| *full_at > now_us);
        if self.full_at_us.len() >= KEYS_MAX {
            let mut times: Vec<u64> = self.full_at_us.values().copied().collect();
            let middle = times.len() / 2;
            let (_, median, _) = times.select_nth_unstable(middle);
            self.full_at_us.retain(|_, full_at| *full_at > *median);
        }
        // Room for as many again, or the next key would look through all of them once more.
        self.room = (2 * self.full_at_us.len()).clamp(KEYS_FEW, KEYS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_US: u64 = 1_000_000;

    fn buckets(burst: u32, per_minute: u32) -> Buckets<u32> {
        Buckets::new(Rate::new(burst, per_minute, MINUTE_US))
    }

    fn retry_after(refused: Result<(), Failure>) -> u64 {
        match refused {
            Err(Failure::RateLimited { retry_after_seconds }) => retry_after_seconds,
            other => panic!("{other:?}"),
        }
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
    fn who_waits_as_told_gets_through() {
        let buckets = buckets(1, 1);
        buckets.take(&1, 0).unwrap();
        assert_eq!(retry_after(buckets.take(&1, 500)), 60);
        buckets.take(&1, 60 * SECOND_US).unwrap();
    }

    #[test]
    fn a_clock_that_steps_back_locks_nobody_out() {
        let buckets = buckets(2, 60);
        let late = 3_600 * SECOND_US;
        buckets.take(&1, late).unwrap();
        buckets.take(&1, late).unwrap();
        assert_eq!(retry_after(buckets.take(&1, 0)), 1);
        buckets.take(&1, SECOND_US).unwrap();
    }

    #[test]
    fn idle_keys_are_forgotten() {
        let buckets = buckets(10, 60);
        for key in 0..200_000_u32 {
            buckets.take(&key, u64::from(key) * SECOND_US).unwrap();
        }
        assert!(buckets.known.lock().full_at_us.len() <= KEYS_FEW);
    }

    #[test]
    fn there_are_never_too_many_keys() {
        let buckets = buckets(10, 1);
        for key in 0..300_000_u32 {
            buckets.take(&key, u64::from(key)).unwrap();
        }
        assert!(buckets.known.lock().full_at_us.len() <= KEYS_MAX);
        let last = 299_999;
        let known = buckets.known.lock().full_at_us.contains_key(&last);
        assert!(known, "those who did most are remembered longest");
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
