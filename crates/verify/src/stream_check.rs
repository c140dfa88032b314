//! Checks the stream: it is in order, the images of each key chain and end in the stored item (I4),
//! and no item was deleted before it expired (I10).
//!
//! A first pass keeps the hash of the last image of each key, for at most [`KEYS_MAX`] keys at a
//! time; a stream of more keys is read once per subset of keys. Suspected keys are read again in
//! full.

use std::collections::{BTreeMap, HashMap};

use roundtable_model::table::limits::STREAM_CHANGES_MAX;
use roundtable_model::table::{
    Change, Item, Key, Scalar, Sequence, StreamRead, StreamStart, Table, TableDefinition,
};

use crate::finding::{Finding, Findings, Invariant, Repair};
use crate::progress::ProgressReporter;
use crate::subject::key_text;
use crate::sums::{BucketSet, KeyHash, TallySums, digest};
use crate::tally::{EntryRole, TallyKind};
use crate::{Result, VerifyError};

/// Keys that one pass keeps, in about fifty megabytes: as many as a map of two million slots holds
/// before it doubles.
const KEYS_MAX: usize = (1 << 21) / 8 * 7;
const IMMUTABLE: &str = "a stream is never rewritten: restore an earlier backup";

/// A digest of the last image of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ImageDigest {
    /// Zero if there is no item.
    digest: u64,
    /// The second it expires at; `u32::MAX` for never.
    expires_at: u32,
}

impl ImageDigest {
    const ABSENT: Self = Self { digest: 0, expires_at: 0 };

    fn of(definition: &TableDefinition, image: Option<&Item>) -> Self {
        image.map_or(Self::ABSENT, |item| {
            let expires_at = definition.expires_at(item);
            let expires_at =
                expires_at.map_or(u32::MAX, |at| u32::try_from(at).unwrap_or(u32::MAX));
            // Zero is reserved for no item.
            Self { digest: digest(item.as_stored()).max(1), expires_at }
        })
    }

    fn is_visible(self, now_seconds: u64) -> bool {
        self != Self::ABSENT && (u64::from(self.expires_at) > now_seconds)
    }
}

/// One of `of` subsets of all keys; `of` is a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeySubset {
    nth: u64,
    of: u64,
}

impl KeySubset {
    pub(crate) const ALL: Self = Self { nth: 0, of: 1 };

    const fn contains(self, key_hash: KeyHash) -> bool {
        key_hash.0 & (self.of - 1) == self.nth
    }

    /// Returns the subsets of `outer` that remain after reading this one.
    pub(crate) fn rest_of(self, outer: Self) -> impl Iterator<Item = Self> {
        let parts = self.of / outer.of;
        (1..parts).map(move |part| Self { nth: outer.nth + part * outer.of, of: self.of })
    }
}

/// The last images in the stream, for one subset of keys.
#[derive(Debug)]
pub(crate) struct StreamImages {
    last: HashMap<KeyHash, ImageDigest>,
    keys_max: usize,
    /// The subset that was read; smaller than requested when the stream has too many keys.
    pub(crate) subset: KeySubset,
    pub(crate) changes: u64,
}

impl StreamImages {
    fn new(subset: KeySubset, keys_max: usize) -> Self {
        Self { last: HashMap::new(), keys_max, subset, changes: 0 }
    }

    /// Reads the stream; changes out of order go to `findings`, keys whose images do not chain are
    /// suspected.
    pub(crate) async fn read(
        stream: &StreamSnapshot<'_>,
        subset: KeySubset,
        sums: &mut TallySums,
        findings: &mut Findings,
    ) -> Result<Self> {
        let mut images = Self::new(subset, KEYS_MAX);
        let definition = stream.table.definition();
        // Each change is checked once, in the first pass.
        let mut order = (subset == KeySubset::ALL).then(ChangeOrder::default);
        stream
            .for_each_change(|change| {
                if let Some(order) = &mut order {
                    order.check(definition, change, findings);
                }
                images.add_change(definition, change, sums);
            })
            .await?;
        Ok(images)
    }

    fn add_change(&mut self, definition: &TableDefinition, change: &Change, sums: &mut TallySums) {
        self.changes += 1;
        let key_hash = key_hash_of(&change.key);
        if !self.subset.contains(key_hash) {
            return;
        }
        let new = ImageDigest::of(definition, change.new.as_ref());
        let before = self.last.insert(key_hash, new);
        if before.is_some_and(|last| last != ImageDigest::of(definition, change.old.as_ref())) {
            sums.suspect(TallyKind::Stream, key_hash);
        }
        while self.last.len() > self.keys_max {
            self.subset.of *= 2;
            let subset = self.subset;
            self.last.retain(|key_hash, _| subset.contains(*key_hash));
        }
    }

