//! One count of failed sign-ins, in the window of time that is current.

use roundtable_model::entities::LoginAttempt;
use roundtable_model::table::{Delete, Error, Returning, Update};
use roundtable_model::{EntityKey, Expiry, FromItem, LoginKey, LoginName, Time};

use crate::mutation::AttemptOutcome;
use crate::{Context, ServiceError};

/// Retention of a window after it has ended, so that admins can investigate attacks.
const RETENTION_MS: u64 = 24 * 60 * 60 * 1000;
/// A lock can be in the second newest window when both were counted at the boundary.
const WINDOWS_READ: usize = 2;
/// Failures before the one that locks that are followed by a pause: of one second, then two, and so on
/// up to 64.
const PAUSES: u64 = 7;

/// A number of permitted failures, and the subject that they are counted for.
#[derive(Clone, Debug)]
pub(super) struct AttemptLimit {
    pub(super) kind: LoginKey,
    pub(super) subject: LoginName,
    /// The failure that locks.
    pub(super) failures_max: u64,
    /// True if several clients are counted together, so that the success of one is not that of all.
    pub(super) is_shared: bool,
}

/// An attempt counted in one window.
#[derive(Debug)]
pub(super) struct AttemptCounter {
    limit: AttemptLimit,
    window: Time,
    /// The count with this attempt.
    count: u64,
}

impl AttemptCounter {
    /// Counts one attempt, unless the limit is reached.
    pub(super) async fn increment(
        context: &Context,
        limit: AttemptLimit,
    ) -> Result<Self, ServiceError> {
        let limit = AttemptLimit { failures_max: limit.failures_max.max(1), ..limit };
        context
            .retry(async |_| {
                let now = context.now();
                let listing = context.logins().login_attempts(&limit.kind, &limit.subject);
                let newest = listing.limit(WINDOWS_READ).page().await?.items;
                let refused_until = newest.iter().filter_map(LoginAttempt::refused_until).max();
                if let Some(until) = refused_until.filter(|until| *until > now) {
                    return Err(ServiceError::RateLimited {
                        retry_after_seconds: seconds_between(now, until),
                    });
                }
                let window = window_of(context, now);
                let counter = Self { limit: limit.clone(), window, count: 0 };
                let expired_lock = newest.into_iter().find(|newest| newest.window == window);
                let expired_lock = expired_lock.and_then(|window| window.locked_until);
                match counter.write_increment(context, expired_lock).await? {
                    Some(count) if count > limit.failures_max => {
                        // The attempts in flight decide whether this becomes a lock.
                        counter.decrement(context).await?;
                        Err(ServiceError::RateLimited { retry_after_seconds: 1 })
                    }
                    Some(count) => Ok(AttemptOutcome::Done(Self { count, ..counter })),
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
        let AttemptLimit { kind, subject, .. } = &self.limit;
        let upsert = LoginAttempt::upsert(kind, subject, &self.window)
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

    pub(super) async fn succeeded(&self, context: &Context) -> Result<(), ServiceError> {
        if self.limit.is_shared {
            return self.decrement(context).await;
        }
        context.logins().table().delete(Delete::new(self.at())).await?;
        Ok(())
    }

    /// Takes one attempt back, unless the count has been reset.
    pub(super) async fn decrement(&self, context: &Context) -> Result<(), ServiceError> {
        let is_positive = LoginAttempt::COUNT.at_least(&1);
        let patch = self.at().patch().add(LoginAttempt::COUNT, -1).when(is_positive);
        ignore_failed_condition(context.logins().table().update(patch.into()).await.map(drop))
    }

    /// Refuses further attempts for a while, the longer the more failures there were.
    pub(super) async fn failed(&self, context: &Context) -> Result<(), ServiceError> {
        let lock_seconds = context.settings().login.lock_seconds;
        let after = |seconds: u64| context.now().plus_ms(seconds.saturating_mul(1000));
        let patch = self.at().patch();
        let patch = if self.count >= self.limit.failures_max {
            let free = LoginAttempt::LOCKED_UNTIL.absent();
            patch.set(LoginAttempt::LOCKED_UNTIL, &Some(after(lock_seconds))).when(free)
        } else if let Some(seconds) = pause_seconds(self.count, self.limit.failures_max) {
            // A separate field: the count starts over after a lock, and goes on after a pause.
            let until = after(seconds.min(lock_seconds));
            let shorter = LoginAttempt::PAUSED_UNTIL.at_most(&until);
            let shorter = LoginAttempt::PAUSED_UNTIL.absent().or(shorter);
            patch.set(LoginAttempt::PAUSED_UNTIL, &Some(until)).when(shorter)
        } else {
            return Ok(());
        };
        ignore_failed_condition(context.logins().table().update(patch.into()).await.map(drop))
    }

    fn at(&self) -> EntityKey<LoginAttempt> {
        LoginAttempt::at(&self.limit.kind, &self.limit.subject, &self.window)
    }

    /// The item's expiry: after the window and any lock in it have ended.
    fn expires_at(&self, context: &Context) -> Expiry {
        let login = &context.settings().login;
        let open_ms = login.window_seconds.saturating_add(login.lock_seconds).saturating_mul(1000);
        Expiry::at(self.window.plus_ms(open_ms).plus_ms(RETENTION_MS))
    }
}

/// The pause after a failure that does not lock; `None` for the first ones.
fn pause_seconds(count: u64, failures_max: u64) -> Option<u64> {
    let first = failures_max.saturating_sub(PAUSES).max(1);
    Some(1 << count.checked_sub(first)?.min(PAUSES))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_failures_before_a_lock_are_followed_by_pauses_that_double() {
        let pauses = |max| (1..max).map(|count| pause_seconds(count, max)).collect::<Vec<_>>();
        let (none, seconds) = ([None; 2], [1, 2, 4, 8, 16, 32, 64].map(Some));
        assert_eq!(pauses(10), [&none[..], &seconds[..]].concat());
        assert_eq!(pauses(4), [1, 2, 4].map(Some));
        assert_eq!(pauses(1), []);
        assert_eq!(pauses(100)[92..], seconds);
        assert_eq!(pauses(100)[91], None);
    }
}
