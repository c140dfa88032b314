//! Public lists of posts.

use std::sync::Arc;

use roundtable_domain::limits::TIMELINE_DAYS_MAX;
use roundtable_domain::{Code, ModerationMode, NewPost, PageInput, PostError, Posts, Refusal};
use roundtable_domain::{Settings, ShardCount, ShardSettings};
use roundtable_model::table::Order::{Ascending, Descending};
use roundtable_model::table::Recorder;
use roundtable_model::{FeedName, ModerationStatus, Shards};
use roundtable_testkit::Town;

use super::{HIDDEN, first, moderated, run, texts};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// R26, R30: newest first or last, over days and shards, each post once.
#[tokio::test]
async fn public_posts_are_listed_day_by_day() {
    let shards =
        ShardSettings { posts: ShardCount(Shards::new(3).unwrap()), ..ShardSettings::default() };
    let town = Town::with(Settings { shards, ..Town::settings() }, ["ana", "bo"]).await;
    let mut written = Vec::new();
    for day in 0..5 {
        for part in 0..4 {
            let content = format!("day {day} part {part}");
            town.post(if part % 2 == 0 { "ana" } else { "bo" }, &content).await;
            written.push(content);
        }
        // A gap of some days, too.
        town.advance_ms(DAY_MS * (1 + day * 3));
    }
    let posts = town.posts();
    for limit in [1, 3, 20, 100] {
        let rising =
            run(limit, async |page| posts.global(None, None, None, Ascending, page).await).await;
        assert_eq!(rising, written);
        let falling =
            run(limit, async |page| posts.global(None, None, None, Descending, page).await).await;
        assert_eq!(falling, written.iter().rev().cloned().collect::<Vec<_>>());
    }
    let on = posts.post(None, &town.post("ana", "today").await.id).await.unwrap().published_at;
    let today = posts.on_day(None, on.unwrap().day(), Descending, &first(9)).await.unwrap();
    assert_eq!(texts(today), ["today"]);
}

/// R26: a named feed has its own posts, which the global feed does not contain.
#[tokio::test]
async fn a_named_feed_has_its_own_posts() {
    let town = Town::of(["ana"]).await;
    let feed: FeedName = "gardening".parse().unwrap();
    town.post("ana", "for everybody").await;
    let input = NewPost { feed_id: Some(feed.clone()), ..NewPost::text("tomatoes") };
    town.post_as("ana", input).await;
    let posts = town.posts();
    let named = posts.global(None, Some(&feed), None, Descending, &first(9)).await.unwrap();
    assert_eq!(texts(named), ["tomatoes"]);
    for global in [None, Some(&FeedName::GLOBAL)] {
        let all = posts.global(None, global, None, Descending, &first(9)).await.unwrap();
        assert_eq!(texts(all), ["for everybody"]);
    }
}

/// R26, R30: hidden posts are omitted, and pages are full nevertheless.
#[tokio::test]
async fn pages_are_full_although_much_is_hidden() {
    let town = Town::of(["ana", "bo", "viewer"]).await;
    for n in 0..40 {
        town.post(if n % 4 == 0 { "ana" } else { "bo" }, &format!("post {n}")).await;
    }
    town.block("bo", "viewer").await;
    let viewer = town.caller("viewer");
    let posts = town.posts();
    let list =
        async |page: &PageInput| posts.global(Some(&viewer), None, None, Ascending, page).await;
    let visible = run(3, list).await;
    let expected: Vec<String> = (0..40).step_by(4).map(|n| format!("post {n}")).collect();
    assert_eq!(visible, expected);
    // A post hidden between two pages is omitted, and the rest is returned.
    let page = posts.global(Some(&viewer), None, None, Ascending, &first(2)).await.unwrap();
    let next = PageInput { limit: Some(2), after: page.next.clone() };
    let eight = posts.by(None, &town.id("ana"), Ascending, &first(9)).await.unwrap().into_items();
    posts.delete(&town.caller("ana"), &eight[2].id, None).await.unwrap();
    let page = posts.global(Some(&viewer), None, None, Ascending, &next).await.unwrap();
    assert_eq!(texts(page), ["post 12", "post 16"]);
}

