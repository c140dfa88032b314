//! Whether people were told what they should be, once, and how much of it they have not read (R38).
//!
//! Whom somebody could hear of while it was written is not remembered: a mute may have come and gone. So
//! everything they are told must be true, and what nobody ever came between must have been told.

use std::collections::{BTreeMap, BTreeSet};

use roundtable_domain::{Caller, Notifications, PageInput, hour_of};
use roundtable_model::entities::Notification;
use roundtable_model::{
    FollowStatus, MessageId, NotificationKind as Kind, PostId, QuestStatus, SubjectId, Time,
    UserId, UserStatus,
};
use roundtable_testkit::Town;

use crate::life::Spoken;
use crate::model::Memory;

/// What somebody must have been told: of what, and when, if that is known.
type Due = (Kind, SubjectId, Option<Time>);

/// Compares what people were told with what happened.
pub(crate) async fn told(memory: &Memory, town: &Town) {
    let notifications = Notifications::new(town.ground().clone());
    let (mut all, mut unread) = (0, 0);
    for user in memory.everybody.iter().filter(|user| memory.alive(user)) {
        let profile = town.ground().core().profile(user).strong().get().await.unwrap().unwrap();
        if profile.status != UserStatus::Active {
            continue;
        }
        let caller = Caller::user(user.clone());
        let notes = of(&notifications, &caller).await;
        let not_read = notes.iter().filter(|note| note.read_at.is_none()).count() as u64;
        assert_eq!(notifications.unread(&caller).await.unwrap(), not_read, "{user}");
        (all, unread) = (all + notes.len(), unread + not_read);
        for note in &notes {
            assert!(is_true(memory, town, user, note).await, "{user} was told {note:?}");
            let marked = memory.life.marked.get(user).is_some_and(|at| note.created_at <= *at);
            assert!(note.read_at.is_none() || marked, "{user} has not read {note:?}");
        }
        for (kind, about, at) in due(memory, town, user).await {
            let same = notes.iter().filter(|note| {
                let object = note.object.as_ref().map(|object| &object.id);
                note.kind == kind
                    && object == Some(&about)
                    && at.is_none_or(|at| note.created_at == at)
            });
            assert_eq!(same.count(), 1, "{user} must be told of {kind} {about} of {at:?}");
        }
        let read = notifications.mark_read(&caller, town.now().plus_ms(1), None).await.unwrap();
        assert_eq!(read, not_read, "{user}");
    }
    town.settle().await;
    for user in memory.everybody.iter().filter(|user| memory.alive(user)) {
        // Whoever is suspended cannot ask.
        let unread = notifications.unread(&Caller::user(user.clone())).await;
        assert!(unread.is_ok_and(|unread| unread == 0) || is_suspended(town, user).await, "{user}");
    }
    assert!(memory.acts < 1_000 || all as u64 > unread && unread > 0, "{unread} of {all} unread");
}

async fn is_suspended(town: &Town, user: &UserId) -> bool {
    let profile = town.ground().core().profile(user).strong().get().await.unwrap();
    profile.is_some_and(|profile| profile.status == UserStatus::Suspended)
}

async fn of(notifications: &Notifications, caller: &Caller) -> Vec<Notification> {
    let (mut notes, mut after) = (Vec::new(), None);
    loop {
        let page = PageInput { limit: Some(100), after };
        let page = notifications.list(caller, &page).await.unwrap();
        let next = page.next.clone();
        notes.extend(page.into_items().into_iter().map(|notice| notice.notification));
        if next.is_none() {
            return notes;
        }
        after = next;
    }
}

/// Whether what somebody is told is so.
async fn is_true(memory: &Memory, town: &Town, user: &UserId, note: &Notification) -> bool {
    let (core, about) = (town.ground().core(), note.object.as_ref().unwrap().id.clone());
    let heard = |actor: &UserId| memory.alive(actor) && !memory.is_blocked(user, actor);
    if !note.actor_id.as_ref().is_none_or(heard) {
        return false;
    }
    let by = note.actor_id.clone().unwrap_or_else(|| user.clone());
    match note.kind {
        Kind::Like | Kind::Share => {
            let post: PostId = about.recast();
            let marks = if note.kind == Kind::Like { &memory.likes } else { &memory.shares };
            let said = &memory.posted[&post];
            let is_done = marks.get(&(by, post)).is_some_and(|done| *done);
            is_done && said.author == *user && said.text.is_some()
        }
        Kind::Follow | Kind::FollowRequest => {
            core.follows(&by, user).get().await.unwrap().is_some()
        }
        Kind::Comment => {
            let said = &memory.commented[&about.recast()];
            said.author == by && said.text.is_some()
        }
        Kind::Message => {
            let id: MessageId = about.recast();
            let mut said = memory.life.rooms.values().flat_map(|room| &room.said);
            said.any(|said| said.id == id && said.by == by)
        }
        Kind::Quest => {
            let quest = &memory.life.quests[&about.recast()];
            quest.owner == *user && !quest.is_deleted
        }
        Kind::Reminder => memory.life.aims.values().any(|aim| {
            let task = aim.tasks.get(&about.recast());
            aim.owner == *user && !aim.is_deleted && task.is_some_and(Option::is_none)
        }),
        Kind::Mention | Kind::Group | Kind::Moderation => true,
    }
}

