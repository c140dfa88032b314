//! Connections: taken up to a limit, encrypted where that is configured, given up when the other end does
//! not read, and brought to their end when the process stops.

mod greeting;
mod patient;
mod tls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::{Request, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower_service::Service as _;

use self::greeting::Greeting;
use self::patient::Patient;
pub(crate) use self::tls::acceptor;
use crate::http::{App, Peer};
use crate::stopping::Stopping;

/// How long a client may take to say hello.
const HELLO: Duration = Duration::from_secs(10);
/// How long a client may take to send the head of a request, and with it how long a connection of HTTP/1
/// is kept between two: longer than proxies keep theirs, so that they never send into one that closes.
const HEAD: Duration = Duration::from_secs(75);
/// Requests at a time on one connection of HTTP/2.
const STREAMS_MAX: u32 = 32;
/// Before the next try, when the system has no more connections to give.
const PAUSE: Duration = Duration::from_millis(100);
/// How often a quiet connection of HTTP/2 is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Takes connections.
#[derive(Clone)]
pub(crate) struct Listening {
    pub(crate) app: App,
    pub(crate) router: Router,
    pub(crate) tls: Option<tokio_rustls::TlsAcceptor>,
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listening").field("encrypted", &self.tls.is_some()).finish_non_exhaustive()
    }
}

impl Listening {
    /// Takes connections until it is told to stop, and then lets those come to their end that are open.
    pub(crate) async fn run(self, listener: TcpListener) {
        let settings = &self.app.process.settings.http;
        let (stopping, room) = (self.app.stopping.clone(), settings.connections_max.max(1));
        let room = Arc::new(Semaphore::new(room));
        let mut connections = JoinSet::new();
        while let Some(next) = stopping.unless(next(&listener, &room)).await {
            while connections.try_join_next().is_some() {}
            let Some((stream, peer, place)) = next else { continue };
            let listening = self.clone();
            connections.spawn(async move {
                let _held = listening.app.meters.connection();
                listening.connection(stream, peer).await;
                drop(place);
            });
        }
        drop(listener);
        let drain = Duration::from_secs(settings.drain_seconds);
        let open = async { while connections.join_next().await.is_some() {} };
        if timeout(drain, open).await.is_err() {
            tracing::warn!("some requests were not finished in time");
            connections.shutdown().await;
        }
        // What became a WebSocket is no connection of ours any more.
        let listeners = async {
            while self.app.meters.listeners() > 0 {
                tokio::time::sleep(PAUSE).await;
            }
        };
        let _ = timeout(drain, listeners).await;
    }

    async fn connection(&self, stream: TcpStream, peer: SocketAddr) {
        // Answers are written whole: waiting for more to send with them only costs time.
        let _ = stream.set_nodelay(true);
        let slow = Duration::from_secs(self.app.process.settings.live.slow_seconds.max(1));
        let stream = Patient::new(stream, slow);
        match &self.tls {
            None => self.serve(stream, peer).await,
            Some(tls) => match timeout(HELLO, tls.accept(stream)).await {
                Ok(Ok(stream)) => self.serve(stream, peer).await,
                Ok(Err(error)) => tracing::debug!(%error, "no encryption came about"),
                Err(_) => tracing::debug!("no encryption came about in time"),
            },
        }
    }

    async fn serve<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
        &self,
        stream: S,
        peer: SocketAddr,
    ) {
        let stream = Greeting::new(stream, HELLO);
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(KEEPALIVE)
            .max_concurrent_streams(STREAMS_MAX);
        let router = self.router.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            router.clone().call(request)
        });
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let stopping: Stopping = self.app.stopping.clone();
        let done = tokio::select! {
            done = connection.as_mut() => done,
            () = stopping.wished() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = done {
            tracing::debug!(error, "a connection broke off");
        }
    }
}

/// The next connection, when there is room for one; `None` if it went away at once.
async fn next(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, place)),
        Err(error) => {
            tracing::warn!(%error, "a connection could not be taken");
            tokio::time::sleep(PAUSE).await;
            None
        }
    }
}
