//! Activities about comments and changed goals, and the verbs that enter home feeds (R51).

use std::sync::Arc;

use roundtable_domain::{
    Caller, FeedSettings, FeedVerbs, Feeds, GoalChange, NewActivity, NewGroup, NewPost, PageInput,
    Settings,
};
use roundtable_model::entities::Activity;
use roundtable_model::table::{Order, Recorder};
use roundtable_model::{
    ActivityVerb, ActorId, GoalStatus, ModerationStatus, ObjectType, Role, Visibility,
};
use roundtable_testkit::Town;

/// Lists all pages of a user's activities, each as its verb and text.
async fn told(
    town: &Town,
    viewer: Option<&Caller>,
    actor: impl Into<ActorId>,
    order: Order,
    limit: usize,
) -> Vec<String> {
    let (actor, mut all) = (actor.into(), Vec::new());
    let mut input = PageInput { limit: Some(limit), after: None };
    loop {
        let page = town.activities().of(viewer, &actor, order, &input).await.unwrap();
        input.after.clone_from(&page.next);
        all.extend(page.into_items().iter().map(label));
        if input.after.is_none() {
            return all;
        }
    }
}

fn label(activity: &Activity) -> String {
    match &activity.preview_text {
        Some(text) => format!("{}: {text}", activity.verb),
        None => activity.verb.to_string(),
    }
}

async fn newest(town: &Town, viewer: Option<&Caller>, of: &str) -> Vec<String> {
    told(town, viewer, &town.id(of), Order::Descending, 100).await
}

/// The home feed of a user, each entry as its verb and text.
async fn feed(town: &Town, name: &str) -> Vec<String> {
    let feeds = Feeds::new(town.context().clone(), &town.new_bus());
    let page = feeds.home(&town.caller(name), &PageInput::first()).await.unwrap();
    page.items.iter().map(|(entry, _)| label(&entry.activity)).collect()
}

/// A town in which these activities enter home feeds.
async fn town_with<const N: usize>(verbs: FeedVerbs, names: [&str; N]) -> Town {
    let feed = FeedSettings { verbs, ..FeedSettings::default() };
    Town::with(Settings { feed, ..Town::settings() }, names).await
}

/// R51, I9: a comment is an activity of its author, for viewers who may see the comment, with its
/// present text. It enters no home feed.
#[tokio::test]
async fn a_comment_is_an_activity_for_viewers_who_see_it() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    town.grant_role("mo", Role::Moderator).await;
    town.follow("cleo", "bo").await;
    town.follow("bo", "ana").await;
    let public = town.post("ana", "hello").await.id;
    let visibility = Some(Visibility::Followers);
    let private = NewPost { visibility, ..NewPost::text("psst") };
    let private = town.post_as("ana", private).await.id;
    let said = town.comment("bo", &public, "good morning").await.id;
    town.advance_ms(10);
    town.comment("bo", &private, "for few").await;
    let all = ["comment: for few", "comment: good morning"];
    for (viewer, seen) in [("bo", &all[..]), ("ana", &all[..]), ("cleo", &all[1..])] {
        assert_eq!(newest(&town, Some(&town.caller(viewer)), "bo").await, seen, "{viewer}");
    }
    assert_eq!(newest(&town, None, "bo").await, all[1..]);
    assert!(feed(&town, "cleo").await.is_empty());
    assert_eq!(feed(&town, "bo").await, ["post: psst", "post: hello"]);

    let bo = town.caller("bo");
    town.comments().update(&bo, &said, "good evening", None).await.unwrap();
    assert_eq!(newest(&town, None, "bo").await, ["comment: good evening"]);
    let hidden = ModerationStatus::Rejected;
    town.moderation().moderate_comment(&town.mo(), &said, hidden, None, None).await.unwrap();
    assert!(newest(&town, None, "bo").await.is_empty());
    assert_eq!(newest(&town, Some(&bo), "bo").await.len(), 2, "its author still sees it");
    town.comments().delete(&bo, &said, None).await.unwrap();
    assert_eq!(newest(&town, Some(&bo), "bo").await, all[..1]);
}

