//! Groups.

use serde_json::{Value, json};

use super::people::Person;
use super::scene::{Scene, each, text};

const FOUND: &str = "mutation ($name: String!, $private: Boolean, $once: ID) {
    createGroup(input: { name: $name, isPrivate: $private }, requestId: $once) { id viewerRole } }";
const JOIN: &str =
    "mutation ($id: ID!, $once: ID) { joinGroup(groupId: $id, requestId: $once) { status role } }";
const LEAVE: &str =
    "mutation ($id: ID!, $once: ID) { leaveGroup(groupId: $id, requestId: $once) { userId } }";
const COUNT: &str = "query ($id: ID!) { getGroup(id: $id) { membersCount viewerRole } }";
const HEAR: &str = "subscription ($id: ID!) { onGroupMembership(groupId: $id) { userId status } }";
const POSTS: &str =
    "query ($id: ID!) { getGroup(id: $id) { activities { items { previewText } } } }";

impl Person<'_> {
    /// Creates a group; returns its id.
    async fn founds(&self, name: &str, private: bool) -> String {
        let group = json!({ "name": name, "private": private });
        let founded = self.ask(FOUND, group).await["createGroup"].take();
        assert_eq!(founded["viewerRole"], "owner");
        text(&founded["id"])
    }

    /// Joins a group; returns the resulting membership.
    async fn joins(&self, group: &str) -> Value {
        self.ask(JOIN, json!({ "id": group })).await["joinGroup"]["status"].take()
    }

    /// Waits until a group shows this many members.
    async fn counts_members(&self, group: &str, members: u64) {
        let is_so = |response: &Value| response["getGroup"]["membersCount"] == members;
        self.wait_for(COUNT, json!({ "id": group }), is_so).await;
    }
}

pub(super) async fn a_group_is_founded_joined_and_left(scene: &Scene) {
    let [ana, bo, cleo] =
        [scene.sign_up("ana").await, scene.sign_up("bo").await, scene.sign_up("cleo").await];
    let group = ana.founds("Runners", false).await;
    let id = json!({ "id": group });
    let is_founder = |event: &Value| event["userId"] == ana.id.as_str();
    let mut server = ana.listen(HEAR, id.clone()).await.except(is_founder);
    assert_eq!(bo.joins(&group).await, "active");
    assert_eq!(server.next_event().await, json!({ "userId": bo.id, "status": "active" }));
    ana.counts_members(&group, 2).await;
    let role = "mutation ($group: ID!, $user: ID!, $once: ID) {
        setGroupRole(groupId: $group, userId: $user, role: admin, requestId: $once) { role } }";
    let whom = json!({ "group": group, "user": bo.id });
    assert_eq!(bo.refused(role, whom.clone()).await, "FORBIDDEN");
    assert_eq!(ana.ask(role, whom).await["setGroupRole"]["role"], "admin");
    assert_eq!(server.next_event_field("userId").await, bo.id.as_str());

    bo.posts_into(&group, "at six?").await;
    ana.has_feed(&["at six?"]).await;
    let is_there = |response: &Value| {
        each(&response["getGroup"]["activities"], "previewText").contains(&&json!("at six?"))
    };
    ana.wait_for(POSTS, id.clone(), is_there).await;
    let mine = bo.ask("{ listMyGroups { items { id viewerRole } } }", json!({})).await;
    assert_eq!(mine["listMyGroups"]["items"], json!([{ "id": group, "viewerRole": "admin" }]));

    bo.ask(LEAVE, id.clone()).await;
    assert_eq!(server.next_event_field("userId").await, bo.id.as_str());
    ana.counts_members(&group, 1).await;
    assert_eq!(cleo.joins(&group).await, "active");
    assert_eq!(server.next_event_field("userId").await, cleo.id.as_str(), "each is told once");
    let mine = bo.ask("{ listMyGroups { items { id } } }", json!({})).await;
    assert_eq!(mine["listMyGroups"]["items"], json!([]));
    let response = bo.ask(COUNT, id.clone()).await["getGroup"].take();
    assert!(response["viewerRole"].is_null(), "{response}");
}

pub(super) async fn a_private_group_approves_its_members(scene: &Scene) {
    let (ana, bo) = (scene.sign_up("ana").await, scene.sign_up("bo").await);
    let group = ana.founds("Secret", true).await;
    let id = json!({ "id": group });
    let post = ana.posts_into(&group, "inside").await;
    assert!(bo.post(&post).await.is_null());
    let is_founder = |event: &Value| event["userId"] == ana.id.as_str();
    let mut server = ana.listen(HEAR, id.clone()).await.except(is_founder);
    assert_eq!(bo.joins(&group).await, "pending");
    assert_eq!(server.next_event_field("status").await, "pending");
    let inside = |response: &Value| each(&response["getGroup"]["activities"], "previewText").len();
    assert_eq!(inside(&bo.ask(POSTS, id.clone()).await), 0);
    let approve = "mutation ($group: ID!, $user: ID!, $once: ID) {
        approveMember(groupId: $group, userId: $user, requestId: $once) { status } }";
    let whom = json!({ "group": group, "user": bo.id });
    assert_eq!(ana.ask(approve, whom.clone()).await["approveMember"]["status"], "active");
    assert_eq!(server.next_event_field("status").await, "active");
    assert_eq!(bo.post(&post).await["content"], "inside");
    bo.has_feed(&["inside"]).await;
    let remove = "mutation ($group: ID!, $user: ID!, $once: ID) {
        removeMember(groupId: $group, userId: $user, requestId: $once) { userId } }";
    ana.ask(remove, whom).await;
    assert_eq!(server.next_event_field("userId").await, bo.id.as_str());
    assert!(bo.post(&post).await.is_null());
    bo.has_feed(&[]).await;
}
