//! Stored notifications match the facts, however changes are delivered (R38, I6).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use roundtable_domain::{Notifications, PostChange, ProfileChange};
use roundtable_model::entities::{
    Comment, Message, ModerationCase, Notification, Post, Quest, Room, RoomMember, Task,
};
use roundtable_model::table::{BatchWrite, Put};
use roundtable_model::{
    Entity, Expiry, ModerationStatus, QuestStatus, Role, RoomScope, Span, Visibility, rekey,
    samples,
};
use roundtable_streams::{JobHandler, NotificationWriter, Runner};
use roundtable_testkit::Town;

use crate::facts::{all, everything};

const HOUR_MS: u64 = 60 * 60 * 1000;

/// All notifications, one line each: recipient, kind and actor, without read marks.
async fn stored(town: &Town) -> Vec<String> {
    let mut notes: Vec<Notification> = all(&everything(town.context()).await);
    notes.sort_by_key(|note| (note.user_id.clone(), note.created_at, note.id.clone()));
    let line = |note: &Notification| {
        let actor = note.actor_id.as_ref().map_or("-".into(), ToString::to_string);
        format!("{} {} {actor}", note.user_id, note.kind)
    };
    notes.iter().map(line).collect()
}

/// Processes the stream from the beginning again.
async fn reprocess(town: &Town) {
    let ops = town.context().ops();
    for checkpoint in ops.checkpoints(&NotificationWriter::NAME).all().await.unwrap() {
        ops.table().delete(checkpoint.key().delete()).await.unwrap();
    }
    town.settle().await;
}

async fn write(town: &Town, put: Put) {
    town.context().core().table().put(put).await.unwrap();
}

async fn room(town: &Town, names: [&str; 2]) -> Room {
    let (id, created_at) = ("room".parse().unwrap(), town.now());
    let (scope, message_timeline) = (RoomScope::Dm, None);
    let room = Room { id, scope, group_id: None, message_timeline, created_at };
    write(town, room.create()).await;
    for name in names {
        let member = RoomMember {
            room_id: room.id.clone(),
            user_id: town.id(name),
            read_seq: 0,
            joined_at: created_at,
        };
        write(town, member.create()).await;
    }
    room
}

async fn message(town: &Town, room: &Room, by: &str) -> Message {
    let message = Message {
        room_id: room.id.clone(),
        id: town.context().ids().next(),
        user_id: town.id(by),
        created_at: town.now(),
        ttl: None,
        ..samples::message()
    };
    write(town, message.create()).await;
    message
}

async fn task(town: &Town, due_ms: u64) -> Task {
    let task = Task {
        user_id: town.id("ana"),
        due_at: Some(town.now().plus_ms(due_ms)),
        done: false,
        done_at: None,
        version: 1,
        ..samples::task()
    };
    write(town, task.create()).await;
    task
}

async fn becomes(town: &Town, before: &Task, after: &Task) {
    let update = rekey(before, after).unwrap();
    town.context().core().table().update(update).await.unwrap();
}

