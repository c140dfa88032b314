//! Signed-in devices: one item each, from signing in to signing out, whose refresh token changes with
//! every use. A token that was used before is a copy, and ends the session for everybody who has one.
//!
//! A session is also over when the password was set after it began. That is decided by the times of
//! the two items, so a new password ends the other sessions in its own transaction; taking their items
//! away is tidying up.

use futures::future::try_join_all;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Credential, Session, User};
use roundtable_model::table::Delete;
use roundtable_model::{Entity, Expiry, Secret, SessionId, Time, UserId, UserStatus};

use super::tokens::{Known, RefreshToken};
use super::{AccountError, Accounts, SignedIn, in_person};
use crate::commit::Rejected;
use crate::limits::SESSIONS_MAX;
use crate::{Caller, Failure};

/// How often a token is exchanged anew when its session changes meanwhile.
const ROUNDS_MAX: u32 = 4;

#[boxed]
impl Accounts {
    /// Exchanges a refresh token for the next one. One that was exchanged before ends its session.
    pub async fn refresh(&self, token: &Secret) -> Result<SignedIn, AccountError> {
        let token = RefreshToken::parse(token).ok_or(AccountError::SessionEnded)?;
        for _ in 0..ROUNDS_MAX {
            let session = self.session_of(&token).await?.ok_or(AccountError::SessionEnded)?;
            if token.known_by(&session.refresh_hash) == Known::Earlier {
                tracing::warn!(user = %token.user, "a refresh token was used twice");
                self.end([&session]).await?;
                return Err(AccountError::SessionEnded);
            }
            let user = self.ground.core().profile(&token.user).strong().get().await?;
            let user = match user {
                Some(user) if user.status == UserStatus::Active => user,
                Some(user) if user.status == UserStatus::Suspended => {
                    return Err(Failure::Suspended.into());
                }
                _ => return Err(AccountError::SessionEnded),
            };
            let credential = self.ground.core().credential(&token.user).get().await?;
            if credential.is_none_or(|credential| session.created_at < credential.updated_at) {
                self.end([&session]).await?;
                return Err(AccountError::SessionEnded);
            }
            let next = token.next(self.ground.chance());
            let now = self.ground.now();
            let unused = Session::REFRESH_HASH.is(&session.refresh_hash);
            let exchanged = Session::at(&token.user, &token.session)
                .patch()
                .set(Session::REFRESH_HASH, &next.hash())
                .set(Session::USED_AT, &Some(now))
                .set(Session::TTL, &self.session_ends(now))
                .when(unused);
            match self.ground.commit().with("session", exchanged).run().await {
                Ok(()) => return Ok(SignedIn::new(user, &next)),
                // Somebody was quicker: looking again tells whether with this token.
                Err(Rejected::Refused(_)) => {}
                Err(Rejected::Failed(failure)) => return Err(failure.into()),
            }
        }
        Err(Failure::Busy.into())
    }

    /// Signs the device out that holds this refresh token; tells whether there was one. An account
    /// that is suspended can be signed out of, too.
    pub async fn logout(&self, token: &Secret) -> Result<bool, AccountError> {
        let Some(token) = RefreshToken::parse(token) else { return Ok(false) };
        match self.session_of(&token).await? {
            Some(session) => Ok(self.end([&session]).await? > 0),
            None => Ok(false),
        }
    }

    /// Signs one of the caller's devices out; tells whether it was signed in.
    pub async fn logout_session(
        &self,
        caller: &Caller,
        session: &SessionId,
    ) -> Result<bool, AccountError> {
        let session = self.ground.core().session(&caller.user_id, session).get().await?;
        Ok(self.end(&session).await? > 0)
    }

    /// Signs all of the caller's devices out.
    pub async fn logout_everywhere(&self, caller: &Caller) -> Result<(), AccountError> {
        in_person(caller)?;
        let sessions = self.ground.core().sessions(&caller.user_id).all().await?;
        self.end(&sessions).await?;
        Ok(())
    }

    /// Signs a device in, with the credential that was just proven: nothing happens when the password
    /// or the account has changed since.
    pub(super) async fn open_session(
        &self,
        user: User,
        credential: &Credential,
    ) -> Result<SignedIn, AccountError> {
        let id: SessionId = self.ground.ids().next();
        let token = RefreshToken::first(user.id.clone(), id.clone(), self.ground.chance());
        let now = self.ground.now();
        let session = Session {
            user_id: user.id.clone(),
            family: id.clone(),
            id,
            refresh_hash: token.hash(),
            used_at: None,
            created_at: now.max(credential.updated_at),
            ttl: self.session_ends(now),
        };
        let unchanged = Credential::PASSWORD_HASH.is(&credential.password_hash);
        let commit = self
            .ground
            .commit()
            .with("session", session.create())
            .with("user", User::at(&user.id).check(User::STATUS.is(&UserStatus::Active)))
            .with("credential", Credential::at(&user.id).check(unchanged));
        match commit.run().await {
            Ok(()) => {}
            Err(Rejected::Refused(_)) => return Err(AccountError::WrongCredentials),
            Err(Rejected::Failed(failure)) => return Err(failure.into()),
        }
        self.drop_oldest(&user.id).await?;
        Ok(SignedIn::new(user, &token))
    }

    /// Takes sessions away; returns how many were still there.
    pub(super) async fn end(
        &self,
        sessions: impl IntoIterator<Item = &Session>,
    ) -> Result<usize, Failure> {
        let table = self.ground.core().table();
        let deletes = sessions.into_iter().map(|session| {
            let delete = Delete::new(session.key());
            table.delete(delete.returning(roundtable_model::table::Returning::Old))
        });
        let ended = try_join_all(deletes).await?;
        Ok(ended.into_iter().filter(|written| written.item.is_some()).count())
    }

    /// The session of a token that was once given out.
    async fn session_of(&self, token: &RefreshToken) -> Result<Option<Session>, Failure> {
        let session = self.ground.core().session(&token.user, &token.session).get().await?;
        Ok(session.filter(|session| token.known_by(&session.refresh_hash) != Known::Never))
    }

    /// Devices beyond the limit are signed out, those that were not used for longest.
    async fn drop_oldest(&self, user: &UserId) -> Result<(), Failure> {
        let mut sessions = self.ground.core().sessions(user).all().await?;
        let excess = sessions.len().saturating_sub(SESSIONS_MAX);
        if excess > 0 {
            sessions.sort_by_key(|session| session.used_at.unwrap_or(session.created_at));
            self.end(sessions.iter().take(excess)).await?;
        }
        Ok(())
    }

    fn session_ends(&self, now: Time) -> Expiry {
        const DAY_MS: u64 = 24 * 60 * 60 * 1000;
        Expiry::at(now.plus_ms(self.ground.settings().session_days.saturating_mul(DAY_MS)))
    }
}
