//! Totals of plans, compared with the documents' estimates and the store's own counts.

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_model::entities::{FeedItem, Post};
use roundtable_model::table::{Capacity, ManualClock, Recorder, Store};
use roundtable_model::{Core, Entity, Span, samples};
use roundtable_planning::capacity::{
    CapacityPlan, Prices, ReadCost, RequestRates, catalogue, plan,
};

use super::{close, planned, read, sizes};

/// R41: the small design of s3, compared with its estimate of 200 and 50 units a second.
#[test]
fn the_small_design_costs_more_than_its_estimate() {
    sizes!(user = 1593, user_counter = 162, post = 1144, post_counter = 190, follow = 698);
    let rates = RequestRates::documents().unwrap();
    let plan = plan(&rates[0], &Prices::published().unwrap()).unwrap();
    assert_eq!(plan.name, "MVP");
    let estimate = plan.estimate.unwrap();
    close(estimate.read, 200.0);
    close(estimate.write, 50.0);
    let lists = 2.0; // 21 × 698 = 14,658 B, 4 steps
    close(
        patterns(&plan),
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
            + 25.0 * (13.0 + 5.4) // likePost
            + 2.5 * (19.0 + 4.0) // followUser
            + 2.5 * (13.0 + 4.0) // unfollowUser
            + 2.0 * 12.0, // updateProfile
    );
    let mutations: f64 = plan.writes.iter().map(|line| line.reads * line.per_second).sum();
    close(plan.read_units(), 3435.0 + mutations);
    // A month has 730 × 3,600 = 2,628,000 seconds.
    close(plan.monthly_read_cost(), plan.read_units() * 2.628 * 0.125);
    close(plan.monthly_write_cost(), 1004.0 * 2.628 * 0.625);
    close(plan.monthly_cost(), plan.monthly_read_cost() + plan.monthly_write_cost());
}

/// R41: the full design of s3, compared with its estimate of 400 and 200 units a second.
#[test]
fn the_full_design_costs_more_than_its_estimate() {
    sizes!(feed_item = 436, feed_horizon = 119, post = 1144, post_counter = 190, follow = 698);
    let rates = RequestRates::documents().unwrap();
    let plan = plan(&rates[1], &Prices::published().unwrap()).unwrap();
    assert_eq!((rates.len(), plan.name.as_str()), (2, "full"));
    let estimate = plan.estimate.unwrap();
    close(estimate.read, 400.0);
    close(estimate.write, 200.0);
    let lists = 9.0; // 101 × 698 = 70,498 B, 18 steps
    close(
        patterns(&plan),
        100.0 * (0.5 + 1.5) // profile, its counts
            + 200.0 * (1.5 + 1.0) // feed, where it ends
            + 200.0 * 20.0 * (0.5 + 0.5) // its posts, with counts
            + 50.0 * (1.0 + 0.5) // post, with counts
            + 10.0 * (lists + lists + 1.0), // following, followers, follows
    );
    close(
        plan.write_units(),
        20.0 * (24.0 + 4.0 + 6.0) // createPost, into five feeds
            + 50.0 * (13.0 + 5.4) // likePost
            + 15.0 * (17.0 + 11.4) // addComment
            + 5.0 * (19.0 + 4.0) // followUser
            + 5.0 * (13.0 + 4.0), // unfollowUser
    );
}

/// Returns the read units per second of access patterns, without those of mutations.
fn patterns(plan: &CapacityPlan) -> f64 {
    plan.reads.iter().map(ReadCost::units_per_second).sum()
}

/// R41: the plan equals the capacity that the store reports for the model's reads.
#[tokio::test]
async fn the_store_reports_the_planned_units() {
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
        capacity.read_units()
    };
    counted();

    let page = core.posts_by(&samples::post().author_id).limit(50).page().await.unwrap();
    assert_eq!(page.items.len(), 50);
    close(counted(), read("posts_by = { rate = 1, items = 50 }"));
    let reader = samples::feed_item().follower_id;
    let page = core.feed_items(&reader, Span::ALL).limit(20).page().await.unwrap();
    assert_eq!(page.items.len(), 20);
    close(counted(), read("feed_items = { rate = 1, items = 20 }"));
}

/// R41: every access pattern and every mutation has a cost.
#[test]
fn every_pattern_and_mutation_has_a_cost() {
    let all = catalogue().unwrap();
    let patterns = roundtable_model::SCHEMA.iter().map(|table| table.patterns.len());
    assert_eq!(all.reads.len(), patterns.sum::<usize>());
    assert!(all.reads.iter().all(|line| line.units >= 0.5));
    for mutation in &all.writes {
        assert!(mutation.mutation.own_units(&mutation.counts) >= 1.0);
    }
    let text = all.to_string();
    assert!(text.contains("\nposts_by               Query GSI1, 20 Post of 1144 B"), "{text}");
}

/// R41: the plan as it is printed.
#[test]
fn a_plan_prints_as_this_text() {
    let text = planned(
        "[reads]
         post = 40
         timeline = { rate = 100, items = 50, partitions = 4 }
         [writes]
         likePost = 25",
    );
    let expected = "\
plan

read          how                                               units/call  calls/s  units/s
post          Get table strong, 1 Post of 1144 B                         1       40       40
timeline      WalkDays GSI2, 50 Post of 1144 B in 4 partitions          16      100    1,600
by mutations                                                                             725
total                                                                                  2,365

write     own/call  derived/call  reads/call  calls/s  units/s
likePost        13           5.4          29       25      460
total                                                      460

a month of 730 hours: 776.90 for reads + 755.55 for writes = 1,532.45 USD
on demand in us-east-1 since 2024-11-01: 0.125 a million read units, 0.625 a million write units
";
    assert_eq!(text.to_string(), expected);
}
