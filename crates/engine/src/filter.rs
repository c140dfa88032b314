//! A Bloom filter over the keys and partitions of a run, which spares most lookups in it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::keys;

/// One word for this much of a full run: about eight bits for each key and partition, 256 KiB for a
/// run of 64 MiB, twice that by default.
const BYTES_PER_WORD: usize = 2048;
const WORDS_MIN: usize = 64;
const PROBES: u32 = 3;

/// The hash of a lookup, computed once for all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn of_key(key: &[u8]) -> Self {
        Self::of(key)
    }

    /// Hashes the partition of a key or of a key prefix.
    pub(crate) fn of_partition(key: &[u8]) -> Self {
        let end = keys::PREFIX_BYTES + keys::partition_of(key).len();
        Self::of(key.get(..end).unwrap_or(key))
    }

    fn of(bytes: &[u8]) -> Self {
        // A checksum spreads well over 32 bits; the multiplication spreads those over 64.
        Self((u64::from(crc32fast::hash(bytes)) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns the bits of this fingerprint in a filter of `words` words, as (word, mask) pairs.
    fn bits(self, words: usize) -> impl Iterator<Item = (usize, u64)> {
        (0..PROBES).map(move |probe| {
            let bits = self.0.rotate_left(probe * 21);
            let word = (bits >> 6) as usize % words.max(1);
            (word, 1 << (bits & 63))
        })
    }
}

/// A Bloom filter: reports no false negatives.
#[derive(Debug)]
pub(crate) struct BloomFilter(Box<[AtomicU64]>);

impl BloomFilter {
    /// A filter sized for a run that is frozen at `run_bytes`.
    pub(crate) fn for_run_of(run_bytes: usize) -> Self {
        let words = (run_bytes / BYTES_PER_WORD).next_power_of_two().max(WORDS_MIN);
        Self((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    pub(crate) fn insert(&self, fingerprint: Fingerprint) {
        for (word, bit) in fingerprint.bits(self.0.len()) {
            if let Some(word) = self.0.get(word) {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// Returns false only for fingerprints that were never inserted.
    pub(crate) fn may_contain(&self, fingerprint: Fingerprint) -> bool {
        fingerprint.bits(self.0.len()).all(|(word, bit)| {
            self.0.get(word).is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserted_keys_are_found_with_few_false_positives() {
        let filter = BloomFilter::for_run_of(64 << 20);
        let key = |n: u32| Fingerprint::of_key(format!("USER#{n}").as_bytes());
        (0..200_000).for_each(|n| filter.insert(key(n)));
        assert!((0..200_000).all(|n| filter.may_contain(key(n))));
        let wrong = (200_000..300_000).filter(|n| filter.may_contain(key(*n))).count();
        assert!(wrong < 5_000, "{wrong} of 100,000 held by mistake");
    }
}
