//! Cases and the auto moderator: decided as soon as they are pending, or left to moderators,
//! without blocking others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_conformance::Reference;
use roundtable_domain::{
    AutoModerator, AutoModeratorError, HookSettings, ModerationMode, ModerationSubject, PostChange,
    Settings, Verdict,
};
use roundtable_model::entities::{Checkpoint, Post};
use roundtable_model::table::{SharedBackend, Store};
use roundtable_model::{CaseId, Entity, FromItem, ModerationStatus as Status, Queue};
use roundtable_streams::{RedriveSummary, Runner, RunnerBuilder};
use roundtable_testkit::{Town, YieldingBackend, stop_at};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use crate::facts::bookkeeping;
use crate::running::{processed, start, until, until_found};
use crate::test_store::{ATTEMPTS_MAX, clock, retries};

const QUEUE: Queue = Queue::from_static("verdicts");
const TIMEOUT: Duration = Duration::from_secs(5);

/// Decides by the text, and records the texts it was given.
#[derive(Default)]
struct TextModerator {
    submitted: Mutex<Vec<String>>,
    is_working: AtomicBool,
}

impl TextModerator {
    /// Returns how often a text was submitted.
    fn submitted(&self, text: &str) -> u32 {
        self.submitted.lock().iter().map(|submitted| u32::from(submitted == text)).sum()
    }
}

#[async_trait]
impl AutoModerator for TextModerator {
    async fn review(&self, subject: &ModerationSubject) -> Result<Verdict, AutoModeratorError> {
        let text = text(subject);
        self.submitted.lock().push(text.clone());
        match text.as_str() {
            "spam" => Ok(Verdict::Reject("spam".into())),
            "odd" => Ok(Verdict::Flag("odd".into())),
            "hm" => Ok(Verdict::Undecided),
            "endless" => std::future::pending().await,
            "broken" if !self.is_working.load(Ordering::SeqCst) => {
                Err(AutoModeratorError("connection refused".into()))
            }
            "panic" if !self.is_working.load(Ordering::SeqCst) => panic!("injected panic"),
            _ => Ok(Verdict::Approve),
        }
    }
}

fn text(subject: &ModerationSubject) -> String {
    let content = &subject.content;
    content.comment.as_ref().map_or(&content.post.content, |comment| &comment.content).clone()
}

fn settings(moderation: ModerationMode) -> Settings {
    let timeout_ms = u64::try_from(TIMEOUT.as_millis()).unwrap();
    let hook = HookSettings { timeout_ms, ..HookSettings::default() };
    Settings { moderation, hook, ..Town::settings() }
}

/// A town in which moderators approve posts before they are published.
async fn town() -> Town {
    Town::with(settings(ModerationMode::Before), ["ana", "bo", "mo"]).await
}

fn runner(town: &Town, moderator: &Arc<impl AutoModerator + 'static>) -> Runner {
    let builder = RunnerBuilder::with_all_processors_undelayed(town.context())
        .with_moderator(moderator.clone());
    builder.with_retries(retries()).build()
}

async fn status(town: &Town, post: &Post) -> Status {
    town.case(&post.id).await.content.post.moderation_status
}

/// The number of public posts.
async fn public(town: &Town) -> usize {
    town.rows("ACTIVITY#ana", "TS#").await.len()
}

/// R34: the system decides each case by its verdict.
#[tokio::test]
async fn pending_cases_are_decided() {
    let (town, moderator) = (town().await, Arc::new(TextModerator::default()));
    let mut posts = Vec::new();
    for text in ["fine", "spam", "odd", "hm"] {
        posts.push(town.post("ana", text).await);
    }
    runner(&town, &moderator).drain().await.unwrap();
    let expected = [Status::Approved, Status::Rejected, Status::Flagged, Status::Pending];
    for (post, expected) in posts.iter().zip(expected) {
        assert_eq!(status(&town, post).await, expected, "{}", post.content);
        assert_eq!(moderator.submitted(&post.content), 1);
    }
    assert_eq!(public(&town).await, 1);
    assert_eq!(town.queue(Status::Pending).await, [CaseId::from(&posts[3].id)]);
    assert!(town.audit_trail().await.iter().all(|entry| entry.starts_with("system moderatePost")));
    assert!(bookkeeping(town.context(), "JOB#verdicts").await.is_empty());
}

/// R34: reported content, also comments, is submitted; the next report opens a decided case again.
#[tokio::test]
async fn reported_content_is_decided() {
    let town = Town::with(settings(ModerationMode::Off), ["ana", "bo", "cleo", "mo"]).await;
    let moderator = Arc::new(TextModerator::default());
    let post = town.post("ana", "fine").await;
    let said = town.comment("ana", &post.id, "spam").await;
    runner(&town, &moderator).drain().await.unwrap();
    assert!(moderator.submitted.lock().is_empty(), "nothing was reported");
    let moderation = town.moderation();
    moderation.report_comment(&town.caller("bo"), &said.id, "rude", None).await.unwrap();
    town.report("bo", &post.id, "boring").await;
    runner(&town, &moderator).drain().await.unwrap();
    let comment = town.case(&said.id).await.content.comment.unwrap();
    assert_eq!(comment.moderation_status, Status::Rejected);
    assert_eq!(town.case(&post.id).await.case.status, Status::Approved);
    town.report("cleo", &post.id, "very boring").await;
    runner(&town, &moderator).drain().await.unwrap();
    assert_eq!((moderator.submitted("spam"), moderator.submitted("fine")), (1, 2));
}

