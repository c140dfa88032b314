//! Quests, rewards, milestones, tags, files, helpers and unread notifications, against the data
//! they follow from (I1, I6).

use roundtable_model::entities::{
    Activity, AssistHelper, AssistThread, Comment, DeadLetter, Goal, Holder, Job, Media, Milestone,
    Notification, Post, Quest, TagRef, Task, Upload, User, XpEntry,
};
use roundtable_model::table::{BatchWrite, Delete, Put};
use roundtable_model::{
    Entity, EntityKind, Expiry, ObjectType, OfferStatus, QuestStatus, Shard, UserCount, samples,
};
use roundtable_verify::Invariant;

use crate::lively::{
    activity, job, milestone, notification, offer, picture_post, quest, reference, reward, step,
    task, upload,
};
use crate::town::{Town, at, broken_keys, comment, count, lines, read, user};

const ACTIVE_QUEST: &str = "USER#ana / QUEST#under-way";
const UNREAD: &str = "USER#ana / COUNTER#UNREAD";

#[tokio::test]
async fn progress_is_the_number_of_steps() {
    let town = Town::lively().await;
    town.put(&quest("under-way", 5, 4, QuestStatus::Active)).await;
    let report = town.check().await;
    let expected = format!("I1 {ACTIVE_QUEST}: expected progressCount 2, its steps; found 4");
    assert_eq!(lines(&report), [expected]);
    assert_eq!(town.repair_all().await, 1);
}

#[tokio::test]
async fn steps_without_a_quest_are_deleted() {
    let town = Town::lively().await;
    town.core().delete(Delete::new(Quest::at(&read("ana"), &read("under-way")))).await.unwrap();
    let report = town.check().await;
    assert_eq!(broken_keys(&report), [(Invariant::I1, ACTIVE_QUEST)]);
    town.repair_all().await;
    assert_eq!(town.item("USER#ana", "QUESTSTEP#under-way#t1").await, None);
}

/// The processor missed that a task was done or undone.
#[tokio::test]
async fn steps_match_the_tasks_that_count() {
    let town = Town::lively().await;
    town.put(&task("t3", Some(at(4)))).await;
    town.put(&task("t2", None)).await;
    let expected = format!("I6 {ACTIVE_QUEST}: expected steps: t1, t3; found t1, t2");
    assert_eq!(lines(&town.check().await), [expected]);
    // Tasks done before the quest was created do not count.
    town.put(&task("t3", Some(at(0)))).await;
    town.put(&task("t2", Some(at(2)))).await;
    town.put(&milestone(90, true)).await;
    assert!(town.check().await.is_clean());
}

#[tokio::test]
async fn a_quest_is_completed_by_the_last_step_and_no_earlier() {
    let town = Town::lively().await;
    town.put(&quest("under-way", 2, 2, QuestStatus::Active)).await;
    let report = town.check().await;
    let expected = "expected progressCount less than 2, as it is not completed; found 2";
    assert_eq!(lines(&report), [format!("I6 {ACTIVE_QUEST}: {expected}")]);
    town.put(&quest("under-way", 5, 2, QuestStatus::Completed)).await;
    let report = town.check().await;
    assert!(lines(&report)[0].contains("progressCount 5, as it is completed"));
    assert!(lines(&report)[1].contains("expected a reward of 100"), "{:?}", lines(&report));
}

#[tokio::test]
async fn a_quest_ends_at_its_deadline() {
    let town = Town::lively().await;
    town.put(&Quest { deadline: Some(at(0)), ..quest("late", 5, 0, QuestStatus::Active) }).await;
    assert!(town.check().await.is_clean(), "it is over when its deadline has passed");
    town.clock.advance_ms(1);
    let report = town.check().await;
    let expected = "cancelled, as its deadline has passed and no job is left; found active";
    assert_eq!(lines(&report), [format!("I6 USER#ana / QUEST#late: expected {expected}")]);
    // Jobs of other queues, or much later ones, will not end the quest.
    town.ops().put(job("fan-out", at(0)).put()).await.unwrap();
    town.ops().put(job("reminders", at(0)).put()).await.unwrap();
    town.ops().put(job("quests", at(60)).put()).await.unwrap();
    assert_eq!(town.check().await.total(), 1);
    // The job may be claimed: then it is due again when the claim ends.
    town.ops().put(job("quests", at(1)).put()).await.unwrap();
    assert!(town.check().await.is_clean(), "its end may be what waits");
}

