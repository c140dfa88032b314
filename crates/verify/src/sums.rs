//! Sums of any number of tallies in a few megabytes: facts add, stated amounts subtract, and every
//! tally must come to zero.
//!
//! Tallies fall into buckets by a hash of their key. A bucket holds one sum: each entry adds its
//! amount times a hash of tally and label. When all tallies of a bucket match, the sum is zero;
//! when one does not, it is zero with a probability of about 2^-64. So the sums need not store the
//! tallies, take entries in any order and from any thread, and name the few buckets to read again.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128_with_seed};

use crate::tally::{EntryRole, TallyEntry, TallyKind};

/// Buckets per kind of tally: of a million tallies, about sixty share one.
pub(crate) const BUCKETS: usize = 1 << 14;

/// Identifies a tally: the hash of the key of the item that states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct KeyHash(pub(crate) u64);

impl KeyHash {
    pub(crate) fn of(partition: &str, sort: &str) -> Self {
        let mut hasher = Xxh3::new();
        hasher.update(partition.as_bytes());
        hasher.update(&[0]);
        hasher.update(sort.as_bytes());
        Self(hasher.digest())
    }

    pub(crate) fn bucket(self) -> usize {
        usize::try_from(self.0 >> (u64::BITS - BUCKETS.trailing_zeros())).unwrap_or(0)
    }
}

/// A hash of an item's stored bytes.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The sums of all kinds of tallies.
#[derive(Debug)]
pub(crate) struct TallySums {
    /// One sum per bucket, the buckets of each kind together.
    sums: Vec<u128>,
    /// Entries added to each bucket.
    entries: Vec<u32>,
    /// Buckets to read again even if their sum is zero.
    suspected: BTreeSet<usize>,
}

impl Default for TallySums {
    fn default() -> Self {
        let slots = TallyKind::ALL.len() * BUCKETS;
        Self { sums: vec![0; slots], entries: vec![0; slots], suspected: BTreeSet::new() }
    }
}

impl TallySums {
    /// Adds an entry; `partition` and `sort` are the key of the item that states it.
    pub(crate) fn add_entry(&mut self, entry: &TallyEntry, partition: &str, sort: &str) {
        let labelled = (KeyHash::of(partition, sort), entry.label.as_bytes());
        self.add(entry.kind, labelled, entry.role, entry.amount);
    }

    pub(crate) fn add(
        &mut self,
        kind: TallyKind,
        (key_hash, label): (KeyHash, &[u8]),
        role: EntryRole,
        amount: i128,
    ) {
        let slot = slot(kind, key_hash.bucket());
        let weight = xxh3_128_with_seed(label, key_hash.0);
        // Two's complement: a negative amount wraps around, and back again.
        let amount = match role {
            EntryRole::Fact => amount.cast_unsigned(),
            EntryRole::Stated => amount.wrapping_neg().cast_unsigned(),
            EntryRole::Owner => return,
        };
        if let (Some(sum), Some(entries)) = (self.sums.get_mut(slot), self.entries.get_mut(slot)) {
            *sum = sum.wrapping_add(weight.wrapping_mul(amount));
            *entries = entries.saturating_add(1);
        }
    }

    /// Marks a tally to be read again.
    pub(crate) fn suspect(&mut self, kind: TallyKind, key_hash: KeyHash) {
        self.suspected.insert(slot(kind, key_hash.bucket()));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.wrapping_add(*more);
        }
        for (entries, more) in self.entries.iter_mut().zip(&other.entries) {
            *entries = entries.saturating_add(*more);
        }
        self.suspected.extend(&other.suspected);
    }

    /// Forgets all tallies of a kind, which could not be read completely.
    pub(crate) fn discard(&mut self, kind: TallyKind) {
        let from = slot(kind, 0);
        for sum in self.sums.iter_mut().skip(from).take(BUCKETS) {
            *sum = 0;
        }
        self.suspected.retain(|slot| !(from..from + BUCKETS).contains(slot));
    }

    /// Returns the buckets whose sum is not zero, in portions of about `entries_max` entries, so
    /// that reading a portion again fits into memory.
    pub(crate) fn mismatched(&self, entries_max: u64) -> Vec<BucketSet> {
        let mut portions: Vec<BucketSet> = Vec::new();
        let mut entries = 0;
        for (slot, (sum, count)) in self.sums.iter().zip(&self.entries).enumerate() {
            if *sum == 0 && !self.suspected.contains(&slot) {
                continue;
            }
            let is_full = entries > 0 && entries + u64::from(*count) > entries_max;
            match portions.last_mut() {
                Some(portion) if !is_full => portion.slots.push(slot),
                _ => {
                    portions.push(BucketSet { slots: vec![slot] });
                    entries = 0;
                }
            }
            entries += u64::from(*count);
        }
        portions
    }
}

