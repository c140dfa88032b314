//! The keys that all processes of an installation share: sealed in `gg_ops`, made by whoever needs one
//! first.
//!
//! Every key has a place that follows from when it begins to be used, and is written where nothing is
//! yet: of several processes that start together one makes it, and all use it. The next key for access
//! tokens is made a day before its time, so that everybody knows it by then, and the one before still
//! checks what it has signed.

mod signing;

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use roundtable_model::entities::SealedKey;
use roundtable_model::table::{Clock, Error as TableError};
use roundtable_model::{Entity, Expiry, Ops, Purpose, Time};

pub(crate) use self::signing::SigningKey;
use crate::seal::Seal;

/// What access tokens are signed with.
const TOKENS: Purpose = Purpose::named("access-tokens");
/// What cursors are sealed with.
pub(crate) const CURSORS: Purpose = Purpose::named("cursors");
/// What the fingerprints of requests are made with.
pub(crate) const FINGERPRINTS: Purpose = Purpose::named("fingerprints");
/// What the addresses of files are signed with.
pub(crate) const FILES: Purpose = Purpose::named("files");

const HOUR_MS: u64 = 60 * 60 * 1000;
const DAY_MS: u64 = 24 * HOUR_MS;
/// How long before its time a key is made.
const AHEAD_MS: u64 = DAY_MS;
/// How long a key is kept beyond the last token it has signed: clocks differ.
const KEPT_MS: u64 = HOUR_MS;
/// Between two looks for a key that nobody here knows: whoever makes up names causes no more reads.
const LOOK_MS: u64 = 5_000;

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] roundtable_model::Error),
    /// They were sealed with another secret.
    #[error(
        "sign-in.secret: the keys of this store were sealed with another secret; give that one, or \
         take the items `KEY#…` of the table for bookkeeping away, which voids all access tokens, \
         cursors and addresses of files"
    )]
    OtherSecret,
    /// The cryptography failed.
    #[error("a key could not be made")]
    NotMade,
}

impl From<TableError> for KeyError {
    fn from(error: TableError) -> Self {
        Self::Store(error.into())
    }
}

/// The keys of an installation.
#[derive(Debug)]
pub(crate) struct Keys {
    ops: Ops,
    clock: Arc<dyn Clock>,
    seal: Seal,
    /// How long one key signs.
    period_ms: u64,
    /// How long what it signs is good.
    token_ms: u64,
    signing: RwLock<Vec<Arc<SigningKey>>>,
    looked_ms: Mutex<u64>,
}

