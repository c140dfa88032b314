//! The doubts of the model after a crash: a request may have happened, and its repetition is
//! refused because of something that another user did since.

use roundtable_model::UserId;

use crate::{FeatureAction, UserAction};

use super::storm_user::StormStep;
use super::town_model::TownModel;

/// Removes from the model what a request may have changed. Only requests that another user can
/// prevent are listed: the repetition of any other must have an outcome.
pub(super) fn doubt(model: &mut TownModel, me: &UserId, step: &StormStep) {
    match step {
        StormStep::Act(UserAction::Follow(other) | UserAction::Unfollow(other)) => {
            model.follows.insert((me.clone(), other.clone()), None);
        }
        StormStep::Act(UserAction::Block(other)) => {
            model.follows.insert((me.clone(), other.clone()), None);
            model.follows.insert((other.clone(), me.clone()), None);
            disturb(model, me, other);
            disturb(model, other, me);
        }
        StormStep::Act(UserAction::Mute(other, _))
        | StormStep::Pursuit(FeatureAction::SwitchOff(other, _)) => disturb(model, other, me),
        StormStep::Pursuit(FeatureAction::ReadRoom(room, message)) => {
            if let Some(room) = model.features.rooms.get_mut(room) {
                let seq = room.seq_of(message);
                let doubted = room.doubted.entry(me.clone()).or_default();
                *doubted = (*doubted).max(seq);
            }
        }
        StormStep::Pursuit(FeatureAction::Say { room, .. }) => {
            // The message may have been swept since, and its number is not known.
            if let Some(room) = model.features.rooms.get_mut(room) {
                room.doubted.insert(me.clone(), u64::MAX);
            }
        }
        StormStep::Act(UserAction::Suspend(other)) => {
            model.suspended.push(other.clone());
            model.sanctioned.insert(other.clone());
        }
        StormStep::Act(UserAction::Like(post) | UserAction::Unlike(post)) => {
            model.likes.remove(&(me.clone(), post.clone()));
        }
        StormStep::Act(UserAction::Share(post) | UserAction::Unshare(post)) => {
            model.shares.remove(&(me.clone(), post.clone()));
        }
        StormStep::Act(
            UserAction::UpdateGroup(group, _)
            | UserAction::DeleteGroup(group)
            | UserAction::Leave(group)
            | UserAction::Remove(group, _)
            | UserAction::SetRole(group, ..),
        ) => {
            if let Some(group) = model.founded.get_mut(group) {
                group.name = None;
                group.is_loose = true;
            }
        }
        _ => {}
    }
}

fn disturb(model: &mut TownModel, actor: &UserId, user: &UserId) {
    model.disturbed.insert((actor.clone(), user.clone()));
}
