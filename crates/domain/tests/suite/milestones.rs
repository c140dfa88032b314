//! Milestones, through the service and as rows (R10, R24, R32, R33). Achievement by tasks is tested
//! with the processors.

use roundtable_domain::limits::NAME_CHARS_MAX;
use roundtable_domain::{
    Code, Edit, MilestoneChange, MilestoneError, Milestones, NewMilestone, PageInput, Refusal,
    TaskChange,
};
use roundtable_model::{GoalStatus, Percentage, RequestId, Role};
use roundtable_testkit::Town;

fn pages_of(limit: usize) -> PageInput {
    PageInput { limit: Some(limit), after: None }
}

/// R10, R33: a milestone belongs to its owner and goal.
#[tokio::test]
async fn a_milestone_is_created_and_updated() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let (milestones, ana) = (town.milestones(), town.caller("ana"));
    let new = NewMilestone {
        description: Some("slowly".into()),
        ..NewMilestone::at(&goal, Percentage::new(33.3).unwrap(), " a third ")
    };
    let third = milestones.create(&ana, new, None).await.unwrap();
    assert_eq!(
        town.rows("USER#ana", "MILESTONE#").await,
        [format!(
            "MILESTONE#{goal}#{} name=a third percentage=33.3 achieved=false description=slowly",
            third.id
        )]
    );
    let change = MilestoneChange {
        percentage: Some(Percentage::whole(50)),
        description: Edit::Clear,
        ..MilestoneChange::default()
    };
    let half = milestones.update(&ana, &goal, &third.id, change, None).await.unwrap();
    assert_eq!((half.name.as_str(), half.percentage), ("a third", Percentage::whole(50)));
    assert_eq!((half.achieved, &half.description), (false, &None));
    assert_eq!(milestones.get(&ana, None, &goal, &third.id).await.unwrap(), half);
}

