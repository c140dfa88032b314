//! How much of anything there may be. What an installation may want otherwise is in `Settings`.

use std::time::Duration;

use roundtable_model::Misfit;
use roundtable_model::table::limits::TRANSACTION_ITEMS_MAX;

use crate::Failure;

/// Characters of a post.
pub const POST_CHARS_MAX: usize = 10_000;
/// Characters of a comment.
pub const COMMENT_CHARS_MAX: usize = 4_000;
/// Characters of a message.
pub const MESSAGE_CHARS_MAX: usize = 4_000;
/// Images or videos of a post.
pub const POST_MEDIA_MAX: usize = 10;
/// Tags of one thing; each is one more item of its transaction.
pub const TAGS_MAX: usize = 30;
/// People named in one text.
pub const MENTIONS_MAX: usize = 30;
/// Characters of a preview.
pub const PREVIEW_CHARS_MAX: usize = 280;
/// Characters of a name of a person, a group or a key.
pub const NAME_CHARS_MAX: usize = 100;
/// Characters of a biography or a group's description.
pub const ABOUT_CHARS_MAX: usize = 2_000;
/// Characters of a title of a goal or a task.
pub const TITLE_CHARS_MAX: usize = 200;
/// Characters of a plan that a language model made for a task.
pub const PLAN_CHARS_MAX: usize = 20_000;
/// Characters of a reason given to a moderator.
pub const REASON_CHARS_MAX: usize = 1_000;
/// Shortest password, in characters.
pub const PASSWORD_CHARS_MIN: usize = 8;
/// Longest password: hashing must not become a weapon.
pub const PASSWORD_BYTES_MAX: usize = 1_024;
/// How deep comments may be nested.
pub const COMMENT_DEPTH_MAX: usize = 32;
/// People who reported the same thing that its case names; later ones are kept as reports only.
pub const CASE_REPORTERS_MAX: usize = 50;
/// Days the moderation queue and the audit reach back at most: one page must not walk through years.
pub const REVIEW_DAYS_MAX: u32 = 366;
/// Days the posts of everybody reach back at most, whatever an installation asks for: on DynamoDB an
/// empty day costs a query for each shard. Older posts are found by day, author and tag.
pub const TIMELINE_DAYS_MAX: u32 = 366;
/// How long one mutation may take, all its attempts together; then it is given up. Whoever clears up
/// after somebody has gone can rely on it: what they began before has ended that much later.
pub const MUTATION_TIME_MAX: Duration = Duration::from_secs(30);
/// Characters of a MIME type.
pub const MEDIA_TYPE_CHARS_MAX: usize = 127;
/// Bytes of a file that are looked at to tell what it is: thumbnails and colour profiles come before
/// the size of a photograph.
pub const MEDIA_HEAD_BYTES: u64 = 512 << 10;
/// Width and height of a picture, in pixels: whoever shows it needs memory for all of them.
pub const MEDIA_SIDE_PIXELS_MAX: u32 = 16_384;
/// How long after its address has expired a file can still be told to have arrived; then it is given
/// up. Sending that began in time may end late.
pub const UPLOAD_GRACE: Duration = Duration::from_hours(1);
/// How long a file that has arrived waits to become part of something; then it is given up.
pub const UNUSED_FILE_TIME_MAX: Duration = Duration::from_hours(24);
/// Devices one person is signed in on.
pub const SESSIONS_MAX: usize = 100;
/// Keys for programs of one person.
pub const API_KEYS_MAX: usize = 50;
/// What one key for programs may be used for.
pub const SCOPES_MAX: usize = 20;
/// People who can sign up with one invitation.
pub const INVITATION_USES_MAX: u64 = 1_000;
/// Characters of an address in the web.
pub const URL_CHARS_MAX: usize = 2_048;
/// Endpoints that are told of events: each is one more item of each batch of them.
pub const WEBHOOKS_MAX: usize = 20;
/// Types of events that one endpoint asks for.
pub const WEBHOOK_EVENT_TYPES_MAX: usize = 100;
/// Goals and tasks that one quest names: its transaction checks each.
pub const QUEST_LINKS_MAX: usize = 20;
/// Tasks that one quest asks for: the transaction that completes it demands that all are done.
pub const QUEST_TARGET_MAX: usize = 80;
/// Quests of one person that are under way: whoever does a task looks at each of them.
pub const QUESTS_ACTIVE_MAX: usize = 50;
/// How long the tasks of a quest count: ten years.
pub const QUEST_PERIOD_SECONDS_MAX: u64 = 10 * 366 * 24 * 60 * 60;
/// People asked for help at once; each is four more items of its transaction.
pub const HELPERS_MAX: usize = 10;
/// Characters of a message in a call for help.
pub const ASSIST_CHARS_MAX: usize = 4_000;
/// Items of a transaction that are not tags: the largest is a moderated post with a request id.
const WRITES_BESIDE_TAGS_MAX: usize = 12;

const _: () =
    assert!(TAGS_MAX * 2 + POST_MEDIA_MAX + WRITES_BESIDE_TAGS_MAX <= TRANSACTION_ITEMS_MAX);

/// Items of the transaction that completes a quest, beside what it demands of the other steps: the step,
/// its task and goal, the quest, the person, the reward, the counter, the activity and the head.
const COMPLETION_ITEMS: usize = 9;

const _: () = assert!(QUEST_TARGET_MAX - 1 + COMPLETION_ITEMS <= TRANSACTION_ITEMS_MAX);
const _: () = assert!(QUEST_LINKS_MAX <= QUEST_TARGET_MAX);

const _: () = assert!(HELPERS_MAX * 4 + 3 <= TRANSACTION_ITEMS_MAX);

/// Refuses a text that is longer than `chars_max` characters.
pub fn check_text(field: &'static str, text: &str, chars_max: usize) -> Result<(), Failure> {
    let chars = text.chars().count();
    if chars <= chars_max {
        return Ok(());
    }
    let found = format!("{chars} characters, and {chars_max} are the most");
    Err(Failure::bad(field, Misfit::new("a shorter text", found)))
}

/// Refuses a text that is empty, or longer than `chars_max` characters.
pub fn check_filled(field: &'static str, text: &str, chars_max: usize) -> Result<(), Failure> {
    if text.trim().is_empty() {
        return Err(Failure::bad(field, Misfit::new("some text", "none")));
    }
    check_text(field, text, chars_max)
}

/// Refuses what is no MIME type, or too long for one.
pub fn check_media_type(field: &'static str, given: &str) -> Result<(), Failure> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|char| char.is_ascii_graphic());
    let names = given.split_once('/');
    if given.len() <= MEDIA_TYPE_CHARS_MAX && names.is_some_and(|(a, b)| is_name(a) && is_name(b)) {
        return Ok(());
    }
    let found: String = given.chars().take(MEDIA_TYPE_CHARS_MAX).collect();
    Err(Failure::bad(field, Misfit::new("a MIME type such as image/png", format!("\"{found}\""))))
}

/// Refuses more of something than `max`.
pub fn check_count(field: &'static str, count: usize, max: usize) -> Result<(), Failure> {
    if count <= max {
        return Ok(());
    }
    Err(Failure::bad(
        field,
        Misfit::new("fewer of them", format!("{count}, and {max} are the most")),
    ))
}
