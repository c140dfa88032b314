//! Chooses the next feature action, mostly on objects that the user owns.

use std::collections::BTreeMap;

use crate::FeatureAction;
use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom, IteratorRandom};
use roundtable_domain::NewQuest;
use roundtable_model::{CountScope, GoalId, GroupId, TaskId, Time, UserId};

use super::features::{FeatureModel, GoalModel};

pub(crate) struct ActionChooser<'a> {
    pub(crate) me: &'a UserId,
    pub(crate) is_staff: bool,
    pub(crate) other: UserId,
    pub(crate) another: UserId,
    /// A group the user is in.
    pub(crate) joined: Option<GroupId>,
    pub(crate) now: Time,
    pub(crate) random: &'a mut SmallRng,
}

/// A random entry that fits.
fn any<'a, K, V>(
    all: &'a BTreeMap<K, V>,
    random: &mut SmallRng,
    fits: impl Fn(&V) -> bool,
) -> Option<(&'a K, &'a V)> {
    all.iter().filter(|(_, one)| fits(one)).choose(random)
}

impl ActionChooser<'_> {
    /// The action of a card; a goal if there is no object for it yet.
    pub(crate) fn feature_action(&mut self, card: &str, features: &FeatureModel) -> FeatureAction {
        let feature_action = match card {
            "SetGoal" => None,
            "RenameGoal" | "ReachGoal" | "DeleteGoal" | "AddTask" | "DoTask" | "DeleteTask"
            | "AddMilestone" | "Achieve" | "DeleteMilestone" => self.with_goals(card, features),
            "SetQuest" | "CancelQuest" | "DeleteQuest" => self.with_quests(card, features),
            "EnterCompany" | "MakeOffer" | "CloseOffer" | "Announce" | "Complete"
            | "PostPicture" => self.with_trade(card, features),
            _ => self.with_talk(card, features),
        };
        let title = self.text();
        feature_action.unwrap_or_else(|| FeatureAction::SetGoal { title, tag: tag(self.random) })
    }

    fn text(&mut self) -> String {
        format!("wish {}", self.random.random::<u32>())
    }

    fn aim<'a>(
        &mut self,
        features: &'a FeatureModel,
        fits: impl Fn(&GoalModel) -> bool,
    ) -> Option<(GoalId, &'a GoalModel)> {
        let me = self.me;
        let own = |aim: &GoalModel| aim.owner == *me && !aim.is_deleted && fits(aim);
        any(&features.aims, self.random, own).map(|(goal, aim)| (goal.clone(), aim))
    }

    fn task(&mut self, features: &FeatureModel) -> Option<(GoalId, TaskId, bool)> {
        let (goal, aim) = self.aim(features, |aim| !aim.tasks.is_empty())?;
        let (task, done) = aim.tasks.iter().choose(self.random)?;
        Some((goal, task.clone(), done.is_some()))
    }

    fn with_goals(&mut self, card: &str, features: &FeatureModel) -> Option<FeatureAction> {
        Some(match card {
            "RenameGoal" => {
                let (goal, _) = self.aim(features, |_| true)?;
                let title = self.text();
                FeatureAction::RenameGoal { goal, title, tag: tag(self.random) }
            }
            "ReachGoal" => {
                let (goal, aim) = self.aim(features, |_| true)?;
                let (changes, is_reached) = (self.random.random_bool(0.8), aim.reached.is_some());
                FeatureAction::ReachGoal(goal, changes != is_reached)
            }
            "DeleteGoal" => FeatureAction::DeleteGoal(self.aim(features, |_| true)?.0),
            "AddTask" => {
                let (goal, _) = self.aim(features, |_| true)?;
                let due_ms = self.random.random_range(1..7_200_000);
                let due_at = self.random.random_bool(0.5).then(|| self.now.plus_ms(due_ms));
                FeatureAction::AddTask { goal, title: self.text(), due_at }
            }
            "DoTask" => {
                let (goal, task, is_done) = self.task(features)?;
                let changes = self.random.random_bool(if is_done { 0.4 } else { 0.9 });
                FeatureAction::DoTask(goal, task, changes != is_done)
            }
            "DeleteTask" => {
                let (goal, task, _) = self.task(features)?;
                FeatureAction::DeleteTask(goal, task)
            }
            "AddMilestone" => {
                let (goal, _) = self.aim(features, |_| true)?;
                FeatureAction::AddMilestone(goal, *[30, 50, 100].choose(self.random)?)
            }
            _ => {
                let (goal, aim) = self.aim(features, |aim| !aim.parts.is_empty())?;
                let id = aim.parts.keys().choose(self.random)?.clone();
                match card {
                    "Achieve" => FeatureAction::Achieve(goal, id),
                    _ => FeatureAction::DeleteMilestone(goal, id),
                }
            }
        })
    }

    fn with_quests(&mut self, card: &str, features: &FeatureModel) -> Option<FeatureAction> {
        let me = self.me;
        Some(match card {
            "SetQuest" => FeatureAction::SetQuest(Box::new(self.quest(features)?)),
            "CancelQuest" => {
                let open = |quest: &&_| is_open(quest) && quest.owner == *me;
                let (id, _) = any(&features.quests, self.random, |quest| open(&quest))?;
                FeatureAction::CancelQuest(id.clone())
            }
            _ => {
                let (id, quest) = any(&features.quests, self.random, is_open)?;
                FeatureAction::DeleteQuest(quest.owner.clone(), id.clone())
            }
        })
    }

    fn quest(&mut self, features: &FeatureModel) -> Option<NewQuest> {
        let (title, target) = (self.text(), self.random.random_range(1..4));
        let mut quest = match self.random.random_range(0..3) {
            0 => {
                let (goal, aim) = self.aim(features, |_| true)?;
                let tasks = aim.tasks.keys().take(target).cloned().collect();
                let goals = if self.random.random() { vec![goal] } else { Vec::new() };
                NewQuest::linked(title, goals, tasks)
            }
            1 => {
                let (_, aim) = self.aim(features, |aim| aim.tasks.len() >= target)?;
                let linked_task_ids = aim.tasks.keys().take(target + 1).cloned().collect();
                let count_scope = Some(CountScope::Linked);
                NewQuest { linked_task_ids, count_scope, ..NewQuest::tasks(title, target as u64) }
            }
            _ => NewQuest::tasks(title, target as u64),
        };
        quest.reward_xp = self.random.random_range(1..=50);
        quest.tags = vec![tag(self.random)];
        let soon = self.random.random_range(2_000..60_000);
        quest.deadline = self.random.random_bool(0.3).then(|| self.now.plus_ms(soon));
        if quest.target_count.is_some() && self.random.random_bool(0.3) {
            let seconds = self.random.random_range(5..90);
            quest.start_at = Some(self.period_start(features, soon / 2, seconds));
            quest.period_seconds = Some(seconds);
        }
        Some(quest)
    }

    /// A time at which a quest's period starts. Often one that makes the period start or end in the very
    /// millisecond in which a task was done: what is done then still counts.
    fn period_start(&mut self, features: &FeatureModel, ago_ms: u64, seconds: u64) -> Time {
        let me = self.me;
        let own = features.aims.values().filter(|aim| aim.owner == *me && !aim.is_deleted);
        let done = own.flat_map(|aim| aim.tasks.values().flatten()).choose(self.random);
        match (done, self.random.random_range(0..4)) {
            (Some(done_at), 0) => *done_at,
            (Some(done_at), 1 | 2) => done_at.minus_ms(seconds * 1_000),
            _ => self.now.minus_ms(ago_ms),
        }
    }

    fn with_talk(&mut self, card: &str, features: &FeatureModel) -> Option<FeatureAction> {
        let (me, joined) = (self.me, self.joined.clone());
        let is_in = |room: &super::features::RoomModel| {
            room.two.as_ref().is_some_and(|two| two.contains(me))
                || room.group.is_some() && room.group == joined
        };
        Some(match card {
            "OpenRoom" => FeatureAction::OpenRoom(self.other.clone()),
            "OpenGroupRoom" => FeatureAction::OpenGroupRoom(joined?),
            "Say" => {
                let (room, _) = any(&features.rooms, self.random, is_in)?;
                let soon = self.random.random_range(1_000..40_000);
                let expires_at = self.random.random_bool(0.2).then(|| self.now.plus_ms(soon));
                FeatureAction::Say { room: room.clone(), text: self.text(), expires_at }
            }
            "ReadRoom" => {
                let (id, room) =
                    any(&features.rooms, self.random, |room| is_in(room) && !room.said.is_empty())?;
                FeatureAction::ReadRoom(id.clone(), room.said.choose(self.random)?.id.clone())
            }
            "AskForHelp" if self.other == self.another => {
                FeatureAction::AskForHelp(vec![self.other.clone()])
            }
            "AskForHelp" => {
                FeatureAction::AskForHelp(vec![self.other.clone(), self.another.clone()])
            }
            "Advise" => {
                let mine = |asked: &super::features::ThreadModel| {
                    asked.owner == *me || asked.helpers.contains(me)
                };
                let (thread, _) = any(&features.threads, self.random, mine)?;
                FeatureAction::Advise(thread.clone(), self.text())
            }
            "SwitchOff" => FeatureAction::SwitchOff(self.other.clone(), self.random.random()),
            "ReadNotifications" => FeatureAction::ReadNotifications(self.now),
            other => panic!("{other} is no card of this deck"),
        })
    }

    fn with_trade(&mut self, card: &str, features: &FeatureModel) -> Option<FeatureAction> {
        let (me, is_staff) = (self.me, self.is_staff);
        Some(match card {
            "EnterCompany" => FeatureAction::EnterCompany(self.text()),
            "MakeOffer" => {
                let (company, _) = any(&features.companies, self.random, |owner| owner == me)?;
                let (company, title) = (company.clone(), self.text());
                FeatureAction::MakeOffer { company, title, tag: tag(self.random) }
            }
            "CloseOffer" => {
                let (id, _) = any(&features.offers, self.random, |it| is_staff || it.owner == *me)?;
                FeatureAction::CloseOffer(id.clone())
            }
            "Announce" => FeatureAction::Announce { is_sound: self.random.random_bool(0.8) },
            // Without an object, create one first.
            "Complete" => match any(&features.tickets, self.random, |(owner, _)| owner == me) {
                Some((key, _)) => FeatureAction::Complete(key.clone()),
                None => return self.with_trade("Announce", features),
            },
            _ => {
                let is_free =
                    |(owner, _, post): &(UserId, _, Option<_>)| owner == me && post.is_none();
                match any(&features.files, self.random, is_free) {
                    Some((_, (_, file, _))) => {
                        FeatureAction::PostPicture(file.clone(), self.text())
                    }
                    None => return self.with_trade("Complete", features),
                }
            }
        })
    }
}

fn is_open(quest: &super::features::QuestModel) -> bool {
    !quest.is_cancelled && !quest.is_deleted
}

fn tag(random: &mut SmallRng) -> roundtable_model::Tag {
    format!("t{}", random.random_range(0..9)).parse().unwrap()
}