/// Failed jobs are retried, and dead letters may be redriven.
#[tokio::test]
async fn a_quest_whose_end_failed_may_wait_for_it() {
    let late = Quest { deadline: Some(at(0)), ..quest("late", 5, 0, QuestStatus::Active) };
    let failed = Job { attempts: 3, ..job("quests", at(60)) };
    let parked = DeadLetter { queue: read("quests"), ..samples::dead_letter() };
    let change = DeadLetter { queue: read("stream.quests"), ..samples::dead_letter() };
    for waiting in [failed.item(), parked.item(), change.item()] {
        let town = Town::lively().await;
        town.put(&late).await;
        town.clock.advance_ms(1);
        assert_eq!(town.check().await.total(), 1);
        town.ops().put(Put::new(waiting)).await.unwrap();
        assert!(town.check().await.is_clean());
    }
}

#[tokio::test]
async fn a_goal_with_too_many_tasks_is_noted_as_not_checked() {
    let town = Town::lively().await;
    let many = |number: u64| {
        let task = Task { goal_id: read("g2"), ..task(&format!("many{number}"), Some(at(3))) };
        BatchWrite::Put(task.item())
    };
    let others =
        Goal { id: read("g2"), user_id: read("cleo"), tags: Vec::new(), ..samples::goal() };
    town.put(&others).await;
    let (goal_id, user_id) = (read("g2"), read("cleo"));
    town.put(&Milestone { goal_id, user_id, ..milestone(50, false) }).await;
    for batch in 0..401 {
        let batch = (batch * 25..(batch + 1) * 25).map(many).collect();
        town.core().batch_write(batch).await.unwrap();
    }
    let report = town.check().await;
    assert!(report.is_clean(), "{:?}", lines(&report));
    let note = "1 active quests or open milestones were not checked";
    assert!(report.notes.iter().any(|noted| noted.starts_with(note)), "{:?}", report.notes);
}

#[tokio::test]
async fn a_completed_quest_has_earned_its_reward_and_no_other_has() {
    let town = Town::lively().await;
    town.core().delete(Delete::new(XpEntry::at(&read("ana"), &read("over")))).await.unwrap();
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        [
            "I1 USER#ana / COUNTER#XP: expected count 150, the sum of the rewards; found 250",
            "I6 USER#ana / XP#over: expected a reward of 100; found none",
        ]
    );
    town.repair_all().await;
    let total = town.item("USER#ana", "COUNTER#XP").await.unwrap();
    assert_eq!(total.number("count").unwrap().to_u64(), Some(250));

    town.put(&reward("under-way", 50)).await;
    town.put(&count("ana", UserCount::Xp, 300)).await;
    let report = town.check().await;
    let expected = "none, as its quest is not completed; found a reward of 50";
    assert_eq!(lines(&report), [format!("I6 USER#ana / XP#under-way: expected {expected}")]);
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!(
        (repaired.repaired_count, repaired.unrepaired.len()),
        (0, 1),
        "an operator has to decide"
    );
}

#[tokio::test]
async fn a_milestone_that_was_reached_is_achieved() {
    let town = Town::lively().await;
    town.put(&milestone(60, false)).await;
    let report = town.check().await;
    assert_eq!(report.totals[&Invariant::I6], 1);
    assert!(lines(&report)[0].ends_with("as 2 of 3 tasks are done; found not achieved"));
    // Undoing a task does not revoke a milestone.
    town.put(&milestone(90, true)).await;
    assert!(town.check().await.is_clean());
}

