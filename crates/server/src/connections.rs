//! TCP connections: limited in number, optionally encrypted, dropped when the peer does not read, and
//! drained at shutdown.

mod handshake_timeout;
mod tls;
mod write_timeout;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use futures::future::BoxFuture;
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

use self::handshake_timeout::HandshakeTimeout;
pub(crate) use self::tls::acceptor;
use self::write_timeout::WriteTimeout;
use crate::http::{AppState, PeerAddress, StallSignal};
use crate::shutdown::ShutdownSignal;

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time to send the head of a request, and so the idle time of an HTTP/1 connection. Longer than
/// proxies keep theirs, so that they never send into one that is closing.
const HEADER_TIMEOUT: Duration = Duration::from_secs(75);
/// Concurrent requests on one HTTP/2 connection.
const HTTP2_STREAMS_MAX: u32 = 32;
/// Before the next `accept`, when the system is out of connections.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
const HTTP2_KEEPALIVE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct ConnectionListener {
    pub(crate) app: AppState,
    pub(crate) router: Router,
    pub(crate) tls: Option<tokio_rustls::TlsAcceptor>,
}

impl std::fmt::Debug for ConnectionListener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectionListener")
            .field("encrypted", &self.tls.is_some())
            .finish_non_exhaustive()
    }
}

impl ConnectionListener {
    /// Accepts connections until shutdown, then drains those that are open. The future is boxed so that
    /// callers in other crates do not compile it again.
    pub(crate) fn run(self, listener: TcpListener) -> BoxFuture<'static, ()> {
        Box::pin(self.accept_until_shutdown(listener))
    }

    async fn accept_until_shutdown(self, listener: TcpListener) {
        let settings = &self.app.process.settings.http;
        let (shutdown, permits) = (self.app.shutdown.clone(), settings.connections_max.max(1));
        let permits = Arc::new(Semaphore::new(permits));
        let mut connections = JoinSet::new();
        while let Some(accepted) = shutdown.unless_triggered(accept(&listener, &permits)).await {
            while connections.try_join_next().is_some() {}
            let Some((stream, peer, permit)) = accepted else { continue };
            let this = self.clone();
            connections.spawn(async move {
                let _guard = this.app.metrics.track_connection();
                this.handle(stream, peer).await;
                drop(permit);
            });
        }
        drop(listener);
        let drain = Duration::from_secs(settings.drain_seconds);
        let open = async { while connections.join_next().await.is_some() {} };
        if timeout(drain, open).await.is_err() {
            tracing::warn!(
                "some requests did not finish within http.drain-seconds and were aborted"
            );
            connections.shutdown().await;
        }
        // A connection that became a WebSocket is no longer in the set.
        let live = async {
            while self.app.metrics.live_connections() > 0 {
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        };
        let _ = timeout(drain, live).await;
    }

    async fn handle(&self, stream: TcpStream, peer: SocketAddr) {
        // Responses are written whole: waiting for more data only adds latency.
        let _ = stream.set_nodelay(true);
        let stream = WriteTimeout::new(stream, self.slow_limit());
        match &self.tls {
            None => self.serve(stream, peer).await,
            Some(tls) => match timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
                Ok(Ok(stream)) => self.serve(stream, peer).await,
                Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                Err(_) => tracing::debug!("a TLS handshake took too long"),
            },
        }
    }

    /// The time that a client may leave an answer unread.
    fn slow_limit(&self) -> Duration {
        Duration::from_secs(self.app.process.settings.live.slow_seconds.max(1))
    }

    async fn serve<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
        &self,
        stream: S,
        peer: SocketAddr,
    ) {
        let stream = HandshakeTimeout::new(stream, HANDSHAKE_TIMEOUT);
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(HTTP2_KEEPALIVE)
            .max_concurrent_streams(HTTP2_STREAMS_MAX);
        let (router, stall) = (self.router.clone(), StallSignal::default());
        let raise_stall = stall.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(PeerAddress(peer));
            request.extensions_mut().insert(raise_stall.clone());
            router.clone().call(request)
        });
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let shutdown: ShutdownSignal = self.app.shutdown.clone();
        let result = tokio::select! {
            result = connection.as_mut() => result,
            () = shutdown.triggered() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
            () = stall.raised() => {
                self.app.metrics.record_slow_client();
                // A proxy may carry other clients on it: what they have under way may end. Then it is
                // dropped, and with it all that was not taken.
                connection.as_mut().graceful_shutdown();
                timeout(self.slow_limit(), connection).await.unwrap_or(Ok(()))
            }
        };
        if let Err(error) = result {
            tracing::debug!(error, "a connection ended with an error");
        }
    }
}

/// The next connection, when the limit permits; `None` if it failed.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, permit)),
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted; retrying (check the limit on open files)");
            tokio::time::sleep(ACCEPT_RETRY).await;
            None
        }
    }
}
