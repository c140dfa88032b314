//! Revocation: what a client authenticated with is checked in the transactions that must not outlive
//! it, at every event of its subscriptions, and when it may have been revoked.

use std::sync::Arc;
use std::time::Duration;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{ApiKey, Identity, Session};
use roundtable_model::table::{Change, Check, Item};
use roundtable_model::{FromItem as _, TYPE, UserId};
use tokio::time::{sleep, timeout};

use super::{AccountError, Accounts};
use crate::bus::{Channels, Sink, Subscriber};
use crate::commit::FailedConditions;
use crate::mutation::AttemptOutcome;
use crate::{Caller, CallerCredential, LiveBus, SignInBasis};

/// The interval of checks where wake-ups may be missed, and after a check that failed. With the time of
/// a check, a revoked credential is noticed within five seconds.
const POLL_INTERVAL: Duration = Duration::from_secs(4);

/// The name of the check that a caller's credential is valid.
pub(super) const SIGN_IN: &str = "sign-in";

/// Wake-ups for the open connections of users with a session, identity or API key that ended. They carry
/// no data, so a spurious one is harmless.
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

/// The user of a session, a linked identity or an API key.
fn owner(item: &Item) -> Option<roundtable_model::Result<UserId>> {
    match item.text(TYPE)? {
        kind if kind == Session::ENTITY.name => Some(Session::USER_ID.read(item)),
        kind if kind == Identity::ENTITY.name => Some(Identity::USER_ID.read(item)),
        kind if kind == ApiKey::ENTITY.name => Some(ApiKey::USER_ID.read(item)),
        _ => None,
    }
}

/// Returns the check that the caller's session is open, their identity linked or their API key valid at
/// the time of the write.
pub(super) fn validity_check(caller: &Caller) -> Option<Check> {
    let user = &caller.user_id;
    match &caller.credential {
        CallerCredential::SignIn { basis: None, .. } => None,
        CallerCredential::SignIn { basis: Some(SignInBasis::Session(session)), .. } => {
            Some(Session::at(user, session).exists())
        }
        CallerCredential::SignIn {
            basis: Some(SignInBasis::Identity(issuer, subject)), ..
        } => Some(Identity::at(issuer, subject).check(Identity::USER_ID.is(user))),
        CallerCredential::ApiKey { id, .. } => Some(ApiKey::at(user, id).exists()),
    }
}

/// Attempts a mutation again after a condition failed, unless it was that of [`validity_check`].
pub(super) fn retry_while_valid<T>(
    caller: &Caller,
    failed: &FailedConditions,
) -> Result<AttemptOutcome<T>, AccountError> {
    if failed.contains(SIGN_IN) { Err(revoked(caller)) } else { Ok(AttemptOutcome::Retry) }
}

/// The refusal of a caller whose credential is no longer valid.
const fn revoked(caller: &Caller) -> AccountError {
    match &caller.credential {
        CallerCredential::SignIn { basis: Some(SignInBasis::Identity(..)), .. } => {
            AccountError::IdentityUnlinked
        }
        CallerCredential::SignIn { .. } => AccountError::SessionEnded,
        CallerCredential::ApiKey { .. } => AccountError::InvalidApiKey,
    }
}

#[boxed]
impl Accounts {
    /// Fails once the caller's session has ended, their identity is unlinked, or their API key was
    /// revoked.
    pub async fn check_credential(&self, caller: &Caller) -> Result<(), AccountError> {
        let (core, user) = (self.context.core(), &caller.user_id);
        let is_valid = match &caller.credential {
            CallerCredential::SignIn { basis: None, .. } => true,
            CallerCredential::SignIn { basis: Some(SignInBasis::Session(session)), .. } => {
                core.session(user, session).get().await?.is_some()
            }
            CallerCredential::SignIn {
                basis: Some(SignInBasis::Identity(issuer, subject)),
                ..
            } => {
                let linked = core.identity(issuer, subject).get().await?;
                linked.is_some_and(|linked| linked.user_id == *user)
            }
            CallerCredential::ApiKey { id, .. } => core.api_key(user, id).get().await?.is_some(),
        };
        if is_valid { Ok(()) } else { Err(revoked(caller)) }
    }

    /// Waits until the caller's session ends, their identity is unlinked or their API key is revoked:
    /// where the bus applies all changes, for the change, and elsewhere by looking again and again.
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
