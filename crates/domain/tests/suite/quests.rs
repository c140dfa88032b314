//! Quests, through the service and as rows (R11, R24, R30 to R33).

use roundtable_domain::limits::QUESTS_ACTIVE_MAX;
use roundtable_domain::{
    Code, NewQuest, PageInput, QuestError, QuestFilter, QuestSettings, Quests, Refusal, Settings,
};
use roundtable_model::entities::{Goal, Task};
use roundtable_model::table::BatchWrite;
use roundtable_model::{
    CountScope, Entity, GoalId, QuestDifficulty, QuestId, QuestKind, QuestStatus, RequestId, Role,
    TaskId, samples,
};
use roundtable_testkit::Town;

fn request(id: &str) -> RequestId {
    id.parse().unwrap()
}

/// Ana with a goal and two tasks, and bo with one each.
async fn town() -> (Town, GoalId, [TaskId; 2]) {
    let town = Town::of(["ana", "bo", "ada"]).await;
    town.grant_role("ada", Role::Admin).await;
    let goal = town.open_goal("ana", "g1").await;
    let tasks =
        [town.open_task("ana", &goal, "t1").await, town.open_task("ana", &goal, "t2").await];
    let bos = town.open_goal("bo", "g9").await;
    town.open_task("bo", &bos, "t9").await;
    (town, goal, tasks)
}

async fn refused(town: &Town, quest: NewQuest) -> (Code, String) {
    let error = town.quests().create(&town.caller("ana"), &quest, None).await.unwrap_err();
    (error.code(), error.to_string())
}

/// R11, R31: a quest is one item, active, with nothing counted.
#[tokio::test]
async fn a_quest_is_created() {
    let (town, goal, tasks) = town().await;
    let deadline = Some(town.now().plus_ms(60_000));
    let linked = NewQuest::linked("all of it", vec![goal.clone()], tasks.to_vec());
    let quest = town.set_quest("ana", NewQuest { deadline, ..linked }).await;
    assert_eq!((quest.status, quest.progress_count), (QuestStatus::Active, 0));
    assert_eq!((quest.kind, quest.count_scope), (QuestKind::Linked, None));
    assert_eq!(quest.linked_task_ids, Some(tasks.to_vec()));
    assert_eq!(town.rows("USER#ana", "QUEST#").await.len(), 1);
    let ana = town.caller("ana");
    let read = town.quests().get(&ana, &ana.user_id, &quest.id).await.unwrap();
    assert_eq!(read, quest);
}

/// R11: the reward is limited by the difficulty, as configured.
#[tokio::test]
async fn difficulty_caps_the_reward() {
    let settings = Settings {
        quests: QuestSettings { hard_xp_max: 300, ..QuestSettings::default() },
        ..Town::settings()
    };
    let town = Town::with(settings, ["ana"]).await;
    for (difficulty, cap) in
        [(QuestDifficulty::Easy, 50), (QuestDifficulty::Medium, 100), (QuestDifficulty::Hard, 300)]
    {
        let quest = NewQuest { difficulty, reward_xp: cap, ..NewQuest::tasks("run", 1) };
        assert_eq!(town.set_quest("ana", quest.clone()).await.reward_xp, cap);
        let (code, text) = refused(&town, NewQuest { reward_xp: cap + 1, ..quest }).await;
        assert_eq!(code, Code::BadRequest);
        assert!(text.starts_with("rewardXp"), "{text}");
    }
}

