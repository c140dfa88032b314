//! Who follows whom, as each viewer may see it (R22, R30, I9).

use std::sync::Arc;

use roundtable_domain::{FollowError, Follows, Page, PageInput};
use roundtable_model::entities::Follow;
use roundtable_model::table::Recorder;
use roundtable_model::{Entity, UserId};
use roundtable_testkit::Town;

/// All pages of a list, so many at a time; every page but the last one is full.
async fn run(
    limit: usize,
    end: impl Fn(&Follow) -> &UserId,
    list: impl AsyncFn(&PageInput) -> Result<Page<Follow>, FollowError>,
) -> Vec<String> {
    let (mut all, mut page) = (Vec::new(), PageInput { limit: Some(limit), after: None });
    loop {
        let found = list(&page).await.unwrap();
        page.after.clone_from(&found.next);
        let full = found.items.len() == limit;
        all.extend(found.into_items().iter().map(|edge| end(edge).to_string()));
        if page.after.is_none() {
            return all;
        }
        assert!(full, "a short page that is not the last");
    }
}

/// R22, R30: in order, in pages that are full although some of it is not for the viewer; requests are
/// not follows.
#[tokio::test]
async fn whom_somebody_follows_comes_in_pages() {
    let town = Town::of(["ana", "viewer", "hidden"]).await;
    let names: Vec<String> = (0..9).map(|number| format!("p{number}")).collect();
    for name in &names {
        town.move_in(name, |_| {}).await;
    }
    town.move_in("private", |person| person.is_private = true).await;
    for name in names.iter().rev().map(String::as_str).chain(["hidden", "private"]) {
        town.follow("ana", name).await;
    }
    town.block("hidden", "viewer").await;
    let (follows, ana, viewer) = (town.follows(), town.id("ana"), town.caller("viewer"));
    for limit in [1, 2, 9, 100] {
        let seen = async |viewer| {
            run(
                limit,
                |edge| &edge.followee_id,
                async |page| follows.following(viewer, &ana, page).await,
            )
            .await
        };
        assert_eq!(seen(Some(&viewer)).await, names, "{limit}");
        assert_eq!(seen(None).await.first().map(String::as_str), Some("hidden"), "{limit}");
    }
    town.set_private("ana", true).await;
    let closed = follows.following(Some(&viewer), &ana, &PageInput::first()).await;
    assert!(matches!(closed, Err(FollowError::NoSuchUser)));
}

/// R22, I9: whether one follows the other is told wherever a list tells it, from either end.
#[tokio::test]
async fn does_one_follow_the_other() {
    let town = Town::of(["ana", "bo", "viewer", "friend"]).await;
    town.follow("ana", "bo").await;
    town.follow("friend", "ana").await;
    let (follows, ana, bo) = (town.follows(), town.id("ana"), town.id("bo"));
    let viewers = [None, Some("viewer"), Some("friend"), Some("ana"), Some("bo")];
    let asked = async |from: &UserId, to: &UserId| -> Vec<bool> {
        let mut answers = Vec::new();
        for viewer in viewers {
            let viewer = viewer.map(|name| town.caller(name));
            answers.push(follows.is_following(viewer.as_ref(), from, to).await.unwrap());
        }
        answers
    };
    assert_eq!(asked(&ana, &bo).await, [true; 5]);
    assert_eq!(asked(&bo, &ana).await, [false; 5]);
    // Her own list is closed, and his still shows her.
    town.set_private("ana", true).await;
    assert_eq!(asked(&ana, &bo).await, [true; 5]);
    let fans = follows.followers(None, &bo, &PageInput::first()).await.unwrap();
    assert_eq!(fans.items.len(), 1);
    town.set_private("bo", true).await;
    assert_eq!(asked(&ana, &bo).await, [false, false, true, true, true]);
    town.block("bo", "friend").await;
    assert_eq!(asked(&ana, &bo).await, [false, false, false, true, true]);
}

