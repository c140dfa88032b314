//! A server of DynamoDB's API in this process.

use std::sync::Arc;
use std::time::Duration;

use roundtable_model::table::{Clock, ManualClock};

/// Starts one with this clock, and returns its address.
pub(crate) fn serve(clock: &Arc<ManualClock>) -> String {
    let (send, receive) = std::sync::mpsc::channel();
    let time = Arc::new(ServerTime(clock.clone()));
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            send.send(listener.local_addr().unwrap()).unwrap();
            let database = dynoxide::Database::memory_with_clock(time).unwrap();
            dynoxide::server::serve_on(listener, database).await;
        });
    });
    format!("http://{}", receive.recv().unwrap())
}

/// The history's clock for the server.
struct ServerTime(Arc<ManualClock>);

impl dynoxide::storage_backend::Clock for ServerTime {
    fn now_unix_secs(&self) -> u64 {
        self.0.now_seconds()
    }

    fn now_unix_secs_f64(&self) -> f64 {
        Duration::from_millis(self.0.now_ms()).as_secs_f64()
    }
}