/// R11: invalid input is refused, naming the field.
#[tokio::test]
async fn invalid_quests_are_refused() {
    let (town, goal, tasks) = town().await;
    let (any, linked) =
        (NewQuest::tasks("run", 3), NewQuest::linked("both", vec![goal.clone()], tasks.to_vec()));
    let now = town.now();
    let named = NewQuest {
        count_scope: Some(CountScope::Linked),
        linked_task_ids: tasks.to_vec(),
        ..any.clone()
    };
    let many: Vec<TaskId> = (0..21).map(|n| format!("m{n}").parse().unwrap()).collect();
    let cases = [
        ("title", NewQuest { title: " ".into(), ..any.clone() }),
        ("targetCount", NewQuest { target_count: None, ..any.clone() }),
        ("targetCount", NewQuest { target_count: Some(81), ..any.clone() }),
        ("targetCount", NewQuest { target_count: Some(1), ..linked.clone() }),
        ("startAt", NewQuest { start_at: Some(now), ..linked.clone() }),
        ("linkedTaskIds", NewQuest::linked("none", Vec::new(), Vec::new())),
        ("linkedTaskIds", NewQuest { linked_task_ids: many, ..linked.clone() }),
        ("linkedTaskIds", NewQuest { linked_task_ids: tasks.to_vec(), ..any.clone() }),
        ("linkedTaskIds", named.clone()),
        ("linkedGoalIds", NewQuest { linked_goal_ids: vec![goal], ..any.clone() }),
        ("periodSeconds", NewQuest { period_seconds: Some(0), ..any.clone() }),
        ("deadline", NewQuest { deadline: Some(now), ..any.clone() }),
        (
            "startAt",
            NewQuest {
                start_at: Some(now.plus_ms(20)),
                deadline: Some(now.plus_ms(10)),
                ..any.clone()
            },
        ),
    ];
    for (field, quest) in cases {
        let (code, text) = refused(&town, quest).await;
        assert_eq!(code, Code::BadRequest, "{text}");
        assert!(text.starts_with(field), "{field}: {text}");
    }
    assert!(town.rows("USER#ana", "QUEST#").await.is_empty());
}

/// R24: quests are listed as they are now, even if the index is stale.
#[tokio::test]
async fn a_stale_index_shows_no_active_quest() {
    let (town, far) = Town::on_lagging_store(["ana"]).await;
    let retained = town.set_quest("ana", NewQuest::tasks("kept", 1)).await;
    let given_up = town.set_quest("ana", NewQuest::tasks("given up", 1)).await;
    far.fall_behind(1_000);
    town.quests().cancel(&town.caller("ana"), &given_up.id, None).await.unwrap();
    let active = QuestFilter { status: Some(QuestStatus::Active), ..QuestFilter::default() };
    assert_eq!(town.quest_titles("ana", &active).await, [retained.title]);
}

/// R11: the number of active quests is limited; one that has ended makes room.
#[tokio::test]
async fn active_quests_are_limited() {
    let town = Town::of(["ana", "bo"]).await;
    let mut last = None;
    for _ in 0..QUESTS_ACTIVE_MAX {
        last = Some(town.set_quest("ana", NewQuest::tasks("run", 1)).await.id);
    }
    let (code, _) = refused(&town, NewQuest::tasks("one more", 1)).await;
    assert_eq!(code, Code::Conflict);
    town.set_quest("bo", NewQuest::tasks("run", 1)).await;
    town.quests().cancel(&town.caller("ana"), &last.unwrap(), None).await.unwrap();
    town.set_quest("ana", NewQuest::tasks("one more", 1)).await;
}

/// R11: any number of done tasks can complete a quest.
#[tokio::test]
async fn a_quest_counts_any_number_of_tasks() {
    let town = Town::of(["ana"]).await;
    let (begin, goal) = (town.now(), town.open_goal("ana", "g1").await);
    let many = (0..10_020).map(|number| Task {
        user_id: town.id("ana"),
        goal_id: goal.clone(),
        id: format!("t{number:05}").parse().unwrap(),
        done: true,
        // Only the last ones count.
        done_at: Some(begin.plus_ms(if number < 9_960 { 0 } else { 10 })),
        ..samples::task()
    });
    let many: Vec<BatchWrite> = many.map(|task| BatchWrite::Put(task.item())).collect();
    for some in many.chunks(25) {
        town.context().core().table().batch_write(some.to_vec()).await.unwrap();
    }
    let start_at = Some(begin.plus_ms(10));
    let [enough, more] = [60, 61];
    let enough = NewQuest { start_at, ..NewQuest::tasks("enough", enough) };
    let more = NewQuest { start_at, ..NewQuest::tasks("more", more) };
    for (quest, expected) in [(enough, "completed 60"), (more, "active 60")] {
        let quest = town.set_quest("ana", quest).await;
        town.quests().recount_all(&quest.user_id, &quest.id).await.unwrap();
        assert_eq!(town.quest_state("ana", &quest.id).await, expected);
    }
}

