//! Encodes keys as bytes that sort in the table's order and are short enough for the tree.
//!
//! ```text
//! item   := table:u16be 0x00 partition sort           sort raw: it comes last
//! entry  := table:u16be n    partition sort' base     n: 1-based index; sort' escaped, terminated
//! order  := table:u16be 0xfe 0x00 sort' base          an index of one partition, which has no name
//! expiry := table:u16be 0xff seconds:u64be base       read by the sweep
//! partition := len:u8 bytes | 0xff blake3             longer ones by hash: only equality matters
//! base   := partition sort of the item | blake3 of both when the entry would grow too long
//! ```
//! DynamoDB allows keys of 2,048 and 1,024 bytes and an index entry holds two of each, while the
//! tree takes 1,982 bytes in total. The sort key must be ordered and is never shortened; the other
//! parts only have to be distinct, and the item itself holds the full key.

use crate::filter::Fingerprint;
use crate::memtable::Run;
use bytes::Bytes;
use roundtable_table::{
    IndexDefinition, Item, Key, KeyDefinition, Scalar, SortRange, TableDefinition, ValueRef,
};

pub(crate) const TREE_KEY_BYTES_MAX: usize = 1982;
pub(crate) const ITEMS: u8 = 0;
pub(crate) const ORDER: u8 = 0xfe;
pub(crate) const EXPIRY: u8 = 0xff;
/// Bytes of table number and space.
pub(crate) const PREFIX_BYTES: usize = 3;

/// All entries of an order are in one partition.
const ORDER_PARTITION: &str = "";
const HASH_BYTES: usize = 32;
const LONG_PARTITION: u8 = 0xff;

/// A half-open range of encoded keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRange {
    pub(crate) low: Vec<u8>,
    pub(crate) high: Vec<u8>,
    /// The partition of the range, if it lies in a single one.
    partition: Option<Fingerprint>,
}

impl KeyRange {
    /// The range of all keys that begin with `prefix`.
    pub(crate) fn of_prefix(prefix: Vec<u8>) -> Self {
        Self { high: successor(&prefix), low: prefix, partition: None }
    }

    /// Returns whether `run` may contain keys of the range.
    pub(crate) fn may_overlap(&self, run: &Run) -> bool {
        self.partition.is_none_or(|partition| run.may_contain(partition))
    }
}

/// Returns the space byte of the index at `position` in its table's definition.
#[expect(clippy::cast_possible_truncation, reason = "a table has at most 20 indexes")]
pub(crate) const fn index_space(position: usize) -> u8 {
    position as u8 + 1
}

pub(crate) fn prefix(table: u16, space: u8) -> Vec<u8> {
    let [high, low] = table.to_be_bytes();
    let mut out = Vec::with_capacity(96);
    out.extend_from_slice(&[high, low, space]);
    out
}

/// Returns the ranges of a table's items and of its index entries.
pub(crate) fn table_ranges(table: u16) -> [KeyRange; 2] {
    let items = KeyRange::of_prefix(prefix(table, ITEMS));
    let mut high = prefix(table, EXPIRY);
    high.push(0xff);
    high.extend_from_slice(&[0xff; 16]);
    [items, KeyRange { low: prefix(table, index_space(0)), high, partition: None }]
}

pub(crate) fn table_of(key: &[u8]) -> u16 {
    key.first_chunk().map_or(0, |table| u16::from_be_bytes(*table))
}

pub(crate) fn space_of(key: &[u8]) -> u8 {
    key.get(2).copied().unwrap_or(ITEMS)
}

/// Returns the smallest key above all keys that begin with `prefix`.
fn successor(prefix: &[u8]) -> Vec<u8> {
    let mut out = prefix.to_vec();
    while let Some(last) = out.pop() {
        if last < 0xff {
            out.push(last + 1);
            return out;
        }
    }
    // Only reached for a prefix of 0xff bytes; no key starts with three of them.
    vec![0xff; PREFIX_BYTES + 1]
}

/// Passes on the bytes of a key part: text and bytes as they are, numbers in their ordered encoding.
fn part_bytes<R>(value: ValueRef<'_>, use_bytes: impl FnOnce(&[u8]) -> R) -> R {
    match value {
        ValueRef::S(text) => use_bytes(text.as_bytes()),
        ValueRef::B(bytes) => use_bytes(bytes),
        ValueRef::N(number) => {
            let mut out = Vec::with_capacity(24);
            number.encode(&mut out);
            use_bytes(&out)
        }
        // Definitions and checks let no other type into a key.
        _ => use_bytes(&[]),
    }
}

