//! Whatever HTTP can carry, against a server.
//!
//! An input is a request as it is written down: a line `METHOD ADDRESS`, lines of headers, an empty line,
//! the body. `TOKEN` in a header stands for a good token, and lengths are put in. Instead of a method,
//! `SOCKET` opens a WebSocket that every line of the body is sent over, and `RAW` sends the body alone, as
//! the bytes of a connection.

use std::cell::RefCell;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::answers::{check, check_error, check_text, hash};
use crate::driving::Seen;
use crate::frames::{Told, frame, told};
use crate::served::Served;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long nothing is told before nothing will be.
const SILENCE: Duration = Duration::from_millis(100);
/// Inputs of one server: what they leave behind stays in memory.
const INPUTS_MAX: usize = 20_000;

struct Run {
    served: Served,
    connection: Option<TcpStream>,
    inputs: usize,
}

thread_local! {
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

/// Tries one input; what was seen of the program. Panics when something is wrong.
pub fn bodies(bytes: &[u8]) -> Seen {
    RUN.with_borrow_mut(|run| {
        if run.as_ref().is_none_or(|run| run.inputs >= INPUTS_MAX) {
            *run = Some(Run { served: Served::start(), connection: None, inputs: 0 });
        }
        let mut seen = Seen::default();
        run.as_mut().unwrap().one(bytes, &mut seen);
        seen
    })
}

/// What came back.
#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
    /// Whether the connection can be used again.
    stays: bool,
}

impl Run {
    fn one(&mut self, bytes: &[u8], seen: &mut Seen) {
        self.inputs += 1;
        let asked = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = split(bytes);
        match head.split(|byte| *byte == b' ').next() {
            Some(b"RAW") => self.raw(body),
            Some(b"SOCKET") => self.socket(body, &asked, seen),
            _ => self.request(head, body, &asked, seen),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.served.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn request(&mut self, head: &[u8], body: &[u8], asked: &str, seen: &mut Seen) {
        let sent = self.written(head, body);
        let has_body = !head.starts_with(b"HEAD ");
        // A connection that is open already may have been given up meanwhile.
        let reply = match self.connection.take() {
            Some(mut open) => {
                let sending = open.write_all(&sent).is_ok();
                let reply = if sending { read(&mut open, has_body) } else { None };
                reply.map(|reply| (open, reply))
            }
            None => None,
        };
        let reply = reply.or_else(|| {
            let mut fresh = self.connect();
            // Whoever refuses a request early does not read all of it.
            let _ = fresh.write_all(&sent);
            read(&mut fresh, has_body).map(|reply| (fresh, reply))
        });
        let Some((connection, reply)) = reply else {
            seen.insert(hash("no reply"));
            return;
        };
        check_reply(&reply, asked, seen);
        if reply.stays {
            self.connection = Some(connection);
        }
    }

    /// A request as it goes over the line.
    fn written(&self, head: &[u8], body: &[u8]) -> Vec<u8> {
        let mut lines = head.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let mut sent = [first, b" HTTP/1.1\r\nhost: fuzz\r\n"].concat();
        for line in lines {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            let name = String::from_utf8_lossy(name).trim().to_ascii_lowercase();
            let is_ours =
                ["content-length", "transfer-encoding", "host", "expect"].contains(&&*name);
            if !is_ours && !line.is_empty() {
                sent.extend(replaced(line, b"TOKEN", self.served.token.as_bytes()));
                sent.extend(b"\r\n");
            }
        }
        sent.extend(format!("content-length: {}\r\n\r\n", body.len()).into_bytes());
        sent.extend(body);
        sent
    }

    fn raw(&self, bytes: &[u8]) {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        drain(&mut stream);
    }

    /// Opens a socket, says every line, and leaves.
    fn socket(&self, lines: &[u8], asked: &str, seen: &mut Seen) {
        let mut stream = self.connect();
        let hello = "GET /graphql HTTP/1.1\r\nhost: fuzz\r\nconnection: upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             sec-websocket-protocol: graphql-transport-ws\r\n\r\n";
        stream.write_all(hello.as_bytes()).unwrap();
        let (head, mut rest) = read_head(&mut stream).expect("no answer to a hello");
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line = replaced(line, b"TOKEN", self.served.token.as_bytes());
            let (kind, payload) = match line.split_first() {
                Some((kind @ 0..=15, payload)) => (*kind, payload),
                _ => (1, &*line),
            };
            if stream.write_all(&frame(kind, payload)).is_err() {
                break;
            }
        }
        stream.set_read_timeout(Some(SILENCE)).unwrap();
        hear(&mut stream, &mut rest, asked, seen);
        let _ = stream.write_all(&frame(8, &1000_u16.to_be_bytes()));
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        drain(&mut stream);
    }
}

/// The head of an input, and what comes after it.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.windows(2).position(|two| two == b"\n\n") {
        Some(at) => (&bytes[..at], &bytes[at + 2..]),
        None => (bytes, &[]),
    }
}

