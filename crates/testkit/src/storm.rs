//! The storm: users who act at random and concurrently, and a naive model of what they decided. A
//! test runs it over real threads, and the campaign in a simulation whose seed decides everything.

#![expect(clippy::indexing_slicing, reason = "a test that cannot go on should stop")]

mod action_choice;
mod cast;
mod check_notifications;
mod check_progress;
mod check_rooms;
mod check_trade;
mod comparison;
mod deck;
mod feature_choice;
mod features;
mod record_action;
mod record_feature;
mod storm_user;
mod town_model;

pub use cast::{
    ALL_OVER_MS, PEOPLE, StormPart, acts_min, assert_enough_happened, check_town, leave_step, live,
    populate, storm_names,
};
pub use storm_user::StormUser;
pub use town_model::{SharedModel, TownModel};
