//! R41: the capacity plan, worked out by hand. Each example states the sizes it rests on, so that a
//! sample that changes fails there and not in the arithmetic.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_model::capacity::{
    CapacityError, Plan, Prices, Rates, WriteLine, catalogue, mutations, plan,
};
use roundtable_model::entities::{FeedItem, Post};
use roundtable_model::table::{Capacity, ManualClock, Recorder, Store, Transaction};
use roundtable_model::{Core, Entity, Span, samples};

/// Asserts the size of typical items.
macro_rules! sizes {
    ($($sample:ident = $bytes:literal),* $(,)?) => {
        $(assert_eq!(samples::$sample().item().size(), $bytes, stringify!($sample));)*
    };
}

fn close(found: f64, worked_out: f64) {
    assert!((found - worked_out).abs() < 1e-6, "{found}, worked out as {worked_out}");
}

fn planned(rates: &str) -> Plan {
    let rates = Rates::parse(rates).unwrap();
    plan(&rates[0], &Prices::published().unwrap()).unwrap()
}

/// The read units of one call.
fn read(rate: &str) -> f64 {
    planned(&format!("[reads]\n{rate}")).reads[0].units
}

fn write(rate: &str) -> WriteLine {
    planned(&format!("[writes]\n{rate}")).writes[0].clone()
}

fn refused(rates: &str) -> String {
    Rates::parse(rates).unwrap_err().to_string()
}

/// R41: a post.
#[test]
fn a_post() {
    sizes!(tag_ref = 236, activity = 483, actor_head = 233, idempotency = 332);
    sizes!(feed_item = 436, notification = 298);
    let create = mutations().into_iter().find(|mutation| mutation.name == "createPost").unwrap();
    // Nobody has done anything with it: no score, and no place among the popular ones.
    assert_eq!((create.own[0].entity, create.own[0].bytes()), ("Post", 1048));

    let line = write("createPost = { rate = 1, tags = 2, mentions = 1, feeds = 5 }");
    // Post          1,048 B: 2 in the table, 2 in GSI1, 2 in GSI2 =  6
    // UserCounter     154 B: posts, 1                             =  1
    // TagRef          236 B: 2 tags, 1 each                       =  2
    // Activity        483 B: 1                                    =  1
    // ActorHead       233 B: 1                                    =  1
    // Idempotency     332 B: 1                                    =  1
    // in a transaction, everything twice                          = 24
    close(line.own, 24.0);
    // FeedItem        436 B: 5 feeds, 1 each                      =  5
    // Notification    298 B: a mention, in a transaction          =  2
    // UserCounter     156 B: with the count of unread ones        =  2
    close(line.derived, 9.0);
}

/// R41: a post that must be approved first costs in two parts.
#[test]
fn a_post_that_waits_for_approval() {
    sizes!(moderation_case = 497, audit = 272);
    let create = mutations().into_iter().find(|mutation| mutation.name == "createPostModerated");
    assert_eq!(create.unwrap().own[0].bytes(), 930);
    // Post              930 B: 1 in the table, 1 in GSI1            =  2
    // UserCounter       154 B: posts, 1                             =  1
    // TagRef            236 B: 2 tags, 1 each                       =  2
    // ModerationCase    427 B: 1 in the table, 1 in GSI2            =  2
    // Idempotency       332 B: 1                                    =  1
    // in a transaction, everything twice                            = 16
    close(write("createPostModerated = { rate = 1, tags = 2 }").own, 16.0);
    // ModerationCase    497 B: 1 in the table, 1 + 1 where it moves in GSI2      =  3
    // Post            1,048 B: 2 in the table, 2 in GSI1, 2 where it enters GSI2 =  6
    // Audit, activity, head, outcome: 1 each                                     =  4
    // in a transaction, everything twice                                         = 26
    close(write("moderate = 1").own, 26.0);
}

