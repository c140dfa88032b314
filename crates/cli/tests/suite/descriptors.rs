//! The limit on open files: connections take a part of it, and the store always finds a descriptor.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::serving::RunningServer;

const DEADLINE: Duration = Duration::from_mins(1);

/// A client whose connection stays open.
struct KeptConnection {
    stream: BufReader<TcpStream>,
    token: Option<String>,
}

impl KeptConnection {
    fn open(server: &RunningServer) -> Self {
        Self { stream: BufReader::new(connect(server)), token: None }
    }

    fn sign_up(&mut self, name: &str) {
        let query = format!(
            "mutation {{ register(input: {{ email: \"{name}@example.com\", nickname: \"{name}\", \
             password: \"a table and {name}\" }}) {{ accessToken }} }}"
        );
        let token = self.query(&query)["register"]["accessToken"].as_str().map(str::to_owned);
        self.token = Some(token.unwrap());
    }

    /// The data of an answer, which must have no errors.
    fn query(&mut self, query: &str) -> Value {
        let (_, answer) = self.request("POST", "/graphql", &json!({ "query": query }).to_string());
        let mut answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["errors"], Value::Null, "{answer}");
        answer["data"].take()
    }

    fn metric(&mut self, name: &str) -> u64 {
        let (_, page) = self.request("GET", "/metrics", "");
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} is not in {page}")).parse().unwrap()
    }

    /// The status and the body of a response.
    fn request(&mut self, method: &str, path: &str, body: &str) -> (u16, String) {
        let proof = self.token.as_ref().map(|token| format!("authorization: Bearer {token}\r\n"));
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             {}content-length: {}\r\n\r\n{body}",
            proof.unwrap_or_default(),
            body.len()
        );
        self.stream.get_mut().write_all(head.as_bytes()).unwrap();
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the server hung up");
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(code) = line.strip_prefix("http/1.1 ") {
                status = code[..3].parse().unwrap();
            } else if let Some(bytes) = line.strip_prefix("content-length: ") {
                length = bytes.parse().unwrap();
            } else if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        (status, String::from_utf8(body).unwrap())
    }
}

fn connect(server: &RunningServer) -> TcpStream {
    let stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// A server after this change of its limits.
fn limited(limit: &str, data: &Path) -> RunningServer {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{limit} && exec \"$0\" \"$@\"")])
        .args([env!("CARGO_BIN_EXE_roundtable"), "serve", "--data"])
        .arg(data)
        .env("ROUNDTABLE_LOGIN__HASH_MEMORY_KIB", "64")
        .env("ROUNDTABLE_LOGIN__HASH_PASSES", "1")
        .env("ROUNDTABLE_RATES__WRITES_BURST", "10000")
        .stdin(Stdio::null());
    RunningServer::serve_as(command)
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn log_files(data: &Path) -> usize {
    let names = std::fs::read_dir(data.join("log")).unwrap();
    let is_segment = |name: &Path| name.extension().is_some_and(|end| end == "log");
    names.filter(|entry| is_segment(&entry.as_ref().unwrap().path())).count()
}

/// A thousand of them once failed the rotation of the log, which stopped all writes for good.
#[test]
fn half_open_requests_leave_descriptors_for_the_store() {
    let data = tempfile::tempdir().unwrap();
    let server = limited("ulimit -n 256", data.path());
    assert!(server.output.contains("leaves room for fewer connections"), "{}", server.output);
    let mut ana = KeptConnection::open(&server);
    ana.sign_up("ana");
    // The first request with her token makes the connection hers; those of strangers give way.
    ana.query("{ me { id } }");
    let open_one = |_| {
        let mut stream = connect(&server);
        stream.write_all(b"POST /graphql HTTP/1.1\r\nhost: x\r\n").unwrap();
        stream
    };
    let half_open: Vec<_> = (0..400).map(open_one).collect();
    // Of all connections, half may be anonymous ones of one network.
    until("they are accepted", || ana.metric("roundtable_http_connections") >= 90);
    let text = "x".repeat(10_000);
    let post = format!(
        "mutation {{ createPost(input: {{ content: \"{text}\", contentType: text }}) {{ id }} }}"
    );
    let before = log_files(data.path());
    until("the log begins another file", || {
        ana.query(&post);
        log_files(data.path()) > before
    });
    assert!(ana.metric("process_open_fds") < 256 - 32, "the store's descriptors are taken");
    assert_eq!(ana.request("GET", "/readyz", "").0, 200);
    drop(half_open);
    KeptConnection::open(&server).query("{ me { id } }");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn the_soft_limit_on_open_files_is_raised() {
    let data = tempfile::tempdir().unwrap();
    let hard = Command::new("sh").args(["-c", "ulimit -Hn"]).output().unwrap();
    let hard = String::from_utf8(hard.stdout).unwrap().trim().parse().unwrap_or(u64::MAX);
    let server = limited("ulimit -Sn 128", data.path());
    let mut client = KeptConnection::open(&server);
    assert_eq!(client.metric("process_max_fds"), hard.min(1 << 20));
    assert!(client.metric("roundtable_http_connections_max") > 128);
    assert_eq!(server.stop(), Some(0));
}
