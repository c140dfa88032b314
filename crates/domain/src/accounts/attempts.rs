//! Sign-in attempts, counted per account and per network address in a table of their own (R5).
//!
//! An attempt is counted before its password is checked, so parallel attempts get no more guesses
//! than sequential ones. Success takes the count back; the failure that reaches the limit locks the
//! account or address. Refused attempts are not counted, so an attacker cannot prolong a lock.

use std::net::IpAddr;

use roundtable_model::entities::LoginAttempt;
use roundtable_model::table::{Delete, Error, Returning, Update};
use roundtable_model::{Email, Expiry, FromItem, LoginKey, LoginName, Time};

use crate::mutation::AttemptOutcome;
use crate::rate_limiter::network;
use crate::{Context, ServiceError};

/// Retention of a window after it has ended, so that admins can investigate attacks.
const RETENTION_MS: u64 = 24 * 60 * 60 * 1000;
/// A lock can be in the second newest window when both were counted at the boundary.
const WINDOWS_READ: usize = 2;

/// A counted sign-in attempt whose password has not been checked yet.
#[derive(Debug)]
pub(super) struct PendingLogin {
    account: AttemptCounter,
    address: Option<AttemptCounter>,
}

/// An attempt counted in one window of an account or address.
#[derive(Debug)]
struct AttemptCounter {
    kind: LoginKey,
    subject: LoginName,
    window: Time,
    is_last: bool,
}

/// Counts an attempt, or refuses it when the account or address is locked.
pub(super) async fn begin(
    context: &Context,
    email: &Email,
    address: Option<IpAddr>,
) -> Result<PendingLogin, ServiceError> {
    let settings = &context.settings().login;
    // The address is counted first: a locked address cannot lock an account.
    let address = match address.map(network) {
        Some(address) => {
            let max = settings.address_failures_max;
            Some(AttemptCounter::increment(context, LoginKey::Ip, address.into(), max).await?)
        }
        None => None,
    };
    let max = settings.account_failures_max;
    match AttemptCounter::increment(context, LoginKey::Email, email.into(), max).await {
        Ok(account) => Ok(PendingLogin { account, address }),
        Err(refused) => {
            if let Some(address) = address {
                address.decrement(context).await?;
            }
            Err(refused)
        }
    }
}

impl PendingLogin {
    /// Clears the account's count and takes one failure off the address.
    pub(super) async fn succeeded(self, context: &Context) -> Result<(), ServiceError> {
        context.logins().table().delete(Delete::new(self.account.at())).await?;
        match self.address {
            Some(address) => address.decrement(context).await,
            None => Ok(()),
        }
    }

    /// Locks the account or address that has used up its attempts.
    pub(super) async fn failed(self, context: &Context) -> Result<(), ServiceError> {
        for counter in [Some(self.account), self.address].into_iter().flatten() {
            if counter.is_last {
                counter.lock(context).await?;
            }
        }
        Ok(())
    }
}

impl AttemptCounter {
    /// Counts one attempt, unless the limit is reached.
    async fn increment(
        context: &Context,
        kind: LoginKey,
        subject: LoginName,
        max: u64,
    ) -> Result<Self, ServiceError> {
        let max = max.max(1);
        context
            .retry(async |_| {
                let now = context.now();
                let listing = context.logins().login_attempts(&kind, &subject).limit(WINDOWS_READ);
                let newest = listing.page().await?.items;
                if let Some(until) = newest.iter().filter_map(|window| window.locked_until).max()
                    && until > now
                {
                    return Err(ServiceError::RateLimited {
                        retry_after_seconds: seconds_between(now, until),
                    });
                }
                let window = window_of(context, now);
                let counter = Self { kind, subject: subject.clone(), window, is_last: false };
                let expired_lock = newest.into_iter().find(|newest| newest.window == window);
                let expired_lock = expired_lock.and_then(|window| window.locked_until);
                match counter.write_increment(context, expired_lock).await? {
                    Some(count) if count > max => {
                        // The attempts in flight decide whether this becomes a lock.
                        counter.decrement(context).await?;
                        Err(ServiceError::RateLimited { retry_after_seconds: 1 })
                    }
                    Some(count) => {
                        Ok(AttemptOutcome::Done(Self { is_last: count == max, ..counter }))
                    }
                    None => Ok(AttemptOutcome::Retry),
                }
            })
            .await
    }

    /// Increments and returns the count; `None` when the lock changed concurrently. An expired lock
    /// (`expired_lock`) is removed, and the count starts over.
    async fn write_increment(
        &self,
        context: &Context,
        expired_lock: Option<Time>,
    ) -> Result<Option<u64>, ServiceError> {
        let upsert = LoginAttempt::upsert(&self.kind, &self.subject, &self.window)
            .set(LoginAttempt::TTL, &self.expires_at(context));
        let upsert = match expired_lock {
            None => upsert.add(LoginAttempt::COUNT, 1).when(LoginAttempt::LOCKED_UNTIL.absent()),
            Some(until) => upsert
                .set(LoginAttempt::COUNT, &1)
                .set(LoginAttempt::LOCKED_UNTIL, &None)
                .when(LoginAttempt::LOCKED_UNTIL.is(&until)),
        };
        let update: Update = upsert.returning(Returning::New).into();
        match context.logins().table().update(update).await {
            Ok(written) => {
                let attempt = written.item.as_ref().map(LoginAttempt::from_item).transpose()?;
                Ok(attempt.map(|attempt| attempt.count))
            }
            Err(Error::ConditionFailed { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes one attempt back, unless the count has been reset.
    async fn decrement(&self, context: &Context) -> Result<(), ServiceError> {
        let is_positive = LoginAttempt::COUNT.at_least(&1);
        let patch = self.at().patch().add(LoginAttempt::COUNT, -1).when(is_positive);
        ignore_failed_condition(context.logins().table().update(patch.into()).await.map(drop))
    }

    /// Refuses further attempts for the configured lock time.
    async fn lock(&self, context: &Context) -> Result<(), ServiceError> {
        let until =
            context.now().plus_ms(context.settings().login.lock_seconds.saturating_mul(1000));
        let free = LoginAttempt::LOCKED_UNTIL.absent();
        let patch = self.at().patch().set(LoginAttempt::LOCKED_UNTIL, &Some(until)).when(free);
        ignore_failed_condition(context.logins().table().update(patch.into()).await.map(drop))
    }

    fn at(&self) -> roundtable_model::EntityKey<LoginAttempt> {
        LoginAttempt::at(&self.kind, &self.subject, &self.window)
    }

    /// The item's expiry: after the window and any lock in it have ended.
    fn expires_at(&self, context: &Context) -> Expiry {
        let login = &context.settings().login;
        let open_ms = login.window_seconds.saturating_add(login.lock_seconds).saturating_mul(1000);
        Expiry::at(self.window.plus_ms(open_ms).plus_ms(RETENTION_MS))
    }
}

/// Returns the start of the window that contains `now`.
fn window_of(context: &Context, now: Time) -> Time {
    let window_ms = context.settings().login.window_seconds.max(1).saturating_mul(1000);
    now.minus_ms(now.ms() % window_ms)
}

/// Whole seconds, rounded up and at least one.
fn seconds_between(from: Time, to: Time) -> u64 {
    to.ms().saturating_sub(from.ms()).div_ceil(1000).max(1)
}

/// A failed condition means that a concurrent attempt has done the same.
fn ignore_failed_condition(
    written: roundtable_model::table::Result<()>,
) -> Result<(), ServiceError> {
    match written {
        Ok(()) | Err(Error::ConditionFailed { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
