//! Revocation while connections are open: what a client authenticated with is checked at every event
//! of its subscriptions, and when it may have been revoked.

use std::sync::Arc;
use std::time::Duration;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{ApiKey, Session};
use roundtable_model::table::{Change, Item};
use roundtable_model::{FromItem as _, TYPE, UserId};
use tokio::time::{sleep, timeout};

use super::{AccountError, Accounts};
use crate::bus::{Channels, Sink, Subscriber};
use crate::{Caller, CallerCredential, LiveBus};

/// The interval of checks where wake-ups may be missed, and after a check that failed. With the time of
/// a check, a revoked credential is noticed within five seconds.
const POLL_INTERVAL: Duration = Duration::from_secs(4);

/// Wake-ups for the open connections of users with a session or API key that ended. They carry no data,
/// so a spurious one is harmless.
#[derive(Debug, Default)]
pub(crate) struct AccountWakeUps(Arc<Channels<UserId, ()>>);

impl AccountWakeUps {
    fn subscribe(&self, user: &UserId) -> Subscriber<UserId, ()> {
        // One is enough: further ones say the same.
        self.0.subscribe(user.clone(), 1)
    }
}

impl Sink for AccountWakeUps {
    fn apply(&self, changes: &[Change]) {
        let removed = changes.iter().filter(|change| change.new.is_none());
        for item in removed.filter_map(|change| change.old.as_ref()) {
            if self.0.is_empty() {
                return;
            }
            match owner(item) {
                Some(Ok(user)) => self.0.send([&user], &()),
                Some(Err(_)) => self.0.send_to_all(&()),
                None => {}
            }
        }
    }

    /// Missed changes are in the table.
    fn reset(&self, _is_complete: bool) {
        self.0.send_to_all(&());
    }
}

/// The user of a session or an API key.
fn owner(item: &Item) -> Option<roundtable_model::Result<UserId>> {
    match item.text(TYPE)? {
        kind if kind == Session::ENTITY.name => Some(Session::USER_ID.read(item)),
        kind if kind == ApiKey::ENTITY.name => Some(ApiKey::USER_ID.read(item)),
        _ => None,
    }
}

#[boxed]
impl Accounts {
    /// Fails once the caller's session has ended or their API key was revoked. Those who
    /// signed in elsewhere have no session, and pass.
    pub async fn check_credential(&self, caller: &Caller) -> Result<(), AccountError> {
        let (core, user) = (self.context.core(), &caller.user_id);
        match &caller.credential {
            CallerCredential::SignIn { session: None, .. } => Ok(()),
            CallerCredential::SignIn { session: Some(session), .. } => {
                let session = core.session(user, session).get().await?;
                session.map(drop).ok_or(AccountError::SessionEnded)
            }
            CallerCredential::ApiKey { id, .. } => {
                let key = core.api_key(user, id).get().await?;
                key.map(drop).ok_or(AccountError::InvalidApiKey)
            }
        }
    }

    /// Waits until the caller's session ends or their API key is revoked: where the bus applies all
    /// changes, for the change, and elsewhere by looking again and again.
    pub async fn credential_revoked(&self, bus: &LiveBus, caller: &Caller) {
        let mut wake_ups = bus.accounts().subscribe(&caller.user_id);
        loop {
            // Before the check: what changes after it ends the wait.
            wake_ups.clear();
            match self.check_credential(caller).await {
                // Lagging is a wake-up as well, and the channel lives as long as its subscribers.
                Ok(()) if bus.is_exact() => {
                    let _ = wake_ups.next().await;
                }
                Ok(()) => {
                    let _ = timeout(POLL_INTERVAL, wake_ups.next()).await;
                }
                Err(AccountError::Failed(failure)) => {
                    tracing::warn!(%failure, "cannot check the credential of a connection; retrying");
                    sleep(POLL_INTERVAL).await;
                }
                Err(_) => return,
            }
        }
    }
}
