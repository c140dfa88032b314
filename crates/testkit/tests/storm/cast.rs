//! Everybody in a storm, and a look around when it is over.

use std::sync::Arc;

use roundtable_model::Role;
use roundtable_testkit::Town;
use roundtable_verify::Verify;

use crate::model::Naive;
use crate::person::Person;

const PEOPLE: usize = 24;

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

/// Everybody acts at the same time, each through one of the processes that serve the town.
pub(crate) async fn live(
    towns: &[Arc<Town>],
    names: &[String],
    naive: &Arc<Naive>,
    steps: usize,
    seed: u64,
) {
    let served = towns.iter().cycle().cloned();
    let people = names.iter().zip(served).enumerate().map(|(number, (name, town))| {
        let person = Person::new(town, naive.clone(), name, names, seed + number as u64);
        tokio::spawn(person.live(steps))
    });
    for person in people.collect::<Vec<_>>() {
        person.await.unwrap();
    }
}

/// All that was to follow has followed: nothing is parked, nobody is behind, nothing is wrong (I1 to
/// I6), and what is there is what people remember.
pub(crate) async fn look_around(town: &Town, naive: &Naive) {
    let letters = town.runner().dead_letters();
    for queue in letters.queues() {
        let parked = letters.list(&queue, None, None).await.unwrap();
        assert!(parked.items.is_empty(), "{parked:#?}");
    }
    let report = Verify::on(town.ground()).check().await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert!(report.notes.is_empty(), "{:#?}", report.notes);
    naive.agrees_with(town).await;
}
