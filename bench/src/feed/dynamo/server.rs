//! A server with DynamoDB's API in this process, behind a proxy that counts requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use roundtable_dynamo::{Config, Dynamo};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

/// A header value of every table request and no stream request.
const MARK: &[u8] = b"DynamoDB_20120810.";

/// A server that runs until its runtime ends.
#[derive(Debug)]
pub(super) struct Server {
    endpoint: String,
    requests: Arc<AtomicU64>,
}

impl Server {
    pub(super) async fn start() -> Result<Self> {
        let [behind, front] =
            [TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?];
        let (address, endpoint) = (behind.local_addr()?, format!("http://{}", front.local_addr()?));
        let database = dynoxide::Database::memory()?;
        tokio::spawn(dynoxide::server::serve_on(behind, database));
        let requests = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((client, _)) = front.accept().await {
                let counted = Arc::clone(&counted);
                tokio::spawn(async move {
                    let server = TcpStream::connect(address).await?;
                    pass_on(client, server, &counted).await
                });
            }
        });
        Ok(Self { endpoint, requests })
    }

    pub(super) fn connect(&self) -> Dynamo {
        Dynamo::connect(Config::local(&self.endpoint))
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

async fn pass_on(client: TcpStream, server: TcpStream, counted: &AtomicU64) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
        (client.into_split(), server.into_split());
    tokio::spawn(async move { copy(&mut from_server, &mut to_client).await });
    // A read may split a mark, so the end of the previous bytes is searched again.
    let (mut buffer, mut kept) = (vec![0; 1 << 16], 0);
    loop {
        let Some(free) = buffer.get_mut(kept..) else { return Ok(()) };
        let read = from_client.read(free).await?;
        if read == 0 {
            return to_server.shutdown().await;
        }
        let filled = kept + read;
        let Some(new) = buffer.get(kept..filled) else { return Ok(()) };
        to_server.write_all(new).await?;
        let Some(bytes) = buffer.get(..filled) else { return Ok(()) };
        let marks = bytes.windows(MARK.len()).filter(|window| *window == MARK).count();
        counted.fetch_add(marks as u64, Ordering::Relaxed);
        // Shorter than a mark, so none counts twice.
        let rest = filled.min(MARK.len() - 1);
        buffer.copy_within(filled - rest..filled, 0);
        kept = rest;
    }
}
