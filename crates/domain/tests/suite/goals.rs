//! Goals, through the service and as rows (R10, R24, R32, R33), and their timeline.

use roundtable_domain::limits::{ABOUT_CHARS_MAX, TAGS_MAX, TITLE_CHARS_MAX};
use roundtable_domain::{
    Code, Edit, GoalChange, GoalError, NewGoal, PageInput, Refusal, Tags, TimelineError,
};
use roundtable_model::table::Order;
use roundtable_model::{EntityKind, GoalId, GoalStatus, RequestId, Role, Tag, UserStatus};
use roundtable_testkit::Town;

fn tags<const N: usize>(tags: [&str; N]) -> Vec<Tag> {
    tags.map(|tag| tag.parse().unwrap()).into()
}

fn request(id: &str) -> RequestId {
    id.parse().unwrap()
}

fn pages_of(limit: usize) -> PageInput {
    PageInput { limit: Some(limit), after: None }
}

/// R10, R33: the goal and its tag references are written together.
#[tokio::test]
async fn a_goal_is_its_owners() {
    let town = Town::of(["ana"]).await;
    let new = NewGoal {
        description: Some("before the summer".into()),
        tags: tags(["running", "Running", "outdoors"]),
        ..NewGoal::titled(" Run a marathon ")
    };
    let goal = town.set_goal_as("ana", new).await;
    assert_eq!(
        town.rows("USER#ana", "GOAL#").await,
        [format!(
            "GOAL#{} title=Run a marathon description=before the summer \
             tags=[running,outdoors] status=active",
            goal.id
        )]
    );
    let reference = format!("Goal#{} userId=ana title=Run a marathon", goal.id);
    for tag in ["TAG#running", "TAG#outdoors"] {
        assert_eq!(town.rows(tag, "").await, [reference.as_str()]);
    }
    assert_eq!(town.goals().get(&town.caller("ana"), None, &goal.id).await.unwrap(), goal);
}

/// R4, R33: tags and their references change together, follow the title, and are removed with the
/// goal.
#[tokio::test]
async fn tag_references_follow_the_goal() {
    let town = Town::of(["ana", "bo"]).await;
    let (goals, ana) = (town.goals(), town.caller("ana"));
    let new = NewGoal { tags: tags(["run", "hill"]), ..NewGoal::titled("Run") };
    let goal = town.set_goal_as("ana", new).await.id;
    let change = GoalChange {
        title: Some("Run far".into()),
        tags: Some(tags(["run", "sea"])),
        ..GoalChange::default()
    };
    goals.update(&ana, &goal, change, None).await.unwrap();
    let reference = format!("Goal#{goal} userId=ana title=Run far");
    assert_eq!(town.rows("TAG#run", "").await, [reference.as_str()]);
    assert_eq!(town.rows("TAG#sea", "").await, [reference.as_str()]);
    assert!(town.rows("TAG#hill", "").await.is_empty());
    let run: Tag = "run".parse().unwrap();
    let found = async |name: &str| {
        let tags = Tags::new(town.context().clone());
        let (viewer, kind) = (town.caller(name), Some(EntityKind::Goal));
        tags.search(Some(&viewer), &run, kind, Order::Ascending, &pages_of(10))
            .await
            .unwrap()
            .items
            .len()
    };
    assert_eq!((found("ana").await, found("bo").await), (1, 0));
    goals.delete(&ana, &goal, None).await.unwrap();
    assert!(town.rows("TAG#run", "").await.is_empty());
    assert!(town.rows("TAG#sea", "").await.is_empty());
}

