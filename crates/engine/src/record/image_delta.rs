//! Deltas between similar images: an image is written as the words that differ from the previous one.
//!
//! ```text
//! delta := words:u16le differing:u16le index:u16le* word*    of the differing ones
//! ```
//! A word has eight bytes, the last of an image may have fewer. The items of a fan-out differ in little
//! but their owner, so the log stores, writes and checks only a fraction of their bytes.

use bytes::{Bytes, BytesMut};

const WORD_BYTES: usize = 8;
/// A delta is used only if fewer than one word in this many differs.
const DIFFERING_ONE_IN: usize = 2;

/// An image and the previous one, which has the same length.
pub(super) struct ImageDelta<'a> {
    before: &'a [u8],
    image: &'a [u8],
    differing: u16,
}

impl<'a> ImageDelta<'a> {
    /// Returns `None` if the images differ in too many words, or in length.
    pub(super) fn between(before: &'a [u8], image: &'a [u8]) -> Option<Self> {
        let words = image.len().div_ceil(WORD_BYTES);
        if before.len() != image.len() || u16::try_from(words).is_err() {
            return None;
        }
        let delta = Self { before, image, differing: 0 };
        let differing = delta.differences().count();
        let is_smaller = differing * DIFFERING_ONE_IN < words;
        let differing = u16::try_from(differing).ok().filter(|_| is_smaller)?;
        Some(Self { differing, ..delta })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let words = self.image.len().div_ceil(WORD_BYTES);
        for number in [u16::try_from(words).unwrap_or(u16::MAX), self.differing] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for (index, _) in self.differences() {
            out.extend_from_slice(&u16::try_from(index).unwrap_or(u16::MAX).to_le_bytes());
        }
        for (_, word) in self.differences() {
            out.extend_from_slice(word);
        }
    }

    fn differences(&self) -> impl Iterator<Item = (usize, &'a [u8])> {
        let words = self.image.chunks(WORD_BYTES).zip(self.before.chunks(WORD_BYTES));
        words
            .enumerate()
            .filter(|(_, (word, before))| word != before)
            .map(|(at, (word, _))| (at, word))
    }
}

/// Decodes the image at the start of `bytes`; returns it and its encoded length.
pub(super) fn decode(before: &[u8], bytes: &[u8]) -> Option<(Bytes, usize)> {
    let (words, rest) = split_u16(bytes)?;
    let (differing, rest) = split_u16(rest)?;
    if before.len().div_ceil(WORD_BYTES) != usize::from(words) {
        return None;
    }
    let (indexes, mut rest) = rest.split_at_checked(usize::from(differing) * size_of::<u16>())?;
    let mut image = BytesMut::from(before);
    for index in indexes.chunks_exact(size_of::<u16>()) {
        let (index, _) = split_u16(index)?;
        let slot = image.chunks_mut(WORD_BYTES).nth(usize::from(index))?;
        let (word, others) = rest.split_at_checked(slot.len())?;
        slot.copy_from_slice(word);
        rest = others;
    }
    Some((image.freeze(), bytes.len() - rest.len()))
}

fn split_u16(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u16::from_le_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_delta_decodes_to_its_image(
            before in prop::collection::vec(any::<u8>(), 0..200),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        ) {
            let mut image = before.clone();
            for (at, byte) in changes {
                if !image.is_empty() {
                    let at = at.index(image.len());
                    image[at] = byte;
                }
            }
            let mut bytes = Vec::new();
            if let Some(delta) = ImageDelta::between(&before, &image) {
                delta.encode(&mut bytes);
                let len = bytes.len();
                bytes.push(7);
                prop_assert_eq!(decode(&before, &bytes), Some((image.into(), len)));
                for end in 0..len {
                    prop_assert_eq!(decode(&before, &bytes[..end]), None);
                }
            }
        }
    }

    #[test]
    fn images_that_differ_too_much_have_no_delta() {
        assert!(ImageDelta::between(&[1; 64], &[1; 64]).is_some());
        assert!(ImageDelta::between(&[1; 64], &[2; 64]).is_none());
        assert!(ImageDelta::between(&[1; 64], &[1; 65]).is_none());
        let long = vec![1; 1 << 20];
        assert!(ImageDelta::between(&long, &long).is_none());
    }
}
