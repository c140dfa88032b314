//! What somebody pursues next: most often with what is theirs.

use std::collections::BTreeMap;

use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom, IteratorRandom};
use roundtable_domain::NewQuest;
use roundtable_model::{CountScope, GoalId, GroupId, TaskId, Time, UserId};
use roundtable_testkit::Pursuit;

use crate::life::{Aim, Life};

/// Somebody who is about to do something.
pub(crate) struct Doer<'a> {
    pub(crate) me: &'a UserId,
    pub(crate) is_staff: bool,
    pub(crate) other: UserId,
    pub(crate) another: UserId,
    /// A group they are in.
    pub(crate) joined: Option<GroupId>,
    pub(crate) now: Time,
    pub(crate) random: &'a mut SmallRng,
}

/// Any of these that fit.
fn any<'a, K, V>(
    all: &'a BTreeMap<K, V>,
    random: &mut SmallRng,
    fits: impl Fn(&V) -> bool,
) -> Option<(&'a K, &'a V)> {
    all.iter().filter(|(_, one)| fits(one)).choose(random)
}

impl Doer<'_> {
    /// What a card says; a goal, while there is nothing yet to do it with.
    pub(crate) fn pursuit(&mut self, card: &str, life: &Life) -> Pursuit {
        let pursuit = match card {
            "SetGoal" => None,
            "RenameGoal" | "ReachGoal" | "DeleteGoal" | "AddTask" | "DoTask" | "DeleteTask"
            | "AddMilestone" | "Achieve" | "DeleteMilestone" => self.with_goals(card, life),
            "SetQuest" | "CancelQuest" | "DeleteQuest" => self.with_quests(card, life),
            "EnterCompany" | "MakeOffer" | "CloseOffer" | "Announce" | "Complete"
            | "PostPicture" => self.with_trade(card, life),
            _ => self.with_talk(card, life),
        };
        let title = self.text();
        pursuit.unwrap_or_else(|| Pursuit::SetGoal { title, tag: tag(self.random) })
    }

    fn text(&mut self) -> String {
        format!("wish {}", self.random.random::<u32>())
    }

    fn aim<'a>(
        &mut self,
        life: &'a Life,
        fits: impl Fn(&Aim) -> bool,
    ) -> Option<(GoalId, &'a Aim)> {
        let me = self.me;
        let own = |aim: &Aim| aim.owner == *me && !aim.is_deleted && fits(aim);
        any(&life.aims, self.random, own).map(|(goal, aim)| (goal.clone(), aim))
    }

    fn task(&mut self, life: &Life) -> Option<(GoalId, TaskId, bool)> {
        let (goal, aim) = self.aim(life, |aim| !aim.tasks.is_empty())?;
        let (task, done) = aim.tasks.iter().choose(self.random)?;
        Some((goal, task.clone(), done.is_some()))
    }

    fn with_goals(&mut self, card: &str, life: &Life) -> Option<Pursuit> {
        Some(match card {
            "RenameGoal" => {
                let (goal, _) = self.aim(life, |_| true)?;
                let title = self.text();
                Pursuit::RenameGoal { goal, title, tag: tag(self.random) }
            }
            "ReachGoal" => {
                let (goal, aim) = self.aim(life, |_| true)?;
                let (changes, is_reached) = (self.random.random_bool(0.8), aim.reached.is_some());
                Pursuit::ReachGoal(goal, changes != is_reached)
            }
            "DeleteGoal" => Pursuit::DeleteGoal(self.aim(life, |_| true)?.0),
            "AddTask" => {
                let (goal, _) = self.aim(life, |_| true)?;
                let due_ms = self.random.random_range(1..7_200_000);
                let due_at = self.random.random_bool(0.5).then(|| self.now.plus_ms(due_ms));
                Pursuit::AddTask { goal, title: self.text(), due_at }
            }
            "DoTask" => {
                let (goal, task, is_done) = self.task(life)?;
                let changes = self.random.random_bool(if is_done { 0.4 } else { 0.9 });
                Pursuit::DoTask(goal, task, changes != is_done)
            }
            "DeleteTask" => {
                let (goal, task, _) = self.task(life)?;
                Pursuit::DeleteTask(goal, task)
            }
            "AddMilestone" => {
                let (goal, _) = self.aim(life, |_| true)?;
                Pursuit::AddMilestone(goal, *[30, 50, 100].choose(self.random)?)
            }
            _ => {
                let (goal, aim) = self.aim(life, |aim| !aim.parts.is_empty())?;
                let id = aim.parts.keys().choose(self.random)?.clone();
                match card {
                    "Achieve" => Pursuit::Achieve(goal, id),
                    _ => Pursuit::DeleteMilestone(goal, id),
                }
            }
        })
    }

    fn with_quests(&mut self, card: &str, life: &Life) -> Option<Pursuit> {
        let me = self.me;
        Some(match card {
            "SetQuest" => Pursuit::SetQuest(Box::new(self.quest(life)?)),
            "CancelQuest" => {
                let open = |quest: &&_| is_open(quest) && quest.owner == *me;
                let (id, _) = any(&life.quests, self.random, |quest| open(&quest))?;
                Pursuit::CancelQuest(id.clone())
            }
            _ => {
                let (id, quest) = any(&life.quests, self.random, is_open)?;
                Pursuit::DeleteQuest(quest.owner.clone(), id.clone())
            }
        })
    }

    fn quest(&mut self, life: &Life) -> Option<NewQuest> {
        let (title, target) = (self.text(), self.random.random_range(1..4));
        let mut quest = match self.random.random_range(0..3) {
            0 => {
                let (goal, aim) = self.aim(life, |_| true)?;
                let tasks = aim.tasks.keys().take(target).cloned().collect();
                let goals = if self.random.random() { vec![goal] } else { Vec::new() };
                NewQuest::linked(title, goals, tasks)
            }
            1 => {
                let (_, aim) = self.aim(life, |aim| aim.tasks.len() >= target)?;
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
            quest.start_at = Some(self.now.minus_ms(soon / 2));
            quest.period_seconds = Some(self.random.random_range(5..90));
        }
        Some(quest)
    }

    fn with_talk(&mut self, card: &str, life: &Life) -> Option<Pursuit> {
        let (me, joined) = (self.me, self.joined.clone());
        let is_in = |room: &crate::life::Talk| {
            room.two.as_ref().is_some_and(|two| two.contains(me))
                || room.group.is_some() && room.group == joined
        };
        Some(match card {
            "OpenRoom" => Pursuit::OpenRoom(self.other.clone()),
            "OpenGroupRoom" => Pursuit::OpenGroupRoom(joined?),
            "Say" => {
                let (room, _) = any(&life.rooms, self.random, is_in)?;
                let soon = self.random.random_range(1_000..40_000);
                let expires_at = self.random.random_bool(0.2).then(|| self.now.plus_ms(soon));
                Pursuit::Say { room: room.clone(), text: self.text(), expires_at }
            }
            "ReadRoom" => {
                let (id, room) =
                    any(&life.rooms, self.random, |room| is_in(room) && !room.said.is_empty())?;
                Pursuit::ReadRoom(id.clone(), room.said.choose(self.random)?.id.clone())
            }
            "AskForHelp" if self.other == self.another => {
                Pursuit::AskForHelp(vec![self.other.clone()])
            }
            "AskForHelp" => Pursuit::AskForHelp(vec![self.other.clone(), self.another.clone()]),
            "Advise" => {
                let mine =
                    |asked: &crate::life::Asked| asked.owner == *me || asked.helpers.contains(me);
                let (thread, _) = any(&life.threads, self.random, mine)?;
                Pursuit::Advise(thread.clone(), self.text())
            }
            "SwitchOff" => Pursuit::SwitchOff(self.other.clone(), self.random.random()),
            "ReadNotifications" => Pursuit::ReadNotifications(self.now),
            other => panic!("{other} is no card of this deck"),
        })
    }

    fn with_trade(&mut self, card: &str, life: &Life) -> Option<Pursuit> {
        let (me, is_staff) = (self.me, self.is_staff);
        Some(match card {
            "EnterCompany" => Pursuit::EnterCompany(self.text()),
            "MakeOffer" => {
                let (company, _) = any(&life.companies, self.random, |owner| owner == me)?;
                let (company, title) = (company.clone(), self.text());
                Pursuit::MakeOffer { company, title, tag: tag(self.random) }
            }
            "CloseOffer" => {
                let (id, _) = any(&life.offers, self.random, |it| is_staff || it.owner == *me)?;
                Pursuit::CloseOffer(id.clone())
            }
            "Announce" => Pursuit::Announce { is_sound: self.random.random_bool(0.8) },
            // Whoever cannot yet does what comes before it.
            "Complete" => match any(&life.tickets, self.random, |(owner, _)| owner == me) {
                Some((key, _)) => Pursuit::Complete(key.clone()),
                None => return self.with_trade("Announce", life),
            },
            _ => {
                let is_free =
                    |(owner, _, post): &(UserId, _, Option<_>)| owner == me && post.is_none();
                match any(&life.files, self.random, is_free) {
                    Some((_, (_, file, _))) => Pursuit::PostPicture(file.clone(), self.text()),
                    None => return self.with_trade("Complete", life),
                }
            }
        })
    }
}

fn is_open(quest: &crate::life::Challenge) -> bool {
    !quest.is_cancelled && !quest.is_deleted
}

fn tag(random: &mut SmallRng) -> roundtable_model::Tag {
    format!("t{}", random.random_range(0..9)).parse().unwrap()
}
