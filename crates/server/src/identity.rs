//! Who asks: what a request shows to prove it, and what that is worth at this moment.
//!
//! An access token says who somebody is. Roles come from the profile: only of those whose token says
//! that they had some is it read, with every request, so a role that was taken away is gone at once, and
//! one that was given is there with the next token.

use std::net::IpAddr;
use std::sync::Arc;

use roundtable_domain::{Accounts, Caller, Code, Failure, Ground, Roles};
use roundtable_graphql::{Client, Refused};
use roundtable_model::{Email, Secret, UserId, UserStatus};

use crate::oidc::Oidc;
use crate::tokens::{Tokens, not_valid};

/// How keys for programs begin.
const KEY: &str = "rtk.";
/// What keys for programs must be for, to read and to change things.
pub(crate) const READ_SCOPE: &str = "read";
/// See [`READ_SCOPE`]; who may change things may read them.
pub(crate) const WRITE_SCOPE: &str = "write";

/// Finds out who asks.
#[derive(Debug)]
pub(crate) struct Identity {
    ground: Ground,
    tokens: Arc<Tokens>,
    oidc: Option<Arc<Oidc>>,
}

/// Somebody, and until when that is known, in seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) client: Client,
    pub(crate) until: Option<u64>,
}

impl Identity {
    pub(crate) const fn new(ground: Ground, tokens: Arc<Tokens>, oidc: Option<Arc<Oidc>>) -> Self {
        Self { ground, tokens, oidc }
    }

    /// Whoever shows this, or nobody in particular.
    pub(crate) async fn of(
        &self,
        proof: Option<&str>,
        address: Option<IpAddr>,
    ) -> Result<Known, Refused> {
        let Some(proof) = proof else {
            return Ok(Known { client: Client { address, ..Client::default() }, until: None });
        };
        if proof.starts_with(KEY) {
            let holder =
                Accounts::new(self.ground.clone()).authenticate(&Secret::new(proof)).await?;
            let client = Client { caller: Some(holder.caller), session: None, address };
            // As long as a token: what listens with it ends, and shows whether it is still a key.
            let until = self.ground.clock().now_seconds() + u64::from(self.tokens.seconds());
            return Ok(Known { client, until: Some(until) });
        }
        if let Some(proven) = self.tokens.read(proof).await? {
            let roles =
                if proven.staff { self.roles(&proven.user).await? } else { Roles::default() };
            let caller = Caller { user_id: proven.user, roles, scopes: None };
            let client = Client { caller: Some(caller), session: Some(proven.session), address };
            return Ok(Known { client, until: Some(proven.until) });
        }
        let Some(oidc) = &self.oidc else { return Err(not_valid()) };
        let vouched = oidc.read(proof).await?;
        let caller = self.by_email(&vouched.email).await?;
        let client = Client { caller: Some(caller), session: None, address };
        Ok(Known { client, until: Some(vouched.until) })
    }

    /// The roles that somebody has now. What an account that is suspended may still do, services decide.
    async fn roles(&self, user: &UserId) -> Result<Roles, Refused> {
        let profile = self.ground.core().profile(user).strong().get().await;
        let profile = profile.map_err(Failure::from)?.ok_or_else(not_valid)?;
        let active = profile.status == UserStatus::Active;
        Ok(if active { profile.roles.into_iter().collect() } else { Roles::default() })
    }

    /// Whoever has the address that somebody else vouches for.
    async fn by_email(&self, email: &Email) -> Result<Caller, Refused> {
        let core = self.ground.core();
        let lock = core.email_lock(email).get().await.map_err(Failure::from)?;
        let none =
            || Refused::new(Code::Unauthenticated, "there is no account for this token; sign up");
        let user = lock.ok_or_else(none)?.user_id;
        let roles = self.roles(&user).await?;
        Ok(Caller { user_id: user, roles, scopes: None })
    }
}
