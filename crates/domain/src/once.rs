//! A request with an id has the effect of one, however often it is sent: its outcome is remembered in
//! the transaction that makes it.

use std::time::Duration;

use data_encoding::{BASE64, HEXLOWER};
use roundtable_model::entities::Idempotency;
use roundtable_model::table::{Item, Write};
use roundtable_model::{Caller as RequestCaller, Entity, Expiry, Json, RequestId};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tokio::time::timeout;

use crate::limits::MUTATION_TIME_MAX;
use crate::{Failure, Ground};

/// How long an outcome is remembered.
const REMEMBERED_SECONDS: u64 = 24 * 60 * 60;
/// How often a mutation is tried against others that change the same things.
const ATTEMPTS_MAX: u32 = 12;
/// How long the second attempt waits; the others longer, up to thirty-two times.
const FIRST_WAIT: Duration = Duration::from_micros(500);

/// A request that may be sent again.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    caller: RequestCaller,
    id: RequestId,
    fingerprint: String,
}

impl Request {
    /// The write that remembers it; refused when it has been remembered already.
    pub(crate) fn remember<O: Serialize>(
        &self,
        ground: &Ground,
        outcome: &O,
    ) -> Result<Write, Failure> {
        let now = ground.now();
        let idempotency = Idempotency {
            caller: self.caller.clone(),
            request_id: self.id.clone(),
            fingerprint: self.fingerprint.clone(),
            outcome: Json::of(outcome).map_err(|misfit| Failure::Internal(misfit.to_string()))?,
            created_at: now,
            ttl: Expiry::at(now.plus_ms(REMEMBERED_SECONDS * 1000)),
        };
        Ok(idempotency.create().into())
    }
}

/// How an attempt at a mutation ended.
pub(crate) enum Tried<T> {
    /// It is done.
    Done(T),
    /// Somebody else changed what it was based on; look again.
    Again,
}

/// An entity as it was, inside an outcome: what a removal answers with.
#[derive(Clone, Debug)]
pub(crate) struct Kept<E>(pub(crate) E);

impl<E: Entity> Serialize for Kept<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BASE64.encode(self.0.item().as_stored()).serialize(serializer)
    }
}

impl<'de, E: Entity> Deserialize<'de> for Kept<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64.decode(text.as_bytes()).map_err(D::Error::custom)?;
        let item = Item::from_stored(bytes.into());
        let item = item.ok_or_else(|| D::Error::custom("not an item"))?;
        E::from_item(&item).map(Self).map_err(D::Error::custom)
    }
}

impl Ground {
    /// What a repetition of this request is known by; `None` when it has no id. `input` is all that the
    /// outcome depends on, without secrets.
    pub(crate) fn request<I: Serialize>(
        &self,
        caller: impl Into<RequestCaller>,
        id: Option<&RequestId>,
        operation: &'static str,
        input: &I,
    ) -> Result<Option<Request>, Failure> {
        let Some(id) = id else { return Ok(None) };
        let text = serde_json::to_vec(&(operation, input))
            .map_err(|error| Failure::Internal(error.to_string()))?;
        let hash = blake3::keyed_hash(self.fingerprint_key(), &text);
        let fingerprint = HEXLOWER.encode(&hash.as_bytes()[..16]);
        Ok(Some(Request { caller: caller.into(), id: id.clone(), fingerprint }))
    }

    /// Tries a mutation until it is done or refused, or has taken [`MUTATION_TIME_MAX`]. When the same
    /// request has been done before, its outcome is rendered as it is now instead.
    // Not `AsyncFn`: nobody could tell that its futures are `Send`, and a server needs them to be.
    pub(crate) async fn once<O, T, E, Replayed, Attempted>(
        &self,
        request: Option<&Request>,
        replay: impl Fn(O) -> Replayed,
        attempt: impl Fn() -> Attempted,
    ) -> Result<T, E>
    where
        O: DeserializeOwned,
        E: From<Failure>,
        Replayed: Future<Output = Result<T, E>>,
        Attempted: Future<Output = Result<Tried<T>, E>>,
    {
        let tried = timeout(MUTATION_TIME_MAX, self.tried(request, replay, attempt)).await;
        tried.unwrap_or_else(|_| Err(Failure::Busy.into()))
    }

    async fn tried<O, T, E, Replayed, Attempted>(
        &self,
        request: Option<&Request>,
        replay: impl Fn(O) -> Replayed,
        attempt: impl Fn() -> Attempted,
    ) -> Result<T, E>
    where
        O: DeserializeOwned,
        E: From<Failure>,
        Replayed: Future<Output = Result<T, E>>,
        Attempted: Future<Output = Result<Tried<T>, E>>,
    {
        let mut wait = FIRST_WAIT;
        for _ in 0..ATTEMPTS_MAX {
            if let Some(outcome) = self.earlier(request).await? {
                return replay(outcome).await;
            }
            match attempt().await {
                Ok(Tried::Done(outcome)) => return Ok(outcome),
                Ok(Tried::Again) => tokio::time::sleep(wait).await,
                // What refused it may be the same request, done since the look above.
                Err(refusal) => match self.earlier(request).await? {
                    Some(outcome) => return replay(outcome).await,
                    None => return Err(refusal),
                },
            }
            wait = (wait * 2).min(FIRST_WAIT * 32);
        }
        Err(Failure::Busy.into())
    }

    /// The outcome of the same request, if it has been done before.
    async fn earlier<O: DeserializeOwned>(
        &self,
        request: Option<&Request>,
    ) -> Result<Option<O>, Failure> {
        let Some(request) = request else { return Ok(None) };
        let known = self.core().outcome(&request.caller, &request.id).get().await?;
        let Some(known) = known else { return Ok(None) };
        if known.fingerprint != request.fingerprint {
            return Err(Failure::IdempotencyMismatch);
        }
        let outcome = known.outcome.to();
        Ok(Some(outcome.map_err(|misfit| Failure::Internal(misfit.to_string()))?))
    }
}
