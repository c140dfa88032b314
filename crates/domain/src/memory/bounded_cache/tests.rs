use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

impl MemorySize for u32 {
    fn bytes(&self) -> usize {
        100
    }
}

type Numbers = BoundedCache<char, u32>;

#[expect(clippy::unnecessary_wraps, reason = "a cached value may be an absence")]
fn value(number: u32) -> Option<Arc<u32>> {
    Some(Arc::new(number))
}

/// The cached state: unknown, absent, or a value.
#[expect(clippy::option_option, reason = "a cached absence differs from an uncached key")]
fn cache(numbers: &Numbers, key: char) -> Option<Option<u32>> {
    numbers.get(&key).map(|value| value.as_deref().copied())
}

fn read(numbers: &mut Numbers, key: char, number: Option<u32>) {
    let ticket = numbers.begin(&key);
    numbers.finish(&key, ticket, number.map(Arc::new));
}

#[test]
fn loaded_values_and_absences_are_cached() {
    let mut numbers = Numbers::new(9);
    read(&mut numbers, 'a', Some(1));
    read(&mut numbers, 'b', None);
    assert_eq!(['a', 'b', 'c'].map(|key| cache(&numbers, key)), [Some(Some(1)), Some(None), None]);
}

#[test]
fn a_change_replaces_a_cached_value_only() {
    let mut numbers = Numbers::new(9);
    read(&mut numbers, 'a', Some(1));
    assert!(numbers.is_tracked(&'a') && !numbers.is_tracked(&'b'));
    numbers.update(&'a', value(2));
    numbers.update(&'b', value(3));
    assert_eq!((cache(&numbers, 'a'), cache(&numbers, 'b')), (Some(Some(2)), None));
    numbers.update(&'a', None);
    assert_eq!(cache(&numbers, 'a'), Some(None));
    numbers.remove(&'a');
    assert_eq!((cache(&numbers, 'a'), numbers.stats()), (None, CacheStats::default()));
}

#[test]
fn a_change_during_a_load_wins_over_the_load() {
    let mut numbers = Numbers::new(9);
    let ticket = numbers.begin(&'a');
    assert!(numbers.is_tracked(&'a'));
    numbers.update(&'a', value(2));
    numbers.finish(&'a', ticket, value(1));
    assert_eq!(cache(&numbers, 'a'), Some(Some(2)));
    let ticket = numbers.begin(&'b');
    numbers.remove(&'b');
    numbers.finish(&'b', ticket, value(1));
    let ticket = numbers.begin(&'c');
    numbers.clear();
    numbers.finish(&'c', ticket, value(1));
    let ticket = numbers.begin(&'d');
    numbers.abandon(&'d', ticket);
    assert_eq!(['b', 'c', 'd'].map(|key| numbers.is_tracked(&key)), [false; 3]);
}

#[test]
fn unused_entries_are_evicted() {
    let mut numbers = Numbers::new(2);
    ['a', 'b'].into_iter().for_each(|key| read(&mut numbers, key, Some(1)));
    cache(&numbers, 'a');
    read(&mut numbers, 'c', Some(1));
    assert_eq!(['a', 'b', 'c'].map(|key| cache(&numbers, key).is_some()), [true, false, true]);
    assert!(Numbers::new(0).is_off());
}

#[derive(Clone, Debug)]
enum Step {
    Write(u8, Option<u32>),
    Hear(usize),
    Begin(u8),
    Read(prop::sample::Index),
    Finish(prop::sample::Index, bool),
    Forget(u8),
    Look(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..4_u8;
    let which = any::<prop::sample::Index>;
    prop_oneof![
        4 => (key(), any::<Option<u32>>()).prop_map(|(key, value)| Step::Write(key, value)),
        3 => (1..4_usize).prop_map(Step::Hear),
        4 => key().prop_map(Step::Begin),
        4 => which().prop_map(Step::Read),
        4 => (which(), prop::bool::weighted(0.9)).prop_map(|(which, done)| Step::Finish(which, done)),
        1 => key().prop_map(Step::Forget),
        4 => key().prop_map(Step::Look),
    ]
}

proptest! {
    #[test]
    fn whatever_is_known_is_so(
        steps in prop::collection::vec(step(), 1..150),
        max in 1..6_usize,
    ) {
        let mut numbers = Numbers::new(max);
        let mut table: BTreeMap<char, u32> = BTreeMap::new();
        let mut unapplied: Vec<(char, Option<u32>)> = Vec::new();
        let mut readers: Vec<(char, LoadTicket, Option<Option<u32>>)> = Vec::new();
        let name = |key: u8| char::from(b'a' + key);
        for step in steps {
            match step {
                Step::Write(key, value) => {
                    match value {
                        Some(value) => table.insert(name(key), value),
                        None => table.remove(&name(key)),
                    };
                    unapplied.push((name(key), value));
                }
                Step::Hear(changes) => {
                    for (key, value) in unapplied.drain(..changes.min(unapplied.len())) {
                        numbers.update(&key, value.map(Arc::new));
                    }
                }
                Step::Begin(key) => readers.push((name(key), numbers.begin(&name(key)), None)),
                Step::Read(which) if !readers.is_empty() => {
                    let which = which.index(readers.len());
                    readers[which].2 = Some(table.get(&readers[which].0).copied());
                }
                Step::Finish(which, is_done) if !readers.is_empty() => {
                    let (key, ticket, read) = readers.remove(which.index(readers.len()));
                    match read.filter(|_| is_done) {
                        Some(value) => numbers.finish(&key, ticket, value.map(Arc::new)),
                        None => numbers.abandon(&key, ticket),
                    }
                }
                Step::Forget(key) => numbers.remove(&name(key)),
                Step::Look(key) => {
                    for (key, value) in unapplied.drain(..) {
                        numbers.update(&key, value.map(Arc::new));
                    }
                    if let Some(value) = cache(&numbers, name(key)) {
                        prop_assert_eq!(value, table.get(&name(key)).copied());
                    }
                }
                Step::Read(_) | Step::Finish(..) => {}
            }
            prop_assert!(numbers.stats().entries <= max);
        }
    }
}
