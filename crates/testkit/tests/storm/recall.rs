//! What people remember of what they pursued.

use std::collections::BTreeMap;

use roundtable_model::UserId;
use roundtable_testkit::{Gained, Pursuit};

use crate::life::{Aim, Asked, Challenge, Life, Offered, Part, Spoken, Talk};
use crate::model::{Memory, Said};

/// Keeps in mind what somebody has pursued.
pub(crate) fn recall(memory: &mut Memory, me: &UserId, pursuit: &Pursuit, gained: &Gained) {
    memory.done += 1;
    let life = &mut memory.life;
    of_goals(life, me, pursuit, gained);
    of_quests(life, me, pursuit, gained);
    of_talk(life, me, pursuit, gained);
    of_trade(life, me, pursuit, gained);
    life.look(me);
    match (pursuit, gained) {
        (Pursuit::PostPicture(_, text), Gained::Post(post)) => {
            memory.posts.push(post.clone());
            let said = Said { author: me.clone(), place: None, text: Some(text.clone()) };
            memory.posted.insert(post.clone(), said);
        }
        (Pursuit::SwitchOff(other, _), _) => {
            memory.disturbed.insert((other.clone(), me.clone()));
        }
        _ => {}
    }
}

fn of_goals(life: &mut Life, me: &UserId, pursuit: &Pursuit, gained: &Gained) {
    match (pursuit, gained) {
        (Pursuit::SetGoal { title, .. }, Gained::Goal(goal, reached)) => {
            let aim = Aim {
                owner: me.clone(),
                title: title.clone(),
                reached: *reached,
                tasks: BTreeMap::new(),
                parts: BTreeMap::new(),
                is_deleted: false,
            };
            life.aims.insert(goal.clone(), aim);
        }
        (Pursuit::RenameGoal { goal, title, .. }, _) => {
            life.aims.get_mut(goal).unwrap().title.clone_from(title);
        }
        (Pursuit::ReachGoal(goal, _), Gained::Goal(_, reached)) => {
            life.aims.get_mut(goal).unwrap().reached = *reached;
        }
        (Pursuit::DeleteGoal(goal), _) => life.aims.get_mut(goal).unwrap().is_deleted = true,
        (
            Pursuit::AddTask { goal, .. } | Pursuit::DoTask(goal, ..),
            Gained::Task(task, done_at),
        ) => {
            life.aims.get_mut(goal).unwrap().tasks.insert(task.clone(), *done_at);
        }
        (Pursuit::DeleteTask(goal, task), _) => {
            life.aims.get_mut(goal).unwrap().tasks.remove(task);
        }
        (Pursuit::AddMilestone(goal, share), Gained::Milestone(id)) => {
            let part = Part { share: *share, is_by_hand: false, may_be_achieved: false };
            life.aims.get_mut(goal).unwrap().parts.insert(id.clone(), part);
        }
        (Pursuit::Achieve(goal, id), _) => {
            let part = life.aims.get_mut(goal).unwrap().parts.get_mut(id);
            part.into_iter().for_each(|part| part.is_by_hand = true);
        }
        (Pursuit::DeleteMilestone(goal, id), _) => {
            life.aims.get_mut(goal).unwrap().parts.remove(id);
        }
        _ => {}
    }
}

fn of_quests(life: &mut Life, me: &UserId, pursuit: &Pursuit, gained: &Gained) {
    match (pursuit, gained) {
        (Pursuit::SetQuest(wish), Gained::Quest(id, created_at)) => {
            let quest = Challenge {
                owner: me.clone(),
                wish: (**wish).clone(),
                created_at: *created_at,
                may_be_completed: false,
                is_cancelled: false,
                is_deleted: false,
            };
            life.quests.insert(id.clone(), quest);
        }
        (Pursuit::CancelQuest(id), _) => life.quests.get_mut(id).unwrap().is_cancelled = true,
        (Pursuit::DeleteQuest(_, id), _) => life.quests.get_mut(id).unwrap().is_deleted = true,
        _ => {}
    }
}

fn of_talk(life: &mut Life, me: &UserId, pursuit: &Pursuit, gained: &Gained) {
    match (pursuit, gained) {
        (Pursuit::OpenRoom(other), Gained::Room(room)) => {
            let room = life.rooms.entry(room.clone()).or_default();
            room.two.get_or_insert_with(|| [me.clone(), other.clone()]);
        }
        (Pursuit::OpenGroupRoom(group), Gained::Room(room)) => {
            life.rooms.entry(room.clone()).or_default().group = Some(group.clone());
        }
        (Pursuit::Say { room, text, expires_at }, Gained::Message(id, seq)) => {
            let room: &mut Talk = life.rooms.get_mut(room).unwrap();
            room.said.push(Spoken {
                id: id.clone(),
                seq: *seq,
                by: me.clone(),
                text: text.clone(),
                expires_at: *expires_at,
            });
            let read = room.read.entry(me.clone()).or_default();
            *read = (*read).max(*seq);
        }
        (Pursuit::ReadRoom(room, message), _) => {
            let room = life.rooms.get_mut(room).unwrap();
            let seq = room.said.iter().find(|said| said.id == *message).unwrap().seq;
            let read = room.read.entry(me.clone()).or_default();
            *read = (*read).max(seq);
        }
        (Pursuit::AskForHelp(helpers), Gained::Thread(id)) => {
            let asked = Asked { owner: me.clone(), helpers: helpers.clone(), said: Vec::new() };
            life.threads.insert(id.clone(), asked);
        }
        (Pursuit::Advise(thread, _), Gained::Advice(id)) => {
            life.threads.get_mut(thread).unwrap().said.push((id.clone(), me.clone()));
        }
        (Pursuit::ReadNotifications(before), _) => {
            let marked = life.marked.entry(me.clone()).or_insert(*before);
            *marked = (*marked).max(*before);
        }
        _ => {}
    }
}

fn of_trade(life: &mut Life, me: &UserId, pursuit: &Pursuit, gained: &Gained) {
    match (pursuit, gained) {
        (Pursuit::EnterCompany(_), Gained::Company(id)) => {
            life.companies.insert(id.clone(), me.clone());
        }
        (Pursuit::MakeOffer { .. }, Gained::Offer(id)) => {
            life.offers.insert(id.clone(), Offered { owner: me.clone(), is_closed: false });
        }
        (Pursuit::CloseOffer(id), _) => life.offers.get_mut(id).unwrap().is_closed = true,
        (Pursuit::Announce { is_sound }, Gained::Ticket(key)) => {
            life.tickets.insert(key.clone(), (me.clone(), *is_sound));
        }
        (Pursuit::Complete(key), Gained::File(file)) => {
            let (_, is_sound) = &life.tickets[key];
            assert!(is_sound, "{key} is no picture, and was taken");
            let known = (me.clone(), file.clone(), None);
            life.files.entry(key.clone()).or_insert(known);
        }
        (Pursuit::PostPicture(file, _), Gained::Post(post)) => {
            life.files.get_mut(&file.s3_key).unwrap().2 = Some(post.clone());
        }
        _ => {}
    }
}
