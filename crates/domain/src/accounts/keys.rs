//! API keys: programs use them to act for a user. The secret is shown once, when the key is
//! created.

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::ApiKey;
use roundtable_model::table::essential;
use roundtable_model::{ApiKeyId, Entity, Expiry, InvalidValue, RequestId, Secret, Time, UserId};

use super::invitations::check_future;
use super::revocation::{SIGN_IN, retry_while_valid, validity_check};
use super::tokens::ApiKeyToken;
use super::{AccountError, Accounts, delete_all, require_own};
use crate::access::Permission;
use crate::account::{active_account_check, require_active};
use crate::idempotency::RemovedEntity;
use crate::limits::{API_KEYS_MAX, NAME_CHARS_MAX, SCOPES_MAX, check_count, check_filled};
use crate::pages::fill_page;
use crate::{Caller, CallerCredential, Page, PageInput, Roles, ServiceError};

/// A key with this scope has the roles of its owner; other keys have none.
pub const STAFF_SCOPE: &str = "staff";

const SCOPE_CHARS_MAX: usize = 64;

#[derive(Clone, Debug)]
pub struct NewApiKey {
    pub key: ApiKey,
    /// The complete key as the program presents it. It cannot be read again.
    pub secret: Secret,
}

/// The choice about a user's API keys and linked identities when all sessions end, or all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeysOnSignOut {
    Revoke,
    Keep,
}

#[boxed]
impl Accounts {
    /// Creates an API key, of which its owner is notified. Requires a recent password. The session
    /// must still be open when the key is written, or the identity linked: what ends all sessions,
    /// unlinks all identities and then revokes all keys misses none.
    pub async fn create_key(
        &self,
        caller: &Caller,
        name: &str,
        scopes: &[String],
        expires_at: Option<Time>,
    ) -> Result<NewApiKey, AccountError> {
        let mutation = self.context.mutation(caller).await?;
        require_own(Permission::ManageKeys, caller)?;
        self.require_recent_password(caller)?;
        let me = &mutation.account;
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
        let new = NewApiKey { key, secret: text.text() };
        mutation
            .run(async |me, attempt| {
                attempt
                    .commit()
                    .with("key", new.key.create())
                    .with("user", active_account_check(&me.id))
                    .with_all(SIGN_IN, validity_check(caller))
                    .finish_or(new.clone(), |failed| retry_while_valid(caller, &failed))
                    .await
            })
            .await
    }

    pub async fn keys(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<ApiKey>, AccountError> {
        let me = self.context.authorize_read(caller).await?;
        require_own(Permission::ManageKeys, caller)?;
        fill_page(
            page,
            async |limit, after| {
                self.context.core().api_keys(&me.id).limit(limit).after(after).page().await
            },
            async |keys: Vec<ApiKey>| Ok(keys.into_iter().map(Some).collect()),
        )
        .await
    }

    /// Revokes a key and returns it as it was. Also where the store keeps its last space in reserve.
    pub async fn revoke_key(
        &self,
        caller: &Caller,
        id: &ApiKeyId,
        request: Option<&RequestId>,
    ) -> Result<ApiKey, AccountError> {
        let mutation = self.context.mutation(caller).await?;
        require_own(Permission::ManageKeys, caller)?;
        let mutation = mutation
            .once("revokeApiKey", id, request)?
            .replay(async |RemovedEntity(key): RemovedEntity<ApiKey>| Ok(key));
        essential(mutation.run(async |me, attempt| {
            let key = self.context.core().api_key(&me.id, id).get().await?;
            let key = key.ok_or(AccountError::NoSuchKey)?;
            // The stored outcome must not contain a hash that a key could be checked
            // against.
            let key = ApiKey { secret_hash: Secret::new("revoked"), ..key };
            let commit = attempt.commit().with("key", key.key().delete());
            commit.finish(RemovedEntity(key.clone()), key).await
        }))
        .await
    }

    /// Returns the user behind an API key. A key stops working when its owner's account is
    /// suspended or deleted.
    pub async fn authenticate(&self, key: &Secret) -> Result<Caller, AccountError> {
        let text = ApiKeyToken::parse(key).ok_or(AccountError::InvalidApiKey)?;
        let core = self.context.core();
        let key = core.api_key(&text.user, &text.key).get();
        let (key, owner) = try_join(key, core.profile(&text.user).strong().get()).await?;
        let key =
            key.filter(|key| text.matches(&key.secret_hash)).ok_or(AccountError::InvalidApiKey)?;
        let owner = require_active(owner, AccountError::InvalidApiKey)?;
        let mut caller = Caller::with_roles(owner.id, &owner.roles);
        caller.credential = CallerCredential::ApiKey { id: key.id, scopes: key.scopes };
        if !caller.has_scope(STAFF_SCOPE) {
            caller.roles = Roles::default();
        }
        Ok(caller)
    }

    /// Unlinks the identities of a user and revokes all keys, unless they are to be kept; returns the
    /// number of keys.
    pub(super) async fn revoke_on_sign_out(
        &self,
        user: &UserId,
        keys: KeysOnSignOut,
    ) -> Result<usize, ServiceError> {
        self.unlink_identities(user, keys).await?;
        delete_all(&self.context, &self.keys_to_revoke(user, keys).await?).await
    }

    /// The keys of a user, unless they are to be kept.
    pub(super) async fn keys_to_revoke(
        &self,
        user: &UserId,
        keys: KeysOnSignOut,
    ) -> Result<Vec<ApiKey>, ServiceError> {
        match keys {
            KeysOnSignOut::Keep => Ok(Vec::new()),
            KeysOnSignOut::Revoke => Ok(self.context.core().api_keys(user).all().await?),
        }
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
