//! R9, R23: groups.

use serde_json::{Value, json};

use crate::api_town::{ApiTown, fields};

async fn founded(api: &ApiTown) -> String {
    let document = r#"mutation { createGroup(input: { name: "Runners", description: "at six", tags: ["sport"] }) {
        id name description tags isPersistent isPrivate membersCount viewerRole ownerId owner { nickname } } }"#;
    let group = api.run("ana", document).await["createGroup"].take();
    assert_eq!(group["membersCount"], 1);
    assert_eq!(group["viewerRole"], "owner");
    assert_eq!(group["owner"]["nickname"], "ana");
    group["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_update_keeps_absent_fields_and_clears_null_fields() {
    let api = ApiTown::of(["ana"]).await;
    let id = founded(&api).await;
    let update = |what: &str| {
        format!(
            r#"mutation {{ updateGroup(input: {{ groupId: "{id}" {what} }}) {{ name description tags }} }}"#
        )
    };
    let named = api.run("ana", &update(r#"name: "Walkers""#)).await["updateGroup"].take();
    assert_eq!(named, json!({"name": "Walkers", "description": "at six", "tags": ["sport"]}));
    let silent = api.run("ana", &update("description: null")).await["updateGroup"].take();
    assert_eq!(silent, json!({"name": "Walkers", "description": null, "tags": ["sport"]}));
    let bare = api.run("ana", &update("tags: null")).await["updateGroup"].take();
    assert_eq!(bare["tags"], json!([]));
    assert_eq!(api.error_code("ana", &update("name: null")).await, "BAD_REQUEST");
}

#[tokio::test]
async fn users_join_get_roles_and_leave() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let id = founded(&api).await;
    let joined = api
        .run("bo", &format!(r#"mutation {{ joinGroup(groupId: "{id}") {{ status role group {{ membersCount viewerRole }} }} }}"#))
        .await;
    let expected = json!({"status": "active", "role": "member",
        "group": {"membersCount": 2, "viewerRole": "member"}});
    assert_eq!(joined["joinGroup"], expected);
    let role = format!(
        r#"mutation {{ setGroupRole(groupId: "{id}", userId: "bo", role: admin) {{ role }} }}"#
    );
    assert_eq!(api.error_code("bo", &role).await, "FORBIDDEN");
    assert_eq!(api.run("ana", &role).await["setGroupRole"]["role"], "admin");
    let document = format!(
        r#"{{ getGroup(id: "{id}") {{ members {{ items {{ userId role }} }} }} listGroupMembers(groupId: "{id}") {{ items {{ userId }} }} }}"#
    );
    let seen = api.run("bo", &document).await;
    assert_eq!(fields(&seen["listGroupMembers"], "userId"), ["ana", "bo"]);
    assert_eq!(seen["getGroup"]["members"]["items"].as_array().unwrap().len(), 2);
    let mine = api.run("bo", "{ listMyGroups { items { name viewerRole } } }").await;
    assert_eq!(mine["listMyGroups"]["items"], json!([{"name": "Runners", "viewerRole": "admin"}]));
    api.run("bo", &format!(r#"mutation {{ leaveGroup(groupId: "{id}") {{ status }} }}"#)).await;
    let mine = api.run("bo", "{ listMyGroups { items { name } } }").await;
    assert_eq!(mine["listMyGroups"]["items"], json!([]));
}

#[tokio::test]
async fn a_private_group_shows_its_existence_but_not_its_content() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let id = api.town.create_private_group("ana", "Secret").await;
    api.town.post_into("ana", &id, "inside").await;
    let document = format!(
        r#"{{ getGroup(id: "{id}") {{ name isPrivate viewerRole members {{ items {{ userId }} }} activities {{ items {{ verb }} }} }} }}"#
    );
    let seen = api.run("bo", &document).await["getGroup"].take();
    let expected = json!({"name": "Secret", "isPrivate": true, "viewerRole": null,
        "members": {"items": []}, "activities": {"items": []}});
    assert_eq!(seen, expected);
    let members = format!(r#"{{ listGroupMembers(groupId: "{id}") {{ items {{ userId }} }} }}"#);
    assert_eq!(api.error_code("bo", &members).await, "NOT_FOUND");
    let requested =
        api.run("bo", &format!(r#"mutation {{ joinGroup(groupId: "{id}") {{ status }} }}"#)).await;
    assert_eq!(requested["joinGroup"]["status"], "pending");
    api.run(
        "ana",
        &format!(r#"mutation {{ approveMember(groupId: "{id}", userId: "bo") {{ status }} }}"#),
    )
    .await;
    let seen = api.run("bo", &document).await["getGroup"].take();
    assert_eq!(seen["activities"]["items"], json!([{"verb": "post"}]));
    api.run(
        "ana",
        &format!(r#"mutation {{ removeMember(groupId: "{id}", userId: "bo") {{ status }} }}"#),
    )
    .await;
    assert_eq!(api.run("bo", &document).await["getGroup"]["members"]["items"], json!([]));
}

#[tokio::test]
async fn users_are_invited_and_groups_deleted() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let id = founded(&api).await;
    let invite = format!(
        r#"mutation {{ inviteToGroup(groupId: "{id}", userId: "bo") {{ status user {{ nickname }} }} }}"#
    );
    let invited = api.run("ana", &invite).await["inviteToGroup"].take();
    assert_eq!(invited, json!({"status": "invited", "user": {"nickname": "bo"}}));
    let gone = api
        .run(
            "ana",
            &format!(r#"mutation {{ deleteGroup(groupId: "{id}") {{ name membersCount }} }}"#),
        )
        .await;
    assert_eq!(gone["deleteGroup"]["name"], "Runners");
    let document = format!(r#"{{ getGroup(id: "{id}") {{ id }} }}"#);
    assert_eq!(api.run("ana", &document).await["getGroup"], Value::Null);
}

/// R55: the owner sets privacy, join policy and persistence, and revives an archived group.
#[tokio::test]
async fn owners_set_access_and_revive_archived_groups() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let id = founded(&api).await;
    let seen = format!(
        r#"{{ getGroup(id: "{id}") {{ isPersistent isPrivate joinPolicy archivesAt archivedAt }} }}"#
    );
    let group = api.run("bo", &seen).await["getGroup"].take();
    let expected = json!({"isPersistent": true, "isPrivate": false, "joinPolicy": "open",
        "archivesAt": null, "archivedAt": null});
    assert_eq!(group, expected);
    let change = |what: &str| {
        format!(
            r#"mutation {{ updateGroup(input: {{ groupId: "{id}" {what} }}) {{ isPersistent isPrivate joinPolicy }} }}"#
        )
    };
    let changed = api.run("ana", &change("isPersistent: false, joinPolicy: invitation")).await;
    let expected = json!({"isPersistent": false, "isPrivate": false, "joinPolicy": "invitation"});
    assert_eq!(changed["updateGroup"], expected);
    let changed = api.run("ana", &change("isPrivate: true")).await["updateGroup"].take();
    assert_eq!(changed["isPrivate"], true);
    assert_eq!(api.error_code("ana", &change("joinPolicy: open")).await, "BAD_REQUEST");
    assert_eq!(api.error_code("ana", &change("isPrivate: null")).await, "BAD_REQUEST");
    assert_eq!(api.error_code("bo", &change("isPrivate: false")).await, "FORBIDDEN");
    let join = format!(r#"mutation {{ joinGroup(groupId: "{id}") {{ status }} }}"#);
    assert_eq!(api.error_code("bo", &join).await, "FORBIDDEN");

    api.town.archive_group(&id.parse().unwrap()).await;
    assert!(api.run("bo", &seen).await["getGroup"]["archivedAt"].is_string());
    assert_eq!(api.error_code("ana", &change("isPrivate: false")).await, "CONFLICT");
    let revive = format!(r#"mutation {{ reviveGroup(groupId: "{id}") {{ archivedAt }} }}"#);
    assert_eq!(api.error_code("bo", &revive).await, "FORBIDDEN");
    assert_eq!(api.run("ana", &revive).await["reviveGroup"]["archivedAt"], Value::Null);
    api.run("ana", &change("isPrivate: false, isPersistent: true")).await;
    let created = api
        .run(
            "bo",
            r#"mutation { createGroup(input: { name: "Idlers", isPersistent: false, isPrivate: true,
                joinPolicy: invitation }) { isPersistent isPrivate joinPolicy } }"#,
        )
        .await;
    let expected = json!({"isPersistent": false, "isPrivate": true, "joinPolicy": "invitation"});
    assert_eq!(created["createGroup"], expected);
}
