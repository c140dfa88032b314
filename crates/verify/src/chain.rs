//! The stream: that it is in order, that the images of each key chain, and that they end in what is
//! stored (I4); that nothing was swept before its time (I10).
//!
//! A first reading keeps the hash of the last image of each key it meets, for at most
//! [`KEYS_MAX`] keys at a time; of a longer stream, it reads one class of keys after the other. What it
//! suspects is read again in full.

use std::collections::{BTreeMap, HashMap};

use roundtable_model::table::limits::STREAM_CHANGES_MAX;
use roundtable_model::table::{
    Change, Item, Key, Scalar, Sequence, StreamRead, StreamStart, Table, TableDefinition,
};

use crate::books::{Book, Side};
use crate::finding::{Finding, Findings, Invariant, Remedy};
use crate::ledger::{Ledger, Place, Selection, digest};
use crate::progress::Progress;
use crate::subject::shown;
use crate::{Failure, Result};

/// Keys that one reading remembers, in about fifty megabytes: as many as a map of two million slots
/// holds before it doubles.
const KEYS_MAX: usize = (1 << 21) / 8 * 7;
const BEYOND: &str = "a stream is never rewritten; a backup from before has the rest";

/// The last image of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    /// Of an item that is there.
    digest: u64,
    /// The second it expires at; never, for the largest.
    expires_at: u32,
}

impl Last {
    /// No item.
    const GONE: Self = Self { digest: 0, expires_at: 0 };

    fn of(definition: &TableDefinition, image: Option<&Item>) -> Self {
        image.map_or(Self::GONE, |item| {
            let expires_at = definition.expires_at(item);
            let expires_at =
                expires_at.map_or(u32::MAX, |at| u32::try_from(at).unwrap_or(u32::MAX));
            // Zero stands for none.
            Self { digest: digest(item.as_stored()).max(1), expires_at }
        })
    }

    /// Whether readers see it at a second.
    fn is_seen(self, now_seconds: u64) -> bool {
        self != Self::GONE && (u64::from(self.expires_at) > now_seconds)
    }
}

/// Some of all keys: those of one class, of a number that is a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    nth: u64,
    of: u64,
}

impl Class {
    /// All keys.
    pub(crate) const ALL: Self = Self { nth: 0, of: 1 };

    const fn has(self, place: Place) -> bool {
        place.0 & (self.of - 1) == self.nth
    }

    /// What is left of `asked` when this was read of it.
    pub(crate) fn left_of(self, asked: Self) -> impl Iterator<Item = Self> {
        let parts = self.of / asked.of;
        (1..parts).map(move |part| Self { nth: asked.nth + part * asked.of, of: self.of })
    }
}

/// What the stream says the items of one class are.
#[derive(Debug)]
pub(crate) struct Fold {
    last: HashMap<Place, Last>,
    keys_max: usize,
    /// The class that was read; smaller than asked for when the stream has too many keys.
    pub(crate) class: Class,
    /// How many changes were read.
    pub(crate) changes: u64,
}

impl Fold {
    fn new(class: Class, keys_max: usize) -> Self {
        Self { last: HashMap::new(), keys_max, class, changes: 0 }
    }

    /// Reads the stream up to `end`; what is out of order goes to `findings`, what does not chain is
    /// suspected.
    pub(crate) async fn read(
        stream: &Stream<'_>,
        class: Class,
        ledger: &mut Ledger,
        findings: &mut Findings,
    ) -> Result<Self> {
        let mut fold = Self::new(class, KEYS_MAX);
        let definition = stream.table.definition();
        // Every change is judged by itself once only.
        let mut order = (class == Class::ALL).then(Order::default);
        stream
            .each(|change| {
                if let Some(order) = &mut order {
                    order.judge(definition, change, findings);
                }
                fold.take(definition, change, ledger);
            })
            .await?;
        Ok(fold)
    }

