//! Automatic moderation.

use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_domain::limits::REASON_CHARS_MAX;
use roundtable_domain::{
    AutoModerationOutcome, AutoModerator, AutoModeratorError, HookSettings, ModerationMode,
    ModerationSubject, PostChange, Settings, Verdict,
};
use roundtable_model::{CaseId, ModerationStatus as Status, PostId};
use roundtable_testkit::Town;
use tokio::sync::Notify;

use super::{comment, comments, on_day, post, posts, sees, town_with};

/// Returns a fixed answer and records the requests.
struct FixedVerdict {
    answer: Result<Verdict, AutoModeratorError>,
    requests: Mutex<Vec<ModerationSubject>>,
}

impl FixedVerdict {
    fn to(answer: Result<Verdict, AutoModeratorError>) -> Self {
        Self { answer, requests: Mutex::new(Vec::new()) }
    }

    fn say(verdict: Verdict) -> Self {
        Self::to(Ok(verdict))
    }
}

#[async_trait]
impl AutoModerator for FixedVerdict {
    async fn review(&self, subject: &ModerationSubject) -> Result<Verdict, AutoModeratorError> {
        self.requests.lock().push(subject.clone());
        self.answer.clone()
    }
}

/// Approves everything after a delay.
struct SlowApproval(Duration);

#[async_trait]
impl AutoModerator for SlowApproval {
    async fn review(&self, _: &ModerationSubject) -> Result<Verdict, AutoModeratorError> {
        tokio::time::sleep(self.0).await;
        Ok(Verdict::Approve)
    }
}

/// Approves after a concurrent change has been made.
#[derive(Default)]
struct PausedApproval {
    requests: Notify,
    done: Notify,
}

#[async_trait]
impl AutoModerator for PausedApproval {
    async fn review(&self, _: &ModerationSubject) -> Result<Verdict, AutoModeratorError> {
        self.requests.notify_one();
        self.done.notified().await;
        Ok(Verdict::Approve)
    }
}

/// Returns the outcome of an approval with `concurrent_change` running during the review.
fn ask_while<'a, T: 'a>(
    town: &'a Town,
    case: &'a PostId,
    concurrent_change: impl Future<Output = T> + 'a,
) -> Pin<Box<dyn Future<Output = AutoModerationOutcome> + 'a>> {
    Box::pin(async move {
        let moderator = PausedApproval::default();
        let concurrent_change = async {
            moderator.requests.notified().await;
            concurrent_change.await;
            moderator.done.notify_one();
        };
        tokio::join!(ask(town, case, &moderator), concurrent_change).0
    })
}

async fn ask(
    town: &Town,
    case: impl Into<CaseId>,
    moderator: &dyn AutoModerator,
) -> AutoModerationOutcome {
    town.moderation().decide_automatically(&case.into(), moderator).await.unwrap()
}

