//! Sign-in by password, and password changes. An unknown account is refused like a wrong password:
//! with the same message, after the same work.

use std::net::IpAddr;

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, Session, User};
use roundtable_model::table::limits::TRANSACTION_ITEMS_MAX;
use roundtable_model::table::{Delete, Write, essential};
use roundtable_model::{Email, Entity, Secret, UserId, UserStatus};

use super::attempts::AttemptOrigin;
use super::devices::DeviceInput;
use super::identities::IDENTITY;
use super::keys::KeysOnSignOut;
use super::passwords::{PasswordCheck, check_length, check_new};
use super::sign_in_name::SignInName;
use super::{AccountError, Accounts, SignedInUser, after_commit, attempts, require_own};
use crate::access::Permission;
use crate::limits::{API_KEYS_MAX, IDENTITIES_MAX};
use crate::mutation::AttemptOutcome;
use crate::{Caller, ServiceError};

/// Keys, identities and sessions that end in the transaction of a new password, with the credential and
/// the session that stays.
const ENDED_WITH_PASSWORD_MAX: usize = TRANSACTION_ITEMS_MAX - 2;

const _: () = assert!(API_KEYS_MAX + IDENTITIES_MAX <= ENDED_WITH_PASSWORD_MAX);

#[boxed]
impl Accounts {
    /// Signs a user in on a device that is not known. Without an `address`, the client is in this process.
    pub async fn login(
        &self,
        email: &Email,
        password: &Secret,
        address: Option<IpAddr>,
    ) -> Result<SignedInUser, AccountError> {
        let name = SignInName::Email(email.clone());
        self.login_on(&name, password, address, &DeviceInput::default()).await
    }

    /// Signs a user in by any of their names, also where the store keeps its last space in reserve. A token
    /// that is not one of this user's is ignored: the device is then unknown.
    pub async fn login_on(
        &self,
        name: &SignInName,
        password: &Secret,
        address: Option<IpAddr>,
        input: &DeviceInput,
    ) -> Result<SignedInUser, AccountError> {
        essential(self.log_in(name, password, address, input)).await
    }

    async fn log_in(
        &self,
        name: &SignInName,
        password: &Secret,
        address: Option<IpAddr>,
        input: &DeviceInput,
    ) -> Result<SignedInUser, AccountError> {
        input.check()?;
        let (user, account) = self.find_by_sign_in_name(name).await?;
        let known = self.known_device(user.as_ref(), input.token.as_ref()).await?;
        let origin = match &known {
            Some(device) => AttemptOrigin::KnownDevice(device),
            None => AttemptOrigin::Stranger { account: &account, address },
        };
        let (user, credential) = self.verify_password(user.as_ref(), password, origin).await?;
        let device = self.signed_in_device(&user.id, known, input);
        self.open_session(user, &credential, device).await
    }

    /// Checks the caller's password and returns the caller with it: for what requires a recent one.
    pub async fn confirm_password(
        &self,
        caller: &Caller,
        password: &Secret,
    ) -> Result<Caller, AccountError> {
        require_own(Permission::ChangeCredentials, caller)?;
        let me = self.context.authorize_read(caller).await?;
        essential(self.reauthenticate(&me, password)).await?;
        Ok(caller.clone().with_password_at(self.context.now()))
    }

    /// Changes the caller's password, ends all sessions except the caller's and unlinks identities;
    /// returns how many API keys it revoked. Also where the store keeps its last space in reserve.
    pub async fn change_password(
        &self,
        caller: &Caller,
        current: &Secret,
        next: &Secret,
        keys: KeysOnSignOut,
    ) -> Result<usize, AccountError> {
        essential(self.replace_password(caller, current, next, keys)).await
    }

    async fn replace_password(
        &self,
        caller: &Caller,
        current: &Secret,
        next: &Secret,
        keys: KeysOnSignOut,
    ) -> Result<usize, AccountError> {
        let mutation = self.context.mutation(caller).await?;
        require_own(Permission::ChangeCredentials, caller)?;
        check_new("next", next)?;
        let me = &mutation.account;
        let credential = self.reauthenticate(me, current).await?;
        let password_hash = self.context.passwords().hash(next, self.context.entropy()).await?;
        let sessions = self.context.core().sessions(&me.id).all().await?;
        // Later than the creation of every session, even if other processes' clocks are ahead, so
        // that all of them end.
        let newest = sessions.iter().map(|session| session.created_at).max();
        let since = self.context.now().max(credential.updated_at);
        let since = newest.map_or(since, |newest| since.max(newest)).plus_ms(1);
        let unchanged = Credential::PASSWORD_HASH.is(&credential.password_hash);
        let changed: Write = Credential::at(&me.id)
            .patch()
            .set(Credential::PASSWORD_HASH, &password_hash)
            .set(Credential::UPDATED_AT, &since)
            .when(unchanged)
            .into();
        let (kept, ended): (Vec<Session>, Vec<Session>) =
            sessions.into_iter().partition(|one| Some(&one.id) == caller.session());
        let kept = kept.iter().map(|one| one.key().patch().set(Session::CREATED_AT, &since));
        let kept: Vec<Write> = kept.map(Write::from).collect();
        // Access tokens die with their session's item, keys and identities with theirs, so the items go
        // with the old password: all of them, but for users with extraordinarily many.
        let revoked = self.keys_to_revoke(&me.id, keys).await?;
        let revoked: Vec<Write> =
            revoked.iter().take(API_KEYS_MAX).map(|key| Delete::new(key.key()).into()).collect();
        let mut unlinked = self.identities_to_unlink(&me.id, keys).await?;
        unlinked.truncate(IDENTITIES_MAX);
        let ended: Vec<Write> = ended
            .iter()
            .take(ENDED_WITH_PASSWORD_MAX - revoked.len() - unlinked.len())
            .map(|one| Delete::new(one.key()).into())
            .collect();
        mutation
            .run(async |_, attempt| {
                attempt
                    .commit()
                    .with("credential", changed.clone())
                    .with_all("session", kept.clone())
                    .with_all("key", revoked.clone())
                    .with_all(IDENTITY, unlinked.clone())
                    .with_all("ended", ended.clone())
                    .finish_or((), |_| Err(ServiceError::Busy))
                    .await
            })
            .await?;
        let late = self.revoke_late(caller, keys).await;
        Ok(revoked.len() + late.map_err(|failure| after_commit(failure.into()))?)
    }

