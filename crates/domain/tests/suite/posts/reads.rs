//! Posts by id and author, and their counters.

use roundtable_domain::{PageInput, PostError, PostViewerState};
use roundtable_model::entities::PostCounter;
use roundtable_model::table::Order::{Ascending, Descending};
use roundtable_model::{Entity, ModerationStatus, PostId, UserStatus};
use roundtable_testkit::Town;

use super::{HIDDEN, first, run, texts};

/// R27: several posts in the order given.
#[tokio::test]
async fn several_posts_are_returned_in_order() {
    let town = Town::of(["ana", "bo"]).await;
    let one = town.post("ana", "one").await;
    let two = town.post("bo", "two").await;
    let three = town.post("ana", "three").await;
    town.set_post_status(&three.id, ModerationStatus::Rejected).await;
    let none: PostId = "none".parse().unwrap();
    let ids = [two.id.clone(), none, three.id, one.id.clone(), two.id.clone()];
    let contents = async |viewer| -> Vec<Option<String>> {
        let found = town.posts().posts(viewer, &ids).await.unwrap();
        found.into_iter().map(|post| post.map(|post| post.content)).collect()
    };
    let some = |text: &str| Some(text.to_owned());
    let all = [some("two"), None, None, some("one"), some("two")];
    assert_eq!(contents(None).await, all);
    let own = [some("two"), None, some("three"), some("one"), some("two")];
    let ana = town.caller("ana");
    assert_eq!(contents(Some(&ana)).await, own);
    town.set_status("bo", UserStatus::Suspended).await;
    assert_eq!(contents(None).await, [None, None, None, some("one"), None]);
}

/// R27, R30: a user's posts, in both orders, as far as each viewer may see them.
#[tokio::test]
async fn a_users_posts_are_filtered_by_visibility() {
    let town = Town::of(["ana", "friend", "stranger", "blocked", "mo"]).await;
    town.follow("friend", "ana").await;
    town.block("ana", "blocked").await;
    let group = town.create_private_group("ana", "runners").await;
    for n in 0..6 {
        town.post("ana", &format!("{n}")).await;
        town.post_into("ana", &group, &format!("{n} inside")).await;
    }
    let hidden = town.post("ana", "hidden").await;
    let posts = town.posts();
    let ana = town.id("ana");
    for status in HIDDEN {
        town.set_post_status(&hidden.id, status).await;
        let friend = Some(town.caller("friend"));
        let visible =
            run(2, async |page| posts.by(friend.as_ref(), &ana, Ascending, page).await).await;
        assert_eq!(visible, ["0", "1", "2", "3", "4", "5"]);
        let visible = run(4, async |page| posts.by(None, &ana, Descending, page).await).await;
        assert_eq!(visible, ["5", "4", "3", "2", "1", "0"]);
        for all in [town.caller("ana"), town.mo()] {
            let visible =
                run(5, async |page| posts.by(Some(&all), &ana, Ascending, page).await).await;
            assert_eq!(visible.len(), 13);
        }
    }
    let blocked = posts.by(Some(&town.caller("blocked")), &ana, Ascending, &first(9)).await;
    assert!(matches!(blocked, Err(PostError::NoSuchUser)));
    // A private account's posts are for its accepted followers; group posts are for members.
    town.set_private("ana", true).await;
    let stranger = posts.by(Some(&town.caller("stranger")), &ana, Ascending, &first(9)).await;
    assert!(matches!(stranger, Err(PostError::NoSuchUser)));
    let friend = posts.by(Some(&town.caller("friend")), &ana, Ascending, &first(9)).await.unwrap();
    assert_eq!(texts(friend).len(), 6);
    town.set_status("ana", UserStatus::Deleted).await;
    let deleted = posts.by(None, &ana, Ascending, &first(9)).await;
    assert!(matches!(deleted, Err(PostError::NoSuchUser)));
}

/// R27: summaries with counters, for viewers who may see the posts.
#[tokio::test]
async fn statistics_require_seeing_the_post() {
    let town = Town::of(["ana", "bo"]).await;
    let (one, two) = (town.post("ana", "one").await, town.post("ana", "two").await);
    let zero = PostCounter::zero(one.id.clone());
    let counter = PostCounter { likes: 3, comments: 2, shares: 1, score: 14, ..zero };
    town.context().core().table().put(counter.create()).await.unwrap();
    let ids = [one.id.clone(), two.id.clone()];
    let posts = town.posts();
    let stats = posts.stats(None, &ids).await.unwrap();
    let [Some(first), Some(second)] = stats.as_slice() else { panic!("{stats:?}") };
    assert_eq!((first.post.content.as_str(), first.counter.clone()), ("one", counter.clone()));
    assert_eq!((second.counter.likes, second.counter.score), (0, 0));
    let counters = posts.counters(&ids).await.unwrap();
    assert_eq!((counters[0].clone(), counters[1].post_id.clone()), (counter, two.id.clone()));
    town.block("ana", "bo").await;
    let stats = posts.stats(Some(&town.caller("bo")), &ids).await.unwrap();
    assert_eq!(stats, [None, None]);
    posts.delete(&town.caller("ana"), &one.id, None).await.unwrap();
    let stats = posts.stats(Some(&town.caller("ana")), &ids).await.unwrap();
    assert!(stats[0].is_none() && stats[1].is_some());
}

/// R27: the caller's own likes and shares.
#[tokio::test]
async fn viewer_states_are_the_callers_own() {
    let town = Town::of(["ana", "bo"]).await;
    let (one, two) = (town.post("ana", "one").await, town.post("ana", "two").await);
    town.like("bo", &one.id).await;
    town.share("bo", &two.id).await;
    let ids = [one.id, two.id, "none".parse().unwrap()];
    let marks = town.posts().viewer_states(&town.caller("bo"), &ids).await.unwrap();
    let (liked, shared) = (
        PostViewerState { liked: true, shared: false },
        PostViewerState { liked: false, shared: true },
    );
    assert_eq!(marks, [liked, shared, PostViewerState::default()]);
    let none = town.posts().viewer_states(&town.caller("ana"), &ids).await.unwrap();
    assert_eq!(none, [PostViewerState::default(); 3]);
}

/// R30: a list reports whether more follows.
#[tokio::test]
async fn the_last_page_is_known_to_be_the_last() {
    let town = Town::of(["ana"]).await;
    for n in 0..4 {
        town.post("ana", &format!("{n}")).await;
    }
    let (posts, ana) = (town.posts(), town.id("ana"));
    let page = posts.by(None, &ana, Ascending, &first(4)).await.unwrap();
    assert_eq!(page.next, None);
    let page = posts.by(None, &ana, Ascending, &first(3)).await.unwrap();
    let last = PageInput { limit: Some(3), after: page.next };
    let page = posts.by(None, &ana, Ascending, &last).await.unwrap();
    assert_eq!((page.next.clone(), texts(page)), (None, vec![String::from("3")]));
}
