use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::cached_activity::written;
use super::*;

fn entry(actor: &str, ms: u64, nth: usize) -> Arc<CachedActivity> {
    Arc::new(written(actor, ms, nth))
}

fn filled(max: usize, entries: &[Arc<CachedActivity>]) -> RecentRing {
    let mut ring = RecentRing::new(max);
    let ticket = ring.begin_filling();
    ring.fill(ticket, RingContents::default());
    entries.iter().for_each(|entry| ring.insert(entry));
    ring
}

fn walked(
    ring: &RecentRing,
    below: Option<&FeedPosition>,
    wanted: usize,
    budget: usize,
) -> Option<Walked> {
    ring.walk(below, wanted, budget, |_| true).map(without_density)
}

/// Matches, and how far down they reach.
type Walked = (Vec<Arc<CachedActivity>>, Option<FeedPosition>);

fn without_density(walk: RingWalk) -> Walked {
    (walk.entries, walk.down_to)
}

/// Contents of these, newest first, that end above a floor.
fn contents(newest: &[Arc<CachedActivity>], floor: Option<&FeedPosition>) -> RingContents {
    let mut contents = RingContents::default();
    newest.iter().for_each(|entry| contents.push_older(Arc::clone(entry)));
    floor.into_iter().for_each(|floor| contents.end_above(floor.clone()));
    contents
}

#[test]
fn an_unfilled_ring_answers_nothing() {
    let mut ring = RecentRing::new(10);
    ring.insert(&entry("ana", 1, 1));
    assert_eq!(walked(&ring, None, 10, 10), None);
    let ticket = ring.begin_filling();
    ring.fill(ticket, RingContents::default());
    assert_eq!(walked(&ring, None, 10, 10), Some((vec![entry("ana", 1, 1)], None)));
    ring.clear();
    assert_eq!((walked(&ring, None, 10, 10), ring.is_filled()), (None, false));
}

#[test]
fn a_walk_returns_matches_and_where_it_ended() {
    let all: Vec<_> = (1..=5).map(|nth| entry("ana", nth as u64, nth)).collect();
    let ring = filled(10, &all);
    let newest: Vec<_> = all.iter().rev().cloned().collect();
    let position = |nth: usize| Some(all[nth - 1].position.clone());
    assert_eq!(walked(&ring, None, 2, 10), Some((newest[..2].to_vec(), position(4))));
    assert_eq!(walked(&ring, None, 10, 3), Some((newest[..3].to_vec(), position(3))));
    let below = position(3);
    assert_eq!(walked(&ring, below.as_ref(), 1, 10), Some((newest[3..4].to_vec(), position(2))));
    assert_eq!(walked(&ring, below.as_ref(), 9, 10), Some((newest[3..].to_vec(), None)));
    assert_eq!(walked(&ring, position(1).as_ref(), 9, 10), Some((vec![], None)));
    let odd = ring.walk(None, 9, 4, |entry| entry.position.at.ms() % 2 == 1).unwrap();
    assert!(odd.is_sparse && !ring.walk(None, 4, 4, |_| true).unwrap().is_sparse);
    assert_eq!(without_density(odd), (vec![all[4].clone(), all[2].clone()], position(2)));
}

#[test]
fn a_full_ring_drops_the_oldest_and_raises_its_floor() {
    let all: Vec<_> = (1..=5).map(|nth| entry("ana", nth as u64, nth)).collect();
    let mut ring = filled(3, &all);
    let newest: Vec<_> = all[2..].iter().rev().cloned().collect();
    assert_eq!(walked(&ring, None, 9, 9), Some((newest.clone(), Some(all[2].position.clone()))));
    assert_eq!(walked(&ring, Some(&all[2].position), 9, 9), None);
    // A late insert below the floor is ignored, and a removal leaves no gap.
    ring.insert(&all[1]);
    ring.remove(&all[2].position);
    assert_eq!(
        walked(&ring, None, 9, 9),
        Some((newest[..2].to_vec(), Some(all[3].position.clone())))
    );
    let (entries, bytes) = ring.stats();
    assert!(entries == 2 && bytes > 2 * all[0].bytes(), "{bytes}");
}

#[test]
fn a_repeated_insert_is_stored_once() {
    let all = [entry("ana", 1, 1), entry("bo", 1, 2), entry("ana", 1, 1), entry("cleo", 0, 3)];
    let ring = filled(10, &all);
    let expected = vec![all[1].clone(), all[0].clone(), all[3].clone()];
    assert_eq!(walked(&ring, None, 10, 10), Some((expected, None)));
}

#[test]
fn a_ring_without_capacity_stays_empty() {
    let ring = filled(0, &[entry("ana", 1, 1)]);
    assert_eq!(ring.stats().0, 0);
}

#[test]
fn an_overtaken_fill_does_nothing() {
    let mut ring = RecentRing::new(10);
    let overtaken = ring.begin_filling();
    let ticket = ring.begin_filling();
    ring.fill(overtaken, RingContents::default());
    assert!(!ring.is_filled());
    ring.clear();
    ring.fill(ticket, RingContents::default());
    assert!(!ring.is_filled());
}

