//! The sample town: built, served, signed in to, and in order.

use std::fs;

use crate::binary::{command, finish};
use crate::serving::Running;
use crate::verify::on;

#[test]
fn a_sample_town_can_be_lived_in_and_is_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("town");
    let town = Running::demo(&data, "30");
    for said in
        ["A town of 30 people", "wren@example.com", "moderator", "admin", "listPopularPosts"]
    {
        assert!(town.said.contains(said), "{said}: {}", town.said);
    }
    let wren = town.sign_in("wren@example.com", "wren at the table").unwrap();
    town.sign_in("rowan@example.com", "rowan keeps the peace").unwrap();
    town.sign_in("alder@example.com", "alder holds the keys").unwrap();
    assert_eq!(
        town.sign_in("wren@example.com", "wren on the chair"),
        Err("UNAUTHENTICATED".into())
    );

    let queries: Vec<&str> =
        town.said.lines().map(str::trim).filter(|line| line.contains("items {")).collect();
    assert_eq!(queries.len(), 2, "{}", town.said);
    for query in queries {
        let answer = town.ask(Some(&wren), query);
        assert_eq!(answer["errors"], serde_json::Value::Null, "{query}");
        let lists = answer["data"].as_object().unwrap();
        let items = lists.values().next().unwrap()["items"].as_array().unwrap();
        assert!(!items.is_empty(), "{query}: {answer}");
    }

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
fn a_place_where_somebody_listens_is_told_before_the_town_is_built() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = finish(command(["demo", "--people", "100000", "--listen", &address]));
    assert_eq!((run.status, run.out.as_str()), (1, ""));
    assert!(run.err.contains(&format!("cannot listen at {address}")), "{}", run.err);
}
