//! The message about a moderation case: all that is needed to decide, but not who reported it.

use data_encoding::HEXLOWER;
use roundtable_domain::ModerationSubject;
use roundtable_model::entities::{Comment, Media, Post};
use roundtable_model::{
    CaseId, CommentId, ContentType, GroupId, MediaKey, Nickname, PostId, Time, UserId, Visibility,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::HookMessage;

const MESSAGE_TYPE: &str = "moderation.case.pending";
/// Bytes of the body's hash in the message id, enough to tell messages about one case apart.
const HASH_BYTES: usize = 8;

pub(crate) fn case_message(subject: &ModerationSubject) -> Result<HookMessage, serde_json::Error> {
    let ModerationSubject { case, content } = subject;
    let message = CaseMessage {
        r#type: MESSAGE_TYPE,
        timestamp: case.created_at,
        data: CaseData {
            case_id: &case.id,
            reason: case.reason.as_deref(),
            reports: case.reporter_ids.len(),
            post: CasePost::of(&content.post),
            comment: content.comment.as_ref().map(CaseComment::of),
        },
    };
    let body = serde_json::to_vec(&message)?;
    let hash = Sha256::digest(&body);
    let hash = HEXLOWER.encode(hash.get(..HASH_BYTES).unwrap_or(&hash));
    Ok(HookMessage { id: format!("{}-{hash}", case.id), body: body.into() })
}

#[derive(Serialize)]
struct CaseMessage<'a> {
    r#type: &'static str,
    timestamp: Time,
    data: CaseData<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CaseData<'a> {
    case_id: &'a CaseId,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    reports: usize,
    post: CasePost<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<CaseComment<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CasePost<'a> {
    id: &'a PostId,
    author_id: &'a UserId,
    author_nickname: &'a Nickname,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_id: Option<&'a GroupId>,
    content: &'a str,
    content_type: ContentType,
    media: Vec<CaseMedia<'a>>,
    visibility: Visibility,
    created_at: Time,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CaseMedia<'a> {
    key: &'a MediaKey,
    content_type: &'a str,
    width: Option<u32>,
    height: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CaseComment<'a> {
    id: &'a CommentId,
    author_id: &'a UserId,
    content: &'a str,
    created_at: Time,
}

impl<'a> CasePost<'a> {
    fn of(post: &'a Post) -> Self {
        Self {
            id: &post.id,
            author_id: &post.author_id,
            author_nickname: &post.author_nickname,
            group_id: post.group_id.as_ref(),
            content: &post.content,
            content_type: post.content_type,
            media: post.media.iter().map(CaseMedia::of).collect(),
            visibility: post.visibility,
            created_at: post.created_at,
        }
    }
}

impl<'a> CaseMedia<'a> {
    fn of(media: &'a Media) -> Self {
        let Media { s3_key: key, content_type, width, height } = media;
        Self { key, content_type, width: *width, height: *height }
    }
}

impl<'a> CaseComment<'a> {
    fn of(comment: &'a Comment) -> Self {
        Self {
            id: &comment.id,
            author_id: &comment.user_id,
            content: &comment.content,
            created_at: comment.created_at,
        }
    }
}
