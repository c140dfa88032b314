//! Random values for property tests, with edge cases more often than by chance.

use std::fmt::Debug;

use proptest::prelude::*;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use roundtable_table::ItemBuilder;

use crate::attribute::{Attribute, Expiry, InvalidValue, Json, Percentage, Secret};
use crate::time::Time;

/// A type with random values for tests.
pub(crate) trait Sample: Sized {
    fn sample(random: &mut SmallRng) -> Self;
}

/// Returns the random number generator of one test case.
pub(crate) fn seeded(seed: u64) -> SmallRng {
    SmallRng::seed_from_u64(seed)
}

/// Checks that a random value survives being stored.
pub(crate) fn round_trips<T>(random: &mut SmallRng) -> Result<T, TestCaseError>
where
    T: Attribute + Sample + PartialEq + Debug,
{
    let sample = T::sample(random);
    let mut item = ItemBuilder::new();
    sample.fill(item.slot("x"));
    let item = item.build();
    prop_assert!(T::OPTIONAL || !item.is_empty(), "{sample:?} is written as absent");
    let read = T::from_value(item.get("x"));
    prop_assert_eq!(read.as_ref(), Ok::<_, &InvalidValue>(&sample));
    Ok(sample)
}

/// Returns up to `chars_max` characters without control characters; sometimes empty, often full.
pub(crate) fn sample_text(random: &mut SmallRng, chars_max: usize) -> String {
    const AWKWARD: &[char] =
        &['#', '%', '@', '/', ' ', '"', 'ß', 'Σ', 'ς', 'İ', 'ﬁ', '＃', 'é', '日', '😀', '\u{200b}'];
    let chars = match random.random_range(0..8) {
        0 => 0,
        1 => chars_max,
        2..5 => random.random_range(0..=chars_max),
        _ => random.random_range(0..=chars_max.min(12)),
    };
    (0..chars)
        .map(|_| match random.random_range(0..4) {
            0 => AWKWARD.choose(random).copied().unwrap_or('#'),
            _ => char::from(random.random_range(b' '..=b'~')),
        })
        .collect()
}

/// Returns a text of these characters, with a length from `min` to `max`.
pub(crate) fn sample_of(random: &mut SmallRng, chars: &[u8], min: usize, max: usize) -> String {
    let length = *[min, max, random.random_range(min..=max)].choose(random).unwrap_or(&min);
    (0..length).filter_map(|_| chars.choose(random).copied().map(char::from)).collect()
}

impl Sample for String {
    fn sample(random: &mut SmallRng) -> Self {
        let mut text = sample_text(random, 200);
        if random.random_ratio(1, 8) {
            text.extend(['\0', '\n', '\u{7f}']);
        }
        text
    }
}

impl Sample for bool {
    fn sample(random: &mut SmallRng) -> Self {
        random.random()
    }
}

macro_rules! sample_whole {
    ($($name:ty),*) => {$(
        impl Sample for $name {
            fn sample(random: &mut SmallRng) -> Self {
                match random.random_range(0..6) {
                    0 => Self::MIN,
                    1 => Self::MAX,
                    2 => random.random(),
                    _ => random.random_range(0..1000),
                }
            }
        }
    )*};
}

sample_whole!(u16, u32, u64, i64);

impl Sample for Percentage {
    fn sample(random: &mut SmallRng) -> Self {
        let share = match random.random_range(0..4) {
            0 => *[0.0, 1e-130, 0.1, 100.0].choose(random).unwrap_or(&1.0),
            1 => f64::from(random.random_range(0..=100)),
            2 => random.random_range(0.1..1.0) * 10_f64.powi(random.random_range(-100..=2)),
            _ => random.random_range(0.0..=100.0),
        };
        Percentage::new(share).expect("from 0 to 100")
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(random: &mut SmallRng) -> Self {
        random.random_ratio(2, 3).then(|| T::sample(random))
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(random: &mut SmallRng) -> Self {
        (0..random.random_range(0..5)).map(|_| T::sample(random)).collect()
    }
}

impl Sample for Json {
    fn sample(random: &mut SmallRng) -> Self {
        let text = String::sample(random);
        let number = random.random::<i32>();
        let sample = match random.random_range(0..4) {
            0 => Json::encode(&()),
            1 => Json::encode(&text),
            2 => Json::encode(&vec![number; 3]),
            _ => Json::encode(&serde_json::json!({ text: { "deeper": [number, null, true] } })),
        };
        sample.expect("small enough")
    }
}

impl Sample for Expiry {
    fn sample(random: &mut SmallRng) -> Self {
        Expiry::at(Time::sample(random))
    }
}

impl Sample for Secret {
    fn sample(random: &mut SmallRng) -> Self {
        Secret::new(String::sample(random))
    }
}
