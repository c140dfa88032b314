//! A server that is killed while people use it: whatever was acknowledged is there when it runs again,
//! and what is sent once more under the same request id happens once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::binary::command;
use crate::serving::{Running, ask};
use crate::verify::on;

/// How often it is killed.
const CYCLES: usize = 3;
/// What is acknowledged before it is killed, each time.
const DEEDS_PER_CYCLE: usize = 90;
/// Who uses it.
const CLIENTS: [&str; 6] = ["ana", "bo", "cleo", "dov", "eli", "fay"];
/// How long anything may take to be acknowledged.
const PATIENCE: Duration = Duration::from_secs(30);
/// Posts of one page.
const PAGE: usize = 50;

/// Nobody is too quick here, and passwords are hashed in no time.
fn serve(data: &Path) -> Running {
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
    Running::serve_as(serve)
}

/// Something that somebody asked for.
#[derive(Clone, Debug)]
enum Deed {
    Post(String),
    Like(String),
    Follow(String),
}

impl Deed {
    /// How it is asked for, under a request id.
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

/// One who uses it, with everything that they were told.
struct Client {
    name: &'static str,
    id: String,
    token: String,
    others: Vec<String>,
    /// What anybody was told that it is there.
    posts: Arc<Mutex<Vec<String>>>,
    /// By their request ids, with the answers.
    acknowledged: BTreeMap<String, (Deed, Value)>,
    /// What was asked when the server went away.
    unsure: Option<(String, Deed)>,
    asked: usize,
}

impl Client {
    fn sign_up(server: &Running, name: &'static str, posts: &Arc<Mutex<Vec<String>>>) -> Self {
        let answer = server.told(
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
            asked: 0,
        }
    }

    /// What they do next: they post, like what somebody has posted, and follow.
    fn next(&self) -> Deed {
        let turn = self.asked;
        let posts = self.posts.lock().unwrap();
        match turn % 3 {
            1 if !posts.is_empty() => Deed::Like(posts[turn * 7 % posts.len()].clone()),
            2 if turn / 3 < self.others.len() => Deed::Follow(self.others[turn / 3].clone()),
            _ => Deed::Post(format!("{} says {turn}", self.name)),
        }
    }

    /// Takes note of what was acknowledged.
    fn note(&mut self, request: String, deed: Deed, answer: Value) {
        if let (Deed::Post(_), Some(post)) = (&deed, answer["id"].as_str()) {
            self.posts.lock().unwrap().push(post.to_owned());
        }
        self.acknowledged.insert(request, (deed, answer));
    }

    /// Does one thing after the other until the server is gone.
    fn live(&mut self, url: &str, told: &Sender<()>) {
        while self.unsure.is_none() {
            let (request, deed) = (format!("{}-{:05}", self.name, self.asked), self.next());
            self.asked += 1;
            match ask(url, Some(&self.token), &deed.document(&request)) {
                Ok(mut answer) => {
                    assert_eq!(answer["errors"], Value::Null, "{deed:?}: {answer}");
                    let answer = answer["data"]["done"].take();
                    self.note(request, deed, answer);
                    // Nobody counts any more once it was killed.
                    let _ = told.send(());
                }
                Err(_) => self.unsure = Some((request, deed)),
            }
        }
    }

    /// Asks again for what they never had an answer to, and for the last that they had one to.
    fn repeat(&mut self, server: &Running) {
        for (request, (deed, answer)) in self.acknowledged.iter().rev().take(5) {
            let again = server.told(Some(&self.token), &deed.document(request));
            assert_eq!(&again["done"], answer, "{request}: {deed:?}");
        }
        let (request, deed) = self.unsure.take().unwrap();
        let [first, second] = [(); 2]
            .map(|()| server.told(Some(&self.token), &deed.document(&request))["done"].take());
        assert_eq!(first, second, "{request}: {deed:?}");
        self.note(request, deed, first);
    }

    /// Everything that was acknowledged is there, once.
    fn look(&self, server: &Running) {
        let (mut posted, mut followed) = (Vec::new(), BTreeSet::new());
        for (deed, answer) in self.acknowledged.values() {
            match deed {
                Deed::Post(_) => posted.push(answer["content"].as_str().unwrap().to_owned()),
                Deed::Follow(whom) => drop(followed.insert(whom.clone())),
                Deed::Like(post) => {
                    let liked = format!("{{ hasLiked(postId: \"{post}\") }}");
                    let liked = server.told(Some(&self.token), &liked);
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

    /// One field of everything in a list of theirs.
    fn list(&self, server: &Running, list: &str, field: &str) -> Vec<String> {
        let (mut all, mut next) = (Vec::new(), Value::Null);
        loop {
            let page = server.told(
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

/// Lets everybody live until enough was acknowledged, and kills the server in the middle of it.
fn kill_under_load(server: Running, clients: &mut [Client]) {
    let (told, counted): (_, Receiver<()>) = channel();
    let url = server.url.clone();
    thread::scope(|threads| {
        for client in clients {
            let (url, told) = (&url, told.clone());
            threads.spawn(move || client.live(url, &told));
        }
        for _ in 0..DEEDS_PER_CYCLE {
            counted.recv_timeout(PATIENCE).unwrap();
        }
        server.kill();
    });
}

/// I8, I11: what was acknowledged survives, and a request that is repeated has the effect of one.
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
    for _ in 0..CYCLES {
        kill_under_load(server, &mut clients);
        server = serve(directory.path());
        for client in &mut clients {
            client.repeat(&server);
            client.look(&server);
        }
    }
    let deeds: usize = clients.iter().map(|client| client.acknowledged.len()).sum();
    assert!(deeds >= CYCLES * DEEDS_PER_CYCLE, "{deeds}");
    server.kill();
    let verified = on(directory.path(), "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
    assert!(verified.out.contains(": nothing found\n"), "{}", verified.out);
}
