//! What those see who run a server: health, figures, request ids, origins, the page, and its end.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use roundtable_server::Server;
use roundtable_table::SystemClock;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::served::{Served, code, configuration};

#[tokio::test]
async fn a_server_says_that_it_lives_and_that_it_is_ready() {
    let served = Served::fresh().await;
    assert_eq!(served.get("/healthz").await.text().await.unwrap(), "ok\n");
    let ready = served.get("/readyz").await;
    assert_eq!(ready.status(), StatusCode::OK);
    assert_eq!(ready.text().await.unwrap(), r#"{"problems":[],"ready":true}"#);
    let figures = served.get("/metrics").await.text().await.unwrap();
    for part in ["streams", "feeds", "notifications", "live", "socket", "keys"] {
        let line = format!("roundtable_background_up{{part=\"{part}\"}} 1");
        assert!(figures.contains(&line), "{line}: {figures}");
    }
    served.stop().await;
}

#[tokio::test]
async fn figures_are_there_for_prometheus() {
    let served = Served::fresh().await;
    served.ask(None, "{ me { id } }").await;
    served.ask(None, "{ nothing }").await;
    let page = served.get("/metrics").await.text().await.unwrap();
    for line in [
        "roundtable_http_request_seconds_count{route=\"/graphql\",status=\"200\"} 2",
        "roundtable_graphql_errors_total{code=\"BAD_REQUEST\"} 1",
        "# TYPE roundtable_engine_sync_microseconds histogram",
        "roundtable_engine_log_bytes ",
        "# TYPE roundtable_stream_behind gauge",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    let quiet = Served::with(|all| all.process.http.metrics = false).await;
    assert_eq!(quiet.get("/metrics").await.status(), StatusCode::NOT_FOUND);
    served.stop().await;
    quiet.stop().await;
}

#[tokio::test]
async fn every_answer_has_its_requests_id() {
    let served = Served::fresh().await;
    let asked = async |id: &str| {
        let request = served.client.get(format!("{}/healthz", served.url));
        let answer = request.header("x-request-id", id).send().await.unwrap();
        answer.headers()["x-request-id"].to_str().unwrap().to_owned()
    };
    assert_eq!(asked("abc-123").await, "abc-123");
    let (one, other) = (asked("no spaces, please").await, asked(&"x".repeat(500)).await);
    assert!(one.len() == 26 && other.len() == 26 && one != other, "{one} {other}");
    served.stop().await;
}

/// Whatever came of it, the answer can be found again in what was written down.
#[tokio::test]
async fn refusals_have_their_requests_id_too() {
    let served = Served::fresh().await;
    let request = |method, path| served.client.request(method, format!("{}{path}", served.url));
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
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{}", answer.url());
        let id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
        assert_eq!(id.len(), 26, "{id}");
        let said = answer.text().await.unwrap();
        assert!(status < 400 || said.contains("errorType"), "{status}: {said}");
    }
    served.stop().await;
}

#[tokio::test]
async fn only_pages_of_listed_origins_may_ask() {
    let origin = "https://app.example.org";
    let served = Served::with(|all| all.process.http.cors_origins = vec![origin.to_owned()]).await;
    let allowed = async |from: &str| {
        let url = format!("{}/graphql", served.url);
        let request = served.client.request(reqwest::Method::OPTIONS, url).header("origin", from);
        let request = request.header("access-control-request-method", "POST");
        let request =
            request.header("access-control-request-headers", "authorization,content-type");
        let answer = request.send().await.unwrap();
        answer.headers().get("access-control-allow-origin").cloned()
    };
    assert_eq!(allowed(origin).await.unwrap(), origin);
    assert_eq!(allowed("https://evil.example.org").await, None);
    // Answers themselves say it, too, and none may bring cookies.
    let answered = async |from: &str| {
        let post = served.client.post(format!("{}/graphql", served.url)).header("origin", from);
        let answer = post.json(&json!({ "query": "{ me { id } }" })).send().await.unwrap();
        assert!(!answer.headers().contains_key("access-control-allow-credentials"));
        answer.headers().get("access-control-allow-origin").cloned()
    };
    assert_eq!(answered(origin).await.unwrap(), origin);
    assert_eq!(answered("https://evil.example.org").await, None);
    served.stop().await;
}

#[tokio::test]
async fn answers_are_compressed_for_those_who_can_read_that() {
    let served = Served::fresh().await;
    let page = served.client.get(format!("{}/console.js", served.url));
    let answer = page.header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(answer.headers()["content-encoding"], "gzip");
    let long = json!({ "query": "{ __schema { types { name description } } }" });
    let asked = async |accept: &str| {
        let post = served.client.post(format!("{}/graphql", served.url)).json(&long);
        let answer = post.header("accept-encoding", accept).send().await.unwrap();
        let encoding = answer.headers().get("content-encoding").cloned();
        (encoding, answer.bytes().await.unwrap().len())
    };
    let ((plain, all), (packed, fewer)) = (asked("identity").await, asked("gzip").await);
    assert_eq!((plain, packed.unwrap().to_str().unwrap()), (None, "gzip"));
    assert!(fewer < all / 2, "{fewer} of {all}");
    served.stop().await;
}

#[tokio::test]
async fn the_page_is_there_and_asks_nobody_else() {
    let served = Served::fresh().await;
    let page = served.get("/").await;
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let mut all = page.text().await.unwrap();
    for part in ["/console.js", "/console.css"] {
        assert!(all.contains(part.trim_start_matches('/')));
        all += &served.get(part).await.text().await.unwrap();
    }
    assert!(!all.contains("http://") && !all.contains("https://"));
    assert!(!all.contains("onclick=") && !all.contains("<style"));
    let none = Served::with(|all| all.process.graphql.console = false).await;
    assert_eq!(none.get("/").await.status(), StatusCode::NOT_FOUND);
    served.stop().await;
    none.stop().await;
}

/// What was asked is answered, and then nobody is listened to any more.
#[tokio::test]
async fn stopping_lets_what_is_under_way_finish() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(configuration(data.path()), Arc::new(SystemClock)).await;
    let address = served.url.strip_prefix("http://").unwrap().to_owned();
    let mut slow = tokio::net::TcpStream::connect(&address).await.unwrap();
    let body = json!({ "query": "{ me { id } }" }).to_string();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&body.as_bytes()[..5]).await.unwrap();
    // The head was read once something else was answered after it.
    served.get("/healthz").await;
    let stopping = served.begin_to_stop();
    slow.write_all(&body.as_bytes()[5..]).await.unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains(r#"{"data":{"me":null}}"#), "{answer}");
    tokio::time::timeout(Duration::from_secs(10), stopping).await.unwrap().unwrap();
    assert!(tokio::net::TcpStream::connect(&address).await.is_err());
    // The store is closed: it can be opened again.
    Served::start(configuration(data.path()), Arc::new(SystemClock)).await.stop().await;
}