/// R38: notifications reach the users concerned and no other users.
#[tokio::test]
async fn users_are_notified_of_what_concerns_them() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.add_user("pia", |pia| pia.is_private = true).await;
    town.follow("bo", "ana").await;
    town.follow("bo", "pia").await;
    let post = town.post("ana", "hello @cleo and @ana").await;
    town.like("bo", &post.id).await;
    town.share("cleo", &post.id).await;
    let comment = town.comment("bo", &post.id, "well said").await;
    town.reply("cleo", &post.id, Some(&comment.id), "is it?").await;
    town.like("ana", &post.id).await;
    let room = room(&town, ["ana", "bo"]).await;
    message(&town, &room, "bo").await;
    message(&town, &room, "bo").await;
    town.settle().await;
    let mut expected = [
        "ana follow bo",
        "ana like bo",
        "ana share cleo",
        "ana comment bo",
        "ana comment cleo",
        "ana message bo",
        "bo comment cleo",
        "cleo mention ana",
        "pia follow_request bo",
    ];
    expected.sort_unstable();
    let mut found = stored(&town).await;
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// R38
#[tokio::test]
async fn users_are_notified_about_their_groups_quests_and_cases() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    town.grant_role("mo", Role::Moderator).await;
    let group = town.create_private_group("ana", "readers").await;
    town.join("bo", &group).await;
    town.groups().invite(&town.caller("ana"), &group, &town.id("cleo"), None).await.unwrap();
    town.settle().await;
    assert_eq!(stored(&town).await, ["ana group_request bo", "cleo group -"]);
    town.advance_ms(1);
    town.groups().approve(&town.caller("ana"), &group, &town.id("bo"), None).await.unwrap();
    town.join("cleo", &group).await;
    let quest = Quest {
        user_id: town.id("bo"),
        status: QuestStatus::Completed,
        updated_at: town.now(),
        ..samples::quest()
    };
    write(&town, quest.create()).await;
    let late = Quest {
        id: "late".parse().unwrap(),
        status: QuestStatus::Cancelled,
        cancel_reason: Some("expired".into()),
        ..quest.clone()
    };
    write(&town, late.create()).await;
    let given_up = Quest { id: "no".parse().unwrap(), cancel_reason: None, ..late };
    write(&town, given_up.create()).await;
    town.settle().await;
    // Cleo accepted her invitation and is not notified.
    assert_eq!(stored(&town).await, ["bo group -", "bo quest -", "bo quest -"]);
    let case = ModerationCase {
        id: "case".parse().unwrap(),
        post_id: Some(town.post("ana", "hm").await.id),
        comment_id: None,
        status: ModerationStatus::Rejected,
        decided_by: Some(town.id("mo")),
        decided_at: Some(town.now()),
        version: 1,
        ..samples::moderation_case()
    };
    write(&town, case.create()).await;
    town.settle().await;
    assert_eq!(stored(&town).await[0], "ana moderation -");
}

/// R38: likes of one hour are one notification, which names the latest.
#[tokio::test]
async fn likes_of_an_hour_are_one_notification() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let post = town.post("ana", "hello").await;
    for name in ["bo", "cleo", "dan"] {
        town.advance_ms(1);
        town.like(name, &post.id).await;
    }
    town.settle().await;
    assert_eq!(stored(&town).await, ["ana like dan"]);
    let unlike = async |name: &str| {
        town.likes().unlike(&town.caller(name), &post.id, None).await.unwrap();
        town.settle().await;
        stored(&town).await
    };
    assert_eq!(unlike("bo").await, ["ana like dan"]);
    assert_eq!(unlike("dan").await, ["ana like cleo"]);
    assert_eq!(unlike("cleo").await, [] as [String; 0]);
    town.like("bo", &post.id).await;
    town.advance_ms(HOUR_MS);
    town.like("cleo", &post.id).await;
    town.settle().await;
    assert_eq!(stored(&town).await, ["ana like bo", "ana like cleo"]);
}

/// R38, I6: redelivered changes change nothing, and restore deleted notifications.
#[tokio::test]
async fn reprocessing_writes_the_same_notifications() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    for follower in ["bo", "cleo"] {
        town.follow(follower, "ana").await;
    }
    let post = town.post("ana", "hello @bo").await;
    for name in ["bo", "cleo", "dan"] {
        town.advance_ms(1);
        town.like(name, &post.id).await;
        town.comment(name, &post.id, "well said").await;
        town.share(name, &post.id).await;
    }
    let room = room(&town, ["ana", "bo"]).await;
    let first = message(&town, &room, "bo").await;
    town.advance_ms(1);
    message(&town, &room, "bo").await;
    task(&town, HOUR_MS / 2).await;
    town.settle().await;
    town.likes().unlike(&town.caller("dan"), &post.id, None).await.unwrap();
    town.follows().unfollow(&town.caller("cleo"), &town.id("ana"), None).await.unwrap();
    town.context().core().table().delete(first.key().delete()).await.unwrap();
    town.settle().await;
    let expected: Vec<Notification> = all(&everything(town.context()).await);
    assert_eq!(expected.len(), 9, "{:?}", stored(&town).await);
    reprocess(&town).await;
    assert_eq!(all::<Notification>(&everything(town.context()).await), expected);
    for note in &expected {
        let gone = BatchWrite::Delete(note.key().into_key());
        town.context().core().table().batch_write(vec![gone]).await.unwrap();
    }
    reprocess(&town).await;
    assert_eq!(all::<Notification>(&everything(town.context()).await), expected);
}

