//! Activities, as people see them and as rows (R12, R27, R31 to R33).

use roundtable_domain::limits::{PREVIEW_CHARS_MAX, TAGS_MAX};
use roundtable_domain::{
    Activities, ActivityError, Caller, Code, NewActivity, NewPost, PageInput, PostChange, Refusal,
};
use roundtable_model::entities::{Activity, ActorHead, Goal, Group, Task};
use roundtable_model::table::Order::{self, Ascending, Descending};
use roundtable_model::table::Put;
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

/// What an actor did, as a viewer sees it, all pages, so many at a time.
async fn told_by(
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
    let told = told_by(town, viewer, actor, Descending, 20).await;
    told.into_iter().filter_map(|activity| activity.preview_text).collect()
}

/// I9: of what does not say where its object lives nobody hears, not even whoever told it.
#[tokio::test]
async fn what_cannot_be_looked_up_is_not_shown() {
    let town = Town::of(["ana"]).await;
    let (ana, post) = (town.caller("ana"), town.post("ana", "hello").await.id);
    let comment = town.comment("ana", &post, "me too").await.id;
    let input = about(ActivityVerb::Comment, ObjectType::Comment, &comment);
    let told = town.activities().post(&ana, &input, None).await.unwrap();
    assert_eq!(told.object_home, Some((&post).into()));
    assert_eq!(previews(&town, Some(&ana), "ana").await, ["me too", "hello"]);
    let lost = Activity { object_home: None, ..told };
    town.ground().core().table().put(Put::new(lost.item())).await.unwrap();
    assert_eq!(previews(&town, Some(&ana), "ana").await, ["hello"]);
}

/// R12, R31: of everything that is theirs, people can tell.
#[tokio::test]
async fn people_tell_of_what_is_theirs() {
    let town = Town::of(["ana", "bo"]).await;
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let goal = town.goal("ana", "goal").await;
    let task = town.task("ana", &goal, "task").await;
    let quest = town.quest("ana", "quest").await;
    let post = town.post("ana", "a post").await;
    let comment = town.comment("ana", &post.id, "a comment").await;
    let group = town.found("bo", "runners").await;
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
        let told = activities.post(&ana, &about(verb, kind, id.clone()), None).await.unwrap();
        assert_eq!((told.verb, told.object_type, told.object_id), (verb, kind, id.clone()));
        assert_eq!(told.activity_id.time(), Some(told.created_at), "its id is of its time");
        // What is bo's, or nobody's, is not ana's to tell of.
        let others = activities.post(&town.caller("bo"), &about(verb, kind, id), None).await;
        assert_eq!(others.is_ok(), kind == ObjectType::Group, "{kind}");
        let none = about(verb, kind, "none".parse::<SubjectId>().unwrap());
        let none = activities.post(&ana, &none, None).await;
        assert!(matches!(none, Err(ActivityError::NoSuchObject)), "{kind}");
    }
    let told = told_by(&town, None, "ana", Ascending, 3).await;
    let kinds: Vec<ObjectType> = told.iter().skip(1).map(|activity| activity.object_type).collect();
    assert_eq!(kinds, objects.map(|(_, kind, _)| kind), "after the post itself");
    assert_eq!(told[4].preview_text.as_deref(), Some("a post"), "the post's words, not others");
    assert_eq!(told[1].preview_text.as_deref(), Some("told"));
}

/// R12: what cannot be told is refused.
#[tokio::test]
async fn what_cannot_be_told_is_refused() {
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
    let nobody = activities.post(&town.caller("nobody"), &me, None).await.unwrap_err();
    assert_eq!(nobody.code(), Code::Unauthenticated);
    town.set_status("ana", UserStatus::Suspended).await;
    assert_eq!(refused(me).await.code(), Code::Forbidden);
}

/// R12: into a group, as an active member; it lives with the group, and is for those who see inside.
#[tokio::test]
async fn a_groups_activities_are_for_those_who_see_inside() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let group = town.found_private("ana", "runners").await;
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
    // About the group itself, the same membership is asked for once.
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

