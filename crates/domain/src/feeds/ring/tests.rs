use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::entry::written;
use super::*;

fn entry(actor: &str, ms: u64, nth: usize) -> Arc<Entry> {
    Arc::new(written(actor, ms, nth))
}

fn filled(max: usize, entries: &[Arc<Entry>]) -> Ring {
    let mut ring = Ring::new(max);
    let ticket = ring.begin_filling();
    ring.fill(ticket, Gathering::new(max).done());
    entries.iter().for_each(|entry| ring.insert(entry));
    ring
}

fn walked(ring: &Ring, below: Option<&Place>, wanted: usize, budget: usize) -> Option<Walked> {
    ring.walk(below, wanted, budget, |_| true)
}

#[test]
fn before_it_is_filled_it_says_nothing() {
    let mut ring = Ring::new(10);
    ring.insert(&entry("ana", 1, 1));
    assert_eq!(walked(&ring, None, 10, 10), None);
    let ticket = ring.begin_filling();
    ring.fill(ticket, Gathering::new(10).done());
    assert_eq!(walked(&ring, None, 10, 10), Some((vec![entry("ana", 1, 1)], None)));
    ring.forget_all();
    assert_eq!((walked(&ring, None, 10, 10), ring.is_filled()), (None, false));
}

#[test]
fn a_walk_goes_down_and_tells_how_far_it_came() {
    let all: Vec<_> = (1..=5).map(|nth| entry("ana", nth as u64, nth)).collect();
    let ring = filled(10, &all);
    let newest: Vec<_> = all.iter().rev().cloned().collect();
    let place = |nth: usize| Some(all[nth - 1].place.clone());
    assert_eq!(walked(&ring, None, 2, 10), Some((newest[..2].to_vec(), place(4))));
    assert_eq!(walked(&ring, None, 10, 3), Some((newest[..3].to_vec(), place(3))));
    let below = place(3);
    assert_eq!(walked(&ring, below.as_ref(), 1, 10), Some((newest[3..4].to_vec(), place(2))));
    assert_eq!(walked(&ring, below.as_ref(), 9, 10), Some((newest[3..].to_vec(), None)));
    assert_eq!(walked(&ring, place(1).as_ref(), 9, 10), Some((vec![], None)));
    let odd = ring.walk(None, 9, 4, |entry| entry.place.at.ms() % 2 == 1);
    assert_eq!(odd, Some((vec![all[4].clone(), all[2].clone()], place(2))));
}

#[test]
fn when_it_is_full_the_oldest_go_and_it_knows_what_it_no_longer_knows() {
    let all: Vec<_> = (1..=5).map(|nth| entry("ana", nth as u64, nth)).collect();
    let mut ring = filled(3, &all);
    let newest: Vec<_> = all[2..].iter().rev().cloned().collect();
    assert_eq!(walked(&ring, None, 9, 9), Some((newest.clone(), Some(all[2].place.clone()))));
    assert_eq!(walked(&ring, Some(&all[2].place), 9, 9), None);
    // What comes too late for it is left out, and what is removed leaves a gap that is none.
    ring.insert(&all[1]);
    ring.remove(&all[2].place);
    assert_eq!(walked(&ring, None, 9, 9), Some((newest[..2].to_vec(), Some(all[3].place.clone()))));
    let (entries, bytes) = ring.figures();
    assert!(entries == 2 && bytes > 2 * all[0].bytes(), "{bytes}");
}

#[test]
fn what_comes_again_is_there_once() {
    let all = [entry("ana", 1, 1), entry("bo", 1, 2), entry("ana", 1, 1), entry("cleo", 0, 3)];
    let ring = filled(10, &all);
    let expected = vec![all[1].clone(), all[0].clone(), all[3].clone()];
    assert_eq!(walked(&ring, None, 10, 10), Some((expected, None)));
}

#[test]
fn without_room_it_is_never_filled_with_anything() {
    let ring = filled(0, &[entry("ana", 1, 1)]);
    assert_eq!(ring.figures().0, 0);
}

#[test]
fn a_filling_that_others_have_overtaken_does_nothing() {
    let mut ring = Ring::new(10);
    let overtaken = ring.begin_filling();
    let ticket = ring.begin_filling();
    ring.fill(overtaken, Gathering::new(10).done());
    assert!(!ring.is_filled());
    ring.forget_all();
    ring.fill(ticket, Gathering::new(10).done());
    assert!(!ring.is_filled());
}

#[test]
fn what_it_had_no_room_for_while_it_was_filled_is_left_out() {
    let all: Vec<_> = (1..=5).map(|nth| entry("ana", nth as u64, nth)).collect();
    let mut ring = Ring::new(2);
    let ticket = ring.begin_filling();
    let mut gathering = Gathering::new(2);
    gathering.add(Entry::clone(&all[0]));
    all[2..].iter().for_each(|entry| ring.insert(entry));
    ring.remove(&all[3].place);
    ring.fill(ticket, gathering.done());
    // The third was dropped: nothing is said of what is below it.
    assert_eq!(walked(&ring, None, 9, 9), Some((all[4..].to_vec(), Some(all[4].place.clone()))));
}

/// What can happen.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Somebody does something, at this time.
    Make(u8, u64),
    /// One of the activities goes.
    Remove(prop::sample::Index),
    /// The ring hears of so many changes.
    Hear(usize),
    /// Filling begins.
    Begin,
    /// It looks at all of one actor's activities.
    Scan,
    /// Somebody walks down from below one of the activities, or from the top.
    Walk(Option<prop::sample::Index>, usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4_u8, 0..30_u64).prop_map(|(actor, ms)| Step::Make(actor, ms)),
        2 => any::<prop::sample::Index>().prop_map(Step::Remove),
        3 => (1..8_usize).prop_map(Step::Hear),
        1 => Just(Step::Begin),
        6 => Just(Step::Scan),
        4 => (any::<Option<prop::sample::Index>>(), 1..30_usize, 1..40_usize)
            .prop_map(|(below, wanted, budget)| Step::Walk(below, wanted, budget)),
    ]
}