fn replaced(text: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    match text.windows(what.len()).position(|part| part == what) {
        Some(at) => [&text[..at], by, &text[at + what.len()..]].concat(),
        None => text.to_vec(),
    }
}

/// Reads until the other end has nothing more to say, which must be soon.
fn drain(stream: &mut TcpStream) {
    let (mut buffer, started) = ([0; 16 << 10], Instant::now());
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if is_late(&error) => panic!("the server keeps a dead connection"),
            Err(_) => return,
        }
        assert!(started.elapsed() < PATIENCE * 2, "the server does not stop talking");
    }
}

fn is_late(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// The head of a reply, and what came with it; `None` if the connection was closed instead.
fn read_head(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(at + 4);
            return Some((String::from_utf8(bytes).unwrap(), rest));
        }
        if !more(stream, &mut bytes) {
            assert!(bytes.is_empty(), "half a reply: {}", String::from_utf8_lossy(&bytes));
            return None;
        }
    }
}

/// Reads more; whether there was any. Panics when it takes too long.
fn more(stream: &mut TcpStream, into: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 16 << 10];
    match stream.read(&mut buffer) {
        Ok(count) => {
            into.extend(&buffer[..count]);
            count > 0
        }
        Err(error) => {
            assert!(
                !is_late(&error),
                "no answer in time, after {:?}",
                String::from_utf8_lossy(into)
            );
            false
        }
    }
}

fn read(stream: &mut TcpStream, has_body: bool) -> Option<Reply> {
    let (head, mut body) = read_head(stream)?;
    let lower = head.to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    let field = |name: &str| {
        lower.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::trim)
    };
    if field("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
        return Some(Reply { status, body: events(stream, body), head: lower, stays: false });
    }
    let mut stays = field("connection") != Some("close") && status != 101;
    if !has_body {
        stays = false;
    } else if let Some(length) = field("content-length") {
        let length: usize = length.parse().unwrap();
        while body.len() < length && more(stream, &mut body) {}
        assert_eq!(body.len(), length, "a body of another length: {head}");
    } else if field("transfer-encoding") == Some("chunked") {
        while !body.ends_with(b"0\r\n\r\n") && more(stream, &mut body) {}
        stays = false;
    } else if status != 101 {
        // As 204 and 304 have none.
        stays = false;
    }
    Some(Reply { status, head: lower, body, stays })
}

/// Events until there are no more for a while.
fn events(stream: &mut TcpStream, mut body: Vec<u8>) -> Vec<u8> {
    stream.set_read_timeout(Some(SILENCE)).unwrap();
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        body.extend(&buffer[..count]);
    }
    body
}

fn check_reply(reply: &Reply, asked: &str, seen: &mut Seen) {
    let Reply { status, head, body, .. } = reply;
    assert!(*status < 500, "{head}\n{}\nasked: {asked}", String::from_utf8_lossy(body));
    seen.insert(hash(&format!("status {status}")));
    let is_json =
        head.lines().any(|line| line.starts_with("content-type: ") && line.contains("json"));
    let is_packed = head.contains("content-encoding:");
    let is_graphql = !head.contains("cache-control: public") && !head.contains("etag:");
    let text = String::from_utf8_lossy(body);
    // Scripts and the like are written by ourselves; the metrics and what an answer cost are about the
    // inside.
    if is_json && !is_packed && !text.contains(r#""xray":"#) {
        check_text(&text, asked);
    }
    if !is_json || is_packed || !is_graphql || body.is_empty() || head.contains("chunked") {
        return;
    }
    let answer: Value = serde_json::from_slice(body).unwrap_or_else(|_| panic!("no JSON: {text}"));
    match answer {
        Value::Array(answers) => answers.iter().for_each(|answer| check(answer, asked, seen)),
        answer if answer.get("ready").is_some() => {}
        answer => check(&answer, asked, seen),
    }
}

/// Hears what a socket tells, until it says nothing for a while.
fn hear(stream: &mut TcpStream, bytes: &mut Vec<u8>, asked: &str, seen: &mut Seen) {
    let mut buffer = [0; 16 << 10];
    loop {
        while let Some((message, length)) = told(bytes) {
            bytes.drain(..length);
            match message {
                Told::Text(text) => check_message(&text, asked, seen),
                Told::Close => return,
                Told::Other => {}
            }
        }
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => bytes.extend(&buffer[..count]),
            _ => return,
        }
    }
}

fn check_message(text: &str, asked: &str, seen: &mut Seen) {
    let message: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"));
    let kind = message.get("type").and_then(Value::as_str).unwrap_or_default();
    seen.insert(hash(&format!("message {kind}")));
    let payload = message.get("payload").unwrap_or(&Value::Null);
    match kind {
        "connection_ack" | "complete" | "ping" | "pong" => {}
        "next" => check(payload, asked, seen),
        "error" => {
            let errors = payload.as_array().filter(|errors| !errors.is_empty());
            let errors = errors.unwrap_or_else(|| panic!("an error without errors: {text}"));
            errors.iter().for_each(|error| check_error(error, asked, seen));
        }
        _ => panic!("a message of no kind: {text}"),
    }
}
