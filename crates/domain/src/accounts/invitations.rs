//! Letting others sign up.

use data_encoding::BASE32_NOPAD;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::Invitation;
use roundtable_model::table::Write;
use roundtable_model::{Entity, Expiry, InviteCode, Misfit, Time, UserStatus};

use super::{AccountError, Accounts, own};
use crate::access::Act;
use crate::limits::INVITATION_USES_MAX;
use crate::{Caller, Failure};

/// Bytes of chance in a code: enough that nobody guesses one, few enough to type.
const CODE_BYTES: usize = 10;

#[boxed]
impl Accounts {
    /// Makes an invitation for so many people (one, unless told otherwise), which ends when told to.
    pub async fn invite(
        &self,
        caller: &Caller,
        uses: Option<u64>,
        expires_at: Option<Time>,
    ) -> Result<Invitation, AccountError> {
        let me = self.ground.account(caller).await?;
        own(Act::Invite)?;
        let uses_left = uses.unwrap_or(1);
        if uses_left == 0 || uses_left > INVITATION_USES_MAX {
            return Err(Failure::bad("uses", Misfit::new("1 to 1000", uses_left)).into());
        }
        let now = self.ground.now();
        check_later("expiresAt", expires_at, now)?;
        let code = BASE32_NOPAD.encode(&self.ground.chance().bytes::<CODE_BYTES>());
        let code = code.parse().map_err(|misfit: Misfit| Failure::Internal(misfit.to_string()))?;
        let ttl = expires_at.map(Expiry::at);
        let invitation = Invitation { code, inviter_id: me.id, uses_left, created_at: now, ttl };
        self.ground.core().table().put(invitation.create()).await.map_err(Failure::from)?;
        Ok(invitation)
    }

    /// The write that uses an invitation once; its last use takes it away.
    pub(super) async fn redeemed(&self, code: &InviteCode) -> Result<Write, AccountError> {
        let invitation = self.ground.core().invitation(code).get().await?;
        let invitation = invitation.ok_or(AccountError::InvitationOver)?;
        let inviter = self.ground.core().profile(&invitation.inviter_id).strong().get().await?;
        // Whoever was suspended invites nobody else.
        if inviter.is_none_or(|inviter| inviter.status != UserStatus::Active) {
            return Err(AccountError::InvitationOver);
        }
        let at = Invitation::at(code);
        match invitation.uses_left {
            0 => Err(AccountError::InvitationOver),
            1 => Ok(at.delete().when(Invitation::USES_LEFT.is(&1)).into()),
            _ => {
                let several = Invitation::USES_LEFT.at_least(&2);
                Ok(at.patch().add(Invitation::USES_LEFT, -1).when(several).into())
            }
        }
    }
}

/// Refuses an end that has passed already.
pub(super) fn check_later(
    field: &'static str,
    end: Option<Time>,
    now: Time,
) -> Result<(), Failure> {
    match end {
        Some(end) if end <= now => Err(Failure::bad(field, Misfit::new("a time to come", end))),
        _ => Ok(()),
    }
}
