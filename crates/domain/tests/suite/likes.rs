//! Likes, through the service and as rows (R20, R27, R30 to R33).

use roundtable_domain::{
    Code, LikeError, LikeMode, Likes, NewPost, Page, PageInput, Refusal, Settings,
};
use roundtable_model::entities::Like;
use roundtable_model::{LikeType, ModerationStatus, PostId, RequestId, UserStatus, Visibility};
use roundtable_testkit::Town;

fn request(id: &str) -> RequestId {
    id.parse().unwrap()
}

fn people(page: Page<Like>) -> Vec<String> {
    page.into_items().iter().map(|like| like.user_id.to_string()).collect()
}

async fn likes(town: &Town, post: &PostId) -> Vec<String> {
    town.rows(&format!("POST#{post}"), "LIKE#").await
}

/// R20, R37: repeated likes have no effect; a like stores what counters need.
#[tokio::test]
async fn repeated_likes_have_no_effect() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let first = town.like("bo", &post.id).await;
    let second = town.like("bo", &post.id).await;
    assert_eq!(first, second);
    let row = "LIKE#bo likeType=like postUserId=ana postSK=POST";
    assert_eq!(likes(&town, &post.id).await, [row]);
    assert!(town.rows(&format!("POST#{}", post.id), "COUNTER#").await.is_empty(), "not ours");
}

/// R20: another type changes the like; no type keeps it.
#[tokio::test]
async fn the_type_of_a_like_can_change() {
    let town = Town::of(["ana"]).await;
    let post = town.post("ana", "hello").await;
    let (service, ana) = (town.likes(), town.caller("ana"));
    let like = async |like_type| {
        let liked = service.like(&ana, &post.id, like_type, None).await.unwrap();
        liked.like.unwrap().like_type
    };
    assert_eq!(like(Some(LikeType::Love)).await, LikeType::Love);
    assert_eq!(like(None).await, LikeType::Love);
    assert_eq!(like(Some(LikeType::Laugh)).await, LikeType::Laugh);
    assert_eq!(likes(&town, &post.id).await.len(), 1);
}

/// R20, R31: a toggle likes and unlikes.
#[tokio::test]
async fn a_toggle_likes_and_unlikes() {
    let town = Town::of(["ana"]).await;
    let post = town.post("ana", "hello").await;
    let (service, ana) = (town.likes(), town.caller("ana"));
    for expected in [true, false, true] {
        let liked = service.toggle(&ana, &post.id, None).await.unwrap();
        assert_eq!(liked.like.is_some(), expected);
        assert_eq!(likes(&town, &post.id).await.len(), usize::from(expected));
    }
    for _ in 0..2 {
        let liked = service.unlike(&ana, &post.id, None).await.unwrap();
        assert_eq!((liked.post_id, liked.like), (post.id.clone(), None));
    }
}

/// R20: where likes are permanent, only the type can change.
#[tokio::test]
async fn a_permanent_like_stays() {
    let settings = Settings { likes: LikeMode::Permanent, ..Town::settings() };
    let town = Town::with(settings, ["ana"]).await;
    let post = town.post("ana", "hello").await;
    let (service, ana) = (town.likes(), town.caller("ana"));
    assert!(service.toggle(&ana, &post.id, None).await.unwrap().like.is_some());
    let toggled = service.toggle(&ana, &post.id, None).await.unwrap_err();
    let unliked = service.unlike(&ana, &post.id, None).await.unwrap_err();
    for refused in [toggled, unliked] {
        assert!(matches!(refused, LikeError::LikesPermanent));
        assert_eq!(refused.code(), Code::Forbidden);
    }
    service.like(&ana, &post.id, Some(LikeType::Love), None).await.unwrap();
    assert_eq!(likes(&town, &post.id).await, ["LIKE#ana likeType=love postUserId=ana postSK=POST"]);
    // Unliking what is not liked changes nothing.
    let other = town.post("ana", "other").await;
    assert_eq!(service.unlike(&ana, &other.id, None).await.unwrap().like, None);
}

