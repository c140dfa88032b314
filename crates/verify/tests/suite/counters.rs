//! Counters against the facts they count (I1), and scores against counters (I6).

use roundtable_model::entities::{
    Comment, CommentCounter, CommentLike, GroupCounter, Like, Post, PostCounter, UserCounter,
};
use roundtable_model::table::{Delete, Update};
use roundtable_model::{Entity, FollowStatus, LikeType, Queue, Score, Shard, UserCount, samples};
use roundtable_verify::Invariant;

use crate::town::{
    Town, broken_keys, comment, count, follow, like, lines, post, post_counter, read,
};

#[tokio::test]
async fn a_consistent_store_has_no_findings() {
    let town = Town::new().await;
    let report = town.check().await;
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(report.total(), 0);
    assert!(report.items > 30 && report.entries > 15, "{report:?}");
    let checked: Vec<String> = report.checked.iter().map(ToString::to_string).collect();
    assert_eq!(checked.join(" "), "I1 I2 I3 I4 I6 I10 I15");
}

#[tokio::test]
async fn a_counter_off_by_one_is_found_and_repaired() {
    let town = Town::new().await;
    town.put(&count("bo", UserCount::Followers, 3)).await;
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        ["I1 USER#bo / COUNTER#FOLLOWERS: expected count 2, the active followers in this shard; \
          found 3"]
    );
    assert_eq!(town.repair_all().await, 1);
    let counter = town.item("USER#bo", "COUNTER#FOLLOWERS").await.unwrap();
    assert_eq!(counter.number("count").unwrap().to_u64(), Some(2));
}

#[tokio::test]
async fn the_version_of_a_circle_survives_a_repair() {
    let town = Town::new().await;
    town.put(&count("ana", UserCount::Following, 7)).await;
    let report = town.check().await;
    let expected = "I1 USER#ana / COUNTER#FOLLOWING: expected count 1, the active follows of this user; \
                    found 7";
    assert_eq!(lines(&report), [expected]);
    town.repair_all().await;
    let counter = town.item("USER#ana", "COUNTER#FOLLOWING").await.unwrap();
    assert_eq!(counter.number("count").unwrap().to_u64(), Some(1));
    assert_eq!(counter.number("version").unwrap().to_u64(), Some(3));
}

#[tokio::test]
async fn a_negative_counter_is_found_and_repaired() {
    let town = Town::new().await;
    let key = UserCounter::at(&read("cleo"), &UserCount::Posts, &Shard::ZERO);
    town.put(&count("cleo", UserCount::Posts, 0)).await;
    town.update(Update::new(key).set("count", -1)).await;
    let report = town.check().await;
    let expected = "I1 USER#cleo / COUNTER#POSTS: expected count 0, the posts that are not deleted; \
                    found -1";
    assert_eq!(lines(&report), [expected]);
    town.repair_all().await;
}

#[tokio::test]
async fn a_missing_counter_counts_as_zero() {
    let town = Town::new().await;
    town.core()
        .delete(Delete::new(UserCounter::at(&read("ana"), &UserCount::Xp, &Shard::ZERO)))
        .await
        .unwrap();
    let report = town.check().await;
    let expected = "I1 USER#ana / COUNTER#XP: expected count 150, the sum of the rewards; \
                    found no such item";
    assert_eq!(lines(&report), [expected]);
    town.repair_all().await;
    let counter = town.item("USER#ana", "COUNTER#XP").await.unwrap();
    assert_eq!(counter.number("count").unwrap().to_u64(), Some(150));
}

#[tokio::test]
async fn each_shard_of_followers_is_counted_separately() {
    let town = Town::new().await;
    let shard = Shard::new(3).unwrap();
    let mut moved = follow("ana", "bo");
    moved.shard = shard;
    town.put(&moved).await;
    let report = town.check().await;
    assert_eq!(
        broken_keys(&report),
        [
            (Invariant::I1, "USER#bo / COUNTER#FOLLOWERS"),
            (Invariant::I1, "USER#bo / COUNTER#FOLLOWERS#3")
        ]
    );
    assert_eq!(town.repair_all().await, 2);
    let counter = town.item("USER#bo", "COUNTER#FOLLOWERS#3").await.unwrap();
    assert_eq!(counter.number("count").unwrap().to_u64(), Some(1));
}

#[tokio::test]
async fn requests_and_pending_members_do_not_count() {
    let town = Town::new().await;
    let mut asking = follow("cleo", "ana");
    (asking.status, asking.active_since) = (FollowStatus::Pending, None);
    town.put(&asking).await;
    assert!(town.check().await.is_clean());
    let counter = GroupCounter { count: 3, ..group_counter(&town).await };
    town.put(&counter).await;
    let report = town.check().await;
    let expected =
        "I1 GROUP#runners / COUNTER#MEMBERS: expected count 2, the active members; found 3";
    assert_eq!(lines(&report), [expected]);
    town.repair_all().await;
}

