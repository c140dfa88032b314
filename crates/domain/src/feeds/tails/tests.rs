use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::cached_activity::written;
use super::super::merge::MergedTails;
use super::*;

fn home(name: &str) -> ActorId {
    name.parse().unwrap()
}

/// The newest activities of an actor, at the times 1 to `last`, newest first.
fn newest(name: &str, last: u64, read: usize) -> Vec<CachedActivity> {
    let times = (1..=last).rev().take(read);
    times.map(|ms| written(name, ms, usize::try_from(ms).unwrap())).collect()
}

fn held(tails: &mut Tails, name: &str, last: u64) {
    let ticket = tails.begin(&home(name));
    let read = tails.each_max + 1;
    let newest = newest(name, last, read);
    let is_all = newest.len() < read;
    tails.finish(&home(name), ticket, newest, is_all);
}

fn merged(tails: &Tails, names: &[&str], below: Option<u64>, wanted: usize) -> MergedTails {
    let homes: Vec<_> = names.iter().map(|name| home(name)).collect();
    let below = below.map(|ms| written("anybody", ms, usize::try_from(ms).unwrap()).position);
    tails.merged(&mut homes.iter(), below.as_ref(), wanted, true)
}

fn times(merged: &MergedTails) -> Vec<u64> {
    merged.entries.iter().map(|entry| entry.position.at.ms()).collect()
}

fn down_to(merged: &MergedTails) -> Option<u64> {
    merged.down_to.as_ref().map(|position| position.at.ms())
}

#[test]
fn missing_tails_are_requested_before_anything_is_merged() {
    let mut tails = Tails::new(5, 100);
    held(&mut tails, "ana", 3);
    let merged = merged(&tails, &["ana", "bo"], None, 10);
    assert_eq!(merged.missing, [home("bo")]);
    assert_eq!((times(&merged), merged.exhausted.len()), (vec![], 0));
}

#[test]
fn complete_tails_return_everything() {
    let mut tails = Tails::new(5, 100);
    held(&mut tails, "ana", 3);
    held(&mut tails, "bo", 5);
    held(&mut tails, "cleo", 0);
    let all = merged(&tails, &["ana", "bo", "cleo"], None, 20);
    assert_eq!((times(&all), down_to(&all)), (vec![5, 4, 3, 3, 2, 2, 1, 1], None));
    let some = merged(&tails, &["ana", "bo"], Some(4), 3);
    assert_eq!((times(&some), down_to(&some)), (vec![3, 3, 2], Some(2)));
}

#[test]
fn nothing_below_the_highest_end_is_returned() {
    let mut tails = Tails::new(5, 100);
    held(&mut tails, "ana", 20);
    held(&mut tails, "bo", 9);
    held(&mut tails, "cleo", 3);
    let merged_below = |below| {
        let merged = merged(&tails, &["ana", "bo", "cleo"], below, 20);
        (times(&merged), down_to(&merged), merged.exhausted)
    };
    assert_eq!(merged_below(None), (vec![20, 19, 18, 17, 16], Some(16), vec![]));
    assert_eq!(merged_below(Some(16)), (vec![9, 8, 7, 6, 5], Some(5), vec![home("ana")]));
    let exhausted = vec![home("ana"), home("bo")];
    assert_eq!(merged_below(Some(5)), (vec![3, 2, 1], None, exhausted));
}

#[test]
fn a_tail_follows_its_actor() {
    let mut tails = Tails::new(3, 100);
    held(&mut tails, "ana", 3);
    for ms in [4, 5, 5, 1] {
        let entry = written("ana", ms, usize::try_from(ms).unwrap());
        tails.insert(&home("ana"), &Arc::new(entry));
    }
    let moved = merged(&tails, &["ana"], None, 9);
    assert_eq!((times(&moved), down_to(&moved)), (vec![5, 4, 3], Some(3)));
    tails.remove(&home("ana"), &written("ana", 3, 3).position);
    let moved = merged(&tails, &["ana"], None, 9);
    assert_eq!((times(&moved), down_to(&moved)), (vec![5, 4], Some(3)));
}

