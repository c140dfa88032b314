//! The activity of Ana's post, the feeds it reaches, and a notification.

use super::cast::{
    ACTIVITY, ANA, BO, CLEO, COMMENT, LIKED_AT, NOTIFICATION, PICTURE, POST, POSTED_AT, PREVIEW,
    PROMOTED_AT,
};
use super::posts::picture;
use super::{read, read_all};
use crate::entities::{
    Activity, ActorHead, FeedHorizon, FeedItem, Holder, Interval, Notification,
    NotificationPreferences, ObjectRef, ProfileActivity, Promotion, TagRef, Upload,
};
use crate::{
    ActivityVerb, ActorId, EntityKind, Expiry, MediaUse, NotificationKind, ObjectType,
    PromotionReason, Shard, UploadState,
};

pub fn activity() -> Activity {
    Activity {
        activity_id: read(ACTIVITY),
        actor_id: read(ANA),
        group_id: None,
        verb: ActivityVerb::Post,
        object_type: ObjectType::Post,
        object_id: read(POST),
        object_home: None,
        preview_text: Some(PREVIEW.into()),
        media: Some(picture()),
        tags: read_all(&["running", "sunrise"]),
        fanout: true,
        created_at: read(POSTED_AT),
    }
}

/// Bo's comment on the post.
pub fn profile_activity() -> ProfileActivity {
    ProfileActivity {
        activity_id: read(COMMENT),
        actor_id: read(BO),
        group_id: None,
        verb: ActivityVerb::Comment,
        object_type: ObjectType::Comment,
        object_id: read(COMMENT),
        object_home: Some(read(POST)),
        preview_text: None,
        media: None,
        tags: Vec::new(),
        created_at: read("2025-01-27T16:04:19.347Z"),
    }
}

/// The post is Ana's newest activity; she is promoted now, and was once before.
pub fn actor_head() -> ActorHead {
    ActorHead {
        actor_id: read::<ActorId>(ANA),
        version: 57,
        last_ts: read(POSTED_AT),
        promoted: true,
        since: Some(read(PROMOTED_AT)),
        held_days: 45,
        intervals: vec![Interval {
            since: read("2025-01-15T04:00:00.652Z"),
            until: read("2025-01-18T04:00:00.790Z"),
            held_days: 45,
        }],
        window_at: read("2025-01-27T09:12:00.110Z"),
        window_count: 3,
    }
}

/// Ana's activity in Bo's feed, for 45 days.
pub fn feed_item() -> FeedItem {
    FeedItem {
        follower_id: read(BO),
        activity_id: read(ACTIVITY),
        actor_id: read(ANA),
        group_id: None,
        verb: ActivityVerb::Post,
        object_type: ObjectType::Post,
        object_id: read(POST),
        preview_text: Some(PREVIEW.into()),
        created_at: read(POSTED_AT),
        inserted_at: read("2025-01-27T15:30:00.968Z"),
        ttl: Expiry::at_seconds(1_741_879_800),
    }
}

pub fn feed_horizon() -> FeedHorizon {
    FeedHorizon { user_id: read(BO), oldest: read("2025-01-16T11:24:59.310Z") }
}

/// Ana's promotion, and the progress of its fan-out.
pub fn promotion() -> Promotion {
    Promotion {
        subject_id: read(ANA),
        user_id: Some(read(ANA)),
        group_id: None,
        fanout_enabled: true,
        reason: PromotionReason::Followers,
        thresholds: Some(read(r#"{"followers":1000,"activitiesPerDay":50}"#)),
        overrides: None,
        watermark: Some(read(POSTED_AT)),
        watermark_since: Some(read(PROMOTED_AT)),
        updated_at: read("2025-01-27T15:30:01.344Z"),
    }
}

/// Ana is notified that Cleo likes her post.
pub fn notification() -> Notification {
    Notification {
        user_id: read(ANA),
        id: read(NOTIFICATION),
        kind: NotificationKind::Like,
        actor_id: Some(read(CLEO)),
        object: Some(ObjectRef { entity: EntityKind::Post, id: read(POST) }),
        within: None,
        latest_at: Some(read(LIKED_AT)),
        read_at: None,
        created_at: read(LIKED_AT),
        ttl: Expiry::at_seconds(1_745_768_854),
    }
}

pub fn notification_preferences() -> NotificationPreferences {
    NotificationPreferences {
        user_id: read(ANA),
        off: vec![NotificationKind::Share],
        updated_at: read(LIKED_AT),
    }
}

pub fn tag_ref() -> TagRef {
    TagRef {
        tag: read("running"),
        shard: Shard::ZERO,
        entity: EntityKind::Post,
        id: read(POST),
        user_id: None,
        within: None,
        title: PREVIEW.into(),
        created_at: read(POSTED_AT),
    }
}

pub fn upload() -> Upload {
    Upload {
        user_id: read(ANA),
        key: read(PICTURE),
        content_type: "image/jpeg".into(),
        bytes: 2_481_336,
        charged_bytes: None,
        state: UploadState::Complete,
        copy: Some("01jjm4r0z8".into()),
        width: Some(1_600),
        height: Some(1_200),
        purpose: Some(MediaUse::Post),
        holder: Some(Holder::post(&read(POST))),
        created_at: read("2025-01-27T15:28:51.036Z"),
        ttl: None,
    }
}
