//! Operation of a server: health, metrics, request ids, CORS, the console, and shutdown.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use roundtable_engine::{Engine, Options};
use roundtable_server::Server;
use roundtable_table::{Clock, ManualClock, SystemClock};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::test_server::{TestServer, aliases, code, configuration, read};

#[tokio::test]
async fn a_server_reports_that_it_is_alive_and_ready() {
    let server = TestServer::fresh().await;
    assert_eq!(server.get("/healthz").await.text().await.unwrap(), "ok\n");
    let ready = server.get("/readyz").await;
    assert_eq!(ready.status(), StatusCode::OK);
    assert_eq!(ready.text().await.unwrap(), r#"{"problems":[],"ready":true,"warnings":[]}"#);
    let metrics = server.get("/metrics").await.text().await.unwrap();
    for task in ["streams", "live", "socket", "keys"] {
        let line = format!("roundtable_background_task_up{{task=\"{task}\"}} 1");
        assert!(metrics.contains(&line), "{line}: {metrics}");
    }
    server.stop().await;
}

#[tokio::test]
async fn metrics_are_in_the_prometheus_format() {
    let server = TestServer::fresh().await;
    server.ask(None, "{ me { id } }").await;
    server.ask(None, "{ nothing }").await;
    let page = server.get("/metrics").await.text().await.unwrap();
    for line in [
        "roundtable_http_request_duration_seconds_count{route=\"/graphql\",status=\"200\"} 2",
        "roundtable_graphql_errors_total{code=\"BAD_REQUEST\"} 1",
        "# TYPE roundtable_engine_sync_duration_seconds histogram",
        "roundtable_engine_log_bytes ",
        "# TYPE roundtable_stream_lag_seconds gauge",
        concat!("roundtable_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    let quiet = TestServer::with(|all| all.process.http.metrics = false).await;
    assert_eq!(quiet.get("/metrics").await.status(), StatusCode::NOT_FOUND);
    server.stop().await;
    quiet.stop().await;
}

/// The lag was always 0 once, because nothing told the engine who reads its log.
#[tokio::test]
async fn every_processor_holds_the_log() {
    let server = TestServer::fresh().await;
    let names = ["counters", "scores", "notifications", "fan-out", "purge", "quests"];
    for name in names {
        let held = async {
            let line = format!("roundtable_engine_stream_hold_lag_changes{{consumer=\"{name}\"}}");
            while !server.get("/metrics").await.text().await.unwrap().contains(&line) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), held).await.expect(name);
    }
    server.stop().await;
}

/// Both once kept the log, and grew the disk, without a word in `/readyz`.
#[tokio::test]
async fn readiness_names_a_dead_archive_and_a_hold_without_a_consumer() {
    let data = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at_ms(1_800_000_000_000));
    let options = Options { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..Options::default() };
    let engine = Engine::open(data.path(), options).unwrap();
    engine.hold("removed-webhook", Some(0)).await.unwrap();
    engine.close().unwrap();
    let mut all = configuration(data.path());
    let archive = data.path().join("archive");
    std::fs::write(&archive, "in the way").unwrap();
    all.process.store.archive = Some(archive.clone());
    let server = TestServer::start(all, clock.clone()).await;
    let warnings = async || {
        let (status, ready) = read(server.get("/readyz").await).await;
        assert_eq!((status, &ready["ready"]), (StatusCode::OK, &json!(true)), "it serves: {ready}");
        serde_json::from_value::<Vec<String>>(ready["warnings"].clone()).unwrap()
    };
    let before = warnings().await;
    let [hold] = before.as_slice() else { panic!("{before:?}") };
    assert!(hold.contains("kept for removed-webhook, "), "{hold}");
    assert!(hold.ends_with("`roundtable admin holds drop removed-webhook`"), "{hold}");

    clock.advance_ms(6 * 60 * 1000);
    let expected = "nothing has been archived for 360 s (cannot open the archive";
    let named = async {
        while !warnings().await.iter().any(|warning| warning.starts_with(expected)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), named).await.unwrap();
    std::fs::remove_file(&archive).unwrap();
    let back = async {
        while warnings().await.len() > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), back).await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn every_response_has_its_request_id() {
    let server = TestServer::fresh().await;
    let request = async |id: &str| {
        let request = server.client.get(format!("{}/healthz", server.url));
        let response = request.header("x-request-id", id).send().await.unwrap();
        response.headers()["x-request-id"].to_str().unwrap().to_owned()
    };
    assert_eq!(request("abc-123").await, "abc-123");
    let (one, other) = (request("no spaces, please").await, request(&"x".repeat(500)).await);
    assert!(one.len() == 26 && other.len() == 26 && one != other, "{one} {other}");
    server.stop().await;
}

/// Every response can be found in the log.
#[tokio::test]
async fn error_responses_have_their_request_id_too() {
    let server = TestServer::fresh().await;
    let request = |method, path| server.client.request(method, format!("{}{path}", server.url));
    let json = |body| {
        request(Method::POST, "/graphql").header("content-type", "application/json").body(body)
    };
    let question = r#"{"query":"{ me { id } }"}"#;
    for (request, status) in [
        (request(Method::GET, "/healthz"), 200),
        (request(Method::GET, "/readyz"), 200),
        (request(Method::GET, "/.well-known/jwks.json"), 200),
        (json(question), 200),
        (json("{"), 400),
        (json(question).bearer_auth("forged"), 401),
        (request(Method::GET, "/media/nothing"), 403),
        (request(Method::GET, "/nowhere"), 404),
        (request(Method::DELETE, "/graphql"), 405),
        (request(Method::POST, "/healthz"), 405),
        (request(Method::POST, "/graphql").body(question), 415),
        (request(Method::OPTIONS, "/graphql").header("origin", "https://evil.example"), 200),
    ] {
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{}", response.url());
        let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
        assert_eq!(id.len(), 26, "{id}");
        let text = response.text().await.unwrap();
        assert!(status < 400 || text.contains("errorType"), "{status}: {text}");
    }
    server.stop().await;
}

#[tokio::test]
async fn only_listed_origins_may_send_requests() {
    let origin = "https://app.example.org";
    let server =
        TestServer::with(|all| all.process.http.cors_origins = vec![origin.to_owned()]).await;
    let allowed = async |from: &str| {
        let url = format!("{}/graphql", server.url);
        let request = server.client.request(reqwest::Method::OPTIONS, url).header("origin", from);
        let request = request.header("access-control-request-method", "POST");
        // The last one is sent by Apollo's clients.
        let names = "authorization,content-type,apollographql-client-name";
        let request = request.header("access-control-request-headers", names);
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["access-control-allow-headers"], names);
        response.headers().get("access-control-allow-origin").cloned()
    };
    assert_eq!(allowed(origin).await.unwrap(), origin);
    assert_eq!(allowed("https://evil.example.org").await, None);
    // The responses carry the header too, and none allows cookies.
    let responded = async |from: &str| {
        let post = server.client.post(format!("{}/graphql", server.url)).header("origin", from);
        let response = post.json(&json!({ "query": "{ me { id } }" })).send().await.unwrap();
        assert!(!response.headers().contains_key("access-control-allow-credentials"));
        response.headers().get("access-control-allow-origin").cloned()
    };
    assert_eq!(responded(origin).await.unwrap(), origin);
    assert_eq!(responded("https://evil.example.org").await, None);
    server.stop().await;
}

