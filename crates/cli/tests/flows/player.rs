//! Runs the steps of a document, and compares the results with what it shows.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use reqwest::{Client, Method, Url};
use serde_json::Value;

use crate::answers::{difference, matches_pattern};
use crate::document::{Kind, Step};
use crate::server::{Server, binary};
use crate::shell::{Body, Curl, Names, commands, fill_names};
use crate::sockets::{DEADLINE, Events, Socket, parts};

/// The address of the server in the documents.
const ADDRESS: &str = "http://127.0.0.1:4000";
/// Marks a response that becomes true a moment later.
const LATER: &str = "# a moment later";
const PAUSE: Duration = Duration::from_millis(20);

/// The result of the last step.
#[derive(Debug, Default)]
enum StepResult {
    /// Nothing, or already compared.
    #[default]
    Seen,
    Answered(HttpAnswer),
    Printed(String),
}

#[derive(Debug)]
struct HttpAnswer {
    status: String,
    headers: Vec<(String, String)>,
    body: String,
    /// The document to repeat until the response matches.
    again: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Player {
    root: PathBuf,
    directory: tempfile::TempDir,
    client: Client,
    server: Option<Server>,
    names: Names,
    outcome: StepResult,
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
            outcome: StepResult::default(),
            socket: None,
            events: None,
        }
    }

    /// Runs a step, or compares the previous one with it.
    pub(crate) async fn play(&mut self, step: &Step) {
        let Step { location, kind, text, .. } = step;
        match kind {
            Kind::Shown => {}
            Kind::Shell => {
                for words in commands(text, &self.names) {
                    self.settle(location);
                    self.outcome = self.run(&words).await;
                }
            }
            Kind::Graphql => {
                self.settle(location);
                self.outcome = StepResult::Answered(self.ask(text).await);
            }
            Kind::Socket => self.exchange_messages(location, text).await,
            Kind::Events => self.receive_events(location, text).await,
            Kind::Json | Kind::Http | Kind::Text => self.compare(step).await,
        }
    }

    /// The names of the server's metrics.
    pub(crate) async fn metrics(&self) -> Vec<String> {
        let page = self.client.get(format!("{}/metrics", self.url())).send().await.unwrap();
        let page = page.text().await.unwrap();
        let names = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
        names.map(str::to_owned).collect()
    }

    /// A result that no block compares must be a success.
    pub(crate) fn settle(&mut self, location: &str) {
        if let StepResult::Answered(HttpAnswer { status, body, .. }) =
            std::mem::take(&mut self.outcome)
        {
            let fine = status.starts_with("HTTP/1.1 2") && !body.contains("\"errors\":");
            assert!(fine, "before {location}: {status}\n{body}");
        }
    }

    async fn run(&mut self, words: &[String]) -> StepResult {
        let words: Vec<String> = words.iter().map(|word| self.with_our_address(word)).collect();
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
            ("cargo", _) => return StepResult::Seen,
            (assignment, []) if assignment.contains('=') => {
                let (name, value) = assignment.split_once('=').unwrap();
                self.names.insert(name.to_owned(), value.to_owned());
                return StepResult::Seen;
            }
            other => panic!("this cannot run {other:?}"),
        };
        if own.iter().any(|word| word == "serve" || word == "demo") {
            let server = Server::start(self.directory.path(), &own);
            let output = server.output.replace(&server.url, ADDRESS);
            self.server = Some(server);
            return StepResult::Printed(output);
        }
        let done = binary(self.directory.path(), &own).output().unwrap();
        let (out, err) = (done.stdout, String::from_utf8(done.stderr).unwrap());
        assert!(done.status.success(), "{own:?}: {err}");
        StepResult::Printed(String::from_utf8(out).unwrap())
    }

    /// The URL of the running server: a document starts one first.
    fn url(&self) -> &str {
        &self.server.as_ref().unwrap().url
    }

    /// Replaces the document's server address with ours.
    fn with_our_address(&self, text: &str) -> String {
        match &self.server {
            Some(server) => text.replace(ADDRESS, &server.url),
            None => text.to_owned(),
        }
    }

    async fn curl(&mut self, curl: Curl) -> StepResult {
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
            return StepResult::Seen;
        }
        StepResult::Answered(answer(response).await)
    }

    /// Sends a GraphQL block, with the headers in its comments.
    async fn ask(&self, text: &str) -> HttpAnswer {
        let document = fill_names(text, &self.names);
        let mut request = self.client.post(format!("{}/graphql", self.url()));
        for line in document.lines().filter_map(|line| line.strip_prefix("# ")) {
            if let Some((name, value)) = line.split_once(": ") {
                request = request.header(name, value);
            }
        }
        let response = request.json(&serde_json::json!({ "query": document })).send();
        let again = text.contains(LATER).then(|| text.to_owned());
        HttpAnswer { again, ..answer(response.await.unwrap()).await }
    }

    async fn compare(&mut self, step: &Step) {
        let Step { location, kind, text, .. } = step;
        let found = match std::mem::take(&mut self.outcome) {
            StepResult::Seen => panic!("{location}: there is nothing to compare with"),
            StepResult::Printed(found) => {
                assert_eq!(*kind, Kind::Text, "{location}: expected a block of `text`");
                let found = found.trim_end();
                assert!(matches_pattern(text, found), "{location}: shown\n{text}\nfound\n{found}");
                return;
            }
            StepResult::Answered(found) => found,
        };
        let (head, body) = match kind {
            Kind::Http => text.split_once("\n\n").unwrap_or((text, "")),
            _ => ("HTTP/1.1 200 OK", text.as_str()),
        };
        let mut lines = head.lines();
        assert_eq!(lines.next(), Some(found.status.as_str()), "{location}: {}", found.body);
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            let fits = |(header, found): &(String, String)| {
                header == name && matches_pattern(value, found)
            };
            assert!(
                found.headers.iter().any(fits),
                "{location}: {line}\nfound {:?}",
                found.headers
            );
        }
        let is_json = *kind == Kind::Json || body.starts_with(['{', '[']);
        if !is_json {
            assert!(
                matches_pattern(body, found.body.trim_end()),
                "{location}: found\n{}",
                found.body
            );
            return;
        }
        self.compare_json(location, body, found).await;
    }

    /// Compares with JSON; repeats the request if the document says so.
    async fn compare_json(&mut self, location: &str, shown: &str, mut found: HttpAnswer) {
        let shown = parsed(location, shown);
        let began = Instant::now();
        loop {
            let body = parsed(location, &found.body);
            let Some(difference) = difference(&shown, &body, &mut self.names) else { return };
            match &found.again {
                Some(document) if began.elapsed() < DEADLINE => {
                    tokio::time::sleep(PAUSE).await;
                    found = self.ask(document).await;
                }
                _ => panic!("{location}: {difference}\nfound {body:#}"),
            }
        }
    }

    /// Sends and receives the messages of a block. `connection_init` opens a new connection.
    async fn exchange_messages(&mut self, location: &str, text: &str) {
        self.settle(location);
        for line in text.lines() {
            let (direction, message) = line.split_once(' ').unwrap();
            if direction == ">" {
                let message = parsed(location, &fill_names(message, &self.names));
                if message.get("type").is_some_and(|kind| kind == "connection_init") {
                    self.socket = Some(Socket::open(self.url()).await);
                }
                self.socket.as_mut().unwrap().say(&message).await;
            } else {
                let found = self.socket.as_mut().unwrap().next_message().await;
                let difference = difference(&parsed(location, message), &found, &mut self.names);
                assert!(difference.is_none(), "{location}: {difference:?}\nfound {found:#}");
            }
        }
    }

    /// Receives the events that a block shows.
    async fn receive_events(&mut self, location: &str, text: &str) {
        self.settle(location);
        for shown in text.split("\n\n") {
            let (name, data) = parts(shown);
            let found = self.events.as_mut().unwrap().next().await;
            assert_eq!(name, found.0, "{location}");
            let (data, found) = (parsed(location, &data), parsed(location, &found.1));
            let difference = difference(&data, &found, &mut self.names);
            assert!(difference.is_none(), "{location}: {difference:?}\nfound {found:#}");
        }
    }
}

fn parsed(location: &str, text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{location}: {error}: {text}"))
}

async fn answer(response: reqwest::Response) -> HttpAnswer {
    let status = format!("{:?} {}", response.version(), response.status());
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().into()));
    let headers = headers.collect();
    HttpAnswer { status, headers, body: response.text().await.unwrap(), again: None }
}