/// R34: an undecided case is submitted again when its text is edited.
#[tokio::test]
async fn an_edited_text_is_submitted_again() {
    let town = Town::with(settings(ModerationMode::Off), ["ana", "bo", "mo"]).await;
    let moderator = Arc::new(TextModerator::default());
    let post = town.post("ana", "fine").await;
    let said = town.comment("ana", &post.id, "hm").await;
    let report = town.moderation();
    report.report_comment(&town.caller("bo"), &said.id, "rude", None).await.unwrap();
    runner(&town, &moderator).drain().await.unwrap();
    assert_eq!(town.case(&said.id).await.case.status, Status::Pending);
    town.comments().update(&town.caller("ana"), &said.id, "spam", None).await.unwrap();
    runner(&town, &moderator).drain().await.unwrap();
    assert_eq!(town.case(&said.id).await.case.status, Status::Rejected);
    // The text of a decided case may change: no case is pending.
    town.comments().update(&town.caller("ana"), &said.id, "hm", None).await.ok();
    let change = PostChange { content: Some("odd".into()), ..PostChange::default() };
    town.posts().update(&town.caller("ana"), &post.id, &change, None).await.unwrap();
    runner(&town, &moderator).drain().await.unwrap();
    assert_eq!(*moderator.submitted.lock(), ["hm", "spam"]);
}

/// R34: after a failing call the case stays pending; the call is retried a few times, and then
/// redriven by hand.
#[tokio::test]
async fn a_failing_auto_moderator_leaves_only_its_case_to_moderators() {
    let (town, moderator) = (town().await, Arc::new(TextModerator::default()));
    let broken = town.post("ana", "broken").await;
    let panics = town.post("ana", "panic").await;
    let fine = town.post("ana", "fine").await;
    let runner = runner(&town, &moderator);
    runner.drain().await.unwrap();
    assert_eq!(status(&town, &fine).await, Status::Approved);
    for post in [&broken, &panics] {
        assert_eq!(status(&town, post).await, Status::Pending);
        assert_eq!(moderator.submitted(&post.content), ATTEMPTS_MAX);
    }
    let letters = runner.dead_letters();
    let parked = letters.list(&QUEUE, None, None).await.unwrap().items;
    let mut errors: Vec<&str> = parked.iter().map(|letter| letter.error.as_str()).collect();
    errors.sort_unstable();
    assert_eq!(errors, ["no verdict: connection refused", "the job handler panicked"]);

    // A moderator decides one of them. The other is submitted once the auto moderator works again.
    town.moderate(&panics.id, Status::Rejected).await;
    moderator.is_working.store(true, Ordering::SeqCst);
    let redriven = letters.redrive_all(10).await.unwrap();
    assert_eq!(redriven, RedriveSummary { done: 2, failed: 0 });
    runner.drain().await.unwrap();
    assert_eq!(status(&town, &broken).await, Status::Approved);
    assert_eq!(status(&town, &panics).await, Status::Rejected);
    assert_eq!(moderator.submitted("panic"), ATTEMPTS_MAX);
    assert_eq!(letters.count().await.unwrap(), 0);
}

/// R34: a hanging call delays other cases for its timeout at most, and nothing else.
#[tokio::test(start_paused = true)]
async fn a_hanging_auto_moderator_delays_only_cases() {
    let (town, moderator) = (town().await, Arc::new(TextModerator::default()));
    let endless = town.post("ana", "endless").await;
    let fine = town.post("ana", "fine").await;
    let runner = runner(&town, &moderator);
    let (stop, running) = start(&runner);
    until(|| moderator.submitted("endless") == 1).await;
    let begun = Instant::now();
    // The other pending case is decided, and later reactions are counted.
    let judged = |runner: &Runner| {
        let queues = runner.metrics().queues;
        queues.iter().any(|queue| queue.queue == QUEUE.as_str() && queue.finished == 1)
    };
    until(|| judged(&runner)).await;
    assert_eq!(status(&town, &fine).await, Status::Approved);
    town.like("bo", &fine.id).await;
    let later = town.post("ana", "later").await;
    let counter = format!("POST#{}", fine.id);
    until_found(async || town.rows(&counter, "COUNTER").await.len() == 1).await;
    assert!(begun.elapsed() < TIMEOUT, "{:?}", begun.elapsed());
    until(|| moderator.submitted("later") == 1).await;
    // An idle worker polls again after a second.
    assert!(begun.elapsed() <= TIMEOUT + Duration::from_secs(1), "{:?}", begun.elapsed());
    stop.send(()).unwrap();
    running.await.unwrap();
    assert_eq!(status(&town, &later).await, Status::Approved);
    assert_eq!(status(&town, &endless).await, Status::Pending);
}

