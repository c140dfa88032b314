//! Profiles by every name they have, and what is counted of people (R8, R21, R39).

use roundtable_domain::{Caller, Counts};
use roundtable_model::entities::{Block, User, UserCounter};
use roundtable_model::{Entity, Role, Shard, Shards, UserCount, UserStatus};
use roundtable_testkit::Town;

async fn block(town: &Town, blocker: &str, blocked: &str) {
    let (blocker_id, blocked_id) = (town.id(blocker), town.id(blocked));
    let block = Block { blocker_id, blocked_id, created_at: town.now() };
    town.ground().core().table().put(block.create()).await.unwrap();
}

/// R21: by id, nickname, username and handle, in any spelling.
#[tokio::test]
async fn people_are_found_by_every_name() {
    let town = Town::of([]).await;
    town.move_in("ana", |ana| ana.handle = "ana.f".parse().ok()).await;
    let accounts = town.accounts();
    let ana = Some(town.id("ana"));
    let id = |found: Option<User>| found.map(|user| user.id);
    assert_eq!(id(accounts.user(None, &town.id("ana")).await.unwrap()), ana);
    let nickname = "ANA".parse().unwrap();
    assert_eq!(id(accounts.by_nickname(None, &nickname).await.unwrap()), ana);
    assert_eq!(id(accounts.by_username(None, &nickname).await.unwrap()), ana);
    let handle = "Ana.F".parse().unwrap();
    assert_eq!(id(accounts.by_handle(None, &handle).await.unwrap()), ana);
    let nobody = "nobody".parse().unwrap();
    assert_eq!(accounts.by_nickname(None, &nobody).await.unwrap(), None);
    assert_eq!(accounts.by_handle(None, &"nobody".parse().unwrap()).await.unwrap(), None);
    assert_eq!(accounts.user(None, &town.id("nobody")).await.unwrap(), None);
}

/// R21: an e-mail address is for its owner and for admins, to show and to search by.
#[tokio::test]
async fn an_address_is_nobody_elses_business() {
    let town = Town::of(["ana", "bo", "mo", "root"]).await;
    let accounts = town.accounts();
    let moderator = town.employ("mo", Role::Moderator).await;
    let admin = town.employ("root", Role::Admin).await;
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
        let nobody = accounts.by_email(viewer, &town.email("nobody")).await.unwrap();
        assert_eq!(nobody, None);
    }
    let me = accounts.me(&ana).await.unwrap().unwrap();
    assert_eq!(me.email, Some(town.email("ana")));
}

/// Whoever may not be seen is like somebody who is not there.
#[tokio::test]
async fn who_may_not_be_seen_is_not_there() {
    let town = Town::of(["ana", "bo", "cleo", "root"]).await;
    let accounts = town.accounts();
    block(&town, "bo", "ana").await;
    town.move_in("dan", |dan| dan.status = UserStatus::Suspended).await;
    town.move_in("eve", |eve| eve.status = UserStatus::Deleted).await;
    let (ana, bo) = (town.caller("ana"), town.caller("bo"));
    let ids = ["ana", "bo", "cleo", "dan", "eve"].map(|name| town.id(name));
    let seen = async |viewer: Option<&Caller>| {
        let people = accounts.people(viewer, &ids).await.unwrap();
        let counts = accounts.counts(viewer, &ids).await.unwrap();
        let seen = people.iter().map(Option::is_some).collect::<Vec<_>>();
        assert_eq!(seen, counts.iter().map(Option::is_some).collect::<Vec<_>>());
        seen
    };
    assert_eq!(seen(None).await, [true, true, true, false, false]);
    assert_eq!(seen(Some(&ana)).await, [true, false, true, false, false]);
    assert_eq!(seen(Some(&bo)).await, [false, true, true, false, false]);
    let nickname = "bo".parse().unwrap();
    assert_eq!(accounts.by_nickname(Some(&ana), &nickname).await.unwrap(), None);
    let admin = town.employ("root", Role::Admin).await;
    assert_eq!(seen(Some(&admin)).await, [true, true, true, true, false]);
}

/// R8, R39: all shards of the followers add up.
#[tokio::test]
async fn people_are_counted() {
    let town = Town::of(["ana", "bo"]).await;
    town.move_in("star", |star| star.follower_shards = Shards::new(3).unwrap()).await;
    let table = town.ground().core().table();
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
    let star = Counts { followers: 9, xp: 450, ..Counts::default() };
    let ana = Counts { following: 7, posts: 2, ..Counts::default() };
    let expected = [Some(star), Some(Counts::default()), None, Some(ana), Some(star)];
    assert_eq!(counts, expected);
    assert_eq!((star.level(), ana.level()), (3, 1));
}
