//! Following.

use serde_json::{Value, json};

use super::people::Person;
use super::scene::{Scene, each};

const FOLLOW: &str =
    "mutation ($id: ID!, $once: ID) { followUser(followeeId: $id, requestId: $once) { status } }";
const UNFOLLOW: &str = "mutation ($id: ID!, $once: ID) { unfollowUser(followeeId: $id, requestId: $once) { followeeId } }";
const FOLLOWS: &str = "query ($a: ID!, $b: ID!) { isFollowing(followerId: $a, followeeId: $b) }";
const COUNTS: &str =
    "query ($id: ID!) { getUser(id: $id) { followersCount followingCount viewerFollows } }";
const HEAR: &str =
    "subscription ($id: ID!) { onFollowUser(followeeId: $id) { followerId status } }";

impl Person<'_> {
    /// Returns the state of the follow: active or requested.
    pub(super) async fn follows(&self, other: &Person<'_>) -> Value {
        self.ask(FOLLOW, json!({ "id": other.id })).await["followUser"]["status"].take()
    }

    pub(super) async fn is_following(&self, other: &Person<'_>) -> bool {
        self.ask(FOLLOWS, json!({ "a": self.id, "b": other.id })).await["isFollowing"] == true
    }
}

pub(super) async fn a_user_is_followed_and_unfollowed(scene: &Scene) {
    let [ana, bo, cleo] =
        [scene.sign_up("ana").await, scene.sign_up("bo").await, scene.sign_up("cleo").await];
    let whom = json!({ "id": bo.id });
    let mut follow_events = bo.listen(HEAR, whom.clone()).await;
    assert_eq!(ana.follows(&bo).await, "active");
    assert_eq!(ana.follows(&bo).await, "active", "twice is once");
    assert_eq!(
        follow_events.next_event().await,
        json!({ "followerId": ana.id, "status": "active" })
    );
    assert!(ana.is_following(&bo).await && !bo.is_following(&ana).await);
    let response = ana
        .wait_for(COUNTS, whom.clone(), |response| response["getUser"]["followersCount"] == 1)
        .await;
    assert_eq!(response["getUser"]["viewerFollows"], true);
    let me = json!({ "id": ana.id });
    bo.wait_for(COUNTS, me, |response| response["getUser"]["followingCount"] == 1).await;
    cleo.follows(&bo).await;
    assert_eq!(
        follow_events.next_event_field("followerId").await,
        cleo.id.as_str(),
        "each is told once"
    );
    ana.ask(UNFOLLOW, whom.clone()).await;
    assert!(!ana.is_following(&bo).await);
    let list = "query ($id: ID!) { listFollowers(userId: $id) { items { followerId } } }";
    let is_left =
        |response: &Value| each(&response["listFollowers"], "followerId") == [&json!(cleo.id)];
    bo.wait_for(list, whom.clone(), is_left).await;
    bo.wait_for(COUNTS, whom, |response| response["getUser"]["followersCount"] == 1).await;
}

pub(super) async fn a_private_user_approves_followers(scene: &Scene) {
    let (ana, bo) = (scene.sign_up("ana").await, scene.sign_up("bo").await);
    let hide = "mutation ($once: ID) {
        updateProfile(input: { isPrivate: true }, requestId: $once) { isPrivate } }";
    ana.ask(hide, json!({})).await;
    let post = ana.posts("for friends").await;
    assert!(bo.post(&post).await.is_null());
    let mut follow_events = ana.listen(HEAR, json!({ "id": ana.id })).await;
    assert_eq!(bo.follows(&ana).await, "pending");
    assert_eq!(follow_events.next_event_field("status").await, "pending");
    assert!(!bo.is_following(&ana).await && bo.post(&post).await.is_null());
    let requests = "{ listFollowRequests { items { followerId } } }";
    let wants =
        |response: &Value| each(&response["listFollowRequests"], "followerId") == [&json!(bo.id)];
    ana.wait_for(requests, json!({}), wants).await;
    let accept = "mutation ($id: ID!, $once: ID) { acceptFollower(followerId: $id, requestId: $once) { status } }";
    let accepted = ana.ask(accept, json!({ "id": bo.id })).await;
    assert_eq!(accepted["acceptFollower"]["status"], "active");
    assert_eq!(follow_events.next_event_field("status").await, "active");
    assert!(bo.is_following(&ana).await);
    assert_eq!(bo.post(&post).await["content"], "for friends");
    let whom = json!({ "id": ana.id });
    bo.wait_for(COUNTS, whom, |response| response["getUser"]["followersCount"] == 1).await;
    let is_empty =
        |response: &Value| each(&response["listFollowRequests"], "followerId").is_empty();
    ana.wait_for(requests, json!({}), is_empty).await;
    let reject = "mutation ($id: ID!, $once: ID) { rejectFollower(followerId: $id, requestId: $once) { followerId } }";
    ana.ask(reject, json!({ "id": bo.id })).await;
    assert!(!bo.is_following(&ana).await && bo.post(&post).await.is_null());
}
