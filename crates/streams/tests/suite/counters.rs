//! Counters and scores of posts and comments, as rows (R37, I1).

use roundtable_model::entities::{Post, PostCounter};
use roundtable_model::{CommentId, LikeType, PostId, Score};
use roundtable_testkit::Town;

use crate::facts::{Facts, assert_counted};
use crate::test_store::TestStore;

/// The counters of a post and its comments, as rows.
async fn numbers(town: &Town, post: &PostId) -> Vec<String> {
    let rows = town.rows(&format!("POST#{post}"), "COUNTER#").await;
    rows.into_iter().map(|row| row.split(" seq=").next().unwrap().to_owned()).collect()
}

/// R37: reactions are counted from the stream, up and down.
#[tokio::test]
async fn reactions_to_a_post_are_counted() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let post = town.post("ana", "Good morning!").await.id;
    town.like("bo", &post).await;
    town.like("cleo", &post).await;
    town.share("bo", &post).await;
    let comment = town.comment("bo", &post, "To you, too").await;
    town.settle().await;
    assert_eq!(
        numbers(&town, &post).await,
        ["COUNTER#ENGAGEMENT likes=2 loves=0 laughs=0 comments=1 shares=1 score=10"]
    );

    town.likes().unlike(&town.caller("cleo"), &post, None).await.unwrap();
    town.shares().unshare(&town.caller("bo"), &post, None).await.unwrap();
    town.comments().delete(&town.caller("bo"), &comment.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(
        numbers(&town, &post).await,
        ["COUNTER#ENGAGEMENT likes=1 loves=0 laughs=0 comments=0 shares=0 score=1"]
    );
}

/// R19, R37: replies and likes of a comment are counted; a tombstone is no reply.
#[tokio::test]
async fn reactions_to_a_comment_are_counted() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "Good morning!").await.id;
    let comment = town.comment("bo", &post, "What is good about it?").await.id;
    let reply = town.reply("ana", &post, Some(&comment), "The coffee").await.id;
    town.reply("bo", &post, Some(&comment), "Point taken").await;
    let like = |id: &CommentId| {
        let (comments, ana, id) = (town.comments(), town.caller("ana"), id.clone());
        async move { comments.like(&ana, &id, None, None).await.unwrap() }
    };
    like(&comment).await;
    town.settle().await;
    let of_comment = format!("COUNTER#COMMENT#{comment} likes=1 loves=0 laughs=0 replies=2");
    assert_eq!(
        numbers(&town, &post).await,
        [
            of_comment.as_str(),
            "COUNTER#ENGAGEMENT likes=0 loves=0 laughs=0 comments=3 shares=0 score=9"
        ]
    );
    town.comments().delete(&town.caller("ana"), &reply, None).await.unwrap();
    town.settle().await;
    let of_comment = format!("COUNTER#COMMENT#{comment} likes=1 loves=0 laughs=0 replies=1");
    assert_eq!(
        numbers(&town, &post).await,
        [
            of_comment.as_str(),
            "COUNTER#ENGAGEMENT likes=0 loves=0 laughs=0 comments=2 shares=0 score=6"
        ]
    );
}

/// R26: a post enters the popular list at the threshold, is rewritten only when its step changes,
/// and leaves the list again.
#[tokio::test]
async fn a_post_moves_in_the_popular_list_in_steps() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "Good morning!").await.id;
    let popular = async || {
        let page = town.posts().popular(None, &roundtable_domain::PageInput::first()).await;
        let place = |post: Post| (post.id, post.score.map(Score::value));
        page.unwrap().into_items().into_iter().map(place).collect::<Vec<_>>()
    };
    let mut comments = Vec::new();
    for text in ["one", "two", "three"] {
        comments.push(town.comment("bo", &post, text).await.id);
    }
    town.settle().await;
    assert!(popular().await.is_empty(), "nine is below the threshold");
    town.like("bo", &post).await;
    town.settle().await;
    assert_eq!(popular().await, [(post.clone(), Some(10))]);
    let version = town.stored_post(&post).await.version;
    comments.push(town.comment("bo", &post, "four").await.id);
    town.settle().await;
    assert_eq!(town.stored_post(&post).await.version, version, "13 is still in the step of 10");
    for comment in &comments[..2] {
        town.comments().delete(&town.caller("bo"), comment, None).await.unwrap();
    }
    town.settle().await;
    assert!(popular().await.is_empty(), "seven is below the threshold");
}

