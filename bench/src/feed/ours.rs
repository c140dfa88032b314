//! Our feeds on the embedded engine, in this process. No other module of this benchmark uses the services.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use futures::channel::oneshot;
use roundtable_domain::{
    Caller, Context, ContextParts, Entropy, FeedEntry, FeedStats, Feeds, Follows, LiveBus, NewPost,
    Page, PageInput, Posts, RateSettings, Settings,
};
use roundtable_engine::{Engine, Options};
use roundtable_model::{ActivityId, Cursor, IdGenerator, Span, Time, UserId};
use roundtable_streams::{Runner, RunnerBuilder};
use roundtable_table::{Item, Store, SystemClock};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::items;
use super::town::Town;
use crate::progress::Progress;

/// The quick town is a twentieth as large, and so is its cache.
const QUICK_PART: usize = 20;
/// Concurrent batches.
const BATCHES_AT_ONCE: usize = 64;
const FAN_OUT_MAX: Duration = Duration::from_mins(2);

pub(super) struct Ours {
    engine: Engine,
    runtime: Runtime,
    context: Context,
    bus: LiveBus,
    feeds: Feeds,
}

impl Ours {
    /// Writes a town into a new directory; returns the number of items.
    pub(super) fn write(dir: &Path, town: &Town) -> Result<u64> {
        std::fs::create_dir_all(dir)?;
        // No stream is needed, because derived items are written as well.
        let options = Options { retention: Duration::ZERO, ..Options::default() };
        let engine = Engine::open(dir, options)?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let written = runtime.block_on(async {
            let context = context(&engine, settings(true)).await?;
            items::write(context.core().table(), town, BATCHES_AT_ONCE).await
        })?;
        drop(runtime);
        engine.close()?;
        Ok(written)
    }

    /// Opens a town with default settings except rate limits: a few users act for many here.
    pub(super) fn open(dir: &Path, quick: bool) -> Result<Self> {
        Self::open_with(dir, settings(quick))
    }

    /// Opens a town whose pages never walk down the activities of all actors in the table, so that
    /// they read those of single actors into memory.
    pub(super) fn open_without_walks(dir: &Path, quick: bool) -> Result<Self> {
        let mut settings = settings(quick);
        settings.feed.walk_max = 0;
        Self::open_with(dir, settings)
    }

    fn open_with(dir: &Path, settings: Settings) -> Result<Self> {
        let engine = Engine::open(dir, Options::default())?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let context = runtime.block_on(context(&engine, settings))?;
        let bus = LiveBus::new(context.clone());
        let feeds = Feeds::new(context.clone(), &bus);
        Ok(Self { engine, runtime, context, bus, feeds })
    }

    pub(super) fn put(&self, items: impl Iterator<Item = Item>, what: &str) -> Result<()> {
        let (table, progress) = (self.context.core().table(), Progress::new(what, 0));
        self.runtime.block_on(items::put_all(table, items, BATCHES_AT_ONCE, &progress))?;
        Ok(())
    }

    /// Runs work on the town's services.
    pub(super) fn run<T>(&self, work: impl AsyncFnOnce(&Context) -> Result<T>) -> Result<T> {
        self.runtime.block_on(work(&self.context))
    }

    /// Reads a page of a home feed.
    pub(super) fn page(
        &self,
        reader: &Caller,
        limit: usize,
        after: Option<&Cursor>,
    ) -> Result<Page<FeedEntry>> {
        let page = PageInput { limit: Some(limit), after: after.cloned() };
        Ok(self.runtime.block_on(self.feeds.home(reader, &page))?)
    }

    /// Reads the latest activities into memory.
    pub(super) fn warm_up(&self) -> Result<()> {
        Ok(self.runtime.block_on(self.bus.warm_up())?)
    }

    /// Reads the latest activities into memory, and calls `read` until that is done; returns how long
    /// it took.
    pub(super) fn warm_up_beside(&self, mut read: impl FnMut() -> Result<()>) -> Result<Duration> {
        let (bus, started) = (self.bus.clone(), Instant::now());
        let load = self.runtime.spawn(async move {
            bus.warm_up().await?;
            anyhow::Ok(started.elapsed())
        });
        while !load.is_finished() {
            read()?;
        }
        self.runtime.block_on(load)?
    }

    pub(super) fn figures(&self) -> FeedStats {
        self.feeds.stats()
    }

    /// Processes the rest of the stream, then starts all processors like a server does.
    pub(super) fn start_processors(&self) -> Result<Processors> {
        let runner = RunnerBuilder::with_all_processors(&self.context, [3; 32]).build();
        self.runtime.block_on(runner.drain())?;
        let (stop, stopped) = oneshot::channel::<()>();
        let task = self.runtime.spawn({
            let runner = runner.clone();
            async move {
                let stopped = async {
                    let _ = stopped.await;
                };
                runner.run(stopped).await;
            }
        });
        Ok(Processors { runner, stop, task })
    }

    /// Stops the processors after their current work; fails if a change was parked.
    pub(super) fn stop_processors(&self, processors: Processors) -> Result<()> {
        let Processors { runner, stop, task } = processors;
        let _ = stop.send(());
        self.runtime.block_on(task).context("the processors panicked")?;
        let figures = runner.metrics();
        let parked: u64 = figures.lanes.iter().map(|lane| lane.parked).sum();
        let jobs: u64 = figures.queues.iter().map(|queue| queue.parked).sum();
        ensure!(parked + jobs == 0, "{parked} changes and {jobs} jobs were parked");
        Ok(())
    }