/// R20: hidden posts cannot be liked, and refusals reveal nothing.
#[tokio::test]
async fn hidden_posts_cannot_be_liked() {
    let town = Town::of(["ana", "friend", "stranger", "blocked"]).await;
    town.follow("friend", "ana").await;
    let public = town.post("ana", "hello").await;
    town.like("blocked", &public.id).await;
    town.block("blocked", "ana").await;
    let input = NewPost { visibility: Some(Visibility::Followers), ..NewPost::text("friends") };
    let followers = town.post_as("ana", input).await;
    let flagged = town.post("ana", "flagged").await;
    town.set_post_status(&flagged.id, ModerationStatus::Flagged).await;
    let deleted = town.post("ana", "deleted").await;
    town.posts().delete(&town.caller("ana"), &deleted.id, None).await.unwrap();
    let none: PostId = "none".parse().unwrap();
    let service = town.likes();
    for (name, post) in [
        ("blocked", &public.id),
        ("stranger", &followers.id),
        ("friend", &flagged.id),
        ("ana", &deleted.id),
        ("ana", &none),
    ] {
        let caller = town.caller(name);
        let refused = [
            service.like(&caller, post, None, None).await,
            service.unlike(&caller, post, None).await,
            service.toggle(&caller, post, None).await,
        ];
        for refused in refused {
            assert!(matches!(refused, Err(LikeError::NoSuchPost)), "{name} {post}");
        }
        let listed = service.of(Some(&caller), post, &PageInput::first()).await;
        assert!(matches!(listed, Err(LikeError::NoSuchPost)), "{name} {post}");
    }
    town.like("friend", &followers.id).await;
    town.set_status("friend", UserStatus::Suspended).await;
    let refused = service.like(&town.caller("friend"), &public.id, None, None).await;
    assert_eq!(refused.unwrap_err().code(), Code::Forbidden);
    let refused = service.like(&town.caller("nobody"), &public.id, None, None).await;
    assert_eq!(refused.unwrap_err().code(), Code::Unauthenticated);
}

/// R27, R30: the likes of a post, except by users hidden from the viewer; pages are full.
#[tokio::test]
async fn likes_of_a_post_are_listed() {
    let town = Town::of(["ana", "f1", "f2", "f3", "f4", "f5", "f6"]).await;
    let post = town.post("ana", "hello").await;
    for fan in ["f1", "f2", "f3", "f4", "f5", "f6"] {
        town.like(fan, &post.id).await;
    }
    town.block("f2", "f1").await;
    town.set_status("f3", UserStatus::Suspended).await;
    let service = town.likes();
    let two = PageInput { limit: Some(2), after: None };
    let page = service.of(Some(&town.caller("f1")), &post.id, &two).await.unwrap();
    let next = PageInput { limit: Some(2), after: page.next.clone() };
    assert_eq!(people(page), ["f1", "f4"]);
    let page = service.of(Some(&town.caller("f1")), &post.id, &next).await.unwrap();
    assert_eq!(page.next, None);
    assert_eq!(people(page), ["f5", "f6"]);
    let all = service.of(None, &post.id, &PageInput::first()).await.unwrap();
    assert_eq!(people(all), ["f1", "f2", "f4", "f5", "f6"]);
}

/// R27: a user's likes, newest first, for viewers who may see user and post.
#[tokio::test]
async fn likes_of_a_user_are_listed() {
    let town = Town::of(["ana", "bo", "viewer"]).await;
    let mut written = Vec::new();
    for n in 0..6 {
        let post = town.post(if n % 2 == 0 { "ana" } else { "bo" }, &format!("{n}")).await;
        town.like("bo", &post.id).await;
        written.push(post.id);
    }
    town.posts().delete(&town.caller("ana"), &written[4], None).await.unwrap();
    let service = town.likes();
    let viewer = town.caller("viewer");
    let posts = async |viewer, limit| -> Vec<PostId> {
        let page = PageInput { limit: Some(limit), after: None };
        let page = service.by(viewer, &town.id("bo"), &page).await.unwrap();
        page.into_items().into_iter().map(|like| like.post_id).collect()
    };
    let newest: Vec<PostId> = [5, 3, 2, 1, 0].map(|n: usize| written[n].clone()).into();
    assert_eq!(posts(Some(&viewer), 9).await, newest);
    town.block("ana", "viewer").await;
    let bos: Vec<PostId> = [5, 3, 1].map(|n: usize| written[n].clone()).into();
    assert_eq!(posts(Some(&viewer), 3).await, bos, "a full page");
    town.set_private("bo", true).await;
    let hidden = service.by(Some(&viewer), &town.id("bo"), &PageInput::first()).await;
    assert!(matches!(hidden, Err(LikeError::NoSuchUser)));
    town.block("viewer", "bo").await;
    let hidden = service.by(Some(&viewer), &town.id("bo"), &PageInput::first()).await;
    assert!(matches!(hidden, Err(LikeError::NoSuchUser)));
}

