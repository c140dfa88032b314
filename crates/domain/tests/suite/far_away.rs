//! What people see and can do where the store is far away: indexes are behind, and transactions take
//! their time (R27, R33, I9).

use std::time::Duration;

use roundtable_domain::limits::MUTATION_TIME_MAX;
use roundtable_domain::{Code, CommentError, PageInput, Refusal};
use roundtable_model::ModerationStatus;
use roundtable_testkit::Town;
use tokio::time::Instant;

/// More reads than any test makes.
const FOR_GOOD: usize = 1_000;

/// R33: a mutation has one deadline, whatever it waits for, so that others can tell when it has ended.
#[tokio::test(start_paused = true)]
async fn a_mutation_is_given_up_in_time() {
    let (town, far) = Town::far_away(["ana", "bo"]).await;
    far.delay(MUTATION_TIME_MAX + Duration::from_secs(1));
    let began = Instant::now();
    let late = town.follows().follow(&town.caller("ana"), &town.id("bo"), None).await;
    assert_eq!(late.unwrap_err().code(), Code::Conflict);
    assert_eq!(began.elapsed(), MUTATION_TIME_MAX);
    assert!(town.rows("USER#ana", "FOLLOWING#").await.is_empty());
    far.delay(MUTATION_TIME_MAX / 2);
    town.follow("ana", "bo").await;
}

/// R27: one's own comment is there as soon as it has been written, also where the index that knows it by
/// its id has not heard of it yet; what has never been there is not waited for long.
#[tokio::test(start_paused = true)]
async fn a_comment_is_found_before_its_index_is_told() {
    let (town, far) = Town::far_away(["ana", "bo"]).await;
    let (comments, bo) = (town.comments(), town.caller("bo"));
    let post = town.post("ana", "hello").await;
    far.fall_behind(3);
    let comment = town.comment("bo", &post.id, "hi").await;
    let changed = comments.update(&bo, &comment.id, "hey", None).await.unwrap();
    assert_eq!(comments.comment(Some(&bo), &comment.id).await.unwrap(), changed);
    far.fall_behind(FOR_GOOD);
    let never = town.ground().ids().next();
    let began = Instant::now();
    let nothing = comments.comment(Some(&bo), &never).await;
    assert!(matches!(nothing, Err(CommentError::NoSuchComment)));
    assert!(began.elapsed() < Duration::from_secs(1));
    let lost = town.comment("bo", &post.id, "lost").await;
    town.pass_ms(60_000);
    let began = Instant::now();
    assert!(comments.comment(Some(&bo), &lost.id).await.is_err());
    assert_eq!(began.elapsed(), Duration::ZERO, "an old one would be there");
}

/// R27, I9: what somebody commented is shown as it is, whatever the index remembers.
#[tokio::test]
async fn an_old_image_shows_no_comment() {
    let (town, far) = Town::far_away(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    let (kept, regretted) =
        (town.comment("bo", &post.id, "kept").await, town.comment("bo", &post.id, "oh no").await);
    let hidden = town.comment("bo", &post.id, "rude").await;
    far.fall_behind(FOR_GOOD);
    let (comments, bo) = (town.comments(), town.caller("bo"));
    comments.delete(&bo, &regretted.id, None).await.unwrap();
    comments.update(&bo, &kept.id, "changed", None).await.unwrap();
    town.set_comment_status(&hidden, ModerationStatus::Rejected).await;
    let listed = comments.by(None, &town.id("bo"), &PageInput::first()).await.unwrap();
    let texts: Vec<String> = listed.into_items().into_iter().map(|it| it.content).collect();
    assert_eq!(texts, ["changed"]);
}

/// R27, I9: the numbers of a post are for those who may see it now.
#[tokio::test]
async fn an_old_image_shows_no_numbers() {
    let (town, far) = Town::far_away(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    far.fall_behind(FOR_GOOD);
    let ids = [post.id.clone()];
    assert!(town.posts().stats(None, &ids).await.unwrap()[0].is_some());
    town.set_post_status(&post.id, ModerationStatus::Rejected).await;
    assert_eq!(town.posts().stats(None, &ids).await.unwrap(), [None]);
}
