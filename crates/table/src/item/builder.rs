//! Builds items from borrowed values, without a map of owned ones in between.

use std::cmp::Ordering;
use std::mem;
use std::ops::Range;

use super::encoding::{
    close_container, open_container, read_blob, read_value, skip_value, write_blob, write_number,
    write_value,
};
use super::{HEADER, Item, ValueRef};
use crate::value::CONTAINER_BYTES;
use crate::{Attributes, Number, Value};

/// Initial capacity, enough for most items. The rest is freed when the item is built.
const CAPACITY: usize = 1024;

/// An attribute's name, with its bit in an item's header. As a constant it costs nothing at run time.
#[derive(Clone, Copy, Debug)]
pub struct AttributeName<'a> {
    text: &'a str,
    bit: u64,
}

impl<'a> AttributeName<'a> {
    pub const fn new(text: &'a str) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut rest = text.as_bytes();
        while let Some((byte, after)) = rest.split_first() {
            hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
            rest = after;
        }
        Self { text, bit: 1 << (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) }
    }

    pub(super) const fn bit(self) -> u64 {
        self.bit
    }
}

impl<'a> From<&'a str> for AttributeName<'a> {
    fn from(text: &'a str) -> Self {
        Self::new(text)
    }
}

/// Builds an item, or a map within one. Names may come in any order (sorted is fastest), and the last
/// value of a name wins.
#[derive(Debug)]
pub struct ItemBuilder {
    out: Vec<u8>,
    /// Offset of the first entry.
    start: usize,
    /// Range of the highest name so far.
    highest: Range<usize>,
    count: usize,
    /// Size DynamoDB counts for the entries.
    size: usize,
    names: u64,
}

impl ItemBuilder {
    pub fn new() -> Self {
        let mut out = Vec::with_capacity(CAPACITY);
        out.extend_from_slice(&[0; HEADER]);
        Self::appending_to(out)
    }

    /// Appends entries to the bytes in `out`.
    fn appending_to(out: Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start, highest: start..start, count: 0, size: 0, names: 0 }
    }

    /// Returns the slot of an attribute.
    pub fn slot<'a>(&'a mut self, name: impl Into<AttributeName<'a>>) -> ValueSlot<'a> {
        ValueSlot { to: self, name: Some(name.into()) }
    }

    pub fn build(mut self) -> Item {
        let size = u32::try_from(self.size).unwrap_or(u32::MAX);
        let count = u32::try_from(self.count).unwrap_or(u32::MAX);
        if let Some(header) = self.out.first_chunk_mut::<HEADER>() {
            let fields = u128::from(size) | u128::from(count) << 32 | u128::from(self.names) << 64;
            *header = fields.to_le_bytes();
        }
        Item(self.out.into_boxed_slice().into())
    }

    /// Builds the item of a map, whose names are sorted already.
    pub(super) fn build_map(attributes: &Attributes) -> Item {
        let mut builder = Self::new();
        for (name, value) in attributes {
            builder.append(name.as_str().into(), |to| to.value(value));
        }
        builder.build()
    }

    fn entry(&mut self, name: AttributeName<'_>, value: impl FnOnce(&mut Self)) {
        let highest = self.out.get(self.highest.clone()).unwrap_or_default();
        let rises = self.count == 0 || highest < name.text.as_bytes();
        let at = self.out.len();
        let named = self.append(name, value);
        if rises {
            self.highest = named;
        } else {
            self.move_into_order(at, name.text.as_bytes());
        }
    }

    /// Appends an entry and returns the range of its name.
    fn append(&mut self, name: AttributeName<'_>, value: impl FnOnce(&mut Self)) -> Range<usize> {
        write_blob(&mut self.out, name.text.as_bytes());
        let end = self.out.len();
        self.count += 1;
        self.size += name.text.len();
        self.names |= name.bit;
        value(self);
        end - name.text.len()..end
    }

    fn value(&mut self, value: &Value) {
        write_value(&mut self.out, value);
        self.size += value.stored_bytes();
    }

    /// Moves the last entry, which starts at `at`, to its place in the order of names, replacing an
    /// entry of the same name.
    fn move_into_order(&mut self, at: usize, name: &[u8]) {
        let mut rest = self.out.get(self.start..at).unwrap_or_default();
        let mut target = at;
        let mut replaced = 0;
        while !rest.is_empty() {
            target = at - rest.len();
            let found = read_blob(&mut rest).unwrap_or_default();
            match found.cmp(name) {
                Ordering::Less => skip_value(&mut rest).unwrap_or_default(),
                Ordering::Equal => {
                    let value = read_value(&mut rest).map(ValueRef::to_value);
                    replaced = at - rest.len() - target;
                    self.count -= 1;
                    self.size -= name.len() + value.map_or(0, |value| value.stored_bytes());
                    break;
                }
                Ordering::Greater => break,
            }
            target = at;
        }
        let moved = self.out.len() - at;
        if let Some(tail) = self.out.get_mut(target..) {
            tail.rotate_right(moved);
        }
        self.out.drain(target + moved..target + moved + replaced);
        let mut rest = self.out.get(self.start..).unwrap_or_default();
        while let Some(found) = read_blob(&mut rest) {
            let end = self.out.len() - rest.len();
            self.highest = end - found.len()..end;
            skip_value(&mut rest).unwrap_or_default();
        }
    }
}