/// R51: a comment on a group's post happens in the group.
#[tokio::test]
async fn a_comment_in_a_group_is_an_activity_of_the_group() {
    let town = Town::of(["ana", "bo"]).await;
    let group = NewGroup::named("runners");
    let group = town.groups().create(&town.caller("ana"), group, None).await.unwrap().id;
    let input = NewPost { group_id: Some(group.clone()), ..NewPost::text("sunday?") };
    let post = town.post_as("ana", input).await.id;
    town.comment("bo", &post, "yes").await;
    let in_group = told(&town, None, &group, Order::Ascending, 100).await;
    assert_eq!(in_group, ["post: sunday?", "comment: yes"]);
    assert!(newest(&town, None, "bo").await.is_empty());
}

/// R51, I9: only those who may see a goal see that it was changed; its completion is told to all who
/// see the profile.
#[tokio::test]
async fn a_changed_goal_is_an_activity_for_those_who_see_the_goal() {
    let town = Town::of(["ana", "bo", "mo", "ada"]).await;
    town.grant_role("mo", Role::Moderator).await;
    town.grant_role("ada", Role::Admin).await;
    town.follow("bo", "ana").await;
    let goal = town.set_goal("ana", "run").await;
    let ana = town.caller("ana");
    let change = || GoalChange { title: Some("run far".into()), ..GoalChange::default() };
    town.goals().update(&ana, &goal.id, change(), None).await.unwrap();
    town.goals().update(&ana, &goal.id, change(), None).await.unwrap();
    town.advance_ms(10);
    town.set_goal_status(&goal, GoalStatus::Completed).await;
    let all = ["goal_update: run far", "goal_edit"];
    assert_eq!(newest(&town, Some(&ana), "ana").await, all, "what changes nothing is no activity");
    assert_eq!(newest(&town, Some(&town.staff("ada", Role::Admin)), "ana").await, all);
    for viewer in [None, Some(town.caller("bo")), Some(town.mo())] {
        assert_eq!(newest(&town, viewer.as_ref(), "ana").await, all[..1]);
    }
    assert_eq!(feed(&town, "bo").await, all[..1]);
    town.goals().delete(&ana, &goal.id, None).await.unwrap();
    assert!(newest(&town, Some(&ana), "ana").await.is_empty());
}

/// Ana does one thing of each verb that the server writes, and posts an activity herself.
async fn busy_day(town: &Town) {
    let ana = town.caller("ana");
    let post = town.post("ana", "hello").await.id;
    town.advance_ms(10);
    town.comment("ana", &post, "again").await;
    town.advance_ms(10);
    let other = town.post("bo", "news").await.id;
    town.share("ana", &other).await;
    town.advance_ms(10);
    let goal = town.set_goal("ana", "run").await;
    let change = GoalChange { title: Some("run far".into()), ..GoalChange::default() };
    town.goals().update(&ana, &goal.id, change, None).await.unwrap();
    town.advance_ms(10);
    town.set_goal_status(&goal, GoalStatus::Completed).await;
    let input = NewActivity {
        group_id: None,
        verb: ActivityVerb::Comment,
        object_type: ObjectType::User,
        object_id: (&ana.user_id).into(),
        preview_text: Some("me".into()),
        media: None,
        tags: Vec::new(),
    };
    town.activities().post(&ana, &input, None).await.unwrap();
    town.advance_ms(10);
}

const EVERYTHING: [&str; 6] = [
    "post: hello",
    "comment: again",
    "share: news",
    "goal_edit",
    "goal_update: run far",
    "comment: me",
];

