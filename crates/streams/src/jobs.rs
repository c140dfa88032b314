//! Work to be done later, however much it is: a page at a time, by whichever worker is free.
//!
//! A job lies in its queue under the time it is due. Taking it moves it to the time its taker's claim
//! ends, in one transaction with its removal from where it was: of two takers one finds it gone, and
//! when a worker dies, the job is due again by itself. Where it has come to is written after every page,
//! so that at most one page is done twice; pages are made of writes that do nothing the second time.

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
use roundtable_domain::Ground;
use roundtable_model::entities::Job;
use roundtable_model::table::{CancelReason, Change, Error, Transaction, Write};
use roundtable_model::{Entity, JobId, Json, Queue, Shard, Shards, Span, Time};
use serde::Serialize;

use crate::failure::Remedy;
use crate::shared::Shared;
use crate::{Failure, letters};

/// How long a taken job is its taker's. Renewed halfway.
const CLAIM_MS: u64 = 60_000;
/// Pages of one job in a row: then it goes to the end of the queue, so that a large one does not keep
/// the small ones waiting.
const PAGES_IN_A_ROW_MAX: u32 = 50;
/// How often a page is tried that only met others at work on the same items.
const MET_OTHERS_MAX: u32 = 10;
/// Due jobs looked at when taking one: others may be taking the first ones.
const LOOK_JOBS: usize = 10;
/// How long an idle worker waits before it looks again, if it hears of nothing.
const IDLE: Duration = Duration::from_secs(1);

/// A kind of work.
#[async_trait]
pub trait Work: Send + Sync + fmt::Debug + 'static {
    /// The queue its jobs are in.
    fn queue(&self) -> Queue;

    /// How many of its jobs are done at the same time. One that waits for somebody else then keeps no
    /// other waiting, as long as there are fewer of its kind.
    fn jobs_at_once(&self) -> usize {
        1
    }

    /// What it counts in this process beside its jobs and pages, each under its name.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Does one page of a job. It may be done a second time, and must then change nothing.
    async fn page(&self, job: &Job) -> Result<Next, Failure>;
}

/// How a job goes on after a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// With the page at this cursor.
    Page(String),
    /// With the page at this cursor, and not before so long.
    Later(String, Duration),
    /// Not at all: it is finished.
    Done,
}

/// What came of looking for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worked {
    /// Something was done.
    Some,
    /// There was nothing to do, or nothing could be done yet.
    Nothing,
}

/// A job for a queue. It is known by what it is about: asked for twice, it is one job, until it is
/// under way.
pub fn job<P: Serialize>(
    queue: Queue,
    id: JobId,
    due_at: Time,
    payload: &P,
) -> Result<Job, Failure> {
    let payload = Json::of(payload)?;
    let (shard, created_at) = (Shard::ZERO, due_at);
    Ok(Job { queue, shard, due_at, id, payload, cursor: None, attempts: 0, created_at })
}

/// When a job that follows from a change is due: as soon as it happened, always the same, so that a
/// change that comes again asks for the same job. The store's clock may be ahead of ours.
pub(crate) fn happened(change: &Change, ground: &Ground) -> Time {
    Time::from_ms(change.at_ms).min(ground.now())
}

/// The worker of one queue.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    shared: Arc<Shared>,
    work: Arc<dyn Work>,
    queue: Queue,
}

/// The jobs that a worker is at, and what they are about.
#[derive(Default)]
struct UnderWay<'a> {
    about: HashSet<JobId>,
    working: FuturesUnordered<BoxFuture<'a, (JobId, Result<Worked, Failure>)>>,
}

/// What becomes of a taken job when its worker is done with it for now.
enum Left {
    Finished,
    /// It is due again then.
    Due(Job),
    /// Somebody else has it.
    Lost,
}

impl Worker {
    pub(crate) fn new(shared: &Arc<Shared>, work: &Arc<dyn Work>) -> Self {
        Self { shared: Arc::clone(shared), queue: work.queue(), work: Arc::clone(work) }
    }

