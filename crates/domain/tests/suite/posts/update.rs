//! Updates of posts.

use roundtable_domain::{
    Code, ModerationMode, NewPost, PostChange, PostError, Posts, Refusal, Settings, ShardCount,
    ShardSettings,
};
use roundtable_model::table::Order;
use roundtable_model::{ContentType, ModerationStatus, Shards, Visibility};
use roundtable_testkit::Town;

use super::{first, moderated, request, texts};

fn content(text: &str) -> PostChange {
    PostChange { content: Some(text.into()), visibility: None }
}

/// R18, R33: tags and mentions follow the text, in the same transaction.
#[tokio::test]
async fn tags_follow_the_text() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "#one and #two").await;
    let ana = town.caller("ana");
    let changed =
        town.posts().update(&ana, &post.id, &content("#Two, #three, @bo"), None).await.unwrap();
    assert_eq!(changed.hashtags, ["Two", "three"].map(|tag| tag.parse().unwrap()));
    assert_eq!(changed.mentions, ["bo".parse().unwrap()]);
    assert!(changed.updated_at > post.updated_at);
    assert!(town.rows("TAG#one", "").await.is_empty());
    for tag in ["TAG#two", "TAG#three"] {
        assert_eq!(town.rows(tag, "").await, [format!("Post#{} title=#Two, #three, @bo", post.id)]);
    }
    assert_eq!(town.stored_post(&post.id).await, changed);
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1, "a change is no news");
}

/// R26: a post that is no longer public leaves the lists, and returns to its position.
#[tokio::test]
async fn lists_follow_the_visibility() {
    let town = Town::of(["ana"]).await;
    let post = town.post("ana", "first").await;
    town.post("ana", "second").await;
    let (posts, ana) = (town.posts(), town.caller("ana"));
    let timeline =
        async || texts(posts.global(None, None, None, Order::Descending, &first(9)).await.unwrap());
    for (visibility, expected) in [
        (Visibility::Followers, ["second"].as_slice()),
        (Visibility::Private, &["second"]),
        (Visibility::Public, &["second", "first"]),
    ] {
        let change = PostChange { content: None, visibility: Some(visibility) };
        let changed = posts.update(&ana, &post.id, &change, None).await.unwrap();
        assert_eq!((changed.visibility, changed.content.as_str()), (visibility, "first"));
        assert_eq!(timeline().await, expected);
    }
}

/// R18, R31: invalid updates are refused.
#[tokio::test]
async fn invalid_updates_are_refused() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let posts = town.posts();
    let refused = async |name: &str, change: PostChange| {
        posts.update(&town.caller(name), &post.id, &change, None).await.unwrap_err()
    };
    assert!(matches!(refused("bo", content("mine")).await, PostError::NotAuthor));
    let staff = posts.update(&town.mo(), &post.id, &content("mine"), None).await;
    assert_eq!(staff.unwrap_err().code(), Code::Unauthenticated, "mo has not moved in");
    assert_eq!(refused("ana", content(" ")).await.code(), Code::BadRequest);
    let (ana, none) = (town.caller("ana"), "none".parse().unwrap());
    let nothing = posts.update(&ana, &none, &content("x"), None).await;
    assert!(matches!(nothing, Err(PostError::NoSuchPost)));
    let hide = PostChange { content: None, visibility: Some(Visibility::Private) };
    posts.update(&town.caller("ana"), &post.id, &hide, None).await.unwrap();
    assert!(matches!(refused("bo", content("mine")).await, PostError::NoSuchPost), "no hint");
    posts.delete(&town.caller("ana"), &post.id, None).await.unwrap();
    assert!(matches!(refused("ana", content("back")).await, PostError::NoSuchPost));
}

