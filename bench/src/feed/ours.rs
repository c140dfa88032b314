//! Our feeds on the embedded engine, in this process: all that this benchmark knows of the services.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::channel::oneshot;
use roundtable_domain::{
    Caller, Chance, FeedEntry, FeedFigures, Feeds, Follows, Ground, NewPost, Page, PageInput,
    Parts, Posts, RateSettings, Settings,
};
use roundtable_engine::{Engine, Options};
use roundtable_model::{ActivityId, Cursor, Ids, Span, Time, UserId};
use roundtable_streams::{Runner, Setup};
use roundtable_table::{Item, Store, SystemClock};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::items;
use super::town::Town;
use crate::progress::Progress;

/// In a town a twentieth as large, a twentieth is remembered.
const QUICK_PART: usize = 20;
/// Batches of a town on their way at the same time.
const BATCHES_AT_ONCE: usize = 64;
/// How long a fan-out may take.
const FAN_OUT_MAX: Duration = Duration::from_mins(2);

/// The services on a town that was written before.
pub(super) struct Ours {
    engine: Engine,
    runtime: Runtime,
    ground: Ground,
    feeds: Feeds,
}

impl Ours {
    /// Writes a town into a new directory; gives the number of its items.
    pub(super) fn write(dir: &Path, town: &Town) -> Result<u64> {
        std::fs::create_dir_all(dir)?;
        // The stream is not kept: what follows from each change is written, too.
        let options = Options { retention: Duration::ZERO, ..Options::default() };
        let engine = Engine::open(dir, options)?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let written = runtime.block_on(async {
            let ground = ground(&engine, true).await?;
            items::write(ground.core().table(), town, BATCHES_AT_ONCE).await
        })?;
        drop(runtime);
        engine.close()?;
        Ok(written)
    }

    /// Opens what was written, with defaults but for rates: a few people do here what many would.
    pub(super) fn open(dir: &Path, quick: bool) -> Result<Self> {
        let engine = Engine::open(dir, Options::default())?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let ground = runtime.block_on(ground(&engine, quick))?;
        let feeds = Feeds::new(ground.clone());
        Ok(Self { engine, runtime, ground, feeds })
    }

    /// Writes more items.
    pub(super) fn put(&self, items: impl Iterator<Item = Item>, what: &str) -> Result<()> {
        let (table, progress) = (self.ground.core().table(), Progress::new(what, 0));
        self.runtime.block_on(items::put_all(table, items, BATCHES_AT_ONCE, &progress))?;
        Ok(())
    }

    /// A page of somebody's home feed.
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
        Ok(self.runtime.block_on(self.feeds.warm_up())?)
    }

    /// How much is remembered.
    pub(super) fn figures(&self) -> FeedFigures {
        self.feeds.figures()
    }

    /// Starts all processors, as a server does, once there is nothing left to process.
    pub(super) fn start_processors(&self) -> Result<Processors> {
        let runner = Setup::everything(&self.ground, [3; 32]).build();
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

    /// Finishes what the processors are about, and stops them; nothing may have been parked.
    pub(super) fn stop_processors(&self, processors: Processors) -> Result<()> {
        let Processors { runner, stop, task } = processors;
        let _ = stop.send(());
        self.runtime.block_on(task).context("the processors panicked")?;
        let figures = runner.figures();
        let parked: u64 = figures.lanes.iter().map(|lane| lane.parked).sum();
        let jobs: u64 = figures.queues.iter().map(|queue| queue.parked).sum();
        ensure!(parked + jobs == 0, "{parked} changes and {jobs} jobs were parked");
        Ok(())
    }

    /// Publishes a post of somebody who is promoted; gives how long it then took until it was in the
    /// feeds of all their followers, and when it happened.
    pub(super) fn fan_out(&self, star: &Caller, number: usize) -> Result<(Duration, Time)> {
        self.runtime.block_on(fan_out(&self.ground, star, number))
    }

    /// The same, while others follow and post. Gives the longest that one of them waited, and how many
    /// there were.
    pub(super) fn fan_out_beside(
        &self,
        star: &Caller,
        number: usize,
        others: &Others,
    ) -> Result<(Duration, usize)> {
        self.runtime.block_on(async {
            let (stop, stopped) = oneshot::channel::<()>();
            let acts = tokio::spawn(acts(self.ground.clone(), others.clone(), stopped));
            // They are under way before, and go on for a moment after.
            tokio::time::sleep(Others::AROUND).await;
            let done = fan_out(&self.ground, star, number).await;
            tokio::time::sleep(Others::AROUND).await;
            let _ = stop.send(());
            let waits = acts.await??;
            done?;
            let longest = waits.iter().max().copied().unwrap_or_default();
            Ok((longest, waits.len()))
        })
    }

    /// When the newest entry of somebody's home feed happened, and that of the newest copy in it.
    pub(super) fn newest(&self, reader: &Caller) -> Result<(Option<Time>, Option<Time>)> {
        let page = self.page(reader, 1, None)?;
        let shown = page.items.first().map(|(entry, _)| entry.activity.created_at);
        let copies = self.ground.core().feed_items(&reader.user_id, Span::ALL).strong().limit(1);
        let copies = self.runtime.block_on(copies.page())?;
        Ok((shown, copies.items.first().map(|copy| copy.created_at)))
    }

    /// Closes the engine.
    pub(super) fn close(self) -> Result<()> {
        let Self { engine, runtime, ground, feeds } = self;
        drop((ground, feeds, runtime));
        Ok(engine.close()?)
    }
}

