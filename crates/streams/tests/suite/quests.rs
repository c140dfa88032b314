//! Quests come along as tasks and goals are done and un-done, and end at their deadlines.

use roundtable_domain::limits::QUEST_TARGET_MAX;
use roundtable_domain::{NewQuest, PageInput, QuestSubject};
use roundtable_model::table::Order;
use roundtable_model::{
    ActivityVerb, ActorId, CountScope, GoalId, Json, Queue, Role, TaskId, UserStatus,
};
use roundtable_streams::{QuestProgress, Runner};
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

/// R11: a linked quest is completed when all it names is done; the reward comes once, and is told of.
#[tokio::test]
async fn a_linked_quest_is_completed_by_everything_it_names() {
    let (town, goal, [one, two, _]) = town().await;
    let linked = NewQuest::linked("all", vec![goal.clone()], vec![one.clone(), two.clone()]);
    let quest = town.set_quest("ana", linked).await;
    town.set_done(&goal, &one, true).await;
    town.set_done(&goal, &two, true).await;
    town.settle().await;
    assert_eq!(town.standing("ana", &quest.id).await, "active 2");
    assert_eq!((town.xp("ana").await, steps(&town).await), (0, 2));
    town.set_reached("ana", &goal, true).await;
    town.settle().await;
    assert_eq!(town.standing("ana", &quest.id).await, "completed 3");
    assert_eq!(town.xp("ana").await, 10);
    assert_eq!(town.rows("USER#ana", "XP#").await, [format!("XP#{} rewardXp=10", quest.id)]);
    let actor = ActorId::from(&town.id("ana"));
    let (bo, page) = (town.caller("bo"), PageInput::default());
    let told = town.activities().of(Some(&bo), &actor, Order::Descending, &page).await.unwrap();
    let told = told.into_items();
    assert_eq!(told.len(), 1);
    assert_eq!(told.first().unwrap().verb, ActivityVerb::QuestUpdate);
    assert_eq!(told.first().unwrap().preview_text.as_deref(), Some("all"));
    assert!(bookkeeping(town.ground(), "JOB#quests").await.is_empty());
}

/// R11: once completed, it stays so: un-doing and doing again earns nothing more.
#[tokio::test]
async fn a_reward_is_earned_once() {
    let (town, goal, [one, ..]) = town().await;
    let quest = town.set_quest("ana", NewQuest::tasks("one", 1)).await;
    for done in [true, false, true] {
        town.pass_ms(10);
        town.set_done(&goal, &one, done).await;
        town.settle().await;
        assert_eq!(town.standing("ana", &quest.id).await, "completed 1");
        assert_eq!((town.xp("ana").await, steps(&town).await), (10, 1));
    }
}

/// R11: before it is completed, what is un-done does not count, and what is done twice counts once.
#[tokio::test]
async fn what_is_undone_does_not_count() {
    let (town, goal, [one, two, _]) = town().await;
    let quest = town.set_quest("ana", NewQuest::tasks("two", 2)).await;
    for (task, done, expected) in [
        (&one, true, "active 1"),
        (&one, false, "active 0"),
        (&one, true, "active 1"),
        (&one, true, "active 1"),
        (&two, true, "completed 2"),
    ] {
        town.pass_ms(10);
        town.set_done(&goal, task, done).await;
        town.settle().await;
        assert_eq!(town.standing("ana", &quest.id).await, expected);
    }
    assert_eq!(town.xp("ana").await, 10);
}

/// R11: a task that is taken away does not count any more.
#[tokio::test]
async fn what_is_taken_away_does_not_count() {
    let (town, goal, [one, ..]) = town().await;
    let quest = town.set_quest("ana", NewQuest::tasks("two", 2)).await;
    town.set_done(&goal, &one, true).await;
    town.settle().await;
    let place = roundtable_model::entities::Task::at(&goal, &one);
    town.ground().core().table().delete(place.delete()).await.unwrap();
    town.settle().await;
    assert_eq!(town.standing("ana", &quest.id).await, "active 0");
    assert_eq!(steps(&town).await, 0);
}

