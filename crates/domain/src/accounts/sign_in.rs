//! Proving who one is with a password, and changing it. Whoever has no account is refused like
//! somebody whose password is wrong: in the same words, after the same work.

use std::net::IpAddr;

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, Session, User};
use roundtable_model::{Email, Secret, SessionId, UserId, UserStatus};

use super::passwords::{Checked, check_length, check_new};
use super::{AccountError, Accounts, SignedIn, attempts, is_there, own};
use crate::access::Act;
use crate::commit::Rejected;
use crate::{Caller, Failure};

#[boxed]
impl Accounts {
    /// Signs somebody in who knows their password. `address` is where they do it from; without one,
    /// only the account's tries are counted.
    pub async fn login(
        &self,
        email: &Email,
        password: &Secret,
        address: Option<IpAddr>,
    ) -> Result<SignedIn, AccountError> {
        let lock = self.ground.core().email_lock(email).get().await?;
        let user = lock.map(|lock| lock.user_id);
        let (user, credential) = self.proven(email, user.as_ref(), password, address).await?;
        self.open_session(user, &credential).await
    }

    /// Changes the caller's password, and signs them out everywhere but here: `session` is the one
    /// that stays.
    pub async fn change_password(
        &self,
        caller: &Caller,
        session: Option<&SessionId>,
        current: &Secret,
        next: &Secret,
    ) -> Result<(), AccountError> {
        let me = self.ground.account(caller).await?;
        own(Act::UpdateProfile)?;
        check_new("next", next)?;
        let credential = self.prove_again(&me, current).await?;
        let password_hash = self.ground.passwords().hash(next, self.ground.chance()).await?;
        let sessions = self.ground.core().sessions(&me.id).all().await?;
        // After all of them, whatever the clocks of those who opened them showed: so they are over.
        let newest = sessions.iter().map(|session| session.created_at).max();
        let since = self.ground.now().max(credential.updated_at);
        let since = newest.map_or(since, |newest| since.max(newest)).plus_ms(1);
        let unchanged = Credential::PASSWORD_HASH.is(&credential.password_hash);
        let changed = Credential::at(&me.id)
            .patch()
            .set(Credential::PASSWORD_HASH, &password_hash)
            .set(Credential::UPDATED_AT, &since)
            .when(unchanged);
        let here = sessions.iter().find(|known| Some(&known.id) == session);
        let stays =
            here.map(|here| Session::at(&me.id, &here.id).patch().set(Session::CREATED_AT, &since));
        let commit = self.ground.commit().with("credential", changed).with_any("session", stays);
        match commit.run().await {
            Ok(()) => {}
            Err(Rejected::Refused(_)) => return Err(Failure::Busy.into()),
            Err(Rejected::Failed(failure)) => return Err(failure.into()),
        }
        // Read again, for those that were opened with the old password meanwhile.
        let sessions = self.ground.core().sessions(&me.id).all().await?;
        self.end(sessions.iter().filter(|known| Some(&known.id) != session)).await?;
        Ok(())
    }

    /// The caller's credential, once they have proven that they know the password. These tries count
    /// as any others: whoever steals an access token cannot guess on with it.
    pub(super) async fn prove_again(
        &self,
        me: &User,
        password: &Secret,
    ) -> Result<Credential, AccountError> {
        let email = me.email.as_ref().ok_or(AccountError::WrongPassword)?;
        match self.proven(email, Some(&me.id), password, None).await {
            Ok((_, credential)) => Ok(credential),
            Err(AccountError::WrongCredentials) => Err(AccountError::WrongPassword),
            Err(error) => Err(error),
        }
    }

    /// Checks a password, once the try is counted.
    pub(super) async fn proven(
        &self,
        email: &Email,
        user: Option<&UserId>,
        password: &Secret,
        address: Option<IpAddr>,
    ) -> Result<(User, Credential), AccountError> {
        check_length("password", password)?;
        let attempt = attempts::begin(&self.ground, email, address).await?;
        let account = self.account_of(user).await?;
        let hash = account.as_ref().map(|(_, credential)| &credential.password_hash);
        let checked = self.ground.passwords().check(password, hash).await?;
        let Some((user, credential)) = account.filter(|_| checked != Checked::Wrong) else {
            attempt.failed(&self.ground).await?;
            return Err(AccountError::WrongCredentials);
        };
        attempt.succeeded(&self.ground).await?;
        if user.status == UserStatus::Suspended {
            return Err(Failure::Suspended.into());
        }
        match checked {
            Checked::RightButOld => Ok((user, self.rehashed(credential, password).await?)),
            Checked::Right | Checked::Wrong => Ok((user, credential)),
        }
    }

    /// What is known of somebody; of nobody, the same is asked in vain.
    async fn account_of(
        &self,
        user: Option<&UserId>,
    ) -> Result<Option<(User, Credential)>, Failure> {
        let user = user.cloned().unwrap_or_else(|| self.ground.ids().next());
        let core = self.ground.core();
        let known = try_join(core.profile(&user).strong().get(), core.credential(&user).get());
        let (user, credential) = known.await?;
        Ok(user.filter(is_there).zip(credential))
    }

    /// The credential with a hash of today's parameters. The password is the same, so the time it was
    /// set stays.
    async fn rehashed(
        &self,
        credential: Credential,
        password: &Secret,
    ) -> Result<Credential, Failure> {
        let password_hash = self.ground.passwords().hash(password, self.ground.chance()).await?;
        let patch = Credential::at(&credential.user_id)
            .patch()
            .set(Credential::PASSWORD_HASH, &password_hash)
            .when(Credential::PASSWORD_HASH.is(&credential.password_hash));
        match self.ground.commit().with("credential", patch).run().await {
            Ok(()) => Ok(Credential { password_hash, ..credential }),
            // Somebody else has set it meanwhile: what follows will notice.
            Err(Rejected::Refused(_)) => Ok(credential),
            Err(Rejected::Failed(failure)) => Err(failure),
        }
    }
}
