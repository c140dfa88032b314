//! Everybody in a storm, and a look around when it is over.

use std::sync::Arc;

use roundtable_model::Role;
use roundtable_testkit::{Act, Pursuit, Town};
use roundtable_verify::Verify;

use crate::agree::agrees_with;
use crate::deck;
use crate::model::{Memory, Naive};
use crate::person::Person;

pub(crate) const PEOPLE: usize = 24;
/// After so long people have been reminded of all they planned, and nothing can be sent any more that was
/// announced.
pub(crate) const ALL_OVER_MS: u64 = 3 * 60 * 60 * 1_000;

/// The people of a storm: the last two are a moderator and an admin.
pub(crate) async fn populate(town: &Town) -> Vec<String> {
    let names: Vec<String> = (0..PEOPLE).map(|number| format!("p{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        town.move_in(name, |user| user.is_private = number % 6 == 5).await;
    }
    let [.., moderator, admin] = names.as_slice() else { panic!("a storm needs people") };
    town.employ(moderator, Role::Moderator).await;
    town.employ(admin, Role::Admin).await;
    names
}

/// How many things each of them does: `ROUNDTABLE_STORM_STEPS`, or so many.
pub(crate) fn steps(unless_told: usize) -> usize {
    let told = std::env::var("ROUNDTABLE_STORM_STEPS").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(unless_told)
}

/// At which of the `steps` of a part of a storm somebody wants to be gone, if at all: some in the first
/// part, some in the second, in the midst of everything.
fn leaves(number: usize, part: u64, steps: usize) -> Option<usize> {
    let third = (steps / 3).max(1);
    let is_time = number % 6 == 3 && (number / 6 % 2) as u64 <= part;
    is_time.then_some(third + number % third)
}

/// Everybody acts at the same time, each through one of the processes that serve the town, in one of
/// the parts of a storm.
pub(crate) async fn live(
    towns: &[Arc<Town>],
    names: &[String],
    naive: &Arc<Naive>,
    steps: usize,
    part: u64,
) {
    let served = towns.iter().cycle().cloned();
    let people = names.iter().zip(served).enumerate().map(|(number, (name, town))| {
        let seed = part * 1000 + number as u64;
        let person = Person::new(town, naive.clone(), name, names, seed);
        tokio::spawn(person.leaving_at(leaves(number, part, steps)).live(steps))
    });
    for person in people.collect::<Vec<_>>() {
        person.await.unwrap();
    }
}

/// All that was to follow has followed: nothing is parked, nobody is behind, nothing is wrong (I1 to
/// I6), and what is there is what people remember.
pub(crate) async fn look_around(town: &Town, naive: &Naive, steps: usize) {
    let memory = naive.take();
    much_happened(&memory, steps);
    let letters = town.runner().dead_letters();
    for queue in letters.queues() {
        let parked = letters.list(&queue, None, None).await.unwrap();
        assert!(parked.items.is_empty(), "{parked:#?}");
    }
    let report = Verify::on(town.ground()).check().await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert!(report.notes.is_empty(), "{:#?}", report.notes);
    agrees_with(&memory, town).await;
}

/// Everybody but those who left early has done what they were to do, and everything there is to do.
fn much_happened(memory: &Memory, steps: usize) {
    let acts = steps * PEOPLE;
    assert!(memory.acts >= acts_min(steps), "{} acts of {acts}", memory.acts);
    // Much of it is refused: what people want to do something with has changed meanwhile, or is gone.
    assert!(memory.done * 3 > memory.acts, "{} of {} done", memory.done, memory.acts);
    // Few steps, if somebody wants them, need not be everything.
    if acts > 3 * deck::size() {
        let missing: Vec<_> = Act::NAMES
            .iter()
            .chain(Pursuit::NAMES)
            .filter(|name| !memory.chosen.contains(**name))
            .collect();
        assert!(missing.is_empty(), "nobody did {missing:?}");
    }
}

/// So many acts are done in a storm at least: a few people leave before its end.
pub(crate) const fn acts_min(steps: usize) -> usize {
    steps * PEOPLE * 17 / 20
}