/// I1, I6: after any history, counters equal the number of facts, and reading everything again
/// changes nothing.
#[tokio::test]
async fn random_histories_are_counted_exactly() {
    for seed in 0..20 {
        let store = TestStore::reference().await;
        let facts = Facts(&store.context);
        facts.history(seed, 60).await;
        store.runner().drain().await.unwrap();
        assert_counted(&store.context).await;
        let mut random = rand::SeedableRng::seed_from_u64(seed);
        for _ in 0..30 {
            facts.step(&mut random).await;
        }
        store.runner().drain().await.unwrap();
        assert_counted(&store.context).await;
    }
}

/// A batch whose effects do not fit into one transaction is split.
#[tokio::test]
async fn a_batch_too_large_for_one_transaction_is_split() {
    let store = TestStore::reference().await;
    let facts = Facts(&store.context);
    for number in 0..150 {
        let post = format!("post{number}");
        facts.post(&post).await;
        facts.comment(&post, &format!("{post}-c"), None).await;
        facts.comment(&post, &format!("{post}-d"), Some(&format!("{post}-c"))).await;
        facts.like(&post, "ana").await;
    }
    store.runner().drain().await.unwrap();
    assert_counted(&store.context).await;
}

/// R53: likes are counted by type, also when one changes its type.
#[tokio::test]
async fn likes_are_counted_by_type() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let post = town.post("ana", "Good morning!").await.id;
    let comment = town.comment("bo", &post, "To you, too").await.id;
    let (likes, comments) = (town.likes(), town.comments());
    let given = [("ana", None), ("bo", Some(LikeType::Love)), ("cleo", Some(LikeType::Laugh))];
    for (name, like_type) in given {
        let caller = town.caller(name);
        likes.like(&caller, &post, like_type, None).await.unwrap();
        comments.like(&caller, &comment, like_type, None).await.unwrap();
    }
    town.settle().await;
    let counted = async || {
        let ids = (post.clone(), comment.clone());
        let of_post = town.posts().counters(std::slice::from_ref(&ids.0)).await.unwrap().remove(0);
        let of_comment = comments.counters(&[ids]).await.unwrap().remove(0);
        let of_post = (of_post.likes, of_post.loves, of_post.laughs);
        (of_post, (of_comment.likes, of_comment.loves, of_comment.laughs))
    };
    let each_once = (3, Some(1), Some(1));
    assert_eq!(counted().await, (each_once, each_once));
    for (name, like_type) in [("ana", LikeType::Love), ("cleo", LikeType::Like)] {
        let caller = town.caller(name);
        likes.like(&caller, &post, Some(like_type), None).await.unwrap();
        comments.like(&caller, &comment, Some(like_type), None).await.unwrap();
    }
    likes.unlike(&town.caller("bo"), &post, None).await.unwrap();
    town.settle().await;
    assert_eq!(counted().await, ((2, Some(1), Some(0)), (3, Some(2), Some(0))));
}

/// R53: in a counter from before likes were counted by type, the types are unknown until there are
/// no likes, or until it is repaired.
#[tokio::test]
async fn types_of_older_likes_are_unknown() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "Good morning!").await.id;
    town.likes().like(&town.caller("bo"), &post, Some(LikeType::Love), None).await.unwrap();
    town.settle().await;
    let older = PostCounter::at(&post).patch();
    let older = older.set(PostCounter::LOVES, &None).set(PostCounter::LAUGHS, &None);
    town.context().core().table().update(older.into()).await.unwrap();
    let loves = async || {
        let ids = std::slice::from_ref(&post);
        let counter = town.posts().counters(ids).await.unwrap().remove(0);
        (counter.likes, counter.loves)
    };
    town.likes().like(&town.caller("ana"), &post, Some(LikeType::Love), None).await.unwrap();
    town.settle().await;
    assert_eq!(loves().await, (2, None));
    for name in ["ana", "bo"] {
        town.likes().unlike(&town.caller(name), &post, None).await.unwrap();
    }
    town.settle().await;
    assert_eq!(loves().await, (0, Some(0)));
}
