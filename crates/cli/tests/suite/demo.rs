//! The sample town: built, served, signed in to, and in order.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::binary::{command, finish};
use crate::serving::Running;
use crate::verify::on;

/// The logins that were printed: role, address and password.
fn logins(said: &str) -> Vec<[&str; 3]> {
    let lines = said.lines().filter_map(|line| line.split_once("  password: "));
    let parts = lines.map(|(who, password)| (who.split_whitespace(), password));
    parts.map(|(mut who, password)| [who.next().unwrap(), who.next().unwrap(), password]).collect()
}

/// The queries that were printed.
fn queries(said: &str) -> Vec<&str> {
    let (_, tried) = said.split_once("\nTry").unwrap();
    tried.lines().filter_map(|line| line.strip_prefix("  ")).collect()
}

#[test]
fn a_sample_town_can_be_lived_in_and_is_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("town");
    let town = Running::demo(&data, "50");
    assert!(town.said.contains("A town of 50 people"), "{}", town.said);
    assert!(town.said.contains(&format!("  GraphQL  {}/graphql\n", town.url)), "{}", town.said);

    let (logins, queries) = (logins(&town.said), queries(&town.said));
    assert_eq!(
        logins.iter().map(|login| login[0]).collect::<Vec<_>>(),
        ["user", "moderator", "admin"]
    );
    assert_eq!(queries.len(), 3, "{}", town.said);
    let mut wren = String::new();
    for [role, email, password] in logins {
        let token = town.sign_in(email, password).unwrap();
        let me = town.told(Some(&token), "{ me { roles } }");
        let roles = me["me"]["roles"].as_array().unwrap();
        assert!(roles.iter().any(|known| *known == role), "{email}: {me}");
        for query in &queries {
            let answer = town.told(Some(&token), query);
            let told = answer.as_object().unwrap().values().next().unwrap();
            let items = told.get("items").map(|items| items.as_array().unwrap().len());
            assert!(items.is_none_or(|items| items > 0), "{email}: {query}: {answer}");
        }
        // Each may do what their role says, and no more.
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
    for said in ["operation", "gg_core", " operations ", "USD for a million of these"] {
        assert!(xray.out.contains(said), "{said}: {}", xray.out);
    }

    assert_eq!(town.stop(), Some(0));
    let verified = on(&data, "verify");
    assert_eq!((verified.status, verified.err.as_str()), (0, ""), "{}", verified.out);
}

#[test]
fn a_town_is_not_built_over_something_else() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("letter.txt"), "mine").unwrap();
    let run = on(directory.path(), "demo --people 10 --listen 127.0.0.1:0");
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    assert!(run.err.contains("it is not empty"), "{}", run.err);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_second_town_leaves_the_first_alone_and_says_how_that_is_served() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("town");
    let town = Running::demo(&data, "10");
    let while_it_runs = on(&data, "demo --people 10 --listen 127.0.0.1:0");
    town.sign_in("wren@example.com", "wren at the table").unwrap();
    assert_eq!(town.stop(), Some(0));
    for run in [while_it_runs, on(&data, "demo --people 10 --listen 127.0.0.1:0")] {
        assert_eq!((run.status, run.out.as_str()), (1, ""));
        assert!(run.err.contains("there is a store already"), "{}", run.err);
        assert!(run.err.contains("`roundtable serve --data "), "{}", run.err);
    }
    let again = Running::serve(&data);
    again.sign_in("wren@example.com", "wren at the table").unwrap();
    assert_eq!(again.stop(), Some(0));
}

/// Ctrl-C while the town is built.
#[test]
fn of_a_town_that_was_not_finished_nothing_is_left() {
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
        let said = String::from_utf8(stopped.stderr).unwrap();
        assert_eq!((stopped.status.code(), stopped.stdout.len()), (Some(1), 0), "{said}");
        assert!(said.contains("stopped before the town was finished"), "{said}");
    }
    assert!(!new.exists());
    assert_eq!(fs::read_dir(&empty).unwrap().count(), 0);
}

#[test]
fn a_place_where_somebody_listens_is_told_before_the_town_is_built() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = finish(command(["demo", "--people", "100000", "--listen", &address]));
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    assert!(run.err.contains(&format!("cannot listen at {address}")), "{}", run.err);
}