/// R34: each verdict is carried out as the system.
#[tokio::test]
async fn a_verdict_is_carried_out_by_the_system() {
    for (verdict, status, reason) in [
        (Verdict::Approve, Status::Approved, None),
        (Verdict::Reject("spam".into()), Status::Rejected, Some("spam")),
        (Verdict::Flag("odd".into()), Status::Flagged, Some("odd")),
    ] {
        let town = town_with(ModerationMode::After, ["ana", "bo", "mo"]).await;
        let post = post(&town, "ana", "hello").await;
        let moderator = FixedVerdict::say(verdict);
        assert_eq!(ask(&town, &post.id, &moderator).await, AutoModerationOutcome::Decided(status));
        assert_eq!(moderator.requests.lock()[0].content.post, post);
        let case = town.case(&post.id).await;
        assert_eq!((case.case.status, case.case.reason.as_deref()), (status, reason));
        assert_eq!((case.case.decided_by, case.case.decided_at), (None, Some(town.now())));
        assert_eq!(case.content.post.moderation_status, status);
        let visible = sees(&town, Some(&town.caller("bo")), &post).await;
        assert_eq!(visible, [status == Status::Approved; 3]);
        let reason_part =
            reason.map(|reason| format!(r#","reason":"{reason}""#)).unwrap_or_default();
        let entry =
            format!(r#"system moderatePost {{"from":"PENDING","to":"{status}"{reason_part}}}"#);
        assert_eq!(town.audit_trail().await, [entry]);
        // A moderator can still override it.
        town.moderate(&post.id, Status::Approved).await;
        assert_eq!(sees(&town, None, &post).await, [true; 3]);
    }
}

/// R34: an approval by the system publishes like any other.
#[tokio::test]
async fn an_automatic_approval_publishes() {
    let town = town_with(ModerationMode::Before, ["ana", "mo"]).await;
    let waiting = post(&town, "ana", "hello").await;
    town.advance_ms(1000);
    ask(&town, &waiting.id, &FixedVerdict::say(Verdict::Approve)).await;
    let approved = town.case(&waiting.id).await.content.post;
    assert_eq!(approved.published_at, Some(town.now()));
    assert_eq!(on_day(&town, town.now().day()).await, std::slice::from_ref(&waiting.id));
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
    // A second call changes nothing.
    assert_eq!(
        ask(&town, &waiting.id, &FixedVerdict::say(Verdict::Reject("?".into()))).await,
        AutoModerationOutcome::Overtaken
    );
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
}

/// R34: comments are reviewed together with their post.
#[tokio::test]
async fn the_service_sees_the_content_and_the_reason() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    let sent = comment(&town, "ana", &post, "go away").await;
    let moderation = town.moderation();
    moderation.report_comment(&town.caller("bo"), &sent.id, "rude", None).await.unwrap();
    let moderator = FixedVerdict::say(Verdict::Reject("x".repeat(REASON_CHARS_MAX + 1)));
    assert_eq!(
        ask(&town, &sent.id, &moderator).await,
        AutoModerationOutcome::Decided(Status::Rejected)
    );
    let requests = moderator.requests.lock()[0].clone();
    assert_eq!(
        (requests.content.post.id, requests.content.comment.unwrap()),
        (post.id, sent.clone())
    );
    assert_eq!(requests.case.reason.as_deref(), Some("rude"));
    let visible = comments(&town).comment(Some(&town.caller("bo")), &sent.id).await;
    assert!(visible.is_err());
    let reason = town.case(&sent.id).await.case.reason.unwrap();
    assert_eq!(reason.len(), REASON_CHARS_MAX, "a case has room for so much");
}

/// R34: the case stays pending when the service fails or is undecided.
#[tokio::test]
async fn undecided_cases_wait_for_a_moderator() {
    let town = town_with(ModerationMode::Before, ["ana", "mo"]).await;
    let waiting = post(&town, "ana", "hello").await;
    let undecided = FixedVerdict::say(Verdict::Undecided);
    assert_eq!(ask(&town, &waiting.id, &undecided).await, AutoModerationOutcome::Undecided);
    let broken = FixedVerdict::to(Err(AutoModeratorError("connection refused".into())));
    let refused = AutoModeratorError("connection refused".into());
    assert_eq!(ask(&town, &waiting.id, &broken).await, AutoModerationOutcome::Failed(refused));
    assert_eq!(town.queue(Status::Pending).await, [(&waiting.id).into()]);
    assert!(town.audit_trail().await.is_empty() && town.rows("ACTIVITY#ana", "").await.is_empty());
}

/// R34: the review has a timeout.
#[tokio::test(start_paused = true)]
async fn a_slow_review_times_out() {
    let hook = HookSettings { timeout_ms: 3_000, ..HookSettings::default() };
    let settings = Settings { moderation: ModerationMode::Before, hook, ..Settings::default() };
    let town = Town::with(settings, ["ana", "mo"]).await;
    let waiting = post(&town, "ana", "hello").await;
    let begun = tokio::time::Instant::now();
    let slow = SlowApproval(Duration::from_hours(1));
    let late = AutoModeratorError("no answer within 3s".into());
    assert_eq!(ask(&town, &waiting.id, &slow).await, AutoModerationOutcome::Failed(late));
    assert_eq!(begun.elapsed().as_secs(), 3);
    assert_eq!(town.queue(Status::Pending).await, [(&waiting.id).into()]);
    assert!(town.audit_trail().await.is_empty());
    let quick = SlowApproval(Duration::from_millis(2_900));
    assert_eq!(
        ask(&town, &waiting.id, &quick).await,
        AutoModerationOutcome::Decided(Status::Approved)
    );
}

/// A moderator's decision takes precedence, and a verdict never applies to another text.
#[tokio::test]
async fn a_late_verdict_is_dropped() {
    let town = town_with(ModerationMode::After, ["ana", "bo", "mo"]).await;
    let (decided, changed) = (post(&town, "ana", "one").await, post(&town, "ana", "two").await);
    let (deleted, reported) = (post(&town, "ana", "three").await, post(&town, "ana", "four").await);
    let concurrent_change = town.moderate(&decided.id, Status::Rejected);
    assert_eq!(
        ask_while(&town, &decided.id, concurrent_change).await,
        AutoModerationOutcome::Overtaken
    );
    assert_eq!(town.case(&decided.id).await.case.decided_by, Some(town.id("mo")));

    let change = PostChange { content: Some("spam".into()), ..PostChange::default() };
    let (posts, ana) = (posts(&town), town.caller("ana"));
    let concurrent_change = posts.update(&ana, &changed.id, &change, None);
    assert_eq!(
        ask_while(&town, &changed.id, concurrent_change).await,
        AutoModerationOutcome::Overtaken
    );
    assert_eq!(town.case(&changed.id).await.case.status, Status::Pending);

    let concurrent_change = posts.delete(&ana, &deleted.id, None);
    assert_eq!(
        ask_while(&town, &deleted.id, concurrent_change).await,
        AutoModerationOutcome::Overtaken
    );
    let nothing: CaseId = "nothing".parse().unwrap();
    assert_eq!(
        ask(&town, nothing, &FixedVerdict::say(Verdict::Approve)).await,
        AutoModerationOutcome::Overtaken
    );

    // Another report does not change the text.
    let concurrent_change = town.report("bo", &reported.id, "spam");
    let outcome = ask_while(&town, &reported.id, concurrent_change).await;
    assert_eq!(outcome, AutoModerationOutcome::Decided(Status::Approved));
}

/// The hook's settings are read from the configuration, and its secret is not printed.
#[test]
fn the_hook_is_configured() {
    let file =
        r#"{"hook": {"url": "https://example.com/judge", "timeout-ms": 250, "secret": "hush"}}"#;
    let settings: Settings = serde_json::from_str(file).unwrap();
    assert_eq!(settings.hook.url.as_deref(), Some("https://example.com/judge"));
    assert_eq!(settings.hook.timeout_ms, 250);
    assert_eq!(settings.hook.secret.as_ref().unwrap().expose(), "hush");
    assert!(!format!("{settings:?}").contains("hush"));
    let none: Settings = serde_json::from_str("{}").unwrap();
    assert!(none.hook.url.is_none() && none.hook.secret.is_none());
    assert_eq!(none.hook.timeout_ms, 5_000);
}
