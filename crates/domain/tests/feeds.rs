//! Home feeds, as readers see them.

use roundtable_domain::{FeedEntry, Feeds, Page, PageInput};
use roundtable_testkit::Town;

/// What a page says, one preview a line.
fn said(page: &Page<FeedEntry>) -> Vec<String> {
    let preview = |entry: &FeedEntry| entry.activity.preview_text.clone().unwrap_or_default();
    page.items.iter().map(|(entry, _)| preview(entry)).collect()
}

/// R25: what those one follows did, what oneself did, and nothing else, newest first.
#[tokio::test]
async fn a_home_feed_has_what_those_one_follows_did() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.follow("ana", "bo").await;
    for (who, text) in [("bo", "one"), ("cleo", "two"), ("ana", "three"), ("bo", "four")] {
        town.post(who, text).await;
        town.pass_ms(10);
    }
    let feeds = Feeds::new(town.ground().clone());
    let page = feeds.home(&town.caller("ana"), &PageInput::first()).await.unwrap();
    assert_eq!(said(&page), ["four", "three", "one"]);
    assert_eq!(page.next, None);
}
