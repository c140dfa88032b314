use proptest::prelude::*;
use rand::Rng;
use rand::rngs::SmallRng;
use roundtable_table::item;

use super::*;
use crate::attribute::{Sample, round_trips, seeded};

impl Sample for Shard {
    fn sample(random: &mut SmallRng) -> Self {
        let number = if random.random() { 0 } else { random.random_range(0..Shards::MAX.0) };
        Self(number)
    }
}

impl Sample for Shards {
    fn sample(random: &mut SmallRng) -> Self {
        if random.random() { Self::ONE } else { Self(random.random_range(1..=Self::MAX.0)) }
    }
}

impl Sample for Score {
    fn sample(random: &mut SmallRng) -> Self {
        Self::new(u64::sample(random))
    }
}

fn suffix(shard: u16) -> String {
    let mut key = String::new();
    Shard::new(shard).unwrap().write_suffix(&mut key);
    key
}

#[test]
fn the_first_shard_has_no_suffix() {
    assert_eq!(
        [0, 1, 9, 10, 100, 305, 999].map(suffix),
        ["", "#1", "#9", "#10", "#100", "#305", "#999"]
    );
}

// Stored keys depend on these: a change of the hash would lose items.
#[test]
fn the_hash_is_stable() {
    assert_eq!(stable_hash(""), 0xefd0_1f60_ba99_2926);
    assert_eq!(stable_hash("a"), 0x82a2_a958_a9be_ce5b);
    let shards = |text| [1, 4, 10, 1000].map(|n| Shard::of(text, Shards::new(n).unwrap()).0);
    assert_eq!(shards(""), [0, 2, 2, 342]);
    assert_eq!(shards("a"), [0, 3, 5, 315]);
    assert_eq!(shards("01JJM5E3S0PQ0M3ZJ5Y3W4YQZC"), [0, 3, 5, 395]);
    assert_eq!(shards("Ünïcode #%"), [0, 3, 3, 763]);
}

#[test]
fn neighbouring_ids_spread_over_all_shards() {
    let shards = Shards::new(16).unwrap();
    let mut counts = [0_u32; 16];
    for n in 0..16_000 {
        let id = format!("01JJM5E3S0PQ0M3ZJ5Y3{n:06}");
        counts[usize::from(Shard::of(&id, shards).0)] += 1;
    }
    assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
}

#[test]
fn shard_numbers_are_bounded() {
    assert!(Shards::new(0).is_err() && Shards::new(1001).is_err() && Shard::new(1000).is_err());
    assert_eq!(Shards::new(1), Ok(Shards::ONE));
    assert_eq!(Shards::new(3).unwrap().iter().map(Shard::number).collect::<Vec<_>>(), [0, 1, 2]);
    let refused = Shard::from_value(item! { "x" => 1000 }.get("x")).unwrap_err();
    assert_eq!(refused.to_string(), "expected a shard from 0 to 999, found 1000");
    let refused = Shards::from_value(item! { "x" => 100_000 }.get("x")).unwrap_err();
    assert_eq!(refused.to_string(), "expected 1 to 1000 shards, found 100000");
    let refused = Score::from_value(item! { "x" => 1_000_000_000_000_u64 }.get("x")).unwrap_err();
    let message = "expected a score of at most 12 digits, found 1000000000000";
    assert_eq!(refused.to_string(), message);
}

#[test]
fn scores_are_padded_and_saturate() {
    assert_eq!(key_text(&Score::new(42)), "000000000042");
    assert_eq!(key_text(&Score::new(u64::MAX)), "999999999999");
    assert_eq!(key_text(&&Score::default()), "000000000000");
}

#[test]
fn spans_are_half_open() {
    let holds = |span: Span<u8>| [1, 2, 3, 4].map(|n| span.contains(&n));
    assert_eq!(holds(Span::ALL), [true; 4]);
    assert_eq!(holds(Span::since(2)), [false, true, true, true]);
    assert_eq!(holds(Span::until(3)), [true, true, false, false]);
    assert_eq!(holds(Span::between(2, 4)), [false, true, true, false]);
}

proptest! {
    #[test]
    fn scores_sort_like_their_keys(one: u64, other: u64, small in 0..2000_u64) {
        for (one, other) in [(one, other), (small, one), (small, other % 2000)] {
            let (one, other) = (Score::new(one), Score::new(other));
            prop_assert_eq!(key_text(&one).len(), Score::BYTES_MAX);
            prop_assert_eq!(key_text(&one).cmp(&key_text(&other)), one.cmp(&other));
        }
    }

    #[test]
    fn a_shard_is_one_of_its_shards(text: String, count in 1..=1000_u16) {
        let shards = Shards::new(count).unwrap();
        prop_assert!(shards.iter().any(|shard| shard == Shard::of(&text, shards)));
    }

    #[test]
    fn stored_values_read_back(seed: u64) {
        let random = &mut seeded(seed);
        round_trips::<Shards>(random)?;
        round_trips::<Score>(random)?;
        let shard = round_trips::<Shard>(random)?;
        prop_assert!(suffix(shard.0).len() <= Shard::SUFFIX_BYTES_MAX);
    }
}
