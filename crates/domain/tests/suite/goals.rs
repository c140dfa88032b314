//! Goals, as their owners see them and as rows (R10, R24, R32, R33), and the timeline they stand in.

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

/// R10, R33: the goal and its tags, together.
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

/// R4, R33: tags and their references change together, follow the title, and go with the goal.
#[tokio::test]
async fn tags_keep_in_step() {
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
        let tags = Tags::new(town.ground().clone());
        let (viewer, kind) = (town.caller(name), Some(EntityKind::Goal));
        tags.search(Some(&viewer), &run, kind, &pages_of(10)).await.unwrap().items.len()
    };
    assert_eq!((found("ana").await, found("bo").await), (1, 0));
    goals.delete(&ana, &goal, None).await.unwrap();
    assert!(town.rows("TAG#run", "").await.is_empty());
    assert!(town.rows("TAG#sea", "").await.is_empty());
}

/// R10: what is not mentioned stays, and what is null goes.
#[tokio::test]
async fn what_an_update_does_not_mention_stays() {
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

/// LAYOUT: the completion of a goal is told, once, and others see nothing else of it.
#[tokio::test]
async fn completing_a_goal_is_told() {
    let town = Town::of(["ana", "bo"]).await;
    let goal = town.set_goal("ana", "Run a marathon").await;
    let done = town.set_goal_status(&goal, GoalStatus::Completed).await;
    assert!(done.completed_at.is_some());
    assert_eq!(town.told("bo", "ana").await, ["Run a marathon"]);
    // Completing what is completed, and putting it away, tells nothing.
    town.set_goal_status(&done, GoalStatus::Completed).await;
    let away = town.set_goal_status(&done, GoalStatus::Archived).await;
    assert_eq!(away.completed_at, done.completed_at);
    let back = town.set_goal_status(&away, GoalStatus::Completed).await;
    assert_eq!(back.completed_at, done.completed_at);
    assert_eq!(town.told("bo", "ana").await, ["Run a marathon"]);
    // Taken up again it is completed no longer, and can be completed once more.
    let again = town.set_goal_status(&back, GoalStatus::Active).await;
    assert_eq!((again.status, again.completed_at), (GoalStatus::Active, None));
    let anew = town.set_goal_status(&again, GoalStatus::Completed).await;
    assert!(anew.completed_at > done.completed_at);
    assert_eq!(town.told("bo", "ana").await.len(), 2);
    let seen = town.goals().get(&town.caller("bo"), Some(&town.id("ana")), &goal.id).await;
    assert!(matches!(seen, Err(GoalError::NoSuchGoal)));
    // What is told of a goal is there as long as the goal is.
    town.goals().delete(&town.caller("ana"), &goal.id, None).await.unwrap();
    assert!(town.told("bo", "ana").await.is_empty());
}

/// R24: unknown and foreign look the same, for everything that can be done with a goal.
#[tokio::test]
async fn somebody_elses_goal_looks_like_none() {
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

/// R24: admins see everybody's goals, as long as they are admins and the account is there.
#[tokio::test]
async fn admins_see_goals() {
    let town = Town::of(["ana", "ada", "mo"]).await;
    let ada = town.employ("ada", Role::Admin).await;
    let mo = town.employ("mo", Role::Moderator).await;
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

/// R30: every goal once, in the order they were set, whatever the size of a page.
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

/// R32: the same request has the effect of one, and its answer is as things are now.
#[tokio::test]
async fn a_request_is_done_once() {
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
    assert_eq!(town.told("ana", "ana").await, ["Run"]);
    for _ in 0..2 {
        let gone = goals.delete(&ana, &first.id, Some(&request("r-3"))).await.unwrap();
        assert_eq!(gone.id, first.id);
    }
    let create = goals.create(&ana, NewGoal::titled("Run"), Some(&once)).await;
    assert!(matches!(create, Err(GoalError::NoSuchGoal)), "as it is now");
}

/// Two devices complete a goal at the same time: it is told once.
#[tokio::test]
async fn completed_twice_at_once_it_is_told_once() {
    let town = Town::of(["ana"]).await;
    let goal = town.set_goal("ana", "Run").await.id;
    let (goals, ana) = (town.goals(), town.caller("ana"));
    let complete = || goals.update(&ana, &goal, GoalChange::to(GoalStatus::Completed), None);
    let all = futures::future::join_all((0..8).map(|_| complete())).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(town.told("ana", "ana").await, ["Run"]);
}

#[tokio::test]
async fn everything_has_a_limit() {
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

/// What happens in ana's timeline, as kinds, for this viewer.
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

/// R24: one person's entities of all kinds by time; others see those that are for them.
#[tokio::test]
async fn a_timeline_shows_each_viewer_what_is_theirs_to_see() {
    use EntityKind::{Comment, Follow, Goal, Milestone, Post, Task, User};
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.pass_ms(1_000);
    town.follow("ana", "bo").await;
    town.pass_ms(1_000);
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
    // What is of a goal goes with it, at once.
    town.goals().delete(&town.caller("ana"), &goal, None).await.unwrap();
    assert_eq!(kinds(&town, Some("ana"), Order::Ascending).await, shown);
    town.block("ana", "cleo").await;
    let (cleo, ana) = (town.caller("cleo"), town.id("ana"));
    let hidden = town.timelines().of(Some(&cleo), &ana, None, Order::Ascending, &pages_of(5)).await;
    assert!(matches!(hidden, Err(TimelineError::NoSuchUser)));
}

/// R24: one kind of a timeline; a kind that is not for the viewer is empty, as if there were none.
#[tokio::test]
async fn a_timeline_can_be_asked_for_one_kind() {
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