/// R27: only viewers who see user and post learn of a like.
#[tokio::test]
async fn has_liked_requires_seeing_user_and_post() {
    let town = Town::of(["ana", "bo", "viewer"]).await;
    let (one, two) = (town.post("ana", "one").await, town.post("ana", "two").await);
    town.like("bo", &one.id).await;
    let ids = [one.id.clone(), two.id, "none".parse().unwrap()];
    let (service, bo, viewer) = (town.likes(), town.id("bo"), town.caller("viewer"));
    let requested = async |viewer| service.has_liked(viewer, &bo, &ids).await.unwrap();
    assert_eq!(requested(None).await, [true, false, false]);
    assert_eq!(requested(Some(&viewer)).await, [true, false, false]);
    town.set_private("bo", true).await;
    assert_eq!(requested(Some(&viewer)).await, [false; 3]);
    let own = town.caller("bo");
    assert_eq!(requested(Some(&own)).await, [true, false, false]);
    town.set_private("bo", false).await;
    town.block("ana", "viewer").await;
    assert_eq!(requested(Some(&viewer)).await, [false; 3]);
}

/// R32: every repeated request has the effect of one, also those that changed nothing.
#[tokio::test]
async fn a_repeated_request_has_the_effect_of_one() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let (service, bo) = (town.likes(), town.caller("bo"));
    let (toggle, like, unlike) = (request("toggle"), request("like"), request("unlike"));
    for _ in 0..3 {
        let liked = service.toggle(&bo, &post.id, Some(&toggle)).await.unwrap();
        assert!(liked.like.is_some(), "once, however often it is sent");
    }
    // Already liked: after an unlike, the repetition does not like it again.
    service.like(&bo, &post.id, None, Some(&like)).await.unwrap();
    service.unlike(&bo, &post.id, Some(&unlike)).await.unwrap();
    let liked = service.like(&bo, &post.id, None, Some(&like)).await.unwrap();
    assert_eq!(liked.like, None, "as it is now");
    service.like(&bo, &post.id, None, None).await.unwrap();
    let liked = service.unlike(&bo, &post.id, Some(&unlike)).await.unwrap();
    assert!(liked.like.is_some(), "as it is now");
    let other = service.like(&bo, &post.id, Some(LikeType::Love), Some(&like)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
    let removed = service.toggle(&bo, &post.id, Some(&toggle)).await;
    assert!(matches!(removed, Err(LikeError::NoSuchPost)), "under present permissions");
}

/// R33: two concurrent toggles of one user are done one after the other, in every interleaving.
#[tokio::test]
async fn two_concurrent_toggles_are_serialized() {
    for gap in 1.. {
        let town = Town::of(["ana"]).await;
        let post = town.post("ana", "hello").await;
        let (other, ana, id) = (town.likes(), town.caller("ana"), post.id.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.toggle(&ana, &id, None).await.unwrap();
        });
        Likes::new(context).toggle(&town.caller("ana"), &post.id, None).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
        assert!(likes(&town, &post.id).await.is_empty(), "{gap}");
    }
}

/// R33: a post hidden during a like is liked before, or not at all.
#[tokio::test]
async fn a_post_hidden_concurrently_is_not_liked() {
    let mut likes_before = 0;
    for gap in 1.. {
        let town = std::sync::Arc::new(Town::of(["ana", "bo"]).await);
        let post = town.post("ana", "hello").await;
        let (other, id) = (town.clone(), post.id.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            other.set_post_status(&id, ModerationStatus::Rejected).await;
        });
        let liked = Likes::new(context).like(&town.caller("bo"), &post.id, None, None).await;
        if !meanwhile.happened() {
            break;
        }
        assert_eq!(liked.is_ok(), !likes(&town, &post.id).await.is_empty(), "{gap}");
        likes_before += usize::from(liked.is_ok());
    }
    assert_eq!(likes_before, 1, "only when the like is there first");
}
