//! Fuzzes a server with HTTP requests.
//!
//! An input is a line `METHOD ADDRESS`, header lines, an empty line and the body. `TOKEN` in a header
//! stands for a valid token, and the length is added. Instead of a method, `SOCKET` opens a WebSocket
//! and sends each line of the body as a message, and `RAW` sends only the body as the bytes of a
//! connection.

use std::cell::RefCell;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::frames::{ServerMessage, frame, parse_message};
use crate::response_checks::{check, check_error, check_text, hash};
use crate::runner::Coverage;
use crate::test_server::TestServer;

const TIMEOUT: Duration = Duration::from_secs(10);
/// The silence after which no more events are expected.
const IDLE_TIMEOUT: Duration = Duration::from_millis(100);
/// Inputs before the server is replaced, since its data stays in memory.
const INPUTS_MAX: usize = 20_000;

struct BodyTarget {
    server: TestServer,
    connection: Option<TcpStream>,
    inputs: usize,
}

thread_local! {
    static TARGET: RefCell<Option<BodyTarget>> = const { RefCell::new(None) };
}

/// Runs one input and returns its coverage. Panics on a finding.
pub fn bodies(bytes: &[u8]) -> Coverage {
    TARGET.with_borrow_mut(|target| {
        if target.as_ref().is_none_or(|target| target.inputs >= INPUTS_MAX) {
            *target = Some(BodyTarget { server: TestServer::start(), connection: None, inputs: 0 });
        }
        let mut coverage = Coverage::default();
        target.as_mut().unwrap().run_input(bytes, &mut coverage);
        coverage
    })
}

#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
    /// True if the connection can be used again.
    is_reusable: bool,
}

impl BodyTarget {
    fn run_input(&mut self, bytes: &[u8], coverage: &mut Coverage) {
        self.inputs += 1;
        let request = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = split(bytes);
        match head.split(|byte| *byte == b' ').next() {
            Some(b"RAW") => self.raw(body),
            Some(b"SOCKET") => self.socket(body, &request, coverage),
            _ => self.request(head, body, &request, coverage),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.server.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream
    }

    fn request(&mut self, head: &[u8], body: &[u8], request: &str, coverage: &mut Coverage) {
        let sent = self.encode_request(head, body);
        let has_body = !head.starts_with(b"HEAD ");
        // The server may have closed an open connection meanwhile.
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
            // A server that rejects a request early does not read all of it.
            let _ = fresh.write_all(&sent);
            read(&mut fresh, has_body).map(|reply| (fresh, reply))
        });
        let Some((connection, reply)) = reply else {
            coverage.insert(hash("no reply"));
            return;
        };
        check_reply(&reply, request, coverage);
        if reply.is_reusable {
            self.connection = Some(connection);
        }
    }

    /// Returns the bytes of a request.
    fn encode_request(&self, head: &[u8], body: &[u8]) -> Vec<u8> {
        let mut lines = head.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let mut sent = [first, b" HTTP/1.1\r\nhost: fuzz\r\n"].concat();
        for line in lines {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            let name = String::from_utf8_lossy(name).trim().to_ascii_lowercase();
            let is_ours =
                ["content-length", "transfer-encoding", "host", "expect"].contains(&&*name);
            if !is_ours && !line.is_empty() {
                sent.extend(replace(line, b"TOKEN", self.server.token.as_bytes()));
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

    /// Opens a WebSocket, sends every line and closes it.
    fn socket(&self, lines: &[u8], request: &str, coverage: &mut Coverage) {
        let mut stream = self.connect();
        let hello = "GET /graphql HTTP/1.1\r\nhost: fuzz\r\nconnection: upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             sec-websocket-protocol: graphql-transport-ws\r\n\r\n";
        stream.write_all(hello.as_bytes()).unwrap();
        let (head, mut rest) = read_head(&mut stream).expect("no response to the handshake");
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line = replace(line, b"TOKEN", self.server.token.as_bytes());
            let (kind, payload) = match line.split_first() {
                Some((kind @ 0..=15, payload)) => (*kind, payload),
                _ => (1, &*line),
            };
            if stream.write_all(&frame(kind, payload)).is_err() {
                break;
            }
        }
        stream.set_read_timeout(Some(IDLE_TIMEOUT)).unwrap();
        check_messages(&mut stream, &mut rest, request, coverage);
        let _ = stream.write_all(&frame(8, &1000_u16.to_be_bytes()));
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        drain(&mut stream);
    }
}

/// Splits an input into head and body.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.windows(2).position(|two| two == b"\n\n") {
        Some(at) => (&bytes[..at], &bytes[at + 2..]),
        None => (bytes, &[]),
    }
}

fn replace(text: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    match text.windows(what.len()).position(|part| part == what) {
        Some(at) => [&text[..at], by, &text[at + what.len()..]].concat(),
        None => text.to_vec(),
    }
}

