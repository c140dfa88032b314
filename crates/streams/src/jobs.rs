//! Deferred work: jobs in queues, done a page at a time by any free worker.
//!
//! A job is stored in its queue under the time it is due. Taking a job moves it to the time at
//! which the claim ends, in one transaction with its removal from the old place: of two takers one
//! finds it gone, and when a worker dies the job becomes due again by itself. The cursor is saved
//! after every page, so that at most one page is done twice. Pages consist of writes that do
//! nothing the second time.

use std::collections::HashSet;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::{BoxFuture, Either, pending, select};
use futures::stream::{self, FuturesUnordered, StreamExt};
use roundtable_domain::Context;
use roundtable_model::entities::Job;
use roundtable_model::table::{CancelReason, Change, Error, Transaction, Write};
use roundtable_model::{Entity, JobId, Json, Queue, Shard, Shards, Span, Time};
use serde::Serialize;

use crate::error::ErrorClass;
use crate::runner_state::RunnerState;
use crate::{ProcessingError, Result, dead_letters};

/// The duration of a claim. Renewed halfway.
const CLAIM_MS: u64 = 60_000;
/// Pages of one job in a row. Then it goes to the end of the queue, so that a large job does not
/// keep small ones waiting.
const PAGES_IN_A_ROW_MAX: u32 = 50;
/// Retries of a page that conflicted with other writers.
const CONFLICT_RETRIES_MAX: u32 = 10;
/// Due jobs read when taking one: other workers may be taking the first ones.
const DUE_JOBS_MAX: usize = 10;
/// The time between two polls of an idle worker that is not notified.
const IDLE_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Handles the jobs of one queue.
#[async_trait]
pub trait JobHandler: Send + Sync + fmt::Debug + 'static {
    fn queue(&self) -> Queue;

    /// The number of its jobs that run at the same time. A job that waits for another service
    /// delays no other job as long as fewer than this many wait.
    fn jobs_at_once(&self) -> usize {
        1
    }

    /// Returns further named counts of this process for the metrics.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Does one page of a job. A page may be repeated and must then change nothing.
    async fn run_page(&self, job: &Job) -> Result<PageOutcome>;
}

/// The continuation of a job after a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageOutcome {
    /// Continue with the page at this cursor.
    Continue(String),
    /// Continue with the page at this cursor after this delay.
    ContinueLater(String, Duration),
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkOutcome {
    Progressed,
    /// There was nothing to do, or nothing could be done yet.
    Idle,
}

/// Creates a job for a queue. A job is identified by its subject: enqueued twice, it is one job
/// until a worker takes it.
pub fn new_job<P: Serialize>(queue: Queue, id: JobId, due_at: Time, payload: &P) -> Result<Job> {
    let payload = Json::encode(payload)?;
    let (shard, created_at) = (Shard::ZERO, due_at);
    Ok(Job { queue, shard, due_at, id, payload, cursor: None, attempts: 0, created_at })
}

/// Returns the due time of a job that follows from a change: the time of the change, so that a
/// change delivered again enqueues the same job. Never later than now, because the store's clock
/// may be ahead of ours.
pub(crate) fn job_due_at(change: &Change, context: &Context) -> Time {
    Time::from_ms(change.at_ms).min(context.now())
}

#[derive(Clone, Debug)]
pub(crate) struct JobWorker {
    shared: Arc<RunnerState>,
    handler: Arc<dyn JobHandler>,
    queue: Queue,
}

/// The jobs that a worker is running, and their ids.
#[derive(Default)]
struct RunningJobs<'a> {
    ids: HashSet<JobId>,
    tasks: FuturesUnordered<BoxFuture<'a, (JobId, Result<WorkOutcome>)>>,
}

/// The fate of a taken job when its worker stops working on it.
enum JobDisposition {
    Finished,
    /// Due again at its new time.
    Due(Job),
    /// Taken by another worker.
    Lost,
}

impl JobWorker {
    pub(crate) fn new(shared: &Arc<RunnerState>, handler: &Arc<dyn JobHandler>) -> Self {
        Self { shared: Arc::clone(shared), queue: handler.queue(), handler: Arc::clone(handler) }
    }

