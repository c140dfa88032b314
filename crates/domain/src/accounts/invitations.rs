//! Invitations to register.

use data_encoding::BASE32_NOPAD;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Invitation;
use roundtable_model::table::Write;
use roundtable_model::{Entity, Expiry, InvalidValue, InviteCode, Time, UserId};

use super::{AccountError, Accounts, require_own};
use crate::access::Permission;
use crate::limits::INVITATION_USES_MAX;
use crate::{Caller, ServiceError};

/// Random bytes in a code: too many to guess, few enough to type.
const CODE_BYTES: usize = 10;

#[boxed]
impl Accounts {
    /// Creates an invitation for `uses` registrations (one by default). Only staff may have many, or
    /// invite many with one.
    pub async fn invite(
        &self,
        caller: &Caller,
        uses: Option<u64>,
        expires_at: Option<Time>,
    ) -> Result<Invitation, AccountError> {
        let me = self.context.mutation(caller).await?.account;
        require_own(Permission::Invite, caller)?;
        let is_staff = caller.current_roles(&me).moderates();
        let settings = &self.context.settings().invitations;
        let uses_max = if is_staff { INVITATION_USES_MAX } else { settings.uses_max };
        let uses_left = uses.unwrap_or(1);
        if uses_left == 0 || uses_left > uses_max {
            let found = format!("{uses_left} (at most {uses_max})");
            let invalid = InvalidValue::new("a number of users whom you may invite", found);
            return Err(ServiceError::bad_input("uses", invalid).into());
        }
        let now = self.context.now();
        check_future("expiresAt", expires_at, now)?;
        if !is_staff && self.has_invitations(&me.id, settings.open_max).await? {
            return Err(AccountError::TooManyInvitations);
        }
        let code = BASE32_NOPAD.encode(&self.context.entropy().bytes::<CODE_BYTES>());
        let code = code
            .parse()
            .map_err(|invalid: InvalidValue| ServiceError::Internal(invalid.to_string()))?;
        let ttl = expires_at.map(Expiry::at);
        let invitation =
            Invitation { code, inviter_id: me.id.clone(), uses_left, created_at: now, ttl };
        self.context
            .core()
            .table()
            .put(invitation.create())
            .await
            .map_err(ServiceError::of_write)?;
        Ok(invitation)
    }

    /// Returns whether a user has this many invitations that are neither used up nor expired.
    /// Concurrent requests may exceed the limit slightly, which is harmless.
    async fn has_invitations(&self, user: &UserId, count: usize) -> Result<bool, ServiceError> {
        if count == 0 {
            return Ok(true);
        }
        let open = self.context.core().invitations_by(user).limit(count).page().await?;
        Ok(open.items.len() >= count)
    }

    /// Returns the write that uses an invitation once; the last use deletes it.
    pub(super) async fn redeem(&self, code: &InviteCode) -> Result<Write, AccountError> {
        let invitation = self.context.core().invitation(code).get().await?;
        let invitation = invitation.ok_or(AccountError::InvitationInvalid)?;
        // Invitations of suspended users are void.
        if self.context.active_account(&invitation.inviter_id).await?.is_none() {
            return Err(AccountError::InvitationInvalid);
        }
        let at = Invitation::at(code);
        match invitation.uses_left {
            0 => Err(AccountError::InvitationInvalid),
            1 => Ok(at.delete().when(Invitation::USES_LEFT.is(&1)).into()),
            _ => {
                let several = Invitation::USES_LEFT.at_least(&2);
                Ok(at.patch().add(Invitation::USES_LEFT, -1).when(several).into())
            }
        }
    }
}

pub(super) fn check_future(
    field: &'static str,
    end: Option<Time>,
    now: Time,
) -> Result<(), ServiceError> {
    match end {
        Some(end) if end <= now => {
            Err(ServiceError::bad_input(field, InvalidValue::new("a time in the future", end)))
        }
        _ => Ok(()),
    }
}