    fn take(&mut self, definition: &TableDefinition, change: &Change, ledger: &mut Ledger) {
        self.changes += 1;
        let place = place_of(&change.key);
        if !self.class.has(place) {
            return;
        }
        let new = Last::of(definition, change.new.as_ref());
        let before = self.last.insert(place, new);
        if before.is_some_and(|last| last != Last::of(definition, change.old.as_ref())) {
            ledger.suspect(Book::Stream, place);
        }
        while self.last.len() > self.keys_max {
            self.class.of *= 2;
            let class = self.class;
            self.last.retain(|place, _| class.has(*place));
        }
    }

    /// Books what the stream says is there.
    pub(crate) fn enter(&self, now_seconds: u64, ledger: &mut Ledger) {
        for (place, last) in &self.last {
            if last.is_seen(now_seconds) {
                let about = last.digest.to_le_bytes();
                ledger.add(Book::Stream, (*place, &about), Side::Stated, 1);
            }
        }
    }

    /// Books an item, if the stream says anything about it.
    pub(crate) fn meet(&self, place: Place, item_digest: u64, ledger: &mut Ledger) {
        if self.last.contains_key(&place) {
            let about = item_digest.max(1).to_le_bytes();
            ledger.add(Book::Stream, (place, &about), Side::Fact, 1);
        }
    }
}

/// The place of a key.
pub(crate) fn place_of(key: &Key) -> Place {
    let text = |part: &Scalar| part.as_text().map_or_else(|| part.to_string(), str::to_owned);
    let sort = key.sort.as_ref().map(text).unwrap_or_default();
    Place::of(&text(&key.partition), &sort)
}

/// Judges each change by itself, and that it comes after the one before.
#[derive(Debug, Default)]
struct Order {
    before: Option<Sequence>,
}

impl Order {
    fn judge(&mut self, definition: &TableDefinition, change: &Change, findings: &mut Findings) {
        let key = || format!("{} at {}", shown(&change.key), change.sequence);
        let mut wrong = |invariant, expected: String, found: String| {
            findings.add(Finding::new(invariant, key(), expected, found, Remedy::None(BEYOND)));
        };
        if let Some(before) = &self.before
            && *before >= change.sequence
        {
            let expected = format!("a change after {before}");
            wrong(Invariant::I4, expected, format!("one at {}", change.sequence));
        }
        self.before = Some(change.sequence.clone());
        if change.old == change.new {
            let expected = String::from("two images that differ");
            wrong(Invariant::I4, expected, String::from("the same twice"));
        }
        for image in [&change.old, &change.new].into_iter().flatten() {
            let stands = definition.key.read(image);
            if stands.as_ref() != Some(&change.key) {
                let found = stands.as_ref().map_or_else(|| String::from("no key"), shown);
                wrong(Invariant::I4, String::from("images with this key"), found);
            }
        }
        let (at, old) = (change.at_ms / 1000, change.old.as_ref());
        if change.expired && !old.is_some_and(|old| definition.is_expired(old, at)) {
            let expected = String::from("a sweep of what has expired");
            wrong(Invariant::I10, expected, format!("a sweep at second {at}, before its time"));
        }
    }
}

/// The chains of some keys, in full.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    selection: Selection,
    chains: BTreeMap<Key, Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    last: Last,
    stored: Last,
}

impl Chains {
    /// Reads the chains of the selected keys; those that do not chain go to `findings`.
    pub(crate) async fn read(
        stream: &Stream<'_>,
        selection: Selection,
        findings: &mut Findings,
    ) -> Result<Self> {
        let mut chains = Self { selection, chains: BTreeMap::new() };
        let definition = stream.table.definition();
        stream.each(|change| chains.take(definition, change, findings)).await?;
        Ok(chains)
    }

    fn take(&mut self, definition: &TableDefinition, change: &Change, findings: &mut Findings) {
        if !self.selection.has(Book::Stream, place_of(&change.key)) {
            return;
        }
        let last = Last::of(definition, change.new.as_ref());
        let old = Last::of(definition, change.old.as_ref());
        let link = Link { last, stored: Last::GONE };
        if let Some(before) = self.chains.insert(change.key.clone(), link)
            && before.last != old
        {
            let key = format!("{} at {}", shown(&change.key), change.sequence);
            let expected = image(before.last, "the new image of the change before");
            let found = image(old, "another one");
            let remedy = Remedy::None(BEYOND);
            let finding = Finding::new(Invariant::I4, key, expected, found, remedy);
            findings.add(finding);
        }
    }

