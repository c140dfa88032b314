//! Activities, as users see them and as stored items (R12, R27, R31 to R33).

use roundtable_domain::limits::{PREVIEW_CHARS_MAX, TAGS_MAX};
use roundtable_domain::{
    Activities, ActivityError, Caller, Code, NewActivity, NewPost, PageInput, PostChange, Refusal,
};
use roundtable_model::entities::{Activity, ActorHead, Comment, Goal, Group, Task};
use roundtable_model::table::Order::{self, Ascending, Descending};
use roundtable_model::table::{Delete, Put};
use roundtable_model::{
    ActivityVerb, ActorId, Entity, ModerationStatus, ObjectType, RequestId, SubjectId, Time,
    UserStatus, Visibility,
};
use roundtable_testkit::Town;

fn about(verb: ActivityVerb, object_type: ObjectType, id: impl Into<SubjectId>) -> NewActivity {
    NewActivity {
        group_id: None,
        verb,
        object_type,
        object_id: id.into(),
        preview_text: Some("told".into()),
        media: None,
        tags: Vec::new(),
    }
}

/// Lists all pages of an actor's activities, as a viewer sees them.
async fn activities_of(
    town: &Town,
    viewer: Option<&Caller>,
    actor: &str,
    order: Order,
    limit: usize,
) -> Vec<Activity> {
    let actor: ActorId = actor.parse().unwrap();
    let (mut all, mut input) = (Vec::new(), PageInput { limit: Some(limit), after: None });
    loop {
        let page = town.activities().of(viewer, &actor, order, &input).await.unwrap();
        input.after.clone_from(&page.next);
        assert!(page.items.len() == limit || page.next.is_none(), "pages are full");
        all.extend(page.into_items());
        if input.after.is_none() {
            return all;
        }
    }
}

async fn previews(town: &Town, viewer: Option<&Caller>, actor: &str) -> Vec<String> {
    let posted = activities_of(town, viewer, actor, Descending, 20).await;
    posted.into_iter().filter_map(|activity| activity.preview_text).collect()
}

/// I9: an activity whose object cannot be located is hidden, even from its author.
#[tokio::test]
async fn an_activity_without_a_locatable_object_is_hidden() {
    let town = Town::of(["ana"]).await;
    let (ana, post) = (town.caller("ana"), town.post("ana", "hello").await.id);
    town.advance_ms(10);
    let Comment { id: comment, created_at: comment_at, .. } =
        town.comment("ana", &post, "me too").await;
    town.advance_ms(10);
    let input = about(ActivityVerb::Comment, ObjectType::Comment, &comment);
    let posted = town.activities().post(&ana, &input, None).await.unwrap();
    assert_eq!(posted.object_home, Some((&post).into()));
    let core = town.context().core();
    // The one that was written with the comment would locate it for both.
    let written = core.activities_at(&"ana".parse().unwrap(), comment_at).await.unwrap();
    core.table().delete(Delete::new(written[0].1.clone())).await.unwrap();
    assert_eq!(previews(&town, Some(&ana), "ana").await, ["me too", "hello"]);
    let unlocatable = Activity { object_home: None, ..posted };
    core.table().put(Put::new(unlocatable.item())).await.unwrap();
    assert_eq!(previews(&town, Some(&ana), "ana").await, ["hello"]);
}

