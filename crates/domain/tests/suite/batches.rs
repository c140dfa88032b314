//! Batch reads: several objects by key, in order, as far as the viewer may see them.

use std::sync::Arc;

use roundtable_domain::{
    Caller, Context, FeedMemorySettings, FeedPolicy, Feeds, LiveBus, Messages, NewActivity,
    NewPost, PageInput, Statistics, Tasks, Totals,
};
use roundtable_model::entities::{Activity, Follow};
use roundtable_model::table::Recorder;
use roundtable_model::{
    ActivityId, ActivityVerb, ActorId, GoalId, GroupId, MessageId, ObjectType, Role, RoomId,
    SubjectId, TaskId, Time, UserId, UserStatus, Visibility,
};
use roundtable_testkit::Town;

const HOUR_MS: u64 = 3_600_000;

fn ends(pairs: &[(&str, &str)]) -> Vec<(UserId, UserId)> {
    pairs.iter().map(|(one, other)| (one.parse().unwrap(), other.parse().unwrap())).collect()
}

#[tokio::test]
async fn follows_by_key_match_the_lists_and_the_callers_own_requests() {
    let town = Town::of(["ana", "bo", "cy"]).await;
    town.add_user("pia", |pia| pia.is_private = true).await;
    town.follow("ana", "bo").await;
    town.follow("ana", "pia").await;
    let asked = ends(&[("ana", "pia"), ("bo", "ana"), ("ana", "bo")]);
    let seen = async |viewer: Option<Caller>| {
        let found = town.follows().among(viewer.as_ref(), &asked).await.unwrap();
        found.iter().map(Option::is_some).collect::<Vec<_>>()
    };
    assert_eq!(seen(Some(town.caller("ana"))).await, [true, false, true]);
    assert_eq!(seen(Some(town.caller("pia"))).await, [true, false, true]);
    assert_eq!(seen(Some(town.caller("cy"))).await, [false, false, true]);
    assert_eq!(seen(None).await, [false, false, true]);
    town.block("bo", "cy").await;
    assert_eq!(seen(Some(town.caller("cy"))).await, [false, false, false]);
}

/// R22: no read of followers reveals to a muted user that they are muted, also if an earlier version
/// stored that in the follow.
#[tokio::test]
async fn only_the_follower_knows_the_settings_of_a_follow() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    let (ana, bo) = (town.caller("ana"), town.caller("bo"));
    town.follows().update(&ana, &bo.user_id, None, Some(false), None, None).await.unwrap();
    town.mute_in_follow("ana", "bo").await;
    let accepted = town.follows().accept(&bo, &ana.user_id, None).await.unwrap();
    assert!(!accepted.muted && accepted.notification_enabled);
    let (asked, page) = (ends(&[("ana", "bo")]), PageInput::first());
    for (viewer, muted) in [(&ana, true), (&bo, false)] {
        let mut seen: Vec<_> = town.follows().among(Some(viewer), &asked).await.unwrap();
        let follows = town.follows();
        let (followers, following) = (
            follows.followers(Some(viewer), &bo.user_id, &page).await.unwrap(),
            follows.following(Some(viewer), &ana.user_id, &page).await.unwrap(),
        );
        let today = follows.activity_of(Some(viewer), town.now().day(), &page).await.unwrap();
        for page in [followers, following, today] {
            seen.extend(page.into_items().into_iter().map(Some));
        }
        let reported = |edge: &Option<Follow>| {
            edge.as_ref().map(|edge| (edge.muted, !edge.notification_enabled))
        };
        assert_eq!(seen.iter().map(reported).collect::<Vec<_>>(), [Some((muted, muted)); 4]);
    }
}

#[tokio::test]
async fn followed_users_are_reported_among_visible_ones() {
    let town = Town::of(["ana", "bo", "cy"]).await;
    town.add_user("pia", |pia| pia.is_private = true).await;
    town.follow("ana", "bo").await;
    town.follow("ana", "pia").await;
    let people = ["bo", "cy", "pia", "nobody"].map(|name| name.parse().unwrap());
    let followed = town.follows().followed(&town.caller("ana"), &people).await.unwrap();
    assert_eq!(followed, [true, false, false, false]);
}

