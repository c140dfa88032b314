//! Operational records on the day of Ana's post.

use super::cast::{ACTIVITY, ANA, BO, CLEO, POSTED_AT};
use super::read;
use crate::entities::{Checkpoint, DeadLetter, FeedRanking, Job, LoginAttempt, SealedKey, Webhook};
use crate::{Expiry, LoginKey, Secret, Shard};

const WEBHOOK: &str = "01JHMQ3R195G59S2S1KKE59RMZ";

/// Two attempts with a wrong password of Ana's account.
pub fn login_attempt() -> LoginAttempt {
    LoginAttempt {
        kind: LoginKey::Email,
        subject: read("ana.ferreira@mail.example"),
        window: read("2025-01-27T05:45:00.000Z"),
        count: 2,
        locked_until: None,
        paused_until: None,
        ttl: Expiry::at_seconds(1_738_044_000),
    }
}

/// The checkpoint of the counters.
pub fn checkpoint() -> Checkpoint {
    Checkpoint {
        processor: read("counters"),
        stream_shard: read("shardId-00000001737978120451-3f8a61d2"),
        sequence: "0000000000000000000461370200000000052896".into(),
        updated_at: read("2025-01-27T16:20:38.902Z"),
    }
}

/// The fan-out of Ana's activity.
pub fn job() -> Job {
    Job {
        queue: read("fanout"),
        shard: Shard::ZERO,
        due_at: read("2025-01-27T15:30:00.412Z"),
        id: read("01JJM64HJW35RJFJ2XBAHW0GQN"),
        payload: read(&format!(
            r#"{{"home":"{ANA}","createdAt":"{POSTED_AT}","activityId":"{ACTIVITY}"}}"#
        )),
        cursor: Some(BO.into()),
        attempts: 1,
        created_at: read("2025-01-27T15:30:00.412Z"),
    }
}

/// A webhook delivery that failed.
pub fn dead_letter() -> DeadLetter {
    DeadLetter {
        queue: read("webhooks"),
        failed_at: read("2025-01-27T15:09:22.540Z"),
        id: read("01JJM1DYG4MF2KDPB0NR5YHCF0"),
        payload: read(&format!(
            r#"{{"webhookId":"{WEBHOOK}","event":"user.followed","followerId":"{BO}"}}"#
        )),
        cursor: None,
        error: "the endpoint answered 503 Service Unavailable".into(),
        attempts: 8,
        created_at: read("2025-01-27T14:07:45.668Z"),
    }
}

/// Cleo's practice subscribes to new posts.
pub fn webhook() -> Webhook {
    Webhook {
        id: read(WEBHOOK),
        url: "https://hooks.hillside.example/town".into(),
        event_types: vec!["post.created".into(), "user.followed".into()],
        secret: Secret::new("v1.c2FtcGxlIG5vbmNl.Zm9yIGRvY3VtZW50cyBvbmx5OiBhIHNlYWxlZCBzZWNyZXQ"),
        enabled: true,
        generation: 1,
        owner_id: read(CLEO),
        created_at: read("2025-01-15T10:10:58.217Z"),
    }
}

/// Bo's feed by rank, with Ana's post alone.
pub fn feed_ranking() -> FeedRanking {
    FeedRanking {
        user_id: read(BO),
        id: read("01JJM7J6Q8S0HG9N7VW6F0JX3E"),
        activities: read(&format!(r#"[["{ANA}","{POSTED_AT}","{ACTIVITY}"]]"#)),
        ttl: Expiry::at_seconds(1_737_999_000),
    }
}

/// The key that signs access tokens.
pub fn sealed_key() -> SealedKey {
    SealedKey {
        purpose: read("access-tokens"),
        created_at: read("2025-01-06T08:00:00.125Z"),
        id: read("01JGXA1F3X9J92V81E5128Q6RW"),
        // The length of a sealed RSA key of 2048 bits.
        sealed: Secret::new(format!("v1.c2FtcGxlIG5vbmNl.{}", "c2VhbGVk".repeat(204))),
        retired_at: None,
        ttl: None,
    }
}