    /// Works until the runner stops.
    pub(crate) async fn run(self) {
        let mut failures = 0;
        let mut signal = self.shared.work_signal.subscribe();
        let mut running = RunningJobs::default();
        while !self.shared.stop.is_set() {
            signal.mark_seen();
            let outcome = match self.start_due_jobs(&mut running).await {
                Ok(()) => {
                    self.wait_for_progress(&mut running, signal.wait(IDLE_POLL_INTERVAL)).await
                }
                Err(error) => Err(error),
            };
            match outcome {
                Ok(()) => failures = 0,
                Err(error) => {
                    failures += 1;
                    tracing::warn!(queue = %self.queue, %error, "cannot read due jobs; retrying");
                    // Running jobs continue meanwhile and stay taken.
                    let pause = self.shared.retries.backoff.wait(failures);
                    if let Err(error) = self.wait_for_progress(&mut running, pause).await {
                        tracing::warn!(queue = %self.queue, %error, "a job failed");
                    }
                }
            }
        }
        // Running jobs are never dropped: they would become due again only when their claims end.
        while running.tasks.next().await.is_some() {}
    }

    /// Starts due jobs, as many as there is room for.
    async fn start_due_jobs<'a>(&'a self, running: &mut RunningJobs<'a>) -> Result<()> {
        let room = self.handler.jobs_at_once().max(1).saturating_sub(running.tasks.len());
        if room == 0 {
            return Ok(());
        }
        for job in self.due_jobs().await?.into_iter().take(room) {
            let id = job.id.clone();
            // Two jobs with one id, taken at the same moment, would be stored under the same key.
            if running.ids.insert(id.clone()) {
                let work = async move { (id, self.run_job(job).await) };
                running.tasks.push(work.boxed());
            }
        }
        Ok(())
    }

    /// Drives the running jobs until one of them ends or `pause` has passed.
    async fn wait_for_progress(
        &self,
        running: &mut RunningJobs<'_>,
        pause: impl Future<Output = ()>,
    ) -> Result<()> {
        let pause = pin!(self.shared.stop.run_until_set(pause));
        let done = running.tasks.next();
        let done = async { if let Some(done) = done.await { done } else { pending().await } };
        match select(pin!(done), pause).await {
            Either::Left(((id, outcome), _)) => {
                running.ids.remove(&id);
                // Also if another worker had taken it: there may be more jobs.
                outcome.map(|_| ())
            }
            Either::Right(_) => Ok(()),
        }
    }

    /// Returns the jobs that have been due for longest.
    async fn due_jobs(&self) -> Result<Vec<Job>> {
        let due = Span::until(self.shared.context.now().plus_ms(1));
        let jobs = self.shared.context.ops().jobs(&self.queue, due, Shards::ONE);
        Ok(jobs.limit(DUE_JOBS_MAX).page().await?.items)
    }

    /// Takes each due job, up to the concurrency limit at a time, and runs some of its pages.
    pub(crate) async fn run_due_jobs(&self) -> Result<WorkOutcome> {
        let mut jobs = self.due_jobs().await?;
        let at_once = self.handler.jobs_at_once().max(1);
        if at_once > 1 {
            // Two jobs with one id, taken at the same moment, would be stored under the same key.
            let mut ids = HashSet::new();
            jobs.retain(|job| ids.insert(job.id.clone()));
        }
        let failed = AtomicBool::new(false);
        let work = |job| async {
            if self.shared.stop.is_set() || failed.load(Ordering::Relaxed) {
                return Ok(WorkOutcome::Idle);
            }
            let outcome = self.run_job(job).await;
            failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
            outcome
        };
        // Running jobs are never dropped: they would become due again only when their claims end.
        let tasks = stream::iter(jobs).map(work).buffer_unordered(at_once);
        let outcome: Vec<Result<WorkOutcome>> = tasks.collect().await;
        let outcome: Vec<WorkOutcome> = outcome.into_iter().collect::<Result<_, _>>()?;
        let any = outcome.contains(&WorkOutcome::Progressed);
        Ok(if any { WorkOutcome::Progressed } else { WorkOutcome::Idle })
    }

    async fn run_job(&self, job: Job) -> Result<WorkOutcome> {
        // It has failed, or killed its worker, this often without completing a page.
        if job.attempts >= u64::from(self.shared.retries.attempts_max) {
            self.park(&job, "its worker died or stalled on every attempt".to_owned()).await?;
            return Ok(WorkOutcome::Progressed);
        }
        let taken = Job { attempts: job.attempts + 1, ..job.clone() };
        let Some(mut taken) = self.move_job(&job, taken, CLAIM_MS).await? else {
            return Ok(WorkOutcome::Idle);
        };
        let mut outcome = WorkOutcome::Idle;
        match self.run_pages(&mut taken, &mut outcome).await {
            Ok(JobDisposition::Finished) => self.finish(&taken).await?,
            Ok(JobDisposition::Due(next)) => self.reschedule(&taken, next).await?,
            Ok(JobDisposition::Lost) => {}
            Err(error) => return self.handle_failure(&taken, &error).await,
        }
        Ok(outcome)
    }

    async fn run_pages(
        &self,
        taken: &mut Job,
        outcome: &mut WorkOutcome,
    ) -> Result<JobDisposition> {
        for _ in 0..PAGES_IN_A_ROW_MAX {
            if self.shared.stop.is_set() {
                break;
            }
            let Some(next) = self.run_page(taken).await? else { return Ok(JobDisposition::Lost) };
            self.shared.metrics.update_queue(&self.queue, |metrics| metrics.pages += 1);
            let cursor = match next {
                PageOutcome::Done => {
                    *outcome = WorkOutcome::Progressed;
                    return Ok(JobDisposition::Finished);
                }
                PageOutcome::ContinueLater(cursor, delay) => {
                    // Other jobs may be due behind it.
                    *outcome = WorkOutcome::Progressed;
                    let ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                    let due_at = self.shared.context.now().plus_ms(ms);
                    let next = Job { due_at, cursor: Some(cursor), attempts: 0, ..taken.clone() };
                    return Ok(JobDisposition::Due(next));
                }
                PageOutcome::Continue(cursor) => cursor,
            };
            *outcome = WorkOutcome::Progressed;
            if !self.save_cursor(taken, cursor).await? {
                return Ok(JobDisposition::Lost);
            }
        }
        Ok(JobDisposition::Due(Job { due_at: self.shared.context.now(), ..taken.clone() }))
    }

    /// Does one page and retries it on conflicts. Returns `None` if the claim was lost.
    async fn run_page(&self, taken: &mut Job) -> Result<Option<PageOutcome>> {
        let mut attempts = 0;
        loop {
            match self.try_run_page(taken).await {
                Err(error)
                    if error.class() == ErrorClass::Conflict && attempts < CONFLICT_RETRIES_MAX =>
                {
                    attempts += 1;
                    self.shared.retries.backoff.wait(attempts).await;
                }
                other => return other,
            }
        }
    }

    /// Does one page, however long it takes, and renews the claim meanwhile. Returns `None` if the
    /// claim was lost.
    async fn try_run_page(&self, taken: &mut Job) -> Result<Option<PageOutcome>> {
        let job = taken.clone();
        let mut page = pin!(AssertUnwindSafe(self.handler.run_page(&job)).catch_unwind());
        loop {
            let tick = pin!(tokio::time::sleep(Duration::from_millis(CLAIM_MS / 3)));
            match select(page.as_mut(), tick).await {
                Either::Left((Ok(next), _)) => return next.map(Some),
                Either::Left((Err(_), _)) => {
                    return Err(ProcessingError::unprocessable("the job handler panicked"));
                }
                Either::Right(_) => match self.move_job(taken, taken.clone(), CLAIM_MS).await? {
                    Some(renewed) => *taken = renewed,
                    None => return Ok(None),
                },
            }
        }
    }

    /// Saves the cursor of a taken job and keeps it taken. Returns whether the claim still holds.
    async fn save_cursor(&self, taken: &mut Job, cursor: String) -> Result<bool> {
        let now = self.shared.context.now();
        let updated = Job { cursor: Some(cursor), attempts: 0, ..taken.clone() };
        if now.plus_ms(CLAIM_MS / 2) >= taken.due_at {
            let Some(renewed) = self.move_job(taken, updated, CLAIM_MS).await? else {
                return Ok(false);
            };
            *taken = renewed;
            return Ok(true);
        }
        let patch = taken.key().patch().set(Job::CURSOR, &updated.cursor).set(Job::ATTEMPTS, &0);
        match self.shared.context.ops().table().update(patch.into()).await {
            Ok(_) => {
                *taken = updated;
                Ok(true)
            }
            Err(Error::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn finish(&self, taken: &Job) -> Result<()> {
        self.shared.metrics.update_queue(&self.queue, |metrics| metrics.finished += 1);
        self.replace_job(taken, []).await.map(|_| ())
    }

    async fn reschedule(&self, taken: &Job, mut next: Job) -> Result<()> {
        if next.due_at == taken.due_at {
            // A transaction cannot replace an item by another under the same key.
            next.due_at = next.due_at.plus_ms(1);
        }
        // Where another job with this id is due then, this one becomes due again when its claim ends.
        self.replace_job(taken, [put_unless_other(&next)]).await.map(|_| ())
    }

    /// Reschedules a failed job, or parks it if it has failed too often.
    async fn handle_failure(&self, taken: &Job, error: &ProcessingError) -> Result<WorkOutcome> {
        let attempts = u32::try_from(taken.attempts).unwrap_or(u32::MAX);
        tracing::warn!(queue = %self.queue, job = %taken.id, attempts, %error, "a job failed");
        let wait = error.class() == ErrorClass::Unavailable;
        if !wait && attempts >= self.shared.retries.attempts_max {
            self.park(taken, error.to_string()).await?;
            return Ok(WorkOutcome::Progressed);
        }
        self.shared.metrics.update_queue(&self.queue, |metrics| metrics.retried += 1);
        let delay = self.shared.retries.backoff.delay(attempts);
        let ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        // An unreachable store is not the job's fault.
        let attempts = if wait { taken.attempts.saturating_sub(1) } else { taken.attempts };
        let due_at = self.shared.context.now().plus_ms(ms);
        self.reschedule(taken, Job { due_at, attempts, ..taken.clone() }).await?;
        Ok(WorkOutcome::Progressed)
    }

    async fn park(&self, job: &Job, error: String) -> Result<()> {
        tracing::error!(
            queue = %self.queue, job = %job.id, error,
            "a job was moved to the dead letters; redrive it once the cause is fixed"
        );
        let dead_letter = dead_letters::dead_letter_for_job(&self.shared.context, job, error);
        if self.replace_job(job, [dead_letter.put().into()]).await? {
            self.shared.metrics.update_queue(&self.queue, |metrics| metrics.parked += 1);
        }
        Ok(())
    }

    /// Moves a changed job to `ms` from now. Returns `None` if another worker has it, or another job with
    /// this id was moved there: overwritten, that job would be lost.
    async fn move_job(&self, from: &Job, to: Job, ms: u64) -> Result<Option<Job>> {
        let to = Job { due_at: self.shared.context.now().plus_ms(ms), ..to };
        if to.due_at == from.due_at {
            return Ok(None);
        }
        Ok(self.replace_job(from, [put_unless_other(&to)]).await?.then_some(to))
    }

    /// Removes a job as it was read and applies `by` in the same transaction. Returns whether the
    /// job was unchanged, and the conditions of `by` held.
    async fn replace_job<const N: usize>(&self, job: &Job, by: [Write; N]) -> Result<bool> {
        let ops = self.shared.context.ops().table();
        let as_read = Job::ATTEMPTS.is(&job.attempts).and(Job::CURSOR.is(&job.cursor));
        let delete = job.key().delete().when(as_read);
        let transaction =
            by.into_iter().fold(Transaction::new(), |all, write| all.with(ops, write));
        let mut attempts = 0;
        loop {
            let transaction = transaction.clone().with(ops, delete.clone());
            match self.shared.context.store().transact(transaction).await {
                Ok(_) => return Ok(true),
                Err(Error::Cancelled { reasons }) if has_failed_condition(&reasons) => {
                    return Ok(false);
                }
                // A conflict with another transaction.
                Err(Error::Cancelled { .. }) if attempts < self.shared.retries.attempts_max => {
                    attempts += 1;
                    self.shared.retries.backoff.wait(attempts).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The write of a job, on the condition that no other job with its id is due then. The same job, enqueued
/// twice, becomes one again.
fn put_unless_other(job: &Job) -> Write {
    let is_free = Job::PAYLOAD.absent().or(Job::PAYLOAD.is(&job.payload));
    job.put().when(is_free).into()
}

fn has_failed_condition(reasons: &[Option<CancelReason>]) -> bool {
    reasons.iter().any(|reason| matches!(reason, Some(CancelReason::ConditionFailed { .. })))
}