/// R11: tasks count as long as their goal is there: neither one that is done for a goal that was given
/// up a moment ago, nor one that was done before.
#[tokio::test]
async fn what_is_of_no_goal_does_not_count() {
    let (town, goal, [one, two, three]) = town().await;
    let other = town.open_goal("ana", "g2").await;
    let kept = town.open_task("ana", &other, "t4").await;
    let two_of_any = town.set_quest("ana", NewQuest::tasks("two", 2)).await;
    let named = NewQuest::linked("named", vec![], vec![one.clone(), kept.clone()]);
    let named = town.set_quest("ana", named).await;
    town.set_done(&goal, &one, true).await;
    town.settle().await;
    assert_eq!(town.standing("ana", &two_of_any.id).await, "active 1");
    let place = roundtable_model::entities::Goal::at(&town.id("ana"), &goal);
    town.ground().core().table().delete(place.delete()).await.unwrap();
    town.set_done(&goal, &two, true).await;
    town.set_done(&goal, &three, true).await;
    town.set_done(&other, &kept, true).await;
    // Before anybody has taken the tasks of the goal away.
    let quests = QuestProgress::new(town.ground().clone()).at_once();
    let only = Runner::on(town.ground().clone(), [0; 32]).at_once();
    only.with(quests.clone()).working(quests).build().drain().await.unwrap();
    assert_eq!(town.standing("ana", &two_of_any.id).await, "active 1");
    assert_eq!(town.standing("ana", &named.id).await, "active 1");
    town.settle().await;
    assert_eq!(town.standing("ana", &two_of_any.id).await, "active 1");
    assert_eq!((town.xp("ana").await, steps(&town).await), (0, 2));
}

/// R11: a quest for as many tasks as one can ask for is completed by them, and not before, wherever one
/// of them is un-done meanwhile.
#[tokio::test]
async fn the_largest_quest_is_completed_by_all_it_asks_for() {
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
    assert_eq!(town.standing("ana", &quest.id).await, "active 79");
    // The last one is done after the first one is un-done, of which nobody has heard yet.
    let (goal, last) = &tasks[1];
    town.set_done(goal, last, false).await;
    let (first_goal, first) = &tasks[0];
    town.set_done(first_goal, first, true).await;
    let subject = QuestSubject::Task((*first_goal).clone(), first.clone());
    town.quests().weigh(&town.id("ana"), &subject).await.unwrap();
    assert_eq!(town.standing("ana", &quest.id).await, "active 79");
    town.set_done(goal, last, true).await;
    town.settle().await;
    assert_eq!(town.standing("ana", &quest.id).await, "completed 80");
    assert_eq!((town.xp("ana").await, steps(&town).await), (10, 80));
}

/// R11: what a quest names counts also when it was done before; of any tasks, only what is done from
/// its creation, or its start, on.
#[tokio::test]
async fn what_was_done_before_counts_where_it_is_named() {
    let (town, goal, [one, two, three]) = town().await;
    let before = town.now();
    town.set_done(&goal, &one, true).await;
    town.pass_ms(1_000);
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
            all.push(town.standing("ana", quest).await);
        }
        all.join(", ")
    };
    town.settle().await;
    assert_eq!(standings().await, "active 1, completed 1, active 1, active 0, active 0");
    town.set_done(&goal, &three, true).await;
    town.settle().await;
    assert_eq!(standings().await, "active 1, completed 1, completed 2, active 1, active 0");
    town.pass_ms(5_000);
    town.set_done(&goal, &two, true).await;
    town.settle().await;
    assert_eq!(standings().await, "completed 2, completed 1, completed 2, completed 2, active 1");
    town.set_done(&goal, &one, false).await;
    town.pass_ms(5_001);
    town.set_done(&goal, &one, true).await;
    town.settle().await;
    assert_eq!(
        standings().await,
        "completed 2, completed 1, completed 2, completed 2, active 1",
        "the period is over"
    );
}

