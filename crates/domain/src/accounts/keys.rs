//! Keys for programs that act for somebody. A key's secret is shown once, when it is made.

use futures::future::try_join;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::ApiKey;
use roundtable_model::{ApiKeyId, Entity, Expiry, Misfit, RequestId, Secret, Time, UserStatus};

use super::invitations::check_later;
use super::tokens::KeyText;
use super::{AccountError, Accounts, in_person, own};
use crate::access::Act;
use crate::limits::{API_KEYS_MAX, NAME_CHARS_MAX, SCOPES_MAX, check_count, check_filled};
use crate::once::{Kept, Tried};
use crate::pages::fill;
use crate::{Caller, Failure, Page, PageInput, Roles};

/// With this scope a key has the roles of its owner; without it, none.
pub const STAFF_SCOPE: &str = "staff";

/// Characters of a scope.
const SCOPE_CHARS_MAX: usize = 64;

/// A key that was just made.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// What is kept of it.
    pub key: ApiKey,
    /// All of it, as a program shows it: nobody can read it again.
    pub secret: Secret,
}

/// A program that has proven whom it acts for.
#[derive(Clone, Debug)]
pub struct KeyHolder {
    /// Whom it acts for.
    pub caller: Caller,
    /// With which key.
    pub key_id: ApiKeyId,
    /// What the key may be used for.
    pub scopes: Vec<String>,
}

impl KeyHolder {
    /// Whether the key may be used for this.
    pub fn has(&self, scope: &str) -> bool {
        self.scopes.iter().any(|known| known == scope)
    }
}

#[boxed]
impl Accounts {
    /// Makes a key for a program of the caller's. A program makes none itself.
    pub async fn create_key(
        &self,
        caller: &Caller,
        name: &str,
        scopes: &[String],
        expires_at: Option<Time>,
    ) -> Result<NewKey, AccountError> {
        let me = self.ground.account(caller).await?;
        own(Act::ManageKeys)?;
        in_person(caller)?;
        check_filled("name", name, NAME_CHARS_MAX)?;
        check_scopes(scopes)?;
        let now = self.ground.now();
        check_later("expiresAt", expires_at, now)?;
        // Several at the same time may pass here; a few more do no harm.
        if self.ground.core().api_keys(&me.id).all().await?.len() >= API_KEYS_MAX {
            return Err(AccountError::TooManyKeys);
        }
        let id: ApiKeyId = self.ground.ids().next();
        let text = KeyText::new(me.id.clone(), id.clone(), self.ground.chance());
        let mut scopes = scopes.to_vec();
        scopes.sort_unstable();
        scopes.dedup();
        let key = ApiKey {
            user_id: me.id,
            id,
            name: name.trim().to_owned(),
            prefix: text.prefix(),
            secret_hash: text.hash(),
            scopes,
            created_at: now,
            ttl: expires_at.map(Expiry::at),
        };
        self.ground.core().table().put(key.create()).await.map_err(Failure::from)?;
        Ok(NewKey { key, secret: text.text() })
    }

    /// The caller's keys.
    pub async fn keys(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<ApiKey>, AccountError> {
        let me = self.ground.reader(caller).await?;
        own(Act::ManageKeys)?;
        fill(
            page,
            async |limit, after| {
                self.ground.core().api_keys(&me.id).limit(limit).after(after).page().await
            },
            async |keys: Vec<ApiKey>| Ok(keys.into_iter().map(Some).collect()),
        )
        .await
    }

    /// Takes a key away; answers with it as it was.
    pub async fn revoke_key(
        &self,
        caller: &Caller,
        id: &ApiKeyId,
        request: Option<&RequestId>,
    ) -> Result<ApiKey, AccountError> {
        let me = self.ground.account(caller).await?;
        own(Act::ManageKeys)?;
        let request = self.ground.request(&me.id, request, "revokeApiKey", id)?;
        self.ground
            .once(
                request.as_ref(),
                async |Kept(key): Kept<ApiKey>| Ok(key),
                async || {
                    let key = self.ground.core().api_key(&me.id, id).get().await?;
                    let key = key.ok_or(AccountError::NoSuchKey)?;
                    // What is remembered of it is nothing that a key could be checked against.
                    let key = ApiKey { secret_hash: Secret::new("revoked"), ..key };
                    let commit = self.ground.commit().with("key", key.key().delete());
                    let commit = commit.remembering(request.as_ref(), &Kept(key.clone()))?;
                    Ok::<Tried<_>, AccountError>(commit.done(key).await?)
                },
            )
            .await
    }

    /// Whom a program acts for that shows this key. A key is worth nothing once its owner's account
    /// cannot be used.
    pub async fn authenticate(&self, key: &Secret) -> Result<KeyHolder, AccountError> {
        let text = KeyText::parse(key).ok_or(AccountError::WrongKey)?;
        let core = self.ground.core();
        let key = core.api_key(&text.user, &text.key).get();
        let (key, owner) = try_join(key, core.profile(&text.user).strong().get()).await?;
        let key = key.filter(|key| text.fits(&key.secret_hash)).ok_or(AccountError::WrongKey)?;
        let owner = match owner {
            Some(owner) if owner.status == UserStatus::Active => owner,
            Some(owner) if owner.status == UserStatus::Suspended => {
                return Err(Failure::Suspended.into());
            }
            _ => return Err(AccountError::WrongKey),
        };
        let mut caller = Caller::with_roles(owner.id, &owner.roles);
        caller.scopes = Some(key.scopes.clone());
        if !caller.has_scope(STAFF_SCOPE) {
            caller.roles = Roles::default();
        }
        Ok(KeyHolder { caller, key_id: key.id, scopes: key.scopes })
    }
}

/// Refuses scopes that are none. Which ones there are is up to those who ask for them: a scope that
/// nobody asks for allows nothing.
fn check_scopes(scopes: &[String]) -> Result<(), Failure> {
    const EXPECTED: &str = "scopes of 1 to 64 lower-case letters, digits and `_.:-`";
    check_count("scopes", scopes.len(), SCOPES_MAX)?;
    if scopes.is_empty() {
        return Err(Failure::bad("scopes", Misfit::new(EXPECTED, "none")));
    }
    let fits = |char: char| {
        char.is_ascii_lowercase() || char.is_ascii_digit() || matches!(char, '_' | '.' | ':' | '-')
    };
    let is_scope =
        |scope: &String| (1..=SCOPE_CHARS_MAX).contains(&scope.len()) && scope.chars().all(fits);
    match scopes.iter().find(|scope| !is_scope(scope)) {
        Some(other) => {
            Err(Failure::bad("scopes", Misfit::new(EXPECTED, format_args!("\"{other}\""))))
        }
        None => Ok(()),
    }
}
