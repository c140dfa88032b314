//! The cost of access patterns.

use roundtable_model::{Entity, samples};

use super::{close, read, sizes};

/// R41: a page of 50 posts.
#[test]
fn the_cost_of_a_page_of_50_posts() {
    sizes!(post = 1144);
    // 51 are read, to know whether there are more: 51 × 1,144 = 58,344 B. That is 14.2 times
    // 4 KB, rounded up 15; eventual, half of it.
    close(read("timeline = { rate = 1, items = 50 }"), 7.5);
    close(read("posts_by = { rate = 1, items = 50 }"), 7.5);
    // Of four shards, twice its share is read from each: 2 × 51 / 4, rounded up 26.
    // 26 × 1,144 = 29,744 B is 7.3 times 4 KB, rounded up 8: 4 units each.
    close(read("timeline = { rate = 1, items = 50, partitions = 4 }"), 16.0);
    // By their keys, each is rounded up by itself; one read strongly costs a unit.
    close(read("posts = { rate = 1, items = 50 }"), 25.0);
    close(read("post = 1"), 1.0);
}

/// R41: a feed of 20 items.
#[test]
fn the_cost_of_a_feed_of_20_items() {
    sizes!(feed_item = 436, activity = 483);
    // 21 × 436 = 9,156 B: 2.2 times 4 KB, rounded up 3; eventual, half of it.
    close(read("feed_items = { rate = 1, items = 20 }"), 1.5);
    close(read("feed_items = { rate = 1, items = 20, strong = true }"), 3.0);
    // Pulled from 200 followees instead, each is a query of one item at least: half a unit.
    close(read("activities = { rate = 1, items = 20, partitions = 200 }"), 100.0);
    // From 2 of them: 21 items each, 21 × 483 = 10,143 B, 3 steps.
    close(read("activities = { rate = 1, items = 20, partitions = 2 }"), 3.0);
}

/// R41: missing and filtered items are paid for.
#[test]
fn missing_items_are_paid_for() {
    sizes!(like = 394, quest = 627);
    // 20 keys, most without an item: a unit each, as it is strong.
    close(read("liked = { rate = 1, items = 20, found = 0.1 }"), 20.0);
    // A quarter passes the filter: 21 / 0.25 = 84 are read. 84 × 627 = 52,668 B, 13 steps.
    close(read("quests_linked_to_goal = { rate = 1, items = 20, found = 0.25 }"), 6.5);
}