#[tokio::test]
async fn responses_are_compressed_for_clients_that_accept_it() {
    let server = TestServer::fresh().await;
    let page = server.client.get(format!("{}/console/console.js", server.url));
    let response = page.header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let long = json!({ "query": "{ __schema { types { name description } } }" });
    let request = async |accept: &str| {
        let post = server.client.post(format!("{}/graphql", server.url)).json(&long);
        let response = post.header("accept-encoding", accept).send().await.unwrap();
        let encoding = response.headers().get("content-encoding").cloned();
        (encoding, response.bytes().await.unwrap().len())
    };
    let ((plain, all), (packed, fewer)) = (request("identity").await, request("gzip").await);
    assert_eq!((plain, packed.unwrap().to_str().unwrap()), (None, "gzip"));
    assert!(fewer < all / 2, "{fewer} of {all}");
    // The work of compressing a long one would not wait for its turn.
    let types = aliases("description", 45);
    let types = format!("{{ __schema {{ types {{ fields {{ {types} }} }} }} }}");
    let post =
        server.client.post(format!("{}/graphql", server.url)).json(&json!({ "query": types }));
    let response = post.header("accept-encoding", "gzip").send().await.unwrap();
    assert!(response.headers().get("content-encoding").is_none());
    assert!(response.bytes().await.unwrap().len() > 1 << 20);
    server.stop().await;
}

