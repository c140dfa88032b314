//! Bookkeeping, in two tables that have no stream, so that it never feeds itself: failed sign-ins,
//! background work, keys. The leases that are also there belong to the DynamoDB backend.

use crate::{
    Expiry, Fields, JobId, Json, LoginKey, LoginName, Processor, Purpose, Queue, Secret, Shard,
    StreamShard, SubjectId, Time, UserId, WebhookId,
};

/// Failed sign-ins of one account, or from one address, in one stretch of time.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct LoginAttempt {
    /// Whether they are counted by e-mail or by address.
    pub kind: LoginKey,
    /// The e-mail or address.
    pub subject: LoginName,
    /// When the stretch began.
    pub window: Time,
    /// How many failed.
    pub count: u64,
    /// Until when no more are taken.
    pub locked_until: Option<Time>,
    /// When it is forgotten.
    pub ttl: Expiry,
}

/// How far a processor has read a shard of the stream.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Checkpoint {
    /// The processor.
    pub processor: Processor,
    /// The shard of the stream.
    pub stream_shard: StreamShard,
    /// The last change it has dealt with, in 40 digits.
    pub sequence: String,
    /// When it got there.
    pub updated_at: Time,
}

/// Work to be done later, a page at a time.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Job {
    /// What kind of work.
    pub queue: Queue,
    /// The part of the queue it is in.
    pub shard: Shard,
    /// When it is to be tried, or tried again.
    pub due_at: Time,
    /// Which job.
    pub id: JobId,
    /// What is to be done.
    pub payload: Json,
    /// Where to go on; absent at the beginning.
    pub cursor: Option<String>,
    /// How often it has been tried.
    pub attempts: u64,
    /// When it was asked for.
    pub created_at: Time,
}

/// Work that failed too often and waits for somebody to look.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct DeadLetter {
    /// What kind of work.
    pub queue: Queue,
    /// When it was given up.
    pub failed_at: Time,
    /// Which job it was.
    pub id: JobId,
    /// What was to be done.
    pub payload: Json,
    /// Where it would have gone on.
    pub cursor: Option<String>,
    /// Why it failed the last time.
    pub error: String,
    /// How often it was tried.
    pub attempts: u64,
    /// When it was asked for.
    pub created_at: Time,
}

/// Who is told of events.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Webhook {
    /// Which endpoint.
    pub id: WebhookId,
    /// Where events are sent.
    pub url: String,
    /// Which events.
    pub event_types: Vec<String>,
    /// What they are signed with.
    pub secret: Secret,
    /// Whether any are sent.
    pub enabled: bool,
    /// Raised whenever it is turned on by hand: who gave it up before did not know of that.
    pub generation: u64,
    /// Who asked for it.
    pub owner_id: UserId,
    /// When.
    pub created_at: Time,
}

/// A signing or cursor key, sealed with the configured secret, that all processes share.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct SealedKey {
    /// What it is for.
    pub purpose: Purpose,
    /// When it was made; the newest one is used.
    pub created_at: Time,
    /// Which key, as signatures name it.
    pub id: SubjectId,
    /// The key, sealed.
    pub sealed: Secret,
    /// Since when it only checks what it signed before.
    pub retired_at: Option<Time>,
    /// When nothing it signed is valid any more.
    pub ttl: Option<Expiry>,
}
