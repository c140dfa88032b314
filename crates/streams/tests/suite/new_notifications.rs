//! What is particular about single kinds of notifications: requests to join, sign-ins, likes of comments
//! and new posts (R54).

use roundtable_domain::{DeviceInput, NewPost, PageInput};
use roundtable_model::Entity as _;
use roundtable_model::entities::Notification;
use roundtable_model::{GroupRole, NotificationKind, Visibility};
use roundtable_streams::PostNotifier;
use roundtable_testkit::Town;

use crate::facts::{all, everything};

/// R54: the owner and the admins of a group hear of each request to join it, until it is answered; other
/// members do not.
#[tokio::test]
async fn group_staff_hear_of_requests_to_join() {
    let town = Town::of(["ana", "bo", "cleo", "dan", "eve"]).await;
    let group = town.create_private_group("ana", "readers").await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    for name in ["bo", "cleo"] {
        town.join(name, &group).await;
        groups.approve(&ana, &group, &town.id(name), None).await.unwrap();
    }
    town.set_group_role("ana", &group, "bo", GroupRole::Admin).await;
    // At the same time, so that only the users differ.
    town.join("dan", &group).await;
    town.join("eve", &group).await;
    town.settle().await;
    let requests = async || {
        let notes: Vec<Notification> = all(&everything(town.context()).await);
        let requests = notes.iter().filter(|note| note.kind == NotificationKind::GroupRequest);
        let line =
            |note: &Notification| format!("{} {}", note.user_id, note.actor_id.as_ref().unwrap());
        let mut lines: Vec<String> = requests.map(line).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(requests().await, ["ana dan", "ana eve", "bo dan", "bo eve"]);
    groups.approve(&town.caller("bo"), &group, &town.id("dan"), None).await.unwrap();
    town.settle().await;
    assert_eq!(requests().await, ["ana eve", "bo eve"]);
}

/// R54: a sign-in on a new device is reported, the one that created the account is not, nor is one on a
/// known device.
#[tokio::test]
async fn sign_ins_on_new_devices_are_reported() {
    let town = Town::of([]).await;
    town.sign_up("sue").await;
    let sign_ins = async || {
        town.settle().await;
        let notes: Vec<Notification> = all(&everything(town.context()).await);
        notes.iter().filter(|note| note.kind == NotificationKind::SignIn).count()
    };
    assert_eq!(sign_ins().await, 0);
    let (accounts, email, password) = (town.accounts(), town.email("sue"), town.password("sue"));
    town.advance_ms(1_000);
    let signed_in = accounts.login(&email, &password, None).await.unwrap();
    assert_eq!(sign_ins().await, 1);
    town.advance_ms(1_000);
    let known = DeviceInput { token: signed_in.device_token, label: None };
    accounts.login_on(&email, &password, None, &known).await.unwrap();
    assert_eq!(sign_ins().await, 1);
}

/// R54: likes of a comment in an hour are one notification, which names the latest and counts all.
#[tokio::test]
async fn likes_of_a_comment_are_one_notification() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let post = town.post("bo", "hello").await;
    let comment = town.comment("ana", &post.id, "well said").await.id;
    let comments = town.comments();
    let listed = async || {
        town.settle().await;
        let service = roundtable_domain::Notifications::new(town.context().clone());
        let listed = service.list(&town.caller("ana"), &PageInput::first()).await.unwrap();
        let line = |view: &roundtable_domain::NotificationView| {
            let note = &view.notification;
            format!("{} {} {}", note.kind, note.actor_id.as_ref().unwrap(), view.people)
        };
        listed.into_items().iter().map(line).collect::<Vec<_>>()
    };
    for name in ["ana", "bo", "cleo", "dan"] {
        town.advance_ms(1);
        comments.like(&town.caller(name), &comment, None).await.unwrap();
    }
    assert_eq!(listed().await, ["comment_like dan 3"]);
    comments.unlike(&town.caller("dan"), &comment, None).await.unwrap();
    assert_eq!(listed().await, ["comment_like cleo 2"]);
    town.block("ana", "cleo").await;
    assert_eq!(listed().await, ["comment_like bo 2"]);
    comments.unlike(&town.caller("bo"), &comment, None).await.unwrap();
    assert_eq!(listed().await, [] as [String; 0]);
}

