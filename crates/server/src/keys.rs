//! The keys that all processes of an installation share, sealed in `gg_ops`.
//!
//! A key's item is named after the time it takes effect and is written only if absent: of several
//! processes that start together, one creates it and all use it. The next signing key is created a day
//! early, so that every process has it in time; the previous one still verifies what it signed.

mod signing;

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use roundtable_model::entities::SealedKey;
use roundtable_model::table::{Clock, Error as TableError};
use roundtable_model::{Entity, Expiry, Ops, Purpose, Time};

pub(crate) use self::signing::TokenSigningKey;
use crate::seal::Seal;

const ACCESS_TOKENS: Purpose = Purpose::from_static("access-tokens");
pub(crate) const CURSORS: Purpose = Purpose::from_static("cursors");
pub(crate) const FINGERPRINTS: Purpose = Purpose::from_static("fingerprints");
pub(crate) const FILES: Purpose = Purpose::from_static("files");

const HOUR_MS: u64 = 60 * 60 * 1000;
const DAY_MS: u64 = 24 * HOUR_MS;
/// Time before its first use that a key is created.
const LEAD_MS: u64 = DAY_MS;
/// Time that a key is kept beyond the last token it signed, because clocks differ.
const GRACE_MS: u64 = HOUR_MS;
/// Time between two searches for an unknown key, so that forged key ids cause no extra reads.
const SEARCH_INTERVAL_MS: u64 = 5_000;

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error(transparent)]
    Store(#[from] roundtable_model::Error),
    #[error(
        "sign-in.secret: the keys of this store were sealed with another secret; configure that one, \
         or delete the items `KEY#…` of the operations table, which invalidates all access tokens, \
         cursors and media URLs"
    )]
    WrongSecret,
    #[error("a key could not be created, because the cryptography library failed")]
    CannotCreate,
}

impl From<TableError> for KeyError {
    fn from(error: TableError) -> Self {
        Self::Store(error.into())
    }
}

#[derive(Debug)]
pub(crate) struct KeyRing {
    ops: Ops,
    clock: Arc<dyn Clock>,
    seal: Seal,
    period_ms: u64,
    /// The lifetime of a signed token.
    token_ms: u64,
    signing: RwLock<Vec<Arc<TokenSigningKey>>>,
    searched_ms: Mutex<u64>,
}

impl KeyRing {
    /// Opens the key ring; afterwards it holds a signing key.
    pub(crate) async fn open(
        ops: Ops,
        clock: Arc<dyn Clock>,
        seal: Seal,
        key_days: u32,
        token_seconds: u32,
    ) -> Result<Self, KeyError> {
        let keys = Self {
            ops,
            clock,
            seal,
            period_ms: u64::from(key_days.max(1)) * DAY_MS,
            token_ms: u64::from(token_seconds) * 1000,
            signing: RwLock::default(),
            searched_ms: Mutex::default(),
        };
        keys.maintain().await?;
        Ok(keys)
    }

    /// A 32-byte key that is never rotated, created on first use.
    pub(crate) async fn permanent_key(&self, purpose: &Purpose) -> Result<[u8; 32], KeyError> {
        for _ in 0..2 {
            // The item's name is fixed, so there is only one.
            if let Some(key) = self.ops.sealed_keys(purpose).all().await?.first() {
                let bytes = self.unseal(key)?;
                return bytes.try_into().map_err(|_| KeyError::WrongSecret);
            }
            let mut bytes = [0; 32];
            aws_lc_rs::rand::fill(&mut bytes).map_err(|_| KeyError::CannotCreate)?;
            self.write(purpose, Time::EPOCH, &bytes).await?;
        }
        Err(KeyError::CannotCreate)
    }

    /// The key that signs now.
    pub(crate) fn signing_key(&self) -> Option<Arc<TokenSigningKey>> {
        let now = Time::now(&*self.clock);
        let keys = self.signing.read();
        let active = keys.iter().filter(|key| key.since <= now);
        active.max_by_key(|key| key.since).or(keys.first()).cloned()
    }

    /// The key with this id; reads the table again if another process may just have created it.
    pub(crate) async fn find(&self, id: &str) -> Result<Option<Arc<TokenSigningKey>>, KeyError> {
        if let Some(key) = self.cached(id) {
            return Ok(Some(key));
        }
        let now_ms = self.clock.now_ms();
        let is_due = {
            let mut searched_ms = self.searched_ms.lock();
            let is_due = now_ms >= searched_ms.saturating_add(SEARCH_INTERVAL_MS);
            if is_due {
                *searched_ms = now_ms;
            }
            is_due
        };
        if is_due {
            self.read().await?;
        }
        Ok(self.cached(id))
    }

