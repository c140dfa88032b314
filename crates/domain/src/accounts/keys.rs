//! API keys: programs use them to act for a user. The secret is shown once, when the key is
//! created.

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::ApiKey;
use roundtable_model::{ApiKeyId, Entity, Expiry, InvalidValue, RequestId, Secret, Time};

use super::invitations::check_future;
use super::tokens::ApiKeyToken;
use super::{AccountError, Accounts, require_own, require_session};
use crate::access::Permission;
use crate::account::require_active;
use crate::idempotency::RemovedEntity;
use crate::limits::{API_KEYS_MAX, NAME_CHARS_MAX, SCOPES_MAX, check_count, check_filled};
use crate::pages::fill_page;
use crate::{Caller, Page, PageInput, Roles, ServiceError};

/// A key with this scope has the roles of its owner; other keys have none.
pub const STAFF_SCOPE: &str = "staff";

const SCOPE_CHARS_MAX: usize = 64;

#[derive(Clone, Debug)]
pub struct NewApiKey {
    pub key: ApiKey,
    /// The complete key as the program presents it. It cannot be read again.
    pub secret: Secret,
}

/// An authenticated API key, with the user it acts for.
#[derive(Clone, Debug)]
pub struct ApiKeyCaller {
    pub caller: Caller,
    pub key_id: ApiKeyId,
    pub scopes: Vec<String>,
}

impl ApiKeyCaller {
    pub fn has(&self, scope: &str) -> bool {
        self.scopes.iter().any(|existing| existing == scope)
    }
}

#[boxed]
impl Accounts {
    /// Creates an API key. Refused to callers that use an API key themselves.
    pub async fn create_key(
        &self,
        caller: &Caller,
        name: &str,
        scopes: &[String],
        expires_at: Option<Time>,
    ) -> Result<NewApiKey, AccountError> {
        let me = self.context.mutation(caller).await?.account;
        require_own(Permission::ManageKeys)?;
        require_session(caller)?;
        check_filled("name", name, NAME_CHARS_MAX)?;
        check_scopes(scopes)?;
        let now = self.context.now();
        check_future("expiresAt", expires_at, now)?;
        // Concurrent requests may exceed the limit slightly, which is harmless.
        if self.context.core().api_keys(&me.id).all().await?.len() >= API_KEYS_MAX {
            return Err(AccountError::TooManyKeys);
        }
        let id: ApiKeyId = self.context.ids().next();
        let text = ApiKeyToken::new(me.id.clone(), id.clone(), self.context.entropy());
        let mut scopes = scopes.to_vec();
        scopes.sort_unstable();
        scopes.dedup();
        let key = ApiKey {
            user_id: me.id.clone(),
            id,
            name: name.trim().to_owned(),
            prefix: text.prefix(),
            secret_hash: text.hash(),
            scopes,
            created_at: now,
            ttl: expires_at.map(Expiry::at),
        };
        self.context.core().table().put(key.create()).await.map_err(ServiceError::from)?;
        Ok(NewApiKey { key, secret: text.text() })
    }

    pub async fn keys(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<ApiKey>, AccountError> {
        let me = self.context.authorize_read(caller).await?;
        require_own(Permission::ManageKeys)?;
        fill_page(
            page,
            async |limit, after| {
                self.context.core().api_keys(&me.id).limit(limit).after(after).page().await
            },
            async |keys: Vec<ApiKey>| Ok(keys.into_iter().map(Some).collect()),
        )
        .await
    }

    /// Revokes a key and returns it as it was.
    pub async fn revoke_key(
        &self,
        caller: &Caller,
        id: &ApiKeyId,
        request: Option<&RequestId>,
    ) -> Result<ApiKey, AccountError> {
        let mutation = self.context.mutation(caller).await?;
        require_own(Permission::ManageKeys)?;
        mutation
            .once("revokeApiKey", id, request)?
            .replay(async |RemovedEntity(key): RemovedEntity<ApiKey>| Ok(key))
            .run(async |me, attempt| {
                let key = self.context.core().api_key(&me.id, id).get().await?;
                let key = key.ok_or(AccountError::NoSuchKey)?;
                // The stored outcome must not contain a hash that a key could be checked
                // against.
                let key = ApiKey { secret_hash: Secret::new("revoked"), ..key };
                let commit = attempt.commit().with("key", key.key().delete());
                commit.finish(RemovedEntity(key.clone()), key).await
            })
            .await
    }

    /// Returns the user behind an API key. A key stops working when its owner's account is
    /// suspended or deleted.
    pub async fn authenticate(&self, key: &Secret) -> Result<ApiKeyCaller, AccountError> {
        let text = ApiKeyToken::parse(key).ok_or(AccountError::InvalidApiKey)?;
        let core = self.context.core();
        let key = core.api_key(&text.user, &text.key).get();
        let (key, owner) = try_join(key, core.profile(&text.user).strong().get()).await?;
        let key =
            key.filter(|key| text.matches(&key.secret_hash)).ok_or(AccountError::InvalidApiKey)?;
        let owner = require_active(owner, AccountError::InvalidApiKey)?;
        let mut caller = Caller::with_roles(owner.id, &owner.roles);
        caller.scopes = Some(key.scopes.clone());
        if !caller.has_scope(STAFF_SCOPE) {
            caller.roles = Roles::default();
        }
        Ok(ApiKeyCaller { caller, key_id: key.id, scopes: key.scopes })
    }
}

/// Refuses malformed scopes. Unknown ones are accepted: a scope that no operation requires allows
/// nothing.
fn check_scopes(scopes: &[String]) -> Result<(), ServiceError> {
    const EXPECTED: &str = "scopes of 1 to 64 lower-case letters, digits and `_.:-`";
    check_count("scopes", scopes.len(), SCOPES_MAX)?;
    if scopes.is_empty() {
        return Err(ServiceError::bad_input("scopes", InvalidValue::new(EXPECTED, "none")));
    }
    let fits = |char: char| {
        char.is_ascii_lowercase() || char.is_ascii_digit() || matches!(char, '_' | '.' | ':' | '-')
    };
    let is_scope =
        |scope: &String| (1..=SCOPE_CHARS_MAX).contains(&scope.len()) && scope.chars().all(fits);
    match scopes.iter().find(|scope| !is_scope(scope)) {
        Some(other) => Err(ServiceError::bad_input(
            "scopes",
            InvalidValue::new(EXPECTED, format_args!("\"{other}\"")),
        )),
        None => Ok(()),
    }
}
