//! Authentication: resolves access tokens, API keys and external tokens to a caller.
//!
//! The session of a token is read with every request, from the same store that ends it: signed out
//! means out, at once, on every backend. Roles are not in the token. If it says that the user had any,
//! the profile is read as well: a revoked role is gone at once, and a granted one appears with the next
//! token. Services read the profile anyway, and refuse accounts that are not active.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join;
use roundtable_domain::{Accounts, Caller, Code, Context, Roles, ServiceError};
use roundtable_interface::{ApiError, ClientInfo};
use roundtable_model::{Secret, UserId, UserStatus};
use tokio::time::timeout;

use crate::oidc::{OidcIssuer, OidcToken};
use crate::tokens::{AccessTokens, invalid_token};

/// The prefix of API keys.
const API_KEY_PREFIX: &str = "rtk.";
/// Scopes of API keys.
pub(crate) const READ_SCOPE: &str = "read";
/// Includes [`READ_SCOPE`].
pub(crate) const WRITE_SCOPE: &str = "write";

#[derive(Debug)]
pub(crate) struct Authenticator {
    context: Context,
    tokens: Arc<AccessTokens>,
    oidc: Option<Arc<OidcIssuer>>,
    /// The longest that reading a session, key or account may take.
    timeout: Duration,
}

/// An authenticated or anonymous client, and the second at which its credential expires.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientIdentity {
    pub(crate) client: ClientInfo,
    pub(crate) expires_at: Option<u64>,
}

impl Authenticator {
    pub(crate) const fn new(
        context: Context,
        tokens: Arc<AccessTokens>,
        oidc: Option<Arc<OidcIssuer>>,
        timeout: Duration,
    ) -> Self {
        Self { context, tokens, oidc, timeout }
    }

    /// Authenticates a client; without a credential it is anonymous.
    pub(crate) async fn authenticate(
        &self,
        credential: Option<&str>,
        address: Option<IpAddr>,
    ) -> Result<ClientIdentity, ApiError> {
        let identity = timeout(self.timeout, self.resolve(credential, address)).await;
        identity.unwrap_or_else(|_| {
            let problem = "your credential cannot be checked at the moment; try again";
            Err(ApiError::new(Code::Internal, problem))
        })
    }

    async fn resolve(
        &self,
        credential: Option<&str>,
        address: Option<IpAddr>,
    ) -> Result<ClientIdentity, ApiError> {
        let Some(credential) = credential else {
            return Ok(ClientIdentity {
                client: ClientInfo { address, ..ClientInfo::default() },
                expires_at: None,
            });
        };
        if credential.starts_with(API_KEY_PREFIX) {
            let caller = self.accounts().authenticate(&Secret::new(credential)).await?;
            let client = ClientInfo { caller: Some(caller), address };
            // The lifetime of a token: a subscription ends then, and the next one checks the key again.
            let expires_at = self.context.clock().now_seconds() + u64::from(self.tokens.seconds());
            return Ok(ClientIdentity { client, expires_at: Some(expires_at) });
        }
        if let Some(verified) = self.tokens.verify(credential).await? {
            let accounts = self.accounts();
            let caller = async { Ok(accounts.caller_of(&verified.user, &verified.session).await?) };
            let roles = async {
                if verified.staff { self.roles(&verified.user).await } else { Ok(Roles::default()) }
            };
            let (caller, roles) = try_join(caller, roles).await?;
            let client = ClientInfo { caller: Some(Caller { roles, ..caller }), address };
            return Ok(ClientIdentity { client, expires_at: Some(verified.expires_at) });
        }
        let Some(oidc) = &self.oidc else { return Err(invalid_token()) };
        let external = oidc.verify(credential).await?;
        let caller = self.by_identity(&external).await?;
        let client = ClientInfo { caller: Some(caller), address };
        // As with a key, or a token of ours: the next connection is checked again.
        let lifetime_end = self.context.clock().now_seconds() + u64::from(self.tokens.seconds());
        let expires_at = Some(external.expires_at.min(lifetime_end));
        Ok(ClientIdentity { client, expires_at })
    }

    fn accounts(&self) -> Accounts {
        Accounts::new(self.context.clone())
    }

    /// The user's current roles; none unless the account is active.
    async fn roles(&self, user: &UserId) -> Result<Roles, ApiError> {
        let profile = self.context.core().profile(user).strong().get().await;
        let profile = profile.map_err(ServiceError::from)?.ok_or_else(invalid_token)?;
        let active = profile.status == UserStatus::Active;
        Ok(if active { profile.roles.into_iter().collect() } else { Roles::default() })
    }

    /// The user that the identity of a token is linked to. Its address finds no account: it may have been
    /// claimed by another user.
    async fn by_identity(&self, token: &OidcToken) -> Result<Caller, ApiError> {
        let caller = self.accounts().by_identity(&token.identity, token.signed_in_at).await?;
        let not_linked = || {
            ApiError::new(
                Code::Unauthenticated,
                "this identity is not linked to an account: link it with `linkIdentity` and the account's \
                 password, or sign up with `identityToken`",
            )
        };
        let caller = caller.ok_or_else(not_linked)?;
        let roles = self.roles(&caller.user_id).await?;
        Ok(Caller { roles, ..caller })
    }
}
