//! Books of any length in a few megabytes: facts add, statements subtract, and every account must come
//! to nothing.
//!
//! Accounts are thrown into buckets by a hash of their key. A bucket holds one sum: each line adds its
//! amount times a hash of account and line. Where all accounts of a bucket balance, the sum is zero;
//! where one does not, it is zero by a chance of about 2^-64. So the sums need no memory of the accounts,
//! take their lines in any order and from any thread, and tell which few accounts deserve a second look.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128_with_seed};

use crate::books::{Book, Entry, Side};

/// Buckets of one book: of a million accounts, about sixty share one.
pub(crate) const BUCKETS: usize = 1 << 14;

/// Where an account is: the hash of the key of the item that states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place(pub(crate) u64);

impl Place {
    /// The place of a key.
    pub(crate) fn of(partition: &str, sort: &str) -> Self {
        let mut hasher = Xxh3::new();
        hasher.update(partition.as_bytes());
        hasher.update(&[0]);
        hasher.update(sort.as_bytes());
        Self(hasher.digest())
    }

    /// The bucket it falls into.
    pub(crate) fn bucket(self) -> usize {
        usize::try_from(self.0 >> (u64::BITS - BUCKETS.trailing_zeros())).unwrap_or(0)
    }
}

/// What stands for an image of an item.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// All books.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// Of each book, its buckets.
    sums: Vec<u128>,
    /// How many lines went into each.
    lines: Vec<u32>,
    /// Buckets that need a second look whatever their sum is.
    suspected: BTreeSet<usize>,
}

impl Default for Ledger {
    fn default() -> Self {
        let slots = Book::ALL.len() * BUCKETS;
        Self { sums: vec![0; slots], lines: vec![0; slots], suspected: BTreeSet::new() }
    }
}

impl Ledger {
    /// Books one line; `partition` and `sort` are the key of what states it.
    pub(crate) fn enter(&mut self, entry: &Entry, partition: &str, sort: &str) {
        let place = Place::of(partition, sort);
        let line = (place, entry.about.as_bytes());
        self.add(entry.book, line, entry.side, entry.amount);
    }

    /// Books one line of the account at a place.
    pub(crate) fn add(
        &mut self,
        book: Book,
        (place, about): (Place, &[u8]),
        side: Side,
        amount: i128,
    ) {
        let slot = slot(book, place.bucket());
        let weight = xxh3_128_with_seed(about, place.0);
        // Two's complement: what is taken away wraps around, and comes back.
        let amount = match side {
            Side::Fact => amount.cast_unsigned(),
            Side::Stated => amount.wrapping_neg().cast_unsigned(),
            Side::Owner => return,
        };
        if let (Some(sum), Some(lines)) = (self.sums.get_mut(slot), self.lines.get_mut(slot)) {
            *sum = sum.wrapping_add(weight.wrapping_mul(amount));
            *lines = lines.saturating_add(1);
        }
    }

    /// Asks for a second look at the account at a place.
    pub(crate) fn suspect(&mut self, book: Book, place: Place) {
        self.suspected.insert(slot(book, place.bucket()));
    }

    /// Adds what another ledger holds.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.wrapping_add(*more);
        }
        for (lines, more) in self.lines.iter_mut().zip(&other.lines) {
            *lines = lines.saturating_add(*more);
        }
        self.suspected.extend(&other.suspected);
    }

    /// Takes a book out: nothing of it can be said.
    pub(crate) fn close(&mut self, book: Book) {
        let from = slot(book, 0);
        for sum in self.sums.iter_mut().skip(from).take(BUCKETS) {
            *sum = 0;
        }
        self.suspected.retain(|slot| !(from..from + BUCKETS).contains(slot));
    }

    /// The buckets that do not balance, in portions of about `lines_max` lines, so that a second look
    /// at a portion fits into memory.
    pub(crate) fn unbalanced(&self, lines_max: u64) -> Vec<Selection> {
        let mut portions: Vec<Selection> = Vec::new();
        let mut lines = 0;
        for (slot, (sum, count)) in self.sums.iter().zip(&self.lines).enumerate() {
            if *sum == 0 && !self.suspected.contains(&slot) {
                continue;
            }
            let is_full = lines > 0 && lines + u64::from(*count) > lines_max;
            match portions.last_mut() {
                Some(portion) if !is_full => portion.slots.push(slot),
                _ => {
                    portions.push(Selection { slots: vec![slot] });
                    lines = 0;
                }
            }
            lines += u64::from(*count);
        }
        portions
    }
}

