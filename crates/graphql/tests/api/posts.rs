//! R18 to R20, R27: posts, comments, likes and shares, as clients see and change them.

use serde_json::{Value, json};

use crate::stage::{Stage, each};

#[tokio::test]
async fn a_post_is_written_read_changed_and_deleted() {
    let stage = Stage::of(["ana", "bo"]).await;
    let create = r#"mutation { createPost(input: { content: "Hello @bo, it is #spring", contentType: text }) {
        id authorId author { nickname } groupId feedId content contentType visibility moderationStatus isDeleted
        hashtags mentions likeCount commentCount shareCount engagementScore viewerHasLiked viewerHasShared media { s3Key } } }"#;
    let post = stage.ask("ana", create).await["createPost"].take();
    assert_eq!(post["hashtags"], json!(["spring"]));
    assert_eq!(post["mentions"], json!(["bo"]));
    assert_eq!(post["visibility"], "public");
    assert_eq!(post["moderationStatus"], "APPROVED");
    assert_eq!(post["author"]["nickname"], "ana");
    assert_eq!(post["engagementScore"], 0.0);
    let id = post["id"].as_str().unwrap();
    let update = |what: &str| {
        format!(
            r#"mutation {{ updatePost(input: {{ postId: "{id}" {what} }}) {{ content visibility }} }}"#
        )
    };
    let kept = stage.ask("ana", &update("visibility: followers")).await["updatePost"].take();
    assert_eq!(kept, json!({"content": "Hello @bo, it is #spring", "visibility": "followers"}));
    assert_eq!(stage.refused("ana", &update("visibility: null")).await, "BAD_REQUEST");
    let document = format!(r#"{{ getPost(id: "{id}") {{ content }} }}"#);
    assert_eq!(stage.ask("bo", &document).await["getPost"], Value::Null, "for followers only");
    let gone = stage
        .ask("ana", &format!(r#"mutation {{ deletePost(postId: "{id}") {{ isDeleted }} }}"#))
        .await;
    assert_eq!(gone["deletePost"]["isDeleted"], true);
    assert_eq!(stage.ask("ana", &document).await["getPost"], Value::Null);
}

#[tokio::test]
async fn likes_comments_and_shares_are_counted_and_marked() {
    let stage = Stage::of(["ana", "bo"]).await;
    let post = stage.town.post("ana", "hello").await.id;
    let like = stage.ask("bo", &format!(r#"mutation {{ likePost(postId: "{post}", likeType: love) {{ liked post {{ viewerHasLiked }} }} }}"#)).await;
    assert_eq!(like["likePost"], json!({"liked": true, "post": {"viewerHasLiked": true}}));
    let share = stage
        .ask("bo", &format!(r#"mutation {{ sharePost(postId: "{post}") {{ shared }} }}"#))
        .await;
    assert_eq!(share["sharePost"]["shared"], true);
    let add = format!(
        r#"mutation {{ addComment(input: {{ postId: "{post}", content: "nice" }}) {{ id likesCount user {{ nickname }} post {{ content }} }} }}"#
    );
    let comment = stage.ask("bo", &add).await["addComment"]["id"].as_str().unwrap().to_owned();
    let reply = format!(
        r#"mutation {{ addComment(input: {{ postId: "{post}", content: "thanks", parentCommentId: "{comment}" }}) {{ parentCommentId }} }}"#
    );
    assert_eq!(stage.ask("ana", &reply).await["addComment"]["parentCommentId"], comment.as_str());
    stage
        .ask("ana", &format!(r#"mutation {{ likeComment(commentId: "{comment}") {{ id }} }}"#))
        .await;
    stage.town.settle().await;
    let document = format!(
        r#"{{ getPost(id: "{post}") {{ likeCount commentCount shareCount viewerHasLiked viewerHasShared
            comments {{ items {{ content }} }} likes {{ items {{ likeType user {{ nickname }} }} }} }}
            getComment(id: "{comment}") {{ likesCount repliesCount viewerHasLiked replies {{ items {{ content }} }} }} }}"#
    );
    let seen = stage.ask("bo", &document).await;
    assert_eq!(seen["getPost"]["likeCount"], 1);
    assert_eq!(seen["getPost"]["commentCount"], 2);
    assert_eq!(seen["getPost"]["shareCount"], 1);
    assert_eq!(seen["getPost"]["viewerHasShared"], true);
    assert_eq!(each(&seen["getPost"]["comments"], "content"), ["nice", "thanks"]);
    assert_eq!(
        seen["getPost"]["likes"]["items"],
        json!([{"likeType": "love", "user": {"nickname": "bo"}}])
    );
    let expected = json!({"likesCount": 1, "repliesCount": 1, "viewerHasLiked": false,
        "replies": {"items": [{"content": "thanks"}]}});
    assert_eq!(seen["getComment"], expected);
}

#[tokio::test]
async fn likes_and_shares_are_taken_back() {
    let stage = Stage::of(["ana", "bo"]).await;
    let post = stage.town.post("ana", "hello").await.id;
    stage.town.like("bo", &post).await;
    stage.town.share("bo", &post).await;
    let document = format!(
        r#"mutation {{ unlikePost(postId: "{post}") {{ liked post {{ viewerHasLiked }} }} unsharePost(postId: "{post}") {{ shared post {{ viewerHasShared }} }}
            toggleLike(postId: "{post}") {{ liked post {{ viewerHasLiked }} }} }}"#
    );
    let done = stage.ask("bo", &document).await;
    // Each answer is of its own moment, also where one document changes the same thing twice.
    assert_eq!(done["unlikePost"], json!({"liked": false, "post": {"viewerHasLiked": false}}));
    assert_eq!(done["unsharePost"], json!({"shared": false, "post": {"viewerHasShared": false}}));
    assert_eq!(done["toggleLike"], json!({"liked": true, "post": {"viewerHasLiked": true}}));
    let liked = format!(
        r#"{{ hasLiked(postId: "{post}") theirs: hasLiked(postId: "{post}", userId: "ana") listLikedPosts {{ items {{ post {{ content }} }} }} }}"#
    );
    let seen = stage.ask("bo", &liked).await;
    assert_eq!((&seen["hasLiked"], &seen["theirs"]), (&json!(true), &json!(false)));
    assert_eq!(seen["listLikedPosts"]["items"][0]["post"]["content"], "hello");
}

#[tokio::test]
async fn comments_are_read_in_both_orders_changed_and_deleted() {
    let stage = Stage::of(["ana", "bo"]).await;
    let post = stage.town.post("ana", "hello").await.id;
    let first = stage.town.comment("bo", &post, "one").await.id;
    stage.town.comment("bo", &post, "two").await;
    let list = |order: &str| {
        format!(r#"{{ listPostComments(postId: "{post}" {order}) {{ items {{ content }} }} }}"#)
    };
    for (order, expected) in [
        ("", ["one", "two"]),
        ("sortDirection: ASC", ["one", "two"]),
        ("sortDirection: DESC", ["two", "one"]),
    ] {
        let seen = stage.ask("ana", &list(order)).await;
        assert_eq!(each(&seen["listPostComments"], "content"), expected, "{order}");
    }
    let update = format!(
        r#"mutation {{ updateComment(commentId: "{first}", content: "1") {{ content }} }}"#
    );
    assert_eq!(stage.refused("ana", &update).await, "FORBIDDEN");
    assert_eq!(stage.ask("bo", &update).await["updateComment"]["content"], "1");
    let gone = stage
        .ask(
            "bo",
            &format!(r#"mutation {{ deleteComment(commentId: "{first}") {{ isDeleted }} }}"#),
        )
        .await;
    assert_eq!(gone["deleteComment"]["isDeleted"], true);
    let mine = stage.ask("bo", r#"{ listUserComments(userId: "bo") { items { content } } }"#).await;
    assert_eq!(each(&mine["listUserComments"], "content"), ["two"]);
}
