//! s2: the moderated feed, posts, comments, likes, counters.

use roundtable_model::entities::*;
use roundtable_model::{Entity, ModerationStatus, Shards, UserId, rekey};
use roundtable_table::{
    Delete, Error, Invalid, Item, Order, Path, Put, Query, Term, Transaction, Update, item,
};

use crate::facts::s2::*;
use crate::ours::{self, at, id, texts};
use crate::sides::{Sides, covers, each, ends, reversed};

covers! {
    global_feed: "feed", "feed_by_status", "recent_feed", "named_feed";
    moderation: "pending", "moderate";
    one_post: "post", "post_with_comments", "statistics";
    comments: "comments", "comments_by_time";
    a_person: "profile", "profile_in_index";
    posts_of_a_person: "posts_by", "recent_posts_by", "posts_by_in_index";
    likes: "liked", "likes", "likes_by";
    toggling: "toggle_like";
    popular: "popular";
}

const GLOBAL: [(&str, &str); 2] = [("feed", "GLOBAL"), ("status", "APPROVED")];
const THIS_POST: [(&str, &str); 2] = [("post", POST), ("user", USER)];

fn user() -> UserId {
    id(USER)
}

fn ids(posts: &[Post]) -> Vec<String> {
    texts(posts.iter().map(|post| &post.id))
}

fn cases(found: &[ModerationCase]) -> Vec<String> {
    texts(found.iter().filter_map(|case| case.post_id.as_ref()))
}

async fn all_approved(sides: &Sides) -> Vec<String> {
    ids(&sides.core.timeline(days(), Shards::ONE).all().await.unwrap())
}

/// R26. By day instead of one hot partition, approved posts only, and full pages.
async fn global_feed(sides: &Sides) {
    let ours = all_approved(sides).await;
    let own = sides.ask("feed_by_status", &GLOBAL).await;
    assert_eq!(ends(&own, "PK"), ours);
    let rejected = [("feed", "GLOBAL"), ("status", "REJECTED")];
    let own = sides.ask("feed_by_status", &rejected).await;
    let refused = sides.core.moderation_queue(&ModerationStatus::Rejected, days(), Shards::ONE);
    assert_eq!(ends(&own, "PK"), cases(&refused.page().await.unwrap().items));

    // The document's page contains posts that are not approved, or is short without them.
    let page = sides.core.timeline(days(), Shards::ONE).page().await.unwrap();
    assert!(ids(&page.items) == ours.get(..20).unwrap() && page.next.is_some(), "a full page");
    let mut own = sides.ask("feed", &GLOBAL).await;
    assert_eq!(own.len(), 20);
    own.retain(|post| post.text("ModerationStatus") == Some("APPROVED"));
    assert!(own.len() < 20 && ours.starts_with(&ends(&own, "PK")));
    let own = sides.ask("recent_feed", &GLOBAL).await;
    assert!(own.len() < 20 && ours.starts_with(&ends(&own, "PK")), "short by what was filtered");

    let own = sides.ask("named_feed", &[("feed", "gardening")]).await;
    let ours = sides.core.feed_timeline(&id("gardening"), days(), Shards::ONE);
    let ours = ids(&ours.page().await.unwrap().items);
    assert_eq!(ends(&own, "PK"), ours);
    assert_eq!(ours, ["post-202", "post-201", "post-200"]);
}

/// R26, R34 for reads: separate cases, since one key cannot be in both feed and queue.
async fn moderation(sides: &Sides) {
    let queue = |status| sides.core.moderation_queue(status, days(), Shards::ONE);
    let pending = queue(&ModerationStatus::Pending).page().await.unwrap().items;
    assert_eq!(ends(&sides.ask("pending", &GLOBAL).await, "PK"), cases(&pending));
    assert!(cases(&pending).contains(&POST.to_owned()));

    let approval = sides.question("moderate");
    assert_eq!(approval.partition.replace("{post}", POST), "POST#post-123");
    let decided = "2024-01-01T00:05:00Z";
    let update = Update::new(("POST#post-123", "POST"));
    let update = update.set("ModerationStatus", "APPROVED").set("UpdatedAt", decided);
    sides.own.update(update).await.unwrap();

    let before = sides.core.post(&id(POST)).get().await.unwrap().unwrap();
    let after = Post {
        moderation_status: ModerationStatus::Approved,
        published_at: Some(at(decided)),
        updated_at: at(decided),
        ..before.clone()
    };
    let case = sides.core.moderation_case(&id(POST)).get().await.unwrap().unwrap();
    let closed = ModerationCase { status: ModerationStatus::Approved, ..case.clone() };
    let table = sides.core.table();
    let transaction = Transaction::new()
        .with(table, rekey(&before, &after).unwrap())
        .with(table, rekey(&case, &closed).unwrap());
    table.store().transact(transaction.clone()).await.unwrap();
    assert!(table.store().transact(transaction).await.is_err(), "it cannot be decided again");

    let pending = queue(&ModerationStatus::Pending).page().await.unwrap().items;
    let own = sides.ask("pending", &GLOBAL).await;
    assert_eq!(ends(&own, "PK"), cases(&pending));
    let found = sides.core.post(&id(POST)).get().await.unwrap().unwrap();
    assert_eq!(found.moderation_status, ModerationStatus::Approved);
    let feed = all_approved(sides).await;
    let place = feed.iter().position(|id| id == POST).unwrap();
    assert_eq!(feed.get(place - 1..=place + 1).unwrap(), ["post-124", POST, "post-122"]);
}