    /// States the items that should exist according to the stream.
    pub(crate) fn state_images(&self, now_seconds: u64, sums: &mut TallySums) {
        for (key_hash, last) in &self.last {
            if last.is_visible(now_seconds) {
                let label = last.digest.to_le_bytes();
                sums.add(TallyKind::Stream, (*key_hash, &label), EntryRole::Stated, 1);
            }
        }
    }

    /// Adds a stored item, if the stream has changes of it.
    pub(crate) fn add_item(&self, key_hash: KeyHash, item_digest: u64, sums: &mut TallySums) {
        if self.last.contains_key(&key_hash) {
            let label = item_digest.max(1).to_le_bytes();
            sums.add(TallyKind::Stream, (key_hash, &label), EntryRole::Fact, 1);
        }
    }
}

pub(crate) fn key_hash_of(key: &Key) -> KeyHash {
    let text = |part: &Scalar| part.as_text().map_or_else(|| part.to_string(), str::to_owned);
    let sort = key.sort.as_ref().map(text).unwrap_or_default();
    KeyHash::of(&text(&key.partition), &sort)
}

/// Checks each change by itself, and that it follows the previous one.
#[derive(Debug, Default)]
struct ChangeOrder {
    before: Option<Sequence>,
}

impl ChangeOrder {
    fn check(&mut self, definition: &TableDefinition, change: &Change, findings: &mut Findings) {
        let key = || format!("{} at {}", key_text(&change.key), change.sequence);
        let mut add_finding = |invariant, expected: String, found: String| {
            findings.add(Finding::new(invariant, key(), expected, found, Repair::None(IMMUTABLE)));
        };
        if let Some(before) = &self.before
            && *before >= change.sequence
        {
            let expected = format!("a change after {before}");
            add_finding(Invariant::I4, expected, format!("one at {}", change.sequence));
        }
        self.before = Some(change.sequence.clone());
        if change.old == change.new {
            let expected = String::from("two images that differ");
            add_finding(Invariant::I4, expected, String::from("the same twice"));
        }
        for image in [&change.old, &change.new].into_iter().flatten() {
            let actual = definition.key.read(image);
            if actual.as_ref() != Some(&change.key) {
                let found = actual.as_ref().map_or_else(|| String::from("no key"), key_text);
                add_finding(Invariant::I4, String::from("images with this key"), found);
            }
        }
        let (at, old) = (change.at_ms / 1000, change.old.as_ref());
        if change.expired && !old.is_some_and(|old| definition.is_expired(old, at)) {
            let expected = String::from("an expiry of an expired item");
            add_finding(Invariant::I10, expected, format!("an early expiry, at second {at}"));
        }
    }
}

/// The image chains of some keys.
#[derive(Debug, Default)]
pub(crate) struct ImageChains {
    buckets: BucketSet,
    chains: BTreeMap<Key, ChainEnd>,
}

#[derive(Clone, Copy, Debug)]
struct ChainEnd {
    last: ImageDigest,
    stored: ImageDigest,
}

impl ImageChains {
    /// Reads the changes of the selected keys; images that do not chain go to `findings`.
    pub(crate) async fn read(
        stream: &StreamSnapshot<'_>,
        buckets: BucketSet,
        findings: &mut Findings,
    ) -> Result<Self> {
        let mut chains = Self { buckets, chains: BTreeMap::new() };
        let definition = stream.table.definition();
        stream.for_each_change(|change| chains.add_change(definition, change, findings)).await?;
        Ok(chains)
    }

    fn add_change(
        &mut self,
        definition: &TableDefinition,
        change: &Change,
        findings: &mut Findings,
    ) {
        if !self.buckets.contains(TallyKind::Stream, key_hash_of(&change.key)) {
            return;
        }
        let last = ImageDigest::of(definition, change.new.as_ref());
        let old = ImageDigest::of(definition, change.old.as_ref());
        let link = ChainEnd { last, stored: ImageDigest::ABSENT };
        if let Some(before) = self.chains.insert(change.key.clone(), link)
            && before.last != old
        {
            let key = format!("{} at {}", key_text(&change.key), change.sequence);
            let expected = describe_image(before.last, "the new image of the previous change");
            let found = describe_image(old, "another image");
            let repair = Repair::None(IMMUTABLE);
            let finding = Finding::new(Invariant::I4, key, expected, found, repair);
            findings.add(finding);
        }
    }

