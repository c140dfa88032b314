//! Checks of the caller's own account. Every mutation starts by checking that the account is active
//! and below its rate limit.

use roundtable_model::entities::User;
use roundtable_model::table::Check;
use roundtable_model::{Shard, UserId, UserStatus};

use crate::{Caller, Context, ServiceError};

impl Context {
    /// Counts a write against the caller's rate limit and returns their profile. Fails if the
    /// account is suspended or deleted.
    pub(crate) async fn authorize_write(&self, caller: &Caller) -> Result<User, ServiceError> {
        self.rate_limiter().write(&caller.user_id)?;
        self.authorize_read(caller).await
    }

    /// Returns the caller's profile for a read. Fails if the account is suspended or deleted.
    pub(crate) async fn authorize_read(&self, caller: &Caller) -> Result<User, ServiceError> {
        let profile = self.core().profile(&caller.user_id).strong().get().await?;
        match profile {
            Some(profile) if profile.status == UserStatus::Active => Ok(profile),
            Some(profile) if profile.status == UserStatus::Suspended => {
                Err(ServiceError::Suspended)
            }
            _ => Err(ServiceError::Unauthenticated),
        }
    }
}

/// A check that the account is active at the time of the write, so that an account being deleted
/// leaves nothing behind.
pub(crate) fn active_account_check(user: &UserId) -> Check {
    User::at(user).check(User::STATUS.is(&UserStatus::Active))
}

/// The shard of counters that are not sharded.
pub(crate) const SINGLE_SHARD: Shard = Shard::ZERO;
