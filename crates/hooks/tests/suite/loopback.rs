//! A service on this machine with scripted behaviour. It parses HTTP itself, so that the client's
//! library does not check itself.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

#[derive(Debug)]
pub(crate) struct Received {
    /// The request line.
    pub(crate) line: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// A scripted reaction: bytes to write, and what to do then.
#[derive(Clone, Debug)]
pub(crate) struct Reaction {
    bytes: Vec<u8>,
    then: Then,
}

#[derive(Clone, Copy, Debug)]
enum Then {
    Listen,
    Close,
    Hang,
}

impl Reaction {
    pub(crate) fn answer(status: &str, kind: &str, body: &str) -> Self {
        let length = body.len();
        let reaction = Self::raw(format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        ));
        Self { then: Then::Listen, ..reaction }
    }

    pub(crate) fn json(body: &str) -> Self {
        Self::answer("200 OK", "application/json", body)
    }

    /// Writes these bytes and closes the connection.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), then: Then::Close }
    }

    pub(crate) fn then_hang(self) -> Self {
        Self { then: Then::Hang, ..self }
    }
}

pub(crate) struct Loopback {
    address: SocketAddr,
    received: mpsc::UnboundedReceiver<Received>,
}

impl Loopback {
    /// A service that reacts to every request alike.
    pub(crate) async fn doing(reaction: Reaction) -> Self {
        Self::deciding(move |_| reaction.clone()).await
    }

    /// A service that chooses its reaction by the request.
    pub(crate) async fn deciding(
        decide: impl Fn(&Received) -> Reaction + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (send, received) = mpsc::unbounded_channel();
        let decide = Arc::new(decide);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, send.clone(), Arc::clone(&decide)));
            }
        });
        Self { address, received }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/judge?of=posts", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) async fn received(&mut self) -> Received {
        self.received.recv().await.unwrap()
    }

    /// Returns whether every request has been taken by `received`.
    pub(crate) fn is_idle(&mut self) -> bool {
        self.received.try_recv().is_err()
    }
}

async fn serve<D: Fn(&Received) -> Reaction>(
    mut stream: TcpStream,
    send: mpsc::UnboundedSender<Received>,
    decide: Arc<D>,
) {
    // A client may give up.
    while let Some(received) = read(&mut stream).await {
        let reaction = decide(&received);
        let _ = send.send(received);
        let _ = stream.write_all(&reaction.bytes).await;
        match reaction.then {
            Then::Listen => {}
            Then::Close => return,
            Then::Hang => std::future::pending().await,
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let mut lines = head.split("\r\n");
            let line = lines.next().unwrap().to_owned();
            let header = |line: &str| {
                let (name, value) = line.split_once(": ").unwrap();
                (name.to_lowercase(), value.to_owned())
            };
            let headers: BTreeMap<_, _> = lines.map(header).collect();
            let length: usize = headers["content-length"].parse().unwrap();
            let mut body = bytes.split_off(end + 4);
            let missing = length - body.len();
            let mut rest = vec![0; missing];
            stream.read_exact(&mut rest).await.ok()?;
            body.append(&mut rest);
            return Some(Received { line, headers, body });
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
