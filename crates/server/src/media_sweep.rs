//! Sweeps uploads that cannot be completed any more. The stream removes the bytes of each upload when it
//! ends; this finds those that the stream has missed, and those that were sent again afterwards.

use std::sync::Arc;
use std::time::Duration;

use roundtable_domain::MediaStore;
use roundtable_domain::limits::{MUTATION_TIME_MAX, UPLOAD_GRACE};
use roundtable_model::Time;
use roundtable_table::SystemClock;

use crate::shutdown::ShutdownSignal;

const INTERVAL: Duration = Duration::from_hours(1);

/// Sweeps at once and every hour until shutdown. `upload_time` is the time that an upload URL is valid.
pub(crate) async fn run(
    store: Arc<dyn MediaStore>,
    upload_time: Duration,
    shutdown: ShutdownSignal,
) {
    let age_min = upload_time.saturating_add(UPLOAD_GRACE).saturating_add(MUTATION_TIME_MAX);
    loop {
        sweep(&*store, age_min).await;
        if shutdown.unless_triggered(tokio::time::sleep(INTERVAL)).await.is_none() {
            return;
        }
    }
}

async fn sweep(store: &dyn MediaStore, age_min: Duration) {
    // The times of files are those of the system's clock, whatever clock this process has.
    let age_ms = u64::try_from(age_min.as_millis()).unwrap_or(u64::MAX);
    let before = Time::from_ms(Time::now(&SystemClock).ms().saturating_sub(age_ms));
    match store.sweep_uploads(before).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "deleted uploads that were never completed"),
        Err(error) => {
            tracing::warn!(%error, "cannot delete uploads that were never completed; retrying in an hour");
        }
    }
}
