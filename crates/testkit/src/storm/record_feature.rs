//! Records the outcomes of feature actions in the model.

use std::collections::BTreeMap;

use crate::{FeatureAction, FeatureOutcome};
use roundtable_model::UserId;

use super::features::{
    FeatureModel, GoalModel, MessageModel, MilestoneModel, OfferModel, QuestModel, RoomModel,
    ThreadModel,
};
use super::town_model::{TextModel, TownModel};

pub(crate) fn record_feature(
    model: &mut TownModel,
    me: &UserId,
    feature_action: &FeatureAction,
    outcome: &FeatureOutcome,
) {
    model.done += 1;
    let features = &mut model.features;
    of_goals(features, me, feature_action, outcome);
    of_quests(features, me, feature_action, outcome);
    of_talk(features, me, feature_action, outcome);
    of_trade(features, me, feature_action, outcome);
    features.look(me);
    match (feature_action, outcome) {
        (FeatureAction::PostPicture(_, text), FeatureOutcome::Post(post)) => {
            model.posts.push(post.clone());
            let said = TextModel { author: me.clone(), place: None, text: Some(text.clone()) };
            model.posted.insert(post.clone(), said);
        }
        (FeatureAction::SwitchOff(other, _), _) => {
            model.disturbed.insert((other.clone(), me.clone()));
        }
        _ => {}
    }
}

/// Records a refusal whose request may have happened.
pub(crate) fn record_refusal(model: &mut TownModel, me: &UserId, feature_action: &FeatureAction) {
    if let FeatureAction::ReadRoom(room, message) = feature_action {
        let room = model.features.rooms.get_mut(room).unwrap();
        let seq = room.seq_of(message);
        let refused = room.refused.entry(me.clone()).or_default();
        *refused = (*refused).max(seq);
    }
}

fn of_goals(
    features: &mut FeatureModel,
    me: &UserId,
    feature_action: &FeatureAction,
    outcome: &FeatureOutcome,
) {
    match (feature_action, outcome) {
        (FeatureAction::SetGoal { title, .. }, FeatureOutcome::Goal(goal, reached)) => {
            let aim = GoalModel {
                owner: me.clone(),
                title: title.clone(),
                reached: *reached,
                tasks: BTreeMap::new(),
                parts: BTreeMap::new(),
                is_deleted: false,
            };
            features.aims.insert(goal.clone(), aim);
        }
        (FeatureAction::RenameGoal { goal, title, .. }, _) => {
            features.aims.get_mut(goal).unwrap().title.clone_from(title);
        }
        (FeatureAction::ReachGoal(goal, _), FeatureOutcome::Goal(_, reached)) => {
            features.aims.get_mut(goal).unwrap().reached = *reached;
        }
        (FeatureAction::DeleteGoal(goal), _) => {
            features.aims.get_mut(goal).unwrap().is_deleted = true;
        }
        (
            FeatureAction::AddTask { goal, .. } | FeatureAction::DoTask(goal, ..),
            FeatureOutcome::Task(task, done_at),
        ) => {
            features.aims.get_mut(goal).unwrap().tasks.insert(task.clone(), *done_at);
        }
        (FeatureAction::DeleteTask(goal, task), _) => {
            features.aims.get_mut(goal).unwrap().tasks.remove(task);
        }
        (FeatureAction::AddMilestone(goal, share), FeatureOutcome::Milestone(id)) => {
            let part = MilestoneModel { share: *share, is_by_hand: false, may_be_achieved: false };
            features.aims.get_mut(goal).unwrap().parts.insert(id.clone(), part);
        }
        (FeatureAction::Achieve(goal, id), _) => {
            let part = features.aims.get_mut(goal).unwrap().parts.get_mut(id);
            part.into_iter().for_each(|part| part.is_by_hand = true);
        }
        (FeatureAction::DeleteMilestone(goal, id), _) => {
            features.aims.get_mut(goal).unwrap().parts.remove(id);
        }
        _ => {}
    }
}