/// R12, R31: users can post activities about everything they own.
#[tokio::test]
async fn users_post_activities_about_their_own_objects() {
    let town = Town::of(["ana", "bo"]).await;
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let goal = town.goal("ana", "goal").await;
    let task = town.task("ana", &goal, "task").await;
    let quest = town.quest("ana", "quest").await;
    let post = town.post("ana", "a post").await;
    let comment = town.comment("ana", &post.id, "a comment").await;
    let group = town.create_group("bo", "runners").await;
    town.join("ana", &group).await;
    let objects: [(ActivityVerb, ObjectType, SubjectId); 7] = [
        (ActivityVerb::GoalUpdate, ObjectType::Goal, goal.into()),
        (ActivityVerb::GoalUpdate, ObjectType::Task, task.into()),
        (ActivityVerb::QuestUpdate, ObjectType::Quest, quest.into()),
        (ActivityVerb::Post, ObjectType::Post, post.id.into()),
        (ActivityVerb::Comment, ObjectType::Comment, comment.id.into()),
        (ActivityVerb::Join, ObjectType::Group, (&group).into()),
        (ActivityVerb::Follow, ObjectType::User, town.id("ana").into()),
    ];
    for (verb, kind, id) in objects.clone() {
        let posted = activities.post(&ana, &about(verb, kind, id.clone()), None).await.unwrap();
        assert_eq!((posted.verb, posted.object_type, posted.object_id), (verb, kind, id.clone()));
        assert_eq!(posted.activity_id.time(), Some(posted.created_at), "its id is of its time");
        // Bo's objects, and missing ones, are not ana's to post about.
        let others = activities.post(&town.caller("bo"), &about(verb, kind, id), None).await;
        assert_eq!(others.is_ok(), kind == ObjectType::Group, "{kind}");
        let none = about(verb, kind, "none".parse::<SubjectId>().unwrap());
        let none = activities.post(&ana, &none, None).await;
        assert!(matches!(none, Err(ActivityError::NoSuchObject)), "{kind}");
    }
    let posted = activities_of(&town, None, "ana", Ascending, 3).await;
    let kinds: Vec<ObjectType> =
        posted.iter().skip(2).map(|activity| activity.object_type).collect();
    assert_eq!(
        kinds,
        objects.map(|(_, kind, _)| kind),
        "after those written with the post and the comment"
    );
    assert_eq!(
        posted[5].preview_text.as_deref(),
        Some("a post"),
        "the post's text, not the activity's"
    );
    assert_eq!(posted[2].preview_text.as_deref(), Some("told"));
}

/// R12: invalid activities are refused.
#[tokio::test]
async fn invalid_activities_are_refused() {
    let town = Town::of(["ana"]).await;
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let me = about(ActivityVerb::Follow, ObjectType::User, town.id("ana"));
    let refused = async |input: NewActivity| activities.post(&ana, &input, None).await.unwrap_err();
    let long = Some("x".repeat(PREVIEW_CHARS_MAX + 1));
    let long = NewActivity { preview_text: long, ..me.clone() };
    assert_eq!(refused(long).await.code(), Code::BadRequest);
    let tags = (0..=TAGS_MAX).map(|n| format!("tag{n}").parse().unwrap()).collect();
    let tags = NewActivity { tags, ..me.clone() };
    assert_eq!(refused(tags).await.code(), Code::BadRequest);
    let post = town.post("ana", "mine").await;
    let share = about(ActivityVerb::Share, ObjectType::Post, post.id);
    assert!(matches!(refused(share).await, ActivityError::SharesPosts));
    let missing = activities.post(&town.caller("nobody"), &me, None).await.unwrap_err();
    assert_eq!(missing.code(), Code::Unauthenticated);
    town.set_status("ana", UserStatus::Suspended).await;
    assert_eq!(refused(me).await.code(), Code::Forbidden);
}

/// R12: active members can post into a group; the activity is stored with the group and visible to
/// viewers of its content.
#[tokio::test]
async fn group_activities_are_visible_to_viewers_of_the_group() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let group = town.create_private_group("ana", "runners").await;
    town.join("bo", &group).await;
    let activities = town.activities();
    let goal = town.goal("bo", "goal").await;
    let into = |id| {
        let input = about(ActivityVerb::GoalUpdate, ObjectType::Goal, &goal);
        NewActivity { group_id: Some(id), ..input }
    };
    let pending = activities.post(&town.caller("bo"), &into(group.clone()), None).await;
    assert!(matches!(pending, Err(ActivityError::NotAMember)));
    let nowhere = activities.post(&town.caller("bo"), &into("none".parse().unwrap()), None).await;
    assert!(matches!(nowhere, Err(ActivityError::NoSuchGroup)));
    town.groups().approve(&town.caller("ana"), &group, &town.id("bo"), None).await.unwrap();
    activities.post(&town.caller("bo"), &into(group.clone()), None).await.unwrap();
    // For an activity about the group itself, membership is checked once.
    let itself = about(ActivityVerb::Join, ObjectType::Group, &group);
    let itself = NewActivity { group_id: Some(group.clone()), ..itself };
    activities.post(&town.caller("bo"), &itself, None).await.unwrap();
    assert!(town.rows("ACTIVITY#bo", "").await.is_empty());
    let home = group.to_string();
    assert_eq!(previews(&town, Some(&town.caller("ana")), &home).await.len(), 2);
    for outside in [None, Some(town.caller("cleo"))] {
        let page = PageInput::first();
        let hidden = activities.of(outside.as_ref(), &(&group).into(), Descending, &page).await;
        assert!(matches!(hidden, Err(ActivityError::NoSuchActor)));
    }
    town.block("ana", "bo").await;
    assert!(previews(&town, Some(&town.caller("ana")), &home).await.is_empty(), "by bo");
}

