//! Cases before a judge: decided as soon as they wait, or left to moderators, and in nobody's way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roundtable_conformance::Reference;
use roundtable_domain::{
    HookSettings, Judge, JudgeError, ModerationMode, PostChange, Settings, Subject, Verdict,
};
use roundtable_model::entities::{Checkpoint, Post};
use roundtable_model::table::{SharedBackend, Store};
use roundtable_model::{Answer, CaseId, Entity, ModerationStatus as Status, Queue};
use roundtable_streams::{Redriven, Runner, Setup};
use roundtable_testkit::{Town, Yielding, stop_at};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use crate::facts::bookkeeping;
use crate::running::{processed, start, until, until_found};
use crate::stage::{ATTEMPTS_MAX, clock, retries};

const QUEUE: Queue = Queue::named("verdicts");
const PATIENCE: Duration = Duration::from_secs(5);

/// Goes by what a text says, and remembers what it was asked.
#[derive(Default)]
struct Reader {
    asked: Mutex<Vec<String>>,
    is_well: AtomicBool,
}

impl Reader {
    /// How often it was asked about a text.
    fn asked(&self, text: &str) -> u32 {
        self.asked.lock().iter().map(|asked| u32::from(asked == text)).sum()
    }
}

#[async_trait]
impl Judge for Reader {
    async fn judge(&self, subject: &Subject) -> Result<Verdict, JudgeError> {
        let text = text(subject);
        self.asked.lock().push(text.clone());
        match text.as_str() {
            "spam" => Ok(Verdict::Reject("spam".into())),
            "odd" => Ok(Verdict::Flag("odd".into())),
            "hm" => Ok(Verdict::Undecided),
            "endless" => std::future::pending().await,
            "broken" if !self.is_well.load(Ordering::SeqCst) => {
                Err(JudgeError("connection refused".into()))
            }
            "panic" if !self.is_well.load(Ordering::SeqCst) => panic!("as a careless judge would"),
            _ => Ok(Verdict::Approve),
        }
    }
}

fn text(subject: &Subject) -> String {
    let content = &subject.content;
    content.comment.as_ref().map_or(&content.post.content, |comment| &comment.content).clone()
}

fn settings(moderation: ModerationMode) -> Settings {
    let timeout_ms = u64::try_from(PATIENCE.as_millis()).unwrap();
    let hook = HookSettings { timeout_ms, ..HookSettings::default() };
    Settings { moderation, hook, ..Town::settings() }
}

/// A town in which moderators see posts before anybody else does.
async fn town() -> Town {
    Town::with(settings(ModerationMode::Before), ["ana", "bo", "mo"]).await
}

fn runner(town: &Town, judge: &Arc<impl Judge + 'static>) -> Runner {
    let setup = Setup::everything_at_once(town.ground()).judged_by(judge.clone());
    setup.retrying(retries()).build()
}

async fn status(town: &Town, post: &Post) -> Status {
    town.case(&post.id).await.content.post.moderation_status
}

/// How many posts everybody sees.
async fn public(town: &Town) -> usize {
    town.rows("ACTIVITY#ana", "TS#").await.len()
}

/// R34: cases are decided by the system, each by its verdict.
#[tokio::test]
async fn what_waits_is_judged() {
    let (town, judge) = (town().await, Arc::new(Reader::default()));
    let mut posts = Vec::new();
    for text in ["fine", "spam", "odd", "hm"] {
        posts.push(town.post("ana", text).await);
    }
    runner(&town, &judge).drain().await.unwrap();
    let expected = [Status::Approved, Status::Rejected, Status::Flagged, Status::Pending];
    for (post, expected) in posts.iter().zip(expected) {
        assert_eq!(status(&town, post).await, expected, "{}", post.content);
        assert_eq!(judge.asked(&post.content), 1);
    }
    assert_eq!(public(&town).await, 1);
    assert_eq!(town.queue(Status::Pending).await, [CaseId::from(&posts[3].id)]);
    assert!(town.trail().await.iter().all(|entry| entry.starts_with("system moderatePost")));
    assert!(bookkeeping(town.ground(), "JOB#verdicts").await.is_empty());
}

/// R34: also what is reported, comments among it; and decided, it is opened again by the next report.
#[tokio::test]
async fn what_is_reported_is_judged() {
    let town = Town::with(settings(ModerationMode::Off), ["ana", "bo", "cleo", "mo"]).await;
    let judge = Arc::new(Reader::default());
    let post = town.post("ana", "fine").await;
    let said = town.comment("ana", &post.id, "spam").await;
    runner(&town, &judge).drain().await.unwrap();
    assert!(judge.asked.lock().is_empty(), "nobody has complained");
    let moderation = town.moderation();
    moderation.report_comment(&town.caller("bo"), &said.id, "rude", None).await.unwrap();
    town.report("bo", &post.id, "boring").await;
    runner(&town, &judge).drain().await.unwrap();
    let comment = town.case(&said.id).await.content.comment.unwrap();
    assert_eq!(comment.moderation_status, Status::Rejected);
    assert_eq!(town.case(&post.id).await.case.status, Status::Approved);
    town.report("cleo", &post.id, "very boring").await;
    runner(&town, &judge).drain().await.unwrap();
    assert_eq!((judge.asked("spam"), judge.asked("fine")), (1, 2));
}

