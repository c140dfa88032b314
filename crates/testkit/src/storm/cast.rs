//! The users of a storm, and the checks at its end.

use std::sync::Arc;

use roundtable_domain::Caller;
use roundtable_model::entities::Job;
use roundtable_model::table::Scan;
use roundtable_model::{FromItem, Role};

use crate::{FeatureAction, Town, UserAction};

use super::comparison::assert_matches_model;
use super::deck;
use super::storm_user::StormUser;
use super::town_model::{SharedModel, TownModel};

/// The number of users in a storm.
pub const PEOPLE: usize = 24;
/// After this time all reminders are sent, and all declared uploads have expired.
pub const ALL_OVER_MS: u64 = 3 * 60 * 60 * 1_000;

/// Adds this many users; the last two are a moderator and an admin.
pub async fn populate(town: &Town, people: usize) -> Vec<String> {
    let names = storm_names(people);
    for (number, name) in names.iter().enumerate() {
        town.add_user(name, |user| user.is_private = number % 6 == 5).await;
    }
    let [.., moderator, admin] = names.as_slice() else { panic!("a storm needs people") };
    town.grant_role(moderator, Role::Moderator).await;
    town.grant_role(admin, Role::Admin).await;
    names
}

/// The names of the users of a storm.
pub fn storm_names(people: usize) -> Vec<String> {
    (0..people).map(|number| format!("p{number}")).collect()
}

/// The step of a part at which a user deletes their account, if at all: some in the first part,
/// some in the second.
pub fn leave_step(number: usize, part: u64, steps: usize) -> Option<usize> {
    let third = (steps / 3).max(1);
    let is_time = number % 6 == 3 && (number / 6 % 2) as u64 <= part;
    is_time.then_some(third + number % third)
}

/// One part of a storm.
#[derive(Clone, Debug)]
pub struct StormPart {
    /// Actions of each user.
    pub steps: usize,
    /// Parts before this one.
    pub number: u64,
    pub seed: u64,
    /// If present, users repeat requests that got no answer, and this user helps them.
    pub admin: Option<Caller>,
}

/// All users act concurrently, each through one of the processes, in one part of a storm.
pub async fn live(
    towns: &[Arc<Town>],
    names: &[String],
    shared_model: &Arc<SharedModel>,
    part: &StormPart,
) {
    let served = towns.iter().cycle().cloned();
    let people = names.iter().zip(served).enumerate().map(|(number, (name, town))| {
        let seed = part.seed * 10_000 + part.number * 1_000 + number as u64;
        let steps = part.steps;
        let storm_user = StormUser::new(town, shared_model.clone(), name, names, seed);
        let mut storm_user = storm_user.leave_at(leave_step(number, part.number, steps));
        if let Some(admin) = &part.admin {
            storm_user = storm_user.repeating(admin.clone());
        }
        tokio::spawn(async move { storm_user.live(steps).await })
    });
    for storm_user in people.collect::<Vec<_>>() {
        storm_user.await.unwrap();
    }
}

/// Asserts that there are no dead letters and no unfinished jobs, and that the store matches the
/// model. The caller checks the invariants.
pub async fn check_town(town: &Town, model: &TownModel) {
    let letters = town.runner().dead_letters();
    for queue in letters.queues() {
        let parked = letters.list(&queue, None, None).await.unwrap();
        assert!(parked.items.is_empty(), "{parked:#?}");
    }
    let jobs = town.context().ops().table().scan(Scan::new().strong()).await.unwrap().items;
    let jobs: Vec<Job> = jobs.iter().filter_map(|item| Job::from_item(item).ok()).collect();
    assert!(jobs.is_empty(), "at {}: {jobs:#?}", town.now());
    assert_matches_model(model, town).await;
}

/// Asserts that all users but those who left early have done their steps, and that every kind of
/// action was done.
pub fn assert_enough_happened(model: &TownModel, steps: usize) {
    let acts = steps * PEOPLE;
    assert!(model.acts >= acts_min(steps), "{} acts of {acts}", model.acts);
    // Many actions are refused because their objects have changed or are gone.
    assert!(model.done * 3 > model.acts, "{} of {} done", model.done, model.acts);
    assert!(!model.gone.is_empty(), "no user left in this storm");
    let has_follows = model.follows.values().any(Option::is_some);
    assert!(has_follows && !model.likes.is_empty(), "a storm in which nothing happened");
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
pub const fn acts_min(steps: usize) -> usize {
    steps * PEOPLE * 17 / 20
}