/// R12, R27: an activity is shown, with current content, while its object exists and is visible.
#[tokio::test]
async fn an_activity_is_shown_while_its_object_is_visible() {
    let town = Town::of(["ana", "friend", "mo"]).await;
    town.follow("friend", "ana").await;
    let friend = town.caller("friend");
    let ana = town.caller("ana");
    let post = town.post("ana", "first words #one").await;
    let seen = async |viewer: Option<&Caller>| previews(&town, viewer, "ana").await;
    assert_eq!(seen(None).await, ["first words #one"]);
    let change = |content: Option<&str>, visibility| PostChange {
        content: content.map(str::to_owned),
        visibility,
    };
    let posts = town.posts();
    posts.update(&ana, &post.id, &change(Some("better words #two"), None), None).await.unwrap();
    let posted = activities_of(&town, None, "ana", Descending, 9).await;
    assert_eq!(posted[0].preview_text.as_deref(), Some("better words #two"));
    assert_eq!(posted[0].tags, ["two".parse().unwrap()]);
    let followers = change(None, Some(Visibility::Followers));
    posts.update(&ana, &post.id, &followers, None).await.unwrap();
    assert!(seen(None).await.is_empty());
    assert_eq!(seen(Some(&friend)).await.len(), 1);
    for status in [ModerationStatus::Pending, ModerationStatus::Flagged, ModerationStatus::Rejected]
    {
        town.set_post_status(&post.id, status).await;
        assert!(seen(Some(&friend)).await.is_empty());
        assert_eq!(seen(Some(&ana)).await.len(), 1);
        assert_eq!(seen(Some(&town.mo())).await.len(), 1);
    }
    posts.delete(&ana, &post.id, None).await.unwrap();
    for viewer in [None, Some(&friend), Some(&ana), Some(&town.mo())] {
        assert!(seen(viewer).await.is_empty());
    }
}

/// R12: activities about goals, tasks and quests are shown while those exist.
#[tokio::test]
async fn activities_disappear_with_their_objects() {
    let town = Town::of(["ana"]).await;
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let goal = town.goal("ana", "goal").await;
    let task = town.task("ana", &goal, "task").await;
    let kinds: [(ObjectType, SubjectId); 2] =
        [(ObjectType::Goal, (&goal).into()), (ObjectType::Task, (&task).into())];
    for (kind, id) in kinds {
        activities.post(&ana, &about(ActivityVerb::GoalUpdate, kind, id), None).await.unwrap();
    }
    assert_eq!(previews(&town, None, "ana").await.len(), 2);
    let table = town.context().core().table();
    table.delete(Task::at(&goal, &task).delete()).await.unwrap();
    assert_eq!(previews(&town, None, "ana").await.len(), 1);
    table.delete(Goal::at(&town.id("ana"), &goal).delete()).await.unwrap();
    assert!(previews(&town, None, "ana").await.is_empty());
}

/// R30: pages are full although much is hidden in between.
#[tokio::test]
async fn pages_are_full_although_much_is_hidden() {
    let town = Town::of(["ana", "bo"]).await;
    for n in 0..24 {
        let visibility = if n % 4 == 0 { Visibility::Public } else { Visibility::Private };
        let input = NewPost { visibility: Some(visibility), ..NewPost::text(format!("{n}")) };
        town.post_as("ana", input).await;
    }
    let bo = town.caller("bo");
    let posted = activities_of(&town, Some(&bo), "ana", Descending, 2).await;
    let words: Vec<_> = posted.into_iter().filter_map(|activity| activity.preview_text).collect();
    assert_eq!(words, ["20", "16", "12", "8", "4", "0"]);
}

/// R7, R12: viewers who may not see the actor see none of their activities.
#[tokio::test]
async fn activities_are_hidden_from_viewers_who_cannot_see_the_actor() {
    let town = Town::of(["ana", "friend", "stranger", "blocked"]).await;
    town.follow("friend", "ana").await;
    town.post("ana", "hello").await;
    town.block("ana", "blocked").await;
    let activities = town.activities();
    let refused = async |viewer: Option<Caller>| {
        let page = PageInput::first();
        let posted =
            activities.of(viewer.as_ref(), &"ana".parse().unwrap(), Descending, &page).await;
        matches!(posted, Err(ActivityError::NoSuchActor))
    };
    assert!(refused(Some(town.caller("blocked"))).await);
    assert!(!refused(Some(town.caller("stranger"))).await);
    town.set_private("ana", true).await;
    assert!(refused(Some(town.caller("stranger"))).await);
    assert!(refused(None).await);
    assert!(!refused(Some(town.caller("friend"))).await);
    town.set_status("ana", UserStatus::Suspended).await;
    assert!(refused(Some(town.caller("friend"))).await);
    let (none, page) = ("none".parse().unwrap(), PageInput::first());
    let missing = activities.of(None, &none, Descending, &page).await;
    assert!(matches!(missing, Err(ActivityError::NoSuchActor)));
}

