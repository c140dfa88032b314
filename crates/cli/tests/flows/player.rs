//! Does what a document says, step by step, and compares what comes of it with what the document shows.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use reqwest::{Client, Method, Url};
use serde_json::Value;

use crate::answers::{differs, is_like};
use crate::document::{Kind, Step};
use crate::server::{Server, binary};
use crate::shell::{Body, Curl, Names, commands, filled};
use crate::sockets::{DEADLINE, Events, Socket, parts};

/// Where the documents say that the server is.
const ADDRESS: &str = "http://127.0.0.1:4000";
/// How a document says that an answer follows from what was done a moment before.
const LATER: &str = "# a moment later";
/// Between two looks whether it does.
const PAUSE: Duration = Duration::from_millis(20);

/// What the last step came to.
#[derive(Debug, Default)]
enum Outcome {
    /// Nothing, or somebody has looked at it.
    #[default]
    Seen,
    Answered(Answer),
    Printed(String),
}

/// What a server answered.
#[derive(Debug)]
struct Answer {
    status: String,
    headers: Vec<(String, String)>,
    body: String,
    /// The document to ask again with, as long as the answer has not followed.
    again: Option<String>,
}

/// Reads a document as a person would.
#[derive(Debug)]
pub(crate) struct Player {
    root: PathBuf,
    directory: tempfile::TempDir,
    client: Client,
    server: Option<Server>,
    names: Names,
    outcome: Outcome,
    socket: Option<Socket>,
    events: Option<Events>,
}

