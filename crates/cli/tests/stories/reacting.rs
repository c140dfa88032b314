//! Likes, shares and comments.

use serde_json::{Value, json};

use super::people::Person;
use super::scene::{Scene, each, text};

const LIKE: &str = "mutation ($id: ID!, $once: ID) {
    likePost(postId: $id, likeType: love, requestId: $once) { liked post { viewerHasLiked } } }";
const TOGGLE: &str =
    "mutation ($id: ID!, $once: ID) { toggleLike(postId: $id, requestId: $once) { liked } }";
const SHARE: &str = "mutation ($id: ID!, $once: ID) { sharePost(postId: $id, requestId: $once) {
    shared post { viewerHasShared } } }";
const UNSHARE: &str =
    "mutation ($id: ID!, $once: ID) { unsharePost(postId: $id, requestId: $once) { shared } }";
const COUNTS: &str = "query ($id: ID!) { getPost(id: $id) { likeCount commentCount shareCount } }";
const COMMENT: &str = "mutation ($id: ID!, $content: String!, $to: ID, $once: ID) {
    addComment(input: { postId: $id, content: $content, parentCommentId: $to }, requestId: $once) {
        id content parentCommentId } }";

impl Person<'_> {
    /// Comments on a post; returns the comment's id.
    pub(super) async fn comments(&self, post: &str, content: &str) -> String {
        let comment = json!({ "id": post, "content": content });
        text(&self.ask(COMMENT, comment).await["addComment"]["id"])
    }

    pub(super) async fn likes(&self, post: &str) {
        let liked = self.ask(LIKE, json!({ "id": post })).await["likePost"].take();
        assert_eq!(liked, json!({ "liked": true, "post": { "viewerHasLiked": true } }));
    }

    /// Waits until a post shows these numbers of likes, comments and shares.
    pub(super) async fn counts(&self, post: &str, [likes, comments, shares]: [u64; 3]) {
        let counts = json!({ "likeCount": likes, "commentCount": comments, "shareCount": shares });
        self.wait_for(COUNTS, json!({ "id": post }), |response| response["getPost"] == counts)
            .await;
    }
}

pub(super) async fn a_post_is_liked_and_shared(scene: &Scene) {
    let [ana, bo, cleo] =
        [scene.sign_up("ana").await, scene.sign_up("bo").await, scene.sign_up("cleo").await];
    let post = ana.posts("hello").await;
    let id = json!({ "id": post });
    let likes = "subscription ($id: ID!) { onToggleLike(postId: $id) { liked postId } }";
    let mut likes = ana.listen(likes, id.clone()).await;
    bo.likes(&post).await;
    ana.counts(&post, [1, 0, 0]).await;
    assert_eq!(bo.ask(TOGGLE, id.clone()).await["toggleLike"]["liked"], false);
    ana.counts(&post, [0, 0, 0]).await;
    assert_eq!(cleo.ask(TOGGLE, id.clone()).await["toggleLike"]["liked"], true);
    bo.likes(&post).await;
    ana.counts(&post, [2, 0, 0]).await;
    for liked in [true, false, true, true] {
        assert_eq!(likes.next_event().await, json!({ "liked": liked, "postId": post }));
    }
    let list = "query ($id: ID!) { listPostLikes(postId: $id) { items { likeType user { id } } } }";
    let listed = ana.ask(list, id.clone()).await;
    assert_eq!(each(&listed["listPostLikes"], "likeType").len(), 2, "{listed}");

    cleo.follows(&bo).await;
    let shared = bo.ask(SHARE, id.clone()).await["sharePost"].take();
    assert_eq!(shared, json!({ "shared": true, "post": { "viewerHasShared": true } }));
    ana.counts(&post, [2, 0, 1]).await;
    let feed = "{ getFeed { items { verb objectId actorId } } }";
    let share = json!({ "verb": "share", "objectId": post, "actorId": bo.id });
    let has = |response: &Value| response["getFeed"]["items"].as_array().unwrap().contains(&share);
    cleo.wait_for(feed, json!({}), has).await;
    bo.ask(UNSHARE, id).await;
    ana.counts(&post, [2, 0, 0]).await;
    cleo.wait_for(feed, json!({}), |response| !has(response)).await;
}

pub(super) async fn a_post_is_commented_on(scene: &Scene) {
    let (ana, bo) = (scene.sign_up("ana").await, scene.sign_up("bo").await);
    let post = ana.posts("what do you think?").await;
    let id = json!({ "id": post });
    let comments = "subscription ($id: ID!) { onAddComment(postId: $id) { content user { id } } }";
    let mut comments = ana.events(comments, id.clone()).await;
    let first = bo.comments(&post, "much").await;
    assert_eq!(comments.next_event().await, json!({ "content": "much", "user": { "id": bo.id } }));
    let reply = json!({ "id": post, "content": "tell me", "to": first });
    let reply = ana.ask(COMMENT, reply).await["addComment"].take();
    assert_eq!(reply["parentCommentId"], first.as_str());
    assert_eq!(comments.next_event().await["content"], "tell me", "each comes once");
    ana.counts(&post, [0, 2, 0]).await;

    let like = "mutation ($id: ID!, $once: ID) { likeComment(commentId: $id, requestId: $once) { viewerHasLiked } }";
    let liked = ana.ask(like, json!({ "id": first })).await;
    assert_eq!(liked["likeComment"]["viewerHasLiked"], true);
    let get = "query ($id: ID!) { getComment(id: $id) { likesCount repliesCount } }";
    let counts = json!({ "likesCount": 1, "repliesCount": 1 });
    bo.wait_for(get, json!({ "id": first }), |response| response["getComment"] == counts).await;
    let edit = "mutation ($id: ID!, $once: ID) {
        updateComment(commentId: $id, content: \"a lot\", requestId: $once) { content } }";
    bo.ask(edit, json!({ "id": first })).await;
    let list = "query ($id: ID!) { listPostComments(postId: $id) { items { content } } }";
    let listed = ana.ask(list, id.clone()).await;
    assert_eq!(each(&listed["listPostComments"], "content"), ["a lot", "tell me"]);
    let delete = "mutation ($id: ID!, $once: ID) { deleteComment(commentId: $id, requestId: $once) { isDeleted } }";
    ana.ask(delete, json!({ "id": reply["id"] })).await;
    ana.counts(&post, [0, 1, 0]).await;
    bo.comments(&post, "anything else?").await;
    assert_eq!(comments.next_event().await["content"], "anything else?");
}
