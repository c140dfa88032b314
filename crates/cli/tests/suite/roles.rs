//! `serve --store dynamodb`: one process for everything, and an API process beside a worker.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::binary::command;
use crate::create::address;
use crate::serving::RunningServer;
use crate::verify::served;

/// Time for derived work.
const TIMEOUT: Duration = Duration::from_secs(40);

/// A server on tables of its own, without an AWS environment.
fn serve(prefix: &str, role: &str) -> Command {
    let mut serve = command(["serve", "--store", "dynamodb", "--endpoint", address()]);
    serve.args(["--role", role]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            serve.env_remove(name);
        }
    }
    serve.env("ROUNDTABLE_SIGN_IN__SECRET", "everybody at this table knows it, and nobody else");
    for (key, name) in [("CORE", "gg_core"), ("LOGINS", "gg_login_attempts"), ("OPS", "gg_ops")] {
        serve.env(format!("ROUNDTABLE_TABLES__{key}"), format!("{prefix}{name}"));
    }
    serve
}

fn create_tables(prefix: &str) {
    let created = served(prefix, "table create");
    assert_eq!((created.status, created.err.as_str()), (0, ""));
}

fn sign_up(server: &RunningServer, name: &str) -> String {
    let answer = server.query(
        None,
        &format!(
            "mutation {{ register(input: {{ email: \"{name}@example.com\", nickname: \"{name}\", \
             password: \"a table and {name}\" }}) {{ accessToken }} }}"
        ),
    );
    answer["register"]["accessToken"].as_str().unwrap().to_owned()
}

fn post(server: &RunningServer, token: &str) -> String {
    let post = "mutation { createPost(input: { content: \"hello\", contentType: text }) { id } }";
    server.query(Some(token), post)["createPost"]["id"].as_str().unwrap().to_owned()
}

fn like(server: &RunningServer, token: &str, post: &str) {
    let like = format!("mutation {{ likePost(postId: \"{post}\") {{ liked }} }}");
    assert_eq!(server.query(Some(token), &like)["likePost"]["liked"], true);
}

fn likes(server: &RunningServer, token: &str, post: &str) -> Value {
    let look = format!("{{ getPost(id: \"{post}\") {{ likeCount }} }}");
    server.query(Some(token), &look)["getPost"]["likeCount"].clone()
}

/// Waits until a post has this many likes.
fn counted(server: &RunningServer, token: &str, post: &str, count: u64) {
    let started = Instant::now();
    loop {
        let found = likes(server, token, post);
        if found == count {
            return;
        }
        assert!(started.elapsed() < TIMEOUT, "{found} likes, and not {count}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn one_process_does_everything_on_a_server() {
    create_tables("all_");
    let server = RunningServer::serve_as(serve("all_", "all"));
    let [ana, bo] = ["ana", "bo"].map(|name| sign_up(&server, name));
    let post = post(&server, &ana);
    like(&server, &bo, &post);
    counted(&server, &ana, &post, 1);
    // The tables can be administered while they are served.
    let granted = served("all_", "admin grant ana admin");
    assert_eq!((granted.status, granted.out.as_str()), (0, "roles: user, admin\n"));
    let letters = served("all_", "admin dlq list");
    assert_eq!((letters.status, letters.out.as_str()), (0, "0 dead letters\n"));
    assert_eq!(server.stop(), Some(0));
    let verified = served("all_", "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
}

#[test]
fn an_api_process_and_a_worker_share_the_work() {
    create_tables("two_");
    let worker = RunningServer::serve_as(serve("two_", "worker"));
    let mut api = serve("two_", "api");
    api.env("ROUNDTABLE_LIVE__WORKERS", &worker.url);
    let api = RunningServer::serve_as(api);
    let [ana, bo, cleo] = ["ana", "bo", "cleo"].map(|name| sign_up(&api, name));
    let post = post(&api, &ana);
    like(&api, &bo, &post);
    counted(&api, &ana, &post, 1);
    // Without a worker nothing is counted, and nothing is lost.
    assert_eq!(worker.stop(), Some(0));
    like(&api, &cleo, &post);
    assert_eq!(likes(&api, &ana, &post), 1);
    let worker = RunningServer::serve_as(serve("two_", "worker"));
    counted(&api, &ana, &post, 2);
    assert_eq!((api.stop(), worker.stop()), (Some(0), Some(0)));
    let verified = served("two_", "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
}