const fn slot(kind: TallyKind, bucket: usize) -> usize {
    kind as usize * BUCKETS + bucket
}

/// A set of buckets.
#[derive(Clone, Debug, Default)]
pub(crate) struct BucketSet {
    /// Sorted, for binary search.
    slots: Vec<usize>,
}

impl BucketSet {
    pub(crate) fn contains(&self, kind: TallyKind, key_hash: KeyHash) -> bool {
        self.slots.binary_search(&slot(kind, key_hash.bucket())).is_ok()
    }

    pub(crate) fn contains_any(&self, kind: TallyKind) -> bool {
        let from = self.slots.partition_point(|each| *each < slot(kind, 0));
        self.slots.get(from).is_some_and(|first| *first < slot(kind, 0) + BUCKETS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_hash(tally: &str) -> KeyHash {
        KeyHash::of(tally, "COUNTER")
    }

    fn add(sums: &mut TallySums, tally: &str, label: &str, role: EntryRole, amount: i128) {
        sums.add(TallyKind::Counter, (key_hash(tally), label.as_bytes()), role, amount);
    }

    #[test]
    fn matching_tallies_sum_to_zero_in_any_order_and_after_a_merge() {
        let (mut one, mut other) = (TallySums::default(), TallySums::default());
        for tally in 0..5_000_u32 {
            let name = tally.to_string();
            for _ in 0..tally % 4 {
                add(&mut one, &name, "", EntryRole::Fact, 1);
            }
            add(&mut other, &name, "", EntryRole::Stated, i128::from(tally % 4));
        }
        assert!(!one.mismatched(u64::MAX).is_empty());
        one.merge(&other);
        assert!(one.mismatched(u64::MAX).is_empty());
    }

    #[test]
    fn a_mismatch_is_found_in_its_bucket() {
        let mut sums = TallySums::default();
        for tally in 0..5_000_u32 {
            add(&mut sums, &tally.to_string(), "", EntryRole::Fact, 7);
            add(&mut sums, &tally.to_string(), "", EntryRole::Stated, 7);
        }
        add(&mut sums, "42", "", EntryRole::Stated, 1);
        // A surplus in one tally does not hide a deficit in another.
        add(&mut sums, "43", "", EntryRole::Fact, 1);
        let [buckets] = &sums.mismatched(u64::MAX)[..] else { panic!("one portion") };
        assert!(
            buckets.contains(TallyKind::Counter, key_hash("42"))
                && buckets.contains(TallyKind::Counter, key_hash("43"))
        );
        assert_eq!(buckets.slots.len(), 2);
        assert!(
            buckets.contains_any(TallyKind::Counter) && !buckets.contains_any(TallyKind::Likes)
        );
    }

    #[test]
    fn entries_with_different_labels_do_not_match() {
        let mut sums = TallySums::default();
        add(&mut sums, "EMAIL#a", "ana", EntryRole::Fact, 1);
        add(&mut sums, "EMAIL#a", "bo", EntryRole::Stated, 1);
        assert_eq!(sums.mismatched(u64::MAX).len(), 1);
        sums.discard(TallyKind::Counter);
        assert!(sums.mismatched(u64::MAX).is_empty());
    }

    #[test]
    fn mismatched_buckets_come_in_portions() {
        let mut sums = TallySums::default();
        for tally in 0..100_u32 {
            add(&mut sums, &tally.to_string(), "", EntryRole::Fact, 1);
        }
        let portions = sums.mismatched(10);
        assert!((9..=12).contains(&portions.len()), "{}", portions.len());
        let portions_with = |tally: u32| {
            portions
                .iter()
                .filter(|portion| {
                    portion.contains(TallyKind::Counter, key_hash(&tally.to_string()))
                })
                .count()
        };
        assert!((0..100).all(|tally| portions_with(tally) == 1));
        let balanced = TallySums::default();
        assert!(balanced.mismatched(10).is_empty());
    }

    #[test]
    fn a_suspected_tally_is_read_again() {
        let mut sums = TallySums::default();
        sums.suspect(TallyKind::Stream, key_hash("x"));
        assert!(sums.mismatched(10)[0].contains(TallyKind::Stream, key_hash("x")));
    }
}