/// R26: by moderation status, for moderators.
#[tokio::test]
async fn moderators_list_posts_by_status() {
    let town = moderated(ModerationMode::Before, ["ana", "mo"]).await;
    let mo = town.mo();
    let mut ids = Vec::new();
    for content in ["waits", "flagged", "rejected", "approved"] {
        ids.push(town.post("ana", content).await.id);
    }
    town.moderate(&ids[1], ModerationStatus::Flagged).await;
    town.moderate(&ids[2], ModerationStatus::Rejected).await;
    town.moderate(&ids[3], ModerationStatus::Approved).await;
    let posts = town.posts();
    for (status, expected) in [
        (ModerationStatus::Pending, "waits"),
        (ModerationStatus::Flagged, "flagged"),
        (ModerationStatus::Rejected, "rejected"),
        (ModerationStatus::Approved, "approved"),
    ] {
        let listed = posts.global(Some(&mo), None, Some(status), Descending, &first(9)).await;
        assert_eq!(texts(listed.unwrap()), [expected]);
    }
    let feed: FeedName = "elsewhere".parse().unwrap();
    let pending = Some(ModerationStatus::Pending);
    let other = posts.global(Some(&mo), Some(&feed), pending, Descending, &first(9)).await.unwrap();
    assert!(other.items.is_empty());
    for status in HIDDEN {
        for (viewer, code) in
            [(None, Code::Unauthenticated), (Some(town.caller("ana")), Code::Forbidden)]
        {
            let refused =
                posts.global(viewer.as_ref(), None, Some(status), Descending, &first(9)).await;
            assert_eq!(refused.unwrap_err().code(), code);
        }
    }
}

/// R30: a page has 1 to 100 posts, and a cursor belongs to its list.
#[tokio::test]
async fn bad_pages_are_refused() {
    let town = Town::of(["ana"]).await;
    for n in 0..3 {
        town.post("ana", &format!("post {n}")).await;
    }
    let posts = town.posts();
    for limit in [0, 101] {
        let page = posts.global(None, None, None, Descending, &first(limit)).await;
        assert_eq!(page.unwrap_err().code(), Code::BadRequest);
    }
    let page = posts.global(None, None, None, Descending, &first(1)).await.unwrap();
    let after = PageInput { limit: Some(1), after: page.next };
    let foreign: [Result<_, PostError>; 3] = [
        posts.global(None, None, None, Ascending, &after).await,
        posts.by(None, &town.id("ana"), Descending, &after).await,
        posts.popular(None, &after).await,
    ];
    for refused in foreign {
        assert_eq!(refused.unwrap_err().code(), Code::BadRequest);
    }
}

/// R26: public lists reach back a year, with few reads even if it was quiet; older posts are found
/// by day and author.
#[tokio::test]
async fn a_quiet_year_is_crossed_in_few_steps() {
    let town = Town::of(["ana"]).await;
    let old = town.post("ana", "old").await;
    town.advance_ms(DAY_MS * u64::from(TIMELINE_DAYS_MAX - 2));
    let steps = Arc::new(Recorder::default());
    let posts = Posts::new(town.context().observed(steps.clone()));
    for order in [Ascending, Descending] {
        let found = posts.global(None, None, None, order, &first(9)).await.unwrap();
        assert_eq!(texts(found), ["old"]);
        let walked = steps.take().len();
        assert!(walked < 25, "{walked} steps");
    }
    town.advance_ms(DAY_MS * 30);
    let found = posts.global(None, None, None, Descending, &first(9)).await.unwrap();
    assert!(found.items.is_empty() && found.next.is_none());
    let day = old.published_at.unwrap().day();
    assert_eq!(texts(posts.on_day(None, day, Descending, &first(9)).await.unwrap()), ["old"]);
    let by = posts.by(None, &town.id("ana"), Descending, &first(9)).await.unwrap();
    assert_eq!(texts(by), ["old"]);
}