#[test]
fn changes_during_a_load_are_not_lost() {
    let mut tails = Tails::new(5, 100);
    let ticket = tails.begin(&home("ana"));
    tails.insert(&home("ana"), &Arc::new(written("ana", 4, 4)));
    tails.remove(&home("ana"), &written("ana", 2, 2).position);
    tails.finish(&home("ana"), ticket, newest("ana", 3, 5), true);
    assert_eq!(times(&merged(&tails, &["ana"], None, 9)), [4, 3, 1]);
}

#[test]
fn a_load_that_began_before_a_gap_does_not_count() {
    let mut tails = Tails::new(5, 100);
    let ticket = tails.begin(&home("ana"));
    tails.clear();
    tails.finish(&home("ana"), ticket, newest("ana", 3, 5), true);
    assert_eq!(merged(&tails, &["ana"], None, 9).missing, [home("ana")]);
    let abandoned = tails.begin(&home("ana"));
    tails.abandon(&home("ana"), abandoned);
    assert!(!tails.is_loading(&home("ana")));
}

#[test]
fn unused_tails_are_evicted() {
    let mut tails = Tails::new(5, 12);
    held(&mut tails, "ana", 5);
    held(&mut tails, "bo", 5);
    merged(&tails, &["ana"], None, 1);
    held(&mut tails, "cleo", 3);
    assert_eq!(merged(&tails, &["ana", "cleo"], None, 1).missing, []);
    assert_eq!(merged(&tails, &["bo"], None, 1).missing, [home("bo")]);
    assert_eq!(tails.stats().1, 8);
}

#[test]
fn actors_that_do_not_fit_are_read_from_the_table() {
    let mut tails = Tails::new(5, 12);
    held(&mut tails, "ana", 5);
    let merged = merged(&tails, &["ana", "bo", "cleo"], None, 9);
    assert_eq!((merged.missing.len(), merged.exhausted), (0, vec![home("bo"), home("cleo")]));
}

#[test]
fn without_capacity_all_actors_are_read_from_the_table() {
    let mut tails = Tails::new(0, 12);
    held(&mut tails, "ana", 5);
    let merged = merged(&tails, &["ana"], None, 9);
    assert_eq!((merged.missing.len(), merged.exhausted), (0, vec![home("ana")]));
}

#[derive(Clone, Debug)]
enum Step {
    Make(u8, u64),
    Remove(prop::sample::Index),
    /// This many changes are received.
    Apply(usize),
    /// A load of an actor's activities begins.
    Begin(u8),
    /// The table answers one of the loads.
    Read(prop::sample::Index),
    /// One of the loads finishes, or is abandoned.
    Finish(prop::sample::Index, bool),
    Merge(Vec<u8>, Option<prop::sample::Index>, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let actor = || 0..5_u8;
    let actors = prop::collection::btree_set(actor(), 1..5);
    let merge = (actors, any::<Option<prop::sample::Index>>(), 1..8_usize);
    prop_oneof![
        8 => (actor(), 1..9_u64).prop_map(|(actor, later)| Step::Make(actor, later)),
        2 => any::<prop::sample::Index>().prop_map(Step::Remove),
        3 => (1..6_usize).prop_map(Step::Apply),
        4 => actor().prop_map(Step::Begin),
        4 => any::<prop::sample::Index>().prop_map(Step::Read),
        4 => (any::<prop::sample::Index>(), prop::bool::weighted(0.9))
            .prop_map(|(which, done)| Step::Finish(which, done)),
        5 => merge.prop_map(|(actors, below, wanted)| {
            Step::Merge(actors.into_iter().collect(), below, wanted)
        }),
    ]
}

const EACH: usize = 4;

/// The result of a load, and whether it is complete.
type Read = (Vec<CachedActivity>, bool);

/// A table of all activities, the changes not received yet, loads in progress, and the tails.
struct World {
    table: BTreeMap<FeedPosition, Arc<CachedActivity>>,
    unapplied: Vec<(Arc<CachedActivity>, bool)>,
    made: Vec<Arc<CachedActivity>>,
    readers: Vec<(ActorId, LoadTicket, Option<Read>)>,
    tails: Tails,
}

impl World {
    fn new(room: usize) -> Self {
        let (table, tails) = (BTreeMap::new(), Tails::new(EACH, room));
        Self { table, unapplied: Vec::new(), made: Vec::new(), readers: Vec::new(), tails }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Make(actor, later) => {
                let name = format!("actor{actor}");
                let theirs = self.made.iter().filter(|one| one.home() == home(&name));
                let last = theirs.map(|one| one.position.at.ms()).max().unwrap_or(0);
                let entry = Arc::new(written(&name, last + later, self.made.len()));
                self.table.insert(entry.position.clone(), Arc::clone(&entry));
                self.unapplied.push((Arc::clone(&entry), true));
                self.made.push(entry);
            }
            Step::Remove(which) if !self.made.is_empty() => {
                let gone = self.table.remove(&which.get(&self.made).position);
                self.unapplied.extend(gone.map(|entry| (entry, false)));
            }
            Step::Apply(changes) => self.apply(changes),
            Step::Begin(actor) => {
                let home = home(&format!("actor{actor}"));
                let ticket = self.tails.begin(&home);
                self.readers.push((home, ticket, None));
            }
            Step::Read(which) if !self.readers.is_empty() => self.read(which),
            Step::Finish(which, is_done) if !self.readers.is_empty() => {
                let (home, ticket, read) = self.readers.remove(which.index(self.readers.len()));
                match read.filter(|_| is_done) {
                    Some((newest, is_all)) => self.tails.finish(&home, ticket, newest, is_all),
                    None => self.tails.abandon(&home, ticket),
                }
            }
            Step::Merge(actors, below, wanted) => self.merge(&actors, below, wanted),
            Step::Remove(_) | Step::Read(_) | Step::Finish(..) => {}
        }
    }

