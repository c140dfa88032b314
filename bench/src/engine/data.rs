//! The data: activities with two index keys, and small feed items, the same in every run.

use std::fmt::Write;
use std::ops::Range;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_table::{Item, KeyDefinition, TableDefinition, item};

/// The size of an activity by DynamoDB's rules.
pub(crate) const ACTIVITY_BYTES: usize = 434;
/// The size of a feed item by DynamoDB's rules.
const FEED_BYTES: usize = 200;
/// The size of an activity without its text.
const ACTIVITY_FRAME_BYTES: usize = 344;
/// The size of a feed item without its text.
const FEED_FRAME_BYTES: usize = 166;
const ACTIVITIES_PER_ACTOR: u64 = 100;
/// Followers whose feeds a burst reaches.
const FOLLOWERS: u64 = 100_000;
/// The time of the first activity.
const EPOCH_MS: u64 = 1_760_000_000_000;

/// The table of every subject, with DynamoDB's types.
pub(crate) fn definition() -> TableDefinition {
    TableDefinition::new("bench", KeyDefinition::texts("PK", "SK"))
        .with_index("GSI1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
        .with_index("GSI2", KeyDefinition::texts("GSI2PK", "GSI2SK"))
        .with_stream()
}

/// The key of an item.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) partition: String,
    pub(crate) sort: String,
}

/// A numbered town of activities: number `n` is always the same activity, rising in time and
/// scattered over the actors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Town {
    actors: u64,
    items: u64,
}

impl Town {
    /// A town that begins with `items` activities.
    pub(crate) const fn of(items: u64) -> Self {
        let actors = items / ACTIVITIES_PER_ACTOR;
        Self { actors: if actors == 0 { 1 } else { actors }, items }
    }

    /// The activities it begins with.
    pub(crate) const fn first(&self) -> Range<u64> {
        0..self.items
    }

    const fn actor(&self, number: u64) -> u64 {
        scatter(number) % self.actors
    }

    pub(crate) fn activity(&self, number: u64) -> Item {
        let at_ms = time_ms(number);
        let actor = self.actor(number);
        let (author, id) = (ulid(0, actor), ulid(at_ms, number));
        let post = ulid(at_ms, !number);
        let day = at_ms / 86_400_000;
        let Address { partition, sort } = address(actor, number);
        let text_bytes = ACTIVITY_BYTES.saturating_sub(ACTIVITY_FRAME_BYTES);
        item! {
            "PK" => partition,
            "SK" => sort,
            "GSI1PK" => format!("USER#{author}"),
            "GSI1SK" => format!("POST#{at_ms:013}#{id}"),
            "GSI2PK" => format!("TIMELINE#{day:05}"),
            "GSI2SK" => format!("{at_ms:013}#{id}"),
            "actorId" => author,
            "createdAt" => format!("{at_ms:013}"),
            "objectId" => post,
            "previewText" => words(number, text_bytes),
            "verb" => "post",
        }
    }

    /// Activities written after the first ones, built ahead so that no subject is timed for it.
    pub(crate) fn later(&self, skip: u64, count: u64) -> Vec<Item> {
        let from = self.items + skip;
        (from..from + count).map(|number| self.activity(number)).collect()
    }

    pub(crate) fn address(&self, number: u64) -> Address {
        address(self.actor(number), number)
    }

    /// Returns the addresses of random initial activities.
    pub(crate) fn addresses(&self, seed: u64, count: usize) -> Vec<Address> {
        let mut random = SmallRng::seed_from_u64(seed);
        (0..count).map(|_| self.address(random.random_range(0..self.items))).collect()
    }

    pub(crate) fn partitions(&self, seed: u64, count: usize) -> Vec<String> {
        let mut random = SmallRng::seed_from_u64(seed);
        (0..count).map(|_| partition(random.random_range(0..self.actors))).collect()
    }
}

/// Feed items for random followers, as a burst of fan-out writes them.
pub(crate) fn feed_items(seed: u64, count: u64) -> Vec<Item> {
    let mut random = SmallRng::seed_from_u64(seed);
    let build = |number: u64| {
        let at_ms = time_ms(seed * 1_000_000 + number);
        let id = ulid(at_ms, number);
        let follower = ulid(1, random.random_range(0..FOLLOWERS));
        item! {
            "PK" => format!("FEED#{follower}"),
            "SK" => format!("TS#{at_ms:013}#{id}"),
            "activityId" => id,
            "actorId" => ulid(0, scatter(number)),
            "previewText" => words(number, FEED_BYTES.saturating_sub(FEED_FRAME_BYTES)),
            "verb" => "post",
        }
    };
    (0..count).map(build).collect()
}

fn address(actor: u64, number: u64) -> Address {
    let at_ms = time_ms(number);
    let sort = format!("TS#{at_ms:013}#{}", ulid(at_ms, number));
    Address { partition: partition(actor), sort }
}

fn partition(actor: u64) -> String {
    format!("ACTIVITY#{}", ulid(0, actor))
}

const fn time_ms(number: u64) -> u64 {
    EPOCH_MS + number * 37
}

/// A bijection that spreads numbers evenly over 64 bits.
const fn scatter(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// An id of 26 characters that sorts by time.
fn ulid(at_ms: u64, number: u64) -> String {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let bits = (u128::from(at_ms) << 80) | u128::from(scatter(number));
    let digit = |at: u32| {
        let index = usize::try_from((bits >> (at * 5)) & 31).unwrap_or_default();
        DIGITS.get(index).copied().map_or('0', char::from)
    };
    (0..26).rev().map(digit).collect()
}

/// Incompressible text of `bytes` bytes.
fn words(number: u64, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 16);
    let mut word = number;
    while text.len() < bytes {
        word = scatter(word.wrapping_add(1));
        // Writing to a string cannot fail.
        let _ = write!(text, "{word:x} ");
    }
    text.truncate(bytes);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_their_sizes() {
        let town = Town::of(1000);
        assert_eq!(town.activity(0).size(), ACTIVITY_BYTES);
        assert_eq!(town.activity(999_999).size(), ACTIVITY_BYTES);
        assert_eq!(feed_items(3, 10).iter().map(Item::size).max(), Some(FEED_BYTES));
    }

    #[test]
    fn an_address_finds_its_activity() {
        let town = Town::of(1000);
        let (item, address) = (town.activity(7), town.address(7));
        assert_eq!(item.text("PK"), Some(address.partition.as_str()));
        assert_eq!(item.text("SK"), Some(address.sort.as_str()));
        assert_eq!(definition().check(), Ok(()));
    }
}
