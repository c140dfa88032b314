//! Identities at an external issuer: people are identified by issuer and subject, never by address.
//!
//! The address of an account is a name to sign in with. It is *proved* if an issuer has vouched for it to
//! the account's owner; all others are claims. A claim grants nothing, and gives way to an account that
//! proves the address; docs/OPERATIONS.md states the rule.

use std::net::IpAddr;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, EmailLock, Identity, User};
use roundtable_model::table::Write;
use roundtable_model::{
    Email, Entity, IssuerName, IssuerSubject, Json, Nickname, Secret, Time, UserId, rekey,
};

use super::attempts::AttemptOrigin;
use super::keys::KeysOnSignOut;
use super::names::{self, EMAIL, NameLockWrite};
use super::profile::email_refusal;
use super::revocation::{SIGN_IN, validity_check};
use super::{AccountError, Accounts, require_own};
use crate::access::Permission;
use crate::account::active_account_check;
use crate::limits::IDENTITIES_MAX;
use crate::mutation::AttemptOutcome;
use crate::{Caller, CallerCredential, ServiceError, SignInBasis, audit};

/// The name of the write that links an identity.
pub(super) const IDENTITY: &str = "identity";

/// A person as an external issuer identifies them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalIdentity {
    pub issuer: IssuerName,
    pub subject: IssuerSubject,
    /// The address that the issuer has verified, if any.
    pub email: Option<Email>,
}

impl ExternalIdentity {
    /// Requires that the issuer has verified this address.
    pub(super) fn require_email(&self, email: &Email) -> Result<(), AccountError> {
        match &self.email {
            None => Err(AccountError::EmailNotVerified),
            Some(verified) if verified.same_as(email) => Ok(()),
            Some(_) => Err(AccountError::EmailMismatch),
        }
    }
}

#[boxed]
impl Accounts {
    /// Returns the caller of an issuer's token, without roles: the user that the identity is linked to.
    /// The issuer says when they last signed in there, if it knows.
    pub async fn by_identity(
        &self,
        identity: &ExternalIdentity,
        signed_in_at: Option<Time>,
    ) -> Result<Option<Caller>, AccountError> {
        let ExternalIdentity { issuer, subject, .. } = identity;
        let linked = self.context.core().identity(issuer, subject).get().await?;
        Ok(linked.map(|Identity { issuer, subject, user_id, .. }| {
            let basis = Some(SignInBasis::Identity(issuer, subject));
            let credential = CallerCredential::SignIn { basis, password_at: signed_in_at };
            Caller { credential, ..Caller::user(user_id) }
        }))
    }

    /// Links an identity to the account with the address that its issuer has verified, after checking
    /// the account's password. That proves the address. Repeating it has no effect.
    pub async fn link_identity(
        &self,
        identity: &ExternalIdentity,
        password: &Secret,
        address: Option<IpAddr>,
    ) -> Result<(), AccountError> {
        let email = identity.email.as_ref().ok_or(AccountError::EmailNotVerified)?;
        let lock = self.context.core().email_lock(email).get().await?;
        let user = lock.map(|lock| lock.user_id);
        let account = email.into();
        let origin = AttemptOrigin::Stranger { account: &account, address };
        let (user, credential) = self.verify_password(user.as_ref(), password, origin).await?;
        let proved: Write = EmailLock::at(email)
            .patch()
            .set(EmailLock::PROVED_AT, &Some(self.context.now()))
            .when(EmailLock::USER_ID.is(&user.id))
            .into();
        let unchanged = Credential::PASSWORD_HASH.is(&credential.password_hash);
        self.context
            .retry(async |attempt| {
                attempt
                    .commit()
                    .with_all(IDENTITY, self.identity_write(identity, &user.id).await?)
                    .with(EMAIL, proved.clone())
                    .with("user", active_account_check(&user.id))
                    .with("credential", Credential::at(&user.id).check(unchanged.clone()))
                    .finish_or((), |failed| {
                        let is_race = failed.contains(IDENTITY);
                        if is_race {
                            Ok(AttemptOutcome::Retry)
                        } else {
                            Err(AccountError::WrongCredentials)
                        }
                    })
                    .await
            })
            .await
    }

