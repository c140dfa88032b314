//! Posts by tag.

use roundtable_domain::{NewPost, Settings, ShardCount, ShardSettings};
use roundtable_model::table::Order::{Ascending, Descending};
use roundtable_model::{Shards, Tag, Visibility};
use roundtable_testkit::Town;

use super::{HIDDEN, first, run, texts};

/// R26, R30: in both orders, however the tag is spelled, over shards, each post once.
#[tokio::test]
async fn posts_are_found_by_tag() {
    let shards =
        ShardSettings { tags: ShardCount(Shards::new(3).unwrap()), ..ShardSettings::default() };
    let town = Town::with(Settings { shards, ..Town::settings() }, ["ana"]).await;
    let mut written = Vec::new();
    for n in 0..10 {
        let content = format!("{n} #{}", if n % 2 == 0 { "Running" } else { "running" });
        town.post("ana", &content).await;
        town.post("ana", &format!("{n} #other")).await;
        written.push(content);
    }
    let posts = town.posts();
    for spelling in ["running", "RUNNING", "#running"] {
        let tag: Tag = spelling.parse().unwrap();
        let found = run(3, async |page| posts.tagged(None, &tag, Ascending, page).await).await;
        assert_eq!(found, written);
    }
    let tag: Tag = "running".parse().unwrap();
    let found = run(4, async |page| posts.tagged(None, &tag, Descending, page).await).await;
    assert_eq!(found, written.into_iter().rev().collect::<Vec<_>>());
}

/// R26: a search by tag omits hidden posts, and pages are full.
#[tokio::test]
async fn hidden_posts_are_not_found_by_tag() {
    let town = Town::of(["ana", "friend"]).await;
    town.follow("friend", "ana").await;
    for n in 0..12 {
        let visibility = [Visibility::Public, Visibility::Followers, Visibility::Private][n % 3];
        let input = NewPost { visibility: Some(visibility), ..NewPost::text(format!("{n} #tag")) };
        town.post_as("ana", input).await;
    }
    let (posts, tag) = (town.posts(), "tag".parse().unwrap());
    let stranger = run(3, async |page| posts.tagged(None, &tag, Ascending, page).await).await;
    assert_eq!(stranger, ["0 #tag", "3 #tag", "6 #tag", "9 #tag"]);
    let friend = town.caller("friend");
    let friend = run(3, async |page| posts.tagged(Some(&friend), &tag, Ascending, page).await);
    assert_eq!(friend.await.len(), 8);
    let first_post = posts.tagged(None, &tag, Ascending, &first(1)).await.unwrap().into_items();
    for status in HIDDEN {
        town.set_post_status(&first_post[0].id, status).await;
        let visible = posts.tagged(None, &tag, Ascending, &first(9)).await.unwrap();
        assert_eq!(texts(visible), ["3 #tag", "6 #tag", "9 #tag"]);
    }
}
