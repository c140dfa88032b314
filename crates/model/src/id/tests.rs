use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::thread;

use proptest::prelude::*;
use rand::Rng;
use rand::rngs::SmallRng;
use roundtable_table::{ManualClock, Value, item};

use super::*;
use crate::attribute::{Attribute, Sample, round_trips, sample_of, seeded};
use crate::part::key_text;

const CHARS: &[u8] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
const ULID: &str = "01JJM5E3S0PQ0M3ZJ5Y3W4YQZC";

impl Sample for Id {
    fn sample(random: &mut SmallRng) -> Self {
        match random.random_range(0..6) {
            0 => sample_of(random, CHARS, 1, 64).parse().unwrap(),
            1 => sample_of(random, CHARS, 26, 26).parse().unwrap(),
            2 => Ulid(random.random()).to_string().to_lowercase().parse().unwrap(),
            _ => Id::of_ulid(Ulid(random.random())),
        }
    }
}

fn id(text: &str) -> Id {
    text.parse().unwrap()
}

fn refused(text: &str) -> String {
    text.parse::<Id>().unwrap_err().found
}

fn is_ulid(id: &Id) -> bool {
    matches!(id.0, IdRepr::Ulid(_))
}

#[test]
fn ids_that_do_not_fit_into_keys_are_refused() {
    assert_eq!(refused("a#b"), "`#` in \"a#b\"");
    assert_eq!(refused("a b"), "` ` in \"a b\"");
    assert_eq!(refused("é"), "`é` in \"é\"");
    assert_eq!(refused("a\0"), "the control character U+0000 in \"a\\u{0}\"");
    assert_eq!(refused(""), "an empty text");
    assert_eq!(refused(&"x".repeat(65)), "65 characters");
    assert!("x".repeat(64).parse::<Id>().is_ok());
    let error = "#".parse::<UserId>().unwrap_err();
    let message = "expected an id of 1 to 64 letters, digits, `-` or `_`, found `#` in \"#\"";
    assert_eq!(error.to_string(), message);
}

#[test]
fn only_canonical_ulids_are_stored_as_bytes() {
    assert!(is_ulid(&id(ULID)));
    assert!(is_ulid(&id("7ZZZZZZZZZZZZZZZZZZZZZZZZZ")));
    // Lower case, above the largest, with letters that decode as digits, too short, too long.
    for text in [
        "01jjm5e3s0pq0m3zj5y3w4yqzc",
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "OIJJM5E3S0PQ0M3ZJ5Y3W4YQZC",
        "01JJM5E3S0PQ0M3ZJ5Y3W4YQZ",
        "01JJM5E3S0PQ0M3ZJ5Y3W4YQZCC",
        "01JJM5E3S0-PQ0M3ZJ5Y3W4YQZ",
    ] {
        assert!(!is_ulid(&id(text)), "{text}");
        assert_eq!(id(text).to_string(), text);
    }
}

#[test]
fn a_ulid_contains_its_time() {
    let time = Time::from_ms(1_737_991_800_000);
    assert_eq!(Id::of_ulid(Ulid::from_parts(time.ms(), 7)).time(), Some(time));
    assert_eq!(id("ana").time(), None);
    assert_eq!(id("7ZZZZZZZZZZZZZZZZZZZZZZZZZ").time(), None); // in the year 10889
}

#[test]
fn ids_of_users_and_groups_convert_to_actor_ids() {
    let (user, group): (UserId, GroupId) = (ULID.parse().unwrap(), "makers".parse().unwrap());
    assert_eq!(ActorId::from(&user).to_string(), ULID);
    assert_eq!(ActorId::from(group.clone()), "makers".parse().unwrap());
    assert_eq!(ActorId::from(&group).recast::<GroupId>(), group);
    let post: PostId = ULID.parse().unwrap();
    assert_eq!(CaseId::from(&post).to_string(), SubjectId::from(post).to_string());
}

#[test]
fn ids_are_text_outside_the_program() {
    let user: UserId = ULID.parse().unwrap();
    assert_eq!((user.to_string(), format!("{user:?}")), (ULID.into(), ULID.into()));
    assert_eq!(format!("[{:>5}]", id("ana")), "[  ana]");
    assert_eq!(user.to_value(), Some(Value::from(ULID)));
    assert_eq!((UserId::KIND, <Vec<UserId>>::KIND), ("UserId", "list of UserId"));
    let refused = UserId::from_value(item! { "x" => 5 }.get("x")).unwrap_err();
    assert_eq!(refused.to_string(), "expected UserId, found 5");
    assert_eq!(serde_json::to_string(&user).unwrap(), format!("\"{ULID}\""));
    assert_eq!(serde_json::from_str::<UserId>(&format!("\"{ULID}\"")).unwrap(), user);
    assert!(serde_json::from_str::<UserId>("\"a#b\"").is_err());
    assert_eq!(UserId::try_from(ULID), Ok(user));
}

