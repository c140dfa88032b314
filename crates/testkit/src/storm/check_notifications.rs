//! Compares notifications and unread counts with the model (R38).
//!
//! The model does not record who was muted or blocked at which time. So every notification must be
//! true, and those that nothing ever suppressed must exist.

use std::collections::{BTreeMap, BTreeSet};

use crate::Town;
use roundtable_domain::{Caller, Notifications, PageInput, collapse_hour};
use roundtable_model::entities::Notification;
use roundtable_model::{
    FollowStatus, MessageId, NotificationKind as Kind, PostId, QuestStatus, SubjectId, Time,
    UserId, UserStatus,
};

use super::features::MessageModel;
use super::town_model::TownModel;

/// A notification that must exist: its subject, and its time if known.
type Due = (Kind, SubjectId, Option<Time>);

pub(crate) async fn check_notifications(model: &TownModel, town: &Town) {
    let notifications = Notifications::new(town.context().clone());
    let (mut all, mut unread) = (0, 0);
    for user in model.active_users.iter().filter(|user| model.alive(user)) {
        let profile = town.context().core().profile(user).strong().get().await.unwrap().unwrap();
        if profile.status != UserStatus::Active {
            continue;
        }
        let caller = Caller::user(user.clone());
        let notes = of(&notifications, &caller).await;
        let not_read = notes.iter().filter(|note| note.read_at.is_none()).count() as u64;
        assert_eq!(notifications.unread(&caller).await.unwrap(), not_read, "{user}");
        (all, unread) = (all + notes.len(), unread + not_read);
        for note in &notes {
            assert!(is_true(model, town, user, note).await, "{user} was told {note:?}");
            let marked = model.features.marked.get(user).is_some_and(|at| note.created_at <= *at);
            assert!(note.read_at.is_none() || marked, "{user} has not read {note:?}");
        }
        for (kind, about, at) in due(model, town, user).await {
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
    for user in model.active_users.iter().filter(|user| model.alive(user)) {
        // Suspended users cannot read.
        let unread = notifications.unread(&Caller::user(user.clone())).await;
        assert!(unread.is_ok_and(|unread| unread == 0) || is_suspended(town, user).await, "{user}");
    }
    assert!(model.acts < 1_000 || all as u64 > unread && unread > 0, "{unread} of {all} unread");
}

async fn is_suspended(town: &Town, user: &UserId) -> bool {
    let profile = town.context().core().profile(user).strong().get().await.unwrap();
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

/// Returns `true` if a notification matches the model.
async fn is_true(model: &TownModel, town: &Town, user: &UserId, note: &Notification) -> bool {
    let (core, about) = (town.context().core(), note.object.as_ref().unwrap().id.clone());
    let heard = |actor: &UserId| model.alive(actor) && !model.is_blocked(user, actor);
    if !note.actor_id.as_ref().is_none_or(heard) {
        return false;
    }
    let by = note.actor_id.clone().unwrap_or_else(|| user.clone());
    match note.kind {
        Kind::Like | Kind::Share => {
            let post: PostId = about.recast();
            let marks = if note.kind == Kind::Like { &model.likes } else { &model.shares };
            let said = &model.posted[&post];
            let is_done = marks.get(&(by, post)).is_some_and(|done| *done);
            is_done && said.author == *user && said.text.is_some()
        }
        Kind::Follow | Kind::FollowRequest => {
            core.follows(&by, user).get().await.unwrap().is_some()
        }
        Kind::Comment => {
            let said = &model.commented[&about.recast()];
            said.author == by && said.text.is_some()
        }
        Kind::Message => {
            let id: MessageId = about.recast();
            let mut said = model.features.rooms.values().flat_map(|room| &room.said);
            said.any(|said| said.id == id && said.by == by)
        }
        Kind::Quest => {
            let quest = &model.features.quests[&about.recast()];
            quest.owner == *user && !quest.is_deleted
        }
        Kind::Reminder => model.features.aims.values().any(|aim| {
            let task = aim.tasks.get(&about.recast());
            aim.owner == *user && !aim.is_deleted && task.is_some_and(Option::is_none)
        }),
        Kind::FollowAccepted => core.follows(user, &by).get().await.unwrap().is_some(),
        Kind::CommentLike
        | Kind::Post
        | Kind::AssistRequest
        | Kind::AssistAnswer
        | Kind::Mention
        | Kind::Group
        | Kind::GroupRequest
        | Kind::Moderation => true,
        // The storm creates none.
        Kind::ApiKey | Kind::Identity | Kind::GroupArchival | Kind::SignIn => false,
    }
}

/// The notifications that a user must have.
async fn due(model: &TownModel, town: &Town, user: &UserId) -> Vec<Due> {
    if model.sanctioned.contains(user) {
        return Vec::new();
    }
    let mut due = Vec::new();
    plans(model, town, user, &mut due).await;
    reactions(model, town, user, &mut due).await;
    messages(model, town, user, &mut due);
    due
}

/// Returns `true` if nothing ever suppressed notifications about the actor.
fn is_unobstructed(model: &TownModel, user: &UserId, actor: &UserId) -> bool {
    user != actor
        && model.alive(actor)
        && !model.sanctioned.contains(actor)
        && !model.disturbed.contains(&(actor.clone(), user.clone()))
}

async fn plans(model: &TownModel, town: &Town, user: &UserId, due: &mut Vec<Due>) {
    let core = town.context().core();
    for (id, _) in model.features.quests.iter().filter(|(_, quest)| quest.owner == *user) {
        let quest = core.quest(user, id).get().await.unwrap();
        let quest = quest.filter(|quest| {
            quest.status == QuestStatus::Completed || quest.cancel_reason.is_some()
        });
        due.extend(quest.map(|_| (Kind::Quest, id.into(), None)));
    }
    let kept = |aim: &&super::features::GoalModel| aim.owner == *user && !aim.is_deleted;
    for (goal, _) in model.features.aims.iter().filter(|(_, aim)| kept(aim)) {
        let tasks = core.tasks(goal).strong().all().await.unwrap();
        let open = tasks.iter().filter(|task| !task.done && task.due_at.is_some());
        due.extend(open.map(|task| (Kind::Reminder, (&task.id).into(), None)));
    }
}

async fn reactions(model: &TownModel, town: &Town, user: &UserId, due: &mut Vec<Due>) {
    let core = town.context().core();
    let mut liked: BTreeSet<(PostId, Time)> = BTreeSet::new();
    for ((actor, post), _) in model.likes.iter().filter(|(_, liked)| **liked) {
        let said = &model.posted[post];
        let is_mine = said.author == *user && said.place.is_none() && said.text.is_some();
        if is_mine && is_unobstructed(model, user, actor) {
            let likes = core.liked(std::slice::from_ref(post), actor).get().await.unwrap();
            let like = likes.into_iter().flatten().next().unwrap();
            liked.insert((post.clone(), collapse_hour(like.created_at)));
        }
    }
    due.extend(liked.iter().map(|(post, hour)| (Kind::Like, post.into(), Some(*hour))));
    let follows = model.follows.iter().filter(|((_, to), is)| to == user && **is == Some(true));
    for ((actor, _), _) in follows.filter(|((actor, _), _)| is_unobstructed(model, user, actor)) {
        let edge = core.follows(actor, user).get().await.unwrap().unwrap();
        let since = edge.active_since.filter(|_| edge.status == FollowStatus::Active);
        due.extend(since.map(|since| (Kind::Follow, actor.into(), Some(since))));
    }
}

/// Messages of one sender within an hour are one notification, about the last.
fn messages(model: &TownModel, town: &Town, user: &UserId, due: &mut Vec<Due>) {
    let now = town.now();
    for room in model.features.rooms.values() {
        let Some(two) = room.two.as_ref().filter(|two| two.contains(user)) else { continue };
        let Some(other) = two.iter().find(|other| is_unobstructed(model, user, other)) else {
            continue;
        };
        let live =
            |said: &&MessageModel| said.by == *other && said.expires_at.is_none_or(|at| at > now);
        let mut hours: BTreeMap<Time, &MessageModel> = BTreeMap::new();
        for said in room.said.iter().filter(live) {
            let last = hours.entry(collapse_hour(said.id.time().unwrap())).or_insert(said);
            *last = if said.seq > last.seq { said } else { last };
        }
        // Without a sweep, an expired message may still be the last.
        if town.context().store().capabilities().single_process {
            let told =
                hours.iter().map(|(hour, said)| (Kind::Message, (&said.id).into(), Some(*hour)));
            due.extend(told);
        }
    }
}
