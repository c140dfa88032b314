//! Several processes on one table: changes written through one reach the subscribers of the others, and
//! subscribers that may have missed some are told.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use roundtable_model::{Role, Secret};
use roundtable_server::{Configuration, ProcessRole, Server};
use roundtable_table::{Clock, ManualClock};
use serde_json::Value;
use tempfile::TempDir;

use crate::store_outage::Store;
use crate::test_server::{PASSWORD, TestServer, configuration, use_dynamodb};
use crate::websocket_client::{WebSocketClient, subscribe};

/// Longer than the lease of a silent worker.
const SILENT_MS: u64 = 16_000;
const COMPLETE: &str = "roundtable_live_all_workers_connected";
const CONNECTED: &str = "roundtable_live_connected_workers";

/// The processes of one table.
struct Installation {
    store: Store,
    clock: Arc<ManualClock>,
    data: TempDir,
}

impl Installation {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock::at_ms(1_800_000_000_000));
        Self { store: Store::start().await, clock, data: tempfile::tempdir().unwrap() }
    }

    fn configuration(&self, role: ProcessRole, workers: &[&str]) -> Configuration {
        let mut all = configuration(self.data.path());
        all.process.role = role;
        use_dynamodb(&mut all, &self.store.url);
        all.process.live.workers = workers.iter().map(|&url| url.to_owned()).collect();
        all
    }

    async fn start(&self, role: ProcessRole, workers: &[&str]) -> TestServer {
        self.run(self.configuration(role, workers)).await
    }

    async fn start_at(
        &self,
        address: SocketAddr,
        role: ProcessRole,
        workers: &[&str],
    ) -> TestServer {
        let mut all = self.configuration(role, workers);
        all.process.http.listen = address;
        self.run(all).await
    }

    async fn run(&self, all: Configuration) -> TestServer {
        TestServer::start(all, Arc::clone(&self.clock) as Arc<dyn Clock>).await
    }
}

fn address(server: &TestServer) -> SocketAddr {
    server.url.strip_prefix("http://").unwrap().parse().unwrap()
}

fn free<const N: usize>() -> [SocketAddr; N] {
    let taken = [(); N].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    taken.map(|listener| listener.local_addr().unwrap())
}

async fn request(server: &TestServer, token: &str, query: &str) -> Value {
    let (_, response) = server.ask(Some(token), query).await;
    assert!(response["errors"].is_null(), "{response}");
    response["data"].clone()
}

async fn post(server: &TestServer, token: &str, text: &str) -> String {
    let input = format!("{{ content: \"{text}\", contentType: text }}");
    let query = format!("mutation {{ createPost(input: {input}) {{ id }} }}");
    request(server, token, &query).await["createPost"]["id"].as_str().unwrap().to_owned()
}

async fn follow(server: &TestServer, token: &str, whom: &str) {
    let query = format!("mutation {{ followUser(followeeId: \"{whom}\") {{ followeeId }} }}");
    request(server, token, &query).await;
}