#[tokio::test]
async fn the_console_loads_nothing_from_other_origins() {
    let server = TestServer::fresh().await;
    let page = server.get("/").await;
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let mut all = page.text().await.unwrap();
    // The page links to the first two, and the scripts import the others.
    let files = ["console/console.css", "console/console.js"];
    for file in files.into_iter().chain(["./document.js", "./schema.js", "./session.js"]) {
        assert!(all.contains(&format!("\"{file}\"")), "{file}");
        let path = file.replace("./", "console/");
        let response = server.get(&format!("/{path}")).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        let expected = if path.contains(".css") { "text/css" } else { "text/javascript" };
        assert!(kind.starts_with(expected), "{path}: {kind}");
        all += &response.text().await.unwrap();
    }
    assert!(!all.contains("http://") && !all.contains("https://"));
    assert!(!all.contains("onclick=") && !all.contains("<style"));
    assert_eq!(server.get("/console/other.js").await.status(), StatusCode::NOT_FOUND);
    let none = TestServer::with(|all| all.process.graphql.console = false).await;
    for path in ["/", "/console/console.js"] {
        assert_eq!(none.get(path).await.status(), StatusCode::NOT_FOUND);
    }
    server.stop().await;
    none.stop().await;
}

/// Running requests are answered, and then no connection is accepted.
#[tokio::test]
async fn shutdown_lets_running_requests_finish() {
    let data = tempfile::tempdir().unwrap();
    let server = TestServer::start(configuration(data.path()), Arc::new(SystemClock)).await;
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let mut slow = tokio::net::TcpStream::connect(&address).await.unwrap();
    let body = json!({ "query": "{ me { id } }" }).to_string();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&body.as_bytes()[..5]).await.unwrap();
    // A later request was answered, so the head has been read.
    server.get("/healthz").await;
    let stopping = server.trigger_stop();
    slow.write_all(&body.as_bytes()[5..]).await.unwrap();
    let mut response = String::new();
    slow.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert!(response.contains(r#"{"data":{"me":null}}"#), "{response}");
    tokio::time::timeout(Duration::from_secs(10), stopping).await.unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(&address).await.is_err());
    // The store is closed: it can be opened again.
    TestServer::start(configuration(data.path()), Arc::new(SystemClock)).await.stop().await;
}

#[tokio::test]
async fn an_address_in_use_and_an_open_store_are_reported() {
    let data = tempfile::tempdir().unwrap();
    let server = TestServer::start(configuration(data.path()), Arc::new(SystemClock)).await;
    let mut same_address = configuration(data.path());
    same_address.process.http.listen = server.url.strip_prefix("http://").unwrap().parse().unwrap();
    let error = Server::open(same_address).await.unwrap_err().to_string();
    assert!(error.contains("http.listen: cannot listen at 127.0.0.1"), "{error}");
    let error = Server::open(configuration(data.path())).await.unwrap_err().to_string();
    assert!(error.contains("process"), "{error}");
    server.stop().await;
}

/// The limit covers all bodies together, however many connections there are.
#[tokio::test]
async fn bodies_beyond_the_budget_are_refused_with_a_hint_to_retry() {
    let server = TestServer::with(|all| {
        (all.process.http.body_bytes_max, all.process.http.bodies_bytes_max) = (60_000, 60_000);
    })
    .await;
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let mut slow = tokio::net::TcpStream::connect(&address).await.unwrap();
    let body = format!("{:50000}", json!({ "query": "{ me { id } }" }).to_string());
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                connection: close\r\ncontent-length: 50000\r\n\r\n";
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&body.as_bytes()[..45_000]).await.unwrap();
    server.until("roundtable_http_request_body_bytes", 45_000).await;

    let other = format!("{:20000}", json!({ "query": "{ me { id } }" }).to_string());
    let (status, response) = server.send(other.clone()).await;
    let error = (StatusCode::SERVICE_UNAVAILABLE, "RATE_LIMITED");
    assert_eq!((status, code(&response)), error, "{response}");
    assert_eq!(server.send(r#"{"query":"{ me { id } }"}"#).await.0, StatusCode::OK, "it fits");

    slow.write_all(&body.as_bytes()[45_000..]).await.unwrap();
    let mut response = String::new();
    slow.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    server.until("roundtable_http_request_body_bytes", 0).await;
    assert_eq!(server.send(other).await.0, StatusCode::OK);
    server.stop().await;
}
