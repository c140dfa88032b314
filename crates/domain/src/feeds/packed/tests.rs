use std::collections::BTreeMap;

use proptest::prelude::*;
use roundtable_model::entities::Activity;
use roundtable_model::table::ManualClock;
use roundtable_model::{IdGenerator, samples};

use super::*;

/// Activities of one actor: most fit into a record; some have a text id, are in a group, about a
/// comment, or have an id of another time.
fn activity(ms: u64, nth: usize, variant: u8) -> CachedActivity {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&nth.to_le_bytes());
    let ids = IdGenerator::new(Arc::new(ManualClock::at_ms(ms)), seed);
    let mut activity = Activity {
        actor_id: "ana".parse().unwrap(),
        activity_id: ids.next_at(Time::from_ms(ms)),
        object_id: ids.next_at(Time::from_ms(ms / 2)),
        created_at: Time::from_ms(ms),
        fanout: nth.is_multiple_of(2),
        ..samples::activity()
    };
    match variant {
        0 => activity.activity_id = format!("text{nth:03}").parse().unwrap(),
        1 => activity.group_id = Some("runners".parse().unwrap()),
        2 => activity.object_type = ObjectType::Comment,
        3 => activity.object_id = "short".parse().unwrap(),
        4 => activity.created_at = Time::from_ms(ms + 1),
        5 => activity.verb = ActivityVerb::Share,
        _ => {}
    }
    CachedActivity::of(&activity)
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64, u8),
    Replace(prop::sample::Index),
    Remove(prop::sample::Index),
    Truncate(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let which = any::<prop::sample::Index>;
    prop_oneof![
        8 => (1..20_u64, 0..12_u8).prop_map(|(ms, variant)| Step::Insert(ms, variant)),
        1 => which().prop_map(Step::Replace),
        3 => which().prop_map(Step::Remove),
        1 => (0..20_usize).prop_map(Step::Truncate),
    ]
}

proptest! {
    #[test]
    fn they_are_those_of_an_ordered_map(
        start in prop::collection::vec((1..20_u64, 0..12_u8), 0..10),
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let ana: ActorId = "ana".parse().unwrap();
        let mut made = start.len();
        let start = start.into_iter().enumerate();
        let mut map: BTreeMap<FeedPosition, CachedActivity> = start
            .map(|(nth, (ms, variant))| activity(ms, nth, variant))
            .map(|entry| (entry.position.clone(), entry))
            .collect();
        let mut packed = PackedActivities::of(map.values().rev().cloned().collect());
        for step in steps {
            match step {
                Step::Insert(ms, variant) => {
                    made += 1;
                    let entry = activity(ms, made, variant);
                    packed.insert(&Arc::new(entry.clone()));
                    map.insert(entry.position.clone(), entry);
                }
                Step::Replace(which) if !map.is_empty() => {
                    let entry = which.get(&map.values().collect::<Vec<_>>()).to_owned().clone();
                    packed.insert(&Arc::new(entry));
                }
                Step::Remove(which) if !map.is_empty() => {
                    let position = which.get(&map.keys().collect::<Vec<_>>()).to_owned().clone();
                    prop_assert!(packed.remove(&position) && !packed.remove(&position));
                    map.remove(&position);
                }
                Step::Truncate(max) => {
                    packed.truncate(max);
                    while map.len() > max {
                        map.pop_first();
                    }
                }
                Step::Replace(_) | Step::Remove(_) => {}
            }
            let kept: Vec<_> = (0..packed.len()).map(|at| packed.get(at, &ana).unwrap()).collect();
            let expected: Vec<_> = map.values().cloned().map(Arc::new).collect();
            prop_assert_eq!(kept, expected);
            for (place, position) in map.keys().enumerate() {
                prop_assert_eq!(packed.count_below(position), place);
                prop_assert_eq!(packed.position_at(place), Some(position.clone()));
            }
            prop_assert_eq!(packed.newest(), map.keys().last().map(|position| position.at));
            prop_assert_eq!(packed.oldest(), map.keys().next().cloned());
        }
        packed.truncate(0);
        prop_assert_eq!(packed.bytes(), 0);
    }
}

#[test]
fn most_activities_take_33_bytes() {
    let newest = (1..=100).rev().map(|ms| activity(ms, 7, 9)).collect();
    assert_eq!(PackedActivities::of(newest).bytes(), 3_300);
}
