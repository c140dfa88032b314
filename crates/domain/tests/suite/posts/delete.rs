//! Deletion of posts.

use roundtable_domain::{Code, Likes, PostError, Posts, Refusal};
use roundtable_model::table::Order;
use roundtable_model::{Entity, UserStatus};
use roundtable_testkit::Town;

use super::{first, request};

/// R18, R33: the tombstone has no content, leaves the lists, and its tags and count are removed.
#[tokio::test]
async fn a_tombstone_has_no_content() {
    let town = Town::of(["ana", "bo"]).await;
    let post = town.post("ana", "regret #secret @bo").await;
    let removed = town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
    assert!(removed.is_deleted);
    assert_eq!(removed.content, post.content, "it answers with what was removed");
    let stored = town.stored_post(&post.id).await;
    assert!(stored.is_deleted && stored.content.is_empty());
    assert!(stored.hashtags.is_empty() && stored.mentions.is_empty() && stored.media.is_empty());
    let [by_author, timeline, popular] = stored.index_keys();
    assert!(by_author.is_some() && timeline.is_none() && popular.is_none());
    assert!(town.rows("TAG#secret", "").await.is_empty());
    assert_eq!(town.rows("USER#ana", "COUNTER#POSTS").await, ["COUNTER#POSTS count=0"]);
    let posts = town.posts();
    for viewer in [None, Some(town.caller("ana")), Some(town.mo())] {
        let missing_item = posts.post(viewer.as_ref(), &post.id).await;
        assert!(matches!(missing_item, Err(PostError::NoSuchPost)), "{viewer:?}");
        let by = posts.by(viewer.as_ref(), &town.id("ana"), Order::Descending, &first(9)).await;
        assert!(by.unwrap().items.is_empty());
    }
}

/// R18: moderators delete others' posts, with an audit entry.
#[tokio::test]
async fn moderators_delete_and_it_is_recorded() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let (first, second) = (town.post("ana", "one").await, town.post("ana", "two").await);
    let refused = town.posts().delete(&town.caller("bo"), &first.id, None).await;
    assert!(matches!(refused, Err(PostError::NotAuthor)));
    town.posts().delete(&town.caller("ana"), &first.id, None).await.unwrap();
    assert!(town.audit_trail().await.is_empty(), "deleting an own post is not audited");
    town.posts().delete(&town.mo(), &second.id, None).await.unwrap();
    assert_eq!(town.audit_trail().await, ["mo deletePost "]);
    assert_eq!(town.rows("USER#ana", "COUNTER#POSTS").await, ["COUNTER#POSTS count=0"]);
}

/// R18: missing posts cannot be deleted.
#[tokio::test]
async fn missing_posts_cannot_be_deleted() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let post = town.post("ana", "hello").await;
    let posts = town.posts();
    let nothing = posts.delete(&town.caller("ana"), &"none".parse().unwrap(), None).await;
    assert!(matches!(nothing, Err(PostError::NoSuchPost)));
    town.block("ana", "bo").await;
    let hidden = posts.delete(&town.caller("bo"), &post.id, None).await;
    assert!(matches!(hidden, Err(PostError::NoSuchPost)), "no hint");
    town.set_status("ana", UserStatus::Deleted).await;
    let left = posts.delete(&town.mo(), &post.id, None).await;
    assert!(matches!(left, Err(PostError::NoSuchPost)), "what is left behind is the purge's");
    assert_eq!(town.rows("USER#ana", "COUNTER#POSTS").await, ["COUNTER#POSTS count=1"]);
}

/// R32: deleted and counted once; the repetition returns the tombstone without its text.
#[tokio::test]
async fn a_repeated_request_deletes_once() {
    let town = Town::of(["ana"]).await;
    town.post("ana", "stays").await;
    let (one, two) = (town.post("ana", "one #tag").await, town.post("ana", "two").await);
    let (posts, ana, once) = (town.posts(), town.caller("ana"), request("once"));
    let removed = posts.delete(&ana, &one.id, Some(&once)).await.unwrap();
    let again = posts.delete(&ana, &one.id, Some(&once)).await.unwrap();
    assert_eq!((&again.id, again.is_deleted), (&removed.id, true));
    assert!(again.content.is_empty() && again.hashtags.is_empty(), "it is not kept anywhere");
    let other = posts.delete(&ana, &two.id, Some(&once)).await.unwrap_err();
    assert_eq!(other.code(), Code::IdempotencyMismatch);
    let twice = posts.delete(&ana, &one.id, None).await;
    assert!(matches!(twice, Err(PostError::NoSuchPost)));
    assert_eq!(town.rows("USER#ana", "COUNTER#POSTS").await, ["COUNTER#POSTS count=2"]);
}

/// R33: a like and a deletion in every interleaving: a deleted post is not liked afterwards.
#[tokio::test]
async fn deleted_posts_are_not_liked() {
    let (mut before, mut after) = (0, 0);
    for gap in 1.. {
        let town = Town::of(["ana", "bo"]).await;
        let post = town.post("ana", "hello").await;
        let (posts, ana, id) = (town.posts(), town.caller("ana"), post.id.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            posts.delete(&ana, &id, None).await.unwrap();
        });
        let liked = Likes::new(context).like(&town.caller("bo"), &post.id, None, None).await;
        if !meanwhile.happened() {
            break;
        }
        let stored = town.rows(&format!("POST#{}", post.id), "LIKE#").await;
        assert_eq!(liked.is_ok(), !stored.is_empty(), "{gap}");
        match liked {
            Ok(_) => before += 1,
            Err(refused) => {
                assert_eq!(refused.code(), Code::NotFound);
                after += 1;
            }
        }
    }
    // Only a like before the transaction remains.
    assert_eq!(before, 1);
    assert!(after > 2);
}

/// R33: the other way round: a deletion during a like, an update or another deletion.
#[tokio::test]
async fn a_concurrent_deletion_counts_once() {
    for gap in 1.. {
        let town = Town::of(["ana", "mo"]).await;
        let post = town.post("ana", "hello #there").await;
        let (posts, mo, id) = (town.posts(), town.mo(), post.id.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            // It may already be deleted.
            let _ = posts.delete(&mo, &id, None).await;
        });
        let deleted = Posts::new(context).delete(&town.caller("ana"), &post.id, None).await;
        assert!(matches!(deleted, Ok(_) | Err(PostError::NoSuchPost)));
        assert_eq!(town.rows("USER#ana", "COUNTER#POSTS").await, ["COUNTER#POSTS count=0"]);
        assert!(town.rows("TAG#there", "").await.is_empty());
        if !meanwhile.happened() {
            break;
        }
    }
}
