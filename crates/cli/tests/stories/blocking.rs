//! Blocks: a blocked user disappears with all content, for both sides.

use serde_json::{Value, json};

use super::people::Person;
use super::scene::{Scene, each};

const BLOCK: &str = "mutation ($id: ID!, $once: ID) { blockUser(userId: $id, requestId: $once) }";
const UNBLOCK: &str =
    "mutation ($id: ID!, $once: ID) { unblockUser(userId: $id, requestId: $once) }";
const BLOCKED: &str = "{ listBlocked { items { id } } }";
const FOLLOW: &str =
    "mutation ($id: ID!, $once: ID) { followUser(followeeId: $id, requestId: $once) { status } }";
const COMMENTS: &str = "query ($id: ID!) { listPostComments(postId: $id) { items { content } } }";
const ACTORS: &str = "{ listNotifications { items { actor { id } } } }";
const PROFILE: &str = "query ($id: ID!) { getUser(id: $id) { id } }";
const POSTS: &str = "query ($id: ID!) { listUserPosts(userId: $id) { items { id } } }";
const ACTS: &str = "subscription { onPostActivity { previewText } }";

/// A user, and a post of theirs.
struct Side<'s> {
    who: Person<'s>,
    post: String,
}

pub(super) async fn a_block_hides_both_sides(scene: &Scene) {
    let cleo = scene.sign_up("cleo").await;
    let mut sides = Vec::new();
    for name in ["ana", "bo"] {
        let who = scene.sign_up(name).await;
        let post = who.posts(&format!("a post of {name}'s")).await;
        sides.push(Side { who, post });
    }
    let [ana, bo] = sides.as_slice() else { panic!("there are two") };
    for (one, other) in [(ana, bo), (bo, ana)] {
        one.who.follows(&other.who).await;
        one.who.comments(&other.post, "nice").await;
        one.who.likes(&other.post).await;
    }
    let room = ana.who.room_with(&bo.who).await;
    bo.who.send_message(&room, "hello").await;
    let thread = cleo.posts("a thread").await;
    bo.who.comments(&thread, "by bo").await;
    ana.who.comments(&thread, "by ana").await;
    for (one, other) in [(ana, bo), (bo, ana)] {
        let is_told = |response: &Value| is_named(response, &other.who);
        one.who.wait_for(ACTORS, json!({}), is_told).await;
    }
    ana.who.has_feed(&["a post of bo's", "a post of ana's"]).await;

    assert_eq!(ana.who.ask(BLOCK, json!({ "id": bo.who.id })).await["blockUser"], true);
    let listed = ana.who.ask(BLOCKED, json!({})).await;
    assert_eq!(each(&listed["listBlocked"], "id"), [&json!(bo.who.id)]);
    assert!(each(&bo.who.ask(BLOCKED, json!({})).await["listBlocked"], "id").is_empty());
    is_hidden(ana, bo, &thread, &room).await;
    is_hidden(bo, ana, &thread, &room).await;
    ana.who.has_feed(&["a post of ana's"]).await;
    bo.who.has_feed(&["a post of bo's"]).await;
    let is_old =
        |event: &Value| !["heard", "unheard"].iter().any(|new| event["previewText"] == *new);
    let mut next_event = ana.who.listen(ACTS, json!({})).await.except(is_old);
    bo.who.posts("unheard").await;
    cleo.posts("heard").await;
    assert_eq!(next_event.next_event_field("previewText").await, "heard");
    // Both stay visible to others.
    let response = cleo.ask(COMMENTS, json!({ "id": thread })).await;
    assert_eq!(each(&response["listPostComments"], "content"), ["by bo", "by ana"]);

    ana.who.ask(UNBLOCK, json!({ "id": bo.who.id })).await;
    for (one, other) in [(ana, bo), (bo, ana)] {
        assert_eq!(
            one.who.ask(PROFILE, json!({ "id": other.who.id })).await["getUser"]["id"],
            other.who.id.as_str()
        );
        assert!(!one.who.is_following(&other.who).await, "what it ended is over");
        assert!(!one.who.post(&other.post).await.is_null());
    }
}

fn is_named(response: &Value, who: &Person<'_>) -> bool {
    let items = response["listNotifications"]["items"].as_array().unwrap();
    items.iter().any(|item| item["actor"]["id"] == who.id.as_str())
}

/// Checks that nothing of `other` is visible to `one`.
async fn is_hidden(one: &Side<'_>, other: &Side<'_>, thread: &str, room: &str) {
    let (who, whom) = (&one.who, json!({ "id": other.who.id }));
    let name = &who.nickname;
    assert!(who.ask(PROFILE, whom.clone()).await["getUser"].is_null(), "{name}");
    assert!(who.post(&other.post).await.is_null(), "{name}");
    assert_eq!(who.refused(POSTS, whom.clone()).await, "NOT_FOUND", "{name}");
    assert!(!who.is_following(&other.who).await);
    assert_eq!(who.refused(FOLLOW, whom).await, "NOT_FOUND", "{name}");
    let own = who.ask(COMMENTS, json!({ "id": one.post })).await;
    assert!(each(&own["listPostComments"], "content").is_empty(), "{name}: {own}");
    let response = who.ask(COMMENTS, json!({ "id": thread })).await;
    assert_eq!(each(&response["listPostComments"], "content").len(), 1, "{name}: {response}");
    assert!(!is_named(&who.ask(ACTORS, json!({})).await, &other.who), "{name}");
    assert_eq!(who.message_error(room).await, "NOT_FOUND", "{name}");
}
