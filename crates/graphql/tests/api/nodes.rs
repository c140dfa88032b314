//! Relay's global ids load the object they were issued for, and nothing else.

use roundtable_model::Role;
use serde_json::Value;

use crate::api_town::ApiTown;

async fn found(api: &ApiTown, name: &str, id: &Value) -> Value {
    api.run(name, &format!("{{ node(nodeId: {id}) {{ __typename nodeId }} }}")).await["node"].take()
}

#[tokio::test]
async fn every_type_is_found_by_its_global_id() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let town = &api.town;
    town.follow("bo", "ana").await;
    let group = town.create_group("ana", "Runners").await;
    let post = town.post("ana", "hello").await;
    let comment = town.comment("ana", &post.id, "first").await;
    town.like("bo", &post.id).await;
    let document = format!(
        r#"{{ User: getUser(id: "ana") {{ nodeId }} Group: getGroup(id: "{group}") {{ nodeId }} Post: getPost(id: "{}") {{ nodeId }}
            Comment: getComment(id: "{}") {{ nodeId }} following: listFollowing {{ items {{ nodeId }} }}
            members: listGroupMembers(groupId: "{group}") {{ items {{ nodeId }} }} likes: listPostLikes(postId: "{}") {{ items {{ nodeId }} }}
            feed: getFeed {{ items {{ nodeId activity {{ nodeId }} }} }} }}"#,
        post.id, comment.id, post.id
    );
    let data = api.run("bo", &document).await;
    let ids = [
        ("User", &data["User"]["nodeId"]),
        ("Group", &data["Group"]["nodeId"]),
        ("Post", &data["Post"]["nodeId"]),
        ("Comment", &data["Comment"]["nodeId"]),
        ("Follow", &data["following"]["items"][0]["nodeId"]),
        ("GroupMember", &data["members"]["items"][0]["nodeId"]),
        ("Like", &data["likes"]["items"][0]["nodeId"]),
        ("FeedEntry", &data["feed"]["items"][0]["nodeId"]),
        ("Activity", &data["feed"]["items"][0]["activity"]["nodeId"]),
    ];
    for (kind, id) in ids {
        let node = found(&api, "bo", id).await;
        assert_eq!((&node["__typename"], &node["nodeId"]), (&Value::from(kind), id));
    }
    let all = ids.map(|(_, id)| id.to_string()).join(", ");
    let nodes = api.run("bo", &format!("{{ nodes(nodeIds: [{all}]) {{ __typename }} }}")).await;
    let kinds: Vec<&str> = nodes["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["__typename"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ids.map(|(kind, _)| kind));
}

#[tokio::test]
async fn a_number_is_an_id_like_any_other() {
    let api = ApiTown::of(["ana"]).await;
    for id in ["5", "\"5\""] {
        let document = format!("{{ node(nodeId: {id}) {{ nodeId }} }}");
        let response = api.response(api.client("ana"), &document, Value::Null).await;
        assert_eq!(response["errors"][0]["message"], "nodeId: unknown id", "{document}");
    }
}

#[tokio::test]
async fn staff_only_nodes_are_null_for_others() {
    let api = ApiTown::of(["ana", "bo", "root"]).await;
    let root = api.town.grant_role("root", Role::Admin).await;
    let post = api.town.post("ana", "hello").await;
    api.town.report("bo", &post.id, "spam").await;
    let promote = r#"mutation { setPromotion(input: { subjectId: "ana", fanoutEnabled: true, reason: manual }) { nodeId } }"#;
    let promotion = api.run_as(Some(root.clone()), promote).await["setPromotion"]["nodeId"].take();
    let queue = "{ listModerationQueue { items { nodeId } } }";
    let case =
        api.run_as(Some(root.clone()), queue).await["listModerationQueue"]["items"][0]["nodeId"]
            .take();
    for (kind, id) in [("Promotion", promotion), ("ModerationCase", case)] {
        let document = format!("{{ node(nodeId: {id}) {{ __typename }} }}");
        assert_eq!(api.run_as(Some(root.clone()), &document).await["node"]["__typename"], kind);
        assert_eq!(found(&api, "bo", &id).await, Value::Null);
        assert_eq!(api.run_as(None, &document).await["node"], Value::Null);
    }
}

