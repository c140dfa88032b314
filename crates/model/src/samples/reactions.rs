//! Reactions to Ana's post, and the moderation of Dan's comment.

use super::cast::{
    ANA, BO, CLEO, COMMENT, COMMENT_OF_DAN, DAN, LIKED_AT, POST, SHARE_ACTIVITY, SHARED_AT,
};
use super::{read, read_all};
use crate::entities::{
    Audit, CaseReport, Comment, CommentCounter, CommentLike, Like, ModerationCase, Report, Share,
};
use crate::{Expiry, LikeType, ModerationStatus, Shard};

const POST_SK: &str = "POST";
const COMMENTED_AT: &str = "2025-01-27T16:04:19.347Z";
const REPORTED_AT: &str = "2025-01-27T17:31:40.092Z";
const DECIDED_AT: &str = "2025-01-27T18:02:54.973Z";
const REASON: &str = "Insults the author instead of answering the post";

pub fn comment() -> Comment {
    Comment {
        post_id: read(POST),
        id: read(COMMENT),
        user_id: read(BO),
        content: "Three times, I counted. You were flying on that last hill. Sunday at six, \
                  @ana_runs, and this time you bring the coffee!"
            .into(),
        parent_comment_id: None,
        post_user_id: read(ANA),
        post_sk: POST_SK.into(),
        moderation_status: ModerationStatus::Approved,
        is_deleted: false,
        hashtags: None,
        mentions: Some(read_all(&["ana_runs"])),
        created_at: read(COMMENTED_AT),
        updated_at: read(COMMENTED_AT),
    }
}

pub fn like() -> Like {
    Like {
        post_id: read(POST),
        user_id: read(CLEO),
        like_type: LikeType::Like,
        post_user_id: read(ANA),
        post_sk: POST_SK.into(),
        activity_pub_id: Some("https://town.example/likes/01JJM74NM6X0V8R5ZK3TQ9E2HB".into()),
        created_at: read(LIKED_AT),
    }
}

pub fn share() -> Share {
    Share {
        post_id: read(POST),
        user_id: read(BO),
        activity_id: read(SHARE_ACTIVITY),
        post_user_id: read(ANA),
        created_at: read(SHARED_AT),
    }
}

pub fn comment_like() -> CommentLike {
    CommentLike {
        post_id: read(POST),
        comment_id: read(COMMENT),
        user_id: read(ANA),
        like_type: None,
        created_at: read("2025-01-27T16:20:37.485Z"),
    }
}

pub fn comment_counter() -> CommentCounter {
    CommentCounter {
        post_id: read(POST),
        comment_id: read(COMMENT),
        likes: 3,
        loves: Some(1),
        laughs: Some(0),
        replies: 1,
        seq: "0000000000000000000461370200000000052896".into(),
    }
}

/// Bo reports Dan's comment.
pub fn report() -> Report {
    Report {
        post_id: read(POST),
        subject_id: read(COMMENT_OF_DAN),
        user_id: read(BO),
        reason: REASON.into(),
        created_at: read(REPORTED_AT),
    }
}

/// Cleo rejects Dan's comment.
pub fn moderation_case() -> ModerationCase {
    ModerationCase {
        id: read(COMMENT_OF_DAN),
        post_id: Some(read(POST)),
        comment_id: Some(read(COMMENT_OF_DAN)),
        user_id: None,
        group_id: None,
        room_id: None,
        reason: Some(REASON.into()),
        reporter_ids: vec![read(BO)],
        status: ModerationStatus::Rejected,
        decided_by: Some(read(CLEO)),
        decided_at: Some(read(DECIDED_AT)),
        shard: Shard::ZERO,
        version: 2,
        created_at: read(REPORTED_AT),
        ttl: None,
    }
}

/// Bo reports Dan himself.
pub fn case_report() -> CaseReport {
    CaseReport {
        case_id: read(DAN),
        user_id: read(BO),
        reason: REASON.into(),
        created_at: read(REPORTED_AT),
        ttl: Some(Expiry::at_seconds(1_769_600_000)),
    }
}

pub fn audit() -> Audit {
    Audit {
        created_at: read(DECIDED_AT),
        shard: Shard::ZERO,
        id: read("01JJMEWH3XSKDENC8SP3804GVA"),
        actor: Some(read(CLEO)),
        action: "moderateComment".into(),
        subject: read(COMMENT_OF_DAN),
        detail: Some(read(r#"{"from":"FLAGGED","to":"REJECTED"}"#)),
    }
}
