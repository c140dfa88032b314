//! Idempotency: a request with an id takes effect once, however often it is sent. Its outcome is
//! recorded in the transaction that causes it.

use data_encoding::{BASE64, HEXLOWER};
use roundtable_model::entities::Idempotency;
use roundtable_model::table::{Item, Write};
use roundtable_model::{Entity, Expiry, Json, RequestCaller, RequestId};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Context, ServiceError};

const OUTCOME_TTL_SECONDS: u64 = 24 * 60 * 60;

/// A request that may be repeated.
#[derive(Clone, Debug)]
pub(crate) struct IdempotentRequest {
    caller: RequestCaller,
    id: RequestId,
    fingerprint: String,
}

impl IdempotentRequest {
    /// The write that records the request; its condition fails if the request is recorded already.
    pub(crate) fn record_write<O: Serialize>(
        &self,
        context: &Context,
        outcome: &O,
    ) -> Result<Write, ServiceError> {
        let now = context.now();
        let idempotency = Idempotency {
            caller: self.caller.clone(),
            request_id: self.id.clone(),
            fingerprint: self.fingerprint.clone(),
            outcome: Json::encode(outcome)
                .map_err(|invalid| ServiceError::Internal(invalid.to_string()))?,
            created_at: now,
            ttl: Expiry::at(now.plus_ms(OUTCOME_TTL_SECONDS * 1000)),
        };
        Ok(idempotency.create().into())
    }
}

/// An entity as it was before its removal, stored inside an outcome to answer a repeated request.
#[derive(Clone, Debug)]
pub(crate) struct RemovedEntity<E>(pub(crate) E);

impl<E: Entity> Serialize for RemovedEntity<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BASE64.encode(self.0.item().as_stored()).serialize(serializer)
    }
}

impl<'de, E: Entity> Deserialize<'de> for RemovedEntity<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64.decode(text.as_bytes()).map_err(D::Error::custom)?;
        let item = Item::from_stored(bytes.into());
        let item = item.ok_or_else(|| D::Error::custom("not an item"))?;
        E::from_item(&item).map(Self).map_err(D::Error::custom)
    }
}

impl Context {
    /// Identifies a request for repetition; `None` if it has no id. `input` is everything the
    /// outcome depends on, without secrets.
    pub(crate) fn idempotent_request<I: Serialize + ?Sized>(
        &self,
        caller: impl Into<RequestCaller>,
        id: Option<&RequestId>,
        operation: &'static str,
        input: &I,
    ) -> Result<Option<IdempotentRequest>, ServiceError> {
        let Some(id) = id else { return Ok(None) };
        let text = serde_json::to_vec(&(operation, input))
            .map_err(|error| ServiceError::Internal(error.to_string()))?;
        let hash = blake3::keyed_hash(self.fingerprint_key(), &text);
        let fingerprint = HEXLOWER.encode(&hash.as_bytes()[..16]);
        Ok(Some(IdempotentRequest { caller: caller.into(), id: id.clone(), fingerprint }))
    }

    /// Returns the outcome of the same request, if it succeeded before.
    pub(crate) async fn earlier_outcome<O: DeserializeOwned>(
        &self,
        request: Option<&IdempotentRequest>,
    ) -> Result<Option<O>, ServiceError> {
        let Some(request) = request else { return Ok(None) };
        let recorded = self.core().outcome(&request.caller, &request.id).get().await?;
        let Some(recorded) = recorded else { return Ok(None) };
        if recorded.fingerprint != request.fingerprint {
            return Err(ServiceError::IdempotencyMismatch);
        }
        let outcome = recorded.outcome.decode();
        Ok(Some(outcome.map_err(|invalid| ServiceError::Internal(invalid.to_string()))?))
    }
}