/// R22: which of many people follow the caller, each in its place, all asked for at once.
#[tokio::test]
async fn who_of_them_follows_me() {
    let town = Town::of(["ana", "bo", "cleo", "blocked", "me"]).await;
    for name in ["ana", "blocked"] {
        town.follow(name, "me").await;
    }
    town.set_private("me", true).await;
    town.follow("bo", "me").await;
    town.follow("me", "cleo").await;
    let me = town.caller("me");
    let asked: Vec<UserId> =
        ["cleo", "ana", "bo", "nobody", "blocked", "ana"].map(|name| town.id(name)).into();
    let follows = town.follows();
    let answers = follows.followed_by(&me, &asked).await.unwrap();
    assert_eq!(answers, [false, true, false, false, true, true]);
    town.block("blocked", "me").await;
    let answers = follows.followed_by(&me, &asked).await.unwrap();
    assert_eq!(answers, [false, true, false, false, false, true]);
    assert!(follows.followed_by(&me, &[]).await.unwrap().is_empty());
}

/// R22: who followed whom on a day, newest first, in pages; only between people whom the viewer may
/// look into, and a request is no follow until it is accepted, on the day it is.
#[tokio::test]
async fn who_followed_whom_on_a_day() {
    let town = Town::of(["ana", "bo", "cleo", "viewer"]).await;
    town.move_in("private", |person| person.is_private = true).await;
    let monday = town.now().day();
    for (follower, followee) in [("ana", "bo"), ("bo", "cleo"), ("cleo", "ana")] {
        town.follow(follower, followee).await;
        town.pass_ms(1_000);
    }
    town.follow("ana", "private").await;
    town.pass_ms(24 * 60 * 60 * 1_000);
    let tuesday = town.now().day();
    town.follow("ana", "cleo").await;
    let follows = town.follows();
    let (private, ana) = (town.caller("private"), town.id("ana"));
    follows.accept(&private, &ana, None).await.unwrap();
    let on = async |viewer: Option<&str>, day| {
        let viewer = viewer.map(|name| town.caller(name));
        run(
            2,
            |edge| &edge.follower_id,
            async |page| follows.activity_of(viewer.as_ref(), day, page).await,
        )
        .await
    };
    assert_eq!(on(None, monday).await, ["cleo", "bo", "ana"]);
    assert_eq!(on(Some("viewer"), tuesday).await, ["ana"], "the other is not for everybody");
    assert_eq!(on(Some("private"), tuesday).await.len(), 2);
    town.block("bo", "viewer").await;
    assert_eq!(on(Some("viewer"), monday).await, ["cleo"]);
    town.follows().unfollow(&town.caller("cleo"), &ana, None).await.unwrap();
    assert_eq!(on(None, monday).await, ["bo", "ana"]);
}

/// R30: somebody who may see almost nothing of a list does not read all of it for one page: it ends
/// early, and the next one goes on from there.
#[tokio::test]
async fn a_long_list_of_strangers_is_read_in_parts() {
    let town = Town::of(["ana", "zoe"]).await;
    let edge = town.follow("ana", "zoe").await;
    let table = town.ground().core().table();
    for number in 0..4_500 {
        // Nobody is called so any more.
        let gone =
            Follow { followee_id: format!("gone{number:04}").parse().unwrap(), ..edge.clone() };
        table.put(gone.create()).await.unwrap();
    }
    let reads = Arc::new(Recorder::default());
    let follows = Follows::new(town.ground().observed(reads.clone()));
    let (mut page, mut seen, mut pages) = (PageInput::first(), Vec::new(), 0);
    loop {
        let found = follows.following(None, &town.id("ana"), &page).await.unwrap();
        let listed = reads.take().into_iter().filter(|read| read.pattern == Some("following"));
        let looked: usize = listed.map(|read| read.items).sum();
        assert!(looked < 2_500, "{looked}");
        page.after.clone_from(&found.next);
        seen.extend(found.into_items());
        pages += 1;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!((seen, pages), (vec![edge], 3));
}