#[test]
fn activities_dropped_during_a_fill_stay_out() {
    let all: Vec<_> = (1..=5).map(|nth| entry("ana", nth as u64, nth)).collect();
    let mut ring = RecentRing::new(2);
    let ticket = ring.begin_filling();
    let collected = contents(&all[..1], None);
    all[2..].iter().for_each(|entry| ring.insert(entry));
    ring.remove(&all[3].position);
    ring.fill(ticket, collected);
    // The third was dropped, so nothing is known below it.
    assert_eq!(walked(&ring, None, 9, 9), Some((all[4..].to_vec(), Some(all[4].position.clone()))));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// An actor has an activity at this time.
    Make(u8, u64),
    Remove(prop::sample::Index),
    /// The ring receives this many changes.
    Apply(usize),
    BeginFill,
    /// The fill reads the next activities down.
    Scan,
    /// A reader walks down from below one of the activities, or from the top.
    Walk(Option<prop::sample::Index>, usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4_u8, 0..30_u64).prop_map(|(actor, ms)| Step::Make(actor, ms)),
        2 => any::<prop::sample::Index>().prop_map(Step::Remove),
        3 => (1..8_usize).prop_map(Step::Apply),
        1 => Just(Step::BeginFill),
        6 => Just(Step::Scan),
        4 => (any::<Option<prop::sample::Index>>(), 1..30_usize, 1..40_usize)
            .prop_map(|(below, wanted, budget)| Step::Walk(below, wanted, budget)),
    ]
}

/// Activities that a fill reads at once.
const SCAN_STEP: usize = 5;

/// A table of all activities, the changes the ring has not received, and the ring.
struct World {
    table: BTreeMap<FeedPosition, Arc<CachedActivity>>,
    unapplied: Vec<(FeedPosition, Option<Arc<CachedActivity>>)>,
    made: Vec<Arc<CachedActivity>>,
    ring: RecentRing,
    scan: Option<(u64, Option<FeedPosition>, RingContents)>,
}

impl World {
    /// A ring created after all these activities.
    fn new(max: usize, before: Vec<(u8, u64)>) -> Self {
        let (table, ring) = (BTreeMap::new(), RecentRing::new(max));
        let mut world = Self { table, unapplied: Vec::new(), made: Vec::new(), ring, scan: None };
        before.into_iter().for_each(|(actor, ms)| world.take(Step::Make(actor, ms)));
        world.unapplied.clear();
        world
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Make(actor, ms) => {
                let entry = entry(&format!("actor{actor}"), ms, self.made.len());
                self.table.insert(entry.position.clone(), Arc::clone(&entry));
                self.unapplied.push((entry.position.clone(), Some(Arc::clone(&entry))));
                self.made.push(entry);
            }
            Step::Remove(which) if !self.made.is_empty() => {
                let position = which.get(&self.made).position.clone();
                if self.table.remove(&position).is_some() {
                    self.unapplied.push((position, None));
                }
            }
            Step::Apply(changes) => self.apply(changes),
            Step::BeginFill => {
                self.apply(usize::MAX);
                self.scan = Some((self.ring.begin_filling(), None, RingContents::default()));
            }
            Step::Scan => self.scan(),
            Step::Walk(below, wanted, budget) => self.walk(below, wanted, budget),
            Step::Remove(_) => {}
        }
    }

    fn apply(&mut self, changes: usize) {
        for (position, entry) in self.unapplied.drain(..changes.min(self.unapplied.len())) {
            match entry {
                Some(entry) => self.ring.insert(&entry),
                None => self.ring.remove(&position),
            }
        }
    }

    fn scan(&mut self) {
        let Some((ticket, below, mut contents)) = self.scan.take() else { return };
        let is_below = |at: &FeedPosition| below.as_ref().is_none_or(|below| at < below);
        let mut rest = self.table.iter().rev().filter(|(at, _)| is_below(at));
        let next: Vec<_> = rest.by_ref().take(SCAN_STEP).collect();
        next.iter().for_each(|(_, entry)| contents.push_older(Arc::clone(entry)));
        let last = next.last().map(|(at, _)| (*at).clone());
        let is_full = contents.len() > self.ring.max;
        match last.filter(|_| rest.next().is_some()) {
            Some(last) if is_full => {
                contents.end_above(last);
                self.ring.fill(ticket, contents);
            }
            Some(last) => self.scan = Some((ticket, Some(last), contents)),
            None => self.ring.fill(ticket, contents),
        }
    }

    /// Everything it returns is correct once it has received all changes.
    fn walk(&mut self, below: Option<prop::sample::Index>, wanted: usize, budget: usize) {
        self.apply(usize::MAX);
        let below = below.filter(|_| !self.made.is_empty());
        let below = below.map(|below| below.get(&self.made).position.clone());
        let is_mine = |entry: &CachedActivity| !entry.position.at.ms().is_multiple_of(3);
        let walk = self.ring.walk(below.as_ref(), wanted, budget, is_mine);
        let Some((entries, down_to)) = walk.map(without_density) else {
            let knows = self.ring.is_filled() && self.ring.floor.is_none();
            assert!(!knows, "it could have told");
            return;
        };
        let fits = |position: &&FeedPosition| {
            below.as_ref().is_none_or(|below| *position < below)
                && down_to.as_ref().is_none_or(|down_to| *position >= down_to)
        };
        let looked = self.table.keys().rev().filter(fits);
        let expected: Vec<_> = looked.clone().map(|position| &self.table[position]).collect();
        let mine: Vec<_> = expected.iter().filter(|entry| is_mine(entry)).copied().collect();
        assert_eq!(entries.iter().collect::<Vec<_>>(), mine);
        assert!(entries.len() <= wanted && looked.count() <= budget);
        let is_below =
            |position: &FeedPosition| below.as_ref().is_none_or(|below| position < below);
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
}