#[tokio::test]
async fn a_wrong_unread_count_is_found_and_repaired() {
    let town = Town::lively().await;
    town.put(&notification("n3", false)).await;
    let report = town.check().await;
    let expected = "expected count 2, the unread notifications; found 1";
    assert_eq!(lines(&report), [format!("I1 USER#ana / COUNTER#UNREAD: {expected}")]);
    town.repair_all().await;
    town.put(&count("ana", UserCount::Unread, 7)).await;
    assert_eq!(
        broken_keys(&town.sweeping_verifier().check().await.unwrap()),
        [(Invariant::I1, UNREAD)]
    );
    town.repair_all().await;
}

/// Expired notifications are hidden at once, but count as unread until the store deletes them,
/// which takes days on some stores.
#[tokio::test]
async fn expired_notifications_may_count_until_they_are_deleted() {
    let town = Town::lively().await;
    let soon = |id: &str| Notification { ttl: Expiry::at(at(5)), ..notification(id, false) };
    town.put(&soon("n3")).await;
    town.put(&soon("n4")).await;
    town.put(&count("ana", UserCount::Unread, 3)).await;
    assert!(town.check().await.is_clean());
    town.clock.advance_ms(6 * 60_000);
    let unread = async || {
        let counter = town.item("USER#ana", "COUNTER#UNREAD").await.unwrap();
        counter.number("count").unwrap().to_u64()
    };
    let repaired = town.verify().repair().await.unwrap();
    assert!(repaired.report.is_clean(), "{:?}", lines(&repaired.report));
    assert_eq!((repaired.repaired_count, unread().await), (0, Some(3)));
    let notes = &repaired.report.notes;
    let note = "1 counters include expired notifications";
    assert!(notes.iter().any(|noted| noted.starts_with(note)), "{notes:?}");

    // A count that is too low is wrong, but the right one changes when the expired items are
    // deleted.
    town.put(&count("ana", UserCount::Unread, 0)).await;
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!(broken_keys(&repaired.report), [(Invariant::I1, UNREAD)]);
    assert_eq!((repaired.repaired_count, unread().await), (0, Some(0)));
    assert!(
        repaired.unrepaired[0].reason.contains("delete them first"),
        "{:?}",
        repaired.unrepaired
    );
    town.repair_all().await;
    assert_eq!(unread().await, Some(1), "nothing hidden is left to be taken off");
}

#[tokio::test]
async fn tag_references_match_the_entities_that_carry_the_tag() {
    let town = Town::lively().await;
    let gone = TagRef::at(&read("health"), &Shard::ZERO, &EntityKind::Offer, &read("gait"));
    town.core().delete(Delete::new(gone)).await.unwrap();
    town.put(&reference(EntityKind::Post, "p1", "health")).await;
    town.put(&reference(EntityKind::Post, "nothing", "health")).await;
    let report = town.check().await;
    let (there, absent) = ("a tag reference", "none: the entity does not carry the tag");
    assert_eq!(
        lines(&report),
        [
            format!("I6 TAG#health / Offer#gait: expected {there}; found none"),
            format!("I6 TAG#health / Post#nothing: expected {absent}; found {there}"),
            format!("I6 TAG#health / Post#p1: expected {absent}; found {there}"),
        ]
    );
    assert_eq!(town.repair_all().await, 3);
    assert!(town.item("TAG#health", "Offer#gait").await.is_some());

    let mut closed = offer();
    closed.status = OfferStatus::Closed;
    town.put(&closed).await;
    assert_eq!(broken_keys(&town.check().await), [(Invariant::I6, "TAG#health / Offer#gait")]);
    town.repair_all().await;
}

/// R53: the tags of comments are checked and repaired as those of posts.
#[tokio::test]
async fn tag_references_match_the_comments_that_carry_the_tag() {
    let town = Town::lively().await;
    let hashtags = Some(vec![read("health")]);
    town.put(&Comment { hashtags, ..comment("c1", None) }).await;
    town.put(&reference(EntityKind::Comment, "c2", "health")).await;
    let (there, absent) = ("a tag reference", "none: the entity does not carry the tag");
    assert_eq!(
        lines(&town.check().await),
        [
            format!("I6 TAG#health / Comment#c1: expected {there}; found none"),
            format!("I6 TAG#health / Comment#c2: expected {absent}; found {there}"),
        ]
    );
    assert_eq!(town.repair_all().await, 2);
    let repaired = town.item("TAG#health", "Comment#c1").await.unwrap();
    assert_eq!(repaired.text("within"), Some("p1"), "which leads to the comment");
}