/// LAYOUT: achieved by hand, it is published once and stays achieved.
#[tokio::test]
async fn a_manual_achievement_is_published_and_final() {
    let town = Town::of(["ana", "bo"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let half = town.add_milestone("ana", &goal, 50, "half of it").await;
    let achieved = town.achieve(&half).await;
    assert!(achieved.achieved && achieved.achieved_at.is_some());
    assert_eq!(town.previews("bo", "ana").await, ["Run: half of it"]);
    let again = town.achieve(&half).await;
    assert_eq!(again.achieved_at, achieved.achieved_at);
    let (milestones, ana) = (town.milestones(), town.caller("ana"));
    let change = MilestoneChange { achieved: Some(false), ..MilestoneChange::default() };
    let back = milestones.update(&ana, &goal, &half.id, change, None).await.unwrap_err();
    assert!(matches!(back, MilestoneError::AlreadyAchieved) && back.code() == Code::Conflict);
    let change =
        MilestoneChange { percentage: Some(Percentage::whole(90)), ..MilestoneChange::default() };
    let later = milestones.update(&ana, &goal, &half.id, change, None).await.unwrap();
    assert!(later.achieved);
    assert_eq!(town.previews("bo", "ana").await, ["Run: half of it"]);
    // Nothing to take back here.
    let other = town.add_milestone("ana", &goal, 60, "more").await;
    let change = MilestoneChange { achieved: Some(false), ..MilestoneChange::default() };
    assert!(!milestones.update(&ana, &goal, &other.id, change, None).await.unwrap().achieved);
}

/// R24, R30: by goal oldest first, and over all goals newest first.
#[tokio::test]
async fn milestones_are_listed_by_goal_and_by_time() {
    let town = Town::of(["ana"]).await;
    let (run, read) = (town.set_goal("ana", "Run").await.id, town.set_goal("ana", "Read").await.id);
    for (goal, name) in [(&run, "one"), (&read, "two"), (&run, "three"), (&run, "four")] {
        town.add_milestone("ana", goal, 50, name).await;
    }
    let (milestones, ana) = (town.milestones(), town.caller("ana"));
    for size in [1, 2, 100] {
        let (mut found, mut page) = (Vec::new(), pages_of(size));
        loop {
            let listed = milestones.list(&ana, None, &run, &page).await.unwrap();
            page.after.clone_from(&listed.next);
            found.extend(listed.into_items().into_iter().map(|one| one.name));
            if page.after.is_none() {
                break;
            }
        }
        assert_eq!(found, ["one", "three", "four"]);
        let (mut found, mut page) = (Vec::new(), pages_of(size));
        loop {
            let listed = milestones.timeline(&ana, None, &page).await.unwrap();
            page.after.clone_from(&listed.next);
            found.extend(listed.into_items().into_iter().map(|one| one.name));
            if page.after.is_none() {
                break;
            }
        }
        assert_eq!(found, ["four", "three", "two", "one"]);
    }
    town.goals().delete(&ana, &run, None).await.unwrap();
    let left = milestones.timeline(&ana, None, &pages_of(10)).await.unwrap().into_items();
    assert_eq!(left.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["two"]);
    assert!(milestones.list(&ana, None, &run, &pages_of(10)).await.is_err());
}

/// R24: unknown milestones and other users' milestones look the same; admins read, and change
/// nothing.
#[tokio::test]
async fn another_users_milestone_looks_missing() {
    let town = Town::of(["ana", "bo", "ada"]).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let id = town.add_milestone("ana", &goal, 50, "half").await.id;
    let (milestones, bo, ana) = (town.milestones(), town.caller("bo"), town.id("ana"));
    for caller in [&bo, &ada] {
        let change = MilestoneChange::achieved();
        for answer in [
            milestones.update(caller, &goal, &id, change, None).await,
            milestones.delete(caller, &goal, &id, None).await,
        ] {
            assert!(matches!(answer, Err(MilestoneError::NoSuchMilestone)));
        }
        let new = NewMilestone::at(&goal, Percentage::whole(1), "mine");
        let made = milestones.create(caller, new, None).await;
        assert!(matches!(made, Err(MilestoneError::NoSuchGoal)));
    }
    for owner in [None, Some(&ana)] {
        let found = milestones.get(&bo, owner, &goal, &id).await;
        assert!(matches!(found, Err(MilestoneError::NoSuchMilestone)));
        assert!(milestones.list(&bo, owner, &goal, &pages_of(10)).await.is_err());
    }
    assert!(milestones.timeline(&bo, Some(&ana), &pages_of(10)).await.is_err());
    assert_eq!(milestones.get(&ada, Some(&ana), &goal, &id).await.unwrap().name, "half");
    let all = milestones.timeline(&ada, Some(&ana), &pages_of(10)).await.unwrap();
    assert_eq!(all.items.len(), 1);
}

/// R10: a task renamed during a count, at any point, does not prevent the achievement: no other
/// change would trigger a recount.
#[tokio::test]
async fn a_task_renamed_during_a_count_does_not_prevent_the_achievement() {
    for gap in 1.. {
        let town = Town::of(["ana"]).await;
        let goal = town.set_goal("ana", "Run").await;
        town.add_milestone("ana", &goal.id, 100, "all").await;
        let task = town.add_task("ana", &goal.id, "shoes").await;
        town.mark_done(&task, true).await;
        let (tasks, ana) = (town.tasks(), town.caller("ana"));
        let operation = async move || {
            let change = TaskChange { title: Some("boots".into()), ..TaskChange::default() };
            tasks.update(&ana, &task.goal_id, &task.id, change, None).await.unwrap();
        };
        let (context, meanwhile) = town.interleave(gap, operation);
        Milestones::new(context).achieve_reached(&goal.user_id, &goal.id).await.unwrap();
        assert_eq!(town.achieved(&goal).await, ["all"], "in gap {gap}");
        if !meanwhile.happened() {
            assert!(gap > 3, "{gap}");
            break;
        }
    }
}

/// R10: the activity of a milestone is deleted with it, and no other activity of its goal.
#[tokio::test]
async fn a_deleted_milestone_has_no_activity() {
    let town = Town::of(["ana", "bo"]).await;
    let goal = town.set_goal("ana", "Run").await;
    let half = town.add_milestone("ana", &goal.id, 50, "half").await;
    let most = town.add_milestone("ana", &goal.id, 90, "most").await;
    let open = town.add_milestone("ana", &goal.id, 95, "open").await;
    let half = town.achieve(&half).await;
    town.achieve(&most).await;
    town.set_goal_status(&goal, GoalStatus::Completed).await;
    let (milestones, ana) = (town.milestones(), town.caller("ana"));
    for milestone in [&half, &open] {
        milestones.delete(&ana, &goal.id, &milestone.id, None).await.unwrap();
    }
    assert_eq!(town.previews("bo", "ana").await, ["Run: most", "Run"]);
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 2);
}

/// R10, R33: achieved during its deletion, in every interleaving: a deleted milestone has no
/// activity.
#[tokio::test]
async fn a_milestone_deleted_concurrently_has_no_activity() {
    for gap in 1.. {
        let town = Town::of(["ana"]).await;
        let goal = town.set_goal("ana", "Run").await.id;
        let half = town.add_milestone("ana", &goal, 50, "half").await;
        let (milestones, ana) = (town.milestones(), town.caller("ana"));
        let (by, to, id) = (ana.clone(), goal.clone(), half.id.clone());
        let operation = async move || {
            let _ = milestones.update(&by, &to, &id, MilestoneChange::achieved(), None).await;
        };
        let (context, meanwhile) = town.interleave(gap, operation);
        Milestones::new(context).delete(&ana, &goal, &half.id, None).await.unwrap();
        assert!(town.previews("ana", "ana").await.is_empty(), "in gap {gap}");
        if !meanwhile.happened() {
            break;
        }
    }
}

/// R32: a repeated request has the effect of one.
#[tokio::test]
async fn requests_are_idempotent() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let (milestones, ana) = (town.milestones(), town.caller("ana"));
    let request = |id: &str| id.parse::<RequestId>().unwrap();
    let new = || NewMilestone::at(&goal, Percentage::whole(50), "half");
    let first = milestones.create(&ana, new(), Some(&request("r-1"))).await.unwrap();
    let again = milestones.create(&ana, new(), Some(&request("r-1"))).await.unwrap();
    assert_eq!(again, first);
    for _ in 0..2 {
        let change = MilestoneChange::achieved();
        let request = request("r-2");
        milestones.update(&ana, &goal, &first.id, change, Some(&request)).await.unwrap();
    }
    assert_eq!(town.previews("ana", "ana").await.len(), 1);
    for _ in 0..2 {
        let deleted = milestones.delete(&ana, &goal, &first.id, Some(&request("r-3"))).await;
        assert_eq!(deleted.unwrap().id, first.id);
    }
    assert!(town.rows("USER#ana", "MILESTONE#").await.is_empty());
}

#[tokio::test]
async fn inputs_are_limited() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    for name in [String::new(), "a".repeat(NAME_CHARS_MAX + 1)] {
        let new = NewMilestone::at(&goal, Percentage::whole(50), name);
        let refused = town.milestones().create(&town.caller("ana"), new, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest);
    }
    assert!(town.rows("USER#ana", "MILESTONE#").await.is_empty());
}