/// R10: absent fields stay, null clears.
#[tokio::test]
async fn absent_fields_stay() {
    let town = Town::of(["ana"]).await;
    let (goals, ana) = (town.goals(), town.caller("ana"));
    let new = NewGoal {
        description: Some("slowly".into()),
        tags: tags(["run"]),
        ..NewGoal::titled("Run")
    };
    let goal = town.set_goal_as("ana", new).await;
    let change = GoalChange { title: Some("Walk".into()), ..GoalChange::default() };
    let walk = goals.update(&ana, &goal.id, change, None).await.unwrap();
    assert_eq!((walk.title.as_str(), walk.description.as_deref()), ("Walk", Some("slowly")));
    assert_eq!((walk.tags, walk.status), (tags(["run"]), GoalStatus::Active));
    let change = GoalChange { description: Edit::Clear, ..GoalChange::default() };
    let bare = goals.update(&ana, &goal.id, change, None).await.unwrap();
    assert_eq!((bare.title.as_str(), bare.description), ("Walk", None));
}

/// LAYOUT: the completion of a goal is published once, and others see nothing else of it.
#[tokio::test]
async fn completing_a_goal_is_published() {
    let town = Town::of(["ana", "bo"]).await;
    let goal = town.set_goal("ana", "Run a marathon").await;
    let done = town.set_goal_status(&goal, GoalStatus::Completed).await;
    assert!(done.completed_at.is_some());
    assert_eq!(town.previews("bo", "ana").await, ["Run a marathon"]);
    // Completing again, and archiving, publishes nothing.
    town.set_goal_status(&done, GoalStatus::Completed).await;
    let away = town.set_goal_status(&done, GoalStatus::Archived).await;
    assert_eq!(away.completed_at, done.completed_at);
    let back = town.set_goal_status(&away, GoalStatus::Completed).await;
    assert_eq!(back.completed_at, done.completed_at);
    assert_eq!(town.previews("bo", "ana").await, ["Run a marathon"]);
    // Reopened, it can be completed once more.
    let again = town.set_goal_status(&back, GoalStatus::Active).await;
    assert_eq!((again.status, again.completed_at), (GoalStatus::Active, None));
    let anew = town.set_goal_status(&again, GoalStatus::Completed).await;
    assert!(anew.completed_at > done.completed_at);
    assert_eq!(town.previews("bo", "ana").await.len(), 2);
    let visible = town.goals().get(&town.caller("bo"), Some(&town.id("ana")), &goal.id).await;
    assert!(matches!(visible, Err(GoalError::NoSuchGoal)));
    // The activity exists as long as the goal does.
    town.goals().delete(&town.caller("ana"), &goal.id, None).await.unwrap();
    assert!(town.previews("bo", "ana").await.is_empty());
}

