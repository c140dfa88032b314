//! Sends one GraphQL request to a server.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Request, Uri, header};
use serde_json::Value;

use crate::error::CommandError;

/// Appended to an address without a path.
const PATH: &str = "/graphql";
/// Asks for the cost.
const XRAY: &str = "x-roundtable-xray";
const TIMEOUT: Duration = Duration::from_mins(1);
const RESPONSE_BYTES_MAX: usize = 64 << 20;

pub(super) async fn send(
    server: &str,
    token: Option<&str>,
    body: &Value,
) -> Result<Value, CommandError> {
    let failed = |reason: String| CommandError::Unreachable { server: server.to_owned(), reason };
    let address = address(server).map_err(failed)?;
    let client = roundtable_server::https_client([address.to_string().as_str()]).map_err(failed)?;
    let mut request = Request::post(address)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .header(XRAY, "1");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.trim()));
    }
    let request = request.body(Full::new(Bytes::from(body.to_string())));
    let request = request.map_err(|error| failed(error.to_string()))?;
    let response_json = async {
        let response =
            client.request(request).await.map_err(|error| failed(innermost_message(&error)))?;
        let (status, body) =
            (response.status(), Limited::new(response.into_body(), RESPONSE_BYTES_MAX));
        let bytes = body.collect().await.map_err(|error| failed(error.to_string()))?.to_bytes();
        serde_json::from_slice(&bytes)
            .map_err(|_| failed(format!("it responded with {status}, and not with JSON")))
    };
    let result = tokio::time::timeout(TIMEOUT, response_json).await;
    result.map_err(|_| failed(format!("no response within {} seconds", TIMEOUT.as_secs())))?
}

fn address(server: &str) -> Result<Uri, String> {
    let address: Uri = server.parse().map_err(|_| String::from("this is not a URL"))?;
    let known = matches!(address.scheme_str(), Some("http" | "https"));
    if !known || address.host().is_none() {
        return Err(String::from("expected an address such as http://127.0.0.1:4000"));
    }
    if address.path() != "/" {
        return Ok(address);
    }
    let with_path = format!("{}{PATH}", server.trim_end_matches('/'));
    with_path.parse().map_err(|_| String::from("this is not a URL"))
}

/// The innermost error: the outermost says only that there was one.
fn innermost_message(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