/// R38
#[tokio::test]
async fn blocked_and_muted_users_cause_no_notifications() {
    let town = Town::of(["ana", "bo", "cleo", "dan", "eve"]).await;
    let post = town.post("ana", "hello").await;
    for followee in ["cleo", "dan"] {
        town.follow("ana", followee).await;
    }
    let (ana, follows) = (town.caller("ana"), town.follows());
    follows.update(&ana, &town.id("cleo"), Some(true), None, None, None).await.unwrap();
    follows.update(&ana, &town.id("dan"), None, Some(false), None, None).await.unwrap();
    for name in ["bo", "cleo", "dan", "eve"] {
        town.advance_ms(1);
        town.like(name, &post.id).await;
        town.comment(name, &post.id, "well said").await;
    }
    town.block("ana", "bo").await;
    town.settle().await;
    let mine = stored(&town).await.into_iter().filter(|line| line.starts_with("ana "));
    let mut mine: Vec<String> = mine.collect();
    mine.sort_unstable();
    assert_eq!(mine, ["ana comment eve", "ana like eve"]);
}

/// R49: a mute of anyone keeps notifications from being written, and hides those that are there, until
/// it ends.
#[tokio::test]
async fn muted_strangers_cause_no_notifications_until_the_mute_ends() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let post = town.post("ana", "hello").await;
    let (ana, bo) = (town.caller("ana"), town.id("bo"));
    let notifications = Notifications::new(town.context().clone());
    let unread = async || notifications.unread(&ana).await.unwrap();
    town.comment("bo", &post.id, "before").await;
    town.settle().await;
    assert_eq!(unread().await, 1);
    let end = town.now().plus_ms(HOUR_MS);
    town.mutes().mute(&ana, &bo, Some(end), None).await.unwrap();
    assert_eq!(unread().await, 0);
    town.comment("bo", &post.id, "meanwhile").await;
    town.comment("cleo", &post.id, "well said").await;
    town.settle().await;
    assert_eq!(unread().await, 1, "of cleo");
    town.advance_ms(HOUR_MS);
    assert_eq!(unread().await, 2, "the one that was written before the mute is shown again");
    assert_eq!(stored(&town).await.len(), 2);
}

/// R38: hidden content causes no notification until it is shown, and deleted content removes its
/// notifications.
#[tokio::test]
async fn hidden_or_deleted_content_causes_no_notifications() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let comment = town.comment("bo", &post.id, "well said").await;
    let hide = async |status: ModerationStatus| {
        let place = Comment::at(&post.id, &comment.id);
        let patch = place.patch().set(Comment::MODERATION_STATUS, &status);
        town.context().core().table().update(patch.into()).await.unwrap();
        town.settle().await;
        stored(&town).await
    };
    assert_eq!(hide(ModerationStatus::Rejected).await, [] as [String; 0]);
    assert_eq!(hide(ModerationStatus::Approved).await, ["ana comment bo"]);
    town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(stored(&town).await, [] as [String; 0]);
}

/// R38: a task reminds its owner once when it is due, and not at a date that was moved.
#[tokio::test]
async fn a_task_reminds_once_when_it_is_due() {
    let town = Town::of(["ana"]).await;
    let first = task(&town, 3 * HOUR_MS).await;
    town.settle().await;
    assert_eq!(stored(&town).await, [] as [String; 0]);
    let moved = Task { due_at: first.due_at.map(|due| due.plus_ms(HOUR_MS)), ..first.clone() };
    becomes(&town, &first, &moved).await;
    town.settle().await;
    town.advance_ms(2 * HOUR_MS);
    town.settle().await;
    assert_eq!(stored(&town).await, [] as [String; 0], "the date was moved");
    town.advance_ms(HOUR_MS);
    for _ in 0..2 {
        town.settle().await;
        assert_eq!(stored(&town).await, ["ana reminder -"], "an hour before");
    }
    reprocess(&town).await;
    assert_eq!(stored(&town).await, ["ana reminder -"], "after a restart");
    let moved = Task { version: 2, ..moved };
    let done = Task { done: true, ..moved.clone() };
    becomes(&town, &moved, &done).await;
    town.settle().await;
    assert_eq!(stored(&town).await, [] as [String; 0], "it is done");
    let done = Task { version: 3, ..done };
    becomes(&town, &done, &Task { done: false, ..done.clone() }).await;
    town.settle().await;
    assert_eq!(stored(&town).await, ["ana reminder -"], "it was reopened");
}

