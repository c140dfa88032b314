//! Tasks, through the service and as rows (R4, R10, R24, R32, R33).

use roundtable_domain::limits::{PLAN_CHARS_MAX, TITLE_CHARS_MAX};
use roundtable_domain::{
    ActivityError, Caller, Code, Edit, NewActivity, NewTask, PageInput, Refusal, TaskChange,
    TaskError,
};
use roundtable_model::entities::Task;
use roundtable_model::table::Order::Descending;
use roundtable_model::{ActivityVerb, Json, ObjectType, RequestId, Role, Time, UserStatus};
use roundtable_testkit::Town;

const HOUR_MS: u64 = 3_600_000;

fn pages_of(limit: usize) -> PageInput {
    PageInput { limit: Some(limit), after: None }
}

fn titles(tasks: &[Task]) -> Vec<&str> {
    tasks.iter().map(|task| task.title.as_str()).collect()
}

async fn found(town: &Town, caller: &Caller, task: &Task) -> Option<Task> {
    let position = (task.goal_id.clone(), task.id.clone());
    town.tasks().tasks(caller, &[position]).await.unwrap().remove(0)
}

/// The titles of ana's open tasks that are due in the next hours, read in pages of this size.
async fn due(town: &Town, from_hours: u64, to_hours: u64, size: usize) -> Vec<String> {
    let hours = |hours: u64| town.now().plus_ms(hours * HOUR_MS);
    let (ana, mut page, mut found) = (town.caller("ana"), pages_of(size), Vec::new());
    let (from, to) = (hours(from_hours), hours(to_hours));
    loop {
        let read = town.tasks().due(&ana, from, to, &page).await.unwrap();
        page.after.clone_from(&read.next);
        found.extend(read.into_items().into_iter().map(|task| task.title));
        if page.after.is_none() {
            return found;
        }
    }
}

/// R10: completing a task records the time once, and reopening it clears the time.
#[tokio::test]
async fn completing_a_task_records_the_time_and_reopening_clears_it() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let task = town.add_task("ana", &goal, " buy shoes ").await;
    assert_eq!((task.title.as_str(), task.done, task.done_at), ("buy shoes", false, None));
    let at = town.now();
    let done = town.mark_done(&task, true).await;
    assert_eq!((done.done, done.done_at), (true, Some(at)));
    let again = town.mark_done(&task, true).await;
    assert_eq!(again.done_at, Some(at), "done is done");
    let undone = town.mark_done(&task, false).await;
    assert_eq!((undone.done, undone.done_at), (false, None));
    let at = town.now();
    assert_eq!(town.mark_done(&task, true).await.done_at, Some(at));
    assert_eq!(
        town.rows(&format!("GOAL#{goal}"), "TASK#").await,
        [format!("TASK#{} userId=ana title=buy shoes done=true", task.id)]
    );
}

/// R10: absent fields stay, null clears; the returned task is the stored one.
#[tokio::test]
async fn absent_fields_stay() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let (tasks, ana) = (town.tasks(), town.caller("ana"));
    let plan: Json = r#"{"steps":["try on","pay"]}"#.parse().unwrap();
    let due_at = Some(town.now().plus_ms(HOUR_MS));
    let new = NewTask { due_at, nlp_plan: Some(plan.clone()), ..NewTask::titled(&goal, "shoes") };
    let task = tasks.create(&ana, new, None).await.unwrap();
    let change = TaskChange { title: Some("boots".into()), ..TaskChange::default() };
    let boots = tasks.update(&ana, &goal, &task.id, change, None).await.unwrap();
    assert_eq!(
        (boots.title.as_str(), boots.due_at, &boots.nlp_plan),
        ("boots", due_at, &Some(plan))
    );
    let change = TaskChange { due_at: Edit::Clear, nlp_plan: Edit::Clear, ..TaskChange::default() };
    let bare = tasks.update(&ana, &goal, &task.id, change, None).await.unwrap();
    assert_eq!((bare.due_at, &bare.nlp_plan), (None, &None));
    assert_eq!(tasks.get(&ana, &goal, &task.id).await.unwrap(), bare);
}

