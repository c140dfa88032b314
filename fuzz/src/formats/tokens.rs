//! Fuzzes access tokens: none but the issued one signs anybody in.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;

use super::edits::edit;
use crate::choices::ByteChoices;
use crate::response_checks::hash;
use crate::runner::Coverage;
use crate::test_server::TestServer;

const TIMEOUT: Duration = Duration::from_mins(1);
/// Algorithms that a forger may name.
const ALGORITHMS: [&str; 5] = ["none", "HS256", "RS256", "ES256", "RS512"];

thread_local! {
    static SERVER: RefCell<Option<TestServer>> = const { RefCell::new(None) };
}

/// Changes the issued token and sends it. Panics on a finding.
pub fn tokens(bytes: &[u8]) -> Coverage {
    SERVER.with_borrow_mut(|server| {
        let server = server.get_or_insert_with(TestServer::start);
        let issued = server.token.clone();
        let forged = forge(&issued, &mut ByteChoices(bytes));
        let reply = ask(server, &forged);
        let is_signed_in = reply.contains("\"nickname\":\"ana\"");
        assert_eq!(is_signed_in, forged == issued, "{forged}\n{reply}");
        let code = reply.split("\"code\":\"").nth(1).and_then(|rest| rest.split('"').next());
        let status = reply.get(..12).unwrap_or_default();
        let shape = forged.matches('.').count();
        Coverage::from([hash(&format!("{status} {code:?} {shape} {}", forged.len() / 16))])
    })
}

/// Changes a part of a token, or what is encoded in it.
fn forge(issued: &str, choices: &mut ByteChoices<'_>) -> String {
    let mut parts: Vec<String> = issued.split('.').map(str::to_owned).collect();
    let number = choices.pick(parts.len());
    match choices.pick(4) {
        0 => {
            let mut decoded = BASE64URL_NOPAD.decode(parts[number].as_bytes()).unwrap();
            edit(&mut decoded, choices);
            parts[number] = BASE64URL_NOPAD.encode(&decoded);
        }
        1 => {
            let header = BASE64URL_NOPAD.decode(parts[0].as_bytes()).unwrap();
            let header = String::from_utf8(header).unwrap();
            let forged = header.replace("RS256", choices.choose::<&str>(&ALGORITHMS));
            parts[0] = BASE64URL_NOPAD.encode(forged.as_bytes());
            if choices.once_in(2) {
                parts[2].clear();
            }
        }
        2 => drop(parts.remove(number)),
        _ => {
            let mut text = issued.as_bytes().to_vec();
            edit(&mut text, choices);
            // What would end the header is another input of the target `bodies`.
            text.retain(u8::is_ascii_graphic);
            return String::from_utf8(text).unwrap();
        }
    }
    parts.join(".")
}

fn ask(server: &TestServer, token: &str) -> String {
    let body = r#"{"query":"{ me { nickname } }"}"#;
    let request = format!(
        "POST /graphql HTTP/1.1\r\nhost: fuzz\r\nconnection: close\r\n\
         content-type: application/json\r\nauthorization: Bearer {token}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let _ = stream.shutdown(Shutdown::Write);
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    String::from_utf8_lossy(&reply).into_owned()
}
