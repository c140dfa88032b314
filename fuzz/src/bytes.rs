//! Choices, made by the bytes of an input: the same bytes make the same choices, and when there are no more
//! the first one is taken.

/// The bytes that are left.
#[derive(Debug)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    /// One of so many.
    pub(crate) fn pick(&mut self, of: usize) -> usize {
        let mut chosen = usize::from(self.next());
        if of > 256 {
            chosen = chosen << 8 | usize::from(self.next());
        }
        chosen % of.max(1)
    }

    /// Once in so many times; never when there are no more bytes.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.pick(times) == times - 1
    }

    /// One of these.
    pub(crate) fn of<'b, T>(&mut self, all: &'b [T]) -> &'b T {
        all.get(self.pick(all.len())).unwrap()
    }

    /// Whether there are no more.
    pub(crate) const fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }
}