#[tokio::test]
async fn memberships_by_key_match_the_lists_and_the_callers_own() {
    let town = Town::of(["ana", "bo", "cy"]).await;
    let (open, closed) =
        (town.create_group("ana", "Open").await, town.create_private_group("ana", "Closed").await);
    town.join("bo", &closed).await;
    let at = |group: &GroupId, name: &str| (group.clone(), town.id(name));
    let asked = [at(&closed, "bo"), at(&open, "ana"), at(&closed, "ana"), at(&open, "cy")];
    let seen = async |name: &str| {
        let found = town.groups().memberships(Some(&town.caller(name)), &asked).await.unwrap();
        found.iter().map(Option::is_some).collect::<Vec<_>>()
    };
    assert_eq!(seen("ana").await, [true, true, true, false]);
    assert_eq!(seen("bo").await, [true, true, false, false]);
    assert_eq!(seen("cy").await, [false, true, false, false]);
    town.set_status("bo", UserStatus::Suspended).await;
    assert_eq!(seen("bo").await, [false, true, false, false]);
}

fn place(activity: &Activity) -> (ActorId, Time, ActivityId) {
    let home = Activity::home(&activity.actor_id, &activity.group_id);
    (home, activity.created_at, activity.activity_id.clone())
}

#[tokio::test]
async fn activities_and_feed_entries_are_found_by_key() {
    let town = Town::of(["ana", "bo", "cy"]).await;
    town.follow("bo", "ana").await;
    town.post("ana", "hello").await;
    let secret = NewPost { visibility: Some(Visibility::Private), ..NewPost::text("mine") };
    town.post_as("ana", secret).await;
    let feeds = Feeds::new(town.context().clone(), &town.new_bus());
    let own = feeds.home(&town.caller("ana"), &PageInput::default()).await.unwrap().into_items();
    let mut asked: Vec<_> = own.iter().map(|entry| place(&entry.activity)).collect();
    asked.push((asked[0].0.clone(), asked[0].1, "nothing".parse().unwrap()));
    let seen = async |name: &str| {
        let caller = town.caller(name);
        let activities = town.activities().at(Some(&caller), &asked).await.unwrap();
        let entries = feeds.at(&caller, &asked).await.unwrap();
        let there = |found: Vec<bool>| found;
        (
            there(activities.iter().map(Option::is_some).collect()),
            there(entries.iter().map(Option::is_some).collect()),
        )
    };
    assert_eq!(seen("ana").await, (vec![true, true, false], vec![true, true, false]));
    assert_eq!(seen("bo").await, (vec![false, true, false], vec![false, true, false]));
    // Cy could see it, but does not follow.
    assert_eq!(seen("cy").await, (vec![false, true, false], vec![false, false, false]));
}

#[tokio::test]
async fn comments_and_likes_are_visible_with_their_posts() {
    let town = Town::of(["ana", "bo", "cy"]).await;
    let shown = town.post("ana", "hello").await;
    let followers = NewPost { visibility: Some(Visibility::Followers), ..NewPost::text("friends") };
    let hidden = town.post_as("ana", followers).await;
    let (first, second) =
        (town.comment("ana", &hidden.id, "a").await, town.comment("ana", &shown.id, "b").await);
    town.like("ana", &hidden.id).await;
    town.like("ana", &shown.id).await;
    let places = [(hidden.id.clone(), first.id.clone()), (shown.id.clone(), second.id.clone())];
    let likes = [(hidden.id.clone(), town.id("ana")), (shown.id.clone(), town.id("ana"))];
    for (name, expected) in [("ana", [true, true]), ("cy", [false, true])] {
        let viewer = town.caller(name);
        let found = town.comments().comments(Some(&viewer), &places).await.unwrap();
        assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), expected);
        let ids = [first.id.clone(), second.id.clone()];
        let found = town.comments().by_ids(Some(&viewer), &ids).await.unwrap();
        assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), expected);
        let found = town.likes().among(Some(&viewer), &likes).await.unwrap();
        assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn cases_are_visible_to_moderators_while_their_object_exists() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let (one, two) = (town.post("ana", "one").await, town.post("ana", "two").await);
    town.report("bo", &one.id, "spam").await;
    town.report("bo", &two.id, "spam").await;
    town.posts().delete(&town.caller("ana"), &one.id, None).await.unwrap();
    let ids = [(&one.id).into(), (&two.id).into(), "nothing".parse().unwrap()];
    let cases = town.moderation().cases(&town.mo(), &ids).await.unwrap();
    assert_eq!(cases.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false]);
    assert!(town.moderation().cases(&town.caller("bo"), &ids).await.is_err());
}

