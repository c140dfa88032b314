//! Sessions: one item per signed-in device, whose refresh token is replaced with every use. A
//! reused token is a copy, so it ends the session for all of its holders.
//!
//! A session also ends when the password is changed after the session began. The timestamps of the
//! two items decide that, so a new password ends other sessions in its own transaction; deleting
//! their items is only cleanup.

use futures::future::try_join_all;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, Session, User};
use roundtable_model::table::Delete;
use roundtable_model::{Entity, Expiry, Secret, SessionId, Time, UserId};

use super::devices::DeviceWithToken;
use super::tokens::{RefreshToken, TokenState};
use super::{AccountError, Accounts, SignedInUser, require_session};
use crate::account::{active_account_check, require_active};
use crate::limits::SESSIONS_MAX;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::{Caller, ServiceError};

#[boxed]
impl Accounts {
    /// Exchanges a refresh token for the next one. Reusing a token ends its session.
    pub async fn refresh(&self, token: &Secret) -> Result<SignedInUser, AccountError> {
        let token = RefreshToken::parse(token).ok_or(AccountError::SessionEnded)?;
        self.context.retry(|attempt| self.try_refresh(&token, attempt)).await
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
        commit.finish_unrecorded(SignedInUser::new(user, &next)).await
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
        let session = self.context.core().session(&caller.user_id, session).get().await?;
        Ok(self.end_sessions(&session).await? > 0)
    }

    pub async fn logout_everywhere(&self, caller: &Caller) -> Result<(), AccountError> {
        require_session(caller)?;
        let sessions = self.context.core().sessions(&caller.user_id).all().await?;
        self.end_sessions(&sessions).await?;
        Ok(())
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
        Ok(SignedInUser { device_token: Some(device.token), ..SignedInUser::new(user, &token) })
    }

    /// Deletes sessions; returns how many still existed.
    pub(super) async fn end_sessions(
        &self,
        sessions: impl IntoIterator<Item = &Session>,
    ) -> Result<usize, ServiceError> {
        let table = self.context.core().table();
        let deletes = sessions.into_iter().map(|session| {
            let delete = Delete::new(session.key());
            table.delete(delete.returning(roundtable_model::table::Returning::Old))
        });
        let ended = try_join_all(deletes).await?;
        Ok(ended.into_iter().filter(|written| written.item.is_some()).count())
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
