//! Counters against the facts they count (I1), and what is derived from those (I6).

use roundtable_model::entities::{
    Comment, CommentCounter, GroupCounter, Post, PostCounter, UserCounter,
};
use roundtable_model::table::{Delete, Update};
use roundtable_model::{Entity, FollowStatus, Queue, Score, Shard, UserCount};
use roundtable_verify::Invariant;

use crate::town::{Town, comment, count, follow, lines, places, post, post_counter, read};

/// R8
#[tokio::test]
async fn a_town_in_order_is_clean() {
    let town = Town::new().await;
    let report = town.check().await;
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(report.total(), 0);
    assert!(report.items > 30 && report.entries > 15, "{report:?}");
    let checked: Vec<String> = report.checked.iter().map(ToString::to_string).collect();
    assert_eq!(checked.join(" "), "I1 I2 I3 I4 I6 I10 I15");
}

/// R8
#[tokio::test]
async fn a_counter_off_by_one_is_found_and_mended() {
    let town = Town::new().await;
    town.put(&count("bo", UserCount::Followers, 3)).await;
    let report = town.check().await;
    assert_eq!(
        lines(&report),
        [
            "I1 USER#bo / COUNTER#FOLLOWERS: expected count 2, the active follows of them in this shard; \
          found 3"
        ]
    );
    assert_eq!(town.mend().await, 1);
    let counter = town.item("USER#bo", "COUNTER#FOLLOWERS").await.unwrap();
    assert_eq!(counter.number("count").unwrap().to_u64(), Some(2));
}

#[tokio::test]
async fn the_version_of_a_circle_survives_the_mending() {
    let town = Town::new().await;
    town.put(&count("ana", UserCount::Following, 7)).await;
    let report = town.check().await;
    let expected = "I1 USER#ana / COUNTER#FOLLOWING: expected count 1, the active follows by them; \
                    found 7";
    assert_eq!(lines(&report), [expected]);
    town.mend().await;
    let counter = town.item("USER#ana", "COUNTER#FOLLOWING").await.unwrap();
    assert_eq!(counter.number("count").unwrap().to_u64(), Some(1));
    assert_eq!(counter.number("version").unwrap().to_u64(), Some(3));
}

#[tokio::test]
async fn a_counter_below_zero_is_found_and_mended() {
    let town = Town::new().await;
    let key = UserCounter::at(&read("cleo"), &UserCount::Posts, &Shard::ZERO);
    town.put(&count("cleo", UserCount::Posts, 0)).await;
    town.update(Update::new(key).set("count", -1)).await;
    let report = town.check().await;
    let expected = "I1 USER#cleo / COUNTER#POSTS: expected count 0, their posts that are not deleted; \
                    found -1";
    assert_eq!(lines(&report), [expected]);
    town.mend().await;
}

#[tokio::test]
async fn a_missing_counter_stands_for_none() {
    let town = Town::new().await;
    town.core()
        .delete(Delete::new(UserCounter::at(&read("ana"), &UserCount::Xp, &Shard::ZERO)))
        .await
        .unwrap();
    let report = town.check().await;
    let expected = "I1 USER#ana / COUNTER#XP: expected count 150, the sum of their rewards; \
                    found no such item";
    assert_eq!(lines(&report), [expected]);
    town.mend().await;
    let counter = town.item("USER#ana", "COUNTER#XP").await.unwrap();
    assert_eq!(counter.number("count").unwrap().to_u64(), Some(150));
}

/// R39
#[tokio::test]
async fn each_shard_of_followers_is_counted_by_itself() {
    let town = Town::new().await;
    let shard = Shard::new(3).unwrap();
    let mut moved = follow("ana", "bo");
    moved.shard = shard;
    town.put(&moved).await;
    let report = town.check().await;
    assert_eq!(
        places(&report),
        [
            (Invariant::I1, "USER#bo / COUNTER#FOLLOWERS"),
            (Invariant::I1, "USER#bo / COUNTER#FOLLOWERS#3")
        ]
    );
    assert_eq!(town.mend().await, 2);
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
    town.mend().await;
}

async fn group_counter(town: &Town) -> GroupCounter {
    let counts = town.tables.core.group_counts(&[read("runners")]).get().await.unwrap();
    counts.into_iter().next().unwrap().unwrap()
}

/// R19, R20, R37
#[tokio::test]
async fn what_people_did_with_a_post_is_counted_again() {
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
    assert_eq!(town.mend().await, 1, "one item states all of it");
    let counter = town.tables.core.post_counters(&[read("p1")]).get().await.unwrap();
    let counter = counter[0].clone().unwrap();
    let PostCounter { likes, comments, shares, score, seq, .. } = counter;
    assert_eq!((likes, comments, shares, score), (2, 2, 1, 13));
    assert_ne!(seq, "0".repeat(40), "what was counted now is not counted once more");
    assert_eq!(town.tables.core.post(&read("p1")).get().await.unwrap().unwrap(), post());
}

#[tokio::test]
async fn a_lost_post_counter_is_rebuilt() {
    let town = Town::new().await;
    town.core().delete(Delete::new(PostCounter::at(&read("p1")))).await.unwrap();
    let report = town.check().await;
    assert_eq!(report.total(), 4, "{:?}", lines(&report));
    town.mend().await;
    let counter = town.item("POST#p1", "COUNTER#ENGAGEMENT").await.unwrap();
    assert_eq!(counter.number("score").unwrap().to_u64(), Some(13));
}