    fn cached(&self, id: &str) -> Option<Arc<TokenSigningKey>> {
        self.signing.read().iter().find(|key| key.id == id).cloned()
    }

    /// The public keys, as `/.well-known/jwks.json` shows them.
    pub(crate) fn jwks(&self) -> serde_json::Value {
        let keys: Vec<_> = self.signing.read().iter().map(|key| key.public.clone()).collect();
        serde_json::json!({ "keys": keys })
    }

    /// Reads the keys, creates the next one when it is due, and retires replaced ones.
    pub(crate) async fn maintain(&self) -> Result<(), KeyError> {
        let stored = self.read().await?;
        let now = Time::now(&*self.clock);
        let current = Time::from_ms(now.ms() - now.ms() % self.period_ms);
        let next = current.plus_ms(self.period_ms);
        let exists = |begin: Time| stored.iter().any(|key| key.created_at >= begin);
        // Another process may create it first; either way it exists afterwards.
        let mut has_created = false;
        if !exists(current) {
            self.create(current).await?;
            has_created = true;
        }
        if now.plus_ms(LEAD_MS) >= next && !exists(next) {
            self.create(next).await?;
            has_created = true;
        }
        let stored = if has_created { self.read().await? } else { stored };
        self.retire(&stored, now).await
    }

    /// Signs with a new key at once; older tokens stay valid.
    pub(crate) async fn rotate(&self) -> Result<(), KeyError> {
        self.create(Time::now(&*self.clock)).await?;
        self.maintain().await
    }

    async fn read(&self) -> Result<Vec<SealedKey>, KeyError> {
        let stored = self.ops.sealed_keys(&ACCESS_TOKENS).all().await?;
        let mut keys = Vec::with_capacity(stored.len());
        for key in &stored {
            let id = key.id.to_string();
            let key = if let Some(cached) = self.cached(&id) {
                cached
            } else {
                let read = TokenSigningKey::read(id, key.created_at, &self.unseal(key)?);
                Arc::new(read.ok_or(KeyError::CannotCreate)?)
            };
            keys.push(key);
        }
        *self.signing.write() = keys;
        Ok(stored)
    }

    /// Creates a signing key; returns whether this process was the first.
    async fn create(&self, since: Time) -> Result<bool, KeyError> {
        let generated = tokio::task::spawn_blocking(signing::generate).await;
        let bytes = generated.ok().flatten().ok_or(KeyError::CannotCreate)?;
        self.write(&ACCESS_TOKENS, since, &bytes).await
    }

    async fn write(&self, purpose: &Purpose, since: Time, bytes: &[u8]) -> Result<bool, KeyError> {
        let id = format!("k{}", since.ms());
        let sealed =
            self.seal.seal(&seal_context(purpose, &id), bytes).ok_or(KeyError::CannotCreate)?;
        let key = SealedKey {
            purpose: purpose.clone(),
            created_at: since,
            id: id.parse().map_err(|_| KeyError::CannotCreate)?,
            sealed,
            retired_at: None,
            ttl: None,
        };
        match self.ops.table().put(key.create()).await {
            Ok(_) => {
                tracing::info!(%purpose, key = id, "created a key");
                Ok(true)
            }
            Err(TableError::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Marks replaced keys to expire after the last token they signed.
    async fn retire(&self, stored: &[SealedKey], now: Time) -> Result<(), KeyError> {
        for key in stored.iter().filter(|key| key.retired_at.is_none()) {
            let starts = stored.iter().map(|other| other.created_at);
            let next = starts.filter(|other| *other > key.created_at && *other <= now).min();
            let Some(next) = next else { continue };
            let expiry = Expiry::at(now.plus_ms(self.token_ms + GRACE_MS));
            let patch = key.key().patch().set(SealedKey::RETIRED_AT, &Some(next));
            let patch = patch.set(SealedKey::TTL, &Some(expiry));
            match self.ops.table().update(patch.into()).await {
                // Already expired.
                Ok(_) | Err(TableError::ConditionFailed { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn unseal(&self, key: &SealedKey) -> Result<Vec<u8>, KeyError> {
        let context = seal_context(&key.purpose, &key.id.to_string());
        self.seal.open(&context, &key.sealed).ok_or(KeyError::WrongSecret)
    }
}

fn seal_context(purpose: &Purpose, id: &str) -> String {
    format!("{purpose}#{id}")
}
