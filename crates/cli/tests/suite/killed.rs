//! A server that is killed under load: acknowledged writes are there after the restart, and requests
//! repeated under the same id take effect once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::binary::command;
use crate::serving::{RunningServer, ask};
use crate::verify::on;

/// Kills, unless `ROUNDTABLE_SERVER_KILLS` says otherwise.
const CYCLES: usize = 3;
/// Writes acknowledged before each kill.
const DEEDS_PER_CYCLE: usize = 90;
const CLIENTS: [&str; 6] = ["ana", "bo", "cleo", "dov", "eli", "fay"];
const TIMEOUT: Duration = Duration::from_secs(30);
const PAGE: usize = 50;

/// No rate limits, and cheap password hashes.
fn serve(data: &Path) -> RunningServer {
    let mut serve = command(["serve", "--data"]);
    serve.arg(data).env("ROUNDTABLE_LOG__LEVEL", "info");
    for (key, value) in [
        ("RATES__WRITES_BURST", "1000000"),
        ("RATES__WRITES_PER_MINUTE", "1000000"),
        ("LOGIN__HASH_MEMORY_KIB", "8"),
        ("LOGIN__HASH_PASSES", "1"),
    ] {
        serve.env(format!("ROUNDTABLE_{key}"), value);
    }
    RunningServer::serve_as(serve)
}

#[derive(Clone, Debug)]
enum ClientWrite {
    Post(String),
    Like(String),
    Follow(String),
}

impl ClientWrite {
    /// The mutation, under a request id.
    fn document(&self, request: &str) -> String {
        match self {
            Self::Post(text) => format!(
                "mutation {{ done: createPost(input: {{ content: \"{text}\", contentType: text }}, \
                 requestId: \"{request}\") {{ id content }} }}"
            ),
            Self::Like(post) => format!(
                "mutation {{ done: likePost(postId: \"{post}\", requestId: \"{request}\") \
                 {{ postId liked }} }}"
            ),
            Self::Follow(whom) => format!(
                "mutation {{ done: followUser(followeeId: \"{whom}\", requestId: \"{request}\") \
                 {{ followeeId status }} }}"
            ),
        }
    }
}

/// A client, with everything that was acknowledged to it.
struct Client {
    name: &'static str,
    id: String,
    token: String,
    others: Vec<String>,
    /// Posts acknowledged to any client.
    posts: Arc<Mutex<Vec<String>>>,
    /// The writes by request id, with their responses.
    acknowledged: BTreeMap<String, (ClientWrite, Value)>,
    /// The request under way when the server died.
    unsure: Option<(String, ClientWrite)>,
    requests: usize,
}

impl Client {
    fn sign_up(
        server: &RunningServer,
        name: &'static str,
        posts: &Arc<Mutex<Vec<String>>>,
    ) -> Self {
        let answer = server.query(
            None,
            &format!(
                "mutation {{ register(input: {{ email: \"{name}@example.com\", nickname: \"{name}\", \
                 password: \"a table and {name}\" }}) {{ accessToken user {{ id }} }} }}"
            ),
        );
        let text = |at: &str| answer.pointer(at).and_then(Value::as_str).unwrap().to_owned();
        Self {
            name,
            id: text("/register/user/id"),
            token: text("/register/accessToken"),
            others: Vec::new(),
            posts: Arc::clone(posts),
            acknowledged: BTreeMap::new(),
            unsure: None,
            requests: 0,
        }
    }

    /// The next write: clients post, like each other's posts, and follow.
    fn next(&self) -> ClientWrite {
        let turn = self.requests;
        let posts = self.posts.lock().unwrap();
        match turn % 3 {
            1 if !posts.is_empty() => ClientWrite::Like(posts[turn * 7 % posts.len()].clone()),
            2 if turn / 3 < self.others.len() => ClientWrite::Follow(self.others[turn / 3].clone()),
            _ => ClientWrite::Post(format!("{} says {turn}", self.name)),
        }
    }

    fn note(&mut self, request: String, write: ClientWrite, answer: Value) {
        if let (ClientWrite::Post(_), Some(post)) = (&write, answer["id"].as_str()) {
            self.posts.lock().unwrap().push(post.to_owned());
        }
        self.acknowledged.insert(request, (write, answer));
    }

