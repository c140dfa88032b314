//! R9, R23: groups, as clients see and change them.

use serde_json::{Value, json};

use crate::stage::{Stage, each};

async fn founded(stage: &Stage) -> String {
    let document = r#"mutation { createGroup(input: { name: "Runners", description: "at six", tags: ["sport"] }) {
        id name description tags isPersistent isPrivate membersCount viewerRole ownerId owner { nickname } } }"#;
    let group = stage.ask("ana", document).await["createGroup"].take();
    assert_eq!(group["membersCount"], 1);
    assert_eq!(group["viewerRole"], "owner");
    assert_eq!(group["owner"]["nickname"], "ana");
    group["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_update_keeps_what_is_absent_and_clears_what_is_null() {
    let stage = Stage::of(["ana"]).await;
    let id = founded(&stage).await;
    let update = |what: &str| {
        format!(
            r#"mutation {{ updateGroup(input: {{ groupId: "{id}" {what} }}) {{ name description tags }} }}"#
        )
    };
    let named = stage.ask("ana", &update(r#"name: "Walkers""#)).await["updateGroup"].take();
    assert_eq!(named, json!({"name": "Walkers", "description": "at six", "tags": ["sport"]}));
    let silent = stage.ask("ana", &update("description: null")).await["updateGroup"].take();
    assert_eq!(silent, json!({"name": "Walkers", "description": null, "tags": ["sport"]}));
    let bare = stage.ask("ana", &update("tags: null")).await["updateGroup"].take();
    assert_eq!(bare["tags"], json!([]));
    assert_eq!(stage.refused("ana", &update("name: null")).await, "BAD_REQUEST");
}

#[tokio::test]
async fn people_join_get_roles_and_leave() {
    let stage = Stage::of(["ana", "bo"]).await;
    let id = founded(&stage).await;
    let joined = stage
        .ask("bo", &format!(r#"mutation {{ joinGroup(groupId: "{id}") {{ status role group {{ membersCount viewerRole }} }} }}"#))
        .await;
    let expected = json!({"status": "active", "role": "member",
        "group": {"membersCount": 2, "viewerRole": "member"}});
    assert_eq!(joined["joinGroup"], expected);
    let role = format!(
        r#"mutation {{ setGroupRole(groupId: "{id}", userId: "bo", role: admin) {{ role }} }}"#
    );
    assert_eq!(stage.refused("bo", &role).await, "FORBIDDEN");
    assert_eq!(stage.ask("ana", &role).await["setGroupRole"]["role"], "admin");
    let document = format!(
        r#"{{ getGroup(id: "{id}") {{ members {{ items {{ userId role }} }} }} listGroupMembers(groupId: "{id}") {{ items {{ userId }} }} }}"#
    );
    let seen = stage.ask("bo", &document).await;
    assert_eq!(each(&seen["listGroupMembers"], "userId"), ["ana", "bo"]);
    assert_eq!(seen["getGroup"]["members"]["items"].as_array().unwrap().len(), 2);
    let mine = stage.ask("bo", "{ listMyGroups { items { name viewerRole } } }").await;
    assert_eq!(mine["listMyGroups"]["items"], json!([{"name": "Runners", "viewerRole": "admin"}]));
    stage.ask("bo", &format!(r#"mutation {{ leaveGroup(groupId: "{id}") {{ status }} }}"#)).await;
    let mine = stage.ask("bo", "{ listMyGroups { items { name } } }").await;
    assert_eq!(mine["listMyGroups"]["items"], json!([]));
}

#[tokio::test]
async fn a_private_group_shows_that_it_is_there_and_nothing_inside() {
    let stage = Stage::of(["ana", "bo"]).await;
    let id = stage.town.found_private("ana", "Secret").await;
    stage.town.post_into("ana", &id, "inside").await;
    let document = format!(
        r#"{{ getGroup(id: "{id}") {{ name isPrivate viewerRole members {{ items {{ userId }} }} activities {{ items {{ verb }} }} }} }}"#
    );
    let seen = stage.ask("bo", &document).await["getGroup"].take();
    let expected = json!({"name": "Secret", "isPrivate": true, "viewerRole": null,
        "members": {"items": []}, "activities": {"items": []}});
    assert_eq!(seen, expected);
    let members = format!(r#"{{ listGroupMembers(groupId: "{id}") {{ items {{ userId }} }} }}"#);
    assert_eq!(stage.refused("bo", &members).await, "NOT_FOUND");
    let asked = stage
        .ask("bo", &format!(r#"mutation {{ joinGroup(groupId: "{id}") {{ status }} }}"#))
        .await;
    assert_eq!(asked["joinGroup"]["status"], "pending");
    stage
        .ask(
            "ana",
            &format!(r#"mutation {{ approveMember(groupId: "{id}", userId: "bo") {{ status }} }}"#),
        )
        .await;
    let seen = stage.ask("bo", &document).await["getGroup"].take();
    assert_eq!(seen["activities"]["items"], json!([{"verb": "post"}]));
    stage
        .ask(
            "ana",
            &format!(r#"mutation {{ removeMember(groupId: "{id}", userId: "bo") {{ status }} }}"#),
        )
        .await;
    assert_eq!(stage.ask("bo", &document).await["getGroup"]["members"]["items"], json!([]));
}

#[tokio::test]
async fn people_are_invited_and_groups_end() {
    let stage = Stage::of(["ana", "bo"]).await;
    let id = founded(&stage).await;
    let invite = format!(
        r#"mutation {{ inviteToGroup(groupId: "{id}", userId: "bo") {{ status user {{ nickname }} }} }}"#
    );
    let invited = stage.ask("ana", &invite).await["inviteToGroup"].take();
    assert_eq!(invited, json!({"status": "invited", "user": {"nickname": "bo"}}));
    let gone = stage
        .ask(
            "ana",
            &format!(r#"mutation {{ deleteGroup(groupId: "{id}") {{ name membersCount }} }}"#),
        )
        .await;
    assert_eq!(gone["deleteGroup"]["name"], "Runners");
    let document = format!(r#"{{ getGroup(id: "{id}") {{ id }} }}"#);
    assert_eq!(stage.ask("ana", &document).await["getGroup"], Value::Null);
}
