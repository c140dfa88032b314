use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

impl Weighed for u32 {
    fn bytes(&self) -> usize {
        100
    }
}

type Numbers = Known<char, u32>;

#[expect(clippy::unnecessary_wraps, reason = "what is known may be absence")]
fn value(number: u32) -> Option<Arc<u32>> {
    Some(Arc::new(number))
}

/// What is known: nothing, absence, or a value.
#[expect(clippy::option_option, reason = "to know of absence is not to know nothing")]
fn known(numbers: &Numbers, key: char) -> Option<Option<u32>> {
    numbers.get(&key).map(|value| value.as_deref().copied())
}

fn read(numbers: &mut Numbers, key: char, number: Option<u32>) {
    let ticket = numbers.begin(&key);
    numbers.finish(&key, ticket, number.map(Arc::new));
}

#[test]
fn what_was_read_is_known_and_so_is_absence() {
    let mut numbers = Numbers::new(9);
    read(&mut numbers, 'a', Some(1));
    read(&mut numbers, 'b', None);
    assert_eq!(['a', 'b', 'c'].map(|key| known(&numbers, key)), [Some(Some(1)), Some(None), None]);
}

#[test]
fn a_change_replaces_what_is_known_and_nothing_else() {
    let mut numbers = Numbers::new(9);
    read(&mut numbers, 'a', Some(1));
    assert!(numbers.concerns(&'a') && !numbers.concerns(&'b'));
    numbers.learn(&'a', value(2));
    numbers.learn(&'b', value(3));
    assert_eq!((known(&numbers, 'a'), known(&numbers, 'b')), (Some(Some(2)), None));
    numbers.learn(&'a', None);
    assert_eq!(known(&numbers, 'a'), Some(None));
    numbers.forget(&'a');
    assert_eq!((known(&numbers, 'a'), numbers.figures()), (None, (0, 0)));
}

#[test]
fn a_change_during_a_read_counts_and_the_read_does_not() {
    let mut numbers = Numbers::new(9);
    let ticket = numbers.begin(&'a');
    assert!(numbers.concerns(&'a'));
    numbers.learn(&'a', value(2));
    numbers.finish(&'a', ticket, value(1));
    assert_eq!(known(&numbers, 'a'), Some(Some(2)));
    let ticket = numbers.begin(&'b');
    numbers.forget(&'b');
    numbers.finish(&'b', ticket, value(1));
    let ticket = numbers.begin(&'c');
    numbers.forget_all();
    numbers.finish(&'c', ticket, value(1));
    let ticket = numbers.begin(&'d');
    numbers.abandon(&'d', ticket);
    assert_eq!(['b', 'c', 'd'].map(|key| numbers.concerns(&key)), [false; 3]);
}

#[test]
fn those_nobody_looks_at_make_room() {
    let mut numbers = Numbers::new(2);
    ['a', 'b'].into_iter().for_each(|key| read(&mut numbers, key, Some(1)));
    known(&numbers, 'a');
    read(&mut numbers, 'c', Some(1));
    assert_eq!(['a', 'b', 'c'].map(|key| known(&numbers, key).is_some()), [true, false, true]);
    assert!(Numbers::new(0).is_off());
}

/// What can happen.
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
        let mut unheard: Vec<(char, Option<u32>)> = Vec::new();
        let mut readers: Vec<(char, Ticket, Option<Option<u32>>)> = Vec::new();
        let name = |key: u8| char::from(b'a' + key);
        for step in steps {
            match step {
                Step::Write(key, value) => {
                    match value {
                        Some(value) => table.insert(name(key), value),
                        None => table.remove(&name(key)),
                    };
                    unheard.push((name(key), value));
                }
                Step::Hear(changes) => {
                    for (key, value) in unheard.drain(..changes.min(unheard.len())) {
                        numbers.learn(&key, value.map(Arc::new));
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
                Step::Forget(key) => numbers.forget(&name(key)),
                Step::Look(key) => {
                    for (key, value) in unheard.drain(..) {
                        numbers.learn(&key, value.map(Arc::new));
                    }
                    if let Some(value) = known(&numbers, name(key)) {
                        prop_assert_eq!(value, table.get(&name(key)).copied());
                    }
                }
                Step::Read(_) | Step::Finish(..) => {}
            }
            prop_assert!(numbers.figures().0 <= max);
        }
    }
}
