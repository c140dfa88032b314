//! Search by text.

use roundtable_domain::SearchError;
use roundtable_interface::ApiError;
use serde_json::{Value, json};

use crate::api_town::ApiTown;

const FIELDS: &str = "items { __typename ... on User { nickname } ... on Group { name }
    ... on Post { content } ... on Comment { content } ... on Goal { title } ... on TagMatch { tag } } nextToken";

fn shown(found: &Value) -> Vec<String> {
    let items = found["items"].as_array().unwrap().iter();
    let texts = items.map(|it| {
        let text = ["nickname", "name", "content", "title", "tag"].map(|field| it[field].as_str());
        let text = text.into_iter().flatten().next().unwrap_or_default();
        format!("{}: {text}", it["__typename"].as_str().unwrap())
    });
    texts.collect()
}

/// R58: people, groups, posts, comments, goals and tags, with both kinds of paging.
#[tokio::test]
async fn everything_is_found_in_both_kinds_of_pages() {
    let api = ApiTown::of(["ana", "kestrel"]).await;
    let post = api.town.post("ana", "a kestrel in the #kestrels tower").await.id;
    api.town.advance_ms(1_000);
    api.town.comment("kestrel", &post, "Kestrel, not a hawk").await;
    api.run("ana", r#"mutation { createGroup(input: { name: "Kestrel watch" }) { id } }"#).await;
    api.town.advance_ms(1_000);
    api.run("ana", r#"mutation { createGoal(input: { title: "Kestrel count" }) { id } }"#).await;
    let search = |more: &str| format!("{{ search(query: \"kestrel\"{more}) {{ {FIELDS} }} }}");
    let all = api.run("ana", &search("")).await;
    let expected = [
        "User: kestrel",
        "Goal: Kestrel count",
        "Group: Kestrel watch",
        "TagMatch: kestrels",
        "Comment: Kestrel, not a hawk",
        "Post: a kestrel in the #kestrels tower",
    ];
    assert_eq!(shown(&all["search"]), expected);
    let (mut tokens, mut token) = (Vec::new(), Value::Null);
    loop {
        let page = api.run("ana", &search(&format!(", limit: 2, nextToken: {token}"))).await;
        tokens.extend(shown(&page["search"]));
        token = page["search"]["nextToken"].clone();
        if token.is_null() {
            break;
        }
    }
    assert_eq!(tokens, expected);
    let first = r#"{ search(query: "kestrel", first: 1) {
        edges { cursor node { __typename } } pageInfo { hasNextPage endCursor } } }"#;
    let first = api.run("ana", first).await;
    assert_eq!(first["search"]["pageInfo"]["hasNextPage"], true);
    let after = &first["search"]["pageInfo"]["endCursor"];
    let rest = api.run("ana", &search(&format!(", after: {after}"))).await;
    assert_eq!(shown(&rest["search"]), expected[1..]);
    let foreign = format!("{{ search(query: \"hawk\", after: {after}) {{ {FIELDS} }} }}");
    assert_eq!(api.error_code("ana", &foreign).await, "BAD_REQUEST");
    let of_types = api.run_as(None, &search(", types: [Comment, Goal]")).await;
    assert_eq!(shown(&of_types["search"]), ["Comment: Kestrel, not a hawk"]);
}

/// R58: search syntax never fails.
#[tokio::test]
async fn any_text_is_a_query() {
    let api = ApiTown::of(["ana"]).await;
    for text in ["", "\"", "a AND (", "text:*", "[1 TO", "\u{0}", "-", "😀"] {
        let query = format!("{{ search(query: {}, types: [Post]) {{ {FIELDS} }} }}", json!(text));
        assert_eq!(api.run("ana", &query).await["search"]["items"], json!([]), "{text}");
    }
    let long = format!("{{ search(query: \"{}\") {{ {FIELDS} }} }}", "x".repeat(501));
    assert_eq!(api.error_code("ana", &long).await, "BAD_REQUEST");
}

/// R58: INDEX_BUILDING while there is no index.
#[test]
fn a_missing_index_has_a_code_of_its_own() {
    let code = |error: SearchError| ApiError::from(error).code().as_str();
    assert_eq!(code(SearchError::Building), "INDEX_BUILDING");
    assert_eq!(code(SearchError::Off), "FORBIDDEN");
}
