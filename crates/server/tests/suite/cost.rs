//! What an answer cost, for those who ask, where that is allowed.

use serde_json::{Value, json};

use crate::served::{Served, read};

async fn asked(served: &Served, token: &str, header: Option<&str>) -> Value {
    let mut post = served.client.post(format!("{}/graphql", served.url)).bearer_auth(token);
    if let Some(header) = header {
        post = post.header("x-roundtable-xray", header);
    }
    let body = json!({ "query": "{ me { nickname } }" });
    read(post.json(&body).send().await.unwrap()).await.1
}

#[tokio::test]
async fn the_operations_behind_an_answer_are_listed_with_their_cost() {
    let served = Served::with(|all| all.process.graphql.xray = true).await;
    let token = served.newcomer("ana").await;
    let answer = asked(&served, &token, Some("1")).await;
    let xray = &answer["extensions"]["xray"];
    let profile = &xray["operations"][0];
    assert_eq!(profile["pattern"], "profile", "{answer}");
    assert_eq!((&profile["operation"], &profile["table"]), (&json!("get"), &json!("gg_core")));
    assert_eq!((&profile["items"], &profile["readUnits"]), (&json!(1), &json!(1.0)));
    assert!(profile["microseconds"].is_u64() && profile["index"].is_null(), "{profile}");
    assert_eq!((&xray["readUnits"], &xray["writeUnits"]), (&json!(1.0), &json!(0)));
    assert!(asked(&served, &token, None).await["extensions"].is_null());
    served.stop().await;
}

#[tokio::test]
async fn nobody_is_told_where_it_is_not_allowed() {
    let served = Served::fresh().await;
    let token = served.newcomer("ana").await;
    assert!(asked(&served, &token, Some("1")).await["extensions"].is_null());
    served.stop().await;
}
