//! What a judge is asked: a case as JSON. It tells what is needed to decide, and not who complained.

use data_encoding::HEXLOWER;
use roundtable_domain::Subject;
use roundtable_model::entities::{Comment, Media, Post};
use roundtable_model::{
    CaseId, CommentId, ContentType, GroupId, MediaKey, Nickname, PostId, Time, UserId, Visibility,
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::Message;

/// What the type of the message says.
const TYPE: &str = "moderation.case.pending";
/// Bytes of the body's hash in its id: two questions about the same case are hardly ever as alike.
const HASH_BYTES: usize = 8;

/// The message that asks about a case.
pub(crate) fn about(subject: &Subject) -> Result<Message, serde_json::Error> {
    let Subject { case, content } = subject;
    let asked = Asked {
        r#type: TYPE,
        timestamp: case.created_at,
        data: Data {
            case_id: &case.id,
            reason: case.reason.as_deref(),
            reports: case.reporter_ids.len(),
            post: AboutPost::of(&content.post),
            comment: content.comment.as_ref().map(AboutComment::of),
        },
    };
    let body = serde_json::to_vec(&asked)?;
    let hash = Sha256::digest(&body);
    let hash = HEXLOWER.encode(hash.get(..HASH_BYTES).unwrap_or(&hash));
    Ok(Message { id: format!("{}-{hash}", case.id), body: body.into() })
}

#[derive(Serialize)]
struct Asked<'a> {
    r#type: &'static str,
    timestamp: Time,
    data: Data<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    case_id: &'a CaseId,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    reports: usize,
    post: AboutPost<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<AboutComment<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AboutPost<'a> {
    id: &'a PostId,
    author_id: &'a UserId,
    author_nickname: &'a Nickname,
    #[serde(skip_serializing_if = "Option::is_none")]
    group_id: Option<&'a GroupId>,
    content: &'a str,
    content_type: ContentType,
    media: Vec<AboutMedia<'a>>,
    visibility: Visibility,
    created_at: Time,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AboutMedia<'a> {
    key: &'a MediaKey,
    content_type: &'a str,
    width: Option<u32>,
    height: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AboutComment<'a> {
    id: &'a CommentId,
    author_id: &'a UserId,
    content: &'a str,
    created_at: Time,
}

impl<'a> AboutPost<'a> {
    fn of(post: &'a Post) -> Self {
        Self {
            id: &post.id,
            author_id: &post.author_id,
            author_nickname: &post.author_nickname,
            group_id: post.group_id.as_ref(),
            content: &post.content,
            content_type: post.content_type,
            media: post.media.iter().map(AboutMedia::of).collect(),
            visibility: post.visibility,
            created_at: post.created_at,
        }
    }
}

impl<'a> AboutMedia<'a> {
    fn of(media: &'a Media) -> Self {
        let Media { s3_key: key, content_type, width, height } = media;
        Self { key, content_type, width: *width, height: *height }
    }
}

impl<'a> AboutComment<'a> {
    fn of(comment: &'a Comment) -> Self {
        Self {
            id: &comment.id,
            author_id: &comment.user_id,
            content: &comment.content,
            created_at: comment.created_at,
        }
    }
}