/// What somebody must have been told, whenever it was found out.
async fn due(memory: &Memory, town: &Town, user: &UserId) -> Vec<Due> {
    if memory.sanctioned.contains(user) {
        return Vec::new();
    }
    let mut due = Vec::new();
    plans(memory, town, user, &mut due).await;
    reactions(memory, town, user, &mut due).await;
    messages(memory, town, user, &mut due);
    due
}

/// Whether nobody ever came between somebody and who is to hear of them.
fn hears(memory: &Memory, user: &UserId, actor: &UserId) -> bool {
    user != actor
        && memory.alive(actor)
        && !memory.sanctioned.contains(actor)
        && !memory.disturbed.contains(&(actor.clone(), user.clone()))
}

async fn plans(memory: &Memory, town: &Town, user: &UserId, due: &mut Vec<Due>) {
    let core = town.ground().core();
    for (id, _) in memory.life.quests.iter().filter(|(_, quest)| quest.owner == *user) {
        let quest = core.quest(user, id).get().await.unwrap();
        let quest = quest.filter(|quest| {
            quest.status == QuestStatus::Completed || quest.cancel_reason.is_some()
        });
        due.extend(quest.map(|_| (Kind::Quest, id.into(), None)));
    }
    let kept = |aim: &&crate::life::Aim| aim.owner == *user && !aim.is_deleted;
    for (goal, _) in memory.life.aims.iter().filter(|(_, aim)| kept(aim)) {
        let tasks = core.tasks(goal).strong().all().await.unwrap();
        let open = tasks.iter().filter(|task| !task.done && task.due_at.is_some());
        due.extend(open.map(|task| (Kind::Reminder, (&task.id).into(), None)));
    }
}

async fn reactions(memory: &Memory, town: &Town, user: &UserId, due: &mut Vec<Due>) {
    let core = town.ground().core();
    let mut liked: BTreeSet<(PostId, Time)> = BTreeSet::new();
    for ((actor, post), _) in memory.likes.iter().filter(|(_, liked)| **liked) {
        let said = &memory.posted[post];
        let is_mine = said.author == *user && said.place.is_none() && said.text.is_some();
        if is_mine && hears(memory, user, actor) {
            let likes = core.liked(std::slice::from_ref(post), actor).get().await.unwrap();
            let like = likes.into_iter().flatten().next().unwrap();
            liked.insert((post.clone(), hour_of(like.created_at)));
        }
    }
    due.extend(liked.iter().map(|(post, hour)| (Kind::Like, post.into(), Some(*hour))));
    let follows = memory.follows.iter().filter(|((_, to), is)| to == user && **is == Some(true));
    for ((actor, _), _) in follows.filter(|((actor, _), _)| hears(memory, user, actor)) {
        let edge = core.follows(actor, user).get().await.unwrap().unwrap();
        let since = edge.active_since.filter(|_| edge.status == FollowStatus::Active);
        due.extend(since.map(|since| (Kind::Follow, actor.into(), Some(since))));
    }
}

/// Of what one person wrote in an hour, the last of it is told.
fn messages(memory: &Memory, town: &Town, user: &UserId, due: &mut Vec<Due>) {
    let now = town.now();
    for room in memory.life.rooms.values() {
        let Some(two) = room.two.as_ref().filter(|two| two.contains(user)) else { continue };
        let Some(other) = two.iter().find(|other| hears(memory, user, other)) else { continue };
        let live = |said: &&Spoken| said.by == *other && said.expires_at.is_none_or(|at| at > now);
        let mut hours: BTreeMap<Time, &Spoken> = BTreeMap::new();
        for said in room.said.iter().filter(live) {
            let last = hours.entry(hour_of(said.id.time().unwrap())).or_insert(said);
            *last = if said.seq > last.seq { said } else { last };
        }
        // Where nobody sweeps, one that has expired may still be the last.
        if town.ground().store().capabilities().one_process {
            let told =
                hours.iter().map(|(hour, said)| (Kind::Message, (&said.id).into(), Some(*hour)));
            due.extend(told);
        }
    }
}