/// R34: what a judge could not tell, it is asked again as soon as it says something else.
#[tokio::test]
async fn a_changed_text_is_a_new_question() {
    let town = Town::with(settings(ModerationMode::Off), ["ana", "bo", "mo"]).await;
    let judge = Arc::new(Reader::default());
    let post = town.post("ana", "fine").await;
    let said = town.comment("ana", &post.id, "hm").await;
    let report = town.moderation();
    report.report_comment(&town.caller("bo"), &said.id, "rude", None).await.unwrap();
    runner(&town, &judge).drain().await.unwrap();
    assert_eq!(town.case(&said.id).await.case.status, Status::Pending);
    town.comments().update(&town.caller("ana"), &said.id, "spam", None).await.unwrap();
    runner(&town, &judge).drain().await.unwrap();
    assert_eq!(town.case(&said.id).await.case.status, Status::Rejected);
    // Decided, a text can change as it likes: nobody waits for anything.
    town.comments().update(&town.caller("ana"), &said.id, "hm", None).await.ok();
    let change = PostChange { content: Some("odd".into()), ..PostChange::default() };
    town.posts().update(&town.caller("ana"), &post.id, &change, None).await.unwrap();
    runner(&town, &judge).drain().await.unwrap();
    assert_eq!(*judge.asked.lock(), ["hm", "spam"]);
}

/// R34: a hook that fails leaves the case pending; it is asked again a few times, and then by hand.
#[tokio::test]
async fn a_failing_judge_leaves_its_case_to_moderators_and_the_others_alone() {
    let (town, judge) = (town().await, Arc::new(Reader::default()));
    let broken = town.post("ana", "broken").await;
    let panics = town.post("ana", "panic").await;
    let fine = town.post("ana", "fine").await;
    let runner = runner(&town, &judge);
    runner.drain().await.unwrap();
    assert_eq!(status(&town, &fine).await, Status::Approved);
    for post in [&broken, &panics] {
        assert_eq!(status(&town, post).await, Status::Pending);
        assert_eq!(judge.asked(&post.content), ATTEMPTS_MAX);
    }
    let letters = runner.dead_letters();
    let parked = letters.list(&QUEUE, None, None).await.unwrap().items;
    let mut errors: Vec<&str> = parked.iter().map(|letter| letter.error.as_str()).collect();
    errors.sort_unstable();
    assert_eq!(errors, ["no verdict: connection refused", "the work panicked"]);

    // A moderator decides about one of them. When the judge is well again, it is asked about the other.
    town.moderate(&panics.id, Status::Rejected).await;
    judge.is_well.store(true, Ordering::SeqCst);
    let redriven = letters.redrive_all(10).await.unwrap();
    assert_eq!(redriven, Redriven { done: 2, failed: 0 });
    runner.drain().await.unwrap();
    assert_eq!(status(&town, &broken).await, Status::Approved);
    assert_eq!(status(&town, &panics).await, Status::Rejected);
    assert_eq!(judge.asked("panic"), ATTEMPTS_MAX);
    assert_eq!(letters.count().await.unwrap(), 0);
}

/// R34: a hook that never answers keeps other cases waiting for its time-out at most, and nobody else
/// at all.
#[tokio::test(start_paused = true)]
async fn a_hanging_judge_is_in_nobodys_way() {
    let (town, judge) = (town().await, Arc::new(Reader::default()));
    let endless = town.post("ana", "endless").await;
    let fine = town.post("ana", "fine").await;
    let runner = runner(&town, &judge);
    let (stop, running) = start(&runner);
    until(|| judge.asked("endless") == 1).await;
    let begun = Instant::now();
    // The one that was there with it is decided, and what people do then is counted.
    let judged = |runner: &Runner| {
        let queues = runner.figures().queues;
        queues.iter().any(|queue| queue.queue == QUEUE.as_str() && queue.finished == 1)
    };
    until(|| judged(&runner)).await;
    assert_eq!(status(&town, &fine).await, Status::Approved);
    town.like("bo", &fine.id).await;
    let later = town.post("ana", "later").await;
    let counter = format!("POST#{}", fine.id);
    until_found(async || town.rows(&counter, "COUNTER").await.len() == 1).await;
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    until(|| judge.asked("later") == 1).await;
    // A worker that had nothing to do looks again after a second.
    assert!(begun.elapsed() <= PATIENCE + Duration::from_secs(1), "{:?}", begun.elapsed());
    stop.send(()).unwrap();
    running.await.unwrap();
    assert_eq!(status(&town, &later).await, Status::Approved);
    assert_eq!(status(&town, &endless).await, Status::Pending);
}