/// R11: at its deadline a quest that is not completed is cancelled, as expired, and nothing brings it
/// back.
#[tokio::test]
async fn a_quest_expires_at_its_deadline() {
    let (town, goal, [one, two, _]) = town().await;
    let deadline = Some(town.now().plus_ms(10_000));
    let quest = town.set_quest("ana", NewQuest { deadline, ..NewQuest::tasks("two", 2) }).await;
    town.set_done(&goal, &one, true).await;
    town.settle().await;
    town.pass_ms(9_999);
    town.settle().await;
    assert_eq!(town.standing("ana", &quest.id).await, "active 1");
    town.pass_ms(1);
    town.settle().await;
    assert_eq!(town.standing("ana", &quest.id).await, "cancelled 1 (expired)");
    town.set_done(&goal, &two, true).await;
    town.settle().await;
    assert_eq!(town.standing("ana", &quest.id).await, "cancelled 1 (expired)");
    assert_eq!(town.xp("ana").await, 0);
    assert!(bookkeeping(town.ground(), "JOB#quests").await.is_empty());
}

/// R11: what was done in time counts at the deadline, however late the stream is read; what was done a
/// moment later does not.
#[tokio::test]
async fn expiry_counts_what_was_done_in_time() {
    let (town, goal, [one, two, three]) = town().await;
    let deadline = Some(town.now().plus_ms(10_000));
    let in_time = NewQuest { deadline, ..NewQuest::tasks("two", 2) };
    let too_many = NewQuest { deadline, ..NewQuest::tasks("three", 3) };
    let [in_time, too_many] =
        [town.set_quest("ana", in_time).await, town.set_quest("ana", too_many).await];
    town.settle().await;
    town.set_done(&goal, &one, true).await;
    town.pass_ms(10_000);
    town.set_done(&goal, &two, true).await;
    town.pass_ms(1);
    town.set_done(&goal, &three, true).await;
    // The end comes before anything of this is read.
    let quests = QuestProgress::new(town.ground().clone()).at_once();
    let deaf = Runner::on(town.ground().clone(), [0; 32]).at_once().working(quests).build();
    deaf.drain().await.unwrap();
    assert_eq!(town.standing("ana", &in_time.id).await, "completed 2");
    town.settle().await;
    assert_eq!(town.standing("ana", &in_time.id).await, "completed 2");
    assert_eq!(town.standing("ana", &too_many.id).await, "cancelled 2 (expired)");
    assert_eq!(town.xp("ana").await, 10);
}

/// R11: when a quest is deleted its steps go and its reward stays.
#[tokio::test]
async fn experience_outlives_the_quest() {
    let (town, goal, [one, two, _]) = town().await;
    town.move_in("ada", |_| {}).await;
    let ada = town.employ("ada", Role::Admin).await;
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
    let told = town.activities().of(Some(&bo), &actor, Order::Descending, &page).await.unwrap();
    assert!(told.items.is_empty(), "told only while the quest exists");
    assert!(town.rows("ACTIVITY#ana", "TS#").await.is_empty(), "and not kept either");
}

/// R11: tasks of others count for nobody else, and a deleted account leaves nothing behind.
#[tokio::test]
async fn everybody_has_their_own() {
    let (town, goal, [one, ..]) = town().await;
    let quest = town.set_quest("bo", NewQuest::tasks("one", 1)).await;
    town.set_quest("ana", NewQuest::tasks("two", 2)).await;
    town.set_done(&goal, &one, true).await;
    town.settle().await;
    assert_eq!(town.standing("bo", &quest.id).await, "active 0");
    town.set_status("ana", UserStatus::Deleted).await;
    town.settle().await;
    assert!(town.rows("USER#ana", "").await.is_empty());
    assert!(town.rows("ACTIVITY#ana", "").await.is_empty());
}

/// What cannot be done is parked, and in nobody's way.
#[tokio::test]
async fn a_look_that_makes_no_sense_is_parked() {
    let (town, ..) = town().await;
    let queue = Queue::named("quests");
    let nonsense = Json::of(&"what?").unwrap();
    let look = roundtable_streams::job(queue.clone(), "j1".parse().unwrap(), town.now(), &nonsense);
    let table = town.ground().ops().table();
    table.put(roundtable_model::Entity::put(&look.unwrap())).await.unwrap();
    town.settle().await;
    assert_eq!(bookkeeping(town.ground(), "DLQ#quests").await.len(), 1);
}