impl Default for ItemBuilder {
    fn default() -> Self {
        Self::new()
    }
}

/// A slot for one value. Left empty, the attribute is absent, or the list element is null.
#[derive(Debug)]
pub struct ValueSlot<'a> {
    to: &'a mut ItemBuilder,
    /// `None` in a list.
    name: Option<AttributeName<'a>>,
}

impl ValueSlot<'_> {
    pub fn text(self, text: &str) {
        self.put(|to| {
            to.out.push(b'S');
            write_blob(&mut to.out, text.as_bytes());
            to.size += text.len();
        });
    }

    pub fn number(self, number: impl Into<Number>) {
        let number = number.into();
        self.put(|to| {
            to.out.push(b'N');
            write_number(&mut to.out, number);
            to.size += number.stored_bytes();
        });
    }

    pub fn boolean(self, truth: bool) {
        self.value(&Value::Bool(truth));
    }

    pub fn value(self, value: &Value) {
        self.put(|to| to.value(value));
    }

    /// Sets a map, whose entries `write` adds.
    pub fn map(self, write: impl FnOnce(&mut ItemBuilder)) {
        self.put(|to| {
            let at = open_container(&mut to.out, b'M');
            let mut map = ItemBuilder::appending_to(mem::take(&mut to.out));
            write(&mut map);
            to.out = map.out;
            close_container(&mut to.out, at, map.count);
            to.size += CONTAINER_BYTES + map.count + map.size;
        });
    }

    /// Sets a list; `write` fills the slot of each element.
    pub fn list<T>(self, values: impl IntoIterator<Item = T>, write: impl Fn(T, ValueSlot<'_>)) {
        self.put(|to| {
            let at = open_container(&mut to.out, b'L');
            let mut count = 0;
            for value in values {
                let before = to.out.len();
                write(value, ValueSlot { to, name: None });
                if to.out.len() == before {
                    to.value(&Value::Null);
                }
                count += 1;
            }
            close_container(&mut to.out, at, count);
            to.size += CONTAINER_BYTES + count;
        });
    }

    fn put(self, value: impl FnOnce(&mut ItemBuilder)) {
        match self.name {
            Some(name) => self.to.entry(name, value),
            None => value(self.to),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::any_value;
    use super::*;
    use crate::item;

    /// Fills a slot through the typed methods.
    fn fill(value: &Value, slot: ValueSlot<'_>) {
        match value {
            Value::S(text) => slot.text(text),
            Value::N(number) => slot.number(*number),
            Value::Bool(truth) => slot.boolean(*truth),
            Value::L(values) => slot.list(values, |value, slot| {
                if *value != Value::Null {
                    fill(value, slot);
                }
            }),
            Value::M(entries) => slot.map(|map| {
                for (name, value) in entries.iter().rev() {
                    fill(value, map.slot(name.as_str()));
                }
            }),
            other => slot.value(other),
        }
    }

    proptest! {
        #[test]
        fn the_order_of_building_does_not_change_an_item(
            entries in prop::collection::vec(("[a-c]{1,2}|.{1,20}", any_value()), 0..12)
        ) {
            let mut builder = ItemBuilder::new();
            for (name, value) in &entries {
                fill(value, builder.slot(name.as_str()));
            }
            let built = builder.build();
            let attributes: Attributes = entries.into_iter().collect();
            let size: usize = attributes.iter().map(|(n, v)| n.len() + v.stored_bytes()).sum();
            prop_assert_eq!(built.size(), size);
            prop_assert_eq!(built.to_attributes(), attributes.clone());
            prop_assert_eq!(built, Item::from(attributes));
        }
    }

    #[test]
    fn an_empty_slot_is_an_absent_attribute() {
        let mut builder = ItemBuilder::default();
        let _ = builder.slot("absent");
        builder.slot("list").list([Some(1), None], |number, slot| {
            if let Some(number) = number {
                slot.number(number);
            }
        });
        let expected = item! { "list" => Value::L(vec![1.into(), Value::Null]) };
        assert_eq!(builder.build(), expected);
        assert_eq!(ItemBuilder::new().build(), item! {});
    }

    #[test]
    fn a_later_value_replaces_an_earlier_one() {
        let mut builder = ItemBuilder::new();
        for (name, text) in [("b", "1"), ("a", "long"), ("b", "2"), ("a", ""), ("c", "3")] {
            builder.slot(name).text(text);
        }
        assert_eq!(builder.build(), item! { "a" => "", "b" => "2", "c" => "3" });
    }
}