/// R38, R40: notifications expire, and expired ones are not written again.
#[tokio::test]
async fn notifications_expire() {
    let town = Town::of(["ana", "bo"]).await;
    let follow = town.follow("bo", "ana").await;
    town.settle().await;
    let notes: Vec<Notification> = all(&everything(town.context()).await);
    let since = follow.active_since.unwrap();
    assert_eq!(notes[0].created_at, since);
    assert_eq!(notes[0].ttl, Expiry::at(since.plus_ms(90 * 24 * HOUR_MS + HOUR_MS)));
    town.advance_ms(91 * 24 * HOUR_MS);
    reprocess(&town).await;
    assert_eq!(stored(&town).await, [] as [String; 0]);
}

/// I1: the notifications of a deleted user are removed, and so are those they caused.
#[tokio::test]
async fn a_deleted_user_is_in_no_notification() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.follow("bo", "ana").await;
    town.follow("ana", "bo").await;
    let post = town.post("ana", "hello @bo").await;
    let other = town.post("bo", "good day @ana").await;
    for name in ["cleo", "bo"] {
        town.advance_ms(1);
        town.like(name, &post.id).await;
        town.share(name, &post.id).await;
    }
    town.comment("bo", &post.id, "well said").await;
    town.like("ana", &other.id).await;
    town.settle().await;
    assert_eq!(stored(&town).await.len(), 8, "{:?}", stored(&town).await);
    town.accounts().delete_account(&town.caller("bo"), &"bo".parse().unwrap()).await.unwrap();
    town.settle().await;
    let mut found = stored(&town).await;
    found.sort_unstable();
    assert_eq!(found, ["ana like cleo", "ana share cleo"]);
}

/// The notification processor works without the other processors.
#[tokio::test]
async fn the_notification_processor_works_alone() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("bo", "ana").await;
    let writer = NotificationWriter::new(town.context().clone());
    let builder = Runner::builder(town.context().clone(), [0; 32])
        .with(writer.clone())
        .with_job_handler(writer);
    builder.without_delays().build().drain().await.unwrap();
    assert_eq!(stored(&town).await, ["ana follow bo"]);
    town.settle().await;
    assert_eq!(stored(&town).await, ["ana follow bo"]);
}

/// R38: mentions ignore case.
#[tokio::test]
async fn mentions_ignore_case() {
    let town = Town::of(["ana", "bo"]).await;
    let post = Post { mentions: vec!["BO".parse().unwrap()], ..town.post("ana", "hello").await };
    let id = town.context().ids().next();
    write(&town, Post { id, ..post }.create()).await;
    town.settle().await;
    assert_eq!(stored(&town).await, ["bo mention ana"]);
}

/// R38: a mention added by an edit addresses the user who has the name by then. A user who takes
/// the name later gets no notification, also if the post is edited once more.
#[tokio::test]
async fn an_edit_mentions_the_current_holder_of_the_name() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let rename = async |name: &str, nickname: &str| {
        town.advance_ms(1_000);
        let nickname = Some(nickname.parse().unwrap());
        let change = ProfileChange { nickname, ..ProfileChange::default() };
        town.accounts().update_profile(&town.caller(name), &change, None).await.unwrap();
        town.advance_ms(1_000);
    };
    let post = town.post("ana", "hello").await;
    let edit = async |content: Option<&str>, visibility: Option<Visibility>| {
        let change = PostChange { content: content.map(Into::into), visibility };
        town.posts().update(&town.caller("ana"), &post.id, &change, None).await.unwrap();
        town.settle().await;
        stored(&town).await
    };
    rename("bo", "zoe").await;
    assert_eq!(edit(Some("hello @zoe"), None).await, ["bo mention ana"]);
    rename("bo", "bob").await;
    rename("cleo", "zoe").await;
    let shown = edit(None, Some(Visibility::Followers)).await;
    assert!(!shown.contains(&"cleo mention ana".into()), "{shown:?}");
    let shown = edit(None, Some(Visibility::Public)).await;
    assert!(!shown.contains(&"cleo mention ana".into()), "{shown:?}");
}

