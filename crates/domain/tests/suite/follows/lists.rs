//! Follow lists, as each viewer may see them (R22, R30, I9).

use std::sync::Arc;

use roundtable_domain::{FollowError, Follows, Page, PageInput};
use roundtable_model::entities::Follow;
use roundtable_model::table::Recorder;
use roundtable_model::{Entity, UserId};
use roundtable_testkit::Town;

/// Reads all pages of a list; every page but the last one must be full.
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

/// R22, R30: in order, in full pages although some follows are hidden; requests are not listed.
#[tokio::test]
async fn followees_are_listed_in_pages() {
    let town = Town::of(["ana", "viewer", "hidden"]).await;
    let names: Vec<String> = (0..9).map(|number| format!("p{number}")).collect();
    for name in &names {
        town.add_user(name, |_| {}).await;
    }
    town.add_user("private", |person| person.is_private = true).await;
    for name in names.iter().rev().map(String::as_str).chain(["hidden", "private"]) {
        town.follow("ana", name).await;
    }
    town.block("hidden", "viewer").await;
    let (follows, ana, viewer) = (town.follows(), town.id("ana"), town.caller("viewer"));
    for limit in [1, 2, 9, 100] {
        let visible = async |viewer| {
            run(
                limit,
                |edge| &edge.followee_id,
                async |page| follows.following(viewer, &ana, page).await,
            )
            .await
        };
        assert_eq!(visible(Some(&viewer)).await, names, "{limit}");
        assert_eq!(visible(None).await.first().map(String::as_str), Some("hidden"), "{limit}");
    }
    town.set_private("ana", true).await;
    let closed = follows.following(Some(&viewer), &ana, &PageInput::first()).await;
    assert!(matches!(closed, Err(FollowError::NoSuchUser)));
}

/// R22, I9: `is_following` reveals what the list of either user shows.
#[tokio::test]
async fn is_following_matches_the_visible_lists() {
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
    // Her own list is hidden, and his still shows her.
    town.set_private("ana", true).await;
    assert_eq!(asked(&ana, &bo).await, [true; 5]);
    let fans = follows.followers(None, &bo, &PageInput::first()).await.unwrap();
    assert_eq!(fans.items.len(), 1);
    town.set_private("bo", true).await;
    assert_eq!(asked(&ana, &bo).await, [false, false, true, true, true]);
    town.block("bo", "friend").await;
    assert_eq!(asked(&ana, &bo).await, [false, false, false, true, true]);
}

/// R22: which of many users follow the caller, in the order given, in one batch.
#[tokio::test]
async fn followed_by_answers_a_batch() {
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

/// R22: the follows of a day, newest first, in pages; only between users whose lists the viewer may
/// see, and an accepted request counts on the day it is accepted.
#[tokio::test]
async fn follows_of_a_day_are_listed() {
    let town = Town::of(["ana", "bo", "cleo", "viewer"]).await;
    town.add_user("private", |person| person.is_private = true).await;
    let monday = town.now().day();
    for (follower, followee) in [("ana", "bo"), ("bo", "cleo"), ("cleo", "ana")] {
        town.follow(follower, followee).await;
        town.advance_ms(1_000);
    }
    town.follow("ana", "private").await;
    town.advance_ms(24 * 60 * 60 * 1_000);
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
    assert_eq!(on(Some("viewer"), tuesday).await, ["ana"], "the other is not public");
    assert_eq!(on(Some("private"), tuesday).await.len(), 2);
    town.block("bo", "viewer").await;
    assert_eq!(on(Some("viewer"), monday).await, ["cleo"]);
    town.follows().unfollow(&town.caller("cleo"), &ana, None).await.unwrap();
    assert_eq!(on(None, monday).await, ["bo", "ana"]);
}

/// R30: a viewer who may see almost nothing of a list does not read all of it for one page: the
/// page ends early, and the next one continues.
#[tokio::test]
async fn a_mostly_hidden_list_is_read_in_parts() {
    let town = Town::of(["ana", "zoe"]).await;
    let edge = town.follow("ana", "zoe").await;
    let table = town.context().core().table();
    for number in 0..4_500 {
        // This user no longer exists.
        let deleted =
            Follow { followee_id: format!("gone{number:04}").parse().unwrap(), ..edge.clone() };
        table.put(deleted.create()).await.unwrap();
    }
    let reads = Arc::new(Recorder::default());
    let follows = Follows::new(town.context().observed(reads.clone()));
    let (mut page, mut visible, mut pages) = (PageInput::first(), Vec::new(), 0);
    loop {
        let found = follows.following(None, &town.id("ana"), &page).await.unwrap();
        let listed = reads.take().into_iter().filter(|read| read.pattern == Some("following"));
        let looked: usize = listed.map(|read| read.items).sum();
        assert!(looked < 2_500, "{looked}");
        page.after.clone_from(&found.next);
        visible.extend(found.into_items());
        pages += 1;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!((visible, pages), (vec![edge], 3));
}