    fn apply(&mut self, changes: usize) {
        for (entry, is_made) in self.unapplied.drain(..changes.min(self.unapplied.len())) {
            if is_made {
                self.tails.insert(&entry.home(), &entry);
            } else {
                self.tails.remove(&entry.home(), &entry.position);
            }
        }
    }

    fn read(&mut self, which: prop::sample::Index) {
        let which = which.index(self.readers.len());
        let (home, _, read) = &mut self.readers[which];
        let theirs = self.table.values().rev().filter(|entry| entry.home() == *home);
        let newest: Vec<_> =
            theirs.take(EACH + 1).map(|entry| CachedActivity::clone(entry)).collect();
        let is_all = newest.len() <= EACH;
        *read = Some((newest, is_all));
    }

    /// Everything they return is correct once they have received all changes.
    fn merge(&mut self, actors: &[u8], below: Option<prop::sample::Index>, wanted: usize) {
        self.apply(usize::MAX);
        let homes: Vec<_> = actors.iter().map(|actor| home(&format!("actor{actor}"))).collect();
        let below = below.filter(|_| !self.made.is_empty());
        let below = below.map(|below| below.get(&self.made).position.clone());
        let is_below =
            |position: &FeedPosition| below.as_ref().is_none_or(|below| position < below);
        let merged = self.tails.merged(&mut homes.iter(), below.as_ref(), wanted, true);
        if !merged.missing.is_empty() {
            assert!(merged.missing.iter().all(|home| !self.tails.held.contains(home)));
            return;
        }
        let theirs = self.table.iter().rev().filter(|(position, entry)| {
            let home = entry.home();
            homes.contains(&home)
                && !merged.exhausted.contains(&home)
                && is_below(position)
                && merged.down_to.as_ref().is_none_or(|down_to| *position >= down_to)
        });
        let expected: Vec<_> = theirs.map(|(_, entry)| entry).collect();
        assert_eq!(merged.entries.iter().collect::<Vec<_>>(), expected);
        assert!(merged.entries.len() <= wanted);
        assert!(merged.down_to.as_ref().is_none_or(is_below), "it leads further down");
    }
}

proptest! {
    #[test]
    fn whatever_they_tell_is_so(
        steps in prop::collection::vec(step(), 1..150),
        room in prop_oneof![Just(1_000_usize), 1..30_usize],
    ) {
        let mut world = World::new(room);
        steps.into_iter().for_each(|step| world.take(step));
        world.merge(&[0, 1, 2, 3, 4], None, 5);
        let (tails, entries, _) = world.tails.stats();
        prop_assert!(tails + entries <= room);
        world.tails.all_max = 0;
        world.tails.evict_to_fit();
        prop_assert_eq!((world.tails.entries, world.tails.bytes), (0, 0));
    }
}
