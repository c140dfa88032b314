//! Sources of live events: reading and waiting are separate, so that callers can schedule the reads.

use futures::future::BoxFuture;

/// The events of one subscription.
pub trait LiveSource: Send {
    type Event: Send;
    type Error: Send;

    /// Reads the next event as the subscriber may see it now; `None` if there is none yet.
    fn read(&mut self) -> BoxFuture<'_, Result<Option<Self::Event>, Self::Error>>;

    /// Waits, after a read without an event, until there may be one. Reads nothing.
    fn changed(&mut self) -> BoxFuture<'_, ()>;

    /// Waits for the next event.
    fn next(&mut self) -> BoxFuture<'_, Result<Self::Event, Self::Error>> {
        Box::pin(async move {
            loop {
                if let Some(event) = self.read().await? {
                    return Ok(event);
                }
                self.changed().await;
            }
        })
    }
}