    /// Writes until the server is gone.
    fn live(&mut self, url: &str, query: &Sender<()>) {
        while self.unsure.is_none() {
            let (request, write) = (format!("{}-{:05}", self.name, self.requests), self.next());
            self.requests += 1;
            match ask(url, Some(&self.token), &write.document(&request)) {
                Ok(mut answer) => {
                    assert_eq!(answer["errors"], Value::Null, "{write:?}: {answer}");
                    let answer = answer["data"]["done"].take();
                    self.note(request, write, answer);
                    // The receiver may be gone after the kill.
                    let _ = query.send(());
                }
                Err(_) => self.unsure = Some((request, write)),
            }
        }
    }

    /// Repeats the request without a response, and the last with one.
    fn repeat(&mut self, server: &RunningServer) {
        for (request, (write, answer)) in self.acknowledged.iter().rev().take(5) {
            let again = server.query(Some(&self.token), &write.document(request));
            assert_eq!(&again["done"], answer, "{request}: {write:?}");
        }
        let (request, write) = self.unsure.take().unwrap();
        let [first, second] = [(); 2]
            .map(|()| server.query(Some(&self.token), &write.document(&request))["done"].take());
        assert_eq!(first, second, "{request}: {write:?}");
        self.note(request, write, first);
    }

    /// Checks that everything acknowledged is there, once.
    fn look(&self, server: &RunningServer) {
        let (mut posted, mut followed) = (Vec::new(), BTreeSet::new());
        for (write, answer) in self.acknowledged.values() {
            match write {
                ClientWrite::Post(_) => posted.push(answer["content"].as_str().unwrap().to_owned()),
                ClientWrite::Follow(whom) => drop(followed.insert(whom.clone())),
                ClientWrite::Like(post) => {
                    let liked = format!("{{ hasLiked(postId: \"{post}\") }}");
                    let liked = server.query(Some(&self.token), &liked);
                    assert_eq!(liked["hasLiked"], true, "{}: {post}", self.name);
                }
            }
        }
        let mut found = self.list(server, "listUserPosts", "content");
        found.sort();
        posted.sort();
        assert_eq!(found, posted, "{}", self.name);
        let follows: BTreeSet<_> =
            self.list(server, "listFollowing", "followeeId").into_iter().collect();
        assert_eq!(follows, followed, "{}", self.name);
    }

    fn list(&self, server: &RunningServer, list: &str, field: &str) -> Vec<String> {
        let (mut all, mut next) = (Vec::new(), Value::Null);
        loop {
            let page = server.query(
                Some(&self.token),
                &format!(
                    "{{ page: {list}(userId: \"{}\", limit: {PAGE}, nextToken: {next}) \
                     {{ items {{ {field} }} nextToken }} }}",
                    self.id
                ),
            );
            let items = page["page"]["items"].as_array().unwrap();
            all.extend(items.iter().map(|item| item[field].as_str().unwrap().to_owned()));
            next = page["page"]["nextToken"].clone();
            if next.is_null() {
                return all;
            }
        }
    }
}

/// Runs all clients until enough writes are acknowledged, and kills the server meanwhile.
fn kill_under_load(server: RunningServer, clients: &mut [Client]) {
    let (query, counted): (_, Receiver<()>) = channel();
    let url = server.url.clone();
    thread::scope(|threads| {
        for client in clients {
            let (url, query) = (&url, query.clone());
            threads.spawn(move || client.live(url, &query));
        }
        for _ in 0..DEEDS_PER_CYCLE {
            counted.recv_timeout(TIMEOUT).unwrap();
        }
        server.kill();
    });
}

/// I8, I11: acknowledged writes survive, and a repeated request takes effect once.
#[test]
fn a_server_that_is_killed_under_load_loses_nothing_it_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = serve(directory.path());
    let posts = Arc::default();
    let mut clients = CLIENTS.map(|name| Client::sign_up(&server, name, &posts));
    let ids = clients.iter().map(|client| client.id.clone()).collect::<Vec<_>>();
    for client in &mut clients {
        client.others = ids.iter().filter(|id| **id != client.id).cloned().collect();
    }
    let cycles = std::env::var("ROUNDTABLE_SERVER_KILLS");
    let cycles = cycles.map_or(CYCLES, |cycles| cycles.parse().unwrap());
    for _ in 0..cycles {
        kill_under_load(server, &mut clients);
        server = serve(directory.path());
        for client in &mut clients {
            client.repeat(&server);
            client.look(&server);
        }
    }
    let deeds: usize = clients.iter().map(|client| client.acknowledged.len()).sum();
    assert!(deeds >= cycles * DEEDS_PER_CYCLE, "{deeds}");
    server.kill();
    let verified = on(directory.path(), "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
    assert!(verified.out.contains(": nothing found\n"), "{}", verified.out);
}