/// R51, R30: a setting of each verb says whether its activities enter home feeds; the list of their
/// actor has all of them in the order of time, in pages of any size.
#[tokio::test]
async fn a_setting_of_each_verb_says_whether_it_enters_home_feeds() {
    let none = FeedVerbs {
        post: false,
        share: false,
        comment: false,
        goal_update: false,
        goal_edit: false,
        quest_update: false,
        posted: false,
    };
    let all = FeedVerbs {
        post: true,
        share: true,
        comment: true,
        goal_update: true,
        goal_edit: true,
        quest_update: true,
        posted: true,
    };
    // Of a changed goal, followers see nothing in any case.
    for (verbs, seen) in [
        (FeedVerbs::default(), &[0, 2, 4, 5][..]),
        (none, &[]),
        (all, &[0, 1, 2, 4, 5]),
        (FeedVerbs { comment: true, ..none }, &[1]),
        (FeedVerbs { post: true, ..none }, &[0]),
        (FeedVerbs { share: true, ..none }, &[2]),
        (FeedVerbs { goal_update: true, ..none }, &[4]),
        (FeedVerbs { posted: true, ..none }, &[5]),
    ] {
        let town = town_with(verbs, ["ana", "bo", "cleo"]).await;
        town.follow("cleo", "ana").await;
        busy_day(&town).await;
        let seen: Vec<&str> = seen.iter().rev().map(|at| EVERYTHING[*at]).collect();
        assert_eq!(feed(&town, "cleo").await, seen, "{verbs:?}");
        let (ana, mut expected) = (town.caller("ana"), EVERYTHING.to_vec());
        for order in [Order::Ascending, Order::Descending] {
            for limit in [1, 2, 100] {
                let told = told(&town, Some(&ana), &ana.user_id, order, limit).await;
                assert_eq!(told, expected, "{verbs:?}, {order:?}");
            }
            expected.reverse();
        }
    }
}

/// R51: in the owner's own feed, changes of a goal show if they enter feeds.
#[tokio::test]
async fn changed_goals_may_enter_the_feed_of_their_owner() {
    let verbs = FeedVerbs { goal_edit: true, ..FeedVerbs::default() };
    let town = town_with(verbs, ["ana", "bo"]).await;
    town.follow("bo", "ana").await;
    let goal = town.set_goal("ana", "run").await;
    let change = GoalChange { title: Some("run far".into()), ..GoalChange::default() };
    town.goals().update(&town.caller("ana"), &goal.id, change, None).await.unwrap();
    assert_eq!(feed(&town, "ana").await, ["goal_edit"]);
    assert!(feed(&town, "bo").await.is_empty());
}

/// R51: ten comments on each post cost pages of feeds nothing.
#[tokio::test]
async fn comments_cost_pages_of_feeds_nothing() {
    let mut costs = Vec::new();
    for comments in [0, 10] {
        let town = Town::of(["ana", "bo"]).await;
        town.follow("ana", "bo").await;
        for n in 0..30 {
            let post = town.post("bo", &format!("post {n}")).await.id;
            for m in 0..comments {
                town.comment("bo", &post, &format!("comment {m}")).await;
            }
            town.advance_ms(10);
        }
        let reads = Arc::new(Recorder::default());
        let context = town.context().observed(reads.clone());
        let feeds = Feeds::new(town.context().clone(), &town.new_bus()).with_context(context);
        let first = PageInput { limit: Some(20), after: None };
        let page = feeds.home(&town.caller("ana"), &first).await.unwrap();
        let second = PageInput { limit: Some(20), after: page.next };
        assert_eq!(feeds.home(&town.caller("ana"), &second).await.unwrap().items.len(), 10);
        let reads = reads.take().into_iter().map(|read| (read.name, read.pattern, read.items));
        let mut reads: Vec<_> = reads.collect();
        // Homes are read at the same time, in any order.
        reads.sort_unstable();
        costs.push(reads);
    }
    assert!(!costs[0].is_empty());
    assert_eq!(costs[0], costs[1]);
}

/// R51, R32: a repeated request shows the activity that the first one posted, wherever it is stored.
#[tokio::test]
async fn a_repeated_activity_is_found_although_it_entered_no_feed() {
    let verbs = FeedVerbs { posted: false, ..FeedVerbs::default() };
    let town = town_with(verbs, ["ana"]).await;
    let ana = town.caller("ana");
    let input = NewActivity {
        group_id: None,
        verb: ActivityVerb::Join,
        object_type: ObjectType::User,
        object_id: (&ana.user_id).into(),
        preview_text: Some("me".into()),
        media: None,
        tags: Vec::new(),
    };
    let request = "r1".parse().unwrap();
    let first = town.activities().post(&ana, &input, Some(&request)).await.unwrap();
    let again = town.activities().post(&ana, &input, Some(&request)).await.unwrap();
    assert_eq!(first, again);
    let home = ActorId::from(&ana.user_id);
    let place = (home, first.created_at, first.activity_id.clone());
    let found = town.activities().at(None, std::slice::from_ref(&place)).await.unwrap();
    assert_eq!(found, [Some(first)]);
}