/// Reads until the server closes the connection, which must be soon.
fn drain(stream: &mut TcpStream) {
    let (mut buffer, started) = ([0; 16 << 10], Instant::now());
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if is_timeout(&error) => panic!("the server did not close the connection"),
            Err(_) => return,
        }
        assert!(started.elapsed() < TIMEOUT * 2, "the server does not stop sending");
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Returns the head of a reply and the bytes after it; `None` if the connection was closed instead.
fn read_head(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(at + 4);
            return Some((String::from_utf8(bytes).unwrap(), rest));
        }
        if !read_more(stream, &mut bytes) {
            assert!(bytes.is_empty(), "incomplete reply: {}", String::from_utf8_lossy(&bytes));
            return None;
        }
    }
}

/// Reads more bytes and returns whether there were any. Panics on a timeout.
fn read_more(stream: &mut TcpStream, into: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 16 << 10];
    match stream.read(&mut buffer) {
        Ok(count) => {
            into.extend(&buffer[..count]);
            count > 0
        }
        Err(error) => {
            assert!(!is_timeout(&error), "timeout after {:?}", String::from_utf8_lossy(into));
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
        return Some(Reply { status, body: events(stream, body), head: lower, is_reusable: false });
    }
    let mut is_reusable = field("connection") != Some("close") && status != 101;
    if !has_body {
        is_reusable = false;
    } else if let Some(length) = field("content-length") {
        let length: usize = length.parse().unwrap();
        while body.len() < length && read_more(stream, &mut body) {}
        assert_eq!(body.len(), length, "the body does not match its content-length: {head}");
    } else if field("transfer-encoding") == Some("chunked") {
        while !body.ends_with(b"0\r\n\r\n") && read_more(stream, &mut body) {}
        is_reusable = false;
    } else if status != 101 {
        // 204 and 304 have no body.
        is_reusable = false;
    }
    Some(Reply { status, head: lower, body, is_reusable })
}

/// Reads events until none come for the idle timeout.
fn events(stream: &mut TcpStream, mut body: Vec<u8>) -> Vec<u8> {
    stream.set_read_timeout(Some(IDLE_TIMEOUT)).unwrap();
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        body.extend(&buffer[..count]);
    }
    body
}

fn check_reply(reply: &Reply, request: &str, coverage: &mut Coverage) {
    let Reply { status, head, body, .. } = reply;
    assert!(*status < 500, "{head}\n{}\nrequest: {request}", String::from_utf8_lossy(body));
    coverage.insert(hash(&format!("status {status}")));
    let is_json =
        head.lines().any(|line| line.starts_with("content-type: ") && line.contains("json"));
    let is_compressed = head.contains("content-encoding:");
    let is_graphql = !head.contains("cache-control: public") && !head.contains("etag:");
    let text = String::from_utf8_lossy(body);
    // Scripts are our own; metrics and request costs may show internals.
    if is_json && !is_compressed && !text.contains(r#""xray":"#) {
        check_text(&text, request);
    }
    if !is_json || is_compressed || !is_graphql || body.is_empty() || head.contains("chunked") {
        return;
    }
    let response: Value =
        serde_json::from_slice(body).unwrap_or_else(|_| panic!("invalid JSON: {text}"));
    match response {
        Value::Array(responses) => {
            responses.iter().for_each(|response| check(response, request, coverage));
        }
        response if response.get("ready").is_some() => {}
        response => check(&response, request, coverage),
    }
}

/// Checks the messages of a socket until none come for the idle timeout.
fn check_messages(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
    request: &str,
    coverage: &mut Coverage,
) {
    let mut buffer = [0; 16 << 10];
    loop {
        while let Some((message, length)) = parse_message(bytes) {
            bytes.drain(..length);
            match message {
                ServerMessage::Text(text) => check_message(&text, request, coverage),
                ServerMessage::Close => return,
                ServerMessage::Other => {}
            }
        }
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => bytes.extend(&buffer[..count]),
            _ => return,
        }
    }
}

fn check_message(text: &str, request: &str, coverage: &mut Coverage) {
    let message: Value =
        serde_json::from_str(text).unwrap_or_else(|_| panic!("invalid JSON: {text}"));
    let kind = message.get("type").and_then(Value::as_str).unwrap_or_default();
    coverage.insert(hash(&format!("message {kind}")));
    let payload = message.get("payload").unwrap_or(&Value::Null);
    match kind {
        "connection_ack" | "complete" | "ping" | "pong" => {}
        "next" => check(payload, request, coverage),
        "error" => {
            let errors = payload.as_array().filter(|errors| !errors.is_empty());
            let errors =
                errors.unwrap_or_else(|| panic!("an error message without errors: {text}"));
            errors.iter().for_each(|error| check_error(error, request, coverage));
        }
        _ => panic!("unknown message type: {text}"),
    }
}
