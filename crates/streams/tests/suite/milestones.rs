//! Milestones achieved by tasks (R10), announced once despite redelivery and crashes; and the purge
//! of deleted goals.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_conformance::Reference;
use roundtable_domain::{MilestoneChange, NewGoal};
use roundtable_model::entities::{Goal, Task};
use roundtable_model::table::{ManualClock, SharedBackend, Store};
use roundtable_model::{GoalStatus, Percentage};
use roundtable_streams::{MilestoneUpdater, Runner};
use roundtable_testkit::{StutteringBackend, Town, YieldingBackend, stop_at};

use crate::facts::everything;
use crate::test_store::BEGIN_MS;

/// Longer than the claim of a dead worker.
const LONG_MS: u64 = 61_000;

/// All items that mention a text.
async fn traces(town: &Town, of: &str) -> Vec<String> {
    let items = everything(town.context()).await;
    let texts = items.iter().map(|item| format!("{item:?}"));
    texts.filter(|text| text.contains(of)).collect()
}

/// R10: a milestone is achieved and announced when the share of done tasks reaches its percentage.
#[tokio::test]
async fn done_tasks_achieve_milestones() {
    let town = Town::of(["ana", "bo"]).await;
    let goal = town.set_goal("ana", "Run").await;
    for (share, name) in [(25, "a quarter"), (50, "half"), (100, "all")] {
        town.add_milestone("ana", &goal.id, share, name).await;
    }
    town.settle().await;
    assert!(town.achieved(&goal).await.is_empty(), "a goal without tasks achieves nothing");
    let mut tasks = Vec::new();
    for name in ["shoes", "route", "train", "race"] {
        tasks.push(town.add_task("ana", &goal.id, name).await);
    }
    town.settle().await;
    assert!(town.achieved(&goal).await.is_empty());
    town.mark_done(&tasks[0], true).await;
    town.settle().await;
    assert_eq!(town.achieved(&goal).await, ["a quarter"]);
    for task in &tasks[1..] {
        town.mark_done(task, true).await;
    }
    town.settle().await;
    assert_eq!(town.achieved(&goal).await, ["a quarter", "half", "all"]);
    let previews = ["Run: a quarter", "Run: half", "Run: all"];
    assert_eq!(town.previews("bo", "ana").await, previews);
    let stored = town.goals().get(&town.caller("ana"), None, &goal.id).await.unwrap();
    assert_eq!(stored.status, GoalStatus::Active, "a goal is completed by hand");
}

/// R10: an achieved milestone stays achieved and is announced once, however often tasks are
/// reopened and completed.
#[tokio::test]
async fn reopening_a_task_takes_nothing_back() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await;
    town.add_milestone("ana", &goal.id, 100, "all").await;
    let task = town.add_task("ana", &goal.id, "shoes").await;
    for done in [true, false, true, false] {
        town.mark_done(&task, done).await;
        town.settle().await;
        assert_eq!(town.achieved(&goal).await, ["all"]);
    }
    town.add_task("ana", &goal.id, "more").await;
    town.settle().await;
    assert_eq!(town.achieved(&goal).await, ["all"]);
    assert_eq!(town.previews("ana", "ana").await, ["Run: all"]);
}

/// R10: a task completed and reopened before the job runs achieves nothing.
#[tokio::test]
async fn only_the_current_state_counts() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await;
    town.add_milestone("ana", &goal.id, 100, "all").await;
    let task = town.add_task("ana", &goal.id, "shoes").await;
    town.mark_done(&task, true).await;
    town.mark_done(&task, false).await;
    town.settle().await;
    assert!(town.achieved(&goal).await.is_empty() && town.previews("ana", "ana").await.is_empty());
}