    /// Reads again, and ends what was opened concurrently with the old password; returns the number of
    /// API keys.
    async fn revoke_late(
        &self,
        caller: &Caller,
        keys: KeysOnSignOut,
    ) -> Result<usize, ServiceError> {
        let user = &caller.user_id;
        let sessions = self.context.core().sessions(user).all().await?;
        self.end_sessions(sessions.iter().filter(|one| Some(&one.id) != caller.session())).await?;
        // Last, because no session but the caller's can create one any more.
        self.revoke_on_sign_out(user, keys).await
    }

    /// Returns the caller's credential after checking the password. These attempts are limited like
    /// sign-ins, so a stolen access token does not allow unlimited guesses.
    pub(super) async fn reauthenticate(
        &self,
        me: &User,
        password: &Secret,
    ) -> Result<Credential, AccountError> {
        let origin = AttemptOrigin::SignedIn(&me.id);
        match self.verify_password(Some(&me.id), password, origin).await {
            Ok((_, credential)) => Ok(credential),
            Err(AccountError::WrongCredentials) => Err(AccountError::WrongPassword),
            Err(error) => Err(error),
        }
    }

    /// Counts the attempt, then checks the password.
    pub(super) async fn verify_password(
        &self,
        user: Option<&UserId>,
        password: &Secret,
        origin: AttemptOrigin<'_>,
    ) -> Result<(User, Credential), AccountError> {
        check_length("password", password)?;
        let attempt = attempts::begin(&self.context, origin).await?;
        let account = self.load_account(user).await?;
        let hash = account.as_ref().map(|(_, credential)| &credential.password_hash);
        let checked = self.context.passwords().check(password, hash).await?;
        let Some((user, credential)) = account.filter(|_| checked != PasswordCheck::Wrong) else {
            attempt.failed(&self.context).await?;
            return Err(AccountError::WrongCredentials);
        };
        attempt.succeeded(&self.context).await?;
        if user.status == UserStatus::Suspended {
            return Err(ServiceError::Suspended.into());
        }
        match checked {
            PasswordCheck::CorrectButOutdated => {
                Ok((user, self.rehash(credential, password).await?))
            }
            PasswordCheck::Correct | PasswordCheck::Wrong => Ok((user, credential)),
        }
    }

    /// Reads a profile and its credential. Without a user, it reads a random id, so that both cases
    /// cost the same.
    async fn load_account(
        &self,
        user: Option<&UserId>,
    ) -> Result<Option<(User, Credential)>, ServiceError> {
        let user = user.cloned().unwrap_or_else(|| self.context.ids().next());
        let credential = async { Ok(self.context.core().credential(&user).get().await?) };
        let (user, credential) = try_join(self.context.existing_account(&user), credential).await?;
        Ok(user.zip(credential))
    }

    /// Rehashes a password with the current parameters. The time it was set stays.
    async fn rehash(
        &self,
        credential: Credential,
        password: &Secret,
    ) -> Result<Credential, ServiceError> {
        let password_hash = self.context.passwords().hash(password, self.context.entropy()).await?;
        let patch: Write = Credential::at(&credential.user_id)
            .patch()
            .set(Credential::PASSWORD_HASH, &password_hash)
            .when(Credential::PASSWORD_HASH.is(&credential.password_hash))
            .into();
        let rehashed = Credential { password_hash, ..credential.clone() };
        self.context
            .retry(async |attempt| {
                let commit = attempt.commit().with("credential", patch.clone());
                // If it has changed concurrently, the caller's next condition detects that.
                let unchanged = || Ok(AttemptOutcome::Done(credential.clone()));
                commit.finish_or(rehashed.clone(), |_| unchanged()).await
            })
            .await
    }
}
