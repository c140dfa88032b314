//! Invalid requests are refused in the API's error format, without internal details.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::test_server::{TestServer, aliases, code, read};
use crate::websocket_client::WebSocketClient;

#[tokio::test]
async fn invalid_bodies_are_bad_requests() {
    let server = TestServer::fresh().await;
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
        let (status, response) = server.send(body).await;
        assert_eq!(code(&response), "BAD_REQUEST", "{body}: {response}");
        assert!(status == StatusCode::BAD_REQUEST || status == StatusCode::OK, "{body}: {status}");
        let text = response.to_string();
        for inside in ["serde", "line 1", "src/", "panicked"] {
            assert!(!text.contains(inside), "{body}: {text}");
        }
    }
    let deep = format!("{{\"query\": {}1{}}}", "[".repeat(500), "]".repeat(500));
    assert_eq!(code(&server.send(deep).await.1), "BAD_REQUEST");
    let form = server.client.post(format!("{}/graphql", server.url));
    let form = form.header("content-type", "text/plain").body("{\"query\": \"{ me { id } }\"}");
    let response = read(form.send().await.unwrap()).await;
    assert_eq!(response.0, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    server.stop().await;
}

#[tokio::test]
async fn an_expensive_document_is_too_complex() {
    let server = TestServer::with(|all| all.process.http.body_bytes_max = 2_000_000).await;
    let request = |document: String| json!({ "query": document }).to_string();
    let (many, few) = (aliases("me { id }", 10_000), aliases("me { id }", 100));
    let batch = format!("[{}]", vec![request("{ me { id } }".into()); 11].join(","));
    for (what, body) in [
        ("deep", request("{ me { followers { items { follower ".repeat(20))),
        ("nested", request("{a".repeat(50_000))),
        ("aliases", request(format!("{{ {many} }}"))),
        ("few aliases", request(format!("{{ {few} }}"))),
        ("long", request(format!("{{ {} }}", "me ".repeat(6_000)))),
        ("batch", batch),
    ] {
        let (_, response) = server.send(body).await;
        let response = if response.is_array() { &response[0] } else { &response };
        let expected =
            if what == "deep" { ["TOO_COMPLEX", "BAD_REQUEST"] } else { ["TOO_COMPLEX"; 2] };
        assert!(expected.contains(&code(response)), "{what}: {response}");
    }
    server.stop().await;
}

