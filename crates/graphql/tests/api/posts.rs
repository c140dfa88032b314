//! R18 to R20, R27: posts, comments, likes and shares.

use roundtable_domain::NewPost;
use roundtable_model::Visibility;
use serde_json::{Value, json};

use crate::api_town::{ApiTown, fields};

#[tokio::test]
async fn a_post_is_created_read_updated_and_deleted() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let create = r#"mutation { createPost(input: { content: "Hello @bo, it is #spring", contentType: text }) {
        id authorId author { nickname } groupId feedId content contentType visibility moderationStatus isDeleted
        hashtags mentions likeCount commentCount shareCount engagementScore viewerHasLiked viewerHasShared media { s3Key } } }"#;
    let post = api.run("ana", create).await["createPost"].take();
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
    let kept = api.run("ana", &update("visibility: followers")).await["updatePost"].take();
    assert_eq!(kept, json!({"content": "Hello @bo, it is #spring", "visibility": "followers"}));
    assert_eq!(api.error_code("ana", &update("visibility: null")).await, "BAD_REQUEST");
    let document = format!(r#"{{ getPost(id: "{id}") {{ content }} }}"#);
    assert_eq!(api.run("bo", &document).await["getPost"], Value::Null, "for followers only");
    let gone = api
        .run("ana", &format!(r#"mutation {{ deletePost(postId: "{id}") {{ isDeleted }} }}"#))
        .await;
    assert_eq!(gone["deletePost"]["isDeleted"], true);
    assert_eq!(api.run("ana", &document).await["getPost"], Value::Null);
}

/// R27: posts in a list with their statistics, in the order of the ids.
#[tokio::test]
async fn summaries_have_the_statistics_of_visible_posts() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let (first, second) =
        (api.town.post("ana", "one").await.id, api.town.post("bo", "two").await.id);
    let hidden = NewPost { visibility: Some(Visibility::Private), ..NewPost::text("mine") };
    let hidden = api.town.post_as("ana", hidden).await.id;
    api.town.like("bo", &first).await;
    api.town.comment("bo", &first, "nice").await;
    api.town.share("bo", &first).await;
    api.town.settle().await;
    let document = format!(
        r#"{{ getPostSummaries(postIds: ["{second}", "{hidden}", "none", "{first}"]) {{
            postId authorId authorNickname groupId content contentType visibility moderationStatus
            likeCount commentCount shareCount engagementScore createdAt }} }}"#
    );
    let seen = api.run("bo", &document).await["getPostSummaries"].take();
    assert_eq!((&seen[0]["content"], &seen[0]["likeCount"]), (&json!("two"), &json!(0)));
    assert_eq!((&seen[1], &seen[2]), (&Value::Null, &Value::Null));
    let found = &seen[3];
    assert_eq!((&found["postId"], &found["authorNickname"]), (&json!(first), &json!("ana")));
    let counts = ["likeCount", "commentCount", "shareCount"].map(|name| found[name].clone());
    assert_eq!(counts, [json!(1), json!(1), json!(1)]);
    assert_eq!(found["engagementScore"], 9.0);
    assert_eq!(api.run("ana", &document).await["getPostSummaries"][1]["content"], "mine");
    let many = vec![format!("\"{first}\""); 101].join(",");
    let document = format!("{{ getPostSummaries(postIds: [{many}]) {{ postId }} }}");
    assert_eq!(api.error_code("bo", &document).await, "BAD_REQUEST");
}