fn borrow(scalar: &Scalar) -> ValueRef<'_> {
    match scalar {
        Scalar::S(text) => ValueRef::S(text),
        Scalar::N(number) => ValueRef::N(*number),
        Scalar::B(bytes) => ValueRef::B(bytes),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the length is checked")]
fn push_partition(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.len() < usize::from(LONG_PARTITION) {
        out.push(bytes.len() as u8);
        out.extend_from_slice(bytes);
    } else {
        out.push(LONG_PARTITION);
        out.extend_from_slice(blake3::hash(bytes).as_bytes());
    }
}

/// Returns the encoded partition in the key of an item or an index entry.
pub(crate) fn partition_of(key: &[u8]) -> &[u8] {
    let rest = key.get(PREFIX_BYTES..).unwrap_or_default();
    let len = match rest.first() {
        Some(&LONG_PARTITION) => HASH_BYTES,
        Some(&len) => usize::from(len),
        None => 0,
    };
    rest.get(..=len).unwrap_or(rest)
}

/// Appends bytes so that their order is kept and no result is a prefix of another. A run of zeros
/// becomes `00` and a code: decreasing with the run's length if more bytes follow (a longer run sorts
/// lower), increasing if the text ends there (a longer run sorts higher). So even keys full of zeros
/// grow by at most half.
#[expect(clippy::cast_possible_truncation, reason = "runs are cut to RUN_MAX")]
fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    const RUN_MAX: usize = 126;
    const RUN_GOES_ON: u8 = 127;
    let mut rest = bytes;
    while let Some(zero) = rest.iter().position(|byte| *byte == 0) {
        let (plain, zeros) = rest.split_at(zero);
        out.extend_from_slice(plain);
        let mut run = zeros.iter().take_while(|byte| **byte == 0).count();
        rest = zeros.get(run..).unwrap_or_default();
        out.push(0);
        while run > RUN_MAX {
            out.push(RUN_GOES_ON);
            run -= RUN_MAX;
        }
        if rest.is_empty() {
            out.push(run as u8);
            return;
        }
        out.push(0xff - run as u8);
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, 0]);
}

pub(crate) fn item_key(table: u16, key: &Key) -> Bytes {
    let mut out = prefix(table, ITEMS);
    part_bytes(borrow(&key.partition), |bytes| push_partition(&mut out, bytes));
    if let Some(sort) = &key.sort {
        part_bytes(borrow(sort), |bytes| out.extend_from_slice(bytes));
    }
    out.into()
}

/// Encodes the key of a stored item; `None` if it lacks a key attribute.
pub(crate) fn item_key_of(table: u16, definition: &KeyDefinition, item: &Item) -> Option<Bytes> {
    let mut out = prefix(table, ITEMS);
    let partition = item.get(&definition.partition.name)?;
    part_bytes(partition, |bytes| push_partition(&mut out, bytes));
    if let Some(sort) = &definition.sort {
        part_bytes(item.get(&sort.name)?, |bytes| out.extend_from_slice(bytes));
    }
    Some(out.into())
}

/// Encodes the key of an item's entry in an index; `None` if the item is not in it.
pub(crate) fn entry_key_of(
    table: u16,
    space: u8,
    index: &IndexDefinition,
    item: &Item,
    item_key: &[u8],
) -> Option<Bytes> {
    let partition = item.get(&index.key.partition.name)?;
    let sort = match &index.key.sort {
        Some(attribute) => Some(item.get(&attribute.name)?),
        None => None,
    };
    Some(entry_key(table, space, partition, sort, item_key))
}

/// Encodes the key of an item's entry in the order of its table; `None` if the item is not in it.
pub(crate) fn order_key_of(
    table: u16,
    definition: &TableDefinition,
    item: &Item,
    item_key: &[u8],
) -> Option<Bytes> {
    let sort = ValueRef::S(definition.sort_in_order(item)?);
    Some(entry_key(table, ORDER, ValueRef::S(ORDER_PARTITION), Some(sort), item_key))
}

/// The range of a table's order below a sort key.
pub(crate) fn order_range(table: u16, below: Option<&str>) -> KeyRange {
    let below = below.map_or(SortRange::All, |below| SortRange::Less(Scalar::from(below)));
    Partition::new(table, ORDER, &Scalar::from(ORDER_PARTITION)).range(&below)
}

