//! Home feeds in the order of rank (R52).

use roundtable_domain::{
    Caller, Code, FeedEntry, FeedSettings, Feeds, Page, PageInput, Refusal, Settings,
};
use roundtable_model::entities::PostCounter;
use roundtable_model::{Entity, PostId};
use roundtable_testkit::Town;

const HOUR_MS: u64 = 60 * 60 * 1_000;

fn feeds_of(town: &Town) -> Feeds {
    Feeds::new(town.context().clone(), &town.new_bus())
}

fn texts(page: &Page<FeedEntry>) -> Vec<String> {
    let text = |entry: &FeedEntry| entry.activity.preview_text.clone().unwrap_or_default();
    page.items.iter().map(|(entry, _)| text(entry)).collect()
}

/// Writes the score of a post, as if it had been counted.
async fn set_score(town: &Town, post: &PostId, score: u64) {
    let counter = PostCounter { score, ..PostCounter::zero(post.clone()) };
    town.context().core().table().put(counter.put()).await.unwrap();
}

/// A post by Bo with a score, an hour after the one before.
async fn scored(town: &Town, text: &str, score: u64) -> PostId {
    town.advance_ms(HOUR_MS);
    let id = town.post("bo", text).await.id;
    set_score(town, &id, score).await;
    id
}

/// Reads on from a page to the end; returns all texts.
async fn walk(feeds: &Feeds, caller: &Caller, first: Page<FeedEntry>, size: usize) -> Vec<String> {
    let (mut all, mut after) = (texts(&first), first.next);
    while after.is_some() {
        let input = PageInput { limit: Some(size), after: after.take() };
        let page = feeds.top(caller, &input).await.unwrap();
        all.extend(texts(&page));
        after.clone_from(&page.next);
    }
    all
}

/// R52: entries of the window by engagement reduced by age; of equal rank, the newest first.
#[tokio::test]
async fn the_feed_is_ordered_by_rank_within_the_window() {
    let feed = FeedSettings { top_hours: 5, ..FeedSettings::default() };
    let town = Town::with(Settings { feed, ..Town::settings() }, ["ana", "bo", "cleo"]).await;
    town.follow("ana", "bo").await;
    for (text, score) in
        [("too old", 900), ("loved", 90), ("liked", 9), ("quiet", 0), ("new and liked", 9)]
    {
        scored(&town, text, score).await;
    }
    town.post("cleo", "of a stranger").await;
    town.post("ana", "my own").await;
    town.advance_ms(HOUR_MS + HOUR_MS / 2);
    let feeds = feeds_of(&town);
    let page = feeds.top(&town.caller("ana"), &PageInput::first()).await.unwrap();
    assert_eq!(texts(&page), ["loved", "new and liked", "liked", "my own", "quiet"]);
    assert_eq!(page.next, None);
}

/// R52, R30: a walk through the pages follows the order of its first page, whatever happens to the
/// ranks meanwhile, while another walk has an order of its own.
#[tokio::test]
async fn a_walk_keeps_the_order_of_its_first_page() {
    let town = Town::of(["ana", "bo"]).await;
    town.follow("ana", "bo").await;
    let (feeds, ana) = (feeds_of(&town), town.caller("ana"));
    let mut posts = Vec::new();
    for n in 0..7 {
        posts.push(scored(&town, &format!("post {n}"), n * 100).await);
    }
    for size in [1, 2, 3, 100] {
        for (n, post) in (0..).zip(&posts) {
            set_score(&town, post, n * 100).await;
        }
        let first = PageInput { limit: Some(size), after: None };
        let first = feeds.top(&ana, &first).await.unwrap();
        let expected: Vec<String> = (0..7).rev().map(|n| format!("post {n}")).collect();
        assert_eq!(texts(&first), expected[..size.min(7)]);
        for (n, post) in (0_u32..).zip(&posts) {
            // More than age takes away.
            set_score(&town, post, 10_u64.pow(9 - n)).await;
        }
        let other = feeds_of(&town).top(&ana, &PageInput::first()).await.unwrap();
        assert_eq!(texts(&other)[0], "post 0", "the other walk begins now");
        assert_eq!(walk(&feeds, &ana, first, size).await, expected, "{size}");
    }
}

/// R52, I9: what has been hidden since is not shown, and pages are filled up from what follows.
#[tokio::test]
async fn pages_by_rank_show_the_present() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.follow("ana", "bo").await;
    town.follow("ana", "cleo").await;
    let (feeds, ana) = (feeds_of(&town), town.caller("ana"));
    let mut posts = Vec::new();
    for n in 0..6 {
        posts.push(scored(&town, &format!("post {n}"), n * 100).await);
    }
    town.post("cleo", "of cleo").await;
    let first = PageInput { limit: Some(2), after: None };
    let first = feeds.top(&ana, &first).await.unwrap();
    assert_eq!(texts(&first), ["post 5", "post 4"]);
    town.posts().delete(&town.caller("bo"), &posts[3], None).await.unwrap();
    town.block("cleo", "ana").await;
    let second = PageInput { limit: Some(2), after: first.next };
    let second = feeds.top(&ana, &second).await.unwrap();
    assert_eq!(texts(&second), ["post 2", "post 1"]);
    assert_eq!(walk(&feeds, &ana, second, 2).await, ["post 2", "post 1", "post 0"]);
}

/// R52: an order is stored for an hour and for its reader; a cursor of another order is refused.
#[tokio::test]
async fn a_cursor_by_rank_is_for_its_reader_and_for_an_hour() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.follow("ana", "bo").await;
    for n in 0..3 {
        scored(&town, &format!("post {n}"), n).await;
    }
    let (feeds, ana) = (feeds_of(&town), town.caller("ana"));
    let one = |after| PageInput { limit: Some(1), after };
    let first = feeds.top(&ana, &one(None)).await.unwrap();
    let by_time = feeds.home(&ana, &one(None)).await.unwrap();
    let refused = async |caller: &Caller, after| {
        feeds.top(caller, &one(after)).await.unwrap_err().code() == Code::BadRequest
    };
    assert!(refused(&town.caller("cleo"), first.next.clone()).await);
    assert!(refused(&ana, by_time.next).await);
    assert_eq!(
        feeds.home(&ana, &one(first.next.clone())).await.unwrap_err().code(),
        Code::BadRequest
    );
    town.advance_ms(HOUR_MS - 1_000);
    assert!(feeds.top(&ana, &one(first.next.clone())).await.is_ok());
    town.advance_ms(2_000);
    assert!(refused(&ana, first.next).await);
}

/// R52, I17: each first page stores an order, so their number is limited.
#[tokio::test]
async fn first_pages_by_rank_are_limited() {
    let mut settings = Town::settings();
    (settings.rates.top_feeds_burst, settings.rates.top_feeds_per_hour) = (2, 1);
    let town = Town::with(settings, ["ana", "bo"]).await;
    let feeds = feeds_of(&town);
    let top = async |name: &str| {
        let page = feeds.top(&town.caller(name), &PageInput::first()).await;
        page.map(drop).map_err(|error| error.code())
    };
    for expected in [Ok(()), Ok(()), Err(Code::RateLimited)] {
        assert_eq!(top("ana").await, expected);
    }
    assert_eq!(top("bo").await, Ok(()));
    town.advance_ms(HOUR_MS);
    assert_eq!(top("ana").await, Ok(()));
}
