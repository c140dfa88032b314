//! Limits on uploads of files under way: in total, of one account, and of one network.

use std::sync::Arc;

use roundtable_domain::Code;
use roundtable_interface::{ApiError, ClientInfo};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::client_limits::{ClientGuard, ClientLimitReached, ClientLimits, ClientMaxima};

/// The part of all uploads under way that one account may have.
const ACCOUNT_SHARE: usize = 4;
/// The part of all uploads under way that one network may have.
const NETWORK_SHARE: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct TransferLimits {
    clients: ClientLimits,
    permits: Arc<Semaphore>,
}

/// An upload under way, until this is dropped.
#[derive(Debug)]
pub(super) struct TransferPermit {
    _client: ClientGuard,
    _permit: OwnedSemaphorePermit,
}

impl TransferLimits {
    pub(super) fn new(transfers_max: usize) -> Self {
        let share = |part: usize| (transfers_max / part).max(1);
        let maxima = ClientMaxima { account: share(ACCOUNT_SHARE), network: share(NETWORK_SHARE) };
        let permits = Arc::new(Semaphore::new(transfers_max.min(Semaphore::MAX_PERMITS)));
        Self { clients: ClientLimits::new(maxima), permits }
    }

    /// Counts an upload of a client, or tells it to try again.
    pub(super) fn start(&self, client: &ClientInfo) -> Result<TransferPermit, ApiError> {
        let refused = |problem| ApiError::new(Code::RateLimited, problem);
        let guard = self.clients.enter(client).map_err(|reached| {
            refused(match reached {
                ClientLimitReached::Account => {
                    "too many of your uploads at the same time; try again when one has ended"
                }
                ClientLimitReached::Network => {
                    "too many uploads from your network at the same time; try again in a second"
                }
            })
        })?;
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        let permit = permit
            .map_err(|_| refused("too many uploads at the same time; try again in a second"))?;
        Ok(TransferPermit { _client: guard, _permit: permit })
    }
}

#[cfg(test)]
mod tests {
    use roundtable_domain::Caller;

    use super::*;

    fn client(name: &str, last: u8) -> ClientInfo {
        let caller = Some(Caller::user(name.parse().unwrap()));
        ClientInfo { caller, address: Some([192, 0, 2, last].into()) }
    }

    #[test]
    fn an_account_and_a_network_leave_room_for_others() {
        let limits = TransferLimits::new(8);
        let start = |name, last| limits.start(&client(name, last));
        let ana = [start("ana", 1), start("ana", 2)];
        assert!(ana.iter().all(Result::is_ok) && start("ana", 3).is_err());
        let here: Vec<_> = ["bo", "cleo", "dora", "eva"].map(|name| start(name, 1)).into();
        assert_eq!(here.iter().filter(|one| one.is_ok()).count(), 3, "with one of Ana's");
        let there: Vec<_> = ["fay", "gil", "hal", "ida"].map(|name| start(name, 4)).into();
        assert_eq!(there.iter().filter(|one| one.is_ok()).count(), 3, "eight in total");
        assert_eq!(there.last().unwrap().as_ref().unwrap_err().code(), Code::RateLimited);
        drop(ana);
        assert!(start("ida", 4).is_ok());
    }
}