fn entry_key(
    table: u16,
    space: u8,
    partition: ValueRef<'_>,
    sort: Option<ValueRef<'_>>,
    item_key: &[u8],
) -> Bytes {
    let mut out = prefix(table, space);
    part_bytes(partition, |bytes| push_partition(&mut out, bytes));
    if let Some(sort) = sort {
        part_bytes(sort, |bytes| push_escaped(&mut out, bytes));
    }
    push_base(&mut out, item_key);
    out.into()
}

fn push_base(out: &mut Vec<u8>, item_key: &[u8]) {
    let base = item_key.get(PREFIX_BYTES..).unwrap_or_default();
    if out.len() + base.len() <= TREE_KEY_BYTES_MAX {
        out.extend_from_slice(base);
    } else {
        out.extend_from_slice(blake3::hash(base).as_bytes());
    }
}

/// Encodes the key of an item's entry in the expiry index.
pub(crate) fn expiry_key(table: u16, seconds: u64, item_key: &[u8]) -> Bytes {
    let mut out = prefix(table, EXPIRY);
    out.extend_from_slice(&seconds.to_be_bytes());
    push_base(&mut out, item_key);
    out.into()
}

/// The range of a table's expiry index up to and including `seconds`.
pub(crate) fn expired_range(table: u16, seconds: u64) -> KeyRange {
    let mut high = prefix(table, EXPIRY);
    high.extend_from_slice(&seconds.saturating_add(1).to_be_bytes());
    KeyRange { low: prefix(table, EXPIRY), high, partition: None }
}

/// Returns the value stored under an entry: the offset of the item's key in the entry's key, or the
/// whole item key if the entry holds only its hash.
pub(crate) fn entry_value(entry_key: &[u8], item_key: &[u8]) -> Vec<u8> {
    let base = item_key.get(PREFIX_BYTES..).unwrap_or_default();
    match u16::try_from(entry_key.len() - base.len().min(entry_key.len())) {
        Ok(offset) if entry_key.ends_with(base) => offset.to_le_bytes().to_vec(),
        _ => item_key.to_vec(),
    }
}

/// Returns the item key of an entry without the table, as it was encoded.
pub(crate) fn base_of_entry<'e>(entry_key: &'e [u8], value: &'e [u8]) -> Option<&'e [u8]> {
    match <[u8; 2]>::try_from(value) {
        Ok(offset) => entry_key.get(usize::from(u16::from_le_bytes(offset))..),
        Err(_) => value.get(PREFIX_BYTES..),
    }
}

/// Splits an item key without its table into partition and sort; the partition is `None` if only its
/// hash is in the key.
pub(crate) fn split_base(base: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let (len, rest) = base.split_first()?;
    let is_hash = *len == LONG_PARTITION;
    let len = if is_hash { HASH_BYTES } else { usize::from(*len) };
    let (partition, sort) = rest.split_at_checked(len)?;
    Some(((!is_hash).then_some(partition), sort))
}

/// Returns the item key of an entry.
pub(crate) fn item_key_of_entry(entry_key: &[u8], value: &[u8]) -> Option<Bytes> {
    let Ok(offset) = <[u8; 2]>::try_from(value) else {
        return (value.len() > PREFIX_BYTES).then(|| Bytes::copy_from_slice(value));
    };
    let mut out = prefix(table_of(entry_key), ITEMS);
    out.extend_from_slice(entry_key.get(usize::from(u16::from_le_bytes(offset))..)?);
    Some(out.into())
}

/// One partition of the items or of an index.
pub(crate) struct Partition {
    prefix: Vec<u8>,
    is_index: bool,
}

impl Partition {
    pub(crate) fn new(table: u16, space: u8, partition: &Scalar) -> Self {
        let mut out = prefix(table, space);
        part_bytes(borrow(partition), |bytes| push_partition(&mut out, bytes));
        Self { prefix: out, is_index: space != ITEMS }
    }

    /// Returns the range of the keys whose sort value lies in `range`.
    pub(crate) fn range(&self, range: &SortRange) -> KeyRange {
        let low = || self.prefix.clone();
        let high = || successor(&self.prefix);
        let (low, high) = match range {
            SortRange::All => (low(), high()),
            SortRange::Equal(value) => (self.at(value), self.after(value)),
            SortRange::Less(value) => (low(), self.at(value)),
            SortRange::LessOrEqual(value) => (low(), self.after(value)),
            SortRange::Greater(value) => (self.after(value), high()),
            SortRange::GreaterOrEqual(value) => (self.at(value), high()),
            SortRange::Between(from, to) => (self.at(from), self.after(to)),
            SortRange::BeginsWith(start) => (self.at(start), self.after_prefix(start)),
        };
        KeyRange { low, high, partition: Some(Fingerprint::of_partition(&self.prefix)) }
    }

