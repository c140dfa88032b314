//! HTTP/2 streams whose client never lets the server send.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use h2::client::Builder;
use http::Request;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::connect_from;

/// As many as the server permits on one connection.
pub const STREAMS_PER_CONNECTION: usize = 32;

/// Sends the same GraphQL request on all streams of a connection, and reads none of the answers for so long.
/// Returns whether the server has closed the connection by then.
pub async fn hold_unread(
    own: IpAddr,
    address: SocketAddr,
    body: Bytes,
    held: Duration,
) -> Result<bool> {
    let stream = connect_from(own, address)?;
    stream.set_nonblocking(true)?;
    let mut builder = Builder::new();
    builder.initial_window_size(0);
    let handshake = builder.handshake::<_, Bytes>(TcpStream::from_std(stream)?);
    let (mut client, connection) = timeout(held, handshake).await??;
    let mut connection = tokio::spawn(connection);
    let mut answers = Vec::with_capacity(STREAMS_PER_CONNECTION);
    for _ in 0..STREAMS_PER_CONNECTION {
        // The server may have closed the connection.
        let Ok(Ok(ready)) = timeout(held, client.clone().ready()).await else { break };
        client = ready;
        let request = Request::post(format!("http://{address}/graphql"))
            .header("content-type", "application/json")
            .body(())
            .context("building a request")?;
        let Ok((answer, mut send)) = client.send_request(request, false) else { break };
        if send.send_data(body.clone(), true).is_err() {
            break;
        }
        answers.push(answer);
    }
    // The heads arrive; their bodies cannot.
    let mut heads = tokio::spawn(futures::future::join_all(answers));
    let is_closed = timeout(held, &mut connection).await.is_ok();
    heads.abort();
    let _ = (&mut heads).await;
    connection.abort();
    Ok(is_closed)
}
