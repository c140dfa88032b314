//! The differences between two items, found in one pass over both.

use std::cmp::Ordering;

use super::{Entries, ValueRef};

/// Iterates over the differences between two items; see [`Item::changes`](super::Item::changes).
#[derive(Clone, Copy, Debug)]
pub struct Changes<'a> {
    before: Entries<'a>,
    after: Entries<'a>,
}

impl<'a> Changes<'a> {
    pub(super) const fn new(before: Entries<'a>, after: Entries<'a>) -> Self {
        Self { before, after }
    }
}

impl<'a> Iterator for Changes<'a> {
    type Item = (&'a str, Option<ValueRef<'a>>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut before = self.before;
            let old = before.next_raw();
            // The encoding is canonical: equal bytes are equal attributes.
            if old.is_some_and(|(_, entry)| self.after.skip_if_equal(entry)) {
                self.before = before;
                continue;
            }
            let new = self.after.iter().next_raw();
            // The lower name comes next; at the end of one item, the rest of the other.
            let order = match (old, new) {
                (Some((old, _)), Some((new, _))) => old.cmp(new),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return None,
            };
            if order == Ordering::Less {
                let (name, _) = self.before.next()?;
                return Some((name, None));
            }
            if order == Ordering::Equal {
                self.before = before;
            }
            let (name, value) = self.after.next()?;
            return Some((name, Some(value)));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::any_value;
    use crate::{Attributes, Item};

    proptest! {
        #[test]
        fn changes_lead_from_one_item_to_the_other(
            shared in prop::collection::btree_map("[a-d]{1,2}", any_value(), 0..6),
            before in prop::collection::btree_map("[a-d]{1,2}", any_value(), 0..6),
            after in prop::collection::btree_map("[a-d]{1,2}", any_value(), 0..6),
        ) {
            let with = |mut own: Attributes| {
                own.extend(shared.clone());
                own
            };
            let (before, after) = (with(before), with(after));
            let (old, new) = (Item::from(&before), Item::from(&after));
            let mut changed = before.clone();
            let mut names = Vec::new();
            for (name, value) in old.changes(&new) {
                names.push(name);
                match value {
                    Some(value) => {
                        let replaced = changed.insert(name.to_owned(), value.to_value());
                        prop_assert_ne!(replaced, Some(value.to_value()), "{} did not differ", name);
                    }
                    None => prop_assert!(changed.remove(name).is_some()),
                }
            }
            prop_assert!(names.is_sorted());
            prop_assert_eq!(changed, after);
            prop_assert_eq!(new.changes(&new).count(), 0);
        }
    }
}
