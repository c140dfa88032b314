//! Shares, through the service and as rows (R18, R31 to R33).

use roundtable_domain::{
    Code, ModerationMode, NewPost, PageInput, PostChange, Posts, Refusal, Settings, ShareError,
    Shares,
};
use roundtable_model::entities::Activity;
use roundtable_model::table::Order::Descending;
use roundtable_model::{ActivityVerb, ModerationStatus, PostId, RequestId, Visibility};
use roundtable_testkit::Town;

async fn shares(town: &Town, post: &PostId) -> Vec<String> {
    town.rows(&format!("POST#{post}"), "SHARE#").await
}

/// A user's activities, as a viewer sees them.
async fn visible_activities(town: &Town, viewer: Option<&str>, actor: &str) -> Vec<Activity> {
    let viewer = viewer.map(|name| town.caller(name));
    let actor = actor.parse().unwrap();
    let (activities, page) = (town.activities(), PageInput::first());
    activities.of(viewer.as_ref(), &actor, Descending, &page).await.unwrap().into_items()
}

/// R18, R33: the share, its activity and the head are one transaction; repeated shares have no
/// effect.
#[tokio::test]
async fn repeated_shares_have_no_effect() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello #world").await;
    let first = town.share("bo", &post.id).await;
    assert_eq!(town.share("bo", &post.id).await, first);
    let share = first.share.unwrap();
    let row = format!("SHARE#bo activityId={} postUserId=ana", share.activity_id);
    assert_eq!(shares(&town, &post.id).await, [row]);
    assert_eq!(town.rows("ACTIVITY#bo", "TS#").await.len(), 1);
    assert_eq!(town.rows("ACTIVITY#bo", "HEAD").await.len(), 1);
    let returned = visible_activities(&town, None, "bo").await;
    assert_eq!(
        (returned[0].verb, &returned[0].activity_id),
        (ActivityVerb::Share, &share.activity_id)
    );
    assert_eq!(returned[0].preview_text.as_deref(), Some("hello #world"));
}

/// R18: the activity stays, but is visible only while a share refers to it.
#[tokio::test]
async fn the_activity_of_a_removed_share_is_hidden() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    town.share("bo", &post.id).await;
    let (service, bo) = (town.shares(), town.caller("bo"));
    for _ in 0..2 {
        assert_eq!(service.unshare(&bo, &post.id, None).await.unwrap().share, None);
    }
    assert!(shares(&town, &post.id).await.is_empty());
    assert_eq!(town.rows("ACTIVITY#bo", "TS#").await.len(), 1, "written once");
    assert!(visible_activities(&town, None, "bo").await.is_empty());
    let again = town.share("bo", &post.id).await.share.unwrap();
    let returned = visible_activities(&town, None, "bo").await;
    assert_eq!(returned.len(), 1, "only the new one");
    assert_eq!(returned[0].activity_id, again.activity_id);
}

/// R18: only public posts are shared.
#[tokio::test]
async fn only_public_posts_are_shared() {
    let town = Town::of(["ana", "friend"]).await;
    town.follow("friend", "ana").await;
    let group = town.create_group("friend", "runners").await;
    town.join("ana", &group).await;
    let input = NewPost { visibility: Some(Visibility::Followers), ..NewPost::text("friends") };
    let followers = town.post_as("ana", input).await;
    let inside = town.post_into("ana", &group, "inside").await;
    let service = town.shares();
    for post in [&followers.id, &inside.id] {
        let refused = service.share(&town.caller("friend"), post, None).await.unwrap_err();
        assert!(matches!(refused, ShareError::NotPublic));
        assert_eq!(refused.code(), Code::Forbidden);
    }
    let flagged = town.post("ana", "flagged").await;
    town.set_post_status(&flagged.id, ModerationStatus::Flagged).await;
    let own = service.share(&town.caller("ana"), &flagged.id, None).await;
    assert!(matches!(own, Err(ShareError::NotPublic)));
    let other = service.share(&town.caller("friend"), &flagged.id, None).await;
    assert!(matches!(other, Err(ShareError::NoSuchPost)));
    // The account has become private, and the post is not updated yet.
    let public = town.post("ana", "public").await;
    town.set_private("ana", true).await;
    let private = service.share(&town.caller("friend"), &public.id, None).await;
    assert!(matches!(private, Err(ShareError::NotPublic)));
    for post in [&followers.id, &inside.id, &flagged.id, &public.id] {
        assert!(shares(&town, post).await.is_empty());
    }
}

