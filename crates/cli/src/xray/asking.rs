//! Asks a server over HTTP, once.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Request, Uri, header};
use serde_json::Value;

use crate::failure::Failure;

/// Where queries are asked, unless the address says otherwise.
const PATH: &str = "/graphql";
/// Asks for the cost.
const XRAY: &str = "x-roundtable-xray";
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// Bytes of an answer.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// The answer to a query.
pub(super) async fn ask(server: &str, token: Option<&str>, body: &Value) -> Result<Value, Failure> {
    let failed = |why: String| Failure::Unreachable { server: server.to_owned(), why };
    let address = address(server).map_err(failed)?;
    let client = roundtable_server::client([address.to_string().as_str()]).map_err(failed)?;
    let mut request = Request::post(address)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .header(XRAY, "1");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.trim()));
    }
    let request = request.body(Full::new(Bytes::from(body.to_string())));
    let request = request.map_err(|error| failed(error.to_string()))?;
    let answered = async {
        let response = client.request(request).await.map_err(|error| failed(told(&error)))?;
        let (status, body) =
            (response.status(), Limited::new(response.into_body(), ANSWER_BYTES_MAX));
        let bytes = body.collect().await.map_err(|error| failed(error.to_string()))?.to_bytes();
        serde_json::from_slice(&bytes)
            .map_err(|_| failed(format!("it answered {status}, and that in no JSON")))
    };
    let waited = tokio::time::timeout(PATIENCE, answered).await;
    waited.map_err(|_| failed(format!("no answer within {} seconds", PATIENCE.as_secs())))?
}

fn address(server: &str) -> Result<Uri, String> {
    let address: Uri = server.parse().map_err(|_| String::from("this is no URL"))?;
    let known = matches!(address.scheme_str(), Some("http" | "https"));
    if !known || address.host().is_none() {
        return Err(String::from("expected an address such as http://127.0.0.1:4000"));
    }
    if address.path() != "/" {
        return Ok(address);
    }
    let with_path = format!("{}{PATH}", server.trim_end_matches('/'));
    with_path.parse().map_err(|_| String::from("this is no URL"))
}

/// What is at the bottom of it: the outermost error only says that there is one.
fn told(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
