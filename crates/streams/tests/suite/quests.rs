//! Quests progress as tasks and goals are completed and reopened, and end at their deadlines.

use roundtable_domain::limits::QUEST_TARGET_MAX;
use roundtable_domain::{NewQuest, PageInput, QuestSubject};
use roundtable_model::table::Order;
use roundtable_model::{
    ActivityVerb, ActorId, CountScope, GoalId, Json, Queue, Role, TaskId, UserStatus,
};
use roundtable_streams::{QuestUpdater, Runner};
use roundtable_testkit::Town;

use crate::facts::bookkeeping;

/// Ana, with a goal and three tasks.
async fn town() -> (Town, GoalId, [TaskId; 3]) {
    let town = Town::of(["ana", "bo"]).await;
    let goal = town.open_goal("ana", "g1").await;
    let [one, two, three] = ["t1", "t2", "t3"];
    let tasks = [
        town.open_task("ana", &goal, one).await,
        town.open_task("ana", &goal, two).await,
        town.open_task("ana", &goal, three).await,
    ];
    (town, goal, tasks)
}

async fn steps(town: &Town) -> usize {
    town.rows("USER#ana", "QUESTSTEP#").await.len()
}

/// R11: a linked quest is completed when all linked tasks and goals are done; the reward is given
/// and announced once.
#[tokio::test]
async fn a_linked_quest_is_completed_by_all_linked_tasks_and_goals() {
    let (town, goal, [one, two, _]) = town().await;
    let linked = NewQuest::linked("all", vec![goal.clone()], vec![one.clone(), two.clone()]);
    let quest = town.set_quest("ana", linked).await;
    town.set_done(&goal, &one, true).await;
    town.set_done(&goal, &two, true).await;
    town.settle().await;
    assert_eq!(town.quest_state("ana", &quest.id).await, "active 2");
    assert_eq!((town.xp("ana").await, steps(&town).await), (0, 2));
    town.set_completed("ana", &goal, true).await;
    town.settle().await;
    assert_eq!(town.quest_state("ana", &quest.id).await, "completed 3");
    assert_eq!(town.xp("ana").await, 10);
    assert_eq!(town.rows("USER#ana", "XP#").await, [format!("XP#{} rewardXp=10", quest.id)]);
    let actor = ActorId::from(&town.id("ana"));
    let (bo, page) = (town.caller("bo"), PageInput::default());
    let activities =
        town.activities().of(Some(&bo), &actor, Order::Descending, &page).await.unwrap();
    let activities = activities.into_items();
    assert_eq!(activities.len(), 1);
    assert_eq!(activities.first().unwrap().verb, ActivityVerb::QuestUpdate);
    assert_eq!(activities.first().unwrap().preview_text.as_deref(), Some("all"));
    assert!(bookkeeping(town.context(), "JOB#quests").await.is_empty());
}

/// R11: a completed quest stays completed: reopening and completing tasks earns nothing more.
#[tokio::test]
async fn a_reward_is_earned_once() {
    let (town, goal, [one, ..]) = town().await;
    let quest = town.set_quest("ana", NewQuest::tasks("one", 1)).await;
    for done in [true, false, true] {
        town.advance_ms(10);
        town.set_done(&goal, &one, done).await;
        town.settle().await;
        assert_eq!(town.quest_state("ana", &quest.id).await, "completed 1");
        assert_eq!((town.xp("ana").await, steps(&town).await), (10, 1));
    }
}

/// R11: until completion, reopened tasks do not count, and tasks completed twice count once.
#[tokio::test]
async fn a_reopened_task_does_not_count() {
    let (town, goal, [one, two, _]) = town().await;
    let quest = town.set_quest("ana", NewQuest::tasks("two", 2)).await;
    for (task, done, expected) in [
        (&one, true, "active 1"),
        (&one, false, "active 0"),
        (&one, true, "active 1"),
        (&one, true, "active 1"),
        (&two, true, "completed 2"),
    ] {
        town.advance_ms(10);
        town.set_done(&goal, task, done).await;
        town.settle().await;
        assert_eq!(town.quest_state("ana", &quest.id).await, expected);
    }
    assert_eq!(town.xp("ana").await, 10);
}