impl Keys {
    /// The keys in this table, sealed with this secret. There is one to sign with afterwards.
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
            looked_ms: Mutex::default(),
        };
        keys.keep_up().await?;
        Ok(keys)
    }

    /// A key of 32 bytes that stays the same.
    pub(crate) async fn lasting(&self, purpose: &Purpose) -> Result<[u8; 32], KeyError> {
        for _ in 0..2 {
            // Its place is fixed, so there is only one.
            if let Some(key) = self.ops.sealed_keys(purpose).all().await?.first() {
                let bytes = self.opened(key)?;
                return bytes.try_into().map_err(|_| KeyError::OtherSecret);
            }
            let mut bytes = [0; 32];
            aws_lc_rs::rand::fill(&mut bytes).map_err(|_| KeyError::NotMade)?;
            self.write(purpose, Time::EPOCH, &bytes).await?;
        }
        Err(KeyError::NotMade)
    }

    /// The key to sign with at this moment.
    pub(crate) fn signer(&self) -> Option<Arc<SigningKey>> {
        let now = Time::now(&*self.clock);
        let keys = self.signing.read();
        let begun = keys.iter().filter(|key| key.since <= now);
        begun.max_by_key(|key| key.since).or(keys.first()).cloned()
    }

    /// The key that a signature names. One that another process has just made is looked for.
    pub(crate) async fn named(&self, id: &str) -> Result<Option<Arc<SigningKey>>, KeyError> {
        if let Some(key) = self.known(id) {
            return Ok(Some(key));
        }
        let now_ms = self.clock.now_ms();
        let is_due = {
            let mut looked_ms = self.looked_ms.lock();
            let is_due = now_ms >= looked_ms.saturating_add(LOOK_MS);
            if is_due {
                *looked_ms = now_ms;
            }
            is_due
        };
        if is_due {
            self.read().await?;
        }
        Ok(self.known(id))
    }

    fn known(&self, id: &str) -> Option<Arc<SigningKey>> {
        self.signing.read().iter().find(|key| key.id == id).cloned()
    }

    /// What others check signatures with, as `/.well-known/jwks.json` shows it.
    pub(crate) fn published(&self) -> serde_json::Value {
        let keys: Vec<_> = self.signing.read().iter().map(|key| key.public.clone()).collect();
        serde_json::json!({ "keys": keys })
    }

    /// Reads the keys, makes the next one when it is time, and lets those go that nothing needs any
    /// more.
    pub(crate) async fn keep_up(&self) -> Result<(), KeyError> {
        let stored = self.read().await?;
        let now = Time::now(&*self.clock);
        let this = Time::from_ms(now.ms() - now.ms() % self.period_ms);
        let next = this.plus_ms(self.period_ms);
        let has = |begin: Time| stored.iter().any(|key| key.created_at >= begin);
        // Whoever makes it: it is there afterwards.
        let mut is_changed = false;
        if !has(this) {
            self.make(this).await?;
            is_changed = true;
        }
        if now.plus_ms(AHEAD_MS) >= next && !has(next) {
            self.make(next).await?;
            is_changed = true;
        }
        let stored = if is_changed { self.read().await? } else { stored };
        self.retire(&stored, now).await
    }

    /// Begins to sign with a new key at once; what was signed before stays good.
    pub(crate) async fn rotate(&self) -> Result<(), KeyError> {
        self.make(Time::now(&*self.clock)).await?;
        self.keep_up().await
    }

    async fn read(&self) -> Result<Vec<SealedKey>, KeyError> {
        let stored = self.ops.sealed_keys(&TOKENS).all().await?;
        let mut keys = Vec::with_capacity(stored.len());
        for key in &stored {
            let id = key.id.to_string();
            let known = if let Some(known) = self.known(&id) {
                known
            } else {
                let read = SigningKey::read(id, key.created_at, &self.opened(key)?);
                Arc::new(read.ok_or(KeyError::NotMade)?)
            };
            keys.push(known);
        }
        *self.signing.write() = keys;
        Ok(stored)
    }

    /// Makes a key that signs from a time on; whether nobody else has.
    async fn make(&self, since: Time) -> Result<bool, KeyError> {
        let made = tokio::task::spawn_blocking(signing::generate).await;
        let bytes = made.ok().flatten().ok_or(KeyError::NotMade)?;
        self.write(&TOKENS, since, &bytes).await
    }

    async fn write(&self, purpose: &Purpose, since: Time, bytes: &[u8]) -> Result<bool, KeyError> {
        let id = format!("k{}", since.ms());
        let sealed = self.seal.close(&place(purpose, &id), bytes).ok_or(KeyError::NotMade)?;
        let key = SealedKey {
            purpose: purpose.clone(),
            created_at: since,
            id: id.parse().map_err(|_| KeyError::NotMade)?,
            sealed,
            retired_at: None,
            ttl: None,
        };
        match self.ops.table().put(key.create()).await {
            Ok(_) => {
                tracing::info!(%purpose, key = id, "made a key");
                Ok(true)
            }
            Err(TableError::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// A key that another has followed checks what it signed, and is forgotten when that is over.
    async fn retire(&self, stored: &[SealedKey], now: Time) -> Result<(), KeyError> {
        for key in stored.iter().filter(|key| key.retired_at.is_none()) {
            let after = stored.iter().map(|other| other.created_at);
            let next = after.filter(|other| *other > key.created_at && *other <= now).min();
            let Some(next) = next else { continue };
            let gone = Expiry::at(now.plus_ms(self.token_ms + KEPT_MS));
            let patch = key.key().patch().set(SealedKey::RETIRED_AT, &Some(next));
            let patch = patch.set(SealedKey::TTL, &Some(gone));
            match self.ops.table().update(patch.into()).await {
                // Gone by itself.
                Ok(_) | Err(TableError::ConditionFailed { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn opened(&self, key: &SealedKey) -> Result<Vec<u8>, KeyError> {
        let place = place(&key.purpose, &key.id.to_string());
        self.seal.open(&place, &key.sealed).ok_or(KeyError::OtherSecret)
    }
}

/// What a key is sealed for.
fn place(purpose: &Purpose, id: &str) -> String {
    format!("{purpose}#{id}")
}
