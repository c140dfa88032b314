//! Several processes on one table: what is written through one of them is heard at the others, and
//! whoever may have missed something learns that.

use std::net::SocketAddr;
use std::sync::Arc;

use roundtable_model::Secret;
use roundtable_server::{Configuration, Role, Server, StoreKind};
use roundtable_table::{Clock, ManualClock};
use serde_json::Value;
use tempfile::TempDir;

use crate::away::Store;
use crate::served::{Served, configuration};
use crate::socket::{Socket, subscribe};

/// Longer than a worker that says nothing keeps its part of the stream.
const SILENT_MS: u64 = 16_000;
const COMPLETE: &str = "roundtable_live_complete";

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

    fn configuration(&self, role: Role, workers: &[&str]) -> Configuration {
        let mut all = configuration(self.data.path());
        all.process.role = role;
        all.process.store.kind = StoreKind::Dynamodb;
        all.process.store.endpoint = Some(self.store.url.clone());
        all.process.sign_in.secret = Some(Secret::new("s".repeat(40)));
        all.process.live.workers = workers.iter().map(|&url| url.to_owned()).collect();
        all
    }

    async fn start(&self, role: Role, workers: &[&str]) -> Served {
        self.run(self.configuration(role, workers)).await
    }

    async fn start_at(&self, address: SocketAddr, role: Role, workers: &[&str]) -> Served {
        let mut all = self.configuration(role, workers);
        all.process.http.listen = address;
        self.run(all).await
    }

    async fn run(&self, all: Configuration) -> Served {
        Served::start(all, Arc::clone(&self.clock) as Arc<dyn Clock>).await
    }
}

fn address(served: &Served) -> SocketAddr {
    served.url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// Addresses that nobody has taken.
fn free<const N: usize>() -> [SocketAddr; N] {
    let taken = [(); N].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    taken.map(|listener| listener.local_addr().unwrap())
}

async fn asked(served: &Served, token: &str, query: &str) -> Value {
    let (_, answer) = served.ask(Some(token), query).await;
    assert!(answer["errors"].is_null(), "{answer}");
    answer["data"].clone()
}

async fn post(served: &Served, token: &str, text: &str) -> String {
    let input = format!("{{ content: \"{text}\", contentType: text }}");
    let query = format!("mutation {{ createPost(input: {input}) {{ id }} }}");
    asked(served, token, &query).await["createPost"]["id"].as_str().unwrap().to_owned()
}

async fn follow(served: &Served, token: &str, whom: &str) {
    let query = format!("mutation {{ followUser(followeeId: \"{whom}\") {{ followeeId }} }}");
    asked(served, token, &query).await;
}

#[tokio::test]
async fn what_is_written_at_one_process_is_heard_at_another() {
    let all = Installation::new().await;
    let worker = all.start(Role::Worker, &[]).await;
    let (one, two) =
        (all.start(Role::Api, &[&worker.url]).await, all.start(Role::Api, &[&worker.url]).await);
    let (ana, bo) = (two.newcomer("ana").await, two.signed_up("bo").await);
    let (bo_id, bo) = (bo.user.id.to_string(), two.token(&bo).await);
    one.until(COMPLETE, 1).await;

    let mut socket = Socket::by(&one, &bo).await;
    let followers = "subscription { onFollowUser(followeeId: \"ID\") { follower { nickname } } }";
    socket.say(&subscribe("followers", &followers.replace("ID", &bo_id))).await;
    one.until("roundtable_live_matters", 1).await;
    follow(&two, &ana, &bo_id).await;
    let heard = socket.hear_of("followers").await;
    let follower = &heard["payload"]["data"]["onFollowUser"]["follower"]["nickname"];
    assert_eq!(follower, "ana", "{heard}");

    // Nobody else is told of changes, and an API process has none to tell.
    for (from, status) in [(&worker, 401), (&one, 404)] {
        let stranger = from.client.get(format!("{}/internal/changes", from.url));
        let answer = stranger.bearer_auth(&bo).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status);
    }
    drop(socket);
    one.stop().await;
    two.stop().await;
    worker.stop().await;
}