#[tokio::test]
async fn admins_read_all_counts() {
    let town = Town::of(["ana", "bo"]).await;
    let admin = town.grant_role("ana", Role::Admin).await;
    let post = town.post("bo", "one").await;
    town.post("bo", "two").await;
    town.posts().delete(&town.caller("bo"), &post.id, None).await.unwrap();
    let statistics = Statistics::new(town.context().clone());
    let totals = statistics.totals(&admin).await.unwrap();
    assert_eq!(totals, Totals { users: 2, posts: 1, activities: totals.activities });
    assert!(totals.activities >= 1);
    assert!(statistics.totals(&town.caller("bo")).await.is_err());
}

/// R28: a batch read shows members of rooms to the same viewers as a read of one room.
#[tokio::test]
async fn members_of_rooms_are_visible_to_members() {
    let town = Town::of(["ana", "bo", "cy"]).await;
    let closed = town.create_private_group("ana", "Closed").await;
    let rooms = [town.room_with("ana", "bo").await, town.room_of("ana", &closed).await];
    let reported = async |name: &str| {
        let found = town.rooms().member_ids(&town.caller(name), &rooms).await.unwrap();
        found.iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(reported("ana").await, [2, 1]);
    assert_eq!(reported("bo").await, [2, 0]);
    assert_eq!(reported("cy").await, [0, 0]);
}

/// Counts the operations of an action, and returns its result.
async fn counted<T>(town: &Town, act: impl AsyncFnOnce(Context) -> T) -> (usize, T) {
    let recorder = Arc::new(Recorder::default());
    let done = act(town.context().observed(recorder.clone())).await;
    (recorder.take().len(), done)
}

/// R15, I9: a batch read shows messages to the same viewers as a read of one room, with as many
/// operations for many rooms as for two.
#[tokio::test]
async fn messages_of_many_rooms_are_read_in_batches() {
    let town = Town::of(["ana", "bo"]).await;
    let (open, closed) =
        (town.create_group("ana", "Open").await, town.create_private_group("ana", "Closed").await);
    town.join("bo", &open).await;
    let mut places = Vec::new();
    let rooms = [
        town.room_with("ana", "bo").await,
        town.room_of("ana", &open).await,
        town.room_of("ana", &closed).await,
    ];
    for room in &rooms {
        places.push((room.clone(), town.send_message("ana", room, "hello").await.id));
    }
    places.push((rooms[1].clone(), places[0].1.clone()));
    let seen = async |name: &str| {
        let found = town.messages().messages(&town.caller(name), &places).await.unwrap();
        found.iter().map(Option::is_some).collect::<Vec<_>>()
    };
    assert_eq!(seen("ana").await, [true, true, true, false]);
    assert_eq!(seen("bo").await, [true, true, false, false]);
    town.block("bo", "ana").await;
    assert_eq!(seen("bo").await, [false; 4]);
    assert_eq!(seen("ana").await, [true, true, true, false]);

    let mut many = vec![places[1].clone()];
    for n in 0..20 {
        let name = format!("p{n}");
        town.add_user(&name, |_| {}).await;
        let room = town.room_with("ana", &name).await;
        many.push((room.clone(), town.send_message(&name, &room, "hello").await.id));
    }
    let cost = async |places: &[(RoomId, MessageId)]| {
        let read =
            async |context| Messages::new(context).messages(&town.caller("ana"), places).await;
        let (operations, found) = counted(&town, read).await;
        assert!(found.unwrap().iter().all(Option::is_some));
        operations
    };
    assert_eq!(cost(&many).await, cost(&many[..3]).await);
}

/// R24: tasks of many goals are visible to owners and admins, with as many reads for many goals as
/// for two.
#[tokio::test]
async fn tasks_of_many_goals_are_read_in_batches() {
    let town = Town::of(["ana", "bo", "ada"]).await;
    let admin = town.grant_role("ada", Role::Admin).await;
    let mut places = Vec::new();
    for n in 0..10 {
        for name in ["ana", "bo"] {
            let goal = town.set_goal(name, &format!("goal {n}")).await.id;
            places.push((goal.clone(), town.add_task(name, &goal, "step").await.id));
        }
    }
    let cost = async |caller: &Caller, places: &[(GoalId, TaskId)]| {
        let read = async |context| Tasks::new(context).tasks(caller, places).await;
        let (operations, found) = counted(&town, read).await;
        (operations, found.unwrap().iter().map(Option::is_some).collect::<Vec<_>>())
    };
    for (caller, seen) in [(town.caller("ana"), [true, false]), (admin, [true, true])] {
        let ((few, two), (many, all)) =
            (cost(&caller, &places[..2]).await, cost(&caller, &places).await);
        assert_eq!((few, two, all), (many, seen.to_vec(), seen.repeat(10)));
    }
    // None is found in a deleted goal, or in another one.
    let ana = town.caller("ana");
    town.goals().delete(&ana, &places[0].0, None).await.unwrap();
    places[2].0 = places[4].0.clone();
    let found = cost(&ana, &places[..6]).await.1;
    assert_eq!(found, [false, false, false, false, true, false]);
}

/// A town in which ana follows all users, who share her post and post activities about their own
/// comment, goal, task and quest.
async fn town_with_activities(policy: FeedPolicy, people: usize) -> Town {
    let mut settings = Town::settings();
    settings.feed.policy = policy;
    // Nothing is cached or read by time, so actors and copies are read.
    settings.feed.walk_max = 0;
    settings.feed.memory = FeedMemorySettings {
        recent: 0,
        each: 0,
        actors: 0,
        posts: 0,
        people: 0,
        groups: 0,
        post_counters: 0,
        user_counters: 0,
        uploads: 0,
        ties: 0,
    };
    let town = Town::with(settings, ["ana"]).await;
    let post = town.post("ana", "hello").await.id;
    let names: Vec<String> = (0..people).map(|n| format!("p{n}")).collect();
    for name in &names {
        town.add_user(name, |_| {}).await;
        town.follow("ana", name).await;
    }
    town.advance_ms(HOUR_MS);
    for (n, name) in names.iter().enumerate() {
        town.share(name, &post).await;
        let comment = town.comment(name, &post, "me too").await.id;
        let goal = town.goal(name, &format!("goal{n}")).await;
        let task = town.task(name, &goal, &format!("task{n}")).await;
        let quest = town.quest(name, &format!("quest{n}")).await;
        let objects: [(ObjectType, SubjectId); 4] = [
            (ObjectType::Comment, comment.into()),
            (ObjectType::Goal, goal.into()),
            (ObjectType::Task, task.into()),
            (ObjectType::Quest, quest.into()),
        ];
        for (object_type, object_id) in objects {
            let verb = ActivityVerb::GoalUpdate;
            let (preview_text, media, tags) = (Some(name.clone()), None, Vec::new());
            let (group_id, caller) = (None, town.caller(name));
            let activity =
                NewActivity { group_id, verb, object_type, object_id, preview_text, media, tags };
            town.activities().post(&caller, &activity, None).await.unwrap();
        }
    }
    town.settle().await;
    // Recent activities are not read from copies.
    town.advance_ms(HOUR_MS);
    town
}

/// R13, R14: the objects of a feed page are read in batches, however many actors there are; so are
/// copied activities.
#[tokio::test]
async fn objects_of_a_feed_page_are_read_in_batches() {
    let cost = async |policy: FeedPolicy, people: usize| {
        let town = town_with_activities(policy, people).await;
        let recorder = Arc::new(Recorder::default());
        let context = town.context().observed(recorder.clone());
        let feeds = Feeds::new(context.clone(), &LiveBus::new(context));
        let page = PageInput { limit: Some(5 * people), after: None };
        let found = feeds.home(&town.caller("ana"), &page).await.unwrap();
        assert_eq!(found.items.len(), 5 * people);
        let about = ["activity", "comment_on", "goals_among", "quests_among", "shared", "task"];
        let asked = recorder.take();
        about.map(|about| asked.iter().filter(|it| it.pattern == Some(about)).count())
    };
    for policy in [FeedPolicy::Pull, FeedPolicy::Push] {
        assert_eq!(cost(policy, 2).await, cost(policy, 20).await, "{policy:?}");
    }
    assert_eq!(cost(FeedPolicy::Push, 20).await, [1; 6]);
}