async fn group_counter(town: &Town) -> GroupCounter {
    let counts = town.tables.core.group_counts(&[read("runners")]).get().await.unwrap();
    counts.into_iter().next().unwrap().unwrap()
}

#[tokio::test]
async fn likes_comments_and_shares_are_counted_again() {
    let town = Town::new().await;
    town.put(&PostCounter { likes: 3, comments: 1, shares: 0, score: 6, ..post_counter() }).await;
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        [
            "I1 POST#p1 / COUNTER#ENGAGEMENT: expected comments 2, the comments that are not deleted; \
             found 1",
            "I1 POST#p1 / COUNTER#ENGAGEMENT: expected likes 2, the likes; found 3",
            "I1 POST#p1 / COUNTER#ENGAGEMENT: expected shares 1, the shares; found 0",
            "I6 POST#p1 / POST: expected no score, as its counter says; found score 10",
        ]
        .map(String::from)
    );
    assert_eq!(town.repair_all().await, 1, "one item states all of it");
    let counter = town.tables.core.post_counters(&[read("p1")]).get().await.unwrap();
    let counter = counter[0].clone().unwrap();
    let PostCounter { likes, comments, shares, score, seq, .. } = counter;
    assert_eq!((likes, comments, shares, score), (2, 2, 1, 13));
    assert_ne!(seq, "0".repeat(40), "what was counted now is not counted once more");
    assert_eq!(town.tables.core.post(&read("p1")).get().await.unwrap().unwrap(), post());
}

/// R53: likes are counted by type. A counter from before that is consistent unless one is not a `like`.
#[tokio::test]
async fn likes_are_counted_again_by_type() {
    let town = Town::new().await;
    town.put(&Like { like_type: LikeType::Love, ..like("cleo") }).await;
    town.put(&PostCounter { laughs: Some(1), ..post_counter() }).await;
    let (post_id, comment_id, user_id) = (read("p1"), read("c1"), read("dan"));
    let like_type = Some(LikeType::Laugh);
    let laugh = CommentLike { post_id, comment_id, user_id, like_type, ..samples::comment_like() };
    town.put(&laugh).await;
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        [
            "I1 POST#p1 / COUNTER#COMMENT#c1: expected laughs 1, the likes of the type laugh; found 0",
            "I1 POST#p1 / COUNTER#COMMENT#c1: expected likes 2, the likes; found 1",
            "I1 POST#p1 / COUNTER#ENGAGEMENT: expected laughs 0, the likes of the type laugh; found 1",
            "I1 POST#p1 / COUNTER#ENGAGEMENT: expected loves 1, the likes of the type love; found 0",
        ]
        .map(String::from)
    );
    assert_eq!(town.repair_all().await, 2);

    let older = PostCounter { loves: None, laughs: None, ..post_counter() };
    town.put(&older).await;
    let report = town.check().await;
    assert_eq!(broken_keys(&report), [(Invariant::I1, "POST#p1 / COUNTER#ENGAGEMENT")]);
    assert_eq!(town.repair_all().await, 1);
    let counter = town.tables.core.post_counters(&[read("p1")]).get().await.unwrap();
    let counter = counter[0].clone().unwrap();
    assert_eq!((counter.likes, counter.loves, counter.laughs), (2, Some(1), Some(0)));
}

#[tokio::test]
async fn a_lost_post_counter_is_rebuilt() {
    let town = Town::new().await;
    town.core().delete(Delete::new(PostCounter::at(&read("p1")))).await.unwrap();
    let report = town.check().await;
    assert_eq!(report.total(), 4, "{:?}", lines(&report));
    town.repair_all().await;
    let counter = town.item("POST#p1", "COUNTER#ENGAGEMENT").await.unwrap();
    assert_eq!(counter.number("score").unwrap().to_u64(), Some(13));
}

#[tokio::test]
async fn a_score_follows_from_the_counter() {
    let town = Town::new().await;
    town.put(&Post { score: Some(Score::new(20)), ..post() }).await;
    let report = town.check().await;
    let expected = "I6 POST#p1 / POST: expected score 10, as its counter says; found score 20";
    assert_eq!(lines(&report), [expected]);
    town.repair_all().await;
    let repaired = town.tables.core.post(&read("p1")).get().await.unwrap().unwrap();
    assert_eq!((repaired.score, repaired.version), (Some(Score::new(10)), post().version + 1));

    town.put(&PostCounter { score: 14, ..post_counter() }).await;
    let report = town.check().await;
    let expected =
        "I6 POST#p1 / COUNTER#ENGAGEMENT: expected the score of what it counts, 13; found 14";
    assert_eq!(lines(&report), [expected]);
    town.repair_all().await;
}