/// Thinks for a second, and notices how many others do.
#[derive(Default)]
struct Ponderous {
    at_once: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Judge for Ponderous {
    async fn judge(&self, _: &Subject) -> Result<Verdict, JudgeError> {
        let at_once = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(at_once, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        Ok(Verdict::Approve)
    }
}

/// Cases are judged beside each other, and no more of them than the judge can be asked to bear.
#[tokio::test(start_paused = true)]
async fn many_cases_are_judged_ten_at_a_time() {
    let (town, judge) = (town().await, Arc::new(Ponderous::default()));
    for number in 0..25 {
        town.post("ana", &format!("number {number}")).await;
    }
    let begun = Instant::now();
    runner(&town, &judge).drain().await.unwrap();
    assert_eq!((begun.elapsed().as_secs(), judge.most.load(Ordering::SeqCst)), (3, 10));
    assert_eq!(public(&town).await, 25);
}

/// I6: with its checkpoint gone, the processor reads everything again, and what was decided is not judged
/// again.
#[tokio::test]
async fn what_was_decided_is_not_judged_again() {
    let (town, judge) = (town().await, Arc::new(Reader::default()));
    let fine = town.post("ana", "fine").await;
    let spam = town.post("ana", "spam").await;
    town.moderate(&spam.id, Status::Flagged).await;
    runner(&town, &judge).drain().await.unwrap();
    let before = town.trail().await;
    for item in bookkeeping(town.ground(), "CHECKPOINT#verdicts").await {
        let checkpoint = Checkpoint::from_item(&item).unwrap();
        town.ground().ops().table().delete(checkpoint.key().delete()).await.unwrap();
    }
    let again = runner(&town, &judge);
    again.drain().await.unwrap();
    assert!(processed(&again, "verdicts") > 0);
    assert_eq!(*judge.asked.lock(), ["fine"]);
    assert_eq!((town.trail().await, status(&town, &fine).await), (before, Status::Approved));
}

/// Approves, but not before it is told to.
struct Thinking {
    asked: Mutex<Vec<String>>,
    begun: Notify,
    answers: Semaphore,
}

#[async_trait]
impl Judge for Thinking {
    async fn judge(&self, subject: &Subject) -> Result<Verdict, JudgeError> {
        self.asked.lock().push(text(subject));
        self.begun.notify_one();
        self.answers.acquire().await.unwrap().forget();
        Ok(Verdict::Approve)
    }
}

/// R34: no verdict is about another text than the one that comes out, and none is missing.
#[tokio::test]
async fn a_text_that_changes_before_the_judge_is_judged_again() {
    let (asked, begun, answers) = (Mutex::default(), Notify::new(), Semaphore::new(0));
    let (town, judge) = (town().await, Arc::new(Thinking { asked, begun, answers }));
    let post = town.post("ana", "one").await;
    let change = PostChange { content: Some("two".into()), ..PostChange::default() };
    let edit = async {
        judge.begun.notified().await;
        town.posts().update(&town.caller("ana"), &post.id, &change, None).await.unwrap();
        judge.answers.add_permits(2);
    };
    let (drained, ()) = tokio::join!(async { runner(&town, &judge).drain().await }, edit);
    drained.unwrap();
    assert_eq!(*judge.asked.lock(), ["one", "two"]);
    let decided = town.case(&post.id).await.content.post;
    assert_eq!((decided.content.as_str(), decided.moderation_status), ("two", Status::Approved));
}

/// Whatever moment everything stops at, the case is decided once, and its post published once.
#[tokio::test]
async fn stopped_anywhere_a_case_is_decided_once() {
    let mut stops = 0;
    loop {
        let (clock, judge) = (clock(), Arc::new(Reader::default()));
        let backend: SharedBackend = Arc::new(Reference::new(clock.clone()));
        let settings = || settings(ModerationMode::Before);
        let town = Town::on(Store::shared(backend.clone()), clock.clone(), settings(), 0).await;
        let slow = Town::on(Store::new(Yielding::shared(backend)), clock, settings(), 1).await;
        for name in ["ana", "mo"] {
            town.move_in(name, |_| {}).await;
        }
        let post = town.post("ana", "fine").await;
        let done = stop_at(stops, runner(&slow, &judge).drain()).await;
        runner(&town, &judge).drain().await.unwrap();
        // Longer than a worker may be silent.
        town.pass_ms(61_000);
        runner(&town, &judge).drain().await.unwrap();
        assert_eq!(status(&town, &post).await, Status::Approved);
        assert_eq!((town.trail().await.len(), public(&town).await), (1, 1));
        assert!(bookkeeping(town.ground(), "JOB#verdicts").await.is_empty());
        if done.is_some() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 50, "{stops} await points are too few to be all");
}
