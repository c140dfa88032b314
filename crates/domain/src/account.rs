//! The caller's own account: every mutation begins by asking whether it can still be used, and whether
//! the caller has not done too much of late.

use roundtable_model::entities::User;
use roundtable_model::table::Check;
use roundtable_model::{Shard, UserId, UserStatus};

use crate::{Caller, Failure, Ground};

impl Ground {
    /// The caller's profile, for a mutation, which counts for the caller's rate; refused when the
    /// account is suspended or gone.
    pub(crate) async fn account(&self, caller: &Caller) -> Result<User, Failure> {
        self.rates().write(&caller.user_id)?;
        self.reader(caller).await
    }

    /// The caller's profile, for a read; refused when the account is suspended or gone.
    pub(crate) async fn reader(&self, caller: &Caller) -> Result<User, Failure> {
        let profile = self.core().profile(&caller.user_id).strong().get().await?;
        match profile {
            Some(profile) if profile.status == UserStatus::Active => Ok(profile),
            Some(profile) if profile.status == UserStatus::Suspended => Err(Failure::Suspended),
            _ => Err(Failure::Unauthenticated),
        }
    }
}

/// The account can be used when something is written: whoever is being deleted leaves nothing behind.
pub(crate) fn live(user: &UserId) -> Check {
    User::at(user).check(User::STATUS.is(&UserStatus::Active))
}

/// The shard of counters that have only one.
pub(crate) const WHOLE: Shard = Shard::ZERO;
