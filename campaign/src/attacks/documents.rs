//! Documents that ask for as much as they may, and for more.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use roundtable_test_client::graphql;
use serde_json::{Value, json};

use super::AttackCase;
use super::answer::AttackAnswer;
use super::scene::{AttackScene, STRANGERS};
use super::strangers::{describe, flood};

pub(super) const CASES: &[AttackCase] = &[
    AttackCase {
        name: "aliases-and-batches",
        expected: "documents of 50 aliases, batches and nested lists take no one's turn but their sender's",
        run: ask_for_much,
    },
    AttackCase {
        name: "oversized-documents",
        expected: "what is over a limit is refused before anything is read, with a short answer",
        run: ask_for_too_much,
    },
    AttackCase {
        name: "hostile-introspection",
        expected: "deep introspection is refused, and what is allowed delays no reader",
        run: introspect,
    },
];

/// As many as a document may have.
const ALIASES: usize = 50;
/// Requests of one batch.
const BATCH: usize = 10;
/// The longest answer of a refused request.
const REFUSAL_BYTES_MAX: usize = 8_000;

/// Returns a document that has the long posts of an author so many times.
pub(super) fn posts_by_aliases(author: &str, aliases: usize) -> String {
    let mut again = String::new();
    for number in 0..aliases {
        // Writing to a text never fails.
        let _ = write!(again, "c{number}: content ");
    }
    format!("{{ getUser(id: \"{author}\") {{ posts(first: 100) {{ items {{ {again} }} }} }} }}")
}

fn ask_for_much(scene: &AttackScene<'_>) -> Result<String> {
    let (address, writer) = (scene.server.address, &scene.writer.id);
    let many = posts_by_aliases(writer, ALIASES);
    let short = |number: usize| {
        format!(
            "p{number}: getUser(id: \"{writer}\") {{ posts(first: 20) {{ items {{ id author {{ nickname }} }} }} }} "
        )
    };
    let users: String = (0..ALIASES - 1).map(short).collect();
    let nested = format!(
        "{{ getUser(id: \"{writer}\") {{ posts(first: 100) {{ items {{ author {{ posts(first: 60) {{ \
         items {{ content author {{ nickname }} }} }} }} }} }} }} }}"
    );
    let one = json!({ "query": posts_by_aliases(writer, 10) });
    let batch = json!(vec![one; BATCH]).to_string();
    let of_document = |document: &str| graphql(address, None, document, &json!({}));
    let requests = [
        of_document(&many),
        of_document(&format!("{{ {users} }}")),
        of_document(&nested),
        post(scene, &batch),
    ];
    describe(&flood(scene, &requests))
}

fn ask_for_too_much(scene: &AttackScene<'_>) -> Result<String> {
    const VALUES: usize = 300_000;
    let writer = &scene.writer.id;
    let body = |query: &str| json!({ "query": query }).to_string();
    let alias = |number: usize| format!("a{number}: me {{ id }} ");
    let aliases = |count: usize| (0..count).map(alias).collect::<String>();
    let deep = "{ me { followers { items { follower ".repeat(20) + &"} } } }".repeat(20);
    let cycle = "query { ...a } fragment a on Query { ...b } fragment b on Query { ...a }";
    let values = format!("[{}1]", "1,".repeat(VALUES));
    let refused = [
        ("51 aliases", body(&format!("{{ {} }}", aliases(ALIASES + 1)))),
        ("10,000 aliases", body(&format!("{{ {} }}", aliases(10_000)))),
        ("a batch of 11", json!(vec![json!({ "query": "{ me { id } }" }); BATCH + 1]).to_string()),
        ("deep", body(&deep)),
        ("nested", body(&"{a".repeat(50_000))),
        ("tokens", body(&format!("{{ {} }}", "me ".repeat(6_000)))),
        ("directives", body(&format!("{{ me {{ id {} }} }}", "@skip(if: false) ".repeat(60)))),
        ("a cycle of fragments", body(cycle)),
        (
            "a page of a million",
            body(&format!(
                "{{ listUserPosts(userId: \"{writer}\", first: 1000000) {{ nextToken }} }}"
            )),
        ),
        (
            "JSON values",
            format!("{{\"query\":\"{{ __typename }}\",\"variables\":{{\"a\":{values}}}}}"),
        ),
        ("deep JSON", format!("{{\"query\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000))),
        (
            "a long string",
            body(&format!(
                "{{ getUserByNickname(nickname: \"{}\") {{ id }} }}",
                "x".repeat(900_000)
            )),
        ),
    ];
    for (what, body) in &refused {
        let answer = send(scene, body).with_context(|| (*what).to_owned())?;
        let first = if answer.body.is_array() {
            let first = answer.at("/0").clone();
            AttackAnswer { body: first, ..answer }
        } else {
            answer
        };
        first.require_refusal(what, &["TOO_COMPLEX", "BAD_REQUEST"])?;
        let bytes = first.body.to_string().len();
        ensure!(bytes <= REFUSAL_BYTES_MAX, "{what}: an answer of {bytes} bytes");
    }
    let large = format!("{{\"query\":\"{{ __typename }}{}\"}}", " ".repeat(2 << 20));
    let response = scene.send_raw(STRANGERS[2], &post(scene, &large))?;
    ensure!(response.is_empty() || response.starts_with("HTTP/1.1 413"), "2 MiB: {response}");
    Ok(format!("{} documents and bodies were refused", refused.len() + 1))
}

fn introspect(scene: &AttackScene<'_>) -> Result<String> {
    let deep = |times: usize, open: &str| {
        let opening = open.repeat(times);
        let closing = "}".repeat(opening.matches('{').count());
        format!("{{ __schema {{ types {{ {opening} name {closing} }} }} }}")
    };
    for (levels, open) in
        [(3, "fields { type { "), (1_000, "ofType { "), (6, "fields { args { type { ")]
    {
        let body = json!({ "query": deep(levels, open) }).to_string();
        send(scene, &body)?.require_refusal("deep introspection", &["TOO_COMPLEX"])?;
    }
    let whole = "{ __schema { types { kind name description fields(includeDeprecated: true) { name \
        description type { kind name ofType { kind name ofType { kind name } } } } inputFields { name } \
        enumValues { name } possibleTypes { name } } directives { name locations } } }";
    let allowed = send(scene, &json!({ "query": whole }).to_string())?;
    allowed.require_success("introspection of the whole schema")?;
    let request = graphql(scene.server.address, None, whole, &json!({}));
    describe(&flood(scene, &[request]))
}

/// Returns the bytes of a request with a body.
pub(super) fn post(scene: &AttackScene<'_>, body: &str) -> Vec<u8> {
    let (address, length) = (scene.server.address, body.len());
    format!(
        "POST /graphql HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Sends a body, and returns the answer.
fn send(scene: &AttackScene<'_>, body: &str) -> Result<AttackAnswer> {
    let request = String::from_utf8(post(scene, body))?;
    let request = request.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1);
    let response = scene.send_raw(STRANGERS[3], request.as_bytes())?;
    let (head, body) = response.split_once("\r\n\r\n").context("no response")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let answer = AttackAnswer::new(status.context("no status")?, body.as_bytes());
    ensure!(!matches!(answer.body, Value::String(_)), "not JSON: {answer}");
    Ok(answer)
}
