//! Deciding without a moderator.

use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_domain::limits::REASON_CHARS_MAX;
use roundtable_domain::{
    HookSettings, Judge, JudgeError, Judgement, ModerationMode, PostChange, Settings, Subject,
    Verdict,
};
use roundtable_model::{CaseId, ModerationStatus as Status, PostId};
use roundtable_testkit::Town;
use tokio::sync::Notify;

use super::{comment, comments, on_day, post, posts, sees, town_with};

/// Answers what it was told to, and remembers what it was asked.
struct Told {
    answer: Result<Verdict, JudgeError>,
    asked: Mutex<Vec<Subject>>,
}

impl Told {
    fn to(answer: Result<Verdict, JudgeError>) -> Self {
        Self { answer, asked: Mutex::new(Vec::new()) }
    }

    fn say(verdict: Verdict) -> Self {
        Self::to(Ok(verdict))
    }
}

#[async_trait]
impl Judge for Told {
    async fn judge(&self, subject: &Subject) -> Result<Verdict, JudgeError> {
        self.asked.lock().push(subject.clone());
        self.answer.clone()
    }
}

/// Approves everything, after a while.
struct Slow(Duration);

#[async_trait]
impl Judge for Slow {
    async fn judge(&self, _: &Subject) -> Result<Verdict, JudgeError> {
        tokio::time::sleep(self.0).await;
        Ok(Verdict::Approve)
    }
}

/// Approves what somebody else changes while it thinks.
#[derive(Default)]
struct Thinking {
    asked: Notify,
    done: Notify,
}

#[async_trait]
impl Judge for Thinking {
    async fn judge(&self, _: &Subject) -> Result<Verdict, JudgeError> {
        self.asked.notify_one();
        self.done.notified().await;
        Ok(Verdict::Approve)
    }
}

/// What comes of a judge that approves, when something else happens while it thinks.
fn ask_while<'a, T: 'a>(
    town: &'a Town,
    case: &'a PostId,
    deed: impl Future<Output = T> + 'a,
) -> Pin<Box<dyn Future<Output = Judgement> + 'a>> {
    Box::pin(async move {
        let judge = Thinking::default();
        let deed = async {
            judge.asked.notified().await;
            deed.await;
            judge.done.notify_one();
        };
        tokio::join!(ask(town, case, &judge), deed).0
    })
}

async fn ask(town: &Town, case: impl Into<CaseId>, judge: &dyn Judge) -> Judgement {
    town.moderation().decide_automatically(&case.into(), judge).await.unwrap()
}

