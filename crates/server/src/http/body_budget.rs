//! Collects request bodies within a limit for each and a budget for all, so that no number of
//! connections can exhaust memory.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::configuration::HttpSettings;

/// Bytes of each body that are charged to a separate budget, so that ordinary requests never wait
/// behind long ones.
const PREFIX_BYTES: usize = 16 << 10;
/// The ratio of the main budget to the budget for prefixes.
const MAIN_SHARE: usize = 4;
/// At least this many prefixes fit at the same time, even in a small budget.
const PREFIXES_MIN: usize = 16;
/// Time that the next chunk of a body may wait for budget.
const BUDGET_TIMEOUT: Duration = Duration::from_secs(1);

/// A memory budget for bodies. Received bytes are charged, not the announced length: announcing costs
/// nothing.
#[derive(Clone, Debug)]
pub(super) struct BodyBudget {
    /// In bytes, for all beyond the prefixes.
    main: Arc<Semaphore>,
    main_max: usize,
    /// In bytes, for prefixes.
    prefix: Arc<Semaphore>,
    prefix_max: usize,
    prefix_bytes: usize,
}

/// Bytes charged to the budget until this is dropped.
#[derive(Debug, Default)]
pub(super) struct BodyPermits {
    prefix: Option<OwnedSemaphorePermit>,
    main: Option<OwnedSemaphorePermit>,
}

#[derive(Debug, Default)]
pub(super) struct CollectedBody {
    pub(super) bytes: Vec<u8>,
    pub(super) permits: BodyPermits,
}

/// The reason that a body could not be collected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    /// The body exceeds its own limit.
    TooLong,
    /// All bodies together exceed the budget.
    Overloaded,
    /// The connection ended before the body did.
    Incomplete,
}

impl BodyBudget {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        let main_max = settings.bodies_bytes_max.min(Semaphore::MAX_PERMITS);
        let prefix_max = main_max / MAIN_SHARE;
        let [main, prefix] = [main_max, prefix_max].map(|bytes| Arc::new(Semaphore::new(bytes)));
        let prefix_bytes = PREFIX_BYTES.min(prefix_max / PREFIXES_MIN);
        Self { main, main_max, prefix, prefix_max, prefix_bytes }
    }

    pub(super) fn used(&self) -> usize {
        let (main, prefix) = (self.main.available_permits(), self.prefix.available_permits());
        (self.main_max + self.prefix_max).saturating_sub(main + prefix)
    }

    pub(super) async fn collect(
        &self,
        mut body: Body,
        bytes_max: usize,
    ) -> Result<CollectedBody, BodyError> {
        let mut all = CollectedBody::default();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| BodyError::Incomplete)?;
            let Some(part) = frame.data_ref() else { continue };
            if part.len() > bytes_max.saturating_sub(all.bytes.len()) {
                return Err(BodyError::TooLong);
            }
            let in_prefix = self.prefix_bytes.saturating_sub(all.bytes.len()).min(part.len());
            reserve(&self.prefix, in_prefix, &mut all.permits.prefix).await?;
            reserve(&self.main, part.len() - in_prefix, &mut all.permits.main).await?;
            all.bytes.extend_from_slice(part);
        }
        Ok(all)
    }
}

async fn reserve(
    budget: &Arc<Semaphore>,
    bytes: usize,
    permits: &mut Option<OwnedSemaphorePermit>,
) -> Result<(), BodyError> {
    if bytes == 0 {
        return Ok(());
    }
    let bytes = u32::try_from(bytes).map_err(|_| BodyError::TooLong)?;
    let more = timeout(BUDGET_TIMEOUT, Arc::clone(budget).acquire_many_owned(bytes)).await;
    let more = more.ok().and_then(Result::ok).ok_or(BodyError::Overloaded)?;
    match permits {
        Some(permits) => permits.merge(more),
        None => *permits = Some(more),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(bodies_bytes_max: usize) -> BodyBudget {
        BodyBudget::new(&HttpSettings { bodies_bytes_max, ..HttpSettings::default() })
    }

    #[tokio::test]
    async fn bodies_share_one_budget_and_return_it() {
        let bodies = budget(10);
        let collect = async |text: &'static str| bodies.collect(Body::from(text), 8).await;
        let first = collect("12345678").await.unwrap();
        assert_eq!((first.bytes.as_slice(), bodies.used()), (b"12345678".as_slice(), 8));
        assert_eq!(collect("abc").await.unwrap_err(), BodyError::Overloaded);
        assert_eq!(collect("123456789").await.unwrap_err(), BodyError::TooLong);
        assert_eq!(bodies.used(), 8);
        drop(first);
        assert_eq!(collect("abc").await.unwrap().bytes, b"abc");
        assert_eq!(bodies.used(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_short_body_does_not_wait_behind_long_ones() {
        let bodies = budget(1 << 20);
        let long = bodies.collect(Body::from(vec![b' '; 1 << 20]), 1 << 20).await.unwrap();
        let other = bodies.collect(Body::from(vec![b' '; 1 << 19]), 1 << 20).await;
        assert_eq!(other.unwrap_err(), BodyError::Overloaded);
        assert_eq!(bodies.collect(Body::from("abc"), 8).await.unwrap().bytes, b"abc");
        drop(long);
        assert_eq!(bodies.used(), 0);
    }

    #[tokio::test]
    async fn a_body_waits_a_moment_for_budget() {
        let bodies = budget(10);
        let first = bodies.collect(Body::from("12345678"), 8).await.unwrap();
        let second = bodies.collect(Body::from("abc"), 8);
        let (second, ()) = futures::future::join(second, async { drop(first) }).await;
        assert_eq!(second.unwrap().bytes, b"abc");
    }
}