/// R18: the text of a picture can be removed.
#[tokio::test]
async fn the_text_of_a_picture_can_be_removed() {
    let town = Town::of(["ana"]).await;
    let media = vec![Town::as_new_media(&town.upload("ana").await)];
    let input = NewPost { content_type: ContentType::Image, media, ..NewPost::text("#dawn") };
    let post = town.post_as("ana", input).await;
    let ana = town.caller("ana");
    let changed = town.posts().update(&ana, &post.id, &content(""), None).await.unwrap();
    assert!(changed.hashtags.is_empty());
    assert!(town.rows("TAG#dawn", "").await.is_empty());
}

/// R34: approval applies to a text, so a new one is reviewed again, and hidden until then where
/// posts are reviewed first.
#[tokio::test]
async fn a_new_text_is_reviewed_again() {
    for (mode, status) in [
        (ModerationMode::Off, ModerationStatus::Approved),
        (ModerationMode::Before, ModerationStatus::Pending),
        (ModerationMode::After, ModerationStatus::Approved),
    ] {
        let town = moderated(mode, ["ana", "mo"]).await;
        let post = town.post("ana", "harmless").await;
        if mode != ModerationMode::Off {
            town.moderate(&post.id, ModerationStatus::Approved).await;
        }
        let ana = town.caller("ana");
        let hide = PostChange { content: None, visibility: Some(Visibility::Followers) };
        let same = town.posts().update(&ana, &post.id, &hide, None).await.unwrap();
        assert_eq!(same.moderation_status, ModerationStatus::Approved, "{mode:?}");
        let changed = town.posts().update(&ana, &post.id, &content("harm"), None).await.unwrap();
        assert_eq!(changed.moderation_status, status, "{mode:?}");
        let case = town.rows(&format!("CASE#{}", post.id), "").await;
        assert_eq!(case.is_empty(), mode == ModerationMode::Off);
        assert!(case.iter().all(|case| case.contains("status=PENDING")), "{case:?}");
        if mode == ModerationMode::Before {
            let published = changed.published_at;
            let approved = town.moderate(&post.id, ModerationStatus::Approved).await;
            assert_eq!(approved.published_at, published, "it is back in its place");
            assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
        }
    }
}

/// R32: requests are idempotent.
#[tokio::test]
async fn a_repeated_change_is_made_once() {
    let town = Town::of(["ana"]).await;
    let post = town.post("ana", "one").await;
    let (posts, ana, once) = (town.posts(), town.caller("ana"), request("once"));
    posts.update(&ana, &post.id, &content("two"), Some(&once)).await.unwrap();
    posts.update(&ana, &post.id, &content("three"), None).await.unwrap();
    let replay = posts.update(&ana, &post.id, &content("two"), Some(&once)).await.unwrap();
    assert_eq!(replay.content, "three", "as it is now");
    let other = posts.update(&ana, &post.id, &content("four"), Some(&once)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
}

/// R39: tag references written with fewer shards are found, updated and removed.
#[tokio::test]
async fn shards_of_tags_can_be_added() {
    let town = Town::of(["ana"]).await;
    let (id, ana) = (town.post("ana", "#old #kept").await.id, town.caller("ana"));
    let tags = ShardCount(Shards::new(16).unwrap());
    let settings =
        Settings { shards: ShardSettings { tags, ..ShardSettings::default() }, ..Town::settings() };
    let posts = Posts::new(town.on_same_store(settings).await);
    let new = posts.create(&ana, &NewPost::text("#kept"), None).await.unwrap();
    posts.update(&ana, &id, &content("#kept #new"), None).await.unwrap();
    let retained = "kept".parse().unwrap();
    let found = posts.tagged(None, &retained, Order::Ascending, &first(9)).await.unwrap();
    assert_eq!(texts(found), ["#kept #new", "#kept"]);
    posts.delete(&ana, &id, None).await.unwrap();
    let found = posts.tagged(None, &retained, Order::Ascending, &first(9)).await.unwrap();
    assert_eq!(found.into_items()[0].id, new.id);
    for tag in ["TAG#old", "TAG#kept", "TAG#new"] {
        assert!(town.rows(tag, &format!("Post#{id}")).await.is_empty(), "{tag}");
    }
}
