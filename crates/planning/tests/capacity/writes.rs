//! The cost of mutations, from the recorded writes: units times their number.

use super::{close, write};

/// R41: creating a post, with counts that vary.
#[test]
fn the_cost_of_a_post() {
    let line = write("createPost = { rate = 1, tags = 2, mentions = 1, feeds = 5 }");
    // In a transaction the table's units count twice, those of indexes once.
    //                                              table  indexes
    // Post         2 KB: and 2 in each of GSI1, GSI2   2        4
    // User         2 KB: the author checked            2
    // UserCounter, Activity, ActorHead, Idempotency    4
    // TagRef: 2 tags, 1 each                           2
    // in a transaction                            2 × 10 +      4 = 24
    close(line.own, 24.0);
    // FeedItem: 5 feeds, 1 each, by themselves                = 5
    // Promotion: the time of the last copies                  = 1
    // Notification and the count of unread ones, 2 × (1 + 1)  = 4
    close(line.derived, 10.0);
    // A tag less, no mention, no feeds.
    let small = write("createPost = { rate = 1, tags = 1, mentions = 0 }");
    close(small.own, 22.0);
    close(small.derived, 0.0);
    assert!(small.reads < line.reads);
}

/// R41: the first of several feeds costs more than each further one.
#[test]
fn the_cost_of_a_feed_item() {
    let [none, one, many] =
        [0, 1, 25].map(|feeds| write(&format!("postActivity = {{ rate = 1, feeds = {feeds} }}")));
    close(none.derived, 0.0);
    close(one.derived, 1.0 + 1.0);
    close(many.derived, 25.0 + 1.0);
    close(many.own, none.own);
}

/// R41: a share from 0 to 1 counts in proportion.
#[test]
fn the_cost_of_a_like() {
    let line = write("likePost = { rate = 1, rescored = 0.1 }");
    // Like 1, and 1 in GSI1; Post checked 2; two blocks that do not exist 2; Idempotency 1.
    close(line.own, 2.0 * 6.0 + 1.0);
    // PostCounter and Notification, 2 each; a tenth of the time the post moves, 12, and its counter
    // is checked, 2.
    close(line.derived, 4.0 + 0.1 * 14.0);
}

/// R41: a follow, with and without a `requestId`.
#[test]
fn the_cost_of_a_follow() {
    let line = write("followUser = 1");
    // Follow 1, and 1 in each of three indexes; UserCounter of both; User checked 2; two blocks that
    // do not exist; Idempotency.
    close(line.own, 2.0 * 8.0 + 3.0);
    close(write("followUser = { rate = 1, request_ids = 0 }").own, 2.0 * 7.0 + 3.0);
    // Notification and the count of unread ones.
    close(line.derived, 2.0 * 2.0);
}

/// R41: a check of a missing item is paid for like the smallest item.
#[test]
fn checks_of_missing_items_are_paid_for() {
    let [strangers, following] = [0, 1]
        .map(|follows| write(&format!("blockUser = {{ rate = 1, follows = {follows} }}")).own);
    // Instead of one of the checks, 2: the follow is deleted, 2 × 1 + 3, and another counter changes, 2.
    close(following - strangers, 5.0 + 2.0 - 2.0);
}

/// R41: posts of an account that becomes private change one by one.
#[test]
fn the_cost_of_becoming_private() {
    let private = write("updateProfilePrivate = { rate = 1, posts = 45 }");
    close(private.own, write("updateProfile = 1").own);
    // Each leaves GSI2, 2, and stays in GSI1, 2, and in the table, 2; the author is checked, 2.
    close(private.derived, 45.0 * (2.0 * (2.0 + 2.0) + 4.0));
}