/// The feed of somebody who listens goes on where it was; of what has no place to go on from, whoever
/// listens learns that they missed something.
#[tokio::test]
async fn a_worker_that_dies_and_comes_back_loses_nothing_and_repeats_nothing() {
    let all = Installation::new().await;
    let worker = all.start(Role::Worker, &[]).await;
    let (one, two) =
        (all.start(Role::Api, &[&worker.url]).await, all.start(Role::Api, &[&worker.url]).await);
    let (ana, bo) = (two.signed_up("ana").await, two.newcomer("bo").await);
    let (ana_id, ana) = (ana.user.id.to_string(), two.token(&ana).await);
    follow(&two, &bo, &ana_id).await;
    one.until(COMPLETE, 1).await;
    all.clock.advance_ms(1_000);

    let mut socket = Socket::by(&one, &bo).await;
    let followers = "subscription { onFollowUser(followeeId: \"ID\") { followerId } }";
    socket.say(&subscribe("followers", &followers.replace("ID", &ana_id))).await;
    // From behind an entry on: nobody is told when listening has begun.
    post(&two, &ana, "zeroth").await;
    let page = asked(&one, &bo, "{ getFeed { items { activityId } } }").await;
    let feed = "subscription { onFeedEntry(after: ID) { post { content } } }";
    let feed = feed.replace("ID", &page["getFeed"]["items"][0]["activityId"].to_string());
    socket.say(&subscribe("feed", &feed)).await;
    one.until("roundtable_live_matters", 1).await;
    let entry = |heard: &Value| {
        let content = &heard["payload"]["data"]["onFeedEntry"]["post"]["content"];
        content.as_str().unwrap_or_else(|| panic!("{heard}")).to_owned()
    };
    post(&two, &ana, "first").await;
    assert_eq!(entry(&socket.hear_of("feed").await), "first");

    let at = address(&worker);
    worker.crash().await;
    let cut = socket.hear_of("followers").await;
    assert_eq!(cut["payload"]["errors"][0]["errorType"], "CONFLICT", "{cut}");
    assert_eq!(socket.hear_of("followers").await["type"], "complete");
    one.until(COMPLETE, 0).await;
    all.clock.advance_ms(1_000);
    post(&two, &ana, "second").await;
    // Feeds are as right without the workers.
    let page = asked(&one, &bo, "{ getFeed { items { post { content } } } }").await;
    assert_eq!(page["getFeed"]["items"][0]["post"]["content"], "second", "{page}");

    all.clock.advance_ms(SILENT_MS);
    let worker = all.start_at(at, Role::Worker, &[]).await;
    one.until(COMPLETE, 1).await;
    all.clock.advance_ms(1_000);
    post(&two, &ana, "third").await;
    let mut heard = Vec::new();
    while heard.last().map(String::as_str) != Some("third") {
        heard.push(entry(&socket.hear_of("feed").await));
    }
    assert_eq!(heard, ["second", "third"]);
    all.clock.advance_ms(1_000);
    post(&two, &ana, "fourth").await;
    assert_eq!(entry(&socket.hear_of("feed").await), "fourth");
    drop(socket);
    one.stop().await;
    two.stop().await;
    worker.stop().await;
}

/// Nobody relies on what they remember while somebody else reads changes that they do not hear of.
#[tokio::test]
async fn processes_that_do_everything_notice_others_they_were_not_told_of() {
    let all = Installation::new().await;
    let one = all.start(Role::All, &[]).await;
    one.until(COMPLETE, 1).await;
    let (ana, bo) = (one.signed_up("ana").await, one.newcomer("bo").await);
    let (ana_id, ana) = (ana.user.id.to_string(), one.token(&ana).await);
    follow(&one, &bo, &ana_id).await;
    let two = all.start(Role::All, &[]).await;
    one.until(COMPLETE, 0).await;
    two.until(COMPLETE, 0).await;
    for (number, (write, read)) in [(&one, &two), (&two, &one)].into_iter().enumerate() {
        let text = format!("post {number}");
        all.clock.advance_ms(1_000);
        post(write, &ana, &text).await;
        let page = asked(read, &bo, "{ getFeed { items { post { content } } } }").await;
        assert_eq!(page["getFeed"]["items"][0]["post"]["content"], text, "{page}");
    }
    two.stop().await;
    one.until(COMPLETE, 1).await;
    one.stop().await;
}