/// R24: unknown goals and other users' goals look the same, for every operation.
#[tokio::test]
async fn another_users_goal_looks_missing() {
    let town = Town::of(["ana", "bo"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let (goals, bo, ana) = (town.goals(), town.caller("bo"), town.id("ana"));
    for id in [goal.clone(), GoalId::from("nowhere".parse::<roundtable_model::Id>().unwrap())] {
        let change = GoalChange::to(GoalStatus::Completed);
        let answers = [
            goals.get(&bo, None, &id).await,
            goals.get(&bo, Some(&ana), &id).await,
            goals.update(&bo, &id, change, None).await,
            goals.delete(&bo, &id, None).await,
        ];
        for answer in answers {
            assert!(matches!(answer, Err(GoalError::NoSuchGoal)));
        }
    }
    let list = goals.list(&bo, Some(&ana), &pages_of(10)).await;
    assert_eq!(list.unwrap_err().code(), Code::NotFound);
    assert!(goals.list(&bo, None, &pages_of(10)).await.unwrap().items.is_empty());
    assert_eq!(town.goals().get(&town.caller("ana"), None, &goal).await.unwrap().title, "Run");
}

/// R24: admins see all users' goals, while they are admins and the account exists.
#[tokio::test]
async fn admins_see_goals() {
    let town = Town::of(["ana", "ada", "mo"]).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    let mo = town.grant_role("mo", Role::Moderator).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let (goals, ana) = (town.goals(), town.id("ana"));
    assert_eq!(goals.get(&ada, Some(&ana), &goal).await.unwrap().id, goal);
    assert_eq!(goals.list(&ada, Some(&ana), &pages_of(10)).await.unwrap().items.len(), 1);
    assert!(goals.get(&mo, Some(&ana), &goal).await.is_err(), "moderators look at content");
    let claims = town.staff("mo", Role::Admin);
    assert!(goals.get(&claims, Some(&ana), &goal).await.is_err(), "a token is not enough");
    let change = GoalChange::to(GoalStatus::Archived);
    let changed = goals.update(&ada, &goal, change, None).await;
    assert!(matches!(changed, Err(GoalError::NoSuchGoal)), "looking is all they may");
    town.set_status("ana", UserStatus::Deleted).await;
    assert!(goals.get(&ada, Some(&ana), &goal).await.is_err());
}

/// R30: every goal once, oldest first, for every page size.
#[tokio::test]
async fn goals_come_in_pages() {
    let town = Town::of(["ana"]).await;
    let mut set = Vec::new();
    for number in 0..7 {
        set.push(town.set_goal("ana", &format!("number {number}")).await.id);
    }
    let (goals, ana) = (town.goals(), town.caller("ana"));
    for size in [1, 3, 7, 100] {
        let (mut found, mut page) = (Vec::new(), pages_of(size));
        loop {
            let read = goals.list(&ana, None, &page).await.unwrap();
            page.after.clone_from(&read.next);
            found.extend(read.into_items().into_iter().map(|goal| goal.id));
            if page.after.is_none() {
                break;
            }
        }
        assert_eq!(found, set);
    }
}

/// R32: a repeated request has the effect of one, and returns the current state.
#[tokio::test]
async fn requests_are_idempotent() {
    let town = Town::of(["ana"]).await;
    let (goals, ana) = (town.goals(), town.caller("ana"));
    let once = request("r-1");
    let first = goals.create(&ana, NewGoal::titled("Run"), Some(&once)).await.unwrap();
    town.set_goal_status(&first, GoalStatus::Archived).await;
    let again = goals.create(&ana, NewGoal::titled("Run"), Some(&once)).await.unwrap();
    assert_eq!((again.id, again.status), (first.id.clone(), GoalStatus::Archived));
    let other = goals.create(&ana, NewGoal::titled("Walk"), Some(&once)).await;
    assert_eq!(other.unwrap_err().code(), Code::IdempotencyMismatch);
    let complete = || GoalChange::to(GoalStatus::Completed);
    for _ in 0..2 {
        goals.update(&ana, &first.id, complete(), Some(&request("r-2"))).await.unwrap();
    }
    assert_eq!(town.previews("ana", "ana").await, ["Run"]);
    for _ in 0..2 {
        let deleted = goals.delete(&ana, &first.id, Some(&request("r-3"))).await.unwrap();
        assert_eq!(deleted.id, first.id);
    }
    let create = goals.create(&ana, NewGoal::titled("Run"), Some(&once)).await;
    assert!(matches!(create, Err(GoalError::NoSuchGoal)), "as it is now");
}

/// Two devices complete a goal concurrently: it is published once.
#[tokio::test]
async fn concurrent_completions_publish_once() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let (goals, ana) = (town.goals(), town.caller("ana"));
    let complete = || goals.update(&ana, &goal, GoalChange::to(GoalStatus::Completed), None);
    let all = futures::future::join_all((0..8).map(|_| complete())).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(town.previews("ana", "ana").await, ["Run"]);
}

#[tokio::test]
async fn inputs_are_limited() {
    let town = Town::of(["ana"]).await;
    let (goals, ana) = (town.goals(), town.caller("ana"));
    let many = (0..=TAGS_MAX).map(|number| format!("t{number}").parse().unwrap()).collect();
    let long = Some("a".repeat(ABOUT_CHARS_MAX + 1));
    for wrong in [
        NewGoal::titled("  "),
        NewGoal::titled("a".repeat(TITLE_CHARS_MAX + 1)),
        NewGoal { description: long, ..NewGoal::titled("Run") },
        NewGoal { tags: many, ..NewGoal::titled("Run") },
    ] {
        let refused = goals.create(&ana, wrong, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest);
    }
    assert!(town.rows("USER#ana", "GOAL#").await.is_empty());
}

/// The entity kinds in ana's timeline, for this viewer.
async fn kinds(town: &Town, viewer: Option<&str>, order: Order) -> Vec<EntityKind> {
    let viewer = viewer.map(|name| town.caller(name));
    let timelines = town.timelines();
    let mut runs = Vec::new();
    for size in [1, 100] {
        let (mut run, mut page) = (Vec::new(), pages_of(size));
        loop {
            let read =
                timelines.of(viewer.as_ref(), &town.id("ana"), None, order, &page).await.unwrap();
            page.after.clone_from(&read.next);
            run.extend(read.into_items().iter().map(roundtable_model::TimelineEntry::kind));
            if page.after.is_none() {
                break;
            }
        }
        runs.push(run);
    }
    assert_eq!(runs.first(), runs.last(), "in pages of one and of a hundred");
    runs.remove(0)
}

/// R24: a user's entities of all kinds by time; each viewer sees what is visible to them.
#[tokio::test]
async fn a_timeline_is_filtered_by_viewer() {
    use EntityKind::{Comment, Follow, Goal, Milestone, Post, Task, User};
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.advance_ms(1_000);
    town.follow("ana", "bo").await;
    town.advance_ms(1_000);
    let goal = town.set_goal("ana", "Run").await.id;
    town.add_milestone("ana", &goal, 50, "half").await;
    let post = town.post("ana", "hello").await;
    town.comment("ana", &post.id, "and goodbye").await;
    let later = town.now().plus_ms(3_600_000);
    town.add_task_due("ana", &goal, "buy shoes", Some(later)).await;
    let own = [User, Follow, Goal, Milestone, Post, Comment, Task];
    assert_eq!(kinds(&town, Some("ana"), Order::Ascending).await, own);
    let mut newest_first = own;
    newest_first.reverse();
    assert_eq!(kinds(&town, Some("ana"), Order::Descending).await, newest_first);
    let shown = [User, Follow, Post, Comment];
    assert_eq!(kinds(&town, Some("bo"), Order::Ascending).await, shown);
    assert_eq!(kinds(&town, None, Order::Ascending).await, shown);
    // Everything of a goal disappears with it, at once.
    town.goals().delete(&town.caller("ana"), &goal, None).await.unwrap();
    assert_eq!(kinds(&town, Some("ana"), Order::Ascending).await, shown);
    town.block("ana", "cleo").await;
    let (cleo, ana) = (town.caller("cleo"), town.id("ana"));
    let hidden = town.timelines().of(Some(&cleo), &ana, None, Order::Ascending, &pages_of(5)).await;
    assert!(matches!(hidden, Err(TimelineError::NoSuchUser)));
}

/// R24: a timeline of one kind; a kind hidden from the viewer is empty.
#[tokio::test]
async fn a_timeline_can_be_limited_to_one_kind() {
    let town = Town::of(["ana", "bo"]).await;
    town.set_goal("ana", "Run").await;
    town.post("ana", "hello").await;
    let of = async |name: &str, kind| {
        let (viewer, ana) = (town.caller(name), town.id("ana"));
        let timelines = town.timelines();
        let page = pages_of(10);
        let read = timelines.of(Some(&viewer), &ana, Some(kind), Order::Descending, &page).await;
        read.unwrap().items.len()
    };
    assert_eq!((of("ana", EntityKind::Goal).await, of("bo", EntityKind::Goal).await), (1, 0));
    assert_eq!((of("ana", EntityKind::Post).await, of("bo", EntityKind::Post).await), (1, 1));
}