impl Player {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self {
            root,
            directory: tempfile::tempdir().unwrap(),
            client: Client::new(),
            server: None,
            names: Names::new(),
            outcome: Outcome::default(),
            socket: None,
            events: None,
        }
    }

    /// Does a step, or compares the one before with it.
    pub(crate) async fn play(&mut self, step: &Step) {
        let Step { place, kind, text, .. } = step;
        match kind {
            Kind::Shown => {}
            Kind::Shell => {
                for words in commands(text, &self.names) {
                    self.settle(place);
                    self.outcome = self.run(&words).await;
                }
            }
            Kind::Graphql => {
                self.settle(place);
                self.outcome = Outcome::Answered(self.ask(text).await);
            }
            Kind::Socket => self.talk(place, text).await,
            Kind::Events => self.listen(place, text).await,
            Kind::Json | Kind::Http | Kind::Text => self.compare(step).await,
        }
    }

    /// What the server counts, by name.
    pub(crate) async fn metrics(&self) -> Vec<String> {
        let page = self.client.get(format!("{}/metrics", self.url())).send().await.unwrap();
        let page = page.text().await.unwrap();
        let names = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
        names.map(str::to_owned).collect()
    }

    /// What nobody compares with anything must have gone well.
    pub(crate) fn settle(&mut self, place: &str) {
        if let Outcome::Answered(Answer { status, body, .. }) = std::mem::take(&mut self.outcome) {
            let fine = status.starts_with("HTTP/1.1 2") && !body.contains("\"errors\":");
            assert!(fine, "before {place}: {status}\n{body}");
        }
    }

    async fn run(&mut self, words: &[String]) -> Outcome {
        let words: Vec<String> = words.iter().map(|word| self.here(word)).collect();
        let at = words.iter().position(|word| !word.starts_with("ROUNDTABLE_")).unwrap();
        let (settings, command) = words.split_at(at);
        let (name, rest) = command.split_first().unwrap();
        let own: Vec<String> = match (name.as_str(), rest) {
            ("curl", rest) => return self.curl(Curl::read(rest)).await,
            ("roundtable", rest) => [settings, rest].concat(),
            ("cargo", [run, how, dashes, rest @ ..])
                if [run, how, dashes].iter().copied().eq(["run", "--release", "--"]) =>
            {
                rest.to_vec()
            }
            // This is one of them.
            ("cargo", _) => return Outcome::Seen,
            (assignment, []) if assignment.contains('=') => {
                let (name, value) = assignment.split_once('=').unwrap();
                self.names.insert(name.to_owned(), value.to_owned());
                return Outcome::Seen;
            }
            other => panic!("this cannot run {other:?}"),
        };
        if own.iter().any(|word| word == "serve" || word == "demo") {
            let server = Server::start(self.directory.path(), &own);
            let said = server.said.replace(&server.url, ADDRESS);
            self.server = Some(server);
            return Outcome::Printed(said);
        }
        let done = binary(self.directory.path(), &own).output().unwrap();
        let (out, err) = (done.stdout, String::from_utf8(done.stderr).unwrap());
        assert!(done.status.success(), "{own:?}: {err}");
        Outcome::Printed(String::from_utf8(out).unwrap())
    }

    /// The server that runs: a document starts one first.
    fn url(&self) -> &str {
        &self.server.as_ref().unwrap().url
    }

    /// A text about the server of the document, as one about ours.
    fn here(&self, text: &str) -> String {
        match &self.server {
            Some(server) => text.replace(ADDRESS, &server.url),
            None => text.to_owned(),
        }
    }

    async fn curl(&mut self, curl: Curl) -> Outcome {
        let default = match &curl.body {
            Some(_) if !curl.in_address => Method::POST,
            _ => Method::GET,
        };
        let method = curl.method.as_ref().map_or(default, |name| name.parse().unwrap());
        let url = match &curl.body {
            Some(Body::Encoded(name, value)) => Url::parse_with_params(&curl.url, [(name, value)]),
            _ => Url::parse(&curl.url),
        };
        let mut request = self.client.request(method, url.unwrap());
        for (name, value) in &curl.headers {
            request = request.header(name, value);
        }
        request = match curl.body {
            None | Some(Body::Encoded(..)) => request,
            Some(Body::File(file)) => request.body(fs::read(self.root.join(file)).unwrap()),
            Some(Body::Text(text)) => request.body(text),
        };
        let response = request.send().await.unwrap();
        if curl.listens {
            self.events = Some(Events::of(response));
            return Outcome::Seen;
        }
        Outcome::Answered(answer(response).await)
    }

    /// Asks what a block of GraphQL asks, with the headers in its comments.
    async fn ask(&self, text: &str) -> Answer {
        let document = filled(text, &self.names);
        let mut request = self.client.post(format!("{}/graphql", self.url()));
        for line in document.lines().filter_map(|line| line.strip_prefix("# ")) {
            if let Some((name, value)) = line.split_once(": ") {
                request = request.header(name, value);
            }
        }
        let response = request.json(&serde_json::json!({ "query": document })).send();
        let again = text.contains(LATER).then(|| text.to_owned());
        Answer { again, ..answer(response.await.unwrap()).await }
    }

    async fn compare(&mut self, step: &Step) {
        let Step { place, kind, text, .. } = step;
        let found = match std::mem::take(&mut self.outcome) {
            Outcome::Seen => panic!("{place}: there is nothing to compare with"),
            Outcome::Printed(found) => {
                assert_eq!(*kind, Kind::Text, "{place}: expected a block of `text`");
                let found = found.trim_end();
                assert!(is_like(text, found), "{place}: shown\n{text}\nfound\n{found}");
                return;
            }
            Outcome::Answered(found) => found,
        };
        let (head, body) = match kind {
            Kind::Http => text.split_once("\n\n").unwrap_or((text, "")),
            _ => ("HTTP/1.1 200 OK", text.as_str()),
        };
        let mut lines = head.lines();
        assert_eq!(lines.next(), Some(found.status.as_str()), "{place}: {}", found.body);
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            let fits = |(known, found): &(String, String)| known == name && is_like(value, found);
            assert!(found.headers.iter().any(fits), "{place}: {line}\nfound {:?}", found.headers);
        }
        let is_json = *kind == Kind::Json || body.starts_with(['{', '[']);
        if !is_json {
            assert!(is_like(body, found.body.trim_end()), "{place}: found\n{}", found.body);
            return;
        }
        self.compare_json(place, body, found).await;
    }

    /// Compares with JSON; what follows from something else is asked for until it has.
    async fn compare_json(&mut self, place: &str, shown: &str, mut found: Answer) {
        let shown = parsed(place, shown);
        let began = Instant::now();
        loop {
            let body = parsed(place, &found.body);
            let Some(difference) = differs(&shown, &body, &mut self.names) else { return };
            match &found.again {
                Some(document) if began.elapsed() < DEADLINE => {
                    tokio::time::sleep(PAUSE).await;
                    found = self.ask(document).await;
                }
                _ => panic!("{place}: {difference}\nfound {body:#}"),
            }
        }
    }

    /// Says and hears what stands in a block. Whoever says hello does so on a new connection.
    async fn talk(&mut self, place: &str, text: &str) {
        self.settle(place);
        for line in text.lines() {
            let (direction, message) = line.split_once(' ').unwrap();
            if direction == ">" {
                let message = parsed(place, &filled(message, &self.names));
                if message.get("type").is_some_and(|kind| kind == "connection_init") {
                    self.socket = Some(Socket::open(self.url()).await);
                }
                self.socket.as_mut().unwrap().say(&message).await;
            } else {
                let found = self.socket.as_mut().unwrap().hear().await;
                let difference = differs(&parsed(place, message), &found, &mut self.names);
                assert!(difference.is_none(), "{place}: {difference:?}\nfound {found:#}");
            }
        }
    }

    /// Hears the events that a block shows.
    async fn listen(&mut self, place: &str, text: &str) {
        self.settle(place);
        for shown in text.split("\n\n") {
            let (name, data) = parts(shown);
            let found = self.events.as_mut().unwrap().next().await;
            assert_eq!(name, found.0, "{place}");
            let (data, found) = (parsed(place, &data), parsed(place, &found.1));
            let difference = differs(&data, &found, &mut self.names);
            assert!(difference.is_none(), "{place}: {difference:?}\nfound {found:#}");
        }
    }
}

fn parsed(place: &str, text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{place}: {error}: {text}"))
}

async fn answer(response: reqwest::Response) -> Answer {
    let status = format!("{:?} {}", response.version(), response.status());
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().into()));
    let headers = headers.collect();
    Answer { status, headers, body: response.text().await.unwrap(), again: None }
}