/// R31: only the user's own goals and tasks can be linked; others look as if they did not exist.
#[tokio::test]
async fn links_must_be_ones_own() {
    let (town, goal, _) = town().await;
    let id = |id: &str| id.parse().unwrap();
    for (goals, tasks) in [
        (vec!["g9"], vec![]),
        (vec!["g1", "nowhere"], vec![]),
        (vec![], vec!["t1", "t9"]),
        (vec![], vec!["nowhere"]),
    ] {
        let goals = goals.into_iter().map(|goal| goal.parse().unwrap()).collect();
        let tasks = tasks.into_iter().map(id).collect();
        let (code, _) = refused(&town, NewQuest::linked("theirs", goals, tasks)).await;
        assert_eq!(code, Code::NotFound);
    }
    // A task exists as long as its goal does.
    let table = town.context().core().table();
    table.delete(Goal::at(&town.id("ana"), &goal).delete()).await.unwrap();
    let (code, _) = refused(&town, NewQuest::linked("gone", vec![], vec![id("t1")])).await;
    assert_eq!(code, Code::NotFound);
}

/// R31, R33: a link deleted during the creation prevents the quest, in every interleaving.
#[tokio::test]
async fn links_are_checked_in_the_same_transaction() {
    for gap in 1.. {
        let (town, goal, [task, _]) = town().await;
        let (other, position) = (town.context().clone(), Task::at(&goal, &task));
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.core().table().delete(position.delete()).await.unwrap();
        });
        let quest = NewQuest::linked("race", vec![goal], vec![task.clone()]);
        let made = Quests::new(context).create(&town.caller("ana"), &quest, None).await;
        let quests = town.rows("USER#ana", "QUEST#").await.len();
        if !meanwhile.happened() {
            assert_eq!((made.is_ok(), quests), (true, 1));
            assert!(gap > 3, "{gap}");
            return;
        }
        // Created before the task was deleted, or not at all.
        assert_eq!(quests, usize::from(made.is_ok()), "after {gap}");
    }
}

/// R31, R32: the owner cancels a quest, idempotently; a completed one stays.
#[tokio::test]
async fn a_quest_is_cancelled_by_its_owner() {
    let (town, goal, [task, _]) = town().await;
    let quest = town.set_quest("ana", NewQuest::tasks("run", 1)).await;
    let service = town.quests();
    let foreign = service.cancel(&town.caller("bo"), &quest.id, None).await.unwrap_err();
    assert!(matches!(foreign, QuestError::NoSuchQuest));
    for _ in 0..2 {
        let cancelled = service.cancel(&town.caller("ana"), &quest.id, None).await.unwrap();
        assert_eq!((cancelled.status, cancelled.cancel_reason), (QuestStatus::Cancelled, None));
    }
    let other = town.set_quest("ana", NewQuest::tasks("walk", 1)).await;
    town.set_done(&goal, &task, true).await;
    town.settle().await;
    assert_eq!(town.quest_state("ana", &quest.id).await, "cancelled 0");
    assert_eq!(town.quest_state("ana", &other.id).await, "completed 1");
    let late = service.cancel(&town.caller("ana"), &other.id, None).await.unwrap_err();
    assert!(matches!(late, QuestError::AlreadyCompleted));
}

/// R31: only admins delete quests, of any user, with an audit entry.
#[tokio::test]
async fn a_quest_is_deleted_by_admins() {
    let (town, ..) = town().await;
    let quest = town.set_quest("ana", NewQuest::tasks("run", 1)).await;
    let (service, ana) = (town.quests(), town.id("ana"));
    let forged = town.staff("bo", Role::Admin);
    for caller in [town.caller("ana"), town.caller("bo"), forged] {
        let error = service.delete(&caller, &ana, &quest.id, None).await.unwrap_err();
        assert_eq!(error.code(), Code::Forbidden);
    }
    let ada = town.staff("ada", Role::Admin);
    let once = request("once");
    let deleted = service.delete(&ada, &ana, &quest.id, Some(&once)).await.unwrap();
    assert_eq!(deleted.id, quest.id);
    let again = service.delete(&ada, &ana, &quest.id, Some(&once)).await.unwrap();
    assert_eq!(again.id, quest.id);
    let removed = service.delete(&ada, &ana, &quest.id, None).await.unwrap_err();
    assert!(matches!(removed, QuestError::NoSuchQuest));
    assert!(town.rows("USER#ana", "QUEST#").await.is_empty());
    town.grant_role("bo", Role::Moderator).await;
    let (bo, page) = (town.staff("bo", Role::Moderator), PageInput::first());
    let entries = town.moderation().audit(&bo, None, None, &page).await.unwrap().into_items();
    let actions: Vec<String> = entries.into_iter().map(|entry| entry.action).collect();
    assert_eq!(actions, ["deleteQuest"]);
}

