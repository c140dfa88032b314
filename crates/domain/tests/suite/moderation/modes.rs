//! Moderation modes: posts are reviewed only after reports, before publication, or after it.

use roundtable_domain::{ModerationError, ModerationMode, NewPost, PageInput, PostChange};
use roundtable_model::entities::Post;
use roundtable_model::{FeedName, ModerationStatus as Status, UserStatus, Visibility};
use roundtable_testkit::Town;

use super::{code, on_day, post, posts, sees, town_with};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

async fn create(town: &Town, author: &str, post: NewPost) -> Post {
    posts(town).create(&town.caller(author), &post, None).await.unwrap()
}

#[tokio::test]
async fn mode_off_opens_cases_only_for_reports() {
    let town = Town::of(["ana", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    assert_eq!((post.moderation_status, post.published_at), (Status::Approved, Some(town.now())));
    assert!(town.queue(Status::Pending).await.is_empty());
    let none = town.moderation().case(&town.mo(), &(&post.id).into()).await;
    assert!(matches!(none, Err(ModerationError::NoSuchCase)));
}

/// R34, R33, I9: a pending post is hidden, and enters feeds when it is approved.
#[tokio::test]
async fn mode_before_publishes_on_approval() {
    let town = town_with(ModerationMode::Before, ["ana", "bo", "mo"]).await;
    town.follow("bo", "ana").await;
    let waiting = post(&town, "ana", "hello").await;
    let written = town.now();
    assert_eq!((waiting.moderation_status, waiting.published_at), (Status::Pending, None));
    assert_eq!(town.queue(Status::Pending).await, [(&waiting.id).into()]);
    assert!(town.rows("ACTIVITY#ana", "").await.is_empty());
    assert_eq!(sees(&town, Some(&town.caller("ana")), &waiting).await, [true, true, false]);
    assert_eq!(sees(&town, Some(&town.mo()), &waiting).await, [true, true, false]);
    assert_eq!(sees(&town, Some(&town.caller("bo")), &waiting).await, [false; 3]);
    // Hidden posts cannot be reported.
    let report = town.moderation().report_post(&town.caller("bo"), &waiting.id, "?", None).await;
    assert_eq!(code(report), "NOT_FOUND");

    town.advance_ms(2 * DAY_MS);
    let approved = town.moderate(&waiting.id, Status::Approved).await;
    assert_eq!(approved.published_at, Some(town.now()));
    assert_eq!(approved.created_at, written);
    assert_eq!(sees(&town, Some(&town.caller("bo")), &waiting).await, [true; 3]);
    assert!(on_day(&town, written.day()).await.is_empty());
    assert_eq!(on_day(&town, town.now().day()).await, std::slice::from_ref(&waiting.id));
    let published = town.rows("ACTIVITY#ana", "TS#").await;
    assert_eq!(published.len(), 1);
    assert!(
        published.iter().all(|row| row.starts_with(&format!("TS#{}#", town.now()))),
        "{published:?}"
    );
    assert_eq!(town.rows("ACTIVITY#ana", "HEAD").await.len(), 1);
}

/// R34, I7: a post keeps its day when it is hidden and shown again.
#[tokio::test]
async fn a_post_is_published_once() {
    let town = town_with(ModerationMode::Before, ["ana", "mo"]).await;
    let waiting = post(&town, "ana", "hello").await;
    for status in [Status::Rejected, Status::Flagged] {
        town.advance_ms(DAY_MS);
        assert_eq!(town.moderate(&waiting.id, status).await.published_at, None);
        assert!(town.rows("ACTIVITY#ana", "").await.is_empty());
    }
    let published = town.moderate(&waiting.id, Status::Approved).await.published_at;
    assert_eq!(published, Some(town.now()));
    let day = town.now().day();
    for status in [Status::Rejected, Status::Approved, Status::Approved, Status::Flagged] {
        town.advance_ms(DAY_MS);
        assert_eq!(town.moderate(&waiting.id, status).await.published_at, published);
        let shown = on_day(&town, day).await;
        assert_eq!(shown.len(), usize::from(status == Status::Approved), "{status}");
    }
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
}

/// R12: an actor's activities are in the order of publication, whenever the posts were created.
#[tokio::test]
async fn activities_follow_the_order_of_approvals() {
    let town = town_with(ModerationMode::Before, ["ana", "mo"]).await;
    let (first, second) = (post(&town, "ana", "one").await, post(&town, "ana", "two").await);
    // In the same millisecond.
    let later = town.moderate(&second.id, Status::Approved).await;
    let latest = town.moderate(&first.id, Status::Approved).await;
    assert!(later.published_at < latest.published_at);
    assert_eq!(on_day(&town, town.now().day()).await, [first.id, second.id]);
}

#[tokio::test]
async fn mode_after_publishes_and_opens_a_case() {
    let town = town_with(ModerationMode::After, ["ana", "bo", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    assert_eq!((post.moderation_status, post.published_at), (Status::Approved, Some(town.now())));
    assert_eq!(sees(&town, Some(&town.caller("bo")), &post).await, [true; 3]);
    assert_eq!(town.queue(Status::Pending).await, [(&post.id).into()]);
    // A report is added to the case, with its reason.
    town.report("bo", &post.id, "spam").await;
    let case = town.case(&post.id).await.case;
    assert_eq!((case.reason.as_deref(), case.reporter_ids), (Some("spam"), vec![town.id("bo")]));
    let approved = town.moderate(&post.id, Status::Approved).await;
    assert_eq!(approved, post, "it was approved all the time");
    assert!(town.queue(Status::Pending).await.is_empty());
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
    town.moderate(&post.id, Status::Rejected).await;
    assert_eq!(sees(&town, Some(&town.caller("bo")), &post).await, [false; 3]);
    let trail = [
        r#"mo moderatePost {"from":"PENDING","to":"APPROVED"}"#,
        r#"mo moderatePost {"from":"APPROVED","to":"REJECTED"}"#,
    ];
    assert_eq!(town.audit_trail().await, trail);
}

/// R34: an edited post is reviewed again and returns to its day.
#[tokio::test]
async fn a_changed_post_is_approved_again_without_being_published_again() {
    let town = town_with(ModerationMode::Before, ["ana", "bo", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    let approved = town.moderate(&post.id, Status::Approved).await;
    town.advance_ms(DAY_MS);
    let change = PostChange { content: Some("buy my pills".into()), ..PostChange::default() };
    posts(&town).update(&town.caller("ana"), &post.id, &change, None).await.unwrap();
    assert_eq!(sees(&town, Some(&town.caller("bo")), &post).await, [false; 3]);
    assert_eq!(town.queue(Status::Pending).await, [(&post.id).into()]);
    let again = town.moderate(&post.id, Status::Approved).await;
    assert_eq!(
        (again.published_at, again.content.as_str()),
        (approved.published_at, "buy my pills")
    );
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
}

/// R34: a restricted post is published to its own audience.
#[tokio::test]
async fn approval_keeps_the_audience_of_a_post() {
    let town = town_with(ModerationMode::Before, ["ana", "bo", "mo"]).await;
    let group = town.create_group("ana", "gardeners").await;
    let grouped = NewPost { group_id: Some(group.clone()), ..NewPost::text("roses") };
    let grouped = create(&town, "ana", grouped).await;
    let followers = NewPost { visibility: Some(Visibility::Followers), ..NewPost::text("hi") };
    let followers = create(&town, "ana", followers).await;
    let feed: FeedName = "gardening".parse().unwrap();
    let named = NewPost { feed_id: Some(feed.clone()), ..NewPost::text("tulips") };
    let named = create(&town, "ana", named).await;
    for post in [&grouped, &followers, &named] {
        town.moderate(&post.id, Status::Approved).await;
    }
    assert_eq!(town.rows(&format!("ACTIVITY#{group}"), "TS#").await.len(), 1);
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 2);
    assert!(on_day(&town, town.now().day()).await.is_empty());
    let order = roundtable_model::table::Order::Descending;
    let page = posts(&town).global(None, Some(&feed), None, order, &PageInput::first()).await;
    assert_eq!(
        page.unwrap().into_items().into_iter().map(|p| p.id).collect::<Vec<_>>(),
        [named.id]
    );
}

/// A post whose author became private while it was pending is not public (I9).
#[tokio::test]
async fn approval_respects_accounts_that_became_private() {
    let town = town_with(ModerationMode::Before, ["bo", "mo"]).await;
    town.add_user("ana", |_| {}).await;
    let waiting = post(&town, "ana", "hello").await;
    let core = town.context().core();
    let mut ana = core.profile(&town.id("ana")).strong().get().await.unwrap().unwrap();
    ana.is_private = true;
    core.table().put(roundtable_model::Entity::put(&ana)).await.unwrap();
    assert!(town.moderate(&waiting.id, Status::Approved).await.author_is_private);
    assert_eq!(sees(&town, Some(&town.caller("ana")), &waiting).await, [true, true, false]);
    assert!(on_day(&town, town.now().day()).await.is_empty());
}

/// Posts of deleted accounts are not published.
#[tokio::test]
async fn approval_publishes_nothing_of_deleted_accounts() {
    let town = town_with(ModerationMode::Before, ["ana", "bo", "mo"]).await;
    let (deleted, away) = (post(&town, "ana", "hello").await, post(&town, "bo", "hello").await);
    town.set_status("ana", UserStatus::Deleted).await;
    town.set_status("bo", UserStatus::Suspended).await;
    let (moderation, mo) = (town.moderation(), town.mo());
    let refused = moderation.moderate_post(&mo, &deleted.id, Status::Approved, None, None).await;
    assert_eq!(code(refused), "NOT_FOUND");
    assert!(town.rows("ACTIVITY#ana", "").await.is_empty() && town.audit_trail().await.is_empty());
    // A suspended user may be unsuspended.
    town.moderate(&away.id, Status::Approved).await;
    assert_eq!(sees(&town, None, &away).await, [false; 3]);
    town.set_status("bo", UserStatus::Active).await;
    assert_eq!(sees(&town, None, &away).await, [true; 3]);
}
