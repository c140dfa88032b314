//! The small town with more data: Ana has a goal, quests and rewards; the runners talk in their
//! room, Ana and Bo in theirs; Bo gets help, Cleo has an offer, and a post has a picture.

use roundtable_model::entities::{
    Activity, ActorHead, AssistHelper, AssistThread, Company, FeedHorizon, FeedItem, Goal, Group,
    Holder, Job, Message, Milestone, Notification, Offer, Post, Promotion, Quest, QuestStep, Room,
    RoomHead, RoomMember, TagRef, Task, Upload, XpEntry,
};
use roundtable_model::table::{Item, Put};
use roundtable_model::{
    CountScope, Entity, EntityKind, GoalStatus, Percentage, QuestKind, QuestStatus, RoomScope,
    Shard, SubjectId, Time, UserCount, samples,
};

use crate::town::{Town, at, count, post, read};

/// The room of Ana and Bo; its id is derived from theirs.
pub(crate) const DM_ROOM: &str = "dm-35edfd8c6e7b1680a1c579bf092318c151292771";

impl Town {
    pub(crate) async fn lively() -> Self {
        let town = Self::new().await;
        for item in [plans(), talk(), trade(), feed()].concat() {
            town.core().put(Put::new(item)).await.unwrap();
        }
        town.put(&count("ana", UserCount::Xp, 250)).await;
        let report = town.check().await;
        assert!(report.is_clean(), "{:#?}", report.findings);
        town
    }
}

pub(crate) fn task(id: &str, done_at: Option<Time>) -> Task {
    let (goal_id, id, user_id) = (read("g1"), read(id), read("ana"));
    let (done, due_at) = (done_at.is_some(), None);
    Task { goal_id, id, user_id, done, done_at, due_at, ..samples::task() }
}

/// A quest for any `target` tasks.
pub(crate) fn quest(id: &str, target: u64, progress: u64, status: QuestStatus) -> Quest {
    Quest {
        user_id: read("ana"),
        id: read(id),
        status,
        deadline: None,
        kind: QuestKind::Quantitative,
        linked_goal_ids: None,
        linked_task_ids: None,
        target_count: Some(target),
        count_scope: Some(CountScope::Any),
        start_at: None,
        period_seconds: None,
        progress_count: progress,
        created_at: at(1),
        ..samples::quest()
    }
}

pub(crate) fn step(quest: &str, task: &str) -> QuestStep {
    let (user_id, quest_id, subject_id) = (read("ana"), read(quest), read(task));
    QuestStep { user_id, quest_id, subject_id, goal_id: read("g1"), ..samples::quest_step() }
}

pub(crate) fn milestone(share: u8, achieved: bool) -> Milestone {
    Milestone {
        user_id: read("ana"),
        goal_id: read("g1"),
        percentage: Percentage::whole(share),
        achieved,
        achieved_at: achieved.then(|| at(3)),
        ..samples::milestone()
    }
}

pub(crate) fn reward(quest: &str, reward_xp: u64) -> XpEntry {
    let (user_id, quest_id) = (read("ana"), read(quest));
    XpEntry { user_id, quest_id, reward_xp, ..samples::xp_entry() }
}

fn plans() -> Vec<Item> {
    let (status, tags) = (GoalStatus::Active, Vec::new());
    let goal = Goal { user_id: read("ana"), id: read("g1"), status, tags, ..samples::goal() };
    vec![
        goal.item(),
        task("t1", Some(at(2))).item(),
        task("t2", Some(at(3))).item(),
        task("t3", None).item(),
        milestone(90, false).item(),
        quest("under-way", 5, 2, QuestStatus::Active).item(),
        step("under-way", "t1").item(),
        step("under-way", "t2").item(),
        quest("over", 1, 1, QuestStatus::Completed).item(),
        step("over", "t1").item(),
        reward("over", 100).item(),
    ]
}

pub(crate) fn room_member(room: &str, name: &str, read_seq: u64) -> RoomMember {
    RoomMember { room_id: read(room), user_id: read(name), read_seq, joined_at: at(1) }
}

pub(crate) fn head(room: &str, seq: u64) -> RoomHead {
    RoomHead { room_id: read(room), last_ts: at(60), seq }
}

pub(crate) fn message(room: &str, minute: u64, seq: u64) -> Message {
    let (room_id, id) = (read(room), read(&format!("m{minute}")));
    let (user_id, created_at) = (read("ana"), at(minute));
    Message { room_id, id, user_id, created_at, seq, ttl: None, ..samples::message() }
}

