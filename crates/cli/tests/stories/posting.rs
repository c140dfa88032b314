//! Posts.

use serde_json::{Value, json};

use super::people::Person;
use super::scene::{Scene, each, text};

const POST: &str = "mutation ($content: String!, $group: ID, $visibility: Visibility, $once: ID) {
    createPost(input: { content: $content, contentType: text, groupId: $group, visibility: $visibility },
        requestId: $once) { id content } }";
const GET: &str =
    "query ($id: ID!) { getPost(id: $id) { content visibility hashtags author { id } } }";

impl Person<'_> {
    /// Creates a post; returns its id.
    pub(super) async fn posts(&self, content: &str) -> String {
        text(&self.ask(POST, json!({ "content": content })).await["createPost"]["id"])
    }

    /// Creates a post in a group; returns its id.
    pub(super) async fn posts_into(&self, group: &str, content: &str) -> String {
        let post = json!({ "content": content, "group": group });
        text(&self.ask(POST, post).await["createPost"]["id"])
    }

    pub(super) async fn post(&self, id: &str) -> Value {
        self.ask(GET, json!({ "id": id })).await["getPost"].take()
    }
}

pub(super) async fn a_post_is_created_edited_and_deleted(scene: &Scene) {
    let (ana, bo) = (scene.sign_up("ana").await, scene.sign_up("bo").await);
    let new = "subscription { onCreatePost(feedId: \"GLOBAL\") { content author { id } } }";
    let by_ana = json!({ "id": ana.id });
    let mut new = bo.listen(new, json!({})).await.except(|event| event["author"] != by_ana);
    let id = ana.posts("It is #spring").await;
    let message = new.next_event().await;
    assert_eq!(message, json!({ "content": "It is #spring", "author": { "id": ana.id } }));
    let response = bo.post(&id).await;
    assert_eq!(
        (&response["hashtags"], &response["visibility"]),
        (&json!(["spring"]), &json!("public"))
    );
    let count = "query ($id: ID!) { getUser(id: $id) { postsCount } }";
    let whose = json!({ "id": ana.id });
    bo.wait_for(count, whose.clone(), |response| response["getUser"]["postsCount"] == 1).await;

    let changes = "subscription ($id: ID!) { onUpdatePost(postId: $id) { content } }";
    let mut changes = bo.listen(changes, json!({ "id": id })).await;
    let update = "mutation ($id: ID!, $content: String!, $once: ID) {
        updatePost(input: { postId: $id, content: $content }, requestId: $once) { content } }";
    for content in ["It is summer", "It is autumn"] {
        ana.ask(update, json!({ "id": id, "content": content })).await;
        assert_eq!(changes.next_event_field("content").await, content);
    }
    let foreign = json!({ "id": id, "content": "mine" });
    assert_eq!(bo.refused(update, foreign).await, "FORBIDDEN");
    assert_eq!(bo.post(&id).await["content"], "It is autumn");

    let second = ana.posts("Winter comes").await;
    assert_eq!(new.next_event_field("content").await, "Winter comes", "each comes out once");
    let delete = "mutation ($id: ID!, $once: ID) { deletePost(postId: $id, requestId: $once) { isDeleted } }";
    let gone = ana.ask(delete, json!({ "id": id })).await;
    assert_eq!(gone["deletePost"]["isDeleted"], true);
    assert!(bo.post(&id).await.is_null() && ana.post(&id).await.is_null());
    let list = "query ($id: ID!) { listUserPosts(userId: $id) { items { id } } }";
    let left = bo
        .wait_for(list, whose.clone(), |response| each(&response["listUserPosts"], "id").len() == 1)
        .await;
    assert_eq!(each(&left["listUserPosts"], "id"), [&json!(second)]);
    bo.wait_for(count, whose, |response| response["getUser"]["postsCount"] == 1).await;
}
