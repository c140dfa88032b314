//! The cost of a response, on request and where the configuration permits it.

use serde_json::{Value, json};

use crate::test_server::{TestServer, read};

async fn request(server: &TestServer, token: &str, header: Option<&str>) -> Value {
    ask(server, token, header, "{ me { nickname } }").await
}

async fn ask(server: &TestServer, token: &str, header: Option<&str>, query: &str) -> Value {
    let mut post = server.client.post(format!("{}/graphql", server.url)).bearer_auth(token);
    if let Some(header) = header {
        post = post.header("x-roundtable-xray", header);
    }
    let body = json!({ "query": query });
    read(post.json(&body).send().await.unwrap()).await.1
}

#[tokio::test]
async fn the_operations_behind_a_response_are_listed_with_their_cost() {
    let server = TestServer::with(|all| all.process.graphql.xray = true).await;
    let token = server.sign_up("ana").await;
    let response = request(&server, &token, Some("1")).await;
    let xray = &response["extensions"]["xray"];
    let profile = &xray["operations"][0];
    assert_eq!(profile["pattern"], "profile", "{response}");
    assert_eq!((&profile["path"], &profile["field"]), (&json!("me"), &json!("Query.me")));
    assert_eq!((&profile["operation"], &profile["table"]), (&json!("get"), &json!("gg_core")));
    assert_eq!((&profile["items"], &profile["readUnits"]), (&json!(1), &json!(1.0)));
    assert!(profile["microseconds"].is_u64() && profile["index"].is_null(), "{profile}");
    assert_eq!((&xray["readUnits"], &xray["writeUnits"]), (&json!(1.0), &json!(0)));
    assert!(request(&server, &token, None).await["extensions"].is_null());
    server.stop().await;
}

/// Sibling fields are read at the same time: each operation has the path of its own field.
#[tokio::test]
async fn every_operation_names_the_field_that_caused_it() {
    let server = TestServer::with(|all| all.process.graphql.xray = true).await;
    let token = server.sign_up("ana").await;
    let query = "{ me { mine: posts { items { id } } fans: followers { items { status } } } feed: getFeed { nextToken } }";
    let response = ask(&server, &token, Some("1"), query).await;
    let operations = response["extensions"]["xray"]["operations"].as_array().unwrap();
    assert!(response["errors"].is_null() && !operations.is_empty(), "{response}");
    let has = |pattern: &str, path: &str, field: &str| {
        operations.iter().any(|each| {
            each["pattern"] == pattern && each["path"] == path && each["field"] == field
        })
    };
    assert!(has("posts_by", "me.mine", "User.posts"), "{response}");
    assert!(has("followers", "me.fans", "User.followers"), "{response}");
    assert!(operations.iter().any(|each| each["path"] == "feed"), "{response}");
    assert!(operations.iter().all(|each| each["path"].is_string()), "{response}");
    server.stop().await;
}

#[tokio::test]
async fn costs_are_hidden_unless_the_configuration_permits_them() {
    let server = TestServer::fresh().await;
    let token = server.sign_up("ana").await;
    assert!(request(&server, &token, Some("1")).await["extensions"].is_null());
    server.stop().await;
}