/// R34: each verdict, as the system's own.
#[tokio::test]
async fn a_verdict_is_carried_out_by_the_system() {
    for (verdict, status, reason) in [
        (Verdict::Approve, Status::Approved, None),
        (Verdict::Reject("spam".into()), Status::Rejected, Some("spam")),
        (Verdict::Flag("odd".into()), Status::Flagged, Some("odd")),
    ] {
        let town = town_with(ModerationMode::After, ["ana", "bo", "mo"]).await;
        let post = post(&town, "ana", "hello").await;
        let judge = Told::say(verdict);
        assert_eq!(ask(&town, &post.id, &judge).await, Judgement::Decided(status));
        assert_eq!(judge.asked.lock()[0].content.post, post);
        let case = town.case(&post.id).await;
        assert_eq!((case.case.status, case.case.reason.as_deref()), (status, reason));
        assert_eq!((case.case.decided_by, case.case.decided_at), (None, Some(town.now())));
        assert_eq!(case.content.post.moderation_status, status);
        let seen = sees(&town, Some(&town.caller("bo")), &post).await;
        assert_eq!(seen, [status == Status::Approved; 3]);
        let told = reason.map(|reason| format!(r#","reason":"{reason}""#)).unwrap_or_default();
        let entry = format!(r#"system moderatePost {{"from":"PENDING","to":"{status}"{told}}}"#);
        assert_eq!(town.trail().await, [entry]);
        // A moderator can still decide otherwise.
        town.moderate(&post.id, Status::Approved).await;
        assert_eq!(sees(&town, None, &post).await, [true; 3]);
    }
}

/// R34: an approval by the system publishes as any other does.
#[tokio::test]
async fn a_judge_can_publish() {
    let town = town_with(ModerationMode::Before, ["ana", "mo"]).await;
    let waiting = post(&town, "ana", "hello").await;
    town.pass_ms(1000);
    ask(&town, &waiting.id, &Told::say(Verdict::Approve)).await;
    let approved = town.case(&waiting.id).await.content.post;
    assert_eq!(approved.published_at, Some(town.now()));
    assert_eq!(on_day(&town, town.now().day()).await, std::slice::from_ref(&waiting.id));
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
    // Asked once more, it has nothing to say.
    assert_eq!(
        ask(&town, &waiting.id, &Told::say(Verdict::Reject("?".into()))).await,
        Judgement::Overtaken
    );
    assert_eq!(town.rows("ACTIVITY#ana", "TS#").await.len(), 1);
}

/// R34: comments are judged with the post they are about.
#[tokio::test]
async fn a_judge_sees_what_was_reported_and_why() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let post = post(&town, "ana", "hello").await;
    let said = comment(&town, "ana", &post, "go away").await;
    let moderation = town.moderation();
    moderation.report_comment(&town.caller("bo"), &said.id, "rude", None).await.unwrap();
    let judge = Told::say(Verdict::Reject("x".repeat(REASON_CHARS_MAX + 1)));
    assert_eq!(ask(&town, &said.id, &judge).await, Judgement::Decided(Status::Rejected));
    let asked = judge.asked.lock()[0].clone();
    assert_eq!((asked.content.post.id, asked.content.comment.unwrap()), (post.id, said.clone()));
    assert_eq!(asked.case.reason.as_deref(), Some("rude"));
    let seen = comments(&town).comment(Some(&town.caller("bo")), &said.id).await;
    assert!(seen.is_err());
    let reason = town.case(&said.id).await.case.reason.unwrap();
    assert_eq!(reason.len(), REASON_CHARS_MAX, "a case has room for so much");
}

/// R34: the case stays pending when the hook fails, or does not know.
#[tokio::test]
async fn what_a_judge_cannot_tell_waits_for_a_moderator() {
    let town = town_with(ModerationMode::Before, ["ana", "mo"]).await;
    let waiting = post(&town, "ana", "hello").await;
    let undecided = Told::say(Verdict::Undecided);
    assert_eq!(ask(&town, &waiting.id, &undecided).await, Judgement::Undecided);
    let broken = Told::to(Err(JudgeError("connection refused".into())));
    let refused = JudgeError("connection refused".into());
    assert_eq!(ask(&town, &waiting.id, &broken).await, Judgement::Failed(refused));
    assert_eq!(town.queue(Status::Pending).await, [(&waiting.id).into()]);
    assert!(town.trail().await.is_empty() && town.rows("ACTIVITY#ana", "").await.is_empty());
}

/// R34: nor does it wait for ever.
#[tokio::test(start_paused = true)]
async fn a_judge_that_takes_too_long_is_not_waited_for() {
    let hook = HookSettings { timeout_ms: 3_000, ..HookSettings::default() };
    let settings = Settings { moderation: ModerationMode::Before, hook, ..Settings::default() };
    let town = Town::with(settings, ["ana", "mo"]).await;
    let waiting = post(&town, "ana", "hello").await;
    let begun = tokio::time::Instant::now();
    let slow = Slow(Duration::from_hours(1));
    let late = JudgeError("no answer within 3s".into());
    assert_eq!(ask(&town, &waiting.id, &slow).await, Judgement::Failed(late));
    assert_eq!(begun.elapsed().as_secs(), 3);
    assert_eq!(town.queue(Status::Pending).await, [(&waiting.id).into()]);
    assert!(town.trail().await.is_empty());
    let quick = Slow(Duration::from_millis(2_900));
    assert_eq!(ask(&town, &waiting.id, &quick).await, Judgement::Decided(Status::Approved));
}

/// A moderator's decision stands, and no verdict is about another text than the one judged.
#[tokio::test]
async fn a_verdict_that_comes_too_late_is_dropped() {
    let town = town_with(ModerationMode::After, ["ana", "bo", "mo"]).await;
    let (decided, changed) = (post(&town, "ana", "one").await, post(&town, "ana", "two").await);
    let (gone, reported) = (post(&town, "ana", "three").await, post(&town, "ana", "four").await);
    let deed = town.moderate(&decided.id, Status::Rejected);
    assert_eq!(ask_while(&town, &decided.id, deed).await, Judgement::Overtaken);
    assert_eq!(town.case(&decided.id).await.case.decided_by, Some(town.id("mo")));

    let change = PostChange { content: Some("spam".into()), ..PostChange::default() };
    let (posts, ana) = (posts(&town), town.caller("ana"));
    let deed = posts.update(&ana, &changed.id, &change, None);
    assert_eq!(ask_while(&town, &changed.id, deed).await, Judgement::Overtaken);
    assert_eq!(town.case(&changed.id).await.case.status, Status::Pending);

    let deed = posts.delete(&ana, &gone.id, None);
    assert_eq!(ask_while(&town, &gone.id, deed).await, Judgement::Overtaken);
    let nothing: CaseId = "nothing".parse().unwrap();
    assert_eq!(ask(&town, nothing, &Told::say(Verdict::Approve)).await, Judgement::Overtaken);

    // One more report changes nothing about the text.
    let deed = town.report("bo", &reported.id, "spam");
    let judgement = ask_while(&town, &reported.id, deed).await;
    assert_eq!(judgement, Judgement::Decided(Status::Approved));
}

/// The hook is configured with the rest, and its secret shows nowhere.
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