/// Each is refused before anything is read, with a short message.
#[tokio::test]
async fn wrong_variables_directives_and_introspection_are_refused() {
    let server = TestServer::fresh().await;
    let create = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }";
    let users = "query ($n: Int, $if: Boolean = true) { listPopularPosts(first: $n) { nextToken @skip(if: $if) } }";
    let long = "x".repeat(100_000);
    let media = json!({ "content": "a", "contentType": "text", "media": [{ "s3Key": 5 }] });
    let deep = |times: usize, open: &str| {
        let opening = open.repeat(times);
        let closing = "}".repeat(opening.matches('{').count());
        format!("{{ __schema {{ types {{ {opening} name {closing} }} }} }}")
    };
    for (query, variables, expected, message) in [
        (create, json!({}), "BAD_REQUEST", "$input: expected a value of type CreatePostInput!"),
        (create, json!({ "input": "x" }), "BAD_REQUEST", "$input: expected"),
        (create, json!({ "input": [] }), "BAD_REQUEST", "found a list"),
        (create, json!({ "input": { &long: 1 } }), "BAD_REQUEST", "has no such field"),
        (create, json!({ "input": media }), "BAD_REQUEST", "$input.media.0.s3Key: expected"),
        (users, json!({ "n": long }), "BAD_REQUEST", "$n: expected a value of type Int"),
        (users, json!({ "n": 1, "if": null }), "BAD_REQUEST", "$if: expected true or false"),
        ("query @skip(if: true) { me { id } }", json!({}), "BAD_REQUEST", "skip"),
        ("{ me { id @deprecated } }", json!({}), "BAD_REQUEST", "deprecated"),
        ("{ me { id @include } }", json!({}), "BAD_REQUEST", "if"),
        (&deep(3, "fields { type { "), json!({}), "TOO_COMPLEX", "introspection lists"),
        (&deep(1_000, "ofType { "), json!({}), "TOO_COMPLEX", "at most"),
    ] {
        let body = json!({ "query": query, "variables": variables });
        let (_, refused) = server.send(body.to_string()).await;
        let error = refused["errors"][0]["message"].as_str().unwrap_or_default();
        assert_eq!(code(&refused), expected, "{refused}");
        assert!(error.contains(message) && error.len() < 300, "{message}: {refused}");
        assert_eq!(refused.get("data"), None, "{refused}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_body_has_a_limit() {
    let server = TestServer::with(|all| all.process.http.body_bytes_max = 1_000).await;
    let body = json!({ "query": format!("{{ me {{ id }} }} # {}", "x".repeat(2_000)) }).to_string();
    let (status, response) = server.send(body).await;
    assert_eq!((status, code(&response)), (StatusCode::PAYLOAD_TOO_LARGE, "TOO_COMPLEX"));
    assert_eq!(server.send("{\"query\": \"{ me { id } }\"}").await.0, StatusCode::OK);
    server.stop().await;
}

#[tokio::test]
async fn requests_can_be_batched() {
    let server = TestServer::fresh().await;
    let one = json!({ "query": "{ me { id } }" });
    let (status, response) = server.send(json!([one, one]).to_string()).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(response, json!([{ "data": { "me": null } }, { "data": { "me": null } }]));
    server.stop().await;
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused() {
    let server = TestServer::fresh().await;
    let (status, response) = read(server.get("/nowhere").await).await;
    assert_eq!((status, code(&response)), (StatusCode::NOT_FOUND, "NOT_FOUND"));
    let delete = server.client.delete(format!("{}/graphql", server.url)).send().await.unwrap();
    let (status, response) = read(delete).await;
    assert_eq!((status, code(&response)), (StatusCode::METHOD_NOT_ALLOWED, "BAD_REQUEST"));
    server.stop().await;
}

/// Following a link changes nothing.
#[tokio::test]
async fn a_get_can_query_but_not_mutate() {
    let server = TestServer::fresh().await;
    let (status, response) = read(server.get("/graphql?query=%7Bme%7Bid%7D%7D").await).await;
    assert_eq!((status, response), (StatusCode::OK, json!({ "data": { "me": null } })));
    let mutation = "/graphql?query=mutation%7BunfollowUser(followeeId:%22x%22)%7BfolloweeId%7D%7D";
    let (_, response) = read(server.get(mutation).await).await;
    assert_eq!(code(&response), "BAD_REQUEST");
    assert_eq!(response["errors"][0]["message"], "mutations need a POST");
    assert_eq!(read(server.get("/graphql").await).await.0, StatusCode::BAD_REQUEST);
    server.stop().await;
}

#[tokio::test]
async fn a_get_runs_the_operation_that_it_names() {
    let server = TestServer::fresh().await;
    let document = "query=query+A%7Bme%7Bid%7D%7D+query+B%7B__typename%7D+mutation+C%7Blogout%7D";
    for (name, expected) in [
        ("&operationName=A", json!({ "data": { "me": null } })),
        ("&operationName=B", json!({ "data": { "__typename": "Query" } })),
        ("", Value::Null),
        ("&operationName=", Value::Null),
        ("&operationName=D", Value::Null),
        ("&operationName=C", json!("mutations need a POST")),
    ] {
        let (_, response) = read(server.get(&format!("/graphql?{document}{name}")).await).await;
        if expected.is_object() {
            assert_eq!(response, expected, "{name}");
            continue;
        }
        assert_eq!(code(&response), "BAD_REQUEST", "{name}: {response}");
        let message = &response["errors"][0]["message"];
        assert!(expected.is_null() || *message == expected, "{name}: {response}");
    }
    server.stop().await;
}

#[tokio::test]
async fn introspection_can_be_disabled() {
    let query = "{ __schema { queryType { name } } }";
    let open = TestServer::fresh().await;
    assert_eq!(open.ask(None, query).await.1["data"]["__schema"]["queryType"]["name"], "Query");
    let close_code = TestServer::with(|all| all.process.graphql.introspection = false).await;
    let (_, response) = close_code.ask(None, query).await;
    assert_eq!(response["data"]["__schema"], Value::Null);
    open.stop().await;
    close_code.stop().await;
}

/// A cursor continues its own list for its own viewer, and nothing else.
#[tokio::test]
async fn forged_changed_and_foreign_cursors_are_refused() {
    let server = TestServer::fresh().await;
    let (ana, bo) = (server.sign_up("ana").await, server.sign_up("bo").await);
    for _ in 0..3 {
        let post = "mutation { createPost(input: { content: \"hi\", contentType: text }) { id } }";
        assert!(server.ask(Some(&ana), post).await.1["errors"].is_null());
    }
    let page = async |token: &str, list: &str, after: Value| {
        let query =
            format!("query ($after: String) {{ {list}(first: 1, after: $after) {{ nextToken }} }}");
        server.ask_with(Some(token), &query, json!({ "after": after })).await.1
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
        let error = page(who, list, json!(after)).await;
        assert_eq!(code(&error), "BAD_REQUEST", "{list} after {after}: {error}");
    }
    let other = TestServer::fresh().await;
    let stranger = other.sign_up("ana").await;
    let query = "query ($after: String) { listGlobalFeed(after: $after) { nextToken } }";
    let (_, error) = other.ask_with(Some(&stranger), query, json!({ "after": cursor })).await;
    assert_eq!(code(&error), "BAD_REQUEST");
    server.stop().await;
    other.stop().await;
}

/// Each transport refuses it before it is parsed: parsed values take many times the bytes of their text.
#[tokio::test]
async fn a_request_has_a_limited_number_of_json_values() {
    let server = TestServer::fresh().await;
    let many = format!("[{}1]", r#"{"":1},"#.repeat(1_500));
    let body = format!(r#"{{"query":"{{ __typename }}","variables":{{"a":{many}}}}}"#);
    let few =
        json!({ "query": "{ __typename }", "variables": { "a": vec![1; 1_900] } }).to_string();
    let post = async |accept: &str, body: &str| {
        let post = server.client.post(format!("{}/graphql", server.url)).header("accept", accept);
        let post = post.header("content-type", "application/json").body(body.to_owned());
        read(post.send().await.unwrap()).await
    };
    for (status, refused) in [
        post("application/json", &body).await,
        post("text/event-stream", &body).await,
        post("application/json", &format!("[{}{{}}]", "{},".repeat(300_000))).await,
        read(
            server.get(&format!("/graphql?query={{__typename}}&variables={{\"a\":{many}}}")).await,
        )
        .await,
    ] {
        assert_eq!((status, code(&refused)), (StatusCode::BAD_REQUEST, "TOO_COMPLEX"), "{refused}");
        let message = refused["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains("000 JSON values"), "{message}");
    }
    let (_, answer) = post("application/json", &few).await;
    assert_eq!(answer, json!({ "data": { "__typename": "Query" } }));
    let (_, answer) = post("application/json", &format!("[{few},{few}]")).await;
    assert_eq!(answer[1]["data"]["__typename"], "Query");

    let token = server.sign_up("ana").await;
    let mut socket = WebSocketClient::connect_as(&server, &token).await;
    let request: Value = serde_json::from_str(&body).unwrap();
    socket.send_message(&json!({ "type": "subscribe", "id": "1", "payload": request })).await;
    assert_eq!(socket.close_code().await, 4400);
    server.stop().await;
}