#[tokio::test]
async fn a_file_belongs_to_the_post_that_shows_it() {
    let town = Town::lively().await;
    let mut other = upload();
    other.holder = None;
    town.put(&other).await;
    let report = town.check().await;
    assert!(lines(&report)[0].ends_with("expected a file of post p1; found none"));
    town.put(&upload()).await;
    town.put(&Post { media: Vec::new(), ..picture_post() }).await;
    let report = town.check().await;
    assert!(
        lines(&report)[0].ends_with("expected a file without a holder; found a file of post p1")
    );
    assert!(report.findings[0].unrepairable_reason().is_some());
}

#[tokio::test]
async fn a_file_belongs_to_the_profile_or_activity_that_shows_it() {
    let town = Town::lively().await;
    let (mine, media) = (Activity { object_type: ObjectType::Goal, ..activity(4) }, picture("run"));
    let mine = Activity { media: Some(media.clone()), ..mine };
    town.put(&mine).await;
    town.put(&Upload { key: media.s3_key, holder: None, ..upload() }).await;
    let line = lines(&town.check().await).pop().unwrap();
    let expected_file = format!("a file of activity a4 of bo at {}", mine.created_at);
    assert!(line.ends_with(&format!("expected {expected_file}; found none")), "{line}");
    let holder = Some(Holder::activity(&mine));
    town.put(&Upload { key: picture("run").s3_key, holder, ..upload() }).await;
    assert!(town.check().await.is_clean());

    let (face, holder) = (picture("face"), Some(Holder::profile(&read("bo"))));
    town.put(&Upload { key: face.s3_key.clone(), holder, ..upload() }).await;
    let line = lines(&town.check().await).pop().unwrap();
    assert!(
        line.ends_with("expected a file without a holder; found a file of profile bo"),
        "{line}"
    );
    town.put(&User { profile_image: Some(face), ..user("bo") }).await;
    assert!(town.check().await.is_clean());

    // Files of a post belong to the post, not to its activity.
    let shown = samples::post().media.into_iter().next();
    town.put(&Activity { media: shown, ..activity(6) }).await;
    assert!(town.check().await.is_clean());
}

fn picture(name: &str) -> Media {
    let mut media = samples::post().media.remove(0);
    media.s3_key = read(&format!("uploads/bo/{name}"));
    media
}

#[tokio::test]
async fn every_helper_of_a_thread_has_a_helper_entry() {
    let town = Town::lively().await;
    let edge = AssistHelper::at(&read("help"), &read("ana"));
    town.core().delete(Delete::new(edge)).await.unwrap();
    let report = town.check().await;
    assert_eq!(broken_keys(&report), [(Invariant::I6, "ASSIST#help / HELPER#ana")]);
    town.core().delete(Delete::new(AssistThread::at(&read("help")))).await.unwrap();
    assert!(town.check().await.is_clean());
    let (thread_id, user_id) = (read("help"), read("cleo"));
    town.put(&AssistHelper { thread_id, user_id, ..samples::assist_helper() }).await;
    let report = town.check().await;
    let helper = (Invariant::I6, "ASSIST#help / HELPER#cleo");
    assert_eq!(broken_keys(&report), [helper; 2], "left behind, and in no thread");
}

/// The sums of one kind of tally do not offset those of another.
#[tokio::test]
async fn several_faults_are_all_found() {
    let town = Town::lively().await;
    town.put(&step("under-way", "t9")).await;
    town.put(&reward("under-way", 7)).await;
    town.put(&notification("n4", false)).await;
    let report = town.check().await;
    let found: Vec<&str> = broken_keys(&report).into_iter().map(|(_, key)| key).collect();
    assert_eq!(
        found,
        [
            "USER#ana / COUNTER#UNREAD",
            "USER#ana / COUNTER#XP",
            ACTIVE_QUEST,
            ACTIVE_QUEST,
            "USER#ana / XP#under-way",
        ]
    );
}