/// R10: a share is also reached by removing an open task, by lowering the percentage, and by adding
/// a milestone late.
#[tokio::test]
async fn a_share_can_be_reached_without_completing_a_task() {
    let town = Town::of(["ana"]).await;
    let ana = town.caller("ana");
    let goal = town.set_goal("ana", "Run").await;
    let done = town.add_task("ana", &goal.id, "shoes").await;
    let open = town.add_task("ana", &goal.id, "race").await;
    town.mark_done(&done, true).await;
    town.settle().await;
    town.add_milestone("ana", &goal.id, 50, "late").await;
    let high = town.add_milestone("ana", &goal.id, 90, "high").await;
    town.add_milestone("ana", &goal.id, 100, "all").await;
    town.settle().await;
    assert_eq!(town.achieved(&goal).await, ["late"]);
    let change =
        MilestoneChange { percentage: Some(Percentage::whole(30)), ..MilestoneChange::default() };
    town.milestones().update(&ana, &goal.id, &high.id, change, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.achieved(&goal).await, ["late", "high"]);
    town.tasks().delete(&ana, &goal.id, &open.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.achieved(&goal).await, ["late", "high", "all"]);
    assert_eq!(town.previews("ana", "ana").await.len(), 3);
}

/// Achieved by hand and by tasks at once, it is achieved and announced once.
#[tokio::test]
async fn a_milestone_achieved_by_hand_is_not_achieved_again() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await;
    let all = town.add_milestone("ana", &goal.id, 100, "all").await;
    let task = town.add_task("ana", &goal.id, "shoes").await;
    town.mark_done(&task, true).await;
    let by_hand = town.achieve(&all).await;
    town.settle().await;
    assert_eq!(town.previews("ana", "ana").await, ["Run: all"]);
    let (core, ana) = (town.context().core(), town.id("ana"));
    let stored = core.milestone(&ana, &goal.id, &all.id).get().await.unwrap().unwrap();
    assert_eq!(stored.achieved_at, by_hand.achieved_at);
}

/// A random change of a goal's tasks.
async fn change_randomly(town: &Town, random: &mut SmallRng, goal: &Goal, tasks: &mut Vec<Task>) {
    match random.random_range(0..10) {
        0..2 => tasks.push(town.add_task("ana", &goal.id, "one more").await),
        2 if tasks.len() > 1 => {
            let task = tasks.swap_remove(random.random_range(0..tasks.len()));
            let (ana, goal) = (town.caller("ana"), &goal.id);
            town.tasks().delete(&ana, goal, &task.id, None).await.unwrap();
        }
        _ if tasks.is_empty() => {}
        number => {
            let at = random.random_range(0..tasks.len());
            let task = tasks.get_mut(at).unwrap();
            *task = town.mark_done(task, number > 4).await;
        }
    }
}

/// R10, I6: with any changes, redelivery and stops, the achieved milestones match the definition
/// once everything has been read, each announced once.
#[tokio::test]
async fn achieved_milestones_match_the_definition() {
    for seed in 0..12 {
        let mut random = SmallRng::seed_from_u64(seed);
        let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
        let backend: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let on = async |store: Store, process| {
            Town::on(store, clock.clone(), Town::settings(), process).await
        };
        let town = on(Store::shared(Arc::clone(&backend)), 0).await;
        let slow = on(Store::new(YieldingBackend::shared(Arc::clone(&backend))), 1).await;
        town.add_user("ana", |_| {}).await;
        let goal = town.set_goal("ana", "Run").await;
        let shares = [0, 30, 50, 75, 100];
        for share in shares {
            town.add_milestone("ana", &goal.id, share, &share.to_string()).await;
        }
        let (mut tasks, mut expected) = (Vec::new(), BTreeSet::new());
        for _ in 0..12 {
            for _ in 0..random.random_range(1..4) {
                change_randomly(&town, &mut random, &goal, &mut tasks).await;
            }
            let rule = MilestoneUpdater::new(slow.context().clone());
            let runner = Runner::builder(slow.context().clone(), [0; 32]).without_delays();
            let runner = runner.with(rule.clone()).with_job_handler(rule).build();
            let _ = stop_at(random.random_range(0..60), runner.drain()).await;
            clock.advance_ms(LONG_MS);
            town.settle().await;
            let done = tasks.iter().filter(|task| task.done).count();
            let reached =
                |share: &&u8| !tasks.is_empty() && done * 100 >= usize::from(**share) * tasks.len();
            expected.extend(shares.iter().filter(reached).map(ToString::to_string));
            let achieved: BTreeSet<String> = town.achieved(&goal).await.into_iter().collect();
            assert_eq!(achieved, expected, "seed {seed}");
            let previews = town.previews("ana", "ana").await;
            assert_eq!(previews.len(), expected.len(), "seed {seed}: {previews:?}");
        }
        assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
    }
}