/// R11
#[tokio::test]
async fn a_deleted_task_does_not_count() {
    let (town, goal, [one, ..]) = town().await;
    let quest = town.set_quest("ana", NewQuest::tasks("two", 2)).await;
    town.set_done(&goal, &one, true).await;
    town.settle().await;
    let place = roundtable_model::entities::Task::at(&goal, &one);
    town.context().core().table().delete(place.delete()).await.unwrap();
    town.settle().await;
    assert_eq!(town.quest_state("ana", &quest.id).await, "active 0");
    assert_eq!(steps(&town).await, 0);
}

/// R11: tasks count only while their goal exists, whether they were completed before or after its
/// deletion.
#[tokio::test]
async fn a_task_without_its_goal_does_not_count() {
    let (town, goal, [one, two, three]) = town().await;
    let other = town.open_goal("ana", "g2").await;
    let remaining = town.open_task("ana", &other, "t4").await;
    let two_of_any = town.set_quest("ana", NewQuest::tasks("two", 2)).await;
    let named = NewQuest::linked("named", vec![], vec![one.clone(), remaining.clone()]);
    let named = town.set_quest("ana", named).await;
    town.set_done(&goal, &one, true).await;
    town.settle().await;
    assert_eq!(town.quest_state("ana", &two_of_any.id).await, "active 1");
    let place = roundtable_model::entities::Goal::at(&town.id("ana"), &goal);
    town.context().core().table().delete(place.delete()).await.unwrap();
    town.set_done(&goal, &two, true).await;
    town.set_done(&goal, &three, true).await;
    town.set_done(&other, &remaining, true).await;
    // Before the goal's tasks have been purged.
    let quests = QuestUpdater::new(town.context().clone()).without_delays();
    let only = Runner::builder(town.context().clone(), [0; 32]).without_delays();
    only.with(quests.clone()).with_job_handler(quests).build().drain().await.unwrap();
    assert_eq!(town.quest_state("ana", &two_of_any.id).await, "active 1");
    assert_eq!(town.quest_state("ana", &named.id).await, "active 1");
    town.settle().await;
    assert_eq!(town.quest_state("ana", &two_of_any.id).await, "active 1");
    assert_eq!((town.xp("ana").await, steps(&town).await), (0, 2));
}

/// R11: a quest for the maximum number of tasks is completed by exactly these, also if one is
/// reopened meanwhile.
#[tokio::test]
async fn the_largest_quest_is_completed_by_all_its_tasks() {
    let town = Town::of(["ana"]).await;
    let goals = [town.open_goal("ana", "g1").await, town.open_goal("ana", "g2").await];
    let mut tasks = Vec::new();
    for number in 0..QUEST_TARGET_MAX {
        let goal = &goals[number % 2];
        tasks.push((goal, town.open_task("ana", goal, &format!("t{number:02}")).await));
    }
    let quest = NewQuest::tasks("all", QUEST_TARGET_MAX as u64);
    let quest = town.set_quest("ana", quest).await;
    for (goal, task) in &tasks[1..] {
        town.set_done(goal, task, true).await;
    }
    town.settle().await;
    assert_eq!(town.quest_state("ana", &quest.id).await, "active 79");
    // The last one is completed after the first was reopened, before that change is processed.
    let (goal, last) = &tasks[1];
    town.set_done(goal, last, false).await;
    let (first_goal, first) = &tasks[0];
    town.set_done(first_goal, first, true).await;
    let subject = QuestSubject::Task((*first_goal).clone(), first.clone());
    town.quests().recount(&town.id("ana"), &subject).await.unwrap();
    assert_eq!(town.quest_state("ana", &quest.id).await, "active 79");
    town.set_done(goal, last, true).await;
    town.settle().await;
    assert_eq!(town.quest_state("ana", &quest.id).await, "completed 80");
    assert_eq!((town.xp("ana").await, steps(&town).await), (10, 80));
}

