//! Accounts that turn private, and what lists for everybody show of them.

use roundtable_model::{Days, Shards};
use roundtable_testkit::Town;

/// How many posts the list for everybody has, whoever may see them.
async fn listed(town: &Town) -> usize {
    let today = Days::only(town.now().day());
    let page = town.ground().core().timeline(today, Shards::ONE).page().await.unwrap();
    page.items.len()
}

/// R26: lists for everybody lose the posts of who turns private, and get them back.
#[tokio::test]
async fn posts_follow_their_author_into_privacy_and_back() {
    let town = Town::of(["ana", "bo"]).await;
    for text in ["one", "two", "three"] {
        town.post("ana", text).await;
    }
    town.post("bo", "hello").await;
    town.settle().await;
    town.set_private("ana", true).await;
    town.settle().await;
    assert_eq!(listed(&town).await, 1);
    town.set_private("ana", false).await;
    town.settle().await;
    assert_eq!(listed(&town).await, 4);
    // Turning twice before anybody notices leaves everything as it was.
    town.set_private("ana", true).await;
    town.set_private("ana", false).await;
    town.settle().await;
    assert_eq!(listed(&town).await, 4);
}

/// More posts than one page holds.
#[tokio::test]
async fn many_posts_are_told_page_by_page() {
    let town = Town::of(["ana"]).await;
    for number in 0..130 {
        town.post("ana", &format!("number {number}")).await;
    }
    town.set_private("ana", true).await;
    let runner = town.runner();
    runner.drain().await.unwrap();
    assert_eq!(listed(&town).await, 0);
    let queues = runner.figures().queues;
    assert_eq!((queues[0].queue.as_str(), queues[0].pages), ("privacy", 2));
}