/// R57: a process that reads no stream says how far the others are behind, also when none is left.
#[tokio::test]
async fn an_api_process_says_how_far_the_workers_are_behind() {
    let all = Installation::new().await;
    let worker = all.start(ProcessRole::Worker, &[]).await;
    let api = all.start(ProcessRole::Api, &[&worker.url]).await;
    let ada = api.registered("ada").await;
    api.accounts().grant(&ada.user.nickname, Role::Admin).await.unwrap();
    let (email, password) = ("ada@example.org".parse().unwrap(), Secret::new(PASSWORD));
    let ada = api.accounts().login(&email, &password, None).await.unwrap();
    let ada = api.token(&ada).await;
    api.until(COMPLETE, 1).await;
    let lag = async || {
        let stats = request(&api, &ada, "{ stats { streamLagMs } }").await;
        stats["stats"]["streamLagMs"].as_u64().unwrap()
    };
    worker.stop().await;
    post(&api, &ada, "unread").await;
    all.clock.advance_ms(SILENT_MS);
    assert!(lag().await >= SILENT_MS, "{}", lag().await);
    let worker = all.start(ProcessRole::Worker, &[]).await;
    let deadline = Instant::now() + Duration::from_mins(1);
    while lag().await > 0 {
        assert!(Instant::now() < deadline, "{}", lag().await);
        all.clock.advance_ms(100);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    api.stop().await;
    worker.stop().await;
}

#[tokio::test]
async fn changes_at_one_process_reach_subscribers_at_another() {
    let all = Installation::new().await;
    let worker = all.start(ProcessRole::Worker, &[]).await;
    let (one, two) = (
        all.start(ProcessRole::Api, &[&worker.url]).await,
        all.start(ProcessRole::Api, &[&worker.url]).await,
    );
    let (ana, bo) = (two.sign_up("ana").await, two.registered("bo").await);
    let (bo_id, bo) = (bo.user.id.to_string(), two.token(&bo).await);
    one.until(COMPLETE, 1).await;

    let mut socket = WebSocketClient::connect_as(&one, &bo).await;
    let followers = "subscription { onFollowUser(followeeId: \"ID\") { follower { nickname } } }";
    socket.send_message(&subscribe("followers", &followers.replace("ID", &bo_id))).await;
    one.until("roundtable_live_topics", 1).await;
    follow(&two, &ana, &bo_id).await;
    let message = socket.next_message_of("followers").await;
    let follower = &message["payload"]["data"]["onFollowUser"]["follower"]["nickname"];
    assert_eq!(follower, "ana", "{message}");

    // Other clients get no changes, and an API process has none to send.
    for (from, status) in [(&worker, 401), (&one, 404)] {
        let stranger = from.client.get(format!("{}/internal/changes", from.url));
        let response = stranger.bearer_auth(&bo).send().await.unwrap();
        assert_eq!(response.status().as_u16(), status);
    }
    drop(socket);
    one.stop().await;
    two.stop().await;
    worker.stop().await;
}

/// A subscription to a feed resumes where it was; one that cannot resume is told that it missed events.
#[tokio::test]
async fn a_worker_that_crashes_and_restarts_loses_and_repeats_nothing() {
    let all = Installation::new().await;
    let worker = all.start(ProcessRole::Worker, &[]).await;
    let (one, two) = (
        all.start(ProcessRole::Api, &[&worker.url]).await,
        all.start(ProcessRole::Api, &[&worker.url]).await,
    );
    let (ana, bo) = (two.registered("ana").await, two.sign_up("bo").await);
    let (ana_id, ana) = (ana.user.id.to_string(), two.token(&ana).await);
    follow(&two, &bo, &ana_id).await;
    one.until(COMPLETE, 1).await;
    all.clock.advance_ms(1_000);

    let mut socket = WebSocketClient::connect_as(&one, &bo).await;
    let followers = "subscription { onFollowUser(followeeId: \"ID\") { followerId } }";
    socket.send_message(&subscribe("followers", &followers.replace("ID", &ana_id))).await;
    // Resumes after a known entry, because the start of a subscription is not announced.
    post(&two, &ana, "zeroth").await;
    let page = request(&one, &bo, "{ getFeed { items { activityId } } }").await;
    let feed = "subscription { onFeedEntry(after: ID) { post { content } } }";
    let feed = feed.replace("ID", &page["getFeed"]["items"][0]["activityId"].to_string());
    socket.send_message(&subscribe("feed", &feed)).await;
    one.until("roundtable_live_topics", 1).await;
    let entry = |message: &Value| {
        let content = &message["payload"]["data"]["onFeedEntry"]["post"]["content"];
        content.as_str().unwrap_or_else(|| panic!("{message}")).to_owned()
    };
    post(&two, &ana, "first").await;
    assert_eq!(entry(&socket.next_message_of("feed").await), "first");

    let at = address(&worker);
    worker.crash().await;
    let cut = socket.next_message_of("followers").await;
    assert_eq!(cut["payload"]["errors"][0]["errorType"], "CONFLICT", "{cut}");
    assert_eq!(socket.next_message_of("followers").await["type"], "complete");
    one.until(COMPLETE, 0).await;
    all.clock.advance_ms(1_000);
    post(&two, &ana, "second").await;
    // Feeds are correct without the workers, too.
    let page = request(&one, &bo, "{ getFeed { items { post { content } } } }").await;
    assert_eq!(page["getFeed"]["items"][0]["post"]["content"], "second", "{page}");

    all.clock.advance_ms(SILENT_MS);
    let worker = all.start_at(at, ProcessRole::Worker, &[]).await;
    one.until(COMPLETE, 1).await;
    all.clock.advance_ms(1_000);
    post(&two, &ana, "third").await;
    let mut message = Vec::new();
    while message.last().map(String::as_str) != Some("third") {
        message.push(entry(&socket.next_message_of("feed").await));
    }
    assert_eq!(message, ["second", "third"]);
    all.clock.advance_ms(1_000);
    post(&two, &ana, "fourth").await;
    assert_eq!(entry(&socket.next_message_of("feed").await), "fourth");
    drop(socket);
    one.stop().await;
    two.stop().await;
    worker.stop().await;
}

/// Workers register themselves: no process needs a list, and more can be started at any time.
#[tokio::test]
async fn processes_find_the_workers_that_have_registered() {
    let all = Installation::new().await;
    let one = all.start(ProcessRole::Api, &[]).await;
    one.until(COMPLETE, 0).await;
    let worker = all.start(ProcessRole::Worker, &[]).await;
    one.until(COMPLETE, 1).await;
    let (ana, bo) = (one.sign_up("ana").await, one.registered("bo").await);
    let (bo_id, bo) = (bo.user.id.to_string(), one.token(&bo).await);
    let more = all.start(ProcessRole::All, &[]).await;
    one.until(CONNECTED, 2).await;
    one.until(COMPLETE, 1).await;
    more.until(COMPLETE, 1).await;

    let followers = "subscription { onFollowUser(followeeId: \"ID\") { follower { nickname } } }";
    for (server, follower, name) in
        [(&one, &ana, "ana"), (&more, &more.sign_up("cleo").await, "cleo")]
    {
        let mut socket = WebSocketClient::connect_as(server, &bo).await;
        socket.send_message(&subscribe("followers", &followers.replace("ID", &bo_id))).await;
        server.until("roundtable_live_topics", 1).await;
        follow(&one, follower, &bo_id).await;
        let message = socket.next_message_of("followers").await;
        let follower = &message["payload"]["data"]["onFollowUser"]["follower"]["nickname"];
        assert_eq!(follower, name, "{message}");
    }
    more.stop().await;
    one.until(CONNECTED, 1).await;
    one.until(COMPLETE, 1).await;
    one.stop().await;
    worker.stop().await;
}

/// Once the others have taken its leases, a worker that never returns is missed by nobody.
#[tokio::test]
async fn a_dead_worker_does_not_degrade_the_others() {
    let all = Installation::new().await;
    let dead = all.start(ProcessRole::Worker, &[]).await;
    let url = dead.url.clone();
    let (one, listed) =
        (all.start(ProcessRole::Api, &[]).await, all.start(ProcessRole::Api, &[&url]).await);
    for server in [&one, &listed] {
        server.until(COMPLETE, 1).await;
    }
    let alive = all.start(ProcessRole::Worker, &[]).await;
    for server in [&one, &listed] {
        server.until(CONNECTED, 2).await;
    }
    dead.crash().await;
    for server in [&one, &listed] {
        server.until(CONNECTED, 1).await;
        server.until(COMPLETE, 0).await;
    }
    all.clock.advance_ms(SILENT_MS);
    for server in [&one, &listed] {
        server.until(COMPLETE, 1).await;
    }

    let (ana, bo) = (one.sign_up("ana").await, one.registered("bo").await);
    let (bo_id, bo) = (bo.user.id.to_string(), one.token(&bo).await);
    let mut socket = WebSocketClient::connect_as(&listed, &bo).await;
    let followers = "subscription { onFollowUser(followeeId: \"ID\") { follower { nickname } } }";
    socket.send_message(&subscribe("followers", &followers.replace("ID", &bo_id))).await;
    listed.until("roundtable_live_topics", 1).await;
    follow(&one, &ana, &bo_id).await;
    let message = socket.next_message_of("followers").await;
    let follower = &message["payload"]["data"]["onFollowUser"]["follower"]["nickname"];
    assert_eq!(follower, "ana", "{message}");
    drop(socket);
    one.stop().await;
    listed.stop().await;
    alive.stop().await;
}

/// No process trusts its caches while a worker that it is not connected to reads changes.
#[tokio::test]
async fn processes_with_the_role_all_notice_unreachable_ones() {
    let all = Installation::new().await;
    let [nowhere] = free();
    let start = async || {
        let mut unreachable = all.configuration(ProcessRole::All, &[]);
        unreachable.process.live.worker_url = Some(format!("http://{nowhere}"));
        all.run(unreachable).await
    };
    let one = start().await;
    one.until(COMPLETE, 1).await;
    let (ana, bo) = (one.registered("ana").await, one.sign_up("bo").await);
    let (ana_id, ana) = (ana.user.id.to_string(), one.token(&ana).await);
    follow(&one, &bo, &ana_id).await;
    let two = start().await;
    one.until(COMPLETE, 0).await;
    two.until(COMPLETE, 0).await;
    for (number, (write, read)) in [(&one, &two), (&two, &one)].into_iter().enumerate() {
        let text = format!("post {number}");
        all.clock.advance_ms(1_000);
        post(write, &ana, &text).await;
        let page = request(read, &bo, "{ getFeed { items { post { content } } } }").await;
        assert_eq!(page["getFeed"]["items"][0]["post"]["content"], text, "{page}");
    }
    two.stop().await;
    one.until(COMPLETE, 1).await;
    one.stop().await;
}

#[tokio::test]
async fn processes_with_the_role_all_receive_changes_of_listed_ones() {
    let all = Installation::new().await;
    let addresses: [SocketAddr; 2] = free();
    let urls = addresses.map(|address| format!("http://{address}"));
    let listed = [urls[0].as_str(), urls[1].as_str()];
    let (one, two) = tokio::join!(
        all.start_at(addresses[0], ProcessRole::All, &listed),
        all.start_at(addresses[1], ProcessRole::All, &listed),
    );
    one.until(COMPLETE, 1).await;
    two.until(COMPLETE, 1).await;
    let (ana, bo) = (two.sign_up("ana").await, two.registered("bo").await);
    let (bo_id, bo) = (bo.user.id.to_string(), two.token(&bo).await);
    // One of the two reads the change; both receive it, once.
    let followers = "subscription { onFollowUser(followeeId: \"ID\") { follower { nickname } } }";
    let mut sockets = [
        WebSocketClient::connect_as(&one, &bo).await,
        WebSocketClient::connect_as(&two, &bo).await,
    ];
    for (socket, at) in sockets.iter_mut().zip([&one, &two]) {
        socket.send_message(&subscribe("followers", &followers.replace("ID", &bo_id))).await;
        at.until("roundtable_live_topics", 1).await;
    }
    let cleo = two.sign_up("cleo").await;
    for (follower, name) in [(&ana, "ana"), (&cleo, "cleo")] {
        follow(&two, follower, &bo_id).await;
        for socket in &mut sockets {
            let message = socket.next_message_of("followers").await;
            let follower = &message["payload"]["data"]["onFollowUser"]["follower"]["nickname"];
            assert_eq!(follower, name, "{message}");
        }
    }
    drop(sockets);
    one.stop().await;
    two.stop().await;
}

/// While one worker is away, events are missed. Each other worker that disconnects and returns adds to
/// that, and subscribers are told each time.
#[tokio::test]
async fn subscribers_are_told_of_missed_events_while_another_worker_is_away() {
    let all = Installation::new().await;
    let worker = all.start(ProcessRole::Worker, &[]).await;
    let at = address(&worker);
    let one = all.start(ProcessRole::Api, &[]).await;
    one.until(COMPLETE, 1).await;
    let away = all.start(ProcessRole::Worker, &[]).await;
    one.until(CONNECTED, 2).await;
    away.crash().await;
    one.until(COMPLETE, 0).await;
    let (ana, bo) = (one.registered("ana").await, one.sign_up("bo").await);
    let (ana_id, ana) = (ana.user.id.to_string(), one.token(&ana).await);
    let followers = "subscription { onFollowUser(followeeId: \"ID\") { followerId } }";
    let followers = followers.replace("ID", &ana_id);
    let mut socket = WebSocketClient::connect_as(&one, &ana).await;
    // A subscriber that comes before the worker is connected is told to refetch, and retries.
    let mut number = 0;
    socket.send_message(&subscribe("0", &followers)).await;
    one.until("roundtable_live_topics", 1).await;
    follow(&one, &bo, &ana_id).await;
    loop {
        let message = socket.next_message().await;
        match message["type"].as_str().unwrap() {
            "complete" => {
                number += 1;
                socket.send_message(&subscribe(&number.to_string(), &followers)).await;
                one.until("roundtable_live_topics", 1).await;
                let unfollow = "mutation { unfollowUser(followeeId: \"ID\") { followeeId } }";
                request(&one, &bo, &unfollow.replace("ID", &ana_id)).await;
                follow(&one, &bo, &ana_id).await;
            }
            _ if message["payload"]["errors"].is_null() => break,
            _ => {}
        }
    }

    let missed = |message: &Value| message["payload"]["errors"][0]["errorType"] == "CONFLICT";
    worker.stop().await;
    // Events sent before the worker stopped come first.
    while !missed(&socket.next_message().await) {}
    assert_eq!(socket.next_message().await["type"], "complete");
    socket.send_message(&subscribe("meanwhile", &followers)).await;
    one.until("roundtable_live_topics", 1).await;
    let worker = all.start_at(at, ProcessRole::Worker, &[]).await;
    let message = socket.next_message_of("meanwhile").await;
    assert!(missed(&message), "it came back: {message}");
    one.until(COMPLETE, 0).await;
    drop(socket);
    one.stop().await;
    worker.stop().await;
}

#[tokio::test]
async fn something_else_than_the_address_of_a_worker_is_refused() {
    let all = Installation::new().await;
    let nonsense = all.configuration(ProcessRole::Api, &["nowhere"]);
    let error = Server::open(nonsense).await.unwrap_err().to_string();
    assert!(error.starts_with("live.workers: ") && error.contains("nowhere"), "{error}");
    let mut nonsense = all.configuration(ProcessRole::Worker, &[]);
    nonsense.process.live.worker_url = Some(String::from("nowhere"));
    let error = Server::open(nonsense).await.unwrap_err().to_string();
    assert!(error.starts_with("live.worker-url: ") && error.contains("nowhere"), "{error}");
    let mut embedded = configuration(all.data.path());
    embedded.process.live.worker_url = Some(String::from("http://10.0.0.7:4000"));
    let error = Server::open(embedded).await.unwrap_err().to_string();
    assert!(error.starts_with("live.worker-url: an embedded store"), "{error}");
}
