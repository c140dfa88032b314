//! A service on this machine, which does with its connections as it is told. It speaks just enough HTTP,
//! by itself: what the client thinks of HTTP must not be what checks it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// What a service received.
#[derive(Debug)]
pub(crate) struct Received {
    /// The first line.
    pub(crate) line: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// What a service does with what it received: writes this, and then something else.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    bytes: Vec<u8>,
    then: Then,
}

#[derive(Clone, Copy, Debug)]
enum Then {
    /// Waits for the next request.
    Listen,
    /// Closes the connection.
    Close,
    /// Does nothing, for ever.
    Hang,
}

impl Told {
    /// An answer with a body.
    pub(crate) fn answer(status: &str, kind: &str, body: &str) -> Self {
        let length = body.len();
        let told = Self::raw(format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        ));
        Self { then: Then::Listen, ..told }
    }

    /// What a hook should answer.
    pub(crate) fn json(body: &str) -> Self {
        Self::answer("200 OK", "application/json", body)
    }

    /// These bytes, whatever they are, and no more.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), then: Then::Close }
    }

    /// And then nothing, for ever.
    pub(crate) fn then_hang(self) -> Self {
        Self { then: Then::Hang, ..self }
    }
}

/// A service that listens.
pub(crate) struct Loopback {
    address: SocketAddr,
    received: mpsc::UnboundedReceiver<Received>,
}

impl Loopback {
    /// One that does the same with everything.
    pub(crate) async fn doing(told: Told) -> Self {
        Self::deciding(move |_| told.clone()).await
    }

    /// One that looks at what it received first.
    pub(crate) async fn deciding(
        decide: impl Fn(&Received) -> Told + Send + Sync + 'static,
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

    /// The next thing it received.
    pub(crate) async fn received(&mut self) -> Received {
        self.received.recv().await.unwrap()
    }

    /// Whether it has received nothing that was not asked for yet.
    pub(crate) fn is_idle(&mut self) -> bool {
        self.received.try_recv().is_err()
    }
}

/// Requests on one connection, one after the other.
async fn serve<D: Fn(&Received) -> Told>(
    mut stream: TcpStream,
    send: mpsc::UnboundedSender<Received>,
    decide: Arc<D>,
) {
    // A client that gives up is none of its business.
    while let Some(received) = read(&mut stream).await {
        let told = decide(&received);
        let _ = send.send(received);
        let _ = stream.write_all(&told.bytes).await;
        match told.then {
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