#[tokio::test]
async fn a_deleted_post_does_not_count_and_needs_no_score() {
    let town = Town::new().await;
    town.put(&Post { is_deleted: true, score: None, ..post() }).await;
    let report = town.check().await;
    assert_eq!(broken_keys(&report), [(Invariant::I1, "USER#bo / COUNTER#POSTS")]);
    town.repair_all().await;
}

#[tokio::test]
async fn a_counter_without_a_post_needs_no_score() {
    let town = Town::new().await;
    town.core().delete(Delete::new(Post::at(&read("p1")))).await.unwrap();
    town.put(&count("bo", UserCount::Posts, 0)).await;
    let report = town.check().await;
    assert_eq!(broken_keys(&report), [(Invariant::I6, "POST#p1 / CLIKE#c1#bo")], "left behind");
}

#[tokio::test]
async fn replies_and_likes_of_comments_are_counted_again() {
    let town = Town::new().await;
    let (zero, seq) = (CommentCounter::zero(read("p1"), read("c1")), "0".repeat(40));
    town.put(&CommentCounter { replies: 9, seq, ..zero }).await;
    town.put(&comment("c4", Some("c2"))).await;
    town.put(&PostCounter { comments: 3, score: 16, ..post_counter() }).await;
    let report = town.check().await;
    let c1 = "POST#p1 / COUNTER#COMMENT#c1";
    assert_eq!(
        broken_keys(&report),
        [(Invariant::I1, c1), (Invariant::I1, c1), (Invariant::I1, "POST#p1 / COUNTER#COMMENT#c2")]
    );
    assert_eq!(town.repair_all().await, 2);
}

/// The purge of an account deletes its comments with their counters; replies of others stay.
#[tokio::test]
async fn remains_of_a_purged_comment_do_not_count() {
    let town = Town::new().await;
    for key in [
        Comment::at(&read("p1"), &read("c1")).into_key(),
        CommentCounter::at(&read("p1"), &read("c1")).into_key(),
    ] {
        town.core().delete(Delete::new(key)).await.unwrap();
    }
    town.put(&PostCounter { comments: 1, score: 10, ..post_counter() }).await;
    assert!(town.check().await.is_clean());
    // A counter that exists must be right even if its comment is gone.
    let zero = CommentCounter::zero(read("p1"), read("c1"));
    town.put(&CommentCounter { likes: 1, replies: 2, ..zero }).await;
    let report = town.check().await;
    assert_eq!(broken_keys(&report), [(Invariant::I1, "POST#p1 / COUNTER#COMMENT#c1")]);
    town.repair_all().await;
}

/// A redriven dead letter would be counted twice.
#[tokio::test]
async fn dead_letters_block_the_repair_of_a_counter() {
    let town = Town::new().await;
    let mut letter = roundtable_model::samples::dead_letter();
    letter.queue = Queue::for_changes(&read("counters")).unwrap();
    town.ops().put(letter.put()).await.unwrap();
    town.put(&PostCounter { likes: 1, score: 12, ..post_counter() }).await;
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!(repaired.repaired_count, 0);
    assert!(
        repaired.unrepaired[0].reason.contains("redrive them first"),
        "{:?}",
        repaired.unrepaired
    );
    town.ops().delete(Delete::new(letter.key())).await.unwrap();
    town.repair_all().await;
}

/// The processor would count the pending changes again.
#[tokio::test]
async fn counters_of_a_lagging_processor_are_not_repaired() {
    let town = Town::new().await;
    let mut checkpoint = roundtable_model::samples::checkpoint();
    (checkpoint.processor, checkpoint.sequence) = (read("counters"), "0".repeat(40));
    checkpoint.stream_shard = read("all");
    town.ops().put(checkpoint.put()).await.unwrap();
    town.put(&PostCounter { likes: 1, score: 12, ..post_counter() }).await;
    town.put(&count("bo", UserCount::Posts, 5)).await;
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!(repaired.repaired_count, 1, "the transaction of a post keeps its author's counter");
    assert_eq!(broken_keys(&repaired.report), [(Invariant::I1, "POST#p1 / COUNTER#ENGAGEMENT")]);
    let [left] = &*repaired.unrepaired else { panic!("{:?}", repaired.unrepaired) };
    assert!(left.reason.contains("has not read the stream to its end"), "{}", left.reason);
    let lag = &repaired.report.lag[0];
    assert_eq!((&*lag.processor, lag.trimmed), ("counters", false));
    assert!(lag.changes > lag.facts && lag.facts > 5, "{lag:?}");
    let is_noted = repaired.report.notes.iter().any(|note| note.contains("changes behind"));
    assert!(is_noted, "{:?}", repaired.report.notes);
}
