//! TCP connections: limited in number, optionally encrypted, dropped when the peer does not read or does
//! nothing, and drained at shutdown.

mod accept;
mod handshake_timeout;
mod limited_stream;
mod open_connection;
mod received_bytes;
mod tls;

use std::time::Duration;

use axum::Router;
use futures::future::BoxFuture;
use hyper::body::Incoming;
use hyper::{Request, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower_service::Service as _;

use self::accept::ConnectionAcceptor;
use self::handshake_timeout::HandshakeTimeout;
use self::limited_stream::LimitedStream;
pub(crate) use self::open_connection::OpenConnection;
use self::received_bytes::{HEAD_BYTES_MAX, HTTP2_WINDOW_BYTES};
pub(crate) use self::received_bytes::{NoRoomToReceive, ReceiveBudget};
pub(crate) use self::tls::acceptor;
use crate::descriptors::DescriptorLimit;
use crate::http::{AppState, StallSignal};
use crate::metrics::DropReason;
use crate::shutdown::ShutdownSignal;

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Concurrent requests on one HTTP/2 connection.
const HTTP2_STREAMS_MAX: u32 = 32;
/// Before the next look at how many live connections are left at shutdown.
const DRAIN_INTERVAL: Duration = Duration::from_millis(100);
const HTTP2_KEEPALIVE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct ConnectionListener {
    pub(crate) app: AppState,
    pub(crate) router: Router,
    pub(crate) tls: Option<tokio_rustls::TlsAcceptor>,
    pub(crate) descriptors: DescriptorLimit,
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
        let (settings, shutdown) = (&self.app.process.settings.http, self.app.shutdown.clone());
        let mut acceptor = ConnectionAcceptor::new(listener, self.app.clone(), self.descriptors);
        let mut connections = JoinSet::new();
        while let Some(accepted) = shutdown.unless_triggered(acceptor.next()).await {
            while connections.try_join_next().is_some() {}
            let Some((stream, connection)) = accepted else { break };
            let this = self.clone();
            connections.spawn(async move {
                let _guard = this.app.metrics.track_connection();
                tokio::select! {
                    () = this.handle(stream, &connection) => {}
                    () = connection.displaced() => {
                        this.app.metrics.record_dropped_connection(DropReason::Displaced);
                    }
                }
            });
        }
        drop(acceptor);
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
                tokio::time::sleep(DRAIN_INTERVAL).await;
            }
        };
        let _ = timeout(drain, live).await;
    }

    async fn handle(&self, stream: TcpStream, connection: &OpenConnection) {
        // Responses are written whole: waiting for more data only adds latency.
        let _ = stream.set_nodelay(true);
        let received = connection.received().clone();
        let stream = LimitedStream::new(stream, self.slow_limit(), received);
        match &self.tls {
            None => self.serve(stream, connection).await,
            Some(tls) => match timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
                Ok(Ok(stream)) => self.serve(stream, connection).await,
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
        open: &OpenConnection,
    ) {
        let stream = HandshakeTimeout::new(stream, HANDSHAKE_TIMEOUT);
        let idle_limit = Duration::from_secs(self.app.process.settings.http.idle_seconds.max(1));
        let (router, stall) = (self.router.clone(), StallSignal::default());
        let (of_request, raise_stall) = (open.clone(), stall.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(of_request.clone());
            request.extensions_mut().insert(raise_stall.clone());
            router.clone().call(request)
        });
        let builder = protocols(idle_limit);
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let shutdown: ShutdownSignal = self.app.shutdown.clone();
        let end = async {
            tokio::select! {
                () = stall.raised() => self.app.metrics.record_slow_client(),
                () = open.idle(idle_limit) => {}
            }
        };
        let result = tokio::select! {
            result = connection.as_mut() => result,
            () = shutdown.triggered() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
            () = end => {
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

/// HTTP/1 and HTTP/2, with limits on what one connection may receive unasked.
fn protocols(idle_limit: Duration) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(idle_limit)
        .max_buf_size(HEAD_BYTES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(HTTP2_KEEPALIVE)
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).unwrap_or(u32::MAX))
        .initial_stream_window_size(u32::try_from(HTTP2_WINDOW_BYTES).unwrap_or(u32::MAX))
        .initial_connection_window_size(u32::try_from(HTTP2_WINDOW_BYTES).unwrap_or(u32::MAX));
    builder
}
