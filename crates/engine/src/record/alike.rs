//! Images that hardly differ: one is written as the words that are not those of the image before it.
//!
//! ```text
//! alike := words:u16le differing:u16le place:u16le* word*    of the differing ones
//! ```
//! A word has eight bytes, the last of an image may have fewer. Many copies of one thing differ in whose
//! they are, and in little else: the log then holds, writes and checks a fraction of them.

use bytes::{Bytes, BytesMut};

const WORD_BYTES: usize = 8;
/// Words beyond this make it not worth while: one of so many may differ.
const DIFFERING_ONE_IN: usize = 2;

/// An image beside one of the same length that was before it.
pub(super) struct Alike<'a> {
    before: &'a [u8],
    image: &'a [u8],
    differing: u16,
}

impl<'a> Alike<'a> {
    /// `None` where they differ in much, or are not of the same length.
    pub(super) fn between(before: &'a [u8], image: &'a [u8]) -> Option<Self> {
        let words = image.len().div_ceil(WORD_BYTES);
        if before.len() != image.len() || u16::try_from(words).is_err() {
            return None;
        }
        let alike = Self { before, image, differing: 0 };
        let differing = alike.differences().count();
        let is_worth_it = differing * DIFFERING_ONE_IN < words;
        let differing = u16::try_from(differing).ok().filter(|_| is_worth_it)?;
        Some(Self { differing, ..alike })
    }

    /// Appends it.
    pub(super) fn push(&self, out: &mut Vec<u8>) {
        let words = self.image.len().div_ceil(WORD_BYTES);
        for number in [u16::try_from(words).unwrap_or(u16::MAX), self.differing] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for (place, _) in self.differences() {
            out.extend_from_slice(&u16::try_from(place).unwrap_or(u16::MAX).to_le_bytes());
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

/// The image that begins `bytes`, and how many of them it took.
pub(super) fn read(before: &[u8], bytes: &[u8]) -> Option<(Bytes, usize)> {
    let (words, rest) = split_u16(bytes)?;
    let (differing, rest) = split_u16(rest)?;
    if before.len().div_ceil(WORD_BYTES) != usize::from(words) {
        return None;
    }
    let (places, mut rest) = rest.split_at_checked(usize::from(differing) * size_of::<u16>())?;
    let mut image = BytesMut::from(before);
    for place in places.chunks_exact(size_of::<u16>()) {
        let (place, _) = split_u16(place)?;
        let slot = image.chunks_mut(WORD_BYTES).nth(usize::from(place))?;
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
        fn what_was_written_is_read(
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
            if let Some(alike) = Alike::between(&before, &image) {
                alike.push(&mut bytes);
                let len = bytes.len();
                bytes.push(7);
                prop_assert_eq!(read(&before, &bytes), Some((image.into(), len)));
                for end in 0..len {
                    prop_assert_eq!(read(&before, &bytes[..end]), None);
                }
            }
        }
    }

    #[test]
    fn those_that_differ_in_much_are_not_alike() {
        assert!(Alike::between(&[1; 64], &[1; 64]).is_some());
        assert!(Alike::between(&[1; 64], &[2; 64]).is_none());
        assert!(Alike::between(&[1; 64], &[1; 65]).is_none());
        let long = vec![1; 1 << 20];
        assert!(Alike::between(&long, &long).is_none());
    }
}