    /// Changes the sign-in address to one that an issuer has verified, and links the identity. An account
    /// that only claims the address loses it.
    pub async fn change_email_to_proved(
        &self,
        caller: &Caller,
        password: &Secret,
        email: &Email,
        identity: &ExternalIdentity,
    ) -> Result<User, AccountError> {
        let mutation = self.context.mutation(caller).await?;
        require_own(Permission::ChangeCredentials, caller)?;
        identity.require_email(email)?;
        let credential = self.reauthenticate(&mutation.account, password).await?;
        let unchanged = Credential::PASSWORD_HASH.is(&credential.password_hash);
        mutation
            .run(async |me, attempt| {
                let after = User {
                    email: Some(email.clone()),
                    updated_at: self.context.now(),
                    version: me.version + 1,
                    ..User::clone(&me)
                };
                let claim = self.claim_email(email, &me.id, true).await?;
                attempt
                    .commit()
                    .with("user", rekey(&*me, &after)?)
                    .with_named(names::released_email(&me, &after))
                    .with_named(claim)
                    .with_all(IDENTITY, self.identity_write(identity, &me.id).await?)
                    .with("credential", Credential::at(&me.id).check(unchanged.clone()))
                    .with_all(SIGN_IN, validity_check(caller))
                    .finish_or(after, |failed| email_refusal(caller, &failed))
                    .await
            })
            .await
    }

    /// Links an identity to a user on behalf of the operator, who knows the person.
    pub async fn link_identity_as_operator(
        &self,
        nickname: &Nickname,
        issuer: &IssuerName,
        subject: &IssuerSubject,
    ) -> Result<(), AccountError> {
        let identity =
            ExternalIdentity { issuer: issuer.clone(), subject: subject.clone(), email: None };
        self.context
            .retry(async |attempt| {
                let user = self.user_named(nickname).await?;
                let Some(write) = self.identity_write(&identity, &user).await? else {
                    return Ok(AttemptOutcome::Done(()));
                };
                attempt
                    .commit()
                    .with(IDENTITY, write)
                    .with("user", active_account_check(&user))
                    .with("audit", self.identity_audit("linkIdentity", &user, &identity)?)
                    .finish_unrecorded(())
                    .await
            })
            .await
    }

    /// Unlinks an identity from a user on behalf of the operator; returns whether it was linked.
    pub async fn unlink_identity_as_operator(
        &self,
        nickname: &Nickname,
        issuer: &IssuerName,
        subject: &IssuerSubject,
    ) -> Result<bool, AccountError> {
        let identity =
            ExternalIdentity { issuer: issuer.clone(), subject: subject.clone(), email: None };
        self.context
            .retry(async |attempt| {
                let user = self.user_named(nickname).await?;
                let linked = self.context.core().identity(issuer, subject).get().await?;
                let Some(linked) = linked.filter(|linked| linked.user_id == user) else {
                    return Ok(AttemptOutcome::Done(false));
                };
                attempt
                    .commit()
                    .with(IDENTITY, linked.key().delete().when(Identity::USER_ID.is(&user)))
                    .with("audit", self.identity_audit("unlinkIdentity", &user, &identity)?)
                    .finish_unrecorded(true)
                    .await
            })
            .await
    }

    /// Returns the identities of a user, for the operator.
    pub async fn identities(&self, nickname: &Nickname) -> Result<Vec<Identity>, AccountError> {
        let user = self.user_named(nickname).await?;
        Ok(self.context.core().identities_of(&user).all().await?)
    }

    /// Unlinks the identities of a user, unless they are to be kept.
    pub(super) async fn unlink_identities(
        &self,
        user: &UserId,
        keys: KeysOnSignOut,
    ) -> Result<(), ServiceError> {
        self.context
            .retry(async |attempt| {
                let unlinked = self.identities_to_unlink(user, keys).await?;
                attempt.commit().with_all(IDENTITY, unlinked).finish_unrecorded(()).await
            })
            .await
    }