/// R38: a task completed at the moment its reminder is written has none: the removal of its
/// reminder may have run already.
#[tokio::test]
async fn a_task_completed_meanwhile_has_no_reminder() {
    for operations in 1.. {
        let town = Town::of(["ana"]).await;
        let open = task(&town, 2 * HOUR_MS).await;
        town.settle().await;
        town.advance_ms(HOUR_MS);
        let was_written = Arc::new(AtomicBool::new(false));
        let (context, ana, noted) = (town.context().clone(), town.id("ana"), was_written.clone());
        let done = async move || {
            let notes = context.core().notifications(&ana, Span::ALL).page().await.unwrap();
            noted.store(!notes.items.is_empty(), Ordering::Relaxed);
            let done = Task { done: true, ..open.clone() };
            let update = rekey(&open, &done).unwrap();
            context.core().table().update(update).await.unwrap();
        };
        let (context, meanwhile) = town.interleave(operations, done);
        let writer = NotificationWriter::new(context.clone());
        let reminding =
            Runner::builder(context, [0; 32]).with_job_handler(writer).without_delays().build();
        reminding.drain().await.unwrap();
        if !meanwhile.happened() {
            assert_eq!(stored(&town).await, ["ana reminder -"]);
            assert!(operations > 5, "too few gaps");
            return;
        }
        let stored = stored(&town).await;
        assert_eq!(!stored.is_empty(), was_written.load(Ordering::Relaxed), "after {operations}");
    }
}

/// R38: reminders due at the same hour run concurrently.
#[tokio::test]
async fn reminders_run_concurrently() {
    let town = Town::of(["ana"]).await;
    assert_eq!(NotificationWriter::new(town.context().clone()).jobs_at_once(), 8);
}

async fn read_all(town: &Town) {
    let service = Notifications::new(town.context().clone());
    service.mark_read(&town.caller("ana"), town.now().plus_ms(1), None).await.unwrap();
}

async fn unread(town: &Town) -> Vec<bool> {
    let notes: Vec<Notification> = all(&everything(town.context()).await);
    notes.iter().map(|note| note.read_at.is_none()).collect()
}

/// R38: a message or like that was not named when its notification was marked as read makes it
/// unread again, regardless of clocks; redelivered and withdrawn ones do not.
#[tokio::test]
async fn unseen_messages_and_likes_are_unread_again() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (post, room) = (town.post("ana", "hello").await, room(&town, ["ana", "bo"]).await);
    message(&town, &room, "bo").await;
    town.like("bo", &post.id).await;
    town.settle().await;
    town.advance_ms(1);
    let second = message(&town, &room, "bo").await;
    town.like("cleo", &post.id).await;
    town.advance_ms(2_000);
    read_all(&town).await;
    assert_eq!(unread(&town).await, [false, false]);
    town.settle().await;
    assert_eq!(unread(&town).await, [true, true], "both came before the mark but were not named");
    read_all(&town).await;
    reprocess(&town).await;
    assert_eq!(unread(&town).await, [false, false], "redelivered changes are not news");
    town.context().core().table().delete(second.key().delete()).await.unwrap();
    town.likes().unlike(&town.caller("cleo"), &post.id, None).await.unwrap();
    town.settle().await;
    let mut left = stored(&town).await;
    left.sort_unstable();
    assert_eq!(left, ["ana like bo", "ana message bo"]);
    assert_eq!(unread(&town).await, [false, false], "withdrawn reactions are not news");
}

/// R38: a notification without a named actor is removed with the last reaction.
#[tokio::test]
async fn a_notification_without_an_actor_is_removed_too() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    town.like("bo", &post.id).await;
    town.settle().await;
    let notes: Vec<Notification> = all(&everything(town.context()).await);
    let unnamed = notes[0].key().patch().set(Notification::ACTOR_ID, &None);
    town.context().core().table().update(unnamed.into()).await.unwrap();
    assert_eq!(stored(&town).await, ["ana like -"]);
    town.likes().unlike(&town.caller("bo"), &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(stored(&town).await, [] as [String; 0]);
}