/// R41: a like.
#[test]
fn a_like() {
    sizes!(like = 394, post = 1144, idempotency = 332);
    sizes!(post_counter = 175, notification = 298);
    let line = write("like = { rate = 1, rescored = 0.1 }");
    // Like            394 B: 1 in the table, 1 in GSI1            =  2
    // Post          1,144 B: a check costs like a write           =  2
    // Idempotency     332 B: 1                                    =  1
    // in a transaction, everything twice                          = 10
    close(line.own, 10.0);
    // PostCounter     175 B: 1                                    =  1
    // Post          1,144 B: a tenth of the time 2 in the table, 2 in GSI1, 2 in GSI2,
    //                        2 + 2 where it moves in GSI3, 10     =  1
    // Notification    298 B and the count of unread ones, twice   =  4
    close(line.derived, 6.0);
}

/// R41: a comment.
#[test]
fn a_comment() {
    sizes!(comment = 590, post = 1144, comment_counter = 221, idempotency = 332);
    let line = write("comment = { rate = 1, replies = 0.5, rescored = 0 }");
    // Comment         590 B: 1 in the table, 1 in GSI1, 1 in GSI2 =  3
    // Post          1,144 B: checked                              =  2
    // Comment         590 B: its parent checked, half the time    =  0.5
    // Idempotency     332 B: 1                                    =  1
    // in a transaction, everything twice                          = 13
    close(line.own, 13.0);
    // PostCounter 1, CommentCounter half the time 0.5, notification and unread count 4.
    close(line.derived, 5.5);
}

/// R41: a follow, and its end.
#[test]
fn a_follow() {
    sizes!(follow = 698, user_counter = 162, idempotency = 332);
    let line = write("followUser = 1");
    // Follow          698 B: 1 in the table, 1 in each of three indexes  =  4
    // UserCounter     162 B: followers 1, following 1                    =  2
    // Idempotency     332 B: 1                                           =  1
    // in a transaction, everything twice                                 = 14
    close(line.own, 14.0);
    close(line.derived, 4.0);
    let end = write("unfollowUser = 1");
    close(end.own, 14.0);
    close(end.derived, 0.0);
    // Without a requestId the outcome is not kept.
    close(write("followUser = { rate = 1, request_ids = 0 }").own, 12.0);
    // A request is in GSI1 only; accepted, it moves there and enters GSI2 and GSI3: 1 + 2 + 1 + 1.
    close(write("acceptFollower = 1").own, 2.0 * (5.0 + 2.0 + 1.0));
}

/// R41: a new name moves one index entry, and leaves the others where they are.
#[test]
fn a_rename() {
    sizes!(user = 1567, nick_lock = 121, idempotency = 332);
    // User: 2 in the table, 2 in GSI1, 2 + 2 in GSI2, 2 in GSI3; two locks 1 each; outcome 1.
    close(write("rename = 1").own, 2.0 * (10.0 + 2.0 + 1.0));
    // A profile that keeps its name: 2 in the table and in each index.
    close(write("updateProfile = 1").own, 2.0 * (8.0 + 1.0));
}

/// R41: a feed item is one write of its own, without transaction or index; 25 make a batch.
#[test]
fn a_feed_item() {
    sizes!(feed_item = 436);
    let none = write("postActivity = { rate = 1, feeds = 0 }");
    let batch = write("postActivity = { rate = 1, feeds = 25 }");
    close(batch.own, none.own);
    close(none.derived, 0.0);
    close(batch.derived, 25.0);
}

/// R41: a page of 50 posts.
#[test]
fn a_page_of_50_posts() {
    sizes!(post = 1144);
    // 51 are looked at, to know whether there are more: 51 × 1,144 = 58,344 B. That is 14.2 times
    // 4 KB, rounded up 15; eventual, half of it.
    close(read("timeline = { rate = 1, items = 50 }"), 7.5);
    close(read("posts_by = { rate = 1, items = 50 }"), 7.5);
    // Over four shards each is asked for twice its share: 2 × 51 / 4, rounded up 26.
    // 26 × 1,144 = 29,744 B is 7.3 times 4 KB, rounded up 8: 4 units each.
    close(read("timeline = { rate = 1, items = 50, partitions = 4 }"), 16.0);
    // By their keys, each is rounded up by itself; one read strongly costs a unit.
    close(read("posts = { rate = 1, items = 50 }"), 25.0);
    close(read("post = 1"), 1.0);
}