/// R11: linked tasks count also if done before; unlinked tasks count from the creation or the start
/// of the quest.
#[tokio::test]
async fn earlier_tasks_count_only_if_they_are_linked() {
    let (town, goal, [one, two, three]) = town().await;
    let before = town.now();
    town.set_done(&goal, &one, true).await;
    town.advance_ms(1_000);
    let named = NewQuest {
        count_scope: Some(CountScope::Linked),
        linked_task_ids: vec![one.clone(), two.clone()],
        ..NewQuest::tasks("named", 2)
    };
    let linked = NewQuest::linked("linked", vec![], vec![one.clone()]);
    let since = NewQuest { start_at: Some(before), ..NewQuest::tasks("since", 2) };
    let later = NewQuest {
        start_at: Some(town.now().plus_ms(5_000)),
        period_seconds: Some(5),
        ..NewQuest::tasks("later", 2)
    };
    let mut quests = Vec::new();
    for quest in [named, linked, since, NewQuest::tasks("any", 2), later] {
        quests.push(town.set_quest("ana", quest).await.id);
    }
    let standings = async || {
        let mut all = Vec::new();
        for quest in &quests {
            all.push(town.quest_state("ana", quest).await);
        }
        all.join(", ")
    };
    town.settle().await;
    assert_eq!(standings().await, "active 1, completed 1, active 1, active 0, active 0");
    town.set_done(&goal, &three, true).await;
    town.settle().await;
    assert_eq!(standings().await, "active 1, completed 1, completed 2, active 1, active 0");
    town.advance_ms(5_000);
    town.set_done(&goal, &two, true).await;
    town.settle().await;
    assert_eq!(standings().await, "completed 2, completed 1, completed 2, completed 2, active 1");
    town.set_done(&goal, &one, false).await;
    town.advance_ms(5_001);
    town.set_done(&goal, &one, true).await;
    town.settle().await;
    assert_eq!(
        standings().await,
        "completed 2, completed 1, completed 2, completed 2, active 1",
        "the period is over"
    );
}

/// R11: an incomplete quest is cancelled as expired at its deadline, for good.
#[tokio::test]
async fn a_quest_expires_at_its_deadline() {
    let (town, goal, [one, two, _]) = town().await;
    let deadline = Some(town.now().plus_ms(10_000));
    let quest = town.set_quest("ana", NewQuest { deadline, ..NewQuest::tasks("two", 2) }).await;
    town.set_done(&goal, &one, true).await;
    town.settle().await;
    town.advance_ms(9_999);
    town.settle().await;
    assert_eq!(town.quest_state("ana", &quest.id).await, "active 1");
    town.advance_ms(1);
    town.settle().await;
    assert_eq!(town.quest_state("ana", &quest.id).await, "cancelled 1 (expired)");
    town.set_done(&goal, &two, true).await;
    town.settle().await;
    assert_eq!(town.quest_state("ana", &quest.id).await, "cancelled 1 (expired)");
    assert_eq!(town.xp("ana").await, 0);
    assert!(bookkeeping(town.context(), "JOB#quests").await.is_empty());
}

