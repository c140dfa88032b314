//! Small examples that check the oracle itself.

use roundtable_domain::NewPost;
use roundtable_model::entities::Activity;
use roundtable_model::{ModerationStatus, UserStatus, Visibility};
use roundtable_testkit::{Town, UserAction};

use crate::oracle::{Entry, Facts};

/// A user's feed, one line per entry.
async fn home(town: &Town, reader: &str) -> Vec<String> {
    let facts = Facts::of(town.context().core().table()).await;
    let line = |entry: Entry| {
        let Activity { actor_id, verb, preview_text, .. } = entry.activity;
        format!("{actor_id} {verb} {}", preview_text.unwrap_or_default())
    };
    facts.home(&town.id(reader), reader == "mo").into_iter().map(line).collect()
}

#[tokio::test]
async fn a_feed_has_own_activities_and_those_of_followees_and_groups() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.follow("ana", "bo").await;
    let runners = town.create_group("cleo", "runners").await;
    town.join("ana", &runners).await;
    town.post("ana", "mine").await;
    town.post("bo", "followed").await;
    town.post("cleo", "of a stranger").await;
    town.post_into("cleo", &runners, "to the group").await;
    assert_eq!(
        home(&town, "ana").await,
        ["cleo post to the group", "bo post followed", "ana post mine"]
    );
    assert_eq!(home(&town, "bo").await, ["bo post followed"]);
    town.groups().leave(&town.caller("ana"), &runners, None).await.unwrap();
    assert_eq!(home(&town, "ana").await, ["bo post followed", "ana post mine"]);
}

#[tokio::test]
async fn a_private_account_is_visible_to_accepted_followers() {
    let town = Town::of(["ana"]).await;
    town.add_user("dan", |dan| dan.is_private = true).await;
    town.follow("ana", "dan").await;
    town.post("dan", "for few").await;
    assert!(home(&town, "ana").await.is_empty(), "not accepted yet");
    town.follows().accept(&town.caller("dan"), &town.id("ana"), None).await.unwrap();
    assert_eq!(home(&town, "ana").await, ["dan post for few"]);
}

#[tokio::test]
async fn muted_users_are_in_no_feed() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let runners = town.create_group("bo", "runners").await;
    town.join("ana", &runners).await;
    for other in ["bo", "cleo"] {
        town.follow("ana", other).await;
    }
    let post = town.post("bo", "by bo").await;
    town.post_into("bo", &runners, "to the group").await;
    town.share("cleo", &post.id).await;
    assert_eq!(home(&town, "ana").await.len(), 3);
    let (ana, bo) = (town.caller("ana"), town.id("bo"));
    town.follows().update(&ana, &bo, Some(true), None, None, None).await.unwrap();
    assert!(home(&town, "ana").await.is_empty());
}

/// R49: also a user who is not followed, in groups and in what others share, and until the end of the mute.
#[tokio::test]
async fn muted_strangers_are_in_no_feed_until_the_mute_ends() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let runners = town.create_group("cleo", "runners").await;
    for member in ["ana", "bo"] {
        town.join(member, &runners).await;
    }
    town.follow("ana", "cleo").await;
    let post = town.post("bo", "by bo").await;
    town.post_into("bo", &runners, "to the group").await;
    town.share("cleo", &post.id).await;
    let before = home(&town, "ana").await;
    assert_eq!(before.len(), 2);
    let theirs = home(&town, "bo").await;
    let (ana, bo, end) = (town.caller("ana"), town.id("bo"), town.now().plus_ms(90_000));
    town.mutes().mute(&ana, &bo, Some(end), None).await.unwrap();
    assert!(home(&town, "ana").await.is_empty());
    assert_eq!(home(&town, "bo").await, theirs, "the muted user sees no difference");
    town.advance_ms(89_999);
    assert!(home(&town, "ana").await.is_empty());
    town.advance_ms(1);
    assert_eq!(home(&town, "ana").await, before);
    town.mute("ana", "bo").await;
    assert!(home(&town, "ana").await.is_empty());
    town.mutes().unmute(&ana, &bo, None).await.unwrap();
    assert_eq!(home(&town, "ana").await, before);
}

/// R49: a mute that an earlier version stored in the follow is in force.
#[tokio::test]
async fn mutes_of_earlier_versions_hide_posts() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    town.post("bo", "by bo").await;
    town.mute_in_follow("ana", "bo").await;
    assert!(home(&town, "ana").await.is_empty());
    town.mutes().unmute(&town.caller("ana"), &town.id("bo"), None).await.unwrap();
    assert_eq!(home(&town, "ana").await.len(), 1);
}

#[tokio::test]
async fn blocks_and_suspensions_hide_users_also_in_groups() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    let runners = town.create_group("cleo", "runners").await;
    for member in ["ana", "bo", "mo"] {
        town.join(member, &runners).await;
    }
    town.post_into("bo", &runners, "by bo").await;
    assert_eq!(home(&town, "ana").await, ["bo post by bo"]);
    town.block("bo", "ana").await;
    assert!(home(&town, "ana").await.is_empty());
    assert_eq!(home(&town, "cleo").await, ["bo post by bo"]);
    town.set_status("bo", UserStatus::Suspended).await;
    assert!(home(&town, "cleo").await.is_empty());
    assert_eq!(home(&town, "mo").await, ["bo post by bo"], "moderators see them");
}

#[tokio::test]
async fn a_share_is_shown_while_it_exists_to_viewers_of_the_post() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    town.follow("ana", "bo").await;
    town.follow("dan", "bo").await;
    town.follow("dan", "cleo").await;
    let post = town.post("cleo", "news").await;
    town.share("bo", &post.id).await;
    assert_eq!(home(&town, "ana").await, ["bo share news"]);
    let show = |to| UserAction::EditPost(post.id.clone(), "newer".into(), to);
    town.perform(&town.caller("cleo"), &show(Visibility::Followers), None).await.unwrap();
    assert!(home(&town, "ana").await.is_empty());
    assert_eq!(home(&town, "dan").await, ["bo share newer", "cleo post newer"]);
    town.shares().unshare(&town.caller("bo"), &post.id, None).await.unwrap();
    assert_eq!(home(&town, "dan").await, ["cleo post newer"]);
}

#[tokio::test]
async fn hidden_posts_are_shown_only_to_their_author() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    for reader in ["ana", "mo"] {
        town.follow(reader, "bo").await;
    }
    let post = town.post("bo", "rude").await;
    town.set_post_status(&post.id, ModerationStatus::Rejected).await;
    assert!(home(&town, "ana").await.is_empty());
    assert_eq!(home(&town, "bo").await, ["bo post rude"]);
    assert_eq!(home(&town, "mo").await, ["bo post rude"]);
    let own = NewPost { visibility: Some(Visibility::Private), ..NewPost::text("a secret") };
    town.post_as("bo", own).await;
    assert!(home(&town, "ana").await.is_empty());
    assert_eq!(home(&town, "bo").await, ["bo post a secret", "bo post rude"]);
    town.posts().delete(&town.caller("bo"), &post.id, None).await.unwrap();
    assert_eq!(home(&town, "bo").await, ["bo post a secret"]);
}
