//! Collects request bodies within a limit for each, a share for each client and a budget for all, so
//! that no number of connections can exhaust memory, and no client can shut out the others.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use roundtable_interface::ClientInfo;
use tokio::time::timeout;

use super::byte_pool::{BytePool, PoolBytes};
use super::client_json::VALUE_BYTES;
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
    /// For all beyond the prefixes.
    main: BytePool,
    prefix: BytePool,
    prefix_bytes: usize,
}

/// Bytes charged to the budget until this is dropped.
#[derive(Debug)]
pub(super) struct BodyPermits {
    prefix: PoolBytes,
    main: PoolBytes,
    prefix_bytes: usize,
}

#[derive(Debug)]
pub(super) struct CollectedBody {
    pub(super) bytes: Vec<u8>,
    pub(super) permits: BodyPermits,
}

/// The reason that a body could not be collected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    /// The body exceeds its own limit.
    TooLong,
    /// The bodies of its client, or all bodies together, exceed the budget.
    Overloaded,
    /// The connection ended before the body did.
    Incomplete,
}

impl BodyBudget {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        let main_max = settings.bodies_bytes_max;
        let prefix_max = main_max / MAIN_SHARE;
        let prefix_bytes = PREFIX_BYTES.min(prefix_max / PREFIXES_MIN);
        let main = BytePool::new(main_max, settings.body_bytes_max);
        Self { main, prefix: BytePool::new(prefix_max, prefix_bytes), prefix_bytes }
    }

    pub(super) fn used(&self) -> usize {
        self.main.used() + self.prefix.used()
    }

    pub(super) async fn collect(
        &self,
        client: &ClientInfo,
        mut body: Body,
        bytes_max: usize,
    ) -> Result<CollectedBody, BodyError> {
        let (prefix, main) = (self.prefix.open(client), self.main.open(client));
        let mut permits = BodyPermits { prefix, main, prefix_bytes: self.prefix_bytes };
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| BodyError::Incomplete)?;
            let Some(part) = frame.data_ref() else { continue };
            if part.len() > bytes_max.saturating_sub(bytes.len()) {
                return Err(BodyError::TooLong);
            }
            permits.charge(part.len()).await?;
            bytes.extend_from_slice(part);
        }
        Ok(CollectedBody { bytes, permits })
    }
}

impl BodyPermits {
    /// Charges what the values of a body will take when they are parsed. Where that is more than the
    /// client's share, the whole share is enough.
    pub(super) async fn charge_values(&mut self, values: usize) -> Result<(), BodyError> {
        let bytes = values.saturating_mul(VALUE_BYTES).min(self.main.room());
        self.charge(bytes).await
    }

    async fn charge(&mut self, bytes: usize) -> Result<(), BodyError> {
        let in_prefix = self.prefix_bytes.saturating_sub(self.prefix.len()).min(bytes);
        let beyond = u32::try_from(bytes - in_prefix).map_err(|_| BodyError::TooLong)?;
        let in_prefix = u32::try_from(in_prefix).map_err(|_| BodyError::TooLong)?;
        let charged = async {
            self.prefix.add(in_prefix).await?;
            self.main.add(beyond).await
        };
        match timeout(BUDGET_TIMEOUT, charged).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(BodyError::Overloaded),
        }
    }
}

#[cfg(test)]
mod tests {
    use roundtable_domain::Caller;

    use super::*;

    const LONG: usize = 1 << 20;

    fn budget(bodies_bytes_max: usize, body_bytes_max: usize) -> BodyBudget {
        let settings = HttpSettings { body_bytes_max, bodies_bytes_max, ..HttpSettings::default() };
        BodyBudget::new(&settings)
    }

    fn client(name: Option<&str>, last: u8) -> ClientInfo {
        let caller = name.map(|name| Caller::user(name.parse().unwrap()));
        ClientInfo { caller, address: Some([192, 0, 2, last].into()) }
    }

    /// Collects a body of spaces.
    async fn collect(
        bodies: &BodyBudget,
        client: &ClientInfo,
        bytes: usize,
    ) -> Result<CollectedBody, BodyError> {
        bodies.collect(client, Body::from(vec![b' '; bytes]), LONG).await
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_share_one_budget_and_return_it() {
        let bodies = budget(10, 8);
        let me = client(None, 1);
        let collect = async |text: &'static str| bodies.collect(&me, Body::from(text), 8).await;
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
        let bodies = budget(LONG, LONG);
        let long = collect(&bodies, &client(None, 1), LONG).await.unwrap();
        let other = collect(&bodies, &client(Some("ana"), 2), LONG / 2).await;
        assert_eq!(other.unwrap_err(), BodyError::Overloaded);
        assert!(collect(&bodies, &client(None, 1), 8).await.is_ok());
        drop(long);
        assert_eq!(bodies.used(), 0);
    }

    #[tokio::test]
    async fn a_body_waits_a_moment_for_budget() {
        let bodies = budget(10, 8);
        let first = collect(&bodies, &client(None, 1), 8).await.unwrap();
        let me = client(None, 2);
        let second = bodies.collect(&me, Body::from("abc"), 8);
        let (second, ()) = futures::future::join(second, async { drop(first) }).await;
        assert_eq!(second.unwrap().bytes, b"abc");
    }

    /// Bodies that never end take the share of their client, long ones and short ones alike.
    #[tokio::test(start_paused = true)]
    async fn bodies_of_one_client_leave_room_for_others() {
        let bodies = budget(64 << 20, LONG);
        for (bytes, most) in [(PREFIX_BYTES, 256), (LONG, 16)] {
            for name in [None, Some("ana")] {
                let mut held = Vec::new();
                while let Ok(body) = collect(&bodies, &client(name, 1), bytes).await {
                    held.push(body);
                }
                assert_eq!(held.len(), most, "{bytes} {name:?}");
                assert!(collect(&bodies, &client(name, 1), bytes).await.is_err());
                assert!(collect(&bodies, &client(None, 2), bytes).await.is_ok());
            }
            let mut anonymous = Vec::new();
            for network in 0..8 {
                while let Ok(body) = collect(&bodies, &client(None, network), bytes).await {
                    anonymous.push(body);
                }
            }
            assert_eq!(anonymous.len(), 2 * most);
            assert!(collect(&bodies, &client(Some("bo"), 9), bytes).await.is_ok());
        }
        assert_eq!(bodies.used(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_values_of_a_body_are_charged() {
        let bodies = budget(64 << 20, LONG);
        let me = client(None, 1);
        let mut body = collect(&bodies, &me, 100).await.unwrap();
        body.permits.charge_values(1_000).await.unwrap();
        assert_eq!(bodies.used(), 100 + 1_000 * VALUE_BYTES);
        // More than a share is never charged, or the body would be refused for ever.
        body.permits.charge_values(1_000_000).await.unwrap();
        assert_eq!(bodies.used(), PREFIX_BYTES + (16 << 20));
        let mut other = collect(&bodies, &me, 100).await.unwrap();
        assert_eq!(other.permits.charge_values(1_000).await, Err(BodyError::Overloaded));
        drop(body);
        assert_eq!(other.permits.charge_values(1_000).await, Ok(()));
    }
}