/// Processors at work.
pub(super) struct Processors {
    runner: Runner,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// People who do something while a post is fanned out, and whom they do not follow yet.
#[derive(Clone, Debug)]
pub(super) struct Others {
    pub(super) people: Arc<[Caller]>,
    pub(super) strangers: Arc<[UserId]>,
    /// What they did before: nothing is done twice.
    pub(super) done: usize,
}

impl Others {
    /// One of them does something so often.
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

/// How many of the latest activities of everybody are remembered.
pub(super) fn remembered(quick: bool) -> usize {
    settings(quick).feed.memory.recent
}

async fn ground(engine: &Engine, quick: bool) -> Result<Ground> {
    let clock = Arc::new(SystemClock);
    let parts = Parts {
        store: Store::new(engine.clone()),
        clock: clock.clone(),
        ids: Ids::from_os(clock)?,
        chance: Chance::from_os()?,
        settings: settings(quick),
        fingerprint_key: [9; 32],
    };
    Ok(Ground::open(parts).await?)
}

async fn fan_out(ground: &Ground, star: &Caller, number: usize) -> Result<(Duration, Time)> {
    const LOOK_EVERY: Duration = Duration::from_millis(1);
    let posts = Posts::new(ground.clone());
    let post = posts.create(star, &NewPost::text(Town::text(number)), None).await?;
    let started = Instant::now();
    let at = post.published_at.context("a post that is not out")?;
    let subject = (&star.user_id).into();
    while started.elapsed() < FAN_OUT_MAX {
        let promotion = ground.core().promotion(&subject).strong().get().await?;
        if promotion.and_then(|promotion| promotion.watermark) >= Some(at) {
            return Ok((started.elapsed(), at));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    bail!("a post was not in all feeds after {} s", FAN_OUT_MAX.as_secs())
}

/// Follows and posts, one after the other at a fixed pace whatever each takes, until the end.
async fn acts(
    ground: Ground,
    others: Others,
    mut stopped: oneshot::Receiver<()>,
) -> Result<Vec<Duration>> {
    let mut pace = tokio::time::interval(Others::EVERY);
    let mut under_way = Vec::new();
    let mut number = others.done;
    while matches!(stopped.try_recv(), Ok(None)) {
        pace.tick().await;
        under_way.push(tokio::spawn(act(ground.clone(), others.clone(), number)));
        number += 1;
    }
    let mut waits = Vec::new();
    for act in under_way {
        waits.push(act.await??);
    }
    Ok(waits)
}

async fn act(ground: Ground, others: Others, number: usize) -> Result<Duration> {
    let (turn, people) = (number / 2, others.people.len().max(1));
    let me = others.people.get(turn % people).context("nobody is there")?;
    let started = Instant::now();
    if number.is_multiple_of(2) {
        let post = NewPost::text(Town::text(number));
        Posts::new(ground).create(me, &post, None).await?;
    } else {
        let stranger = others.strangers.get(turn / people).context("everybody is followed")?;
        Follows::new(ground).follow(me, stranger, None).await?;
    }
    Ok(started.elapsed())
}

/// Which activities a page lists.
pub(super) fn ids(page: &Page<FeedEntry>) -> Vec<(Time, ActivityId)> {
    let id = |entry: &FeedEntry| (entry.activity.created_at, entry.activity.activity_id.clone());
    page.items.iter().map(|(entry, _)| id(entry)).collect()
}
