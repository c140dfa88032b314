//! Requests that a page of another site makes a user's browser send.

use anyhow::{Result, ensure};
use serde_json::json;

use super::AttackCase;
use super::scene::{AttackScene, STRANGERS};

pub(super) const CASES: &[AttackCase] = &[AttackCase {
    name: "cross-site",
    expected: "a browser sends nothing for another site that changes anything, and shows it no answer",
    run: send_for_another_site,
}];

const ORIGIN: &str = "origin: https://evil.example\r\n";

fn send_for_another_site(scene: &AttackScene<'_>) -> Result<String> {
    let body = json!({ "query": "mutation { logout }" }).to_string();
    // Those that a form or a script may send without asking the server before.
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    {
        let head = format!("POST /graphql HTTP/1.1\r\n{ORIGIN}content-type: {kind}\r\n");
        let response = send(scene, &head, &body)?;
        ensure!(response.starts_with("HTTP/1.1 415"), "{kind}: {response}");
    }
    let link = "GET /graphql?query=mutation%7Blogout(everywhere:true)%7D HTTP/1.1\r\n";
    let response = send(scene, &format!("{link}{ORIGIN}"), "")?;
    ensure!(response.contains("mutations need a POST"), "{response}");
    let preflight = format!(
        "OPTIONS /graphql HTTP/1.1\r\n{ORIGIN}access-control-request-method: POST\r\n\
         access-control-request-headers: authorization,content-type\r\n"
    );
    let query = format!("POST /graphql HTTP/1.1\r\n{ORIGIN}content-type: application/json\r\n");
    for (head, body) in [(&preflight, ""), (&query, r#"{"query":"{ me { email } }"}"#)] {
        let response = send(scene, head, body)?.to_ascii_lowercase();
        ensure!(!response.contains("access-control-allow-origin"), "{response}");
        ensure!(
            !response.contains("set-cookie"),
            "there is nothing that a browser sends by itself"
        );
    }
    Ok(String::from("3 kinds of bodies and a link were refused, and 2 answers are not shown"))
}

fn send(scene: &AttackScene<'_>, head: &str, body: &str) -> Result<String> {
    let (address, length) = (scene.server.address, body.len());
    let rest = format!("host: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    scene.send_raw(STRANGERS[0], format!("{head}{rest}{body}").as_bytes())
}
