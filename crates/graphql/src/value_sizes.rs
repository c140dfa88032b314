//! The most bytes of the values of the contract, as they are written in an answer.

use roundtable_domain::limits::{
    ABOUT_CHARS_MAX, ASSIST_CHARS_MAX, COMMENT_CHARS_MAX, MEDIA_TYPE_CHARS_MAX, MESSAGE_CHARS_MAX,
    NAME_CHARS_MAX, PLAN_CHARS_MAX, POST_CHARS_MAX, PREVIEW_CHARS_MAX, REASON_CHARS_MAX,
    TITLE_CHARS_MAX, URL_CHARS_MAX,
};

/// The bytes of a character in a text: at most four in UTF-8, but six if it is an escaped control character.
const CHAR_BYTES: usize = 6;
/// A signed address: the path, what identifies the key, a time and a signature.
const SIGNED_URL_BYTES: u64 = 2 * text(URL_CHARS_MAX);
/// A token, sealed or signed.
const TOKEN_BYTES: u64 = 4 * 1024;

const fn text(chars: usize) -> u64 {
    (chars * CHAR_BYTES) as u64
}

/// By `Type.field`, field or scalar type; the first that fits counts.
pub(crate) const VALUE_BYTES: &[(&str, u64)] = &[
    ("Post.content", text(POST_CHARS_MAX)),
    ("Comment.content", text(COMMENT_CHARS_MAX)),
    ("Message.text", text(MESSAGE_CHARS_MAX)),
    ("AssistMessage.text", text(ASSIST_CHARS_MAX)),
    ("Media.contentType", text(MEDIA_TYPE_CHARS_MAX)),
    ("nlpPlan", text(PLAN_CHARS_MAX) * 2),
    ("description", text(ABOUT_CHARS_MAX)),
    ("bio", text(ABOUT_CHARS_MAX)),
    ("publicKey", text(ABOUT_CHARS_MAX)),
    ("previewText", text(PREVIEW_CHARS_MAX)),
    ("reason", text(REASON_CHARS_MAX)),
    ("cancelReason", text(REASON_CHARS_MAX)),
    ("title", text(TITLE_CHARS_MAX)),
    ("fullName", text(NAME_CHARS_MAX)),
    ("displayName", text(NAME_CHARS_MAX)),
    ("accessToken", TOKEN_BYTES),
    ("refreshToken", TOKEN_BYTES),
    ("uploadUrl", SIGNED_URL_BYTES),
    ("headers", SIGNED_URL_BYTES),
    ("AWSURL", SIGNED_URL_BYTES),
    ("AWSJSON", text(PLAN_CHARS_MAX) * 2),
    ("AWSEmail", text(TITLE_CHARS_MAX)),
    ("ID", text(NAME_CHARS_MAX)),
    ("String", text(NAME_CHARS_MAX)),
];