#[tokio::test]
async fn processes_that_do_everything_hear_each_other_when_they_are_listed() {
    let all = Installation::new().await;
    let addresses: [SocketAddr; 2] = free();
    let urls = addresses.map(|address| format!("http://{address}"));
    let listed = [urls[0].as_str(), urls[1].as_str()];
    let (one, two) = tokio::join!(
        all.start_at(addresses[0], Role::All, &listed),
        all.start_at(addresses[1], Role::All, &listed),
    );
    one.until(COMPLETE, 1).await;
    two.until(COMPLETE, 1).await;
    let (ana, bo) = (two.newcomer("ana").await, two.signed_up("bo").await);
    let (bo_id, bo) = (bo.user.id.to_string(), two.token(&bo).await);
    // One of the two reads the change; both hear of it, and once.
    let followers = "subscription { onFollowUser(followeeId: \"ID\") { follower { nickname } } }";
    let mut sockets = [Socket::by(&one, &bo).await, Socket::by(&two, &bo).await];
    for (socket, at) in sockets.iter_mut().zip([&one, &two]) {
        socket.say(&subscribe("followers", &followers.replace("ID", &bo_id))).await;
        at.until("roundtable_live_matters", 1).await;
    }
    let cleo = two.newcomer("cleo").await;
    for (follower, name) in [(&ana, "ana"), (&cleo, "cleo")] {
        follow(&two, follower, &bo_id).await;
        for socket in &mut sockets {
            let heard = socket.hear_of("followers").await;
            let follower = &heard["payload"]["data"]["onFollowUser"]["follower"]["nickname"];
            assert_eq!(follower, name, "{heard}");
        }
    }
    drop(sockets);
    one.stop().await;
    two.stop().await;
}

/// As long as one worker is away there is something to miss. Every other one that goes and comes back
/// adds to it, and whoever listens learns that each time.
#[tokio::test]
async fn listeners_learn_that_they_missed_something_while_another_worker_is_away() {
    let all = Installation::new().await;
    let [away] = free();
    let worker = all.start(Role::Worker, &[]).await;
    let (at, url) = (address(&worker), worker.url.clone());
    let one = all.start(Role::Api, &[&format!("http://{away}"), &url]).await;
    let (ana, bo) = (one.signed_up("ana").await, one.newcomer("bo").await);
    let (ana_id, ana) = (ana.user.id.to_string(), one.token(&ana).await);
    let followers = "subscription { onFollowUser(followeeId: \"ID\") { followerId } }";
    let followers = followers.replace("ID", &ana_id);
    let mut socket = Socket::by(&one, &ana).await;
    // Whoever comes before the worker is heard is told so, and comes again.
    let mut number = 0;
    socket.say(&subscribe("0", &followers)).await;
    one.until("roundtable_live_matters", 1).await;
    follow(&one, &bo, &ana_id).await;
    loop {
        let heard = socket.hear().await;
        match heard["type"].as_str().unwrap() {
            "complete" => {
                number += 1;
                socket.say(&subscribe(&number.to_string(), &followers)).await;
                one.until("roundtable_live_matters", 1).await;
                let unfollow = "mutation { unfollowUser(followeeId: \"ID\") { followeeId } }";
                asked(&one, &bo, &unfollow.replace("ID", &ana_id)).await;
                follow(&one, &bo, &ana_id).await;
            }
            _ if heard["payload"]["errors"].is_null() => break,
            _ => {}
        }
    }

    let missed = |heard: &Value| heard["payload"]["errors"][0]["errorType"] == "CONFLICT";
    worker.stop().await;
    // What was told before it went is told first.
    while !missed(&socket.hear().await) {}
    assert_eq!(socket.hear().await["type"], "complete");
    socket.say(&subscribe("meanwhile", &followers)).await;
    one.until("roundtable_live_matters", 1).await;
    let worker = all.start_at(at, Role::Worker, &[]).await;
    let heard = socket.hear_of("meanwhile").await;
    assert!(missed(&heard), "it came back: {heard}");
    one.until(COMPLETE, 0).await;
    drop(socket);
    one.stop().await;
    worker.stop().await;
}

#[tokio::test]
async fn an_api_process_must_be_told_where_the_workers_are() {
    let all = Installation::new().await;
    let refused = Server::open(all.configuration(Role::Api, &[])).await.unwrap_err().to_string();
    assert!(refused.starts_with("live.workers: ") && refused.contains("`worker`"), "{refused}");
    let nonsense = all.configuration(Role::Api, &["nowhere"]);
    let refused = Server::open(nonsense).await.unwrap_err().to_string();
    assert!(refused.starts_with("live.workers: ") && refused.contains("nowhere"), "{refused}");
}
