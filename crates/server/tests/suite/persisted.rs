//! Documents that clients name by a hash or an id: over all transports.

use std::path::PathBuf;
use std::sync::Arc;

use reqwest::StatusCode;
use roundtable_server::{Server, StartError};
use roundtable_table::SystemClock;
use serde_json::{Value, json};

use crate::test_server::{TestServer, code, configuration, read};
use crate::websocket_client::WebSocketClient;

const ME: &str = "{ me { nickname } }";
const ME_HASH: &str = "7b0c73762ff62bd7f1729cc7ee7e91239cb2581dc99c7aa31dc528fc1263fa0c";

fn hashed(hash: &str) -> Value {
    json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } })
}

async fn post(server: &TestServer, body: Value) -> Value {
    server.send(body.to_string()).await.1
}

#[tokio::test]
async fn a_hash_is_answered_over_every_transport() {
    let server = TestServer::fresh().await;
    let hash = json!({ "extensions": hashed(ME_HASH) });
    let both = json!({ "query": ME, "extensions": hashed(ME_HASH) });
    let answer = json!({ "data": { "me": null } });

    let (status, unknown) = server.send(hash.to_string()).await;
    assert_eq!((status, code(&unknown)), (StatusCode::OK, "PERSISTED_QUERY_NOT_FOUND"));
    assert_eq!(unknown["errors"][0]["message"], "PersistedQueryNotFound");
    assert_eq!(unknown.get("data"), None);
    // Clients that support GraphQL over HTTP would read the same answer with any status; others give up.
    let request = server.client.post(format!("{}/graphql", server.url)).json(&hash);
    let accepts = request.header("accept", "application/graphql-response+json");
    assert_eq!(read(accepts.send().await.unwrap()).await, (StatusCode::OK, unknown.clone()));

    let mut socket = WebSocketClient::open(&server).await;
    socket.send_message(&json!({ "type": "connection_init" })).await;
    assert_eq!(socket.next_message().await["type"], "connection_ack");
    let subscribe =
        |id: &str, payload: &Value| json!({ "type": "subscribe", "id": id, "payload": payload });
    socket.send_message(&subscribe("1", &hash)).await;
    let message = socket.next_message_of("1").await;
    assert_eq!(message["type"], "error");
    assert_eq!(message["payload"][0]["errorType"], "PERSISTED_QUERY_NOT_FOUND");
    socket.send_message(&subscribe("2", &both)).await;
    assert_eq!(socket.next_message_of("2").await["payload"], answer);
    socket.send_message(&subscribe("3", &hash)).await;
    assert_eq!(socket.next_message_of("3").await["payload"], answer);

    assert_eq!(post(&server, hash.clone()).await, answer);
    let plain = json!({ "query": ME });
    let batch = post(&server, json!([hash, plain, both])).await;
    assert_eq!(batch, json!([answer, answer, answer]));
    let extensions: String =
        form_urlencoded::byte_serialize(hashed(ME_HASH).to_string().as_bytes()).collect();
    let path = format!("/graphql?extensions={extensions}");
    assert_eq!(read(server.get(&path).await).await, (StatusCode::OK, answer));
    for request in [
        server.client.get(format!("{}{path}", server.url)),
        server.client.post(format!("{}/graphql", server.url)).json(&hash),
    ] {
        let events = request.header("accept", "text/event-stream").send().await.unwrap();
        let events = events.text().await.unwrap();
        assert_eq!(
            events,
            "event: next\ndata: {\"data\":{\"me\":null}}\n\nevent: complete\ndata:\n\n"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn a_wrong_hash_is_a_bad_request() {
    let server = TestServer::fresh().await;
    for extensions in [
        hashed(&"0".repeat(64)),
        hashed("abc"),
        hashed(&"é".repeat(32)),
        json!({ "persistedQuery": { "version": 2, "sha256Hash": ME_HASH } }),
        json!({ "persistedQuery": { "version": 1 } }),
        json!({ "persistedQuery": 5 }),
        json!([]),
        json!("x"),
    ] {
        let refused = post(&server, json!({ "query": ME, "extensions": extensions })).await;
        assert_eq!(code(&refused), "BAD_REQUEST", "{extensions}: {refused}");
    }
    for path in ["extensions=5", "extensions=%7B%7D", "extensions=%7B", "documentId=x", "query="] {
        let (status, refused) = read(server.get(&format!("/graphql?{path}")).await).await;
        assert_eq!(code(&refused), "BAD_REQUEST", "{path}");
        assert!([StatusCode::OK, StatusCode::BAD_REQUEST].contains(&status), "{path}: {status}");
    }
    // A mutation needs a POST, whatever names it.
    let mutation = "mutation { logout(refreshToken: \"x\") }";
    let hash = "5b4b77ebbf1e0f56bd93842b3caf6eb55c5a33c8119b204430b3a9997efb3c58";
    post(&server, json!({ "query": mutation, "extensions": hashed(hash) })).await;
    let extensions: String =
        form_urlencoded::byte_serialize(hashed(hash).to_string().as_bytes()).collect();
    let (_, refused) = read(server.get(&format!("/graphql?extensions={extensions}")).await).await;
    assert_eq!(refused["errors"][0]["message"], "mutations need a POST");
    server.stop().await;
}

/// What a client registers is forgotten when others register more; then it sends the text again.
#[tokio::test]
async fn registered_documents_take_a_fixed_amount_of_memory() {
    let server = TestServer::fresh().await;
    post(&server, json!({ "query": ME, "extensions": hashed(ME_HASH) })).await;
    let hash = |text: &str| {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes());
        digest.as_ref().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    };
    // Each takes about a megabyte with its plan, and with the parsed document that introspection needs.
    let text = |number: usize| {
        let comment = "x".repeat(25_000);
        format!("{{ me {{ nickname }} __type(name: \"None\") {{ name }} }} # {number} {comment}")
    };
    for number in 0..8 {
        let text = text(number);
        let body = json!({ "query": text, "extensions": hashed(&hash(&text)) });
        let answer = json!({ "data": { "me": null, "__type": null } });
        assert_eq!(post(&server, body).await, answer);
    }
    for (forgotten, is_known) in [(ME_HASH.to_owned(), false), (hash(&text(7)), true)] {
        let answer = post(&server, json!({ "extensions": hashed(&forgotten) })).await;
        assert_eq!(answer["errors"].is_null(), is_known, "{answer}");
    }
    server.stop().await;
}

fn list(directory: &tempfile::TempDir, list: &Value) -> PathBuf {
    let path = directory.path().join("list.json");
    std::fs::write(&path, list.to_string()).unwrap();
    path
}

#[tokio::test]
async fn a_server_can_answer_only_the_documents_of_a_list() {
    let directory = tempfile::tempdir().unwrap();
    let events = "subscription Posts { onCreatePost { id } }";
    let path = list(&directory, &json!({ "me": ME, "posts": events }));
    let server = TestServer::with(|all| all.process.graphql.documents = Some(path)).await;
    let answer = json!({ "data": { "me": null } });
    for body in [
        json!({ "documentId": "me" }),
        json!({ "doc_id": "me" }),
        json!({ "id": "me" }),
        json!({ "documentId": format!("sha256:{ME_HASH}") }),
        json!({ "extensions": hashed(ME_HASH) }),
        json!({ "extensions": hashed("me") }),
        json!({ "query": ME }),
    ] {
        assert_eq!(post(&server, body.clone()).await, answer, "{body}");
    }
    assert_eq!(read(server.get("/graphql?documentId=me").await).await.1, answer);
    for (body, expected) in [
        (json!({ "query": "{ me { id } }" }), "DOCUMENT_NOT_ALLOWED"),
        (json!({ "query": "{ __schema { queryType { name } } }" }), "DOCUMENT_NOT_ALLOWED"),
        (json!({ "documentId": "you" }), "DOCUMENT_NOT_ALLOWED"),
        (json!({ "extensions": hashed(&"0".repeat(64)) }), "DOCUMENT_NOT_ALLOWED"),
        (json!({ "query": "{ me { id } }", "documentId": "me" }), "BAD_REQUEST"),
    ] {
        let refused = post(&server, json!([body])).await;
        assert_eq!(code(&refused[0]), expected, "{body}");
        assert_eq!(refused[0].get("data"), None);
    }
    let mut socket = WebSocketClient::open(&server).await;
    socket.send_message(&json!({ "type": "connection_init" })).await;
    assert_eq!(socket.next_message().await["type"], "connection_ack");
    for (id, payload, expected) in [
        ("1", json!({ "query": "subscription { onCreatePost { id } }" }), "error"),
        ("2", json!({ "documentId": "me" }), "next"),
    ] {
        socket.send_message(&json!({ "type": "subscribe", "id": id, "payload": payload })).await;
        assert_eq!(socket.next_message_of(id).await["type"], expected);
    }
    server.stop().await;
}

/// A server with a wrong list would refuse an app's requests, one after the other.
#[tokio::test]
async fn a_server_does_not_start_with_a_wrong_list() {
    let directory = tempfile::tempdir().unwrap();
    for (documents, expected) in [
        (json!({ "me": ME, "you": "{ you { id } }" }), "the document `you`: "),
        (json!({ "you": "{ me { id }" }), "the document `you`: "),
        (json!({ "you": 5 }), "the document `you`: expected its text"),
        (json!([]), "expected a JSON object"),
    ] {
        let data = tempfile::tempdir().unwrap();
        let mut configuration = configuration(data.path());
        configuration.process.graphql.documents = Some(list(&directory, &documents));
        let error = Server::open_at(configuration, Arc::new(SystemClock)).await.unwrap_err();
        assert!(matches!(error, StartError::Configuration(_)), "{error:?}");
        let error = error.to_string();
        assert!(error.starts_with("graphql.documents: ") && error.contains(expected), "{error}");
    }
    let data = tempfile::tempdir().unwrap();
    let mut configuration = configuration(data.path());
    configuration.process.graphql.documents = Some(directory.path().join("nowhere.json"));
    let error = Server::open_at(configuration, Arc::new(SystemClock)).await.unwrap_err();
    assert!(error.to_string().contains("nowhere.json"), "{error}");
}
