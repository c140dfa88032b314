use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::entry::written;
use super::super::merge::Merged;
use super::*;

fn home(name: &str) -> ActorId {
    name.parse().unwrap()
}

/// The newest activities of an actor, at the times 1 to `last`, newest first.
fn newest(name: &str, last: u64, read: usize) -> Vec<Entry> {
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

fn merged(tails: &Tails, names: &[&str], below: Option<u64>, wanted: usize) -> Merged {
    let homes: Vec<_> = names.iter().map(|name| home(name)).collect();
    let below = below.map(|ms| written("anybody", ms, usize::try_from(ms).unwrap()).place);
    tails.merged(&mut homes.iter(), below.as_ref(), wanted, true)
}

fn times(merged: &Merged) -> Vec<u64> {
    merged.entries.iter().map(|entry| entry.place.at.ms()).collect()
}

fn down_to(merged: &Merged) -> Option<u64> {
    merged.down_to.as_ref().map(|place| place.at.ms())
}

#[test]
fn what_is_not_held_is_asked_for_before_anything_is_told() {
    let mut tails = Tails::new(5, 100);
    held(&mut tails, "ana", 3);
    let merged = merged(&tails, &["ana", "bo"], None, 10);
    assert_eq!(merged.missing, [home("bo")]);
    assert_eq!((times(&merged), merged.worn.len()), (vec![], 0));
}

#[test]
fn tails_that_reach_the_beginning_tell_everything() {
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
fn nothing_is_told_from_below_the_highest_end() {
    let mut tails = Tails::new(5, 100);
    held(&mut tails, "ana", 20);
    held(&mut tails, "bo", 9);
    held(&mut tails, "cleo", 3);
    let merged_below = |below| {
        let merged = merged(&tails, &["ana", "bo", "cleo"], below, 20);
        (times(&merged), down_to(&merged), merged.worn)
    };
    assert_eq!(merged_below(None), (vec![20, 19, 18, 17, 16], Some(16), vec![]));
    assert_eq!(merged_below(Some(16)), (vec![9, 8, 7, 6, 5], Some(5), vec![home("ana")]));
    let worn = vec![home("ana"), home("bo")];
    assert_eq!(merged_below(Some(5)), (vec![3, 2, 1], None, worn));
}

#[test]
fn a_tail_moves_on_with_its_actor() {
    let mut tails = Tails::new(3, 100);
    held(&mut tails, "ana", 3);
    for ms in [4, 5, 5, 1] {
        let entry = written("ana", ms, usize::try_from(ms).unwrap());
        tails.insert(&home("ana"), &Arc::new(entry));
    }
    let moved = merged(&tails, &["ana"], None, 9);
    assert_eq!((times(&moved), down_to(&moved)), (vec![5, 4, 3], Some(3)));
    tails.remove(&home("ana"), &written("ana", 3, 3).place);
    let moved = merged(&tails, &["ana"], None, 9);
    assert_eq!((times(&moved), down_to(&moved)), (vec![5, 4], Some(3)));
}

#[test]
fn what_happens_during_a_read_is_not_lost() {
    let mut tails = Tails::new(5, 100);
    let ticket = tails.begin(&home("ana"));
    tails.insert(&home("ana"), &Arc::new(written("ana", 4, 4)));
    tails.remove(&home("ana"), &written("ana", 2, 2).place);
    tails.finish(&home("ana"), ticket, newest("ana", 3, 5), true);
    assert_eq!(times(&merged(&tails, &["ana"], None, 9)), [4, 3, 1]);
}

#[test]
fn a_read_that_began_before_something_was_missed_does_not_count() {
    let mut tails = Tails::new(5, 100);
    let ticket = tails.begin(&home("ana"));
    tails.forget_all();
    tails.finish(&home("ana"), ticket, newest("ana", 3, 5), true);
    assert_eq!(merged(&tails, &["ana"], None, 9).missing, [home("ana")]);
    let abandoned = tails.begin(&home("ana"));
    tails.abandon(&home("ana"), abandoned);
    assert!(!tails.is_reading(&home("ana")));
}

#[test]
fn those_nobody_looks_at_make_room() {
    let mut tails = Tails::new(5, 12);
    held(&mut tails, "ana", 5);
    held(&mut tails, "bo", 5);
    merged(&tails, &["ana"], None, 1);
    held(&mut tails, "cleo", 3);
    assert_eq!(merged(&tails, &["ana", "cleo"], None, 1).missing, []);
    assert_eq!(merged(&tails, &["bo"], None, 1).missing, [home("bo")]);
    assert_eq!(tails.figures().1, 8);
}

#[test]
fn more_actors_than_there_is_room_for_are_left_to_the_table() {
    let mut tails = Tails::new(5, 12);
    held(&mut tails, "ana", 5);
    let merged = merged(&tails, &["ana", "bo", "cleo"], None, 9);
    assert_eq!((merged.missing.len(), merged.worn), (0, vec![home("bo"), home("cleo")]));
}

#[test]
fn without_room_everybody_is_left_to_the_table() {
    let mut tails = Tails::new(0, 12);
    held(&mut tails, "ana", 5);
    let merged = merged(&tails, &["ana"], None, 9);
    assert_eq!((merged.missing.len(), merged.worn), (0, vec![home("ana")]));
}

/// What can happen.
#[derive(Clone, Debug)]
enum Step {
    Make(u8, u64),
    Remove(prop::sample::Index),
    /// So many changes are heard of.
    Hear(usize),
    /// Somebody begins to read an actor's activities.
    Begin(u8),
    /// The table answers one of those who read.
    Read(prop::sample::Index),
    /// One of them is done, or gives up.
    Finish(prop::sample::Index, bool),
    Look(Vec<u8>, Option<prop::sample::Index>, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let actor = || 0..5_u8;
    let actors = prop::collection::btree_set(actor(), 1..5);
    let look = (actors, any::<Option<prop::sample::Index>>(), 1..8_usize);
    prop_oneof![
        8 => (actor(), 1..9_u64).prop_map(|(actor, later)| Step::Make(actor, later)),
        2 => any::<prop::sample::Index>().prop_map(Step::Remove),
        3 => (1..6_usize).prop_map(Step::Hear),
        4 => actor().prop_map(Step::Begin),
        4 => any::<prop::sample::Index>().prop_map(Step::Read),
        4 => (any::<prop::sample::Index>(), prop::bool::weighted(0.9))
            .prop_map(|(which, done)| Step::Finish(which, done)),
        5 => look.prop_map(|(actors, below, wanted)| {
            Step::Look(actors.into_iter().collect(), below, wanted)
        }),
    ]
}

const EACH: usize = 4;

/// What was read of an actor, and whether it was all.
type Read = (Vec<Entry>, bool);

/// A table of all activities, what happened to it unheard, who is reading, and the tails.
struct World {
    table: BTreeMap<Place, Arc<Entry>>,
    unheard: Vec<(Arc<Entry>, bool)>,
    made: Vec<Arc<Entry>>,
    readers: Vec<(ActorId, Ticket, Option<Read>)>,
    tails: Tails,
}

impl World {
    fn new(room: usize) -> Self {
        let (table, tails) = (BTreeMap::new(), Tails::new(EACH, room));
        Self { table, unheard: Vec::new(), made: Vec::new(), readers: Vec::new(), tails }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Make(actor, later) => {
                let name = format!("actor{actor}");
                let theirs = self.made.iter().filter(|one| one.home() == home(&name));
                let last = theirs.map(|one| one.place.at.ms()).max().unwrap_or(0);
                let entry = Arc::new(written(&name, last + later, self.made.len()));
                self.table.insert(entry.place.clone(), Arc::clone(&entry));
                self.unheard.push((Arc::clone(&entry), true));
                self.made.push(entry);
            }
            Step::Remove(which) if !self.made.is_empty() => {
                let gone = self.table.remove(&which.get(&self.made).place);
                self.unheard.extend(gone.map(|entry| (entry, false)));
            }
            Step::Hear(changes) => self.hear(changes),
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
            Step::Look(actors, below, wanted) => self.look(&actors, below, wanted),
            Step::Remove(_) | Step::Read(_) | Step::Finish(..) => {}
        }
    }

    fn hear(&mut self, changes: usize) {
        for (entry, is_made) in self.unheard.drain(..changes.min(self.unheard.len())) {
            if is_made {
                self.tails.insert(&entry.home(), &entry);
            } else {
                self.tails.remove(&entry.home(), &entry.place);
            }
        }
    }

    fn read(&mut self, which: prop::sample::Index) {
        let which = which.index(self.readers.len());
        let (home, _, read) = &mut self.readers[which];
        let theirs = self.table.values().rev().filter(|entry| entry.home() == *home);
        let newest: Vec<_> = theirs.take(EACH + 1).map(|entry| Entry::clone(entry)).collect();
        let is_all = newest.len() <= EACH;
        *read = Some((newest, is_all));
    }

    /// Everything they say is so, once they have heard of everything.
    fn look(&mut self, actors: &[u8], below: Option<prop::sample::Index>, wanted: usize) {
        self.hear(usize::MAX);
        let homes: Vec<_> = actors.iter().map(|actor| home(&format!("actor{actor}"))).collect();
        let below = below.filter(|_| !self.made.is_empty());
        let below = below.map(|below| below.get(&self.made).place.clone());
        let is_below = |place: &Place| below.as_ref().is_none_or(|below| place < below);
        let merged = self.tails.merged(&mut homes.iter(), below.as_ref(), wanted, true);
        if !merged.missing.is_empty() {
            assert!(merged.missing.iter().all(|home| !self.tails.held.contains(home)));
            return;
        }
        let theirs = self.table.iter().rev().filter(|(place, entry)| {
            let home = entry.home();
            homes.contains(&home)
                && !merged.worn.contains(&home)
                && is_below(place)
                && merged.down_to.as_ref().is_none_or(|down_to| *place >= down_to)
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
        world.look(&[0, 1, 2, 3, 4], None, 5);
        let (tails, entries, _) = world.tails.figures();
        prop_assert!(tails + entries <= room);
        world.tails.all_max = 0;
        world.tails.make_room();
        prop_assert_eq!((world.tails.entries, world.tails.bytes), (0, 0));
    }
}