    /// Returns the lower bound of keys with this sort value.
    fn at(&self, sort: &Scalar) -> Vec<u8> {
        part_bytes(borrow(sort), |bytes| self.at_bytes(bytes))
    }

    fn at_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut out = self.prefix.clone();
        if self.is_index {
            push_escaped(&mut out, bytes);
        } else {
            out.extend_from_slice(bytes);
        }
        out
    }

    /// Returns the lower bound of keys with a greater sort value.
    fn after(&self, sort: &Scalar) -> Vec<u8> {
        let mut out = self.at(sort);
        if self.is_index {
            return successor(&out);
        }
        out.push(0);
        out
    }

    /// Returns the lower bound of keys above all sort values that begin with `start`.
    fn after_prefix(&self, start: &Scalar) -> Vec<u8> {
        part_bytes(borrow(start), |bytes| {
            let end = bytes.iter().rposition(|byte| *byte < 0xff);
            let Some(end) = end else { return successor(&self.prefix) };
            let mut next = bytes.get(..=end).unwrap_or_default().to_vec();
            if let Some(last) = next.last_mut() {
                *last += 1;
            }
            self.at_bytes(&next)
        })
    }
}

/// Encodes the key at which a page ended, in the items or in an index.
pub(crate) fn position_key(table: u16, space: u8, base: &Key, index: Option<&Key>) -> Bytes {
    let item_key = item_key(table, base);
    index.map_or_else(
        || item_key.clone(),
        |index| {
            let sort = index.sort.as_ref().map(borrow);
            entry_key(table, space, borrow(&index.partition), sort, &item_key)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        push_escaped(&mut out, bytes);
        out
    }

    /// Bytes with many zeros in long runs, where escaping can go wrong.
    fn zeroish() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(
            (prop_oneof![Just(0u8), Just(1), Just(255), any::<u8>()], 1..300usize),
            0..6,
        )
        .prop_map(|runs| {
            runs.into_iter()
                .flat_map(|(byte, n)| vec![byte; if byte == 0 { n } else { 1 }])
                .collect()
        })
    }

    proptest! {
        #[test]
        fn escaping_keeps_order_and_is_prefix_free(a in zeroish(), b in zeroish()) {
            let (ea, eb) = (escaped(&a), escaped(&b));
            prop_assert_eq!(a.cmp(&b), ea.cmp(&eb));
            prop_assert!(a == b || !ea.starts_with(&eb));
            prop_assert!(ea.len() <= a.len() + a.len() / 2 + 2);
        }

        #[test]
        fn ranges_hold_exactly_the_sort_values_they_name(
            sort in zeroish(), bound in zeroish(), other in zeroish(), space in 0..2u8,
        ) {
            let b = |bytes: &Vec<u8>| Scalar::from(bytes.clone());
            let partition = Partition::new(1, space, &Scalar::from("p"));
            let (low, high) = if bound <= other { (&bound, &other) } else { (&other, &bound) };
            for range in [
                SortRange::All, SortRange::Equal(b(&bound)), SortRange::Less(b(&bound)),
                SortRange::LessOrEqual(b(&bound)), SortRange::Greater(b(&bound)),
                SortRange::GreaterOrEqual(b(&bound)), SortRange::Between(b(low), b(high)),
                SortRange::BeginsWith(b(&bound)),
            ] {
                let keys = partition.range(&range);
                let base = Key::new("p", sort.clone());
                let index = Key::new("p", sort.clone());
                let key = position_key(1, space, &base, (space > 0).then_some(&index));
                let inside = keys.low.as_slice() <= &key[..] && &key[..] < keys.high.as_slice();
                prop_assert_eq!(inside, range.contains(&b(&sort)), "{:?}", range);
            }
        }
    }

    #[test]
    fn the_longest_keys_fit_and_lead_back_to_their_item() {
        let alternating: Vec<u8> = (0..1024).map(|at| u8::from(at % 2 == 1)).collect();
        let base = Key::new(vec![7u8; 2048], vec![9u8; 1024]);
        let item = item_key(1, &base);
        let index = Key::new(vec![8u8; 2048], alternating);
        let entry = position_key(1, 1, &base, Some(&index));
        assert!(item.len() <= TREE_KEY_BYTES_MAX && entry.len() <= TREE_KEY_BYTES_MAX);
        assert_eq!(item_key_of_entry(&entry, &entry_value(&entry, &item)), Some(item));
    }
}
