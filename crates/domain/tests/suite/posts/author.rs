//! Posts after their author's account becomes private.

use roundtable_model::table::Order::Descending;
use roundtable_testkit::Town;

use super::{first, texts};

/// R18, R26: the posts of a private account leave all public lists, and return with it.
#[tokio::test]
async fn posts_follow_their_author_into_privacy_and_back() {
    let town = Town::of(["ana", "bo"]).await;
    for n in 0..3 {
        town.post("ana", &format!("{n}")).await;
    }
    let deleted = town.post("ana", "deleted").await;
    town.posts().delete(&town.caller("ana"), &deleted.id, None).await.unwrap();
    town.post("bo", "bo's").await;
    let (posts, ana) = (town.posts(), town.id("ana"));
    let timeline = async || {
        let page = posts.global(None, None, None, Descending, &first(9)).await.unwrap();
        texts(page)
    };
    town.set_private("ana", true).await;
    assert_eq!(timeline().await, ["bo's"], "hidden at once, before any processor ran");
    for _ in 0..2 {
        assert_eq!(posts.set_author_private(&ana, true, None).await.unwrap(), None);
        let day = town.now().day();
        let listed = town
            .context()
            .core()
            .timeline(roundtable_model::Days::only(day), roundtable_model::Shards::ONE);
        assert_eq!(listed.page().await.unwrap().items.len(), 1, "the index has let them go");
    }
    town.post("ana", "private from the start").await;
    assert_eq!(timeline().await, ["bo's"]);
    // Repeating an old change has no effect.
    assert_eq!(posts.set_author_private(&ana, false, None).await.unwrap(), None);
    assert_eq!(timeline().await, ["bo's"]);
    town.set_private("ana", false).await;
    posts.set_author_private(&ana, false, None).await.unwrap();
    assert_eq!(timeline().await, ["private from the start", "bo's", "2", "1", "0"]);
}

/// R18: any number of posts, page by page.
#[tokio::test]
async fn many_posts_are_updated_page_by_page() {
    let town = Town::of(["ana"]).await;
    for n in 0..250 {
        town.post("ana", &format!("{n}")).await;
    }
    town.set_private("ana", true).await;
    let (posts, ana) = (town.posts(), town.id("ana"));
    let (mut after, mut pages) = (None, 0);
    loop {
        after = posts.set_author_private(&ana, true, after).await.unwrap();
        pages += 1;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(pages, 3);
    let days = roundtable_model::Days::only(town.now().day());
    let listed = town.context().core().timeline(days, roundtable_model::Shards::ONE);
    assert!(listed.page().await.unwrap().items.is_empty());
}