#[tokio::test]
async fn hidden_and_missing_nodes_are_null_and_an_invalid_id_is_a_bad_request() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let post = api.town.post("ana", "hello").await;
    let document = format!(r#"{{ getPost(id: "{}") {{ nodeId author {{ nodeId }} }} }}"#, post.id);
    let data = api.run("bo", &document).await["getPost"].take();
    api.town.block("ana", "bo").await;
    assert_eq!(found(&api, "bo", &data["nodeId"]).await, Value::Null);
    assert_eq!(found(&api, "bo", &data["author"]["nodeId"]).await, Value::Null);
    for id in ["", "x", "VXNlcg", "Tm90aGluZzphbmE", "VXNlcjphI2I"] {
        let document = format!(r#"{{ node(nodeId: "{id}") {{ nodeId }} }}"#);
        assert_eq!(api.error_code("bo", &document).await, "BAD_REQUEST", "{id}");
    }
    let many = format!("{{ nodes(nodeIds: [{}]) {{ nodeId }} }}", r#""x" "#.repeat(101));
    assert_eq!(api.error_code("bo", &many).await, "BAD_REQUEST");
}

/// Creates private objects of ana, and some that she shares with bo; returns types and global ids.
async fn private_nodes(api: &ApiTown) -> Vec<(&'static str, Value)> {
    let made = async |name: &str, document: String| api.run(name, &document).await;
    let goal =
        made("ana", r#"mutation { it: createGoal(input: { title: "run" }) { id nodeId } }"#.into())
            .await;
    let id = goal["it"]["id"].clone();
    let task = made("ana", format!(r#"mutation {{ it: createTask(input: {{ goalId: {id}, title: "shoes" }}) {{ nodeId }} }}"#)).await;
    let milestone = made("ana", format!(r#"mutation {{ it: createMilestone(input: {{ goalId: {id}, name: "half", percentage: 50 }}) {{ nodeId }} }}"#)).await;
    let quest = made("ana", r#"mutation { it: createQuest(input: { title: "ten", difficulty: easy, rewardXp: 10, kind: quantitative, targetCount: 3, countScope: any }) { nodeId } }"#.into()).await;
    let room = made(
        "ana",
        r#"mutation { it: createRoom(input: { scope: dm, memberIds: ["bo"] }) { id nodeId } }"#
            .into(),
    )
    .await;
    let id = room["it"]["id"].clone();
    let message = made(
        "bo",
        format!(r#"mutation {{ it: sendMessage(roomId: {id}, text: "hi") {{ nodeId }} }}"#),
    )
    .await;
    let thread = made(
        "ana",
        r#"mutation { it: createAssistThread(helperIds: ["bo"]) { id nodeId } }"#.into(),
    )
    .await;
    let id = thread["it"]["id"].clone();
    let help = made(
        "bo",
        format!(
            r#"mutation {{ it: sendAssistMessage(threadId: {id}, text: "well") {{ nodeId }} }}"#
        ),
    )
    .await;
    api.town.follow("bo", "ana").await;
    api.town.settle().await;
    let notes = made("ana", "{ listNotifications { items { nodeId } } }".into()).await;
    let note = notes["listNotifications"]["items"][0]["nodeId"].clone();
    let made = [
        ("Goal", goal),
        ("Task", task),
        ("Milestone", milestone),
        ("Quest", quest),
        ("Room", room),
        ("Message", message),
        ("AssistThread", thread),
        ("AssistMessage", help),
    ];
    let mut things: Vec<(&str, Value)> =
        made.into_iter().map(|(kind, made)| (kind, made["it"]["nodeId"].clone())).collect();
    things.push(("Notification", note));
    things
}

#[tokio::test]
async fn private_nodes_are_found_by_their_owner_only() {
    let api = ApiTown::of(["ana", "bo", "cy"]).await;
    for (kind, id) in private_nodes(&api).await {
        let node = found(&api, "ana", &id).await;
        assert_eq!((&node["__typename"], &node["nodeId"]), (&Value::from(kind), &id));
        assert_eq!(found(&api, "cy", &id).await, Value::Null, "{kind}");
        let document = format!("{{ node(nodeId: {id}) {{ __typename }} }}");
        assert_eq!(api.run_as(None, &document).await["node"], Value::Null, "{kind}");
    }
}

#[tokio::test]
async fn companies_and_offers_are_found_by_their_global_ids() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let company = r#"mutation { createCompany(name: "Shoes") { id nodeId } }"#;
    let company = api.run("ana", company).await["createCompany"].take();
    let offer = format!(
        r#"mutation {{ createOffer(input: {{ companyId: {}, title: "Runner" }}) {{ nodeId }} }}"#,
        company["id"]
    );
    let offer = api.run("ana", &offer).await["createOffer"].take();
    for (kind, it) in [("Company", company), ("Offer", offer)] {
        assert_eq!(found(&api, "bo", &it["nodeId"]).await["__typename"], kind);
    }
}