/// R24, R30: the tasks of a goal, all, done or open, in full pages.
#[tokio::test]
async fn tasks_of_a_goal_come_in_full_pages() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let (tasks, ana) = (town.tasks(), town.caller("ana"));
    for number in 0..12 {
        let task = town.add_task("ana", &goal, &format!("t{number:02}")).await;
        if number % 4 == 0 {
            town.mark_done(&task, true).await;
        }
    }
    for (done, expected) in [(None, 12), (Some(true), 3), (Some(false), 9)] {
        let (mut found, mut page) = (Vec::new(), pages_of(3));
        loop {
            let read = tasks.list(&ana, None, &goal, done, &page).await.unwrap();
            page.after.clone_from(&read.next);
            assert_eq!(read.items.len(), 3, "a full page of {done:?}");
            found.extend(read.into_items());
            if page.after.is_none() {
                break;
            }
        }
        assert_eq!(found.len(), expected);
        assert!(found.iter().all(|task| done.is_none_or(|done| task.done == done)));
        assert!(titles(&found).is_sorted());
    }
}

/// R24: the caller's open tasks between two times, most urgent first, of existing goals.
#[tokio::test]
async fn open_tasks_are_found_by_when_they_are_due() {
    let town = Town::of(["ana", "bo"]).await;
    let (run, read) = (town.set_goal("ana", "Run").await, town.set_goal("ana", "Read").await);
    let others = town.set_goal("bo", "Rest").await.id;
    let at = |hours: u64| Some(town.now().plus_ms(hours * HOUR_MS + 60_000));
    let shoes = town.add_task_due("ana", &run.id, "shoes", at(3)).await;
    town.add_task_due("ana", &read.id, "book", at(1)).await;
    town.add_task_due("ana", &run.id, "route", at(2)).await;
    town.add_task_due("ana", &run.id, "trophy", at(50)).await;
    town.add_task("ana", &run.id, "some day").await;
    town.add_task_due("bo", &others, "nap", at(1)).await;
    for size in [1, 2, 100] {
        assert_eq!(due(&town, 0, 10, size).await, ["book", "route", "shoes"]);
    }
    assert_eq!(due(&town, 2, 3, 10).await, ["route"]);
    town.mark_done(&shoes, true).await;
    assert_eq!(due(&town, 0, 10, 10).await, ["book", "route"]);
    town.mark_done(&shoes, false).await;
    let change = TaskChange { due_at: at(0).into_edit(), ..TaskChange::default() };
    town.tasks().update(&town.caller("ana"), &run.id, &shoes.id, change, None).await.unwrap();
    assert_eq!(due(&town, 0, 10, 10).await, ["shoes", "book", "route"]);
    town.goals().delete(&town.caller("ana"), &run.id, None).await.unwrap();
    assert_eq!(due(&town, 0, 10, 10).await, ["book"], "hidden at once, with their goal");
    let (from, to) = (town.now(), town.now().minus_ms(1));
    let wrong = town.tasks().due(&town.caller("ana"), from, to, &pages_of(10)).await;
    assert_eq!(wrong.unwrap_err().code(), Code::BadRequest);
}

trait IntoEdit<T> {
    fn into_edit(self) -> Edit<T>;
}

impl IntoEdit<Time> for Option<Time> {
    fn into_edit(self) -> Edit<Time> {
        self.map_or(Edit::Clear, Edit::Set)
    }
}

