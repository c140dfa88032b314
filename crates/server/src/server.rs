//! A server from its start to its end in good order: what listens stops first, what was asked is answered,
//! what works in the background finishes its page, and the store is closed last.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use roundtable_table::{Clock, SystemClock};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::configuration::Configuration;
use crate::http::{self, App};
use crate::keys::KeyError;
use crate::listening::{self, Listening};
use crate::stopping::Stop;
use crate::wiring::{Process, StartError};

/// A server that is ready to run.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    listening: Listening,
    stop: Stop,
    url: String,
}

/// A server that runs, as others in the same process see it.
#[derive(Clone, Debug)]
pub struct Handle(Arc<Process>);

impl Handle {
    /// Begins to sign tokens with a new key at once; what was signed before stays good.
    pub async fn rotate_keys(&self) -> Result<(), KeyError> {
        self.0.keys.rotate().await
    }

    /// Looks after the keys, as happens by itself every minute.
    pub async fn keep_keys(&self) -> Result<(), KeyError> {
        self.0.keys.keep_up().await
    }

    /// What this server answers with.
    pub fn services(&self) -> &roundtable_graphql::Services {
        &self.0.services
    }
}

impl Server {
    /// Opens everything that is configured, and the address to listen at.
    pub async fn open(configuration: Configuration) -> Result<Self, StartError> {
        Self::open_at(configuration, Arc::new(SystemClock)).await
    }

    /// The same, at the time of this clock.
    pub async fn open_at(
        configuration: Configuration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StartError> {
        let http = &configuration.process.http;
        let (address, tls) = (http.listen, listening::acceptor(&http.tls)?);
        let cannot = |error| StartError::Listen { address, error };
        // First, so that a second server on the same machine leaves the store alone.
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let url = url_of(address, tls.is_some());
        let has_address = http.public_url.is_some() || configuration.settings.media.s3.is_some();
        if address.ip().is_unspecified() && !has_address {
            tracing::warn!("http.public-url: none; files are then found at {url}, from here only");
        }
        let opening = Box::pin(Process::open(configuration, clock, &url));
        let process = Arc::new(opening.await?);
        let (stop, stopping) = Stop::new();
        let app = App::new(process, stopping);
        let listening = Listening { router: http::router(app.clone()), app, tls };
        Ok(Self { listener, listening, stop, url })
    }

    /// How it is reached from this machine.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What others in this process may do with it while it runs.
    pub fn handle(&self) -> Handle {
        Handle(Arc::clone(&self.listening.app.process))
    }

    /// Runs until `enough`, and then brings everything to its end.
    pub async fn run(self, enough: impl Future<Output = ()>) {
        let Self { listener, listening, stop, url } = self;
        let process = Arc::clone(&listening.app.process);
        let drain = Duration::from_secs(process.settings.http.drain_seconds);
        process.start(&listening.app.stopping);
        tracing::info!(url, role = %process.settings.role, "listening");
        let wish = async {
            enough.await;
            tracing::info!("stopping");
            stop.wish();
        };
        futures::future::join(wish, listening.run(listener)).await;
        process.background.finish(drain).await;
        // The last of it closes the store, which may take a while.
        let closing = tokio::task::spawn_blocking(move || drop(process));
        if timeout(drain, closing).await.is_err() {
            tracing::warn!("the store was not closed in time; its log is read at the next start");
        }
        tracing::info!("stopped");
    }
}

/// An address that can be opened: everywhere is here, too.
fn url_of(address: SocketAddr, encrypted: bool) -> String {
    let scheme = if encrypted { "https" } else { "http" };
    if address.ip().is_unspecified() {
        return format!("{scheme}://{}:{}", Ipv4Addr::LOCALHOST, address.port());
    }
    format!("{scheme}://{address}")
}
