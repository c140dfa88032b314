//! `roundtable serve` and `roundtable schema`, as users call them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::binary::{command, finish};
use crate::serving::{RunningServer, ask};

#[test]
fn the_schema_is_printed() {
    let run = finish(command(["schema"]));
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    assert!(run.out.contains("type Query {") && run.out.contains("type Mutation {"), "{}", run.out);
}

#[test]
fn an_invalid_configuration_is_refused_with_the_reason() {
    let data = tempfile::tempdir().unwrap();
    for (line, output) in [
        ("serve --role api", "role: `api` needs `store.kind = \"dynamodb\"`"),
        ("serve --role worker", "role: `worker` needs `store.kind = \"dynamodb\"`"),
        ("serve --listen here", "http.listen: invalid socket address syntax (from --listen)"),
        ("serve --store dynamodb", "sign-in.secret"),
        (
            "serve --endpoint http://127.0.0.1:1",
            "`endpoint` and `region` need `kind = \"dynamodb\"`",
        ),
        ("serve --config nowhere.toml", "nowhere.toml"),
    ] {
        let mut serve = command(line.split_whitespace());
        let run = finish({
            serve.current_dir(data.path());
            serve
        });
        assert_eq!((run.status, run.out.as_str()), (1, ""), "{line}: {run:?}");
        assert!(run.err.contains(output), "{line}: {}", run.err);
    }
    for (variable, value, line, output) in [
        ("LOG__LEVEL", "loud", "serve", "log.level: \"loud\" is not a level: expected error, warn"),
        ("LOG__LEVEL", "info,x=loud", "serve", "expected error, warn"),
        ("LOG__LEVEL", "", "serve", "expected error, warn"),
        ("SIGN_IN__SECRET", "short", "serve", "sign-in.secret: expected 32 characters"),
        ("HTTP__LISTN", "x", "serve", "unknown field `listn`, expected one of `listen`"),
        ("SIGN_IN__SECRET_FILE", "nowhere", "serve", "nowhere: No such file"),
    ] {
        let mut serve = command(line.split_whitespace());
        serve.current_dir(data.path()).env(format!("ROUNDTABLE_{variable}"), value);
        let run = finish(serve);
        assert_eq!((run.status, run.out.as_str()), (1, ""), "{variable}={value}: {run:?}");
        assert!(run.err.contains(output), "{variable}={value}: {}", run.err);
    }
    let nothing = std::fs::read_dir(data.path()).unwrap().count();
    assert_eq!(nothing, 0, "something was made before it was refused");
}

/// A misspelt variable was once ignored in silence.
#[test]
fn a_variable_that_is_no_setting_is_named_in_the_log() {
    let data = tempfile::tempdir().unwrap();
    let mut serve = command(["serve", "--data"]);
    serve.arg(data.path()).env("ROUNDTABLE_HTTP_LISTEN", "0.0.0.0:80");
    let server = RunningServer::serve_as(serve);
    assert!(server.output.contains("ROUNDTABLE_HTTP_LISTEN"), "{}", server.output);
    assert!(server.output.contains("with __ for each dot"), "{}", server.output);
    assert_eq!(server.stop(), Some(0));
}

/// It once made a store among the files of others.
#[test]
fn a_directory_of_something_else_is_not_served() {
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("letters.txt"), "dear ana").unwrap();
    let mut serve = command(["serve", "--data"]);
    serve.arg(data.path());
    let run = finish(serve);
    assert_eq!((run.status, run.out.as_str()), (1, ""), "{run:?}");
    assert!(
        run.err.contains("is not a store and not empty (it contains \"letters.txt\")"),
        "{}",
        run.err
    );
    let names: Vec<_> = std::fs::read_dir(data.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "something was made before it was refused");
}

#[test]
fn a_server_answers_until_it_is_stopped() {
    let data = tempfile::tempdir().unwrap();
    let mut serve = command(["serve", "--listen", "127.0.0.1:0", "--data"]);
    serve.arg(data.path()).env("ROUNDTABLE_LOG__FORMAT", "json");
    let mut server = serve.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "it ended before it listened");
    }
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = line["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let mut connection = TcpStream::connect(&address).unwrap();
    connection.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok\n"), "{answer}");
    assert!(Command::new("kill").arg(server.id().to_string()).status().unwrap().success());
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0), "{rest}");
    assert!(rest.contains("stopped"), "{rest}");
}

/// A second signal ends the wait for running requests.
#[test]
fn a_second_signal_stops_at_once() {
    let data = tempfile::tempdir().unwrap();
    let mut serve = command(["serve", "--data"]);
    serve.arg(data.path()).env("ROUNDTABLE_HTTP__DRAIN_SECONDS", "3600");
    let server = RunningServer::serve_as(serve);
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let mut unfinished = TcpStream::connect(&address).unwrap();
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                content-length: 100\r\n\r\n{";
    unfinished.write_all(head.as_bytes()).unwrap();
    // A later request was answered, so the connection has been accepted.
    server.query(None, "{ __typename }");
    server.signal_stop();
    while TcpStream::connect(&address).is_ok() {}
    assert_eq!(server.stop(), Some(1));
}

/// The log lines of a server's requests, with one in so many of those that did not fail.
fn request_lines(sample: &str) -> Vec<Value> {
    let data = tempfile::tempdir().unwrap();
    let mut serve = command(["serve", "--listen", "127.0.0.1:0", "--data"]);
    serve.arg(data.path()).env("ROUNDTABLE_LOG__FORMAT", "json");
    serve.env("ROUNDTABLE_LOG__REQUEST_SAMPLE", sample);
    let mut server = serve.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(server.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "it ended before it listened");
    }
    let listening: Value = serde_json::from_str(&line).unwrap();
    let url = listening["url"].as_str().unwrap();
    for _ in 0..6 {
        ask(url, None, "query Self { me { id } }").unwrap();
    }
    ask(url, None, "{ nothingLikeThis }").unwrap();
    assert!(Command::new("kill").arg(server.id().to_string()).status().unwrap().success());
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0), "{rest}");
    let lines = rest.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["message"] == "operation").collect()
}

#[test]
fn requests_are_logged_with_their_operation() {
    let all = request_lines("1");
    assert_eq!(all.len(), 7, "{all:?}");
    for line in &all[..6] {
        let logged = ["level", "operation", "kind", "status"].map(|name| line[name].as_str());
        assert_eq!(logged, ["INFO", "Self", "query", "OK"].map(Some), "{line}");
        assert!(line["us"].is_u64() && line["cost"].as_u64() > Some(0), "{line}");
        let of_request = &line["spans"][0];
        assert!(of_request["id"].is_string() && of_request["route"] == "/graphql", "{line}");
    }
    assert_eq!(all[6]["status"], "BAD_REQUEST", "{}", all[6]);
    assert_eq!(request_lines("3").len(), 3);
    assert_eq!(request_lines("0").len(), 0);
}