/// R41: a feed of 20 items.
#[test]
fn a_feed_of_20_items() {
    sizes!(feed_item = 436, activity = 483);
    // 21 × 436 = 9,156 B: 2.2 times 4 KB, rounded up 3; eventual, half of it.
    close(read("feed_items = { rate = 1, items = 20 }"), 1.5);
    close(read("feed_items = { rate = 1, items = 20, strong = true }"), 3.0);
    // Pulled from 200 followees instead, each is a query of one item at least: half a unit.
    close(read("activities = { rate = 1, items = 20, partitions = 200 }"), 100.0);
    // From 2 of them: 21 items each, 21 × 483 = 10,143 B, 3 steps.
    close(read("activities = { rate = 1, items = 20, partitions = 2 }"), 3.0);
}

/// R41: what is not found is paid for.
#[test]
fn what_is_not_found() {
    sizes!(like = 394, quest = 627);
    // 20 keys, most without an item: a unit each, as it is strong.
    close(read("liked = { rate = 1, items = 20, found = 0.1 }"), 20.0);
    // A quarter passes: 21 / 0.25 = 84 are looked at. 84 × 627 = 52,668 B, 13 steps.
    close(read("quests_linked_to_goal = { rate = 1, items = 20, found = 0.25 }"), 6.5);
}

/// R41: the smaller design of s3, beside its estimate of 200 and 50 units a second.
#[test]
fn the_smaller_design() {
    sizes!(user = 1567, user_counter = 162, post = 1144, post_counter = 175, follow = 698);
    let rates = Rates::documents().unwrap();
    let plan = plan(&rates[0], &Prices::published().unwrap()).unwrap();
    assert_eq!(plan.name, "MVP");
    let estimate = plan.estimate.unwrap();
    close(estimate.read, 200.0);
    close(estimate.write, 50.0);
    let lists = 2.0; // 21 × 698 = 14,658 B, 4 steps
    close(
        plan.read_units(),
        50.0 * 0.5 // profile
            + 50.0 * 3.0 * 0.5 // its counts
            + 100.0 * 7.5 // timeline
            + 100.0 * 50.0 * 0.5 // with counts
            + 30.0 * 1.0 // post
            + 30.0 * 0.5 // with counts
            + 10.0 * lists // following
            + 10.0 * lists, // followers
    );
    close(
        plan.write_units(),
        15.0 * (24.0 + 4.0) // createPost
            + 25.0 * (10.0 + 6.0) // like
            + 2.5 * (14.0 + 4.0) // followUser
            + 2.5 * 14.0 // unfollowUser
            + 2.0 * 18.0, // updateProfile
    );
    // A month has 730 × 3,600 = 2,628,000 seconds.
    close(plan.month_of_reads(), 3435.0 * 2.628 * 0.125);
    close(plan.month_of_writes(), 936.0 * 2.628 * 0.625);
    close(plan.month(), 1128.3975 + 1537.38);
}

/// R41: the fuller design of s3, beside its estimate of 400 and 200 units a second.
#[test]
fn the_fuller_design() {
    sizes!(feed_item = 436, feed_horizon = 119, post = 1144, post_counter = 175, follow = 698);
    let rates = Rates::documents().unwrap();
    let plan = plan(&rates[1], &Prices::published().unwrap()).unwrap();
    assert_eq!((rates.len(), plan.name.as_str()), (2, "full"));
    let estimate = plan.estimate.unwrap();
    close(estimate.read, 400.0);
    close(estimate.write, 200.0);
    let lists = 9.0; // 101 × 698 = 70,498 B, 18 steps
    close(
        plan.read_units(),
        100.0 * (0.5 + 1.5) // profile, its counts
            + 200.0 * (1.5 + 1.0) // feed, where it ends
            + 200.0 * 20.0 * (0.5 + 0.5) // its posts, with counts
            + 50.0 * (1.0 + 0.5) // post, with counts
            + 10.0 * (lists + lists + 1.0), // following, followers, follows
    );
    close(
        plan.write_units(),
        20.0 * (24.0 + 4.0 + 5.0) // createPost, into five feeds
            + 50.0 * (10.0 + 6.0) // like
            + 15.0 * (13.0 + 6.5) // comment
            + 5.0 * (14.0 + 4.0) // followUser
            + 5.0 * 14.0, // unfollowUser
    );
}