#[test]
fn new_ids_increase_even_if_the_clock_steps_back() {
    let clock = Arc::new(ManualClock::at_ms(1_000));
    let ids = IdGenerator::new(clock.clone(), [7; 32]);
    let mut last: PostId = ids.next();
    assert_eq!(last.time(), Some(Time::from_ms(1_000)));
    for step in 0..3_000_u64 {
        match step % 5 {
            0 => clock.advance_ms(1),
            1 => clock.set_ms(step / 2),
            2 => drop(ids.next_at::<PostId>(Time::from_ms(step * 3))),
            _ => {}
        }
        let next = ids.next();
        assert!(last < next && last.to_string() < next.to_string(), "{last} {next}");
        last = next;
    }
    clock.set_ms(u64::MAX);
    assert_eq!(ids.next::<PostId>().time(), Some(Time::MAX));
}

#[test]
fn ids_can_be_generated_for_a_time() {
    let ids = IdGenerator::new(Arc::new(ManualClock::at_ms(1_000)), [7; 32]);
    let (early, late) = (Time::from_ms(5), Time::from_ms(9_000));
    let first: ActivityId = ids.next_at(early);
    let other: ActivityId = ids.next_at(late);
    let second: ActivityId = ids.next_at(early);
    assert_eq!(
        [&first, &other, &second].map(ActivityId::time),
        [Some(early), Some(late), Some(early)]
    );
    assert!(first < second && second < other);
    // It does not affect ids of the current time.
    assert_eq!(ids.next::<ActivityId>().time(), Some(Time::from_ms(1_000)));
}

#[test]
fn equal_seeds_give_equal_ids_and_the_system_gives_random_ones() {
    let clock = Arc::new(ManualClock::at_ms(1_000));
    let three = |ids: IdGenerator| [ids.next::<Id>(), ids.next(), ids.next_at(Time::EPOCH)];
    let seeded = |seed| three(IdGenerator::new(clock.clone(), [seed; 32]));
    assert_eq!(seeded(1), seeded(1));
    assert_ne!(seeded(1), seeded(2));
    let random = || three(IdGenerator::from_os(clock.clone()).unwrap());
    assert_ne!(random(), random());
    assert!(!format!("{:?}", IdGenerator::new(clock.clone(), [1; 32])).contains("count"));
}

#[test]
fn threads_never_get_the_same_id() {
    let ids = IdGenerator::new(Arc::new(ManualClock::at_ms(1_000)), [7; 32]);
    let all: Vec<Id> = thread::scope(|scope| {
        let make = || (0..1_000).map(|_| ids.next()).collect::<Vec<Id>>();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
        let made = threads.into_iter().map(|thread| thread.join().unwrap());
        made.inspect(|ids| assert!(ids.is_sorted())).flatten().collect()
    });
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4_000);
}

fn hash(id: &Id) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #[test]
    fn every_id_is_displayed_as_it_was_parsed(text in "[A-Za-z0-9_-]{1,64}", ulid: u128) {
        for text in [text, Ulid(ulid).to_string()] {
            let id = id(&text);
            prop_assert_eq!(id.to_string(), text.as_str());
            prop_assert_eq!(key_text(&id), text.as_str());
            prop_assert_eq!(&id, &text.parse().unwrap());
            prop_assert_eq!(hash(&id), hash(&text.parse().unwrap()));
        }
    }

    #[test]
    fn ids_sort_like_their_text(seed: u64) {
        let random = &mut seeded(seed);
        let (one, other) = (Id::sample(random), Id::sample(random));
        prop_assert_eq!(one.cmp(&other), one.to_string().cmp(&other.to_string()));
        prop_assert_eq!(one == other, one.to_string() == other.to_string());
        // Nearly equal, and of both representations.
        let near = id(&format!("{}_", one.to_string().chars().take(25).collect::<String>()));
        prop_assert_eq!(one.cmp(&near), one.to_string().cmp(&near.to_string()));
    }

    #[test]
    fn all_other_texts_are_refused(text in "\\PC{0,70}") {
        let fits = (1..=64).contains(&text.len()) && text.bytes().all(|byte| CHARS.contains(&byte));
        prop_assert_eq!(text.parse::<Id>().is_ok(), fits);
    }

    #[test]
    fn stored_values_read_back(seed: u64) {
        let random = &mut seeded(seed);
        let id = round_trips::<Id>(random)?;
        prop_assert!(key_text(&id).len() <= Id::BYTES_MAX);
        round_trips::<UserId>(random)?;
        round_trips::<Vec<TaskId>>(random)?;
        round_trips::<Option<GroupId>>(random)?;
    }
}