#[tokio::test]
async fn likes_comments_and_shares_are_counted() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let post = api.town.post("ana", "hello").await.id;
    let like = api.run("bo", &format!(r#"mutation {{ likePost(postId: "{post}", likeType: love) {{ liked post {{ viewerHasLiked }} }} }}"#)).await;
    assert_eq!(like["likePost"], json!({"liked": true, "post": {"viewerHasLiked": true}}));
    let share =
        api.run("bo", &format!(r#"mutation {{ sharePost(postId: "{post}") {{ shared }} }}"#)).await;
    assert_eq!(share["sharePost"]["shared"], true);
    let add = format!(
        r#"mutation {{ addComment(input: {{ postId: "{post}", content: "nice" }}) {{ id likesCount user {{ nickname }} post {{ content }} }} }}"#
    );
    let comment = api.run("bo", &add).await["addComment"]["id"].as_str().unwrap().to_owned();
    let reply = format!(
        r#"mutation {{ addComment(input: {{ postId: "{post}", content: "thanks", parentCommentId: "{comment}" }}) {{ parentCommentId }} }}"#
    );
    assert_eq!(api.run("ana", &reply).await["addComment"]["parentCommentId"], comment.as_str());
    api.run("ana", &format!(r#"mutation {{ likeComment(commentId: "{comment}") {{ id }} }}"#))
        .await;
    api.town.settle().await;
    let document = format!(
        r#"{{ getPost(id: "{post}") {{ likeCount commentCount shareCount viewerHasLiked viewerHasShared
            comments {{ items {{ content }} }} likes {{ items {{ likeType user {{ nickname }} }} }} }}
            getComment(id: "{comment}") {{ likesCount repliesCount viewerHasLiked replies {{ items {{ content }} }} }} }}"#
    );
    let data = api.run("bo", &document).await;
    assert_eq!(data["getPost"]["likeCount"], 1);
    assert_eq!(data["getPost"]["commentCount"], 2);
    assert_eq!(data["getPost"]["shareCount"], 1);
    assert_eq!(data["getPost"]["viewerHasShared"], true);
    assert_eq!(fields(&data["getPost"]["comments"], "content"), ["nice", "thanks"]);
    assert_eq!(
        data["getPost"]["likes"]["items"],
        json!([{"likeType": "love", "user": {"nickname": "bo"}}])
    );
    let expected = json!({"likesCount": 1, "repliesCount": 1, "viewerHasLiked": false,
        "replies": {"items": [{"content": "thanks"}]}});
    assert_eq!(data["getComment"], expected);
}

#[tokio::test]
async fn likes_and_shares_can_be_undone() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let post = api.town.post("ana", "hello").await.id;
    api.town.like("bo", &post).await;
    api.town.share("bo", &post).await;
    let document = format!(
        r#"mutation {{ unlikePost(postId: "{post}") {{ liked post {{ viewerHasLiked }} }} unsharePost(postId: "{post}") {{ shared post {{ viewerHasShared }} }}
            toggleLike(postId: "{post}") {{ liked post {{ viewerHasLiked }} }} }}"#
    );
    let done = api.run("bo", &document).await;
    // Each field shows the state at its own time, even if one document changes the same object twice.
    assert_eq!(done["unlikePost"], json!({"liked": false, "post": {"viewerHasLiked": false}}));
    assert_eq!(done["unsharePost"], json!({"shared": false, "post": {"viewerHasShared": false}}));
    assert_eq!(done["toggleLike"], json!({"liked": true, "post": {"viewerHasLiked": true}}));
    let liked = format!(
        r#"{{ hasLiked(postId: "{post}") theirs: hasLiked(postId: "{post}", userId: "ana") listLikedPosts {{ items {{ post {{ content }} }} }} }}"#
    );
    let data = api.run("bo", &liked).await;
    assert_eq!((&data["hasLiked"], &data["theirs"]), (&json!(true), &json!(false)));
    assert_eq!(data["listLikedPosts"]["items"][0]["post"]["content"], "hello");
}

