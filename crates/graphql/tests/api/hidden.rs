//! Hidden and missing objects give exactly the same responses.

use roundtable_domain::NewPost;
use roundtable_model::Visibility;
use serde_json::Value;

use crate::api_town::ApiTown;

/// Asserts that the same documents give the same responses for a hidden and a missing object.
async fn assert_alike(api: &ApiTown, name: &str, questions: &[&str], hidden: &str, missing: &str) {
    for question in questions {
        let caller = || Some(api.town.caller(name));
        let about = |id: &str| question.replace("ID", id);
        let found = api.response(caller(), &about(hidden), Value::Null).await;
        let none = api.response(caller(), &about(missing), Value::Null).await;
        assert_eq!(found.to_string().replace(hidden, missing), none.to_string(), "{question}");
    }
}

#[tokio::test]
async fn a_hidden_post_looks_like_a_missing_one() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let private = NewPost { visibility: Some(Visibility::Private), ..NewPost::text("mine") };
    let post = api.town.post_as("ana", private).await;
    let comment = api.town.comment("ana", &post.id, "a note").await;
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
    assert_alike(&api, "bo", &questions, &post.id.to_string(), missing).await;
    let questions = [
        r#"{ getComment(id: "ID") { id } }"#,
        r#"mutation { likeComment(commentId: "ID") { id } }"#,
        r#"mutation { deleteComment(commentId: "ID") { id } }"#,
        r#"mutation { reportComment(commentId: "ID", reason: "x") { id } }"#,
    ];
    assert_alike(&api, "bo", &questions, &comment.id.to_string(), missing).await;
}

#[tokio::test]
async fn a_user_who_blocked_the_viewer_looks_like_a_missing_one() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.post("ana", "hello").await;
    api.town.block("ana", "bo").await;
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
    assert_alike(&api, "bo", &questions, "ana", "nobody").await;
}

#[tokio::test]
async fn a_private_account_shows_its_profile_and_empty_lists() {
    let api = ApiTown::of(["bo"]).await;
    api.town.add_user("ana", |ana| ana.is_private = true).await;
    api.town.post("ana", "hello").await;
    let document = r#"{ getUser(id: "ana") {
        nickname isPrivate email posts { items { id } nextToken } followers { items { status } }
        activities { items { verb } } timeline { items { __typename } } likes { items { postId } }
        comments { items { id } } groups { items { id } } following { items { status } } } }"#;
    let ana = api.run("bo", document).await["getUser"].take();
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
    let own = api.run("ana", "{ me { email posts { items { content } } } }").await;
    assert_eq!(own["me"]["email"], "ana@example.com");
    assert_eq!(own["me"]["posts"]["items"][0]["content"], "hello");
}
