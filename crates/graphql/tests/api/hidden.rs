//! What a viewer may not see answers exactly as what does not exist.

use roundtable_domain::NewPost;
use roundtable_model::Visibility;
use serde_json::Value;

use crate::stage::Stage;

/// The answers to the same questions about something hidden and about something that never was.
async fn assert_alike(stage: &Stage, name: &str, questions: &[&str], hidden: &str, missing: &str) {
    for question in questions {
        let caller = || Some(stage.town.caller(name));
        let about = |id: &str| question.replace("ID", id);
        let found = stage.answer(caller(), &about(hidden), Value::Null).await;
        let none = stage.answer(caller(), &about(missing), Value::Null).await;
        assert_eq!(found.to_string().replace(hidden, missing), none.to_string(), "{question}");
    }
}

#[tokio::test]
async fn a_post_for_others_is_as_one_that_never_was() {
    let stage = Stage::of(["ana", "bo"]).await;
    let private = NewPost { visibility: Some(Visibility::Private), ..NewPost::text("mine") };
    let post = stage.town.post_as("ana", private).await;
    let comment = stage.town.comment("ana", &post.id, "a note").await;
    let questions = [
        r#"{ getPost(id: "ID") { id } }"#,
        r#"{ listPostComments(postId: "ID") { items { id } } }"#,
        r#"{ listPostLikes(postId: "ID") { items { postId } } }"#,
        r#"{ hasLiked(postId: "ID") }"#,
        r#"mutation { likePost(postId: "ID") { liked } }"#,
        r#"mutation { toggleLike(postId: "ID") { liked } }"#,
        r#"mutation { sharePost(postId: "ID") { shared } }"#,
        r#"mutation { deletePost(postId: "ID") { id } }"#,
        r#"mutation { updatePost(input: { postId: "ID", content: "x" }) { id } }"#,
        r#"mutation { addComment(input: { postId: "ID", content: "x" }) { id } }"#,
        r#"mutation { reportPost(postId: "ID", reason: "x") { id } }"#,
    ];
    let missing = "01JJM2V8Q0000000000000000";
    assert_alike(&stage, "bo", &questions, &post.id.to_string(), missing).await;
    let questions = [
        r#"{ getComment(id: "ID") { id } }"#,
        r#"mutation { likeComment(commentId: "ID") { id } }"#,
        r#"mutation { deleteComment(commentId: "ID") { id } }"#,
        r#"mutation { reportComment(commentId: "ID", reason: "x") { id } }"#,
    ];
    assert_alike(&stage, "bo", &questions, &comment.id.to_string(), missing).await;
}

#[tokio::test]
async fn whoever_blocked_the_viewer_is_as_nobody() {
    let stage = Stage::of(["ana", "bo"]).await;
    stage.town.post("ana", "hello").await;
    stage.town.block("ana", "bo").await;
    let questions = [
        r#"{ getUser(id: "ID") { id } }"#,
        r#"{ getUserByNickname(nickname: "ID") { id } }"#,
        r#"{ listUserPosts(userId: "ID") { items { id } } }"#,
        r#"{ listFollowers(userId: "ID") { items { status } } }"#,
        r#"{ listUserEntities(userId: "ID") { items { __typename } } }"#,
        r#"{ listActivities(actorId: "ID") { items { verb } } }"#,
        r#"{ isFollowing(followerId: "ID", followeeId: "bo") }"#,
        r#"mutation { followUser(followeeId: "ID") { status } }"#,
    ];
    assert_alike(&stage, "bo", &questions, "ana", "nobody").await;
}

#[tokio::test]
async fn the_profile_of_a_private_account_is_shown_and_what_is_inside_is_empty() {
    let stage = Stage::of(["bo"]).await;
    stage.town.move_in("ana", |ana| ana.is_private = true).await;
    stage.town.post("ana", "hello").await;
    let document = r#"{ getUser(id: "ana") {
        nickname isPrivate email posts { items { id } nextToken } followers { items { status } }
        activities { items { verb } } timeline { items { __typename } } likes { items { postId } }
        comments { items { id } } groups { items { id } } following { items { status } } } }"#;
    let ana = stage.ask("bo", document).await["getUser"].take();
    assert_eq!(ana["nickname"], "ana");
    assert_eq!(ana["email"], Value::Null);
    let inside = [
        "posts",
        "followers",
        "following",
        "activities",
        "timeline",
        "likes",
        "comments",
        "groups",
    ];
    for list in inside {
        assert_eq!(ana[list]["items"], Value::Array(Vec::new()), "{list}");
    }
    let own = stage.ask("ana", "{ me { email posts { items { content } } } }").await;
    assert_eq!(own["me"]["email"], "ana@example.com");
    assert_eq!(own["me"]["posts"]["items"][0]["content"], "hello");
}