/// R32: a repeated request creates no second quest, even after the deadline, and returns the
/// current one; with other input it is refused.
#[tokio::test]
async fn a_repeated_request_has_the_effect_of_one() {
    let (town, goal, [task, _]) = town().await;
    let (service, ana, once) = (town.quests(), town.caller("ana"), request("once"));
    let deadline = Some(town.now().plus_ms(1_000));
    let quest = NewQuest { deadline, ..NewQuest::tasks("run", 1) };
    let first = service.create(&ana, &quest, Some(&once)).await.unwrap();
    town.set_done(&goal, &task, true).await;
    town.settle().await;
    town.advance_ms(2_000);
    let again = service.create(&ana, &quest, Some(&once)).await.unwrap();
    assert_eq!((again.id, again.status), (first.id, QuestStatus::Completed));
    let other = NewQuest::tasks("swim", 1);
    let mismatch = service.create(&ana, &other, Some(&once)).await.unwrap_err();
    assert_eq!(mismatch.code(), Code::IdempotencyMismatch);
    assert_eq!(town.rows("USER#ana", "QUEST#").await.len(), 1);
}

/// R24: quests are visible to their owner and to admins only.
#[tokio::test]
async fn quests_are_private_to_their_owner() {
    let (town, ..) = town().await;
    let quest = town.set_quest("ana", NewQuest::tasks("run", 1)).await;
    let (service, ana) = (town.quests(), town.id("ana"));
    let (all, page) = (QuestFilter::default(), PageInput::first());
    for caller in [town.caller("bo"), town.staff("bo", Role::Admin)] {
        let error = service.get(&caller, &ana, &quest.id).await.unwrap_err();
        assert!(matches!(error, QuestError::NoSuchQuest));
        let error = service.list(&caller, &ana, &all, &page).await.unwrap_err();
        assert!(matches!(error, QuestError::NoSuchQuest));
    }
    let ada = town.staff("ada", Role::Admin);
    assert_eq!(service.get(&ada, &ana, &quest.id).await.unwrap(), quest);
    assert_eq!(service.list(&ada, &ana, &all, &page).await.unwrap().items.len(), 1);
    let nowhere: QuestId = "nowhere".parse().unwrap();
    let error = service.get(&town.caller("ana"), &ana, &nowhere).await.unwrap_err();
    assert!(matches!(error, QuestError::NoSuchQuest));
}

/// R24, R30: lists by status, goal and task, newest first, each page full although others fall out.
#[tokio::test]
async fn lists_have_no_short_pages() {
    let (town, goal, [task, other]) = town().await;
    for number in 0..12 {
        town.advance_ms(1);
        let title = format!("q{number}");
        let quest = match number % 3 {
            0 => NewQuest::linked(title, vec![goal.clone()], vec![task.clone()]),
            1 => NewQuest::linked(title, vec![goal.clone()], vec![other.clone()]),
            _ => NewQuest::tasks(title, 1),
        };
        let quest = town.set_quest("ana", quest).await;
        if number < 6 {
            town.quests().cancel(&town.caller("ana"), &quest.id, None).await.unwrap();
        }
    }
    let titles = async |filter: QuestFilter| {
        let (ana, mut page) = (town.caller("ana"), PageInput { limit: Some(2), after: None });
        let (mut titles, mut sizes) = (Vec::new(), Vec::new());
        loop {
            let found = town.quests().list(&ana, &ana.user_id, &filter, &page).await.unwrap();
            page.after.clone_from(&found.next);
            sizes.push(found.items.len());
            titles.extend(found.into_items().into_iter().map(|quest| quest.title));
            if page.after.is_none() {
                break;
            }
            assert_eq!(sizes.last(), Some(&2), "a short page that is not the last one");
        }
        titles.join(" ")
    };
    let all = QuestFilter::default();
    assert_eq!(titles(all.clone()).await, "q11 q10 q9 q8 q7 q6 q5 q4 q3 q2 q1 q0");
    let active = QuestFilter { status: Some(QuestStatus::Active), ..all.clone() };
    assert_eq!(titles(active.clone()).await, "q11 q10 q9 q8 q7 q6");
    let with_goal = QuestFilter { linked_goal_id: Some(goal), ..all.clone() };
    assert_eq!(titles(with_goal.clone()).await, "q10 q9 q7 q6 q4 q3 q1 q0");
    let with_task = QuestFilter { linked_task_id: Some(task), ..active };
    assert_eq!(titles(with_task.clone()).await, "q9 q6");
    let both = QuestFilter { linked_task_id: Some(other), ..with_goal };
    assert_eq!(titles(both).await, "q10 q7 q4 q1");
}
