//! Services on a remote store: indexes lag, and transactions are slow (R27, R33, I9).

use std::collections::BTreeSet;
use std::time::Duration;

use roundtable_domain::limits::MUTATION_TIME_MAX;
use roundtable_domain::{Code, CommentError, PageInput, Refusal};
use roundtable_model::ModerationStatus;
use roundtable_testkit::Town;
use tokio::time::Instant;

/// More reads than any test makes.
const FOR_GOOD: usize = 1_000;

/// R33: a mutation has one deadline for all its waits, so that others know when it has ended. It does
/// not claim that nothing was written.
#[tokio::test(start_paused = true)]
async fn a_mutation_times_out() {
    let (town, far) = Town::on_lagging_store(["ana", "bo"]).await;
    far.delay(MUTATION_TIME_MAX + Duration::from_secs(1));
    let began = Instant::now();
    let late = town.follows().follow(&town.caller("ana"), &town.id("bo"), None).await;
    let late = late.unwrap_err();
    assert_eq!((late.code(), late.code().as_str()), (Code::OutcomeUnknown, "OUTCOME_UNKNOWN"));
    assert!(late.to_string().contains("repeat it with the same requestId"), "{late}");
    assert_eq!(began.elapsed(), MUTATION_TIME_MAX);
    assert!(town.rows("USER#ana", "FOLLOWING#").await.is_empty());
    far.delay(MUTATION_TIME_MAX / 2);
    town.follow("ana", "bo").await;
}

/// R33: a mutation that only conflicts with others is attempted sixteen times and writes once; then
/// the caller is asked to try again.
#[tokio::test(start_paused = true)]
async fn a_mutation_is_retried_while_it_conflicts() {
    let (town, far) = Town::on_lagging_store(["ana", "bo"]).await;
    let (follows, ana, bo) = (town.follows(), town.caller("ana"), town.id("bo"));
    far.conflict(16);
    let busy = follows.follow(&ana, &bo, None).await;
    assert_eq!(busy.unwrap_err().code(), Code::Conflict);
    assert!(town.rows("USER#ana", "FOLLOWING#").await.is_empty());
    far.conflict(15);
    follows.follow(&ana, &bo, None).await.unwrap();
    assert_eq!(town.rows("USER#ana", "FOLLOWING#").await.len(), 1);
}

/// R33, I8: a mutation that was written although its answer was lost has an unknown outcome; its
/// request id tells, at once or when the request is repeated.
#[tokio::test]
async fn a_lost_answer_is_an_unknown_outcome() {
    let (town, far) = Town::on_lagging_store(["ana", "bo", "cleo"]).await;
    let (follows, ana) = (town.follows(), town.caller("ana"));
    far.lose_answers(1);
    let lost = follows.follow(&ana, &town.id("bo"), None).await.unwrap_err();
    assert_eq!(lost.code(), Code::OutcomeUnknown);
    assert_eq!(town.rows("USER#ana", "FOLLOWING#").await.len(), 1, "it was written");

    let request = "once".parse().unwrap();
    far.lose_answers(1);
    follows.follow(&ana, &town.id("cleo"), Some(&request)).await.unwrap();
    let again = follows.follow(&ana, &town.id("cleo"), Some(&request)).await;
    again.unwrap();
    assert_eq!(town.rows("USER#ana", "FOLLOWING#").await.len(), 2);
}

/// I8: a refusal may be that of a repetition, which only the outcome of the request tells.
#[tokio::test]
async fn a_refusal_without_its_outcome_is_unknown() {
    let (town, far) = Town::on_lagging_store(["ana"]).await;
    let (follows, ana, request) = (town.follows(), town.caller("ana"), "once".parse().unwrap());
    let never = town.context().ids().next();
    let refused = follows.follow(&ana, &never, Some(&request)).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    far.fail_reads("IDEMP#", 1);
    let unknown = follows.follow(&ana, &never, Some(&request)).await.unwrap_err();
    assert_eq!(unknown.code(), Code::OutcomeUnknown);
    let refused = follows.follow(&ana, &never, None).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound, "without an id there is none to read");
}

/// R33: throttling adds no attempts to those of the store, and is no conflict.
#[tokio::test(start_paused = true)]
async fn a_throttled_mutation_ends_at_once() {
    let (town, far) = Town::on_lagging_store(["ana", "bo"]).await;
    let (follows, ana, bo) = (town.follows(), town.caller("ana"), town.id("bo"));
    far.throttle(1);
    let began = Instant::now();
    let throttled = follows.follow(&ana, &bo, None).await.unwrap_err();
    assert_eq!((throttled.code(), began.elapsed()), (Code::RateLimited, Duration::ZERO));
    follows.follow(&ana, &bo, None).await.unwrap();
}

/// R33: mutations that conflict do not wait equally long, or they would meet again.
#[tokio::test(start_paused = true)]
async fn mutations_that_conflict_wait_for_random_times() {
    let (town, far) = Town::on_lagging_store(["ana", "bo"]).await;
    let (follows, ana, bo) = (town.follows(), town.caller("ana"), town.id("bo"));
    let mut times = BTreeSet::new();
    for _ in 0..5 {
        far.conflict(16);
        let began = Instant::now();
        assert!(follows.follow(&ana, &bo, None).await.is_err());
        times.insert(began.elapsed());
    }
    assert_eq!(times.len(), 5, "{times:?}");
}

/// R27: a user's own comment is found as soon as it is written, even if the index by id lags; a
/// missing one is not waited for long.
#[tokio::test(start_paused = true)]
async fn a_comment_is_found_before_its_index_entry() {
    let (town, far) = Town::on_lagging_store(["ana", "bo"]).await;
    let (comments, bo) = (town.comments(), town.caller("bo"));
    let post = town.post("ana", "hello").await;
    far.fall_behind(3);
    let comment = town.comment("bo", &post.id, "hi").await;
    let changed = comments.update(&bo, &comment.id, "hey", None).await.unwrap();
    assert_eq!(comments.comment(Some(&bo), &comment.id).await.unwrap(), changed);
    far.fall_behind(FOR_GOOD);
    let never = town.context().ids().next();
    let began = Instant::now();
    let nothing = comments.comment(Some(&bo), &never).await;
    assert!(matches!(nothing, Err(CommentError::NoSuchComment)));
    assert!(began.elapsed() < Duration::from_secs(1));
    let lost = town.comment("bo", &post.id, "lost").await;
    town.advance_ms(60_000);
    let began = Instant::now();
    assert!(comments.comment(Some(&bo), &lost.id).await.is_err());
    assert_eq!(began.elapsed(), Duration::ZERO, "an old one would be there");
}

/// R27, I9: a user's comments are shown in their current state, not as the index has them.
#[tokio::test]
async fn a_stale_index_entry_shows_no_hidden_comment() {
    let (town, far) = Town::on_lagging_store(["ana", "bo"]).await;
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

/// R27, I9: counters of a post are visible only to viewers who may see it now.
#[tokio::test]
async fn a_stale_index_entry_shows_no_counters() {
    let (town, far) = Town::on_lagging_store(["ana", "bo"]).await;
    let post = town.post("ana", "hello").await;
    far.fall_behind(FOR_GOOD);
    let ids = [post.id.clone()];
    assert!(town.posts().stats(None, &ids).await.unwrap()[0].is_some());
    town.set_post_status(&post.id, ModerationStatus::Rejected).await;
    assert_eq!(town.posts().stats(None, &ids).await.unwrap(), [None]);
}