/// R41: what the plan says is what the store counts when the model asks it.
#[tokio::test]
async fn the_store_counts_the_same() {
    let recorder = Arc::new(Recorder::default());
    let clock = ManualClock::at_ms(1_738_000_000_000);
    let store = Store::new(Reference::new(Arc::new(clock))).observed(recorder.clone());
    let table = store.create_table(Core::SHAPE.definition("gg_core")).await.unwrap();
    let core = Core::on(table.clone());
    for number in 0..60 {
        let id = format!("01JJM64H601HYGCPWPQ5E6EY{number:02}");
        let post = Post { id: id.parse().unwrap(), ..samples::post() };
        table.put(post.put()).await.unwrap();
        let item = FeedItem { activity_id: id.parse().unwrap(), ..samples::feed_item() };
        table.put(item.put()).await.unwrap();
    }
    table.put(samples::post().put()).await.unwrap();
    let counted = || {
        let operations = recorder.take().into_iter();
        let capacity: Capacity = operations.map(|operation| operation.capacity).sum();
        (capacity.read_units(), capacity.write_units)
    };
    counted();

    let page = core.posts_by(&samples::post().author_id).limit(50).page().await.unwrap();
    assert_eq!(page.items.len(), 50);
    close(counted().0, read("posts_by = { rate = 1, items = 50 }"));
    let reader = samples::feed_item().follower_id;
    let page = core.feed_items(&reader, Span::ALL).limit(20).page().await.unwrap();
    assert_eq!(page.items.len(), 20);
    close(counted().0, read("feed_items = { rate = 1, items = 20 }"));

    let like = Transaction::new()
        .with(&table, samples::like().create())
        .with(&table, samples::post().key().exists())
        .with(&table, samples::idempotency().create());
    store.transact(like).await.unwrap();
    assert_eq!(counted().1, 10, "as `a_like` has it");
}

/// R41: every access pattern and every mutation has a figure.
#[test]
fn everything_has_a_figure() {
    let all = catalogue().unwrap();
    let patterns = roundtable_model::SCHEMA.iter().map(|table| table.patterns.len());
    assert_eq!(all.reads.len(), patterns.sum::<usize>());
    assert!(all.reads.iter().all(|line| line.units >= 0.5));
    for mutation in &all.writes {
        assert!(mutation.own.iter().map(|step| step.units).sum::<f64>() >= 1.0);
    }
    let text = all.to_string();
    assert!(text.contains("\nposts_by               Query GSI1, 20 Post of 1144 B"), "{text}");
}

/// R41: what people see.
#[test]
fn the_plan_as_text() {
    let text = planned(
        "[reads]
         post = 40
         timeline = { rate = 100, items = 50, partitions = 4 }
         [writes]
         like = 25",
    );
    let expected = "\
plan

read      how                                               units/call  calls/s  units/s
post      Get table strong, 1 Post of 1144 B                         1       40       40
timeline  WalkDays GSI2, 50 Post of 1144 B in 4 partitions          16      100    1,600
total                                                                              1,640

write  own/call  derived/call  calls/s  units/s
like         10             6       25      400
total                                       400

a month of 730 hours: 538.74 for reads + 657.00 for writes = 1,195.74 USD
on demand in us-east-1 since 2024-11-01: 0.125 a million read units, 0.625 a million write units
";
    assert_eq!(text.to_string(), expected);
}

