//! An item of which many are made that differ in a few texts.

use super::encoding::{blob_bytes, read_blob, read_value, write_blob};
use super::{HEADER, Item, ValueRef};

/// An item with places for other texts: each copy is cut from its bytes, without encoding the rest anew.
#[derive(Clone, Debug)]
pub struct Stencil {
    item: Item,
    /// Where the texts are, with their lengths before them; rising.
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    end: usize,
    text_bytes: usize,
    /// Which of the texts goes here.
    text: usize,
}

impl Stencil {
    /// The item, of which these text attributes are to be replaced; `None` if it lacks one of them.
    pub fn new(item: Item, names: &[&str]) -> Option<Self> {
        let stored = item.as_stored();
        let mut places = Vec::with_capacity(names.len());
        let mut rest = stored.get(HEADER..)?;
        while !rest.is_empty() {
            let name = read_blob(&mut rest)?;
            // The letter that says what it is stays.
            let start = stored.len() - rest.len() + 1;
            let value = read_value(&mut rest)?;
            let end = stored.len() - rest.len();
            if let Some(text) = names.iter().position(|each| each.as_bytes() == name) {
                let ValueRef::S(replaced) = value else { return None };
                places.push(Place { start, end, text_bytes: replaced.len(), text });
            }
        }
        (places.len() == names.len()).then_some(Self { item, places })
    }

    /// The item with these texts, one for each name and in the same order.
    pub fn cut(&self, texts: &[&str]) -> Item {
        let stored = self.item.as_stored();
        let bytes: usize = texts.iter().map(|text| blob_bytes(text.len())).sum();
        let mut out = Vec::with_capacity(self.fixed_bytes() + bytes);
        let (mut size, mut done) = (self.item.size(), 0);
        for place in &self.places {
            let text = texts.get(place.text).copied().unwrap_or_default();
            out.extend_from_slice(stored.get(done..place.start).unwrap_or_default());
            write_blob(&mut out, text.as_bytes());
            size = size - place.text_bytes + text.len();
            done = place.end;
        }
        out.extend_from_slice(stored.get(done..).unwrap_or_default());
        if let Some(slot) = out.first_chunk_mut() {
            *slot = u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes();
        }
        Item(out.into())
    }

    /// What stays, in bytes.
    fn fixed_bytes(&self) -> usize {
        let replaced: usize = self.places.iter().map(|place| place.end - place.start).sum();
        self.item.as_stored().len() - replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    #[test]
    fn what_is_cut_is_what_would_have_been_made() {
        let made = |a: &str, b: &str| item! { "a" => a, "b" => b, "c" => 7, "d" => "stays" };
        let stencil = Stencil::new(made("one", "two"), &["b", "a"]).unwrap();
        let long = "x".repeat(300);
        for (a, b) in [("one", "two"), ("", "three"), (long.as_str(), "four")] {
            assert_eq!(stencil.cut(&[b, a]), made(a, b));
            assert_eq!(stencil.cut(&[b, a]).size(), made(a, b).size());
        }
    }

    #[test]
    fn only_texts_that_are_there_can_be_replaced() {
        let item = item! { "a" => "one", "c" => 7 };
        assert!(Stencil::new(item.clone(), &["a", "b"]).is_none());
        assert!(Stencil::new(item, &["c"]).is_none());
    }
}