/// R27.
async fn one_post(sides: &Sides) {
    let own = sides.ask("post", &THIS_POST).await;
    let ours = sides.core.post(&id(POST)).get().await.unwrap().unwrap();
    assert_eq!(each(&own, "Caption"), [ours.content.as_str()]);
    assert_eq!(each(&own, "OwnerId"), texts([&ours.author_id]));
    assert_eq!(each(&own, "ModerationStatus"), texts([ours.moderation_status]));

    // The likes in the same partition are not read.
    let own = sides.ask("post_with_comments", &THIS_POST).await;
    let (with, comments) =
        sides.core.post_with_comments(&id(POST), Order::Descending, 20).await.unwrap().unwrap();
    assert_eq!(with, ours);
    let (own_post, mut own): (Vec<Item>, _) =
        own.into_iter().partition(|item| item.text("SK") == Some("POST"));
    assert_eq!(ends(&own_post, "PK"), texts([&with.id]));
    own.retain(|item| item.text("SK").unwrap().starts_with("COMMENT#"));
    let comments = texts(comments.items.iter().map(|comment| &comment.id));
    assert_eq!(reversed(ends(&own, "SK")), comments);

    let own = sides.ask("statistics", &THIS_POST).await;
    let ours = sides.core.post_stats(&[id(POST)]).await.unwrap();
    let ours = ours.first().unwrap().as_ref().unwrap();
    let counter = ours.counter.as_ref().unwrap();
    let created = ours.post.created_at.to_string().replace(".000Z", "Z");
    assert_eq!(
        own,
        [item! {
            "Caption" => ours.post.content.as_str(), "LikeCount" => counter.likes,
            "CommentCount" => counter.comments, "CreatedAt" => created,
        }]
    );
}

/// R27: both orders; ids increase with time, so no index by time is needed.
async fn comments(sides: &Sides) {
    let newest = sides.core.comments(&id(POST)).page().await.unwrap().items;
    let newest = texts(newest.iter().map(|comment| &comment.id));
    assert_eq!(newest, ["comment-3", "comment-2", "comment-1"]);
    assert_eq!(ends(&sides.ask("comments", &THIS_POST).await, "SK"), newest);
    assert_eq!(ends(&sides.ask("comments_by_time", &THIS_POST).await, "SK"), newest);
    let oldest = sides.core.comments(&id(POST)).order(Order::Ascending).page().await.unwrap();
    assert_eq!(texts(oldest.items.iter().map(|comment| &comment.id)), reversed(newest));
}

/// R21.
async fn a_person(sides: &Sides) {
    let own = sides.ask("profile", &THIS_POST).await;
    let ours = sides.core.profile(&user()).get().await.unwrap().unwrap();
    assert_eq!(ends(&own, "PK"), texts([&ours.id]));
    let own = sides.ask("profile_in_index", &THIS_POST).await;
    let card = sides.core.user_card(&user()).page().await.unwrap().items;
    assert_eq!(ends(&own, "PK"), texts(card.iter().map(|user| &user.id)));
    assert_eq!(card, [ours]);
}

/// R27. By time; the document's second item is by id, and its index query is invalid as documented.
async fn posts_of_a_person(sides: &Sides) {
    let newest = ids(&sides.core.posts_by(&user()).all().await.unwrap());
    assert_eq!(newest.first().unwrap(), "post-001", "late, in spite of its id");
    let own = ends(&sides.ask("posts_by", &THIS_POST).await, "SK");
    let mut by_id = newest.clone();
    by_id.sort_by(|one, other| other.cmp(one));
    assert_eq!(own, by_id, "the same posts");

    let page = sides.core.posts_by(&user()).page().await.unwrap();
    let own = ends(&sides.ask("recent_posts_by", &THIS_POST).await, "SK");
    assert_eq!((own.len(), page.items.len(), page.next.is_some()), (20, 20, true));
    assert_eq!(ids(&page.items), newest.get(..20).unwrap());
    assert!(!own.contains(&"post-001".to_owned()), "the document misses the newest");

    let refusal = sides.refusal("posts_by_in_index", &THIS_POST).await;
    assert!(is_filter_on_key(&refusal), "{refusal}");
    let intended = Query::new("USER#user-123").index("GSI1").begins_with("POST#").descending();
    assert_eq!(ends(&sides.own.query(intended).await.unwrap().items, "SK"), newest);
}

fn is_filter_on_key(error: &Error) -> bool {
    matches!(error, Error::Invalid(Invalid::FilterOnKey { attribute }) if attribute == "GSI1SK")
}