    /// Publishes a post of a promoted user; returns the time until all followers had it in their feeds,
    /// and the time of the post.
    pub(super) fn fan_out(&self, star: &Caller, number: usize) -> Result<(Duration, Time)> {
        self.runtime.block_on(fan_out(&self.context, star, number))
    }

    /// Fans out a post during other follows and posts; returns their longest wait and their number.
    pub(super) fn fan_out_beside(
        &self,
        star: &Caller,
        number: usize,
        others: &ConcurrentWriters,
    ) -> Result<(Duration, usize)> {
        self.runtime.block_on(async {
            let (stop, stopped) = oneshot::channel::<()>();
            let writes =
                tokio::spawn(write_concurrently(self.context.clone(), others.clone(), stopped));
            // The other writes begin before the fan-out and end shortly after it.
            tokio::time::sleep(ConcurrentWriters::AROUND).await;
            let done = fan_out(&self.context, star, number).await;
            tokio::time::sleep(ConcurrentWriters::AROUND).await;
            let _ = stop.send(());
            let waits = writes.await??;
            done?;
            let longest = waits.iter().max().copied().unwrap_or_default();
            Ok((longest, waits.len()))
        })
    }

    /// Returns the times of the newest entry of a home feed and of the newest copy in it.
    pub(super) fn newest(&self, reader: &Caller) -> Result<(Option<Time>, Option<Time>)> {
        let page = self.page(reader, 1, None)?;
        let shown = page.items.first().map(|(entry, _)| entry.activity.created_at);
        let copies = self.context.core().feed_items(&reader.user_id, Span::ALL).strong().limit(1);
        let copies = self.runtime.block_on(copies.page())?;
        Ok((shown, copies.items.first().map(|copy| copy.created_at)))
    }

    pub(super) fn close(self) -> Result<()> {
        let Self { engine, runtime, context, bus, feeds } = self;
        drop((context, bus, feeds, runtime));
        Ok(engine.close()?)
    }
}

pub(super) struct Processors {
    runner: Runner,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// Users who write during a fan-out, and users they do not follow yet.
#[derive(Clone, Debug)]
pub(super) struct ConcurrentWriters {
    pub(super) people: Arc<[Caller]>,
    pub(super) strangers: Arc<[UserId]>,
    /// The number of earlier writes: no write is repeated.
    pub(super) done: usize,
}

impl ConcurrentWriters {
    /// The interval between two writes.
    const EVERY: Duration = Duration::from_millis(5);
    const AROUND: Duration = Duration::from_millis(100);
}

fn settings(quick: bool) -> Settings {
    let rates = RateSettings {
        writes_burst: u32::MAX,
        writes_per_minute: u32::MAX,
        ..RateSettings::default()
    };
    let mut settings = Settings { rates, ..Settings::default() };
    if quick {
        settings.feed.memory.recent /= QUICK_PART;
    }
    settings
}

/// The capacity of the cache of latest activities.
pub(super) fn recent_max(quick: bool) -> usize {
    settings(quick).feed.memory.recent
}

async fn context(engine: &Engine, settings: Settings) -> Result<Context> {
    let clock = Arc::new(SystemClock);
    let parts = ContextParts {
        store: Store::new(engine.clone()),
        clock: clock.clone(),
        ids: IdGenerator::from_os(clock)?,
        entropy: Entropy::from_os()?,
        settings,
        fingerprint_key: [9; 32],
    };
    Ok(Context::open(parts).await?)
}

async fn fan_out(context: &Context, star: &Caller, number: usize) -> Result<(Duration, Time)> {
    const POLL_INTERVAL: Duration = Duration::from_millis(1);
    let posts = Posts::new(context.clone());
    let post = posts.create(star, &NewPost::text(Town::text(number)), None).await?;
    let started = Instant::now();
    let at = post.published_at.context("the post is not published")?;
    let subject = (&star.user_id).into();
    while started.elapsed() < FAN_OUT_MAX {
        let promotion = context.core().promotion(&subject).strong().get().await?;
        if promotion.and_then(|promotion| promotion.watermark) >= Some(at) {
            return Ok((started.elapsed(), at));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    bail!("a post was not in all feeds after {} s", FAN_OUT_MAX.as_secs())
}

/// Follows and posts at a fixed rate until the end.
async fn write_concurrently(
    context: Context,
    others: ConcurrentWriters,
    mut stopped: oneshot::Receiver<()>,
) -> Result<Vec<Duration>> {
    let mut interval = tokio::time::interval(ConcurrentWriters::EVERY);
    let mut writes = Vec::new();
    let mut number = others.done;
    while matches!(stopped.try_recv(), Ok(None)) {
        interval.tick().await;
        writes.push(tokio::spawn(write_one(context.clone(), others.clone(), number)));
        number += 1;
    }
    let mut waits = Vec::new();
    for write in writes {
        waits.push(write.await??);
    }
    Ok(waits)
}

async fn write_one(context: Context, others: ConcurrentWriters, number: usize) -> Result<Duration> {
    let (index, people) = (number / 2, others.people.len().max(1));
    let me = others.people.get(index % people).context("there are no writers")?;
    let started = Instant::now();
    if number.is_multiple_of(2) {
        let post = NewPost::text(Town::text(number));
        Posts::new(context).create(me, &post, None).await?;
    } else {
        let stranger =
            others.strangers.get(index / people).context("all strangers are followed already")?;
        Follows::new(context).follow(me, stranger, None).await?;
    }
    Ok(started.elapsed())
}

pub(super) fn ids(page: &Page<FeedEntry>) -> Vec<(Time, ActivityId)> {
    let id = |entry: &FeedEntry| (entry.activity.created_at, entry.activity.activity_id.clone());
    page.items.iter().map(|(entry, _)| id(entry)).collect()
}