    /// Records the stored item of a selected key.
    pub(crate) fn add_item(&mut self, definition: &TableDefinition, item: &Item) {
        let Some(key) = definition.key.read(item) else { return };
        if let Some(link) = self.chains.get_mut(&key) {
            link.stored = ImageDigest::of(definition, Some(item));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// Adds a finding for each chain that does not end in the stored item.
    pub(crate) fn report_mismatches(self, now_seconds: u64, findings: &mut Findings) {
        for (key, ChainEnd { last, stored }) in self.chains {
            let is_expired = !last.is_visible(now_seconds) && stored == ImageDigest::ABSENT;
            if last != stored && !is_expired {
                let expected = describe_image(last, "the last image of the stream");
                let found = describe_image(stored, "another item");
                let repair = Repair::None(IMMUTABLE);
                findings.add(Finding::new(Invariant::I4, key_text(&key), expected, found, repair));
            }
        }
    }
}

fn describe_image(last: ImageDigest, present: &str) -> String {
    if last == ImageDigest::ABSENT { String::from("no item") } else { present.to_owned() }
}

/// A stream of one shard, from its oldest change to its end when the check began.
#[derive(Clone, Debug)]
pub(crate) struct StreamSnapshot<'a> {
    table: &'a Table,
    shard: String,
    end: Sequence,
    progress: &'a dyn ProgressReporter,
}

impl<'a> StreamSnapshot<'a> {
    /// Opens the stream of a table; `None` when it has several shards or its end is unknown.
    pub(crate) async fn of(
        table: &'a Table,
        progress: &'a dyn ProgressReporter,
    ) -> Result<Option<Self>> {
        let shards = table.stream_shards().await?;
        let [shard] = &*shards else { return Ok(None) };
        let read = stream_read(&shard.id, StreamStart::Latest, 1);
        let end = table.stream_read(read).await?.next;
        Ok(end.map(|end| Self { table, shard: shard.id.clone(), end, progress }))
    }

    pub(crate) const fn end(&self) -> &Sequence {
        &self.end
    }

    async fn for_each_change(&self, mut take: impl FnMut(&Change)) -> Result<()> {
        let mut start = StreamStart::Oldest;
        loop {
            let read = stream_read(&self.shard, start.clone(), STREAM_CHANGES_MAX);
            let page = self.table.stream_read(read).await.map_err(VerifyError::Table)?;
            let past = page.changes.iter().position(|change| change.sequence > self.end);
            page.changes.iter().take(past.unwrap_or(usize::MAX)).for_each(&mut take);
            self.progress.advance(page.changes.len() as u64);
            let ended = past.is_some() || page.ended || page.next.as_ref() >= Some(&self.end);
            let next = page.next.map(StreamStart::After);
            match next {
                Some(next) if !ended && next != start => start = next,
                _ => return Ok(()),
            }
            tokio::task::yield_now().await;
        }
    }
}

/// A read that does not wait for new changes.
pub(crate) fn stream_read(shard: &str, start: StreamStart, limit: usize) -> StreamRead {
    StreamRead::new(shard, start).limit(limit)
}

#[cfg(test)]
mod tests {
    use roundtable_model::Core;
    use roundtable_model::table::item;

    use super::*;

    fn change(nth: u64) -> Change {
        let key = Key::new(format!("USER#{nth}"), "CREDENTIAL");
        let new = item! { "PK" => format!("USER#{nth}"), "SK" => "CREDENTIAL" };
        let (sequence, new) = (Sequence::from(nth), Some(new));
        Change { sequence, at_ms: 0, key, old: None, new, expired: false }
    }

    #[test]
    fn a_stream_with_too_many_keys_is_read_in_several_passes() {
        let definition = Core::SHAPE.definition("gg_core");
        let (mut subsets, mut key_hashes, mut passes) = (vec![KeySubset::ALL], Vec::new(), 0);
        while let Some(subset) = subsets.pop() {
            let mut images = StreamImages::new(subset, 100);
            (0..1_000).for_each(|nth| {
                images.add_change(&definition, &change(nth), &mut TallySums::default());
            });
            assert!(images.last.len() <= 100);
            subsets.extend(images.subset.rest_of(subset));
            key_hashes.extend(images.last.into_keys());
            passes += 1;
        }
        key_hashes.sort_unstable();
        key_hashes.dedup();
        assert_eq!(key_hashes.len(), 1_000, "every key is in one subset");
        assert!((10..=40).contains(&passes), "{passes}");
    }

    #[test]
    fn an_expiry_beyond_the_range_never_comes() {
        let definition = Core::SHAPE.definition("gg_core");
        let last = |ttl: u64| {
            let item = item! { "PK" => "USER#a", "SK" => "CREDENTIAL", "ttl" => ttl };
            ImageDigest::of(&definition, Some(&item))
        };
        assert!(last(101).is_visible(100) && !last(100).is_visible(100));
        assert!(last(u64::MAX).is_visible(4_000_000_000));
        assert!(!ImageDigest::ABSENT.is_visible(0));
    }
}