const fn slot(book: Book, bucket: usize) -> usize {
    book as usize * BUCKETS + bucket
}

/// Some buckets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// Rising.
    slots: Vec<usize>,
}

impl Selection {
    /// Whether the account at a place is among them.
    pub(crate) fn has(&self, book: Book, place: Place) -> bool {
        self.slots.binary_search(&slot(book, place.bucket())).is_ok()
    }

    /// Whether any account of a book is.
    pub(crate) fn has_any(&self, book: Book) -> bool {
        let from = self.slots.partition_point(|each| *each < slot(book, 0));
        self.slots.get(from).is_some_and(|first| *first < slot(book, 0) + BUCKETS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(account: &str) -> Place {
        Place::of(account, "COUNTER")
    }

    fn line(ledger: &mut Ledger, account: &str, about: &str, side: Side, amount: i128) {
        ledger.add(Book::Count, (place(account), about.as_bytes()), side, amount);
    }

    #[test]
    fn accounts_balance_in_any_order_and_across_ledgers() {
        let (mut one, mut other) = (Ledger::default(), Ledger::default());
        for account in 0..5_000_u32 {
            let name = account.to_string();
            for _ in 0..account % 4 {
                line(&mut one, &name, "", Side::Fact, 1);
            }
            line(&mut other, &name, "", Side::Stated, i128::from(account % 4));
        }
        assert!(!one.unbalanced(u64::MAX).is_empty());
        one.merge(&other);
        assert!(one.unbalanced(u64::MAX).is_empty());
    }

    #[test]
    fn one_too_many_is_seen_in_its_bucket() {
        let mut ledger = Ledger::default();
        for account in 0..5_000_u32 {
            line(&mut ledger, &account.to_string(), "", Side::Fact, 7);
            line(&mut ledger, &account.to_string(), "", Side::Stated, 7);
        }
        line(&mut ledger, "42", "", Side::Stated, 1);
        // What one account has too much does not make up for what another lacks.
        line(&mut ledger, "43", "", Side::Fact, 1);
        let [found] = &ledger.unbalanced(u64::MAX)[..] else { panic!("one portion") };
        assert!(found.has(Book::Count, place("42")) && found.has(Book::Count, place("43")));
        assert_eq!(found.slots.len(), 2);
        assert!(found.has_any(Book::Count) && !found.has_any(Book::Likes));
    }

    #[test]
    fn lines_about_different_things_do_not_balance() {
        let mut ledger = Ledger::default();
        line(&mut ledger, "EMAIL#a", "ana", Side::Fact, 1);
        line(&mut ledger, "EMAIL#a", "bo", Side::Stated, 1);
        assert_eq!(ledger.unbalanced(u64::MAX).len(), 1);
        ledger.close(Book::Count);
        assert!(ledger.unbalanced(u64::MAX).is_empty());
    }

    #[test]
    fn a_second_look_comes_in_portions() {
        let mut ledger = Ledger::default();
        for account in 0..100_u32 {
            line(&mut ledger, &account.to_string(), "", Side::Fact, 1);
        }
        let portions = ledger.unbalanced(10);
        assert!((9..=12).contains(&portions.len()), "{}", portions.len());
        let everywhere = |account: u32| {
            portions
                .iter()
                .filter(|some| some.has(Book::Count, place(&account.to_string())))
                .count()
        };
        assert!((0..100).all(|account| everywhere(account) == 1));
        let balanced = Ledger::default();
        assert!(balanced.unbalanced(10).is_empty());
    }

    #[test]
    fn what_is_suspected_is_looked_at() {
        let mut ledger = Ledger::default();
        ledger.suspect(Book::Stream, place("x"));
        assert!(ledger.unbalanced(10)[0].has(Book::Stream, place("x")));
    }
}
