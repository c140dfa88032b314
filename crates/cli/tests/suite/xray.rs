//! `xray`, where there is nobody to ask or nothing to learn. The rest is with the sample town.

use std::fs;

use crate::binary::{command, finish};
use crate::serving::Running;

#[test]
fn who_cannot_be_asked_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let query = directory.path().join("query.graphql");
    fs::write(&query, "{ __typename }").unwrap();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (server, said) in [
        (format!("http://{nobody}"), "Connection refused"),
        (String::from("here"), "such as http://127.0.0.1:4000"),
        (String::from("ftp://127.0.0.1"), "such as http://127.0.0.1:4000"),
    ] {
        let mut xray = command(["xray", "--server", &server]);
        xray.arg(&query);
        let run = finish(xray);
        assert_eq!((run.status, run.out.as_str()), (1, ""), "{server}");
        assert!(run.err.contains(&format!("{server}: ")) && run.err.contains(said), "{}", run.err);
    }
    let run = finish(command(["xray", "nowhere.graphql"]));
    assert_eq!(run.status, 1);
    assert!(run.err.contains("nowhere.graphql: "), "{}", run.err);
}

#[test]
fn a_server_that_does_not_tell_is_said_to_and_errors_are_shown() {
    let directory = tempfile::tempdir().unwrap();
    let server = Running::serve(&directory.path().join("data"));
    let ask = |document: &str| {
        let query = directory.path().join("query.graphql");
        fs::write(&query, document).unwrap();
        let mut xray = command(["xray", "--server", &server.url]);
        xray.arg(&query);
        finish(xray)
    };
    let silent = ask("{ __typename }");
    assert_eq!((silent.status, silent.out.as_str()), (1, ""));
    assert!(silent.err.contains("graphql.xray = true"), "{}", silent.err);
    let wrong = ask("{ nothingLikeThis }");
    assert_eq!((wrong.status, wrong.err.as_str()), (1, ""), "{}", wrong.out);
    assert!(wrong.out.contains("nothingLikeThis"), "{}", wrong.out);
}