    /// Returns the writes that unlink the identities of a user, unless they are to be kept.
    pub(super) async fn identities_to_unlink(
        &self,
        user: &UserId,
        keys: KeysOnSignOut,
    ) -> Result<Vec<Write>, ServiceError> {
        if keys == KeysOnSignOut::Keep {
            return Ok(Vec::new());
        }
        let linked = self.context.core().identities_of(user).all().await?;
        let is_own = Identity::USER_ID.is(user);
        let unlinked = linked.iter().map(|one| one.key().delete().when(is_own.clone()).into());
        Ok(unlinked.collect())
    }

    /// Returns the write that links an identity; `None` if it is linked to this user already.
    pub(super) async fn identity_write(
        &self,
        identity: &ExternalIdentity,
        user: &UserId,
    ) -> Result<Option<Write>, AccountError> {
        let ExternalIdentity { issuer, subject, .. } = identity;
        let core = self.context.core();
        match core.identity(issuer, subject).get().await? {
            Some(linked) if linked.user_id == *user => return Ok(None),
            Some(_) => return Err(AccountError::IdentityTaken),
            None => {}
        }
        // Concurrent requests may exceed the limit slightly, which is harmless.
        if core.identities_of(user).all().await?.len() >= IDENTITIES_MAX {
            return Err(AccountError::TooManyIdentities);
        }
        let identity = Identity {
            issuer: issuer.clone(),
            subject: subject.clone(),
            user_id: user.clone(),
            created_at: self.context.now(),
        };
        Ok(Some(identity.create().into()))
    }

    /// Returns the writes by which a user gets an address. If it is proved to be theirs, an account that
    /// only claims it loses it; otherwise it must be free.
    pub(super) async fn claim_email(
        &self,
        email: &Email,
        user: &UserId,
        is_proved: bool,
    ) -> Result<Vec<NameLockWrite>, AccountError> {
        let now = self.context.now();
        let claimed = EmailLock {
            email: email.clone(),
            user_id: user.clone(),
            created_at: now,
            proved_at: is_proved.then_some(now),
        };
        let Some(lock) = self.context.core().email_lock(email).get().await? else {
            return Ok(vec![(EMAIL, claimed.create().into())]);
        };
        if !is_proved || (lock.proved_at.is_some() && lock.user_id != *user) {
            return Err(AccountError::EmailTaken);
        }
        let unchanged = EmailLock::USER_ID.is(&lock.user_id);
        let unchanged = unchanged.and(EmailLock::PROVED_AT.is(&lock.proved_at));
        let mut writes: Vec<NameLockWrite> = vec![(EMAIL, claimed.put().when(unchanged).into())];
        if lock.user_id != *user {
            let loser = self.context.core().profile(&lock.user_id).strong().get().await?;
            let loser = loser.ok_or(AccountError::EmailTaken)?;
            let after =
                User { email: None, updated_at: now, version: loser.version + 1, ..loser.clone() };
            let detail = Json::encode(&serde_json::json!({ "provedBy": user }));
            let detail = detail.map_err(|invalid| ServiceError::Internal(invalid.to_string()))?;
            let entry = audit::entry(&self.context, None, "loseEmail", &loser.id, Some(detail));
            let lost = rekey(&loser, &after)?;
            writes.extend([("claim", lost.into()), ("audit", entry)]);
        }
        Ok(writes)
    }

    fn identity_audit(
        &self,
        action: &'static str,
        user: &UserId,
        identity: &ExternalIdentity,
    ) -> Result<Write, ServiceError> {
        let ExternalIdentity { issuer, subject, .. } = identity;
        let detail = Json::encode(&serde_json::json!({ "issuer": issuer, "subject": subject }));
        let detail = detail.map_err(|invalid| ServiceError::Internal(invalid.to_string()))?;
        Ok(audit::entry(&self.context, None, action, user, Some(detail)))
    }

    async fn user_named(&self, nickname: &Nickname) -> Result<UserId, AccountError> {
        let lock = self.context.core().nick_lock(nickname).get().await?;
        Ok(lock.ok_or(AccountError::NoSuchUser)?.user_id)
    }
}