/// R11: tasks completed before the deadline count, however late the stream is read; later ones do
/// not.
#[tokio::test]
async fn tasks_completed_before_the_deadline_count_at_expiry() {
    let (town, goal, [one, two, three]) = town().await;
    let deadline = Some(town.now().plus_ms(10_000));
    let in_time = NewQuest { deadline, ..NewQuest::tasks("two", 2) };
    let too_many = NewQuest { deadline, ..NewQuest::tasks("three", 3) };
    let [in_time, too_many] =
        [town.set_quest("ana", in_time).await, town.set_quest("ana", too_many).await];
    town.settle().await;
    town.set_done(&goal, &one, true).await;
    town.advance_ms(10_000);
    town.set_done(&goal, &two, true).await;
    town.advance_ms(1);
    town.set_done(&goal, &three, true).await;
    // The deadline job runs before the stream is read.
    let quests = QuestUpdater::new(town.context().clone()).without_delays();
    let jobs_only = Runner::builder(town.context().clone(), [0; 32])
        .without_delays()
        .with_job_handler(quests)
        .build();
    jobs_only.drain().await.unwrap();
    assert_eq!(town.quest_state("ana", &in_time.id).await, "completed 2");
    town.settle().await;
    assert_eq!(town.quest_state("ana", &in_time.id).await, "completed 2");
    assert_eq!(town.quest_state("ana", &too_many.id).await, "cancelled 2 (expired)");
    assert_eq!(town.xp("ana").await, 10);
}

/// R11: a deleted quest loses its steps, and the reward stays.
#[tokio::test]
async fn a_reward_outlives_its_quest() {
    let (town, goal, [one, two, _]) = town().await;
    town.add_user("ada", |_| {}).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    let completed = town.set_quest("ana", NewQuest::tasks("one", 1)).await;
    let tags = vec!["run".parse().unwrap(), "Run".parse().unwrap(), "sea".parse().unwrap()];
    let tagged = NewQuest { tags, ..NewQuest::tasks("three", 3) };
    let active = town.set_quest("ana", tagged).await;
    assert_eq!(town.rows("TAG#run", "").await.len(), 1);
    town.set_done(&goal, &one, true).await;
    town.set_done(&goal, &two, true).await;
    town.settle().await;
    assert_eq!((town.xp("ana").await, steps(&town).await), (10, 3));
    for quest in [&completed, &active] {
        let service = town.quests();
        service.delete(&ada, &town.id("ana"), &quest.id, None).await.unwrap();
    }
    town.settle().await;
    assert_eq!((town.xp("ana").await, steps(&town).await), (10, 0));
    assert!(town.rows("TAG#run", "").await.is_empty() && town.rows("TAG#sea", "").await.is_empty());
    let page = PageInput::default();
    let actor = ActorId::from(&town.id("ana"));
    let bo = town.caller("bo");
    let activities =
        town.activities().of(Some(&bo), &actor, Order::Descending, &page).await.unwrap();
    assert!(activities.items.is_empty(), "shown only while the quest exists");
    assert!(town.rows("ACTIVITY#ana", "TS#").await.is_empty(), "and removed from the table");
}

/// R11: other users' tasks do not count, and a deleted account leaves nothing behind.
#[tokio::test]
async fn quests_count_only_their_owners_tasks() {
    let (town, goal, [one, ..]) = town().await;
    let quest = town.set_quest("bo", NewQuest::tasks("one", 1)).await;
    town.set_quest("ana", NewQuest::tasks("two", 2)).await;
    town.set_done(&goal, &one, true).await;
    town.settle().await;
    assert_eq!(town.quest_state("bo", &quest.id).await, "active 0");
    town.set_status("ana", UserStatus::Deleted).await;
    town.settle().await;
    assert!(town.rows("USER#ana", "").await.is_empty());
    assert!(town.rows("ACTIVITY#ana", "").await.is_empty());
}

/// A job that cannot be done is parked and blocks nothing.
#[tokio::test]
async fn an_invalid_job_is_parked() {
    let (town, ..) = town().await;
    let queue = Queue::from_static("quests");
    let nonsense = Json::encode(&"what?").unwrap();
    let look =
        roundtable_streams::new_job(queue.clone(), "j1".parse().unwrap(), town.now(), &nonsense);
    let table = town.context().ops().table();
    table.put(roundtable_model::Entity::put(&look.unwrap())).await.unwrap();
    town.settle().await;
    assert_eq!(bookkeeping(town.context(), "DLQ#quests").await.len(), 1);
}
