//! Templates for many items that differ in a few texts.

use super::encoding::{blob_bytes, read_blob, read_value, write_blob};
use super::{HEADER, Item, ValueRef};

/// An item in which some texts can be replaced. Copies reuse its bytes without encoding the rest again.
#[derive(Clone, Debug)]
pub struct ItemTemplate {
    item: Item,
    /// Positions of the texts, including the lengths before them; ascending.
    slots: Vec<TemplateSlot>,
}

#[derive(Clone, Copy, Debug)]
struct TemplateSlot {
    start: usize,
    end: usize,
    text_bytes: usize,
    /// Index of the text that goes here.
    text: usize,
}

impl ItemTemplate {
    /// A template that replaces these text attributes; `None` if the item lacks one of them.
    pub fn new(item: Item, names: &[&str]) -> Option<Self> {
        let stored = item.as_stored();
        let mut slots = Vec::with_capacity(names.len());
        let mut rest = stored.get(HEADER..)?;
        while !rest.is_empty() {
            let name = read_blob(&mut rest)?;
            // The type tag stays.
            let start = stored.len() - rest.len() + 1;
            let value = read_value(&mut rest)?;
            let end = stored.len() - rest.len();
            if let Some(text) = names.iter().position(|each| each.as_bytes() == name) {
                let ValueRef::S(replaced) = value else { return None };
                slots.push(TemplateSlot { start, end, text_bytes: replaced.len(), text });
            }
        }
        (slots.len() == names.len()).then_some(Self { item, slots })
    }

    /// Returns the item with these texts, one for each name and in the same order.
    pub fn render(&self, texts: &[&str]) -> Item {
        let stored = self.item.as_stored();
        let bytes: usize = texts.iter().map(|text| blob_bytes(text.len())).sum();
        let mut out = Vec::with_capacity(self.fixed_bytes() + bytes);
        let (mut size, mut done) = (self.item.size(), 0);
        for slot in &self.slots {
            let text = texts.get(slot.text).copied().unwrap_or_default();
            out.extend_from_slice(stored.get(done..slot.start).unwrap_or_default());
            write_blob(&mut out, text.as_bytes());
            size = size - slot.text_bytes + text.len();
            done = slot.end;
        }
        out.extend_from_slice(stored.get(done..).unwrap_or_default());
        if let Some(slot) = out.first_chunk_mut() {
            *slot = u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes();
        }
        Item(out.into())
    }

    /// Number of bytes that every copy shares.
    fn fixed_bytes(&self) -> usize {
        let replaced: usize = self.slots.iter().map(|slot| slot.end - slot.start).sum();
        self.item.as_stored().len() - replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    #[test]
    fn a_rendered_item_equals_one_built_from_scratch() {
        let made = |a: &str, b: &str| item! { "a" => a, "b" => b, "c" => 7, "d" => "stays" };
        let template = ItemTemplate::new(made("one", "two"), &["b", "a"]).unwrap();
        let long = "x".repeat(300);
        for (a, b) in [("one", "two"), ("", "three"), (long.as_str(), "four")] {
            assert_eq!(template.render(&[b, a]), made(a, b));
            assert_eq!(template.render(&[b, a]).size(), made(a, b).size());
        }
    }

    #[test]
    fn only_existing_text_attributes_can_be_replaced() {
        let item = item! { "a" => "one", "c" => 7 };
        assert!(ItemTemplate::new(item.clone(), &["a", "b"]).is_none());
        assert!(ItemTemplate::new(item, &["c"]).is_none());
    }
}