    /// Notes what is stored under the selected keys.
    pub(crate) fn meet(&mut self, definition: &TableDefinition, item: &Item) {
        let Some(key) = definition.key.read(item) else { return };
        if let Some(link) = self.chains.get_mut(&key) {
            link.stored = Last::of(definition, Some(item));
        }
    }

    /// Whether anything is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// What does not end in what is stored.
    pub(crate) fn settle(self, now_seconds: u64, findings: &mut Findings) {
        for (key, Link { last, stored }) in self.chains {
            let expired = !last.is_seen(now_seconds) && stored == Last::GONE;
            if last != stored && !expired {
                let expected = image(last, "what the stream ends in");
                let found = image(stored, "another item");
                let remedy = Remedy::None(BEYOND);
                findings.add(Finding::new(Invariant::I4, shown(&key), expected, found, remedy));
            }
        }
    }
}

fn image(last: Last, there: &str) -> String {
    if last == Last::GONE { String::from("no item") } else { there.to_owned() }
}

/// A stream of one shard, from the oldest change it holds to where it ended when the check began.
#[derive(Clone, Debug)]
pub(crate) struct Stream<'a> {
    table: &'a Table,
    shard: String,
    end: Sequence,
    progress: &'a dyn Progress,
}

impl<'a> Stream<'a> {
    /// The stream of a table; `None` when it has several shards, or none that tells its end.
    pub(crate) async fn of(table: &'a Table, progress: &'a dyn Progress) -> Result<Option<Self>> {
        let shards = table.stream_shards().await?;
        let [shard] = &*shards else { return Ok(None) };
        let read = reading(&shard.id, StreamStart::Latest, 1);
        let end = table.stream_read(read).await?.next;
        Ok(end.map(|end| Self { table, shard: shard.id.clone(), end, progress }))
    }

    /// Where it ends.
    pub(crate) const fn end(&self) -> &Sequence {
        &self.end
    }

    /// Hands over every change.
    async fn each(&self, mut take: impl FnMut(&Change)) -> Result<()> {
        let mut start = StreamStart::Oldest;
        loop {
            let read = reading(&self.shard, start.clone(), STREAM_CHANGES_MAX);
            let page = self.table.stream_read(read).await.map_err(Failure::Table)?;
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

/// A read of what is there, without waiting for more.
pub(crate) fn reading(shard: &str, start: StreamStart, limit: usize) -> StreamRead {
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
    fn a_stream_of_more_keys_than_fit_is_read_by_classes() {
        let definition = Core::SHAPE.definition("gg_core");
        let (mut classes, mut met, mut readings) = (vec![Class::ALL], Vec::new(), 0);
        while let Some(class) = classes.pop() {
            let mut fold = Fold::new(class, 100);
            (0..1_000).for_each(|nth| fold.take(&definition, &change(nth), &mut Ledger::default()));
            assert!(fold.last.len() <= 100);
            classes.extend(fold.class.left_of(class));
            met.extend(fold.last.into_keys());
            readings += 1;
        }
        met.sort_unstable();
        met.dedup();
        assert_eq!(met.len(), 1_000, "every key is in one class");
        assert!((10..=40).contains(&readings), "{readings}");
    }

    #[test]
    fn what_expires_far_away_never_does() {
        let definition = Core::SHAPE.definition("gg_core");
        let last = |ttl: u64| {
            let item = item! { "PK" => "USER#a", "SK" => "CREDENTIAL", "ttl" => ttl };
            Last::of(&definition, Some(&item))
        };
        assert!(last(101).is_seen(100) && !last(100).is_seen(100));
        assert!(last(u64::MAX).is_seen(4_000_000_000));
        assert!(!Last::GONE.is_seen(0));
    }
}
