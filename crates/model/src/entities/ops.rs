//! Operational records in two tables without a stream, so that processing them never causes further
//! changes: failed sign-ins, background work, keys. The stream leases in the same table belong to
//! the DynamoDB backend.

use crate::{
    ActivityId, ActorId, Expiry, Fields, JobId, Json, LoginKey, LoginName, ProcessorName, Purpose,
    Queue, RankingId, Secret, Shard, StreamShard, SubjectId, Time, UserId, WebhookId,
};

/// Failed sign-ins of one [`LoginKey`] in one time window.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct LoginAttempt {
    pub kind: LoginKey,
    /// The account, network or device.
    pub subject: LoginName,
    /// The start of the window.
    pub window: Time,
    /// The number of failures.
    pub count: u64,
    /// The time until which further attempts are refused after the last permitted failure.
    pub locked_until: Option<Time>,
    /// The time until which further attempts are refused after an earlier failure.
    pub paused_until: Option<Time>,
    /// The time the count expires.
    pub ttl: Expiry,
}

impl LoginAttempt {
    /// Returns the time until which further attempts are refused; it may have passed.
    pub fn refused_until(&self) -> Option<Time> {
        self.locked_until.max(self.paused_until)
    }
}

/// The position of a processor in a shard of the stream.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Checkpoint {
    pub processor: ProcessorName,
    pub stream_shard: StreamShard,
    /// The sequence number of the last processed change, in 40 digits.
    pub sequence: String,
    pub updated_at: Time,
}

/// Background work, done a page at a time.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Job {
    pub queue: Queue,
    pub shard: Shard,
    /// The time of the next attempt.
    pub due_at: Time,
    pub id: JobId,
    pub payload: Json,
    /// The position to continue from; absent at the start.
    pub cursor: Option<String>,
    /// The number of attempts so far.
    pub attempts: u64,
    pub created_at: Time,
}

/// Work that failed too often and waits for an operator.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct DeadLetter {
    pub queue: Queue,
    /// The time of the last attempt.
    pub failed_at: Time,
    /// The id of the job.
    pub id: JobId,
    pub payload: Json,
    /// The position it would have continued from.
    pub cursor: Option<String>,
    /// The error of the last attempt.
    pub error: String,
    /// The number of attempts.
    pub attempts: u64,
    pub created_at: Time,
}

/// An endpoint that receives events.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct Webhook {
    pub id: WebhookId,
    /// The URL that events are sent to.
    pub url: String,
    /// The names of the events it receives.
    pub event_types: Vec<String>,
    /// The secret that events are signed with.
    pub secret: Secret,
    pub enabled: bool,
    /// Incremented whenever it is enabled by hand, so that a worker that saw an older generation
    /// cannot disable it again.
    pub generation: u64,
    pub owner_id: UserId,
    pub created_at: Time,
}

/// A reader's feed in the order of rank, as its first page found it.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct FeedRanking {
    pub user_id: UserId,
    pub id: RankingId,
    /// The [activities](RankedActivity), highest rank first.
    pub activities: Json,
    pub ttl: Expiry,
}

/// The position of an activity: its home, time and id. A tuple, because there are hundreds in one item.
pub type RankedActivity = (ActorId, Time, ActivityId);

/// A signing or cursor key, sealed with the configured secret, that all processes share.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
#[cfg_attr(test, derive(crate::Sample))]
pub struct SealedKey {
    pub purpose: Purpose,
    /// The time it was created; the newest key is used.
    pub created_at: Time,
    /// The id that signatures name.
    pub id: SubjectId,
    pub sealed: Secret,
    /// The time from which it only verifies existing signatures.
    pub retired_at: Option<Time>,
    /// The time from which nothing it signed is valid any more.
    pub ttl: Option<Expiry>,
}