    /// Works until everything is to stop.
    pub(crate) async fn follow(self) {
        let mut failures = 0;
        let mut asked = self.shared.asked.listener();
        let mut under_way = UnderWay::default();
        while !self.shared.stop.is_set() {
            asked.hear();
            let worked = match self.begin(&mut under_way).await {
                Ok(()) => self.go_on(&mut under_way, asked.wait(IDLE)).await,
                Err(failure) => Err(failure),
            };
            match worked {
                Ok(()) => failures = 0,
                Err(failure) => {
                    failures += 1;
                    tracing::warn!(queue = %self.queue, %failure, "cannot look for jobs");
                    // What is under way goes on meanwhile, and stays taken.
                    let pause = self.shared.retries.backoff.wait(failures);
                    if let Err(failure) = self.go_on(&mut under_way, pause).await {
                        tracing::warn!(queue = %self.queue, %failure, "cannot go on with a job");
                    }
                }
            }
        }
        // They are never dropped: their jobs would be due again only when their claims end.
        while under_way.working.next().await.is_some() {}
    }

    /// Begins with jobs that are due, as many as there is room for.
    async fn begin<'a>(&'a self, under_way: &mut UnderWay<'a>) -> Result<(), Failure> {
        let room = self.work.jobs_at_once().max(1).saturating_sub(under_way.working.len());
        if room == 0 {
            return Ok(());
        }
        for job in self.due().await?.into_iter().take(room) {
            let id = job.id.clone();
            // Taken at the same moment, two jobs about the same would lie in the same place.
            if under_way.about.insert(id.clone()) {
                let work = async move { (id, self.work_on(job).await) };
                under_way.working.push(work.boxed());
            }
        }
        Ok(())
    }

    /// Goes on with what is under way until some of it is done, or it is time to look for more.
    async fn go_on(
        &self,
        under_way: &mut UnderWay<'_>,
        pause: impl Future<Output = ()>,
    ) -> Result<(), Failure> {
        let pause = pin!(self.shared.stop.unless(pause));
        let done = under_way.working.next();
        let done = async { if let Some(done) = done.await { done } else { pending().await } };
        match select(pin!(done), pause).await {
            Either::Left(((id, worked), _)) => {
                under_way.about.remove(&id);
                // Also when somebody else had it: there may be others.
                worked.map(|_| ())
            }
            Either::Right(_) => Ok(()),
        }
    }

    /// The jobs that have been due for longest.
    async fn due(&self) -> Result<Vec<Job>, Failure> {
        let due = Span::until(self.shared.ground.now().plus_ms(1));
        let jobs = self.shared.ground.ops().jobs(&self.queue, due, Shards::ONE);
        Ok(jobs.limit(LOOK_JOBS).page().await?.items)
    }

    /// Takes every job that is due, as many at a time as its kind allows, and works on it for a while.
    pub(crate) async fn step(&self) -> Result<Worked, Failure> {
        let mut jobs = self.due().await?;
        let at_once = self.work.jobs_at_once().max(1);
        if at_once > 1 {
            // Taken at the same moment, two jobs about the same would lie in the same place.
            let mut about = HashSet::new();
            jobs.retain(|job| about.insert(job.id.clone()));
        }
        let failed = AtomicBool::new(false);
        let work = |job| async {
            if self.shared.stop.is_set() || failed.load(Ordering::Relaxed) {
                return Ok(Worked::Nothing);
            }
            let worked = self.work_on(job).await;
            failed.fetch_or(worked.is_err(), Ordering::Relaxed);
            worked
        };
        // Those under way are never dropped: their jobs would be due again only when their claims end.
        let working = stream::iter(jobs).map(work).buffer_unordered(at_once);
        let worked: Vec<Result<Worked, Failure>> = working.collect().await;
        let worked: Vec<Worked> = worked.into_iter().collect::<Result<_, _>>()?;
        let any = worked.contains(&Worked::Some);
        Ok(if any { Worked::Some } else { Worked::Nothing })
    }

    async fn work_on(&self, job: Job) -> Result<Worked, Failure> {
        // It has failed, or ended its worker, that often without a page in between.
        if job.attempts >= u64::from(self.shared.retries.attempts_max) {
            self.park(&job, "it kept failing without a word".to_owned()).await?;
            return Ok(Worked::Some);
        }
        let taken = Job { attempts: job.attempts + 1, ..job.clone() };
        let Some(mut taken) = self.moved(&job, taken, CLAIM_MS).await? else {
            return Ok(Worked::Nothing);
        };
        let mut worked = Worked::Nothing;
        match self.pages(&mut taken, &mut worked).await {
            Ok(Left::Finished) => self.finish(&taken).await?,
            Ok(Left::Due(next)) => self.put_back(&taken, next).await?,
            Ok(Left::Lost) => {}
            Err(failure) => return self.failed(&taken, &failure).await,
        }
        Ok(worked)
    }

    /// Does pages of a taken job.
    async fn pages(&self, taken: &mut Job, worked: &mut Worked) -> Result<Left, Failure> {
        for _ in 0..PAGES_IN_A_ROW_MAX {
            if self.shared.stop.is_set() {
                break;
            }
            let Some(next) = self.page(taken).await? else { return Ok(Left::Lost) };
            self.shared.figures.queue(&self.queue, |figures| figures.pages += 1);
            let cursor = match next {
                Next::Done => {
                    *worked = Worked::Some;
                    return Ok(Left::Finished);
                }
                Next::Later(cursor, long) => {
                    let ms = u64::try_from(long.as_millis()).unwrap_or(u64::MAX);
                    let due_at = self.shared.ground.now().plus_ms(ms);
                    let next = Job { due_at, cursor: Some(cursor), attempts: 0, ..taken.clone() };
                    return Ok(Left::Due(next));
                }
                Next::Page(cursor) => cursor,
            };
            *worked = Worked::Some;
            if !self.note(taken, cursor).await? {
                return Ok(Left::Lost);
            }
        }
        Ok(Left::Due(Job { due_at: self.shared.ground.now(), ..taken.clone() }))
    }

    /// Does one page; again, if it only met others at work on the same items. `None` if the job did not
    /// stay taken.
    async fn page(&self, taken: &mut Job) -> Result<Option<Next>, Failure> {
        let mut tries = 0;
        loop {
            match self.try_page(taken).await {
                Err(failure) if failure.remedy() == Remedy::Again && tries < MET_OTHERS_MAX => {
                    tries += 1;
                    self.shared.retries.backoff.wait(tries).await;
                }
                other => return other,
            }
        }
    }

    /// Does one page, however long it takes: the job stays taken. `None` if it did not.
    async fn try_page(&self, taken: &mut Job) -> Result<Option<Next>, Failure> {
        let job = taken.clone();
        let mut page = pin!(AssertUnwindSafe(self.work.page(&job)).catch_unwind());
        loop {
            let tick = pin!(tokio::time::sleep(Duration::from_millis(CLAIM_MS / 3)));
            match select(page.as_mut(), tick).await {
                Either::Left((Ok(next), _)) => return next.map(Some),
                Either::Left((Err(_), _)) => return Err(Failure::broken("the work panicked")),
                Either::Right(_) => match self.moved(taken, taken.clone(), CLAIM_MS).await? {
                    Some(renewed) => *taken = renewed,
                    None => return Ok(None),
                },
            }
        }
    }

    /// Writes down where a taken job has come to, and keeps it taken; whether it still is.
    async fn note(&self, taken: &mut Job, cursor: String) -> Result<bool, Failure> {
        let now = self.shared.ground.now();
        let onward = Job { cursor: Some(cursor), attempts: 0, ..taken.clone() };
        if now.plus_ms(CLAIM_MS / 2) >= taken.due_at {
            let Some(renewed) = self.moved(taken, onward, CLAIM_MS).await? else {
                return Ok(false);
            };
            *taken = renewed;
            return Ok(true);
        }
        let patch = taken.key().patch().set(Job::CURSOR, &onward.cursor).set(Job::ATTEMPTS, &0);
        match self.shared.ground.ops().table().update(patch.into()).await {
            Ok(_) => {
                *taken = onward;
                Ok(true)
            }
            Err(Error::ConditionFailed { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn finish(&self, taken: &Job) -> Result<(), Failure> {
        self.shared.figures.queue(&self.queue, |figures| figures.finished += 1);
        self.replaced(taken, []).await.map(|_| ())
    }

    async fn put_back(&self, taken: &Job, next: Job) -> Result<(), Failure> {
        if next.due_at == taken.due_at {
            // It stays where it is, and comes up when the claim ends.
            return Ok(());
        }
        self.replaced(taken, [next.put().into()]).await.map(|_| ())
    }

    /// Puts a job back that failed, for later; parks it when it has failed too often.
    async fn failed(&self, taken: &Job, failure: &Failure) -> Result<Worked, Failure> {
        let tries = u32::try_from(taken.attempts).unwrap_or(u32::MAX);
        tracing::warn!(queue = %self.queue, job = %taken.id, tries, %failure, "cannot do a job");
        let wait = failure.remedy() == Remedy::Wait;
        if !wait && tries >= self.shared.retries.attempts_max {
            self.park(taken, failure.to_string()).await?;
            return Ok(Worked::Some);
        }
        self.shared.figures.queue(&self.queue, |figures| figures.retried += 1);
        let delay = self.shared.retries.backoff.delay(tries);
        let ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        // That the store was away is not the job's fault.
        let attempts = if wait { taken.attempts.saturating_sub(1) } else { taken.attempts };
        let due_at = self.shared.ground.now().plus_ms(ms);
        self.put_back(taken, Job { due_at, attempts, ..taken.clone() }).await?;
        Ok(Worked::Some)
    }

    async fn park(&self, job: &Job, error: String) -> Result<(), Failure> {
        tracing::error!(queue = %self.queue, job = %job.id, error, "parked a job");
        let letter = letters::of_job(&self.shared.ground, job, error);
        if self.replaced(job, [letter.put().into()]).await? {
            self.shared.figures.queue(&self.queue, |figures| figures.parked += 1);
        }
        Ok(())
    }

    /// Moves a job, changed, to so long from now; `None` if somebody else has it.
    async fn moved(&self, from: &Job, to: Job, ms: u64) -> Result<Option<Job>, Failure> {
        let to = Job { due_at: self.shared.ground.now().plus_ms(ms), ..to };
        if to.due_at == from.due_at {
            return Ok(None);
        }
        Ok(self.replaced(from, [to.put().into()]).await?.then_some(to))
    }

    /// Takes a job away as it was read, and puts something in its place; whether it was still so.
    async fn replaced<const N: usize>(&self, job: &Job, by: [Write; N]) -> Result<bool, Failure> {
        let ops = self.shared.ground.ops().table();
        let as_read = Job::ATTEMPTS.is(&job.attempts).and(Job::CURSOR.is(&job.cursor));
        let gone = job.key().delete().when(as_read);
        let transaction =
            by.into_iter().fold(Transaction::new(), |all, write| all.with(ops, write));
        let mut tries = 0;
        loop {
            let transaction = transaction.clone().with(ops, gone.clone());
            match self.shared.ground.store().transact(transaction).await {
                Ok(_) => return Ok(true),
                Err(Error::Cancelled { reasons }) if is_refused(&reasons) => return Ok(false),
                // It only met another transaction.
                Err(Error::Cancelled { .. }) if tries < self.shared.retries.attempts_max => {
                    tries += 1;
                    self.shared.retries.backoff.wait(tries).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn is_refused(reasons: &[Option<CancelReason>]) -> bool {
    reasons.iter().any(|reason| matches!(reason, Some(CancelReason::ConditionFailed { .. })))
}