/// R54: followers who asked for it are notified of new posts that they may see, until they unfollow or
/// no longer want it; other followers are not.
#[tokio::test]
async fn followers_are_notified_of_new_posts_if_they_asked() {
    let town = Town::of(["ana", "bo", "cleo", "dan"]).await;
    let (follows, ana) = (town.follows(), town.id("ana"));
    for name in ["bo", "cleo", "dan"] {
        town.follow(name, "ana").await;
    }
    let ask = async |name: &str, wants: bool| {
        follows.update(&town.caller(name), &ana, None, None, Some(wants), None).await.unwrap()
    };
    for name in ["bo", "cleo"] {
        assert!(ask(name, true).await.wants_posts());
    }
    let told = async || {
        town.settle().await;
        let notes: Vec<Notification> = all(&everything(town.context()).await);
        let posts = notes.iter().filter(|note| note.kind == NotificationKind::Post);
        let mut names: Vec<String> = posts.map(|note| note.user_id.to_string()).collect();
        names.sort_unstable();
        names
    };
    let group = town.create_group("ana", "Runners").await;
    town.post_into("ana", &group, "inside").await;
    let hidden = NewPost { visibility: Some(Visibility::Private), ..NewPost::text("note to self") };
    town.post_as("ana", hidden).await;
    assert_eq!(told().await, [] as [String; 0]);
    town.post("ana", "hello").await;
    assert_eq!(told().await, ["bo", "cleo"]);
    ask("bo", false).await;
    follows.unfollow(&town.caller("cleo"), &ana, None).await.unwrap();
    assert!(town.rows("USER#cleo", "WATCH#").await.is_empty());
    assert!(town.rows("USER#bo", "WATCH#").await.is_empty());
    town.post("ana", "hello again").await;
    assert_eq!(told().await, ["bo", "cleo"], "only of the first post");
}

/// R54: however many followers asked for it, each is notified once, also if the job is repeated.
#[tokio::test]
async fn many_followers_are_notified_of_a_post_once() {
    let town = Town::of(["ana"]).await;
    for number in 0..60 {
        let name = format!("fan{number:02}");
        town.add_user(&name, |_| {}).await;
        town.follow(&name, "ana").await;
        let caller = town.caller(&name);
        town.follows()
            .update(&caller, &town.id("ana"), None, None, Some(true), None)
            .await
            .unwrap();
    }
    town.post("ana", "hello").await;
    for _ in 0..2 {
        town.settle().await;
        let notes: Vec<Notification> = all(&everything(town.context()).await);
        let told = notes.iter().filter(|note| note.kind == NotificationKind::Post).count();
        assert_eq!(told, 60);
        let ops = town.context().ops();
        for checkpoint in ops.checkpoints(&PostNotifier::NAME).all().await.unwrap() {
            ops.table().delete(checkpoint.key().delete()).await.unwrap();
        }
    }
}

/// R54: a mention in a comment notifies the user who is named, also when an edit adds it.
#[tokio::test]
async fn mentions_in_comments_are_reported() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let post = town.post("bo", "hello").await;
    let comment = town.comment("bo", &post.id, "well, @ana").await.id;
    let mentioned = async || {
        town.settle().await;
        let notes: Vec<Notification> = all(&everything(town.context()).await);
        let mentions = notes.iter().filter(|note| note.kind == NotificationKind::Mention);
        let mut names: Vec<String> = mentions.map(|note| note.user_id.to_string()).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(mentioned().await, ["ana"]);
    let bo = town.caller("bo");
    town.comments().update(&bo, &comment, "well, @ana and @cleo", None).await.unwrap();
    assert_eq!(mentioned().await, ["ana", "cleo"]);
    town.comments().delete(&bo, &comment, None).await.unwrap();
    assert_eq!(mentioned().await, [] as [String; 0]);
}
