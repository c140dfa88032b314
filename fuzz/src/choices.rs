//! Choices made by the bytes of an input. The same bytes make the same choices; without bytes, the first
//! option is chosen.

/// The remaining bytes.
#[derive(Debug)]
pub(crate) struct ByteChoices<'a>(pub(crate) &'a [u8]);

impl ByteChoices<'_> {
    /// Returns a number below `count`.
    pub(crate) fn pick(&mut self, count: usize) -> usize {
        let mut chosen = usize::from(self.next());
        if count > 256 {
            chosen = chosen << 8 | usize::from(self.next());
        }
        chosen % count.max(1)
    }

    /// Returns true once in `times` calls, and never without bytes.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.pick(times) == times - 1
    }

    pub(crate) fn choose<'b, T>(&mut self, all: &'b [T]) -> &'b T {
        all.get(self.pick(all.len())).unwrap()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }
}