/// R4, R24: all users' open tasks of a day, for admins.
#[tokio::test]
async fn tasks_due_on_a_day_are_for_admins() {
    let town = Town::of(["ana", "bo", "ada"]).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    let (run, rest) = (town.set_goal("ana", "Run").await, town.set_goal("bo", "Rest").await);
    let today = town.now().day();
    let at = |hours: u64| Some(town.now().day().start().plus_ms(hours * HOUR_MS));
    town.add_task_due("ana", &run.id, "shoes", at(23)).await;
    town.add_task_due("bo", &rest.id, "nap", at(22)).await;
    town.add_task_due("bo", &rest.id, "sleep", at(24)).await;
    let done = town.add_task_due("bo", &rest.id, "rise", at(21)).await;
    town.mark_done(&done, true).await;
    let tasks = town.tasks();
    for size in [1, 10] {
        let (mut found, mut page) = (Vec::new(), pages_of(size));
        loop {
            let read = tasks.due_on(&ada, today, &page).await.unwrap();
            page.after.clone_from(&read.next);
            found.extend(read.into_items());
            if page.after.is_none() {
                break;
            }
        }
        assert_eq!(titles(&found), ["nap", "shoes"]);
    }
    let refused = tasks.due_on(&town.caller("ana"), today, &pages_of(10)).await;
    assert_eq!(refused.unwrap_err().code(), Code::Forbidden);
    town.set_status("ana", UserStatus::Deleted).await;
    let left = tasks.due_on(&ada, today, &pages_of(10)).await.unwrap().into_items();
    assert_eq!(titles(&left), ["nap"]);
}

/// R24: unknown tasks and other users' tasks look the same; admins read, and change nothing.
#[tokio::test]
async fn another_users_task_looks_missing() {
    let town = Town::of(["ana", "bo", "ada"]).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let mine = town.set_goal("bo", "Rest").await.id;
    let task = town.add_task("ana", &goal, "shoes").await;
    let (tasks, bo) = (town.tasks(), town.caller("bo"));
    for of in [&goal, &mine] {
        let change = TaskChange::to_done(true);
        for answer in [
            tasks.get(&bo, of, &task.id).await,
            tasks.update(&bo, of, &task.id, change, None).await,
            tasks.delete(&bo, of, &task.id, None).await,
        ] {
            assert!(matches!(answer, Err(TaskError::NoSuchTask)));
        }
    }
    let added = tasks.create(&bo, NewTask::titled(&goal, "mine"), None).await;
    assert!(matches!(added, Err(TaskError::NoSuchGoal)));
    let listed = tasks.list(&bo, None, &goal, None, &pages_of(10)).await;
    assert!(matches!(listed, Err(TaskError::NoSuchGoal)));
    assert_eq!(tasks.get(&ada, &goal, &task.id).await.unwrap().title, "shoes");
    let listed = tasks.list(&ada, None, &goal, None, &pages_of(10)).await;
    assert_eq!(listed.unwrap().items.len(), 1);
    let empty = town.set_goal("ana", "Rest").await.id;
    let owner = Some(&task.user_id);
    let listed = tasks.list(&ada, owner, &empty, None, &pages_of(10)).await;
    assert!(listed.unwrap().items.is_empty(), "a goal without tasks is there, too");
    let listed = tasks.list(&bo, owner, &empty, None, &pages_of(10)).await;
    assert!(matches!(listed, Err(TaskError::NoSuchGoal)));
    assert_eq!(found(&town, &ada, &task).await.as_ref(), Some(&task));
    assert_eq!(found(&town, &bo, &task).await, None);
    let changed = tasks.update(&ada, &goal, &task.id, TaskChange::to_done(true), None).await;
    assert!(matches!(changed, Err(TaskError::NoSuchTask)));
}

