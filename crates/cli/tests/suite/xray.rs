//! `xray` without a server or without permission. The rest is tested with the sample town.

use std::fs;

use crate::binary::{command, finish};
use crate::serving::RunningServer;

#[test]
fn an_unreachable_server_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let query = directory.path().join("query.graphql");
    fs::write(&query, "{ __typename }").unwrap();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (server, output) in [
        (format!("http://{nobody}"), "Connection refused"),
        (String::from("here"), "such as http://127.0.0.1:4000"),
        (String::from("ftp://127.0.0.1"), "such as http://127.0.0.1:4000"),
    ] {
        let mut xray = command(["xray", "--server", &server]);
        xray.arg(&query);
        let run = finish(xray);
        assert_eq!((run.status, run.out.as_str()), (1, ""), "{server}");
        assert!(
            run.err.contains(&format!("{server}: ")) && run.err.contains(output),
            "{}",
            run.err
        );
    }
    let run = finish(command(["xray", "nowhere.graphql"]));
    assert_eq!(run.status, 1);
    assert!(run.err.contains("nowhere.graphql: "), "{}", run.err);
}

#[test]
fn a_server_without_xray_is_named_and_errors_are_shown() {
    let directory = tempfile::tempdir().unwrap();
    let server = RunningServer::serve(&directory.path().join("data"));
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
