//! Posts by popularity.

use roundtable_domain::{PageInput, Settings, ShardCount, ShardSettings};
use roundtable_model::entities::Post;
use roundtable_model::{Entity, ModerationStatus, PostId, Score, Shards, UserStatus};
use roundtable_testkit::Town;

use super::{first, run, texts};

/// Posts with these scores, over some shards.
async fn scored(scores: &[u64]) -> (Town, Vec<PostId>) {
    let shards =
        ShardSettings { posts: ShardCount(Shards::new(4).unwrap()), ..ShardSettings::default() };
    let town = Town::with(Settings { shards, ..Town::settings() }, ["ana"]).await;
    let mut ids = Vec::new();
    for score in scores {
        let post = town.post("ana", &format!("{score}")).await;
        town.set_score(&post.id, *score).await;
        ids.push(post.id);
    }
    (town, ids)
}

/// R26, R30: by score, each once.
#[tokio::test]
async fn the_most_popular_come_first() {
    let (town, ids) = scored(&[30, 1000, 20, 999, 10, 40]).await;
    let posts = town.posts();
    for limit in [1, 2, 20] {
        let all = run(limit, async |page| posts.popular(None, page).await).await;
        assert_eq!(all, ["1000", "999", "40", "30", "20", "10"]);
    }
    town.set_post_status(&ids[1], ModerationStatus::Flagged).await;
    posts.delete(&town.caller("ana"), &ids[3], None).await.unwrap();
    let left = run(2, async |page| posts.popular(None, page).await).await;
    assert_eq!(left, ["40", "30", "20", "10"]);
}

/// R26, R30: scores change during a run; no post is returned twice.
#[tokio::test]
async fn no_post_is_returned_twice_in_one_run() {
    let (town, ids) = scored(&[90, 80, 70, 60, 50, 40]).await;
    let posts = town.posts();
    let page = posts.popular(None, &first(2)).await.unwrap();
    let after = PageInput { limit: Some(2), after: page.next.clone() };
    assert_eq!(texts(page), ["90", "80"]);
    // A returned post falls, another climbs, and one falls further.
    town.set_score(&ids[0], 45).await;
    town.set_score(&ids[4], 100).await;
    town.set_score(&ids[2], 55).await;
    let page = posts.popular(None, &after).await.unwrap();
    let after = PageInput { limit: Some(2), after: page.next.clone() };
    assert_eq!(texts(page), ["60", "70"]);
    let page = posts.popular(None, &after).await.unwrap();
    assert_eq!(page.next, None);
    assert_eq!(texts(page), ["40"], "not the one that fell, which was shown");
    // A new run uses the current scores.
    let all = run(2, async |page| posts.popular(None, page).await).await;
    assert_eq!(all, ["50", "80", "60", "70", "90", "40"]);
}

/// R30: a cursor from the middle of a page contains the posts up to there, and no more.
#[tokio::test]
async fn every_cursor_of_a_page_continues_after_its_post() {
    let (town, ids) = scored(&[90, 80, 70, 60]).await;
    let posts = town.posts();
    let page = posts.popular(None, &first(3)).await.unwrap();
    let (_, cursor) = page.items[0].clone();
    town.set_score(&ids[0], 65).await;
    let after = PageInput { limit: Some(9), after: Some(cursor) };
    assert_eq!(texts(posts.popular(None, &after).await.unwrap()), ["80", "70", "60"]);
}

/// R30: where most posts are hidden from the viewer, a page is short and the next one continues
/// without duplicates.
#[tokio::test]
async fn a_run_continues_after_an_empty_page() {
    let (town, ids) = scored(&[50, 40]).await;
    town.add_user("rude", |_| {}).await;
    let hidden = town.post("rude", "hidden").await;
    let table = town.context().core().table();
    for number in 0..2_500 {
        let id = format!("hidden{number:04}").parse().unwrap();
        let post = Post { id, score: Some(Score::new(45)), ..hidden.clone() };
        table.put(post.create()).await.unwrap();
    }
    town.set_status("rude", UserStatus::Suspended).await;
    let posts = town.posts();
    let one = posts.popular(None, &first(2)).await.unwrap();
    let after = PageInput { limit: Some(2), after: one.next.clone() };
    assert_eq!(texts(one), ["50"]);
    town.set_score(&ids[0], 30).await;
    let two = posts.popular(None, &after).await.unwrap();
    assert_eq!(two.next, None);
    assert_eq!(texts(two), ["40"], "not the one that fell, which was shown");
}