/// R12, R27: an activity is shown while its object is there and may be seen, as that is now.
#[tokio::test]
async fn an_activity_is_shown_while_its_object_may_be_seen() {
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
    let told = told_by(&town, None, "ana", Descending, 9).await;
    assert_eq!(told[0].preview_text.as_deref(), Some("better words #two"));
    assert_eq!(told[0].tags, ["two".parse().unwrap()]);
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

/// R12: goals, tasks and quests are told of while they exist.
#[tokio::test]
async fn what_was_told_goes_with_its_object() {
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
    let table = town.ground().core().table();
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
    let told = told_by(&town, Some(&bo), "ana", Descending, 2).await;
    let words: Vec<_> = told.into_iter().filter_map(|activity| activity.preview_text).collect();
    assert_eq!(words, ["20", "16", "12", "8", "4", "0"]);
}

/// R7, R12: who may not see the actor sees nothing of what they do.
#[tokio::test]
async fn an_actors_activities_are_for_those_who_see_them() {
    let town = Town::of(["ana", "friend", "stranger", "blocked"]).await;
    town.follow("friend", "ana").await;
    town.post("ana", "hello").await;
    town.block("ana", "blocked").await;
    let activities = town.activities();
    let refused = async |viewer: Option<Caller>| {
        let page = PageInput::first();
        let told = activities.of(viewer.as_ref(), &"ana".parse().unwrap(), Descending, &page).await;
        matches!(told, Err(ActivityError::NoSuchActor))
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
    let nobody = activities.of(None, &none, Descending, &page).await;
    assert!(matches!(nobody, Err(ActivityError::NoSuchActor)));
}

/// R12: whether an activity is pushed is decided in its own transaction, from the actor's head.
#[tokio::test]
async fn an_activity_is_pushed_as_its_head_says() {
    let town = Town::of(["ana"]).await;
    town.post("ana", "before").await;
    let core = town.ground().core();
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
    let newest = told_by(&town, None, "ana", Descending, 9).await[0].created_at;
    assert_eq!((head.last_ts, head.since), (newest, Some(newest)));
}

/// R32
#[tokio::test]
async fn a_repeated_request_tells_once() {
    let town = Town::of(["ana"]).await;
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let once: RequestId = "once".parse().unwrap();
    let goal = town.goal("ana", "goal").await;
    let input = about(ActivityVerb::GoalUpdate, ObjectType::Goal, &goal);
    let told = activities.post(&ana, &input, Some(&once)).await.unwrap();
    assert_eq!(activities.post(&ana, &input, Some(&once)).await.unwrap(), told);
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
    let other = NewActivity { preview_text: None, ..input.clone() };
    let other = activities.post(&ana, &other, Some(&once)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    let goal = Goal::at(&town.id("ana"), &goal);
    town.ground().core().table().delete(goal.delete()).await.unwrap();
    let gone = activities.post(&ana, &input, Some(&once)).await;
    assert!(matches!(gone, Err(ActivityError::NoSuchObject)), "as it is now");
}

/// R33: nobody tells of what is gone, or in a group that is, in whichever order they meet.
#[tokio::test]
async fn nobody_tells_of_what_is_gone() {
    for object_first in [true, false] {
        tell_while_it_goes(object_first).await;
    }
}

async fn tell_while_it_goes(object_first: bool) {
    let mut told_before = 0;
    for gap in 1.. {
        let town = Town::of(["ana"]).await;
        let group = town.found("ana", "runners").await;
        let goal = town.goal("ana", "goal").await;
        let table = town.ground().core().table().clone();
        let gone = group.clone();
        let at = Goal::at(&town.id("ana"), &goal);
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            let delete = if object_first { at.delete() } else { Group::at(&gone).delete() };
            table.delete(delete).await.unwrap();
        });
        let input = about(ActivityVerb::GoalUpdate, ObjectType::Goal, &goal);
        let input = NewActivity { group_id: Some(group.clone()), ..input };
        let told = Activities::new(ground).post(&town.caller("ana"), &input, None).await;
        if !meanwhile.happened() {
            break;
        }
        let rows = town.rows(&format!("ACTIVITY#{group}"), "TS#").await;
        assert_eq!(told.is_ok(), !rows.is_empty(), "{gap}");
        told_before += usize::from(told.is_ok());
    }
    assert_eq!(told_before, 1, "only when the activity is there first");
}

/// R12: the time of an activity is that of its id, and after all before it.
#[tokio::test]
async fn times_rise() {
    let town = Town::of(["ana"]).await;
    let me = about(ActivityVerb::Follow, ObjectType::User, town.id("ana"));
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let mut last = Time::EPOCH;
    for _ in 0..5 {
        let told = activities.post(&ana, &me, None).await.unwrap();
        assert!(told.created_at > last);
        assert_eq!(told.key().into_key().partition.as_text(), Some("ACTIVITY#ana"));
        last = told.created_at;
    }
}