/// R27.
async fn likes(sides: &Sides) {
    let posts = [id(POST), id("post-124")];
    let ours = sides.core.liked(&posts, &user()).get().await.unwrap();
    for (post, like) in ["post-123", "post-124"].into_iter().zip(ours) {
        let own = sides.ask("liked", &[("post", post), ("user", USER)]).await;
        assert_eq!(own.is_empty(), like.is_none(), "{post}");
    }
    let own = sides.ask("likes", &THIS_POST).await;
    let ours = sides.core.likes(&id(POST)).page().await.unwrap().items;
    assert_eq!(ends(&own, "SK"), texts(ours.iter().map(|like| &like.user_id)));
    assert_eq!(own.len(), 2);

    let refusal = sides.refusal("likes_by", &THIS_POST).await;
    assert!(is_filter_on_key(&refusal), "{refusal}");
    let intended = Query::new("USER#user-123").index("GSI1").begins_with("LIKE#");
    let own = sides.own.query(intended).await.unwrap().items;
    let ours = sides.core.likes_by(&user()).order(Order::Ascending).page().await.unwrap().items;
    let ours = texts(ours.iter().map(|like| &like.post_id));
    assert_eq!(ends(&own, "PK"), ours);
    assert_eq!(ours, ["post-122", POST, "post-110"], "by time");
}

/// R20. Two concurrent toggles count twice in the document; our writes are conditional. The
/// document also omits the index key, so that its index of a user's likes would miss this one.
async fn toggling(sides: &Sides) {
    let (post, who) = ("post-124", "user-789");
    let key = ("POST#post-124", "LIKE#user-789");
    let with = [("post", post), ("user", who)];
    let count = |step: i64| {
        let likes = Term::from(Path::new("LikeCount")).plus(step);
        Update::new(("POST#post-124", "POST")).set("LikeCount", likes)
    };
    let table = sides.core.table();
    let like = ours::like(post, who, "user-456", "2024-01-02T00:00:00Z");
    let counted = |step| PostCounter::upsert(&like.post_id).add(PostCounter::LIKES, step);
    let likes_before = likes_of(sides, post).await;

    assert!(sides.ask("toggle_like", &with).await.is_empty() && !liked(sides, &like).await);
    // Twice, as if both requests had read before either wrote.
    for tap in 0..2 {
        sides.own.put(Put::new(item! { "PK" => key.0, "SK" => key.1 })).await.unwrap();
        sides.own.update(count(1)).await.unwrap();
        let add = Transaction::new().with(table, like.create()).with(table, counted(1));
        assert_eq!(table.store().transact(add).await.is_ok(), tap == 0, "the second is refused");
    }
    assert!(!sides.ask("toggle_like", &with).await.is_empty() && liked(sides, &like).await);
    assert_eq!(likes_of(sides, post).await, (likes_before.0 + 2, likes_before.1 + 1));

    let listed = Query::new("USER#user-789").index("GSI1").begins_with("LIKE#");
    assert!(sides.own.query(listed).await.unwrap().items.is_empty(), "the document misses it");
    let listed = sides.core.likes_by(&like.user_id).page().await.unwrap().items;
    assert_eq!(listed, std::slice::from_ref(&like));

    sides.own.delete(Delete::new(key)).await.unwrap();
    sides.own.update(count(-1)).await.unwrap();
    let remove = Transaction::new().with(table, like.key().delete()).with(table, counted(-1));
    table.store().transact(remove).await.unwrap();
    assert!(sides.ask("toggle_like", &with).await.is_empty() && !liked(sides, &like).await);
    assert_eq!(
        likes_of(sides, post).await,
        (likes_before.0 + 1, likes_before.1),
        "the document is off"
    );
}

async fn liked(sides: &Sides, like: &Like) -> bool {
    let found = sides.core.liked(std::slice::from_ref(&like.post_id), &like.user_id).get().await;
    found.unwrap().iter().any(Option::is_some)
}

/// Returns the number of likes that each table has counted.
async fn likes_of(sides: &Sides, post: &str) -> (u64, u64) {
    let key = (format!("POST#{post}"), "POST");
    let own = sides.own.get(roundtable_table::Get::new(key)).await.unwrap().item.unwrap();
    let ours = sides.core.post_counters(&[id(post)]).get().await.unwrap();
    let own = own.number("LikeCount").unwrap().to_string().parse().unwrap();
    (own, ours.first().unwrap().as_ref().unwrap().likes)
}

/// R26. An index by engagement above a threshold, instead of a scan that the application sorts.
async fn popular(sides: &Sides) {
    let mut own = sides.ask("popular", &[]).await;
    own.sort_by_key(|post| std::cmp::Reverse(post.number("LikeCount").unwrap()));
    own.retain(|post| post.number("LikeCount").unwrap() >= POPULAR_LIKES_MIN.into());
    let ours = ids(&sides.core.popular(Shards::ONE).all().await.unwrap());
    assert_eq!(ends(&own, "PK"), ours);
    let likes = |post: &Item| post.number("LikeCount").unwrap();
    assert!(likes(own.first().unwrap()) > 99.into() && likes(own.last().unwrap()) < 10.into());
    let page = sides.core.popular(Shards::ONE).page().await.unwrap();
    assert!(ids(&page.items) == ours.get(..20).unwrap() && page.next.is_some(), "a full page");
}
