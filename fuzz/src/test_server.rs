//! A server in this process, with two registered users.

use std::net::SocketAddr;

use roundtable_domain::{Accounts, SignUp};
use roundtable_model::Secret;
use roundtable_server::{Configuration, Server};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// A server that runs until this value is dropped.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    /// The access token of a user.
    pub(crate) token: String,
    stop: Option<oneshot::Sender<()>>,
    runtime: Option<Runtime>,
    _data: TempDir,
}

/// A configuration with low limits.
fn configuration(data: &TempDir) -> Configuration {
    let mut all = Configuration::default();
    all.process.http.listen = ([127, 0, 0, 1], 0).into();
    all.process.http.body_bytes_max = 64 << 10;
    data.path().clone_into(&mut all.process.store.data);
    all.process.live.message_bytes_max = 16 << 10;
    all.process.live.subscriptions_max = 5;
    all.process.graphql.xray = true;
    all.settings.login.hash_memory_kib = 64;
    all.settings.login.hash_passes = 1;
    all.settings.rates.writes_burst = 1_000_000;
    all.settings.rates.writes_per_minute = 1_000_000;
    all
}

impl TestServer {
    pub(crate) fn start() -> Self {
        // In memory if possible: this does not test disks.
        let data = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let (address, token) = runtime.block_on(async {
            let server = Server::open(configuration(&data)).await.unwrap();
            let address = server.url().strip_prefix("http://").unwrap().parse().unwrap();
            let handle = server.handle();
            let accounts = Accounts::new(handle.services().context.clone());
            let mut token = String::new();
            for name in ["bo", "ana"] {
                let sign_up = SignUp {
                    email: format!("{name}@example.org").parse().unwrap(),
                    password: Secret::new("correct horse battery staple"),
                    nickname: name.parse().unwrap(),
                    handle: None,
                    invitation: None,
                    full_name: None,
                    language: None,
                    identity: None,
                };
                let signed_in = accounts.register(&sign_up, None, None).await.unwrap();
                let issued = handle.services().issuer.access_token(&signed_in).await;
                token = issued.map_err(|error| error.code()).unwrap().0;
            }
            tokio::spawn(server.run(async { drop(stopped.await) }));
            (address, token)
        });
        Self { address, token, stop: Some(stop), runtime: Some(runtime), _data: data }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
