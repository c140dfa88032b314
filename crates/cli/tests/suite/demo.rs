//! The sample town: built, served, signed in to, and verified.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::binary::{command, finish};
use crate::serving::RunningServer;
use crate::verify::on;

/// The printed logins: role, address and password.
fn logins(output: &str) -> Vec<[&str; 3]> {
    let lines = output.lines().filter_map(|line| line.split_once("  password: "));
    let parts = lines.map(|(who, password)| (who.split_whitespace(), password));
    parts.map(|(mut who, password)| [who.next().unwrap(), who.next().unwrap(), password]).collect()
}

fn queries(output: &str) -> Vec<&str> {
    let (_, tried) = output.split_once("\nTry").unwrap();
    tried.lines().filter_map(|line| line.strip_prefix("  ")).collect()
}

#[test]
fn a_sample_town_works_and_verifies() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("town");
    let town = RunningServer::demo(&data, "50");
    assert!(town.output.contains("A town of 50 people"), "{}", town.output);
    assert!(town.output.contains(&format!("  GraphQL  {}/graphql\n", town.url)), "{}", town.output);

    let (logins, queries) = (logins(&town.output), queries(&town.output));
    assert_eq!(
        logins.iter().map(|login| login[0]).collect::<Vec<_>>(),
        ["user", "moderator", "admin"]
    );
    assert_eq!(queries.len(), 3, "{}", town.output);
    let mut wren = String::new();
    for [role, email, password] in logins {
        let token = town.sign_in(email, password).unwrap();
        let me = town.query(Some(&token), "{ me { roles } }");
        let roles = me["me"]["roles"].as_array().unwrap();
        assert!(roles.iter().any(|known| *known == role), "{email}: {me}");
        for query in &queries {
            let answer = town.query(Some(&token), query);
            let field = answer.as_object().unwrap().values().next().unwrap();
            let items = field.get("items").map(|items| items.as_array().unwrap().len());
            assert!(items.is_none_or(|items| items > 0), "{email}: {query}: {answer}");
        }
        // Each may do what their role permits, and no more.
        let queue = town.ask(Some(&token), "{ listModerationQueue(limit: 1) { nextToken } }");
        assert_eq!(queue["errors"].is_null(), role != "user", "{role}: {queue}");
        let stats = town.ask(Some(&token), "{ stats { users } }");
        assert_eq!(stats["errors"].is_null(), role == "admin", "{role}: {stats}");
        if role == "user" {
            wren = token;
        } else if role == "admin" {
            assert_eq!(stats["data"]["stats"]["users"], 50, "{stats}");
        }
    }
    assert_eq!(
        town.sign_in("wren@example.com", "wren on the chair"),
        Err("UNAUTHENTICATED".into())
    );

    let query = directory.path().join("posts.graphql");
    fs::write(&query, "{ listPopularPosts(limit: 5) { items { content author { nickname } } } }")
        .unwrap();
    let mut xray = command(["xray", "--server", &town.url, "--token", &wren]);
    xray.arg(&query);
    let xray = finish(xray);
    assert_eq!((xray.status, xray.err.as_str()), (0, ""), "{}", xray.out);
    for output in ["operation", "gg_core", " operations ", "USD for a million of these"] {
        assert!(xray.out.contains(output), "{output}: {}", xray.out);
    }

    assert_eq!(town.stop(), Some(0));
    let verified = on(&data, "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
}

#[test]
fn a_town_is_not_built_in_a_directory_with_other_files() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("letter.txt"), "mine").unwrap();
    let run = on(directory.path(), "demo --people 10 --listen 127.0.0.1:0");
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    assert!(run.err.contains("is not empty"), "{}", run.err);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_second_town_does_not_touch_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("town");
    let town = RunningServer::demo(&data, "10");
    let while_it_runs = on(&data, "demo --people 10 --listen 127.0.0.1:0");
    town.sign_in("wren@example.com", "wren at the table").unwrap();
    assert_eq!(town.stop(), Some(0));
    for run in [while_it_runs, on(&data, "demo --people 10 --listen 127.0.0.1:0")] {
        assert_eq!((run.status, run.out.as_str()), (1, ""));
        assert!(run.err.contains("there is already a store"), "{}", run.err);
        assert!(run.err.contains("`roundtable serve --data "), "{}", run.err);
    }
    let again = RunningServer::serve(&data);
    again.sign_in("wren@example.com", "wren at the table").unwrap();
    assert_eq!(again.stop(), Some(0));
}

/// Ctrl-C while the town is built.
#[test]
fn an_unfinished_town_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let (new, empty) = (directory.path().join("new"), directory.path().join("empty"));
    fs::create_dir(&empty).unwrap();
    for data in [&new, &empty] {
        let mut demo = command(["demo", "--people", "100000", "--listen", "127.0.0.1:0", "--data"]);
        demo.arg(data).stdout(Stdio::piped()).stderr(Stdio::piped());
        let demo = demo.spawn().unwrap();
        let started = Instant::now();
        while fs::read_dir(data).map_or(0, Iterator::count) == 0 {
            assert!(started.elapsed() < Duration::from_secs(30), "nothing was begun");
            std::thread::sleep(Duration::from_millis(10));
        }
        let number = demo.id().to_string();
        assert!(Command::new("kill").args(["-INT", &number]).status().unwrap().success());
        let stopped = demo.wait_with_output().unwrap();
        let output = String::from_utf8(stopped.stderr).unwrap();
        assert_eq!((stopped.status.code(), stopped.stdout.len()), (Some(1), 0), "{output}");
        assert!(output.contains("interrupted before the town was finished"), "{output}");
    }
    assert!(!new.exists());
    assert_eq!(fs::read_dir(&empty).unwrap().count(), 0);
}

#[test]
fn an_address_in_use_is_reported_before_the_town_is_built() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = finish(command(["demo", "--people", "100000", "--listen", &address]));
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    assert!(run.err.contains(&format!("cannot listen at {address}")), "{}", run.err);
}
