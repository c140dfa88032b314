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
    /// Follows somebody; whether that is so, or has been asked for.
    pub(super) async fn follows(&self, other: &Person<'_>) -> Value {
        self.ask(FOLLOW, json!({ "id": other.id })).await["followUser"]["status"].take()
    }

    /// Whether they follow somebody.
    pub(super) async fn is_following(&self, other: &Person<'_>) -> bool {
        self.ask(FOLLOWS, json!({ "a": self.id, "b": other.id })).await["isFollowing"] == true
    }
}

pub(super) async fn somebody_is_followed_and_no_longer(scene: &Scene) {
    let [ana, bo, cleo] =
        [scene.newcomer("ana").await, scene.newcomer("bo").await, scene.newcomer("cleo").await];
    let whom = json!({ "id": bo.id });
    let mut bell = bo.listen(HEAR, whom.clone()).await;
    assert_eq!(ana.follows(&bo).await, "active");
    assert_eq!(ana.follows(&bo).await, "active", "twice is once");
    assert_eq!(bell.hears().await, json!({ "followerId": ana.id, "status": "active" }));
    assert!(ana.is_following(&bo).await && !bo.is_following(&ana).await);
    let seen = ana.sees(COUNTS, whom.clone(), |seen| seen["getUser"]["followersCount"] == 1).await;
    assert_eq!(seen["getUser"]["viewerFollows"], true);
    let me = json!({ "id": ana.id });
    bo.sees(COUNTS, me, |seen| seen["getUser"]["followingCount"] == 1).await;
    cleo.follows(&bo).await;
    assert_eq!(bell.hears_of("followerId").await, cleo.id.as_str(), "each is told once");
    ana.ask(UNFOLLOW, whom.clone()).await;
    assert!(!ana.is_following(&bo).await);
    let list = "query ($id: ID!) { listFollowers(userId: $id) { items { followerId } } }";
    let is_left = |seen: &Value| each(&seen["listFollowers"], "followerId") == [&json!(cleo.id)];
    bo.sees(list, whom.clone(), is_left).await;
    bo.sees(COUNTS, whom, |seen| seen["getUser"]["followersCount"] == 1).await;
}

pub(super) async fn whoever_is_private_is_asked_first(scene: &Scene) {
    let (ana, bo) = (scene.newcomer("ana").await, scene.newcomer("bo").await);
    let hide = "mutation ($once: ID) {
        updateProfile(input: { isPrivate: true }, requestId: $once) { isPrivate } }";
    ana.ask(hide, json!({})).await;
    let post = ana.posts("for friends").await;
    assert!(bo.post(&post).await.is_null());
    let mut bell = ana.listen(HEAR, json!({ "id": ana.id })).await;
    assert_eq!(bo.follows(&ana).await, "pending");
    assert_eq!(bell.hears_of("status").await, "pending");
    assert!(!bo.is_following(&ana).await && bo.post(&post).await.is_null());
    let requests = "{ listFollowRequests { items { followerId } } }";
    let wants = |seen: &Value| each(&seen["listFollowRequests"], "followerId") == [&json!(bo.id)];
    ana.sees(requests, json!({}), wants).await;
    let accept = "mutation ($id: ID!, $once: ID) { acceptFollower(followerId: $id, requestId: $once) { status } }";
    let accepted = ana.ask(accept, json!({ "id": bo.id })).await;
    assert_eq!(accepted["acceptFollower"]["status"], "active");
    assert_eq!(bell.hears_of("status").await, "active");
    assert!(bo.is_following(&ana).await);
    assert_eq!(bo.post(&post).await["content"], "for friends");
    let whom = json!({ "id": ana.id });
    bo.sees(COUNTS, whom, |seen| seen["getUser"]["followersCount"] == 1).await;
    let is_empty = |seen: &Value| each(&seen["listFollowRequests"], "followerId").is_empty();
    ana.sees(requests, json!({}), is_empty).await;
    let reject = "mutation ($id: ID!, $once: ID) { rejectFollower(followerId: $id, requestId: $once) { followerId } }";
    ana.ask(reject, json!({ "id": bo.id })).await;
    assert!(!bo.is_following(&ana).await && bo.post(&post).await.is_null());
}
