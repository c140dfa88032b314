//! Limits that are the same for every installation. Configurable ones are in `Settings`.

use std::time::Duration;

use roundtable_model::InvalidValue;
use roundtable_model::table::limits::TRANSACTION_ITEMS_MAX;

use crate::ServiceError;

pub const POST_CHARS_MAX: usize = 10_000;
pub const COMMENT_CHARS_MAX: usize = 4_000;
pub const MESSAGE_CHARS_MAX: usize = 4_000;
pub const POST_MEDIA_MAX: usize = 10;
/// Tags of one object; each adds an item to its transaction.
pub const TAGS_MAX: usize = 30;
/// Users mentioned in one text.
pub const MENTIONS_MAX: usize = 30;
pub const PREVIEW_CHARS_MAX: usize = 280;
pub const NAME_CHARS_MAX: usize = 100;
/// Characters of a biography or a group's description.
pub const ABOUT_CHARS_MAX: usize = 2_000;
pub const TITLE_CHARS_MAX: usize = 200;
/// Characters of a plan that a language model made for a task.
pub const PLAN_CHARS_MAX: usize = 20_000;
pub const REASON_CHARS_MAX: usize = 1_000;
pub const PASSWORD_CHARS_MIN: usize = 8;
/// Limits the work of hashing a password.
pub const PASSWORD_BYTES_MAX: usize = 1_024;
pub const COMMENT_DEPTH_MAX: usize = 32;
/// Reporters named in a moderation case; later ones are stored as reports only.
pub const CASE_REPORTERS_MAX: usize = 50;
/// Days the moderation queue and the audit log reach back: one page must not scan years.
pub const REVIEW_DAYS_MAX: u32 = 366;
/// Days the global list of posts reaches back, overriding the settings: on DynamoDB an empty day
/// costs a query per shard. Older posts are found by day, author and tag.
pub const TIMELINE_DAYS_MAX: u32 = 366;
/// The longest a mutation may take, with all its attempts. The purge of an account relies on it:
/// writes that began before the deletion have ended this much later.
pub const MUTATION_TIME_MAX: Duration = Duration::from_secs(30);
pub const MEDIA_TYPE_CHARS_MAX: usize = 127;
/// Bytes of a file that are read to detect its type: thumbnails and colour profiles come before a
/// photo's dimensions.
pub const MEDIA_HEAD_BYTES: u64 = 512 << 10;
/// Width and height of an image, in pixels: clients need memory for all of them.
pub const MEDIA_SIDE_PIXELS_MAX: u32 = 16_384;
/// Time after an upload URL has expired in which the upload can still be confirmed; a transfer that
/// began in time may end late.
pub const UPLOAD_GRACE: Duration = Duration::from_hours(1);
/// Time an uploaded file may stay unattached before it is deleted.
pub const UNUSED_FILE_TIME_MAX: Duration = Duration::from_hours(24);
pub const SESSIONS_MAX: usize = 100;
/// Devices of one user that are known; each permits as many wrong passwords as a network.
pub const DEVICES_MAX: usize = 50;
/// Days until a device that its user does not sign in on is forgotten.
pub const DEVICE_DAYS_MAX: u64 = 365;
/// Identities at external issuers that are linked to one account.
pub const IDENTITIES_MAX: usize = 10;
pub const API_KEYS_MAX: usize = 50;
pub const SCOPES_MAX: usize = 20;
/// Users who can sign up with one invitation of the staff; those of other users have settings.
pub const INVITATION_USES_MAX: u64 = 1_000;
/// Open invitations of a user without a staff role, whatever the settings say: they are counted one by
/// one.
pub const OPEN_INVITATIONS_MAX: usize = 100;
pub const URL_CHARS_MAX: usize = 2_048;
/// Webhook endpoints: each adds an item to every batch of events.
pub const WEBHOOKS_MAX: usize = 20;
/// Event types that one endpoint subscribes to.
pub const WEBHOOK_EVENT_TYPES_MAX: usize = 100;
/// Goals and tasks linked to one quest: its transaction checks each.
pub const QUEST_LINKS_MAX: usize = 20;
/// Tasks required by one quest: the transaction that completes it checks that all are done.
pub const QUEST_TARGET_MAX: usize = 80;
/// Active quests of one user: completing a task evaluates each of them.
pub const QUESTS_ACTIVE_MAX: usize = 50;
/// Ten years, the longest period in which the tasks of a quest count.
pub const QUEST_PERIOD_SECONDS_MAX: u64 = 10 * 366 * 24 * 60 * 60;
/// Helpers asked in one call for help; each adds four items to its transaction.
pub const HELPERS_MAX: usize = 10;
pub const ASSIST_CHARS_MAX: usize = 4_000;
/// Items of a transaction that are not tags. The largest is a moderated post with a request id.
const WRITES_BESIDE_TAGS_MAX: usize = 12;

const _: () =
    assert!(TAGS_MAX * 2 + POST_MEDIA_MAX + WRITES_BESIDE_TAGS_MAX <= TRANSACTION_ITEMS_MAX);

/// Items of the transaction that completes a quest, besides checks of the other steps: the step,
/// its task and goal, the quest, the user, the reward, the counter, the activity and the head.
const COMPLETION_ITEMS: usize = 9;

const _: () = assert!(QUEST_TARGET_MAX - 1 + COMPLETION_ITEMS <= TRANSACTION_ITEMS_MAX);
const _: () = assert!(QUEST_LINKS_MAX <= QUEST_TARGET_MAX);

const _: () = assert!(HELPERS_MAX * 4 + 3 <= TRANSACTION_ITEMS_MAX);

/// Fails if the text is longer than `chars_max` characters.
pub fn check_text(field: &'static str, text: &str, chars_max: usize) -> Result<(), ServiceError> {
    let chars = text.chars().count();
    if chars <= chars_max {
        return Ok(());
    }
    let found = format!("{chars} characters (at most {chars_max})");
    Err(ServiceError::bad_input(field, InvalidValue::new("a shorter text", found)))
}

/// Fails if the text is empty, or longer than `chars_max` characters.
pub fn check_filled(field: &'static str, text: &str, chars_max: usize) -> Result<(), ServiceError> {
    if text.trim().is_empty() {
        return Err(ServiceError::bad_input(field, InvalidValue::new("some text", "none")));
    }
    check_text(field, text, chars_max)
}

/// Fails if this is not a MIME type, or too long for one.
pub fn check_media_type(field: &'static str, given: &str) -> Result<(), ServiceError> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|char| char.is_ascii_graphic());
    let names = given.split_once('/');
    if given.len() <= MEDIA_TYPE_CHARS_MAX && names.is_some_and(|(a, b)| is_name(a) && is_name(b)) {
        return Ok(());
    }
    let found: String = given.chars().take(MEDIA_TYPE_CHARS_MAX).collect();
    Err(ServiceError::bad_input(
        field,
        InvalidValue::new("a MIME type such as image/png", format!("\"{found}\"")),
    ))
}

pub fn check_count(field: &'static str, count: usize, max: usize) -> Result<(), ServiceError> {
    if count <= max {
        return Ok(());
    }
    Err(ServiceError::bad_input(
        field,
        InvalidValue::new("fewer items", format!("{count} (at most {max})")),
    ))
}