/// Takes a second, and records how many calls run at the same time.
#[derive(Default)]
struct SlowModerator {
    at_once: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl AutoModerator for SlowModerator {
    async fn review(&self, _: &ModerationSubject) -> Result<Verdict, AutoModeratorError> {
        let at_once = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(at_once, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        Ok(Verdict::Approve)
    }
}

/// Cases are submitted concurrently, up to the limit.
#[tokio::test(start_paused = true)]
async fn ten_cases_are_submitted_at_a_time() {
    let (town, moderator) = (town().await, Arc::new(SlowModerator::default()));
    for number in 0..25 {
        town.post("ana", &format!("number {number}")).await;
    }
    let begun = Instant::now();
    runner(&town, &moderator).drain().await.unwrap();
    assert_eq!((begun.elapsed().as_secs(), moderator.most.load(Ordering::SeqCst)), (3, 10));
    assert_eq!(public(&town).await, 25);
}

/// I6: without its checkpoint, the processor reads everything again, and decided cases are not
/// submitted again.
#[tokio::test]
async fn decided_cases_are_not_submitted_again() {
    let (town, moderator) = (town().await, Arc::new(TextModerator::default()));
    let fine = town.post("ana", "fine").await;
    let spam = town.post("ana", "spam").await;
    town.moderate(&spam.id, Status::Flagged).await;
    runner(&town, &moderator).drain().await.unwrap();
    let before = town.audit_trail().await;
    for item in bookkeeping(town.context(), "CHECKPOINT#verdicts").await {
        let checkpoint = Checkpoint::from_item(&item).unwrap();
        town.context().ops().table().delete(checkpoint.key().delete()).await.unwrap();
    }
    let again = runner(&town, &moderator);
    again.drain().await.unwrap();
    assert!(processed(&again, "verdicts") > 0);
    assert_eq!(*moderator.submitted.lock(), ["fine"]);
    assert_eq!((town.audit_trail().await, status(&town, &fine).await), (before, Status::Approved));
}

/// Approves when told to.
struct PausedModerator {
    submitted: Mutex<Vec<String>>,
    begun: Notify,
    answers: Semaphore,
}

#[async_trait]
impl AutoModerator for PausedModerator {
    async fn review(&self, subject: &ModerationSubject) -> Result<Verdict, AutoModeratorError> {
        self.submitted.lock().push(text(subject));
        self.begun.notify_one();
        self.answers.acquire().await.unwrap().forget();
        Ok(Verdict::Approve)
    }
}

/// R34: a verdict applies only to the text that it was given for, and every published text has one.
#[tokio::test]
async fn a_text_edited_during_a_call_is_submitted_again() {
    let (submitted, begun, answers) = (Mutex::default(), Notify::new(), Semaphore::new(0));
    let (town, moderator) = (town().await, Arc::new(PausedModerator { submitted, begun, answers }));
    let post = town.post("ana", "one").await;
    let change = PostChange { content: Some("two".into()), ..PostChange::default() };
    let edit = async {
        moderator.begun.notified().await;
        town.posts().update(&town.caller("ana"), &post.id, &change, None).await.unwrap();
        moderator.answers.add_permits(2);
    };
    let (drained, ()) = tokio::join!(async { runner(&town, &moderator).drain().await }, edit);
    drained.unwrap();
    assert_eq!(*moderator.submitted.lock(), ["one", "two"]);
    let decided = town.case(&post.id).await.content.post;
    assert_eq!((decided.content.as_str(), decided.moderation_status), ("two", Status::Approved));
}

/// Stopped at any point, the case is decided once, and its post published once.
#[tokio::test]
async fn a_case_is_decided_once_although_the_runner_is_stopped_anywhere() {
    let mut stops = 0;
    loop {
        let (clock, moderator) = (clock(), Arc::new(TextModerator::default()));
        let backend: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let settings = || settings(ModerationMode::Before);
        let town = Town::on(Store::shared(backend.clone()), clock.clone(), settings(), 0).await;
        let slow =
            Town::on(Store::new(YieldingBackend::shared(backend)), clock, settings(), 1).await;
        for name in ["ana", "mo"] {
            town.add_user(name, |_| {}).await;
        }
        let post = town.post("ana", "fine").await;
        let done = stop_at(stops, runner(&slow, &moderator).drain()).await;
        runner(&town, &moderator).drain().await.unwrap();
        // Longer than the claim of a worker.
        town.advance_ms(61_000);
        runner(&town, &moderator).drain().await.unwrap();
        assert_eq!(status(&town, &post).await, Status::Approved);
        assert_eq!((town.audit_trail().await.len(), public(&town).await), (1, 1));
        assert!(bookkeeping(town.context(), "JOB#verdicts").await.is_empty());
        if done.is_some() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 50, "{stops} await points are too few to be all");
}