/// A name that nothing bears is refused, with those that come nearest.
#[test]
fn unknown_names_are_refused() {
    assert!(
        refused("[reads]\ntimline = 1").starts_with(
            "reads.timline: there is no such access pattern; the nearest are timeline, "
        )
    );
    assert!(
        refused("[writes]\ncreatepost = 1").starts_with(
            "writes.createpost: there is no such mutation; the nearest are createPost, "
        )
    );
    assert!(refused("[writes]\ncreatePost = { rate = 1, tag = 2 }").starts_with(
        "writes.createPost.tag: there is no such setting here; the nearest are tags, "
    ));
    assert!(
        refused("[[plan]]\nname = 'a'\n[plan.reads]\nprofil = 1")
            .starts_with("plan a: reads.profil: ")
    );
    assert!(refused("[rates]").contains("unknown field `rates`"));
    let twice = "[[plan]]\nname = 'a'\n[[plan]]\nname = 'a'";
    assert!(matches!(Rates::parse(twice), Err(CapacityError::NamedTwice { name }) if name == "a"));
}

/// A setting that has no meaning for a pattern is refused: an index has no strong reads, one key no
/// partitions.
#[test]
fn settings_must_mean_something() {
    for rate in [
        "timeline = { rate = 1, strong = true }",
        "activities = { rate = 1, strong = true }",
        "profile = { rate = 1, partitions = 2 }",
        "profile = { rate = 1, items = 2 }",
        "following = { rate = 1, found = 0.5 }",
    ] {
        let refused = refused(&format!("[reads]\n{rate}"));
        assert!(refused.contains("there is no such setting here"), "{rate}: {refused}");
    }
}

/// Numbers that cannot be are refused with their key.
#[test]
fn bad_numbers_are_refused() {
    for (rates, key) in [
        ("[reads]\nprofile = -1", "reads.profile: "),
        ("[reads]\nprofile = nan", "reads.profile: "),
        ("[writes]\nlike = inf", "writes.like: "),
        ("[writes]\nlike = 'often'", "writes.like: "),
        ("[reads]\nprofile = {}", "reads.profile.rate: "),
        ("[reads]\nprofile = { rate = 1, found = 1.5 }", "reads.profile.found: "),
        ("[reads]\nreplies = { rate = 1, found = 0 }", "reads.replies.found: "),
        ("[reads]\nposts = { rate = 1, items = 0 }", "reads.posts.items: "),
        ("[reads]\nposts = { rate = 1, items = 2.5 }", "reads.posts.items: "),
        ("[reads]\npost = [{ rate = 1 }, { rate = -1 }]", "reads.post[1].rate: "),
        ("[writes]\ncreatePost = { rate = 1, tags = -1 }", "writes.createPost.tags: "),
        ("[[plan]]\nname = 'a'\nrequest_ids = 2", "plan a: request_ids: "),
        ("[[plan]]\nname = 'a'\nestimate_read = 1", "plan a: estimate_write: "),
    ] {
        let refused = refused(rates);
        assert!(refused.starts_with(&format!("{key}expected ")), "{rates}: {refused}");
    }
}

/// Prices are configuration, and checked like it.
#[test]
fn prices_are_read_and_checked() {
    let prices = Prices::published().unwrap();
    assert_eq!((prices.region.as_str(), prices.date.as_str()), ("us-east-1", "2024-11-01"));
    close(prices.month_of_reads(1.0), 2.628 * 0.125);
    close(prices.month_of_writes(1.0), 2.628 * 0.625);
    let bad =
        "region = 'x'\ndate = 'y'\ncurrency = 'EUR'\nread_per_million = -1\nwrite_per_million = 1";
    let refused = Prices::parse(bad).unwrap_err().to_string();
    assert_eq!(refused, "read_per_million: expected a price of zero or more, found -1");
    assert!(
        Prices::parse("region = 'x'").unwrap_err().to_string().contains("missing field `date`")
    );
}