/// A table of all activities, what happened to it that the ring has not heard of, and the ring.
struct World {
    table: BTreeMap<Place, Arc<Entry>>,
    unheard: Vec<(Place, Option<Arc<Entry>>)>,
    made: Vec<Arc<Entry>>,
    ring: Ring,
    scan: Option<(u64, u8, Gathering)>,
}

impl World {
    /// A ring that was made after all this had happened.
    fn new(max: usize, before: Vec<(u8, u64)>) -> Self {
        let (table, ring) = (BTreeMap::new(), Ring::new(max));
        let mut world = Self { table, unheard: Vec::new(), made: Vec::new(), ring, scan: None };
        before.into_iter().for_each(|(actor, ms)| world.take(Step::Make(actor, ms)));
        world.unheard.clear();
        world
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Make(actor, ms) => {
                let entry = entry(&format!("actor{actor}"), ms, self.made.len());
                self.table.insert(entry.place.clone(), Arc::clone(&entry));
                self.unheard.push((entry.place.clone(), Some(Arc::clone(&entry))));
                self.made.push(entry);
            }
            Step::Remove(which) if !self.made.is_empty() => {
                let place = which.get(&self.made).place.clone();
                if self.table.remove(&place).is_some() {
                    self.unheard.push((place, None));
                }
            }
            Step::Hear(changes) => self.hear(changes),
            Step::Begin => {
                self.hear(usize::MAX);
                self.scan = Some((self.ring.begin_filling(), 0, Gathering::new(self.ring.max)));
            }
            Step::Scan => self.scan(),
            Step::Walk(below, wanted, budget) => self.walk(below, wanted, budget),
            Step::Remove(_) => {}
        }
    }

    fn hear(&mut self, changes: usize) {
        for (place, entry) in self.unheard.drain(..changes.min(self.unheard.len())) {
            match entry {
                Some(entry) => self.ring.insert(&entry),
                None => self.ring.remove(&place),
            }
        }
    }

    fn scan(&mut self) {
        let Some((ticket, actor, mut gathering)) = self.scan.take() else { return };
        let name = format!("actor{actor}").parse().unwrap();
        for entry in self.table.values().filter(|entry| entry.actor_id == name) {
            gathering.add(Entry::clone(entry));
        }
        if actor < 3 {
            self.scan = Some((ticket, actor + 1, gathering));
        } else {
            self.ring.fill(ticket, gathering.done());
        }
    }

    /// Everything it says is so, once it has heard of everything.
    fn walk(&mut self, below: Option<prop::sample::Index>, wanted: usize, budget: usize) {
        self.hear(usize::MAX);
        let below = below.filter(|_| !self.made.is_empty());
        let below = below.map(|below| below.get(&self.made).place.clone());
        let is_mine = |entry: &Entry| !entry.place.at.ms().is_multiple_of(3);
        let Some((entries, down_to)) = self.ring.walk(below.as_ref(), wanted, budget, is_mine)
        else {
            let knows = self.ring.is_filled() && self.ring.floor.is_none();
            assert!(!knows, "it could have told");
            return;
        };
        let fits = |place: &&Place| {
            below.as_ref().is_none_or(|below| *place < below)
                && down_to.as_ref().is_none_or(|down_to| *place >= down_to)
        };
        let looked = self.table.keys().rev().filter(fits);
        let expected: Vec<_> = looked.clone().map(|place| &self.table[place]).collect();
        let mine: Vec<_> = expected.iter().filter(|entry| is_mine(entry)).copied().collect();
        assert_eq!(entries.iter().collect::<Vec<_>>(), mine);
        assert!(entries.len() <= wanted && looked.count() <= budget);
        let is_below = |place: &Place| below.as_ref().is_none_or(|below| place < below);
        assert!(down_to.as_ref().is_none_or(is_below), "it leads further down");
    }
}

proptest! {
    #[test]
    fn whatever_it_tells_is_so(
        max in 1..12_usize,
        before in prop::collection::vec((0..4_u8, 0..30_u64), 0..20),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut world = World::new(max, before);
        steps.into_iter().for_each(|step| world.take(step));
        world.walk(None, 100, 100);
        let bytes: usize = world.ring.slots.iter().map(|slot| slot.entry.bytes()).sum();
        prop_assert_eq!(world.ring.bytes, bytes);
    }

    #[test]
    fn the_latest_are_gathered_from_any_order(
        times in prop::collection::vec(0..50_u64, 0..80),
        max in 0..30_usize,
    ) {
        let mut gathering = Gathering::new(max);
        let all: Vec<_> = times.iter().enumerate().map(|(nth, ms)| written("ana", *ms, nth)).collect();
        all.iter().for_each(|entry| gathering.add(entry.clone()));
        let gathered = gathering.done();
        let mut places: Vec<_> = all.into_iter().map(|entry| entry.place).collect();
        places.sort();
        let left_out = places.len().saturating_sub(max);
        let kept: Vec<_> = gathered.slots.iter().map(|slot| slot.entry.place.clone()).collect();
        prop_assert_eq!(&kept, &places[left_out..]);
        prop_assert_eq!(gathered.floor.as_ref(), places[..left_out].last());
    }
}
