//! Accounts as every service sees them: active, existing, and the conditions that they still are.

use roundtable_model::entities::User;
use roundtable_model::table::{Check, Condition};
use roundtable_model::{Shard, UserId, UserStatus};

use crate::{Caller, Context, ServiceError};

impl Context {
    /// Returns the caller's profile. Fails if the account is suspended or deleted.
    pub(crate) async fn authorize_read(&self, caller: &Caller) -> Result<User, ServiceError> {
        let profile = self.core().profile(&caller.user_id).strong().get().await?;
        require_active(profile, ServiceError::Unauthenticated)
    }

    /// Returns a profile that is not deleted.
    pub(crate) async fn existing_account(
        &self,
        user: &UserId,
    ) -> Result<Option<User>, ServiceError> {
        let profile = self.core().profile(user).strong().get().await?;
        Ok(profile.filter(|profile| profile.status != UserStatus::Deleted))
    }

    /// Returns the profile of an active account.
    pub(crate) async fn active_account(&self, user: &UserId) -> Result<Option<User>, ServiceError> {
        let profile = self.core().profile(user).strong().get().await?;
        Ok(profile.filter(|profile| profile.status == UserStatus::Active))
    }
}

/// Refuses a suspended account as such, and a deleted one with `gone`.
pub(crate) fn require_active<E: From<ServiceError>>(
    profile: Option<User>,
    gone: E,
) -> Result<User, E> {
    match profile {
        Some(profile) if profile.status == UserStatus::Active => Ok(profile),
        Some(profile) if profile.status == UserStatus::Suspended => {
            Err(ServiceError::Suspended.into())
        }
        _ => Err(gone),
    }
}

/// The condition that an account is active.
pub(crate) fn is_active() -> Condition {
    User::STATUS.is(&UserStatus::Active)
}

/// The condition that an account is not deleted.
pub(crate) fn is_not_deleted() -> Condition {
    User::STATUS.is_not(&UserStatus::Deleted)
}

/// A check that the account is active at the time of the write, so that an account being deleted
/// leaves nothing behind.
pub(crate) fn active_account_check(user: &UserId) -> Check {
    User::at(user).check(is_active())
}

/// A check that the account is not deleted at the time of the write.
pub(crate) fn existing_account_check(user: &UserId) -> Check {
    User::at(user).check(is_not_deleted())
}

/// The shard of counters that are not sharded.
pub(crate) const SINGLE_SHARD: Shard = Shard::ZERO;