pub(crate) fn group() -> Group {
    Group { id: read("runners"), room_id: read("track"), tags: Vec::new(), ..samples::group() }
}

/// The runners and their room.
pub(crate) fn runners() -> Vec<Item> {
    let (id, scope, group_id) = (read("track"), RoomScope::Group, Some(read("runners")));
    vec![
        group().item(),
        Room { id, scope, group_id, ..samples::room() }.item(),
        head("track", 7).item(),
        room_member("track", "ana", 7).item(),
        room_member("track", "bo", 0).item(),
    ]
}

pub(crate) fn notification(id: &str, is_read: bool) -> Notification {
    let (user_id, id, read_at) = (read("ana"), read(id), is_read.then(|| at(9)));
    Notification { user_id, id, read_at, ..samples::notification() }
}

fn talk() -> Vec<Item> {
    let (id, scope, group_id) = (read(DM_ROOM), RoomScope::Dm, None);
    let thread_id = read("help");
    let helper_ids = vec![read("ana")];
    let thread =
        AssistThread { thread_id, user_id: read("bo"), helper_ids, ..samples::assist_thread() };
    let (thread_id, user_id, created_at) = (read("help"), read("ana"), thread.created_at);
    vec![
        message("track", 10, 3).item(),
        message("track", 11, 7).item(),
        Room { id, scope, group_id, ..samples::room() }.item(),
        head(DM_ROOM, 2).item(),
        room_member(DM_ROOM, "ana", 2).item(),
        room_member(DM_ROOM, "bo", 1).item(),
        message(DM_ROOM, 10, 1).item(),
        message(DM_ROOM, 12, 2).item(),
        notification("n1", false).item(),
        notification("n2", true).item(),
        count("ana", UserCount::Unread, 1).item(),
        thread.item(),
        AssistHelper { thread_id, user_id, created_at }.item(),
    ]
}

pub(crate) fn reference(entity: EntityKind, id: &str, tag: &str) -> TagRef {
    let (tag, shard, id) = (read(tag), Shard::ZERO, read::<SubjectId>(id));
    TagRef { tag, shard, entity, id, ..samples::tag_ref() }
}

pub(crate) fn offer() -> Offer {
    let (id, company_id, tags) = (read("gait"), read("hill"), vec![read("health")]);
    Offer { id, company_id, tags, ..samples::offer() }
}

/// Bo's post, with a picture and a tag.
pub(crate) fn picture_post() -> Post {
    let (hashtags, media) = (vec![read("sunrise")], samples::post().media);
    Post { hashtags, media, ..post() }
}

pub(crate) fn upload() -> Upload {
    let holder = Some(Holder::post(&read("p1")));
    Upload { user_id: read("bo"), holder, ..samples::upload() }
}

fn trade() -> Vec<Item> {
    vec![
        Company { id: read("hill"), owner_id: read("cleo"), ..samples::company() }.item(),
        offer().item(),
        reference(EntityKind::Offer, "gait", "health").item(),
        picture_post().item(),
        reference(EntityKind::Post, "p1", "sunrise").item(),
        upload().item(),
    ]
}

pub(crate) fn job(queue: &str, due_at: Time) -> Job {
    Job { queue: read(queue), due_at, attempts: 0, ..samples::job() }
}

pub(crate) fn activity(minute: u64) -> Activity {
    let (activity_id, actor_id) = (read(&format!("a{minute}")), read("bo"));
    Activity { activity_id, actor_id, created_at: at(minute), media: None, ..samples::activity() }
}

pub(crate) fn copy(minute: u64) -> FeedItem {
    let (follower_id, activity_id) = (read("ana"), read(&format!("a{minute}")));
    let (actor_id, created_at) = (read("bo"), at(minute));
    FeedItem { follower_id, activity_id, actor_id, created_at, ..samples::feed_item() }
}

pub(crate) fn promotion(watermark: Time) -> Promotion {
    let (watermark, watermark_since) = (Some(watermark), Some(at(0)));
    let (subject_id, user_id) = (read("bo"), Some(read("bo")));
    Promotion { subject_id, user_id, watermark, watermark_since, ..samples::promotion() }
}

fn feed() -> Vec<Item> {
    let (actor_id, last_ts, since) = (read("bo"), at(6), Some(at(0)));
    let head = ActorHead { actor_id, last_ts, since, ..samples::actor_head() };
    vec![
        activity(5).item(),
        activity(6).item(),
        head.item(),
        promotion(at(6)).item(),
        FeedHorizon { user_id: read("ana"), oldest: at(6) }.item(),
        copy(5).item(),
        copy(6).item(),
    ]
}
