//! Sessions: one item per signed-in device, whose refresh token is replaced with every use. A
//! reused token is a copy, so it ends the session for all of its holders.
//!
//! Every request with an access token reads its session, so that the token dies with it.
//!
//! A session also ends when the password is changed after the session began. A new password deletes
//! the other sessions in its own transaction. The timestamps of session and credential decide about
//! one that was opened meanwhile with the old password: it cannot be refreshed.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, Session, User};
use roundtable_model::table::essential;
use roundtable_model::{Entity, Expiry, Secret, SessionId, Time, UserId};

use super::devices::DeviceWithToken;
use super::keys::KeysOnSignOut;
use super::tokens::{RefreshToken, TokenState};
use super::{AccountError, Accounts, SignedInUser, delete_all, require_own};
use crate::access::Permission;
use crate::account::{active_account_check, require_active};
use crate::limits::SESSIONS_MAX;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::{Caller, CallerCredential, ServiceError, SignInBasis};

#[boxed]
impl Accounts {
    /// Exchanges a refresh token for the next one. Reusing a token ends its session.
    pub async fn refresh(&self, token: &Secret) -> Result<SignedInUser, AccountError> {
        let token = RefreshToken::parse(token).ok_or(AccountError::SessionEnded)?;
        essential(self.context.retry(|attempt| self.try_refresh(&token, attempt))).await
    }

    async fn try_refresh(
        &self,
        token: &RefreshToken,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<SignedInUser>, AccountError> {
        let session = self.find_session(token).await?.ok_or(AccountError::SessionEnded)?;
        if token.state_for(&session.refresh_hash) == TokenState::Superseded {
            tracing::warn!(user = %token.user, "a refresh token was reused; the session ends");
            self.end_sessions([&session]).await?;
            return Err(AccountError::SessionEnded);
        }
        let user = self.context.core().profile(&token.user).strong().get().await?;
        let user = require_active(user, AccountError::SessionEnded)?;
        let credential = self.context.core().credential(&token.user).get().await?;
        if credential.is_none_or(|credential| session.created_at < credential.updated_at) {
            self.end_sessions([&session]).await?;
            return Err(AccountError::SessionEnded);
        }
        let next = token.next(self.context.entropy());
        let now = self.context.now();
        let unused = Session::REFRESH_HASH.is(&session.refresh_hash);
        let exchanged = Session::at(&token.user, &token.session)
            .patch()
            .set(Session::REFRESH_HASH, &next.hash())
            .set(Session::USED_AT, &Some(now))
            .set(Session::TTL, &self.session_expiry(now))
            .when(unused);
        // If a concurrent exchange won, the next attempt shows whether with this token.
        let commit = attempt.commit().with("session", exchanged);
        commit.finish_unrecorded(SignedInUser::new(user, &next, session.created_at)).await
    }

    /// Returns the caller of an access token, without roles. Fails once the session has ended, and
    /// reads neither the profile nor the credential: a new password deletes the other sessions, and
    /// services check that the account is active.
    pub async fn caller_of(
        &self,
        user: &UserId,
        session: &SessionId,
    ) -> Result<Caller, AccountError> {
        let session = self.context.core().session(user, session).get().await?;
        let Session { id, created_at, .. } = session.ok_or(AccountError::SessionEnded)?;
        let basis = Some(SignInBasis::Session(id));
        let credential = CallerCredential::SignIn { basis, password_at: Some(created_at) };
        Ok(Caller { credential, ..Caller::user(user.clone()) })
    }

    /// Ends the session of this refresh token; returns whether there was one. Works for suspended
    /// accounts, too.
    pub async fn logout(&self, token: &Secret) -> Result<bool, AccountError> {
        let Some(token) = RefreshToken::parse(token) else { return Ok(false) };
        match self.find_session(&token).await? {
            Some(session) => Ok(self.end_sessions([&session]).await? > 0),
            None => Ok(false),
        }
    }

    /// Ends one of the caller's sessions; returns whether it existed.
    pub async fn logout_session(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<bool, AccountError> {
        require_own(Permission::ChangeCredentials, caller)?;
        let session = self.context.core().session(&caller.user_id, session).get().await?;
        Ok(self.end_sessions(&session).await? > 0)
    }

    /// Ends all sessions of the caller and unlinks identities; returns how many API keys it revoked.
    /// Keys come last: a session that has ended, or an identity that is unlinked, creates none, so none
    /// escapes.
    pub async fn logout_everywhere(
        &self,
        caller: &Caller,
        keys: KeysOnSignOut,
    ) -> Result<usize, AccountError> {
        require_own(Permission::ChangeCredentials, caller)?;
        let sessions = self.context.core().sessions(&caller.user_id).all().await?;
        self.end_sessions(&sessions).await?;
        Ok(self.revoke_on_sign_out(&caller.user_id, keys).await?)
    }

    /// Opens a session with a verified credential; fails when the password or account has changed
    /// since.
    pub(super) async fn open_session(
        &self,
        user: User,
        credential: &Credential,
        device: DeviceWithToken,
    ) -> Result<SignedInUser, AccountError> {
        let id: SessionId = self.context.ids().next();
        let token = RefreshToken::first(user.id.clone(), id.clone(), self.context.entropy());
        let now = self.context.now();
        let session = Session {
            user_id: user.id.clone(),
            family: id.clone(),
            id,
            refresh_hash: token.hash(),
            used_at: None,
            created_at: now.max(credential.updated_at),
            ttl: self.session_expiry(now),
        };
        let unchanged = Credential::PASSWORD_HASH.is(&credential.password_hash);
        self.context
            .retry(async |attempt| {
                attempt
                    .commit()
                    .with("session", session.create())
                    .with("device", device.device.put())
                    .with("user", active_account_check(&user.id))
                    .with("credential", Credential::at(&user.id).check(unchanged.clone()))
                    .finish_or((), |_| Err(AccountError::WrongCredentials))
                    .await
            })
            .await?;
        self.end_oldest_sessions(&user.id).await?;
        self.forget_oldest_devices(&device).await?;
        let signed_in = SignedInUser::new(user, &token, session.created_at);
        Ok(SignedInUser { device_token: Some(device.token), ..signed_in })
    }

    /// Deletes sessions; returns how many still existed.
    pub(super) async fn end_sessions(
        &self,
        sessions: impl IntoIterator<Item = &Session>,
    ) -> Result<usize, ServiceError> {
        delete_all(&self.context, sessions).await
    }

    /// Returns the session that issued this token or an earlier one.
    async fn find_session(&self, token: &RefreshToken) -> Result<Option<Session>, ServiceError> {
        let session = self.context.core().session(&token.user, &token.session).get().await?;
        Ok(session.filter(|session| token.state_for(&session.refresh_hash) != TokenState::Unknown))
    }

    /// Ends the least recently used sessions beyond the limit.
    async fn end_oldest_sessions(&self, user: &UserId) -> Result<(), ServiceError> {
        let mut sessions = self.context.core().sessions(user).all().await?;
        let excess = sessions.len().saturating_sub(SESSIONS_MAX);
        if excess > 0 {
            sessions.sort_by_key(|session| session.used_at.unwrap_or(session.created_at));
            self.end_sessions(sessions.iter().take(excess)).await?;
        }
        Ok(())
    }

    fn session_expiry(&self, now: Time) -> Expiry {
        const DAY_MS: u64 = 24 * 60 * 60 * 1000;
        Expiry::at(now.plus_ms(self.context.settings().session_days.saturating_mul(DAY_MS)))
    }
}
