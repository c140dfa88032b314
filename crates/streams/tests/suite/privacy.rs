//! Accounts that become private, and their posts in public lists.

use roundtable_model::{Days, Shards};
use roundtable_testkit::Town;

/// The number of posts in the public list.
async fn listed(town: &Town) -> usize {
    let today = Days::only(town.now().day());
    let page = town.context().core().timeline(today, Shards::ONE).page().await.unwrap();
    page.items.len()
}

/// R26: public lists lose the posts of an account that becomes private, and get them back.
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
    // Changing twice before the job runs leaves everything as it was.
    town.set_private("ana", true).await;
    town.set_private("ana", false).await;
    town.settle().await;
    assert_eq!(listed(&town).await, 4);
}

#[tokio::test]
async fn many_posts_are_updated_page_by_page() {
    let town = Town::of(["ana"]).await;
    for number in 0..130 {
        town.post("ana", &format!("number {number}")).await;
    }
    town.set_private("ana", true).await;
    let runner = town.runner();
    runner.drain().await.unwrap();
    assert_eq!(listed(&town).await, 0);
    let queues = runner.metrics().queues;
    assert_eq!((queues[0].queue.as_str(), queues[0].pages), ("privacy", 2));
}