/// R24: a task is found by id alone, also right after its creation with stale indexes, and only
/// while its goal exists.
#[tokio::test(start_paused = true)]
async fn a_task_is_found_by_its_id() {
    let (town, far) = Town::on_lagging_store(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let ana = town.caller("ana");
    let early = town.add_task("ana", &goal, "shoes").await;
    let tell = async |task: &Task| {
        let returned = NewActivity {
            group_id: None,
            verb: ActivityVerb::GoalUpdate,
            object_type: ObjectType::Task,
            object_id: (&task.id).into(),
            preview_text: None,
            media: None,
            tags: Vec::new(),
        };
        town.activities().post(&ana, &returned, None).await
    };
    far.fall_behind(3);
    let late = town.add_task("ana", &goal, "race").await;
    assert_eq!(tell(&late).await.unwrap().object_home, Some((&goal).into()));
    far.fall_behind(1_000);
    let done = town.mark_done(&early, true).await;
    assert_eq!(found(&town, &ana, &early).await.as_ref(), Some(&done));
    let page = PageInput::first();
    let returned =
        async || town.activities().of(None, &(&ana.user_id).into(), Descending, &page).await;
    assert_eq!(returned().await.unwrap().items.len(), 1);
    town.goals().delete(&ana, &goal, None).await.unwrap();
    assert_eq!(found(&town, &ana, &early).await, None);
    assert!(returned().await.unwrap().items.is_empty(), "before anything is purged");
    let rows = town.rows(&format!("GOAL#{goal}"), "TASK#").await;
    assert_eq!(rows.len(), 2, "the tasks themselves are still there");
    assert!(matches!(tell(&early).await, Err(ActivityError::NoSuchObject)));
}

/// R33: nothing can be added to a deleted goal.
#[tokio::test]
async fn tasks_disappear_with_their_goal() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let task = town.add_task("ana", &goal, "shoes").await;
    let (tasks, ana) = (town.tasks(), town.caller("ana"));
    town.goals().delete(&ana, &goal, None).await.unwrap();
    assert!(tasks.get(&ana, &goal, &task.id).await.is_err());
    assert!(tasks.list(&ana, None, &goal, None, &pages_of(10)).await.is_err());
    assert!(tasks.create(&ana, NewTask::titled(&goal, "more"), None).await.is_err());
    assert!(tasks.update(&ana, &goal, &task.id, TaskChange::to_done(true), None).await.is_err());
}

/// R32: a repeated request has the effect of one.
#[tokio::test]
async fn requests_are_idempotent() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let (tasks, ana) = (town.tasks(), town.caller("ana"));
    let once: RequestId = "r-1".parse().unwrap();
    let new = || NewTask::titled(&goal, "shoes");
    let first = tasks.create(&ana, new(), Some(&once)).await.unwrap();
    town.mark_done(&first, true).await;
    let again = tasks.create(&ana, new(), Some(&once)).await.unwrap();
    assert_eq!((again.id, again.done), (first.id.clone(), true));
    assert_eq!(town.rows(&format!("GOAL#{goal}"), "TASK#").await.len(), 1);
    // Completed, reopened, and the first request repeated: it does not complete it again.
    let (doing, id) = ("r-2".parse().unwrap(), &first.id);
    tasks.update(&ana, &goal, id, TaskChange::to_done(true), Some(&doing)).await.unwrap();
    town.mark_done(&first, false).await;
    let late = tasks.update(&ana, &goal, id, TaskChange::to_done(true), Some(&doing)).await;
    assert!(!late.unwrap().done);
    let removing = "r-3".parse().unwrap();
    for _ in 0..2 {
        assert_eq!(tasks.delete(&ana, &goal, id, Some(&removing)).await.unwrap().id, *id);
    }
}

/// Concurrent changes from many devices all hold.
#[tokio::test]
async fn concurrent_changes_all_hold() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let task = town.add_task("ana", &goal, "shoes").await;
    let (tasks, ana) = (town.tasks(), town.caller("ana"));
    let update = |change| tasks.update(&ana, &goal, &task.id, change, None);
    let later = town.now().plus_ms(HOUR_MS);
    let changes = [
        update(TaskChange { title: Some("boots".into()), ..TaskChange::default() }),
        update(TaskChange { due_at: Edit::Set(later), ..TaskChange::default() }),
        update(TaskChange::to_done(true)),
    ];
    let all = futures::future::join_all(changes).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    let now = tasks.get(&ana, &goal, &task.id).await.unwrap();
    assert_eq!((now.title.as_str(), now.due_at, now.done), ("boots", Some(later), true));
}

#[tokio::test]
async fn inputs_are_limited() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let (tasks, ana) = (town.tasks(), town.caller("ana"));
    let plan: Json = format!("\"{}\"", "a".repeat(PLAN_CHARS_MAX)).parse().unwrap();
    for wrong in [
        NewTask::titled(&goal, " "),
        NewTask::titled(&goal, "a".repeat(TITLE_CHARS_MAX + 1)),
        NewTask { nlp_plan: Some(plan), ..NewTask::titled(&goal, "shoes") },
    ] {
        let refused = tasks.create(&ana, wrong, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest);
    }
    assert!(town.rows(&format!("GOAL#{goal}"), "").await.is_empty());
}
