//! Compares goals, tasks, milestones, quests and experience with the model (R10, R11).

use std::collections::BTreeMap;

use crate::Town;
use roundtable_domain::Caller;
use roundtable_model::entities::{Quest, XpEntry};
use roundtable_model::{GoalId, QuestId, QuestStatus, Time, UserId};

use super::features::{FeatureModel, GoalModel, QuestModel};
use super::town_model::TownModel;

pub(crate) async fn check_progress(model: &TownModel, town: &Town) {
    let features = &model.features;
    for (id, aim) in &features.aims {
        goal(model, town, id, aim).await;
    }
    let (mut completed, mut expired) = (0, 0);
    for owner in model.active_users.iter().filter(|user| model.alive(user)) {
        let rewards = town.context().core().xp_entries(owner).strong().all().await.unwrap();
        let own: BTreeMap<&QuestId, &QuestModel> =
            features.quests.iter().filter(|(_, quest)| quest.owner == *owner).collect();
        for (id, known) in &own {
            let reward = rewards.iter().find(|reward| reward.quest_id == **id);
            let stored = town.context().core().quest(owner, id).get().await.unwrap();
            let fits = quest(features, known, stored.as_ref(), reward, town.now());
            assert!(fits, "{id} is {stored:#?}, earned {reward:?}, and should be {known:#?}");
            completed += usize::from(reward.is_some());
            expired += usize::from(stored.is_some_and(|quest| quest.cancel_reason.is_some()));
        }
        let counted: u64 = rewards.iter().map(|reward| reward.reward_xp).sum();
        assert!(rewards.iter().all(|reward| own.contains_key(&reward.quest_id)), "{rewards:?}");
        let (viewer, ids) = (Caller::user(owner.clone()), std::slice::from_ref(owner));
        let counts = town.accounts().counts(Some(&viewer), ids).await.unwrap();
        let counts = counts.into_iter().flatten().next().unwrap_or_default();
        assert_eq!(counts.xp, counted, "{owner}");
        let steps = (1..1_000).take_while(|level: &u64| level * level * 100 <= counted).count();
        assert_eq!(counts.level(), 1 + steps as u64, "{owner} has {counted}");
    }
    assert!(features.quests.len() < 20 || completed > 0 && expired > 0, "{completed}, {expired}");
}

async fn goal(model: &TownModel, town: &Town, id: &GoalId, aim: &GoalModel) {
    let core = town.context().core();
    let is_kept = model.alive(&aim.owner) && !aim.is_deleted;
    let stored = core.goal(&aim.owner, id).get().await.unwrap();
    let told = stored.as_ref().map(|goal| (&goal.title, goal.completed_at));
    assert_eq!(told, is_kept.then_some((&aim.title, aim.reached)), "{id}");
    let tasks = core.tasks(id).strong().all().await.unwrap();
    let tasks: BTreeMap<_, _> = tasks.into_iter().map(|task| (task.id, task.done_at)).collect();
    let milestones = core.milestones(&aim.owner, id).strong().all().await.unwrap();
    if !is_kept {
        assert!(tasks.is_empty() && milestones.is_empty(), "{id} left {tasks:?} {milestones:?}");
        return;
    }
    assert_eq!(tasks, aim.tasks, "{id}");
    assert_eq!(milestones.len(), aim.parts.len(), "{id}");
    for milestone in milestones {
        let part = &aim.parts[&milestone.id];
        let may_be = part.is_by_hand || part.may_be_achieved;
        let must_be = part.is_by_hand || aim.has_reached(part.share);
        let fits = if milestone.achieved { may_be } else { !must_be };
        assert!(fits, "{milestone:?} of {aim:#?}");
    }
}

/// Asserts that a quest is in a state that the model allows.
fn quest(
    features: &FeatureModel,
    known: &QuestModel,
    stored: Option<&Quest>,
    reward: Option<&XpEntry>,
    now: Time,
) -> bool {
    let is_earned = reward.is_some_and(|reward| reward.reward_xp == known.wish.reward_xp);
    if reward.is_some() && !(is_earned && known.may_be_completed) {
        return false;
    }
    let Some(stored) = stored else { return known.is_deleted };
    let (counted, target) = (features.counted(known), known.target());
    let progress = usize::try_from(stored.progress_count).unwrap();
    let is_past = known.wish.deadline.is_some_and(|deadline| deadline <= now);
    match stored.status {
        _ if known.is_deleted => false,
        QuestStatus::Completed => is_earned && progress == target && !known.is_cancelled,
        _ if is_earned => false,
        QuestStatus::Active => {
            progress == counted && counted < target && !is_past && !known.is_cancelled
        }
        // Tasks done in time and still done were done at the deadline.
        QuestStatus::Cancelled if stored.cancel_reason.is_some() => {
            is_past && (known.is_cancelled || counted < target)
        }
        QuestStatus::Cancelled => known.is_cancelled,
    }
}

/// Counts the remaining goals and quests of a user.
pub(crate) async fn remaining_items(town: &Town, user: &UserId) -> usize {
    let core = town.context().core();
    core.goals(user).all().await.unwrap().len()
        + core.quests(user).all().await.unwrap().len()
        + core.xp_entries(user).all().await.unwrap().len()
}