#[tokio::test]
async fn an_address_that_is_taken_and_a_store_that_is_open_are_said() {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(configuration(data.path()), Arc::new(SystemClock)).await;
    let mut same_address = configuration(data.path());
    same_address.process.http.listen = served.url.strip_prefix("http://").unwrap().parse().unwrap();
    let refused = Server::open(same_address).await.unwrap_err().to_string();
    assert!(refused.contains("http.listen: cannot listen at 127.0.0.1"), "{refused}");
    let refused = Server::open(configuration(data.path())).await.unwrap_err().to_string();
    assert!(refused.contains("process"), "{refused}");
    served.stop().await;
}

/// What everybody sends together has a limit: it is no matter how many they are.
#[tokio::test]
async fn bodies_beyond_what_there_is_room_for_are_told_to_come_again() {
    let served = Served::with(|all| {
        (all.process.http.body_bytes_max, all.process.http.bodies_bytes_max) = (1000, 1000);
    })
    .await;
    let address = served.url.strip_prefix("http://").unwrap().to_owned();
    let mut slow = tokio::net::TcpStream::connect(&address).await.unwrap();
    let body = format!("{:900}", json!({ "query": "{ me { id } }" }).to_string());
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                connection: close\r\ncontent-length: 900\r\n\r\n";
    slow.write_all(head.as_bytes()).await.unwrap();
    slow.write_all(&body.as_bytes()[..800]).await.unwrap();
    served.until("roundtable_http_body_bytes", 800).await;

    let other = format!("{:300}", json!({ "query": "{ me { id } }" }).to_string());
    let (status, answer) = served.send(other.clone()).await;
    let refused = (StatusCode::SERVICE_UNAVAILABLE, "RATE_LIMITED");
    assert_eq!((status, code(&answer)), refused, "{answer}");
    assert_eq!(served.send(r#"{"query":"{ me { id } }"}"#).await.0, StatusCode::OK, "it fits");

    slow.write_all(&body.as_bytes()[800..]).await.unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    served.until("roundtable_http_body_bytes", 0).await;
    assert_eq!(served.send(other).await.0, StatusCode::OK);
    served.stop().await;
}