/// R26
#[tokio::test]
async fn a_score_follows_from_the_counter() {
    let town = Town::new().await;
    town.put(&Post { score: Some(Score::new(20)), ..post() }).await;
    let report = town.check().await;
    let expected = "I6 POST#p1 / POST: expected score 10, as its counter says; found score 20";
    assert_eq!(lines(&report), [expected]);
    town.mend().await;
    let mended = town.tables.core.post(&read("p1")).get().await.unwrap().unwrap();
    assert_eq!((mended.score, mended.version), (Some(Score::new(10)), post().version + 1));

    town.put(&PostCounter { score: 14, ..post_counter() }).await;
    let report = town.check().await;
    let expected =
        "I6 POST#p1 / COUNTER#ENGAGEMENT: expected the score of what it counts, 13; found 14";
    assert_eq!(lines(&report), [expected]);
    town.mend().await;
}

/// A tombstone keeps its place in the popular posts out of mind, and its author's count.
#[tokio::test]
async fn a_deleted_post_counts_for_nobody_and_has_no_score_to_keep() {
    let town = Town::new().await;
    town.put(&Post { is_deleted: true, score: None, ..post() }).await;
    let report = town.check().await;
    assert_eq!(places(&report), [(Invariant::I1, "USER#bo / COUNTER#POSTS")]);
    town.mend().await;
}

/// Nothing is there that could be listed.
#[tokio::test]
async fn the_counter_of_no_post_has_no_score_to_keep() {
    let town = Town::new().await;
    town.core().delete(Delete::new(Post::at(&read("p1")))).await.unwrap();
    town.put(&count("bo", UserCount::Posts, 0)).await;
    assert!(town.check().await.is_clean());
}

/// R19
#[tokio::test]
async fn replies_and_likes_of_comments_are_counted_again() {
    let town = Town::new().await;
    let (post_id, comment_id, seq) = (read("p1"), read("c1"), "0".repeat(40));
    town.put(&CommentCounter { post_id, comment_id, likes: 0, replies: 9, seq }).await;
    town.put(&comment("c4", Some("c2"))).await;
    town.put(&PostCounter { comments: 3, score: 16, ..post_counter() }).await;
    let report = town.check().await;
    let c1 = "POST#p1 / COUNTER#COMMENT#c1";
    assert_eq!(
        places(&report),
        [(Invariant::I1, c1), (Invariant::I1, c1), (Invariant::I1, "POST#p1 / COUNTER#COMMENT#c2")]
    );
    assert_eq!(town.mend().await, 2);
}

/// The purge of an account takes its comments away with their counters; answers of others stay.
#[tokio::test]
async fn what_is_left_of_a_purged_comment_counts_for_nobody() {
    let town = Town::new().await;
    for key in [
        Comment::at(&read("p1"), &read("c1")).into_key(),
        CommentCounter::at(&read("p1"), &read("c1")).into_key(),
    ] {
        town.core().delete(Delete::new(key)).await.unwrap();
    }
    town.put(&PostCounter { comments: 1, score: 10, ..post_counter() }).await;
    assert!(town.check().await.is_clean());
    // A counter that is there must be right, whatever it is about.
    let (post_id, comment_id, seq) = (read("p1"), read("c1"), String::new());
    town.put(&CommentCounter { post_id, comment_id, likes: 1, replies: 2, seq }).await;
    let report = town.check().await;
    assert_eq!(places(&report), [(Invariant::I1, "POST#p1 / COUNTER#COMMENT#c1")]);
    town.mend().await;
}

/// A parked change counts when it is redriven: counted now, it would count twice.
#[tokio::test]
async fn what_is_parked_is_not_counted_by_a_repair() {
    let town = Town::new().await;
    let mut letter = roundtable_model::samples::dead_letter();
    letter.queue = Queue::of_changes(&read("counters")).unwrap();
    town.ops().put(letter.put()).await.unwrap();
    town.put(&PostCounter { likes: 1, score: 12, ..post_counter() }).await;
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!(repaired.mended, 0);
    assert!(repaired.left[0].reason.contains("redrive them first"), "{:?}", repaired.left);
    town.ops().delete(Delete::new(letter.key())).await.unwrap();
    town.mend().await;
}

/// A processor that has not read everything would count twice what was counted here.
#[tokio::test]
async fn what_processors_keep_is_left_while_they_are_behind() {
    let town = Town::new().await;
    let mut checkpoint = roundtable_model::samples::checkpoint();
    (checkpoint.processor, checkpoint.sequence) = (read("counters"), "0".repeat(40));
    checkpoint.stream_shard = read("all");
    town.ops().put(checkpoint.put()).await.unwrap();
    town.put(&PostCounter { likes: 1, score: 12, ..post_counter() }).await;
    town.put(&count("bo", UserCount::Posts, 5)).await;
    let repaired = town.verify().repair().await.unwrap();
    assert_eq!(repaired.mended, 1, "the transaction of a post keeps its author's counter");
    assert_eq!(places(&repaired.report), [(Invariant::I1, "POST#p1 / COUNTER#ENGAGEMENT")]);
    let [left] = &*repaired.left else { panic!("{:?}", repaired.left) };
    assert!(left.reason.contains("has not read the stream to its end"), "{}", left.reason);
    let lag = &repaired.report.lag[0];
    assert_eq!((&*lag.processor, lag.trimmed), ("counters", false));
    assert!(lag.changes > lag.facts && lag.facts > 5, "{lag:?}");
    let told = repaired.report.notes.iter().any(|note| note.contains("changes behind"));
    assert!(told, "{:?}", repaired.report.notes);
}