#[tokio::test]
async fn a_like_of_a_comment_can_be_undone() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let post = api.town.post("ana", "hello").await.id;
    let comment = api.town.comment("bo", &post, "nice").await.id;
    let read = format!(r#"{{ getComment(id: "{comment}") {{ likesCount viewerHasLiked }} }}"#);
    let like =
        format!(r#"mutation {{ likeComment(commentId: "{comment}") {{ viewerHasLiked }} }}"#);
    assert_eq!(api.run("ana", &like).await["likeComment"]["viewerHasLiked"], true);
    api.settle().await;
    let liked = json!({"likesCount": 1, "viewerHasLiked": true});
    assert_eq!(api.run("ana", &read).await["getComment"], liked);
    let unlike = like.replace("likeComment", "unlikeComment");
    // The second time it has no effect.
    for _ in 0..2 {
        assert_eq!(api.run("ana", &unlike).await["unlikeComment"]["viewerHasLiked"], false);
        api.settle().await;
        let unliked = json!({"likesCount": 0, "viewerHasLiked": false});
        assert_eq!(api.run("ana", &read).await["getComment"], unliked);
    }
}

/// R53: reactions by kind, on posts and on comments.
#[tokio::test]
async fn likes_are_counted_by_kind() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    let post = api.town.post("ana", "hello").await.id;
    let comment = api.town.comment("bo", &post, "nice").await.id;
    for (name, kind) in [("ana", "love"), ("bo", "love"), ("cleo", "like"), ("bo", "laugh")] {
        let document = format!(
            r#"mutation {{ likePost(postId: "{post}", likeType: {kind}) {{ liked }}
                likeComment(commentId: "{comment}", likeType: {kind}) {{ viewerHasLiked }} }}"#
        );
        api.run(name, &document).await;
    }
    api.settle().await;
    let document = format!(
        r#"{{ getPost(id: "{post}") {{ likeCounts {{ type count }} }}
            getComment(id: "{comment}") {{ likesCount likeCounts {{ type count }} }} }}"#
    );
    let data = api.run_as(None, &document).await;
    let expected = json!([{"type": "like", "count": 1}, {"type": "love", "count": 1},
        {"type": "laugh", "count": 1}]);
    assert_eq!(data["getPost"]["likeCounts"], expected);
    assert_eq!(data["getComment"], json!({"likesCount": 3, "likeCounts": expected}));
}

/// R53: hashtags and mentions of comments, and posts by tag.
#[tokio::test]
async fn comments_have_hashtags_and_posts_are_listed_by_tag() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let first = api.town.post("ana", "one #Spring").await.id;
    api.town.post("bo", "two #spring").await;
    let add = format!(
        r##"mutation {{ addComment(input: {{ postId: "{first}", content: "#spring for @ANA" }}) {{ hashtags mentions }} }}"##
    );
    let expected = json!({"hashtags": ["spring"], "mentions": ["ana"]});
    assert_eq!(api.run("bo", &add).await["addComment"], expected);
    let plain = add.replace("#spring for @ANA", "spring");
    let expected = json!({"hashtags": [], "mentions": []});
    assert_eq!(api.run("bo", &plain).await["addComment"], expected);
    let document = r##"{ newest: listPostsByTag(tag: "#SPRING") { items { content } }
        oldest: listPostsByTag(tag: "spring", order: ASC, first: 1) { items { content } pageInfo { hasNextPage } }
        found: searchByTag(tag: "spring", order: DESC) { items { __typename ... on Comment { content } } } }"##;
    let data = api.run_as(None, document).await;
    assert_eq!(fields(&data["newest"], "content"), ["two #spring", "one #Spring"]);
    assert_eq!(fields(&data["oldest"], "content"), ["one #Spring"]);
    assert_eq!(data["oldest"]["pageInfo"]["hasNextPage"], true);
    assert_eq!(fields(&data["found"], "__typename"), ["Post", "Post", "Comment"]);
}

#[tokio::test]
async fn comments_are_read_in_both_orders_updated_and_deleted() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let post = api.town.post("ana", "hello").await.id;
    let first = api.town.comment("bo", &post, "one").await.id;
    api.town.comment("bo", &post, "two").await;
    let list = |order: &str| {
        format!(r#"{{ listPostComments(postId: "{post}" {order}) {{ items {{ content }} }} }}"#)
    };
    for (order, expected) in [
        ("", ["one", "two"]),
        ("sortDirection: ASC", ["one", "two"]),
        ("sortDirection: DESC", ["two", "one"]),
    ] {
        let data = api.run("ana", &list(order)).await;
        assert_eq!(fields(&data["listPostComments"], "content"), expected, "{order}");
    }
    let update = format!(
        r#"mutation {{ updateComment(commentId: "{first}", content: "1") {{ content }} }}"#
    );
    assert_eq!(api.error_code("ana", &update).await, "FORBIDDEN");
    assert_eq!(api.run("bo", &update).await["updateComment"]["content"], "1");
    let gone = api
        .run(
            "bo",
            &format!(r#"mutation {{ deleteComment(commentId: "{first}") {{ isDeleted }} }}"#),
        )
        .await;
    assert_eq!(gone["deleteComment"]["isDeleted"], true);
    let mine = api.run("bo", r#"{ listUserComments(userId: "bo") { items { content } } }"#).await;
    assert_eq!(fields(&mine["listUserComments"], "content"), ["two"]);
}
