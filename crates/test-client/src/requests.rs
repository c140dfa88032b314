//! The bytes of requests.

use std::net::SocketAddr;

use serde_json::{Value, json};

/// Returns the bytes of a `GET` request.
pub fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").into_bytes()
}

/// Returns the bytes of a GraphQL request, signed in with a token.
pub fn graphql(
    address: SocketAddr,
    token: Option<&str>,
    document: &str,
    variables: &Value,
) -> Vec<u8> {
    let body = json!({ "query": document, "variables": variables }).to_string();
    let length = body.len();
    let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: {address}\r\n{token}content-type: application/json\r\n\
         accept: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.into_bytes(), body.into_bytes()].concat()
}
