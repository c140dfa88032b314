//! Relay's global ids lead back to what they were given out for, and to nothing else.

use roundtable_model::Role;
use serde_json::Value;

use crate::stage::Stage;

async fn found(stage: &Stage, name: &str, id: &Value) -> Value {
    stage.ask(name, &format!("{{ node(nodeId: {id}) {{ __typename nodeId }} }}")).await["node"]
        .take()
}

#[tokio::test]
async fn every_kind_is_found_by_its_global_id() {
    let stage = Stage::of(["ana", "bo"]).await;
    let town = &stage.town;
    town.follow("bo", "ana").await;
    let group = town.found("ana", "Runners").await;
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
    let seen = stage.ask("bo", &document).await;
    let ids = [
        ("User", &seen["User"]["nodeId"]),
        ("Group", &seen["Group"]["nodeId"]),
        ("Post", &seen["Post"]["nodeId"]),
        ("Comment", &seen["Comment"]["nodeId"]),
        ("Follow", &seen["following"]["items"][0]["nodeId"]),
        ("GroupMember", &seen["members"]["items"][0]["nodeId"]),
        ("Like", &seen["likes"]["items"][0]["nodeId"]),
        ("FeedEntry", &seen["feed"]["items"][0]["nodeId"]),
        ("Activity", &seen["feed"]["items"][0]["activity"]["nodeId"]),
    ];
    for (kind, id) in ids {
        let node = found(&stage, "bo", id).await;
        assert_eq!((&node["__typename"], &node["nodeId"]), (&Value::from(kind), id));
    }
    let all = ids.map(|(_, id)| id.to_string()).join(", ");
    let nodes = stage.ask("bo", &format!("{{ nodes(nodeIds: [{all}]) {{ __typename }} }}")).await;
    let kinds: Vec<&str> = nodes["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["__typename"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ids.map(|(kind, _)| kind));
}

#[tokio::test]
async fn what_is_for_staff_is_nothing_to_others() {
    let stage = Stage::of(["ana", "bo", "root"]).await;
    let root = stage.town.employ("root", Role::Admin).await;
    let post = stage.town.post("ana", "hello").await;
    stage.town.report("bo", &post.id, "spam").await;
    let promote = r#"mutation { setPromotion(input: { subjectId: "ana", fanoutEnabled: true, reason: manual }) { nodeId } }"#;
    let promotion =
        stage.ask_as(Some(root.clone()), promote).await["setPromotion"]["nodeId"].take();
    let queue = "{ listModerationQueue { items { nodeId } } }";
    let case =
        stage.ask_as(Some(root.clone()), queue).await["listModerationQueue"]["items"][0]["nodeId"]
            .take();
    for (kind, id) in [("Promotion", promotion), ("ModerationCase", case)] {
        let document = format!("{{ node(nodeId: {id}) {{ __typename }} }}");
        assert_eq!(stage.ask_as(Some(root.clone()), &document).await["node"]["__typename"], kind);
        assert_eq!(found(&stage, "bo", &id).await, Value::Null);
        assert_eq!(stage.ask_as(None, &document).await["node"], Value::Null);
    }
}

#[tokio::test]
async fn what_is_hidden_or_gone_is_null_and_what_is_no_id_is_a_bad_request() {
    let stage = Stage::of(["ana", "bo"]).await;
    let post = stage.town.post("ana", "hello").await;
    let document = format!(r#"{{ getPost(id: "{}") {{ nodeId author {{ nodeId }} }} }}"#, post.id);
    let seen = stage.ask("bo", &document).await["getPost"].take();
    stage.town.block("ana", "bo").await;
    assert_eq!(found(&stage, "bo", &seen["nodeId"]).await, Value::Null);
    assert_eq!(found(&stage, "bo", &seen["author"]["nodeId"]).await, Value::Null);
    for id in ["", "x", "VXNlcg", "Tm90aGluZzphbmE", "VXNlcjphI2I"] {
        let document = format!(r#"{{ node(nodeId: "{id}") {{ nodeId }} }}"#);
        assert_eq!(stage.refused("bo", &document).await, "BAD_REQUEST", "{id}");
    }
    let many = format!("{{ nodes(nodeIds: [{}]) {{ nodeId }} }}", r#""x" "#.repeat(101));
    assert_eq!(stage.refused("bo", &many).await, "BAD_REQUEST");
}

/// Everything that is ana's own, and what she shares with bo: as she made it, by its kind.
async fn own_things(stage: &Stage) -> Vec<(&'static str, Value)> {
    let made = async |name: &str, document: String| stage.ask(name, &document).await;
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
    stage.town.follow("bo", "ana").await;
    stage.town.settle().await;
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
async fn what_is_ones_own_is_found_by_its_global_id_and_is_nothing_to_strangers() {
    let stage = Stage::of(["ana", "bo", "cy"]).await;
    for (kind, id) in own_things(&stage).await {
        let node = found(&stage, "ana", &id).await;
        assert_eq!((&node["__typename"], &node["nodeId"]), (&Value::from(kind), &id));
        assert_eq!(found(&stage, "cy", &id).await, Value::Null, "{kind}");
        let document = format!("{{ node(nodeId: {id}) {{ __typename }} }}");
        assert_eq!(stage.ask_as(None, &document).await["node"], Value::Null, "{kind}");
    }
}

#[tokio::test]
async fn companies_and_offers_are_found_by_their_global_ids() {
    let stage = Stage::of(["ana", "bo"]).await;
    let company = r#"mutation { createCompany(name: "Shoes") { id nodeId } }"#;
    let company = stage.ask("ana", company).await["createCompany"].take();
    let offer = format!(
        r#"mutation {{ createOffer(input: {{ companyId: {}, title: "Runner" }}) {{ nodeId }} }}"#,
        company["id"]
    );
    let offer = stage.ask("ana", &offer).await["createOffer"].take();
    for (kind, it) in [("Company", company), ("Offer", offer)] {
        assert_eq!(found(&stage, "bo", &it["nodeId"]).await["__typename"], kind);
    }
}