/// R18: hidden posts cannot be shared; earlier shares can still be removed.
#[tokio::test]
async fn hidden_posts_cannot_be_shared() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let post = town.post("ana", "hello").await;
    town.share("bo", &post.id).await;
    town.block("ana", "bo").await;
    let (service, bo) = (town.shares(), town.caller("bo"));
    assert!(matches!(service.share(&bo, &post.id, None).await, Err(ShareError::NoSuchPost)));
    assert_eq!(
        visible_activities(&town, Some("cleo"), "bo").await.len(),
        1,
        "others see who shared it"
    );
    assert!(visible_activities(&town, Some("bo"), "bo").await.is_empty());
    service.unshare(&bo, &post.id, None).await.unwrap();
    assert!(matches!(service.unshare(&bo, &post.id, None).await, Err(ShareError::NoSuchPost)));
    let none: PostId = "none".parse().unwrap();
    assert!(matches!(service.share(&bo, &none, None).await, Err(ShareError::NoSuchPost)));
    let stranger = service.share(&town.caller("stranger"), &post.id, None).await;
    assert_eq!(stranger.unwrap_err().code(), Code::Unauthenticated);
}

/// R32: requests are idempotent.
#[tokio::test]
async fn a_repeated_request_has_the_effect_of_one() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let (service, bo) = (town.shares(), town.caller("bo"));
    let (one, two): (RequestId, RequestId) = ("one".parse().unwrap(), "two".parse().unwrap());
    let first = service.share(&bo, &post.id, Some(&one)).await.unwrap();
    assert_eq!(service.share(&bo, &post.id, Some(&one)).await.unwrap(), first);
    service.unshare(&bo, &post.id, Some(&two)).await.unwrap();
    let replay = service.share(&bo, &post.id, Some(&one)).await.unwrap();
    assert_eq!(replay.share, None, "as it is now");
    assert_eq!(service.unshare(&bo, &post.id, Some(&two)).await.unwrap().share, None);
    let other = service.unshare(&bo, &"other".parse().unwrap(), Some(&two)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    assert_eq!(town.rows("ACTIVITY#bo", "TS#").await.len(), 1);
}

/// R33: a share during a change of visibility, in every interleaving.
#[tokio::test]
async fn a_post_that_becomes_private_concurrently_is_not_shared() {
    let mut shared_before = 0;
    for gap in 1.. {
        let town = Town::of(["ana", "bo"]).await;
        let post = town.post("ana", "hello").await;
        let (posts, ana, id) = (town.posts(), town.caller("ana"), post.id.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            let hide = PostChange { content: None, visibility: Some(Visibility::Private) };
            posts.update(&ana, &id, &hide, None).await.unwrap();
        });
        let shared = Shares::new(context).share(&town.caller("bo"), &post.id, None).await;
        if !meanwhile.happened() {
            break;
        }
        assert_eq!(shared.is_ok(), !shares(&town, &post.id).await.is_empty(), "{gap}");
        let activities = town.rows("ACTIVITY#bo", "TS#").await;
        assert_eq!(shared.is_ok(), !activities.is_empty(), "{gap}");
        assert!(
            visible_activities(&town, None, "bo").await.is_empty(),
            "it is hidden now, shared or not"
        );
        shared_before += usize::from(shared.is_ok());
    }
    assert_eq!(shared_before, 1, "only when the share is there first");
}

/// R12: two concurrent activities of one actor are both published, with distinct times.
#[tokio::test]
async fn activities_of_one_actor_have_distinct_times() {
    for gap in 1.. {
        let town = Town::of(["ana", "bo"]).await;
        let post = town.post("ana", "hello").await;
        let (posts, bo) = (town.posts(), town.caller("bo"));
        let (context, meanwhile) = town.interleave(gap, async move || {
            posts.create(&bo, &NewPost::text("mine"), None).await.unwrap();
        });
        Shares::new(context).share(&town.caller("bo"), &post.id, None).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
        let times: Vec<_> = visible_activities(&town, None, "bo")
            .await
            .iter()
            .map(|activity| activity.created_at)
            .collect();
        assert_eq!(times.len(), 2, "{gap}");
        assert!(times[0] > times[1], "{gap}");
    }
}

/// R34: a pending post is not shared, not even by its author.
#[tokio::test]
async fn a_pending_post_is_not_shared() {
    let settings = Settings { moderation: ModerationMode::Before, ..Town::settings() };
    let town = Town::with(settings, ["ana"]).await;
    let ana = town.caller("ana");
    let post = Posts::new(town.context().clone()).create(&ana, &NewPost::text("hi"), None).await;
    let refused = town.shares().share(&ana, &post.unwrap().id, None).await;
    assert!(matches!(refused, Err(ShareError::NotPublic)));
}
