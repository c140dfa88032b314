//! Whatever makes no sense is refused in the words of the contract, and nothing of the inside is told.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::served::{Served, aliases, code, read};

#[tokio::test]
async fn bodies_that_are_no_requests_are_bad_requests() {
    let served = Served::fresh().await;
    for body in [
        "",
        "{",
        "null",
        "[]",
        "[1]",
        "\"x\"",
        "{\"query\": 5}",
        "{\"query\": \"{\"}",
        "\u{0}",
        "{\"query\": \"{ me { id } }\", \"variables\": 5}",
        "{\"query\": \"query A { me { id } } query B { me { id } }\"}",
        "{\"query\": \"{ nothingLikeThis }\"}",
        "{\"query\": \"{ getUser(id: 5.5) { id } }\"}",
    ] {
        let (status, answer) = served.send(body).await;
        assert_eq!(code(&answer), "BAD_REQUEST", "{body}: {answer}");
        assert!(status == StatusCode::BAD_REQUEST || status == StatusCode::OK, "{body}: {status}");
        let said = answer.to_string();
        for inside in ["serde", "line 1", "src/", "panicked"] {
            assert!(!said.contains(inside), "{body}: {said}");
        }
    }
    let deep = format!("{{\"query\": {}1{}}}", "[".repeat(500), "]".repeat(500));
    assert_eq!(code(&served.send(deep).await.1), "BAD_REQUEST");
    let form = served.client.post(format!("{}/graphql", served.url));
    let form = form.header("content-type", "text/plain").body("{\"query\": \"{ me { id } }\"}");
    let answer = read(form.send().await.unwrap()).await;
    assert_eq!(answer.0, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    served.stop().await;
}

#[tokio::test]
async fn what_asks_for_too_much_is_too_complex() {
    let served = Served::with(|all| all.process.http.body_bytes_max = 2_000_000).await;
    let asked = |document: String| json!({ "query": document }).to_string();
    let (many, few) = (aliases("me { id }", 10_000), aliases("me { id }", 100));
    let batch = format!("[{}]", vec![asked("{ me { id } }".into()); 11].join(","));
    for (what, body) in [
        ("deep", asked("{ me { followers { items { follower ".repeat(20))),
        ("nested", asked("{a".repeat(50_000))),
        ("aliases", asked(format!("{{ {many} }}"))),
        ("few aliases", asked(format!("{{ {few} }}"))),
        ("long", asked(format!("{{ {} }}", "me ".repeat(6_000)))),
        ("batch", batch),
    ] {
        let (_, answer) = served.send(body).await;
        let answer = if answer.is_array() { &answer[0] } else { &answer };
        let expected =
            if what == "deep" { ["TOO_COMPLEX", "BAD_REQUEST"] } else { ["TOO_COMPLEX"; 2] };
        assert!(expected.contains(&code(answer)), "{what}: {answer}");
    }
    served.stop().await;
}

#[tokio::test]
async fn a_body_has_a_limit() {
    let served = Served::with(|all| all.process.http.body_bytes_max = 1_000).await;
    let body = json!({ "query": format!("{{ me {{ id }} }} # {}", "x".repeat(2_000)) }).to_string();
    let (status, answer) = served.send(body).await;
    assert_eq!((status, code(&answer)), (StatusCode::PAYLOAD_TOO_LARGE, "TOO_COMPLEX"));
    assert_eq!(served.send("{\"query\": \"{ me { id } }\"}").await.0, StatusCode::OK);
    served.stop().await;
}

#[tokio::test]
async fn a_few_requests_can_come_together() {
    let served = Served::fresh().await;
    let one = json!({ "query": "{ me { id } }" });
    let (status, answer) = served.send(json!([one, one]).to_string()).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(answer, json!([{ "data": { "me": null } }, { "data": { "me": null } }]));
    served.stop().await;
}

#[tokio::test]
async fn unknown_addresses_and_methods_are_refused_alike() {
    let served = Served::fresh().await;
    let (status, answer) = read(served.get("/nowhere").await).await;
    assert_eq!((status, code(&answer)), (StatusCode::NOT_FOUND, "NOT_FOUND"));
    let delete = served.client.delete(format!("{}/graphql", served.url)).send().await.unwrap();
    let (status, answer) = read(delete).await;
    assert_eq!((status, code(&answer)), (StatusCode::METHOD_NOT_ALLOWED, "BAD_REQUEST"));
    served.stop().await;
}

/// Nothing is changed by following a link.
#[tokio::test]
async fn a_get_asks_and_changes_nothing() {
    let served = Served::fresh().await;
    let (status, answer) = read(served.get("/graphql?query=%7Bme%7Bid%7D%7D").await).await;
    assert_eq!((status, answer), (StatusCode::OK, json!({ "data": { "me": null } })));
    let mutation = "/graphql?query=mutation%7BunfollowUser(followeeId:%22x%22)%7BfolloweeId%7D%7D";
    let (_, answer) = read(served.get(mutation).await).await;
    assert_eq!(code(&answer), "BAD_REQUEST");
    assert_eq!(answer["errors"][0]["message"], "mutations need a POST");
    assert_eq!(read(served.get("/graphql").await).await.0, StatusCode::BAD_REQUEST);
    served.stop().await;
}

#[tokio::test]
async fn introspection_can_be_switched_off() {
    let query = "{ __schema { queryType { name } } }";
    let open = Served::fresh().await;
    assert_eq!(open.ask(None, query).await.1["data"]["__schema"]["queryType"]["name"], "Query");
    let closed = Served::with(|all| all.process.graphql.introspection = false).await;
    let (_, answer) = closed.ask(None, query).await;
    assert_eq!(answer["data"]["__schema"], Value::Null);
    open.stop().await;
    closed.stop().await;
}

/// A cursor goes on with the list it was given out for, for whom it was given out, and at nothing else.
#[tokio::test]
async fn cursors_that_were_made_up_changed_or_borrowed_are_refused() {
    let served = Served::fresh().await;
    let (ana, bo) = (served.newcomer("ana").await, served.newcomer("bo").await);
    for _ in 0..3 {
        let post = "mutation { createPost(input: { content: \"hi\", contentType: text }) { id } }";
        assert!(served.ask(Some(&ana), post).await.1["errors"].is_null());
    }
    let page = async |token: &str, list: &str, after: Value| {
        let query =
            format!("query ($after: String) {{ {list}(first: 1, after: $after) {{ nextToken }} }}");
        served.ask_with(Some(token), &query, json!({ "after": after })).await.1
    };
    let first = page(&ana, "listGlobalFeed", Value::Null).await;
    let cursor = first["data"]["listGlobalFeed"]["nextToken"].as_str().unwrap();
    let second = page(&ana, "listGlobalFeed", json!(cursor)).await;
    assert!(second["data"]["listGlobalFeed"]["nextToken"].is_string(), "{second}");
    let changed = format!("{}A", &cursor[..cursor.len() - 1]);
    let changed =
        if changed == cursor { format!("{}B", &cursor[..cursor.len() - 1]) } else { changed };
    for (who, list, after) in [
        (&ana, "listGlobalFeed", "nonsense"),
        (&ana, "listGlobalFeed", ""),
        (&ana, "listGlobalFeed", &changed),
        (&ana, "getFeed", cursor),
        (&bo, "listGlobalFeed", cursor),
    ] {
        let refused = page(who, list, json!(after)).await;
        assert_eq!(code(&refused), "BAD_REQUEST", "{list} after {after}: {refused}");
    }
    let other = Served::fresh().await;
    let stranger = other.newcomer("ana").await;
    let query = "query ($after: String) { listGlobalFeed(after: $after) { nextToken } }";
    let (_, refused) = other.ask_with(Some(&stranger), query, json!({ "after": cursor })).await;
    assert_eq!(code(&refused), "BAD_REQUEST");
    served.stop().await;
    other.stop().await;
}
