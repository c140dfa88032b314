//! The users of a storm, and the check at its end.

use std::sync::Arc;

use roundtable_model::entities::Job;
use roundtable_model::table::Scan;
use roundtable_model::{FromItem, Role};
use roundtable_testkit::{FeatureAction, Town, UserAction};
use roundtable_verify::Verifier;

use crate::comparison::assert_matches_model;
use crate::deck;
use crate::storm_user::StormUser;
use crate::town_model::{SharedModel, TownModel};

pub(crate) const PEOPLE: usize = 24;
/// After this time all reminders are sent, and all declared uploads have expired.
pub(crate) const ALL_OVER_MS: u64 = 3 * 60 * 60 * 1_000;

/// Adds the users; the last two are a moderator and an admin.
pub(crate) async fn populate(town: &Town) -> Vec<String> {
    let names: Vec<String> = (0..PEOPLE).map(|number| format!("p{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        town.add_user(name, |user| user.is_private = number % 6 == 5).await;
    }
    let [.., moderator, admin] = names.as_slice() else { panic!("a storm needs people") };
    town.grant_role(moderator, Role::Moderator).await;
    town.grant_role(admin, Role::Admin).await;
    names
}

/// The number of actions per user: `ROUNDTABLE_STORM_STEPS`, or the default.
pub(crate) fn steps(unless_told: usize) -> usize {
    let told = std::env::var("ROUNDTABLE_STORM_STEPS").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(unless_told)
}

/// The step of a part at which a user deletes their account, if at all: some in the first part,
/// some in the second.
fn leave_step(number: usize, part: u64, steps: usize) -> Option<usize> {
    let third = (steps / 3).max(1);
    let is_time = number % 6 == 3 && (number / 6 % 2) as u64 <= part;
    is_time.then_some(third + number % third)
}

/// All users act concurrently, each through one of the processes, in one part of a storm.
pub(crate) async fn live(
    towns: &[Arc<Town>],
    names: &[String],
    shared_model: &Arc<SharedModel>,
    steps: usize,
    part: u64,
) {
    let served = towns.iter().cycle().cloned();
    let people = names.iter().zip(served).enumerate().map(|(number, (name, town))| {
        let seed = part * 1000 + number as u64;
        let storm_user = StormUser::new(town, shared_model.clone(), name, names, seed);
        tokio::spawn(storm_user.leave_at(leave_step(number, part, steps)).live(steps))
    });
    for storm_user in people.collect::<Vec<_>>() {
        storm_user.await.unwrap();
    }
}

/// Asserts that there are no dead letters, lags or violated invariants (I1 to I6), and that the
/// store matches the model.
pub(crate) async fn check_town(town: &Town, shared_model: &SharedModel, steps: usize) {
    let model = shared_model.take();
    assert_enough_happened(&model, steps);
    let letters = town.runner().dead_letters();
    for queue in letters.queues() {
        let parked = letters.list(&queue, None, None).await.unwrap();
        assert!(parked.items.is_empty(), "{parked:#?}");
    }
    let jobs = town.context().ops().table().scan(Scan::new().strong()).await.unwrap().items;
    let jobs: Vec<Job> = jobs.iter().filter_map(|item| Job::from_item(item).ok()).collect();
    assert!(jobs.is_empty(), "at {}: {jobs:#?}", town.now());
    let report = Verifier::on(town.context()).check().await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert!(report.notes.is_empty(), "{:#?}", report.notes);
    assert_matches_model(&model, town).await;
}

/// All users but those who left early have done their steps, and every kind of action was done.
fn assert_enough_happened(model: &TownModel, steps: usize) {
    let acts = steps * PEOPLE;
    assert!(model.acts >= acts_min(steps), "{} acts of {acts}", model.acts);
    // Many actions are refused because their objects have changed or are gone.
    assert!(model.done * 3 > model.acts, "{} of {} done", model.done, model.acts);
    // A run with few steps need not cover all actions.
    if acts > 3 * deck::size() {
        let missing: Vec<_> = UserAction::NAMES
            .iter()
            .chain(FeatureAction::NAMES)
            .filter(|name| !model.chosen.contains(**name))
            .collect();
        assert!(missing.is_empty(), "no user did {missing:?}");
    }
}

/// The minimum number of actions in a storm: a few users leave before its end.
pub(crate) const fn acts_min(steps: usize) -> usize {
    steps * PEOPLE * 17 / 20
}