/// I6: reading the whole stream again, with repetitions, changes nothing.
#[tokio::test]
async fn redelivered_changes_change_nothing() {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let backend: SharedBackend = Arc::new(Reference::new(clock.clone()));
    let store = Store::new(StutteringBackend::new(backend, 7));
    let town = Town::on(store, clock, Town::settings(), 0).await;
    town.add_user("ana", |_| {}).await;
    let goal = town.set_goal("ana", "Run").await;
    town.add_milestone("ana", &goal.id, 50, "half").await;
    let task = town.add_task("ana", &goal.id, "shoes").await;
    for done in [true, false, true] {
        town.mark_done(&task, done).await;
        // A repetition may look like the end of the stream.
        for _ in 0..5 {
            town.settle().await;
        }
    }
    assert_eq!(town.achieved(&goal).await, ["half"]);
    assert_eq!(town.previews("ana", "ana").await, ["Run: half"]);
}

/// R10: a deleted goal leaves nothing behind, nor do the activities about it; others stay.
#[tokio::test]
async fn a_deleted_goal_leaves_nothing_behind() {
    let town = Town::of(["ana"]).await;
    let tags = vec!["run".parse().unwrap(), "sea".parse().unwrap()];
    let goal = town.set_goal_as("ana", NewGoal { tags, ..NewGoal::titled("Run") }).await;
    let other = town.set_goal("ana", "Read").await;
    let other_task = town.add_task("ana", &other.id, "book").await;
    let half = town.add_milestone("ana", &goal.id, 50, "half").await;
    town.achieve(&half).await;
    for number in 0..130 {
        town.add_task("ana", &goal.id, &format!("number {number}")).await;
    }
    town.set_goal_status(&goal, GoalStatus::Completed).await;
    town.set_goal_status(&other, GoalStatus::Completed).await;
    town.settle().await;
    assert!(traces(&town, &goal.id.to_string()).await.len() > 130);
    town.goals().delete(&town.caller("ana"), &goal.id, None).await.unwrap();
    town.settle().await;
    let left = traces(&town, &goal.id.to_string()).await;
    assert!(left.is_empty(), "{left:#?}");
    assert_eq!(town.previews("ana", "ana").await, ["Read"]);
    assert_eq!(traces(&town, &other_task.id.to_string()).await.len(), 1);
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

#[tokio::test]
async fn the_goals_of_a_deleted_account_leave_nothing_behind() {
    let town = Town::of(["quentin", "bo"]).await;
    let tags = vec!["run".parse().unwrap()];
    let goal = town.set_goal_as("quentin", NewGoal { tags, ..NewGoal::titled("Run") }).await;
    let task = town.add_task("quentin", &goal.id, "shoes").await;
    town.add_milestone("quentin", &goal.id, 50, "half").await;
    town.mark_done(&task, true).await;
    town.settle().await;
    let quentin = town.caller("quentin");
    town.accounts().delete_account(&quentin, &"quentin".parse().unwrap()).await.unwrap();
    town.settle().await;
    for left in [goal.id.to_string(), String::from("quentin")] {
        let found = traces(&town, &left).await;
        assert!(found.is_empty(), "{found:#?}");
    }
    assert!(town.rows("TAG#run", "").await.is_empty());
}