fn of_quests(
    features: &mut FeatureModel,
    me: &UserId,
    feature_action: &FeatureAction,
    outcome: &FeatureOutcome,
) {
    match (feature_action, outcome) {
        (FeatureAction::SetQuest(wish), FeatureOutcome::Quest(id, created_at)) => {
            let quest = QuestModel {
                owner: me.clone(),
                wish: (**wish).clone(),
                created_at: *created_at,
                may_be_completed: false,
                is_cancelled: false,
                is_deleted: false,
            };
            features.quests.insert(id.clone(), quest);
        }
        (FeatureAction::CancelQuest(id), _) => {
            features.quests.get_mut(id).unwrap().is_cancelled = true;
        }
        (FeatureAction::DeleteQuest(_, id), _) => {
            features.quests.get_mut(id).unwrap().is_deleted = true;
        }
        _ => {}
    }
}

fn of_talk(
    features: &mut FeatureModel,
    me: &UserId,
    feature_action: &FeatureAction,
    outcome: &FeatureOutcome,
) {
    match (feature_action, outcome) {
        (FeatureAction::OpenRoom(other), FeatureOutcome::Room(room)) => {
            let room = features.rooms.entry(room.clone()).or_default();
            room.two.get_or_insert_with(|| [me.clone(), other.clone()]);
        }
        (FeatureAction::OpenGroupRoom(group), FeatureOutcome::Room(room)) => {
            features.rooms.entry(room.clone()).or_default().group = Some(group.clone());
        }
        (FeatureAction::Say { room, text, expires_at }, FeatureOutcome::Message(id, seq)) => {
            let room: &mut RoomModel = features.rooms.get_mut(room).unwrap();
            room.said.push(MessageModel {
                id: id.clone(),
                seq: *seq,
                by: me.clone(),
                text: text.clone(),
                expires_at: *expires_at,
            });
            let read = room.read.entry(me.clone()).or_default();
            *read = (*read).max(*seq);
        }
        (FeatureAction::Say { room, .. }, _) => {
            features.rooms.get_mut(room).unwrap().unnumbered.insert(me.clone());
        }
        (FeatureAction::ReadRoom(room, message), _) => {
            let room = features.rooms.get_mut(room).unwrap();
            let seq = room.seq_of(message);
            let read = room.read.entry(me.clone()).or_default();
            *read = (*read).max(seq);
        }
        (FeatureAction::AskForHelp(helpers), FeatureOutcome::Thread(id)) => {
            let asked =
                ThreadModel { owner: me.clone(), helpers: helpers.clone(), said: Vec::new() };
            features.threads.insert(id.clone(), asked);
        }
        (FeatureAction::Advise(thread, _), FeatureOutcome::Advice(id)) => {
            features.threads.get_mut(thread).unwrap().said.push((id.clone(), me.clone()));
        }
        (FeatureAction::ReadNotifications(before), _) => {
            let marked = features.marked.entry(me.clone()).or_insert(*before);
            *marked = (*marked).max(*before);
        }
        _ => {}
    }
}

fn of_trade(
    features: &mut FeatureModel,
    me: &UserId,
    feature_action: &FeatureAction,
    outcome: &FeatureOutcome,
) {
    match (feature_action, outcome) {
        (FeatureAction::EnterCompany(_), FeatureOutcome::Company(id)) => {
            features.companies.insert(id.clone(), me.clone());
        }
        (FeatureAction::MakeOffer { .. }, FeatureOutcome::Offer(id)) => {
            features.offers.insert(id.clone(), OfferModel { owner: me.clone(), is_closed: false });
        }
        (FeatureAction::CloseOffer(id), _) => features.offers.get_mut(id).unwrap().is_closed = true,
        (FeatureAction::Announce { is_sound }, FeatureOutcome::Ticket(key)) => {
            features.tickets.insert(key.clone(), (me.clone(), *is_sound));
        }
        (FeatureAction::Complete(key), FeatureOutcome::File(file)) => {
            let (_, is_sound) = &features.tickets[key];
            assert!(is_sound, "{key} is no picture, and was taken");
            let known = (me.clone(), file.clone(), None);
            features.files.entry(key.clone()).or_insert(known);
        }
        (FeatureAction::PostPicture(file, _), FeatureOutcome::Post(post)) => {
            features.files.get_mut(&file.s3_key).unwrap().2 = Some(post.clone());
        }
        _ => {}
    }
}