/// R12: fan-out of an activity is decided in its own transaction, from the actor's head.
#[tokio::test]
async fn the_head_decides_about_fan_out() {
    let town = Town::of(["ana"]).await;
    town.post("ana", "before").await;
    let core = town.context().core();
    let patch = ActorHead::at(&"ana".parse().unwrap())
        .patch()
        .set(ActorHead::PROMOTED, &true)
        .set(ActorHead::VERSION, &2);
    core.table().update(patch.into()).await.unwrap();
    town.post("ana", "after").await;
    let rows = town.rows("ACTIVITY#ana", "TS#").await;
    assert!(rows[0].ends_with("fanout=false") && rows[1].ends_with("fanout=true"), "{rows:?}");
    let head = core.actor_heads(&["ana".parse().unwrap()]).strong().get().await.unwrap();
    let head = head.into_iter().flatten().next().unwrap();
    assert_eq!(head.version, 3);
    let newest = activities_of(&town, None, "ana", Descending, 9).await[0].created_at;
    assert_eq!((head.last_ts, head.since), (newest, Some(newest)));
}

#[tokio::test]
async fn a_repeated_request_posts_one_activity() {
    let town = Town::of(["ana"]).await;
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let once: RequestId = "once".parse().unwrap();
    let goal = town.goal("ana", "goal").await;
    let input = about(ActivityVerb::GoalUpdate, ObjectType::Goal, &goal);
    let posted = activities.post(&ana, &input, Some(&once)).await.unwrap();
    assert_eq!(activities.post(&ana, &input, Some(&once)).await.unwrap(), posted);
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
    let other = NewActivity { preview_text: None, ..input.clone() };
    let other = activities.post(&ana, &other, Some(&once)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    let goal = Goal::at(&town.id("ana"), &goal);
    town.context().core().table().delete(goal.delete()).await.unwrap();
    let gone = activities.post(&ana, &input, Some(&once)).await;
    assert!(matches!(gone, Err(ActivityError::NoSuchObject)), "as it is now");
}

/// R33: no activity is written about a deleted object, or in a deleted group, in any interleaving.
#[tokio::test]
async fn no_activity_is_written_about_a_deleted_object() {
    for object_first in [true, false] {
        tell_while_it_goes(object_first).await;
    }
}

async fn tell_while_it_goes(object_first: bool) {
    let mut posted_before = 0;
    for gap in 1.. {
        let town = Town::of(["ana"]).await;
        let group = town.create_group("ana", "runners").await;
        let goal = town.goal("ana", "goal").await;
        let table = town.context().core().table().clone();
        let gone = group.clone();
        let at = Goal::at(&town.id("ana"), &goal);
        let (context, meanwhile) = town.interleave(gap, async move || {
            let delete = if object_first { at.delete() } else { Group::at(&gone).delete() };
            table.delete(delete).await.unwrap();
        });
        let input = about(ActivityVerb::GoalUpdate, ObjectType::Goal, &goal);
        let input = NewActivity { group_id: Some(group.clone()), ..input };
        let posted = Activities::new(context).post(&town.caller("ana"), &input, None).await;
        if !meanwhile.happened() {
            break;
        }
        let rows = town.rows(&format!("ACTIVITY#{group}"), "TS#").await;
        assert_eq!(posted.is_ok(), !rows.is_empty(), "{gap}");
        posted_before += usize::from(posted.is_ok());
    }
    assert_eq!(posted_before, 1, "only when the activity is there first");
}

/// R12: an activity's time is that of its id, and later than all before it.
#[tokio::test]
async fn times_rise() {
    let town = Town::of(["ana"]).await;
    let me = about(ActivityVerb::Follow, ObjectType::User, town.id("ana"));
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let mut last = Time::EPOCH;
    for _ in 0..5 {
        let posted = activities.post(&ana, &me, None).await.unwrap();
        assert!(posted.created_at > last);
        assert_eq!(posted.key().into_key().partition.as_text(), Some("ACTIVITY#ana"));
        last = posted.created_at;
    }
}
