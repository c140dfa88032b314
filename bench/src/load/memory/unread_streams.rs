//! HTTP/2 streams whose client never lets the server send.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use h2::client::Builder;
use http::Request;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// As many as the server permits on one connection.
const STREAMS: usize = 32;
/// The time for which the streams stay open.
const HELD: Duration = Duration::from_secs(5);

/// Sends the same request on all streams of a connection, and reads none of the answers.
pub(super) fn hold(address: SocketAddr, body: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(hold_all(address, Bytes::from(body.to_owned())))
}

async fn hold_all(address: SocketAddr, body: Bytes) -> Result<()> {
    let stream = TcpStream::connect(address).await?;
    let mut builder = Builder::new();
    builder.initial_window_size(0);
    let (client, connection) = builder.handshake::<_, Bytes>(stream).await?;
    let connection = tokio::spawn(connection);
    let mut answers = Vec::with_capacity(STREAMS);
    let mut client = client.ready().await?;
    for _ in 0..STREAMS {
        let request = Request::post(format!("http://{address}/graphql"))
            .header("content-type", "application/json")
            .body(())
            .context("building a request")?;
        let (answer, mut send) = client.send_request(request, false)?;
        send.send_data(body.clone(), true)?;
        answers.push(answer);
        client = client.ready().await?;
    }
    // The heads arrive; their bodies cannot.
    let held = futures::future::join_all(answers);
    let heads = timeout(HELD, held).await;
    tokio::time::sleep(HELD).await;
    drop(heads);
    connection.abort();
    Ok(())
}
