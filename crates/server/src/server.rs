//! A server from start to graceful shutdown: it stops accepting connections, answers running requests,
//! lets background tasks finish their page, and closes the store last.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use roundtable_domain_macros::boxed;
use roundtable_table::{Clock, SystemClock, essential};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::configuration::Configuration;
use crate::connections::{self, ConnectionListener};
use crate::descriptors::DescriptorLimit;
use crate::http::{self, AppState};
use crate::keys::KeyError;
use crate::shutdown::ShutdownTrigger;
use crate::wiring::{Process, StartError};

/// A server that is ready to run.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    connections: ConnectionListener,
    trigger: ShutdownTrigger,
    url: String,
}

/// Access to a server from the same process.
#[derive(Clone, Debug)]
pub struct ServerHandle(Arc<Process>);

impl ServerHandle {
    /// Signs tokens with a new key at once; older tokens stay valid.
    pub async fn rotate_keys(&self) -> Result<(), KeyError> {
        self.0.keys.rotate().await
    }

    /// Creates and retires keys when due, as the server does every minute.
    pub async fn maintain_keys(&self) -> Result<(), KeyError> {
        self.0.keys.maintain().await
    }

    /// Ends all background tasks at once, as a crash of the process would; for tests.
    pub fn abort_background_tasks(&self) {
        self.0.background.abort();
    }

    pub fn services(&self) -> &roundtable_interface::Services {
        &self.0.services
    }
}

#[boxed]
impl Server {
    /// Opens everything that is configured and binds the address.
    pub async fn open(configuration: Configuration) -> Result<Self, StartError> {
        Self::open_at(configuration, Arc::new(SystemClock)).await
    }

    /// Opens a server with this clock.
    pub async fn open_at(
        configuration: Configuration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StartError> {
        let descriptors = DescriptorLimit::raise();
        let http = &configuration.process.http;
        let (address, tls) = (http.listen, connections::acceptor(&http.tls)?);
        let listen_error = |error| StartError::Listen { address, error };
        // First, so that a second server on the same machine does not touch the store.
        let listener = TcpListener::bind(address).await.map_err(listen_error)?;
        let address = listener.local_addr().map_err(listen_error)?;
        let url = local_url(address, tls.is_some());
        let has_media_url = http.public_url.is_some() || configuration.settings.media.s3.is_some();
        if address.ip().is_unspecified() && !has_media_url {
            tracing::warn!(
                "http.public-url is not set: media URLs begin with {url}, which works on this machine only"
            );
        }
        // Also on a disk that is nearly full: otherwise a restart would end the service.
        let process = essential(Process::open(configuration, clock, &url)).await?;
        let process = Arc::new(process);
        let (trigger, shutdown) = ShutdownTrigger::new();
        let app = AppState::new(process, shutdown, descriptors)?;
        let router = http::router(app.clone());
        let connections = ConnectionListener { app, router, tls, descriptors };
        Ok(Self { listener, connections, trigger, url })
    }

    /// The URL for clients on this machine.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn handle(&self) -> ServerHandle {
        ServerHandle(Arc::clone(&self.connections.app.process))
    }

    /// Runs until `stop` completes, then shuts down.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listener, connections, trigger, url } = self;
        let process = Arc::clone(&connections.app.process);
        let drain = Duration::from_secs(process.settings.http.drain_seconds);
        process.start(&connections.app.shutdown);
        tracing::info!(url, role = %process.settings.role, "listening");
        let wait_for_stop = async {
            stop.await;
            tracing::info!("stopping");
            trigger.trigger();
        };
        futures::future::join(wait_for_stop, connections.run(listener)).await;
        finish(process, drain).await;
    }
}

/// Waits for background tasks and closes the store.
fn finish(process: Arc<Process>, drain: Duration) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        process.background.finish(drain).await;
        // Drops the last reference, which closes the store.
        let closing = tokio::task::spawn_blocking(move || drop(process));
        if timeout(drain, closing).await.is_err() {
            tracing::warn!("the store was not closed in time; the next start replays its log");
        }
        tracing::info!("stopped");
    })
}

/// A usable URL: an unspecified address becomes the loopback one.
fn local_url(address: SocketAddr, encrypted: bool) -> String {
    let scheme = if encrypted { "https" } else { "http" };
    if address.ip().is_unspecified() {
        return format!("{scheme}://{}:{}", Ipv4Addr::LOCALHOST, address.port());
    }
    format!("{scheme}://{address}")
}
