//! Profiles by every name, and user counters (R8, R21, R39).

use std::sync::Arc;

use roundtable_domain::{Accounts, Caller, LiveBus, UserCounts};
use roundtable_model::entities::{Block, User, UserCounter};
use roundtable_model::table::Recorder;
use roundtable_model::{Entity, Role, Shard, Shards, UserCount, UserStatus};
use roundtable_testkit::Town;

async fn block(town: &Town, blocker: &str, blocked: &str) {
    let (blocker_id, blocked_id) = (town.id(blocker), town.id(blocked));
    let block = Block { blocker_id, blocked_id, created_at: town.now() };
    town.context().core().table().put(block.create()).await.unwrap();
}

/// R21: by id, nickname, username and handle, in any spelling.
#[tokio::test]
async fn users_are_found_by_every_name() {
    let town = Town::of([]).await;
    town.add_user("ana", |ana| ana.handle = "ana.f".parse().ok()).await;
    let accounts = town.accounts();
    let ana = Some(town.id("ana"));
    let id = |found: Option<User>| found.map(|user| user.id);
    assert_eq!(id(accounts.user(None, &town.id("ana")).await.unwrap()), ana);
    let nickname = "ANA".parse().unwrap();
    assert_eq!(id(accounts.by_nickname(None, &nickname).await.unwrap()), ana);
    assert_eq!(id(accounts.by_username(None, &nickname).await.unwrap()), ana);
    let handle = "Ana.F".parse().unwrap();
    assert_eq!(id(accounts.by_handle(None, &handle).await.unwrap()), ana);
    let missing = "nobody".parse().unwrap();
    assert_eq!(accounts.by_nickname(None, &missing).await.unwrap(), None);
    assert_eq!(accounts.by_handle(None, &"nobody".parse().unwrap()).await.unwrap(), None);
    assert_eq!(accounts.user(None, &town.id("nobody")).await.unwrap(), None);
}

/// R21: only the owner and admins see an e-mail address or can search by it.
#[tokio::test]
async fn an_email_address_is_visible_to_its_owner_and_admins() {
    let town = Town::of(["ana", "bo", "mo", "root"]).await;
    let accounts = town.accounts();
    let moderator = town.grant_role("mo", Role::Moderator).await;
    let admin = town.grant_role("root", Role::Admin).await;
    let (ana, bo) = (town.caller("ana"), town.caller("bo"));
    let viewers: [(Option<&Caller>, bool); 5] = [
        (None, false),
        (Some(&bo), false),
        (Some(&moderator), false),
        (Some(&ana), true),
        (Some(&admin), true),
    ];
    for (viewer, sees) in viewers {
        let shown = accounts.user(viewer, &ana.user_id).await.unwrap().unwrap();
        assert_eq!(shown.email.is_some(), sees, "{viewer:?}");
        let named = accounts.by_nickname(viewer, &"ana".parse().unwrap()).await.unwrap().unwrap();
        assert_eq!(named.email.is_some(), sees, "{viewer:?}");
        let found = accounts.by_email(viewer, &"ANA@example.com".parse().unwrap()).await.unwrap();
        assert_eq!(found.map(|user| user.id), sees.then(|| town.id("ana")), "{viewer:?}");
        let missing = accounts.by_email(viewer, &town.email("nobody")).await.unwrap();
        assert_eq!(missing, None);
    }
    let me = accounts.me(&ana).await.unwrap().unwrap();
    assert_eq!(me.email, Some(town.email("ana")));
}

/// A hidden user looks like one that does not exist.
#[tokio::test]
async fn a_hidden_user_looks_missing() {
    let town = Town::of(["ana", "bo", "cleo", "root"]).await;
    let accounts = town.accounts();
    block(&town, "bo", "ana").await;
    town.add_user("dan", |dan| dan.status = UserStatus::Suspended).await;
    town.add_user("eve", |eve| eve.status = UserStatus::Deleted).await;
    let (ana, bo) = (town.caller("ana"), town.caller("bo"));
    let ids = ["ana", "bo", "cleo", "dan", "eve"].map(|name| town.id(name));
    let visible = async |viewer: Option<&Caller>| {
        let people = accounts.people(viewer, &ids).await.unwrap();
        let counts = accounts.counts(viewer, &ids).await.unwrap();
        let visible = people.iter().map(Option::is_some).collect::<Vec<_>>();
        assert_eq!(visible, counts.iter().map(Option::is_some).collect::<Vec<_>>());
        visible
    };
    assert_eq!(visible(None).await, [true, true, true, false, false]);
    assert_eq!(visible(Some(&ana)).await, [true, false, true, false, false]);
    assert_eq!(visible(Some(&bo)).await, [false, true, true, false, false]);
    let nickname = "bo".parse().unwrap();
    assert_eq!(accounts.by_nickname(Some(&ana), &nickname).await.unwrap(), None);
    let admin = town.grant_role("root", Role::Admin).await;
    assert_eq!(visible(Some(&admin)).await, [true, true, true, true, false]);
}

/// R8, R39: follower counts add up over all shards.
#[tokio::test]
async fn user_counters_are_read() {
    let town = Town::of(["ana", "bo"]).await;
    town.add_user("star", |star| star.follower_shards = Shards::new(3).unwrap()).await;
    let table = town.context().core().table();
    for (name, counter, shard, count) in [
        ("star", UserCount::Followers, 0, 5),
        ("star", UserCount::Followers, 1, 3),
        ("star", UserCount::Followers, 2, 1),
        ("star", UserCount::Xp, 0, 450),
        ("ana", UserCount::Following, 0, 7),
        ("ana", UserCount::Posts, 0, 2),
        ("ana", UserCount::Unread, 0, 99),
    ] {
        let counter = UserCounter {
            user_id: town.id(name),
            counter,
            shard: Shard::new(shard).unwrap(),
            count,
            version: None,
            seq: None,
            updated_at: town.now(),
        };
        table.put(counter.create()).await.unwrap();
    }
    let ids = ["star", "bo", "nobody", "ana", "star"].map(|name| town.id(name));
    let counts = town.accounts().counts(None, &ids).await.unwrap();
    let star = UserCounts { followers: 9, xp: 450, ..UserCounts::default() };
    let ana = UserCounts { following: 7, posts: 2, ..UserCounts::default() };
    let expected = [Some(star), Some(UserCounts::default()), None, Some(ana), Some(star)];
    assert_eq!(counts, expected);
    assert_eq!((star.level(), ana.level()), (3, 1));
}

/// R42: counts that are in memory are not read again, and follow every change at once.
#[tokio::test]
async fn user_counters_in_memory_are_current_without_a_read() {
    let town = Town::of(["ana", "bo"]).await;
    let bus = LiveBus::new(town.context().clone());
    let recorder = Arc::new(Recorder::default());
    let context = town.context().with_memory_of(&bus).observed(recorder.clone());
    let (accounts, ids) = (Accounts::new(context), [town.id("bo")]);
    let followers = async || {
        let counts = accounts.counts(None, &ids).await.unwrap();
        let asked = recorder.take();
        let reads = asked.iter().filter(|it| it.pattern == Some("counts_among")).count();
        (counts[0].map(|counts| counts.followers), reads)
    };
    assert_eq!(followers().await, (Some(0), 1));
    town.follow("ana", "bo").await;
    assert_eq!(followers().await, (Some(1), 0));
}
