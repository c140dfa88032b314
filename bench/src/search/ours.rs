//! Our search on the embedded engine, in this process: the service, the index, and the bus that feeds it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use futures::StreamExt as _;
use futures::channel::oneshot;
use roundtable_domain::{
    Caller, Context, ContextParts, Entropy, LiveBus, NewPost, PageInput, Posts, RateSettings,
    Search, SearchResult, SearchType, Settings,
};
use roundtable_engine::{Engine, Options};
use roundtable_model::entities::{Block, Follow, Post, User, UserCounter};
use roundtable_model::{
    Entity as _, FollowStatus, IdGenerator, PostId, Shard, Time, UserCount, UserId, samples,
};
use roundtable_search::{IndexLocation, IndexSettings, Indexer, SearchStatus};
use roundtable_table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_table::{BatchWrite, Item, ManualClock, Store, SystemClock, Table};
use roundtable_test_client::Samples;
use tokio::runtime::{Builder, Runtime};

use super::town::{BEGIN_MS, SeedQuery, Town};
use super::{PAGE, Results};
use crate::machine;
use crate::progress::Progress;

/// Concurrent batches.
const AT_ONCE: usize = 64;
const BUILD_MAX: Duration = Duration::from_mins(20);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

pub(super) struct Ours {
    engine: Engine,
    runtime: Runtime,
    context: Context,
    search: Search,
    status: Box<dyn Fn() -> SearchStatus + Send + Sync>,
    /// The numbers of the posts.
    numbers: HashMap<PostId, usize>,
    index: PathBuf,
    _stop: (oneshot::Sender<()>, oneshot::Sender<()>),
}

impl Ours {
    /// Writes a town into a new directory and opens it; returns the time that the index took.
    pub(super) fn fill(dir: &Path, town: &Town) -> Result<(Self, Duration)> {
        std::fs::create_dir_all(dir)?;
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let engine = Engine::open(dir, Options::default())?;
        let context = runtime.block_on(context(&engine))?;
        let ids = post_ids(town.posts.len())?;
        runtime.block_on(write(context.core().table(), town, &ids))?;
        engine.checkpoint()?;
        machine::settle(dir)?;
        let numbers = ids.into_iter().enumerate().map(|(number, id)| (id, number)).collect();
        let index = dir.join("search");
        let bus = LiveBus::new(context.clone());
        let location = IndexLocation::Directory(index.clone());
        let indexer = Indexer::new(context.clone(), &bus, location, IndexSettings::default());
        let search = Search::new(context.with_memory_of(&bus), indexer.index());
        let status = Box::new(indexer.status());
        let (stop_index, index_stopped) = oneshot::channel::<()>();
        let (stop_bus, bus_stopped) = oneshot::channel::<()>();
        let started = Instant::now();
        runtime.spawn(indexer.run(async {
            let _ = index_stopped.await;
        }));
        runtime.spawn(async move {
            bus.run(async {
                let _ = bus_stopped.await;
            })
            .await;
        });
        while !status().answers {
            ensure!(started.elapsed() < BUILD_MAX, "the index was not built in time");
            std::thread::sleep(POLL_INTERVAL);
        }
        let built = started.elapsed();
        let _stop = (stop_index, stop_bus);
        Ok((Self { engine, runtime, context, search, status, numbers, index, _stop }, built))
    }

    pub(super) fn index_bytes(&self) -> Result<u64> {
        machine::occupied_bytes(&self.index)
    }

    pub(super) fn status(&self) -> SearchStatus {
        (self.status)()
    }

    /// Runs all queries, one after the other.
    pub(super) fn run(&self, queries: &[SeedQuery]) -> Result<(Samples, Results)> {
        let (mut samples, mut results) = (Samples::with_capacity(queries.len()), Vec::new());
        for query in queries {
            let reader = Caller::user(user_id(query.reader)?);
            let page = PageInput { limit: Some(PAGE), after: None };
            let started = Instant::now();
            let found =
                self.search.search(Some(&reader), &query.text, Some(&[SearchType::Post]), &page);
            let found = self.runtime.block_on(found)?;
            samples.add_since(started);
            let number = |result| match result {
                SearchResult::Post(post) => self.numbers.get(&post.id).copied(),
                _ => None,
            };
            results.push(found.into_items().into_iter().filter_map(number).collect());
        }
        Ok((samples, results))
    }

    /// Publishes posts at a pace; returns the times from acknowledgements until posts were found.
    pub(super) fn publish(&self, per_second: u32, time: Duration) -> Result<Samples> {
        self.runtime.block_on(async {
            let posts = Posts::new(self.context.clone());
            let mut interval = tokio::time::interval(Duration::from_secs(1) / per_second);
            let (started, mut writes) = (Instant::now(), Vec::new());
            let mut number = 0_usize;
            while started.elapsed() < time {
                interval.tick().await;
                let (posts, search) = (posts.clone(), self.search.clone());
                writes.push(tokio::spawn(async move {
                    publish_one(&posts, number, (number % 50 == 0).then_some(search)).await
                }));
                number += 1;
            }
            let mut samples = Samples::with_capacity(writes.len());
            for write in writes {
                if let Some(found) = write.await?? {
                    samples.add(found);
                }
            }
            Ok(samples)
        })
    }

    pub(super) fn close(self) -> Result<()> {
        let Self { engine, runtime, context, search, _stop, .. } = self;
        drop((_stop, context, search));
        runtime.shutdown_timeout(Duration::from_secs(30));
        Ok(engine.close()?)
    }
}

/// Publishes a post, and with `search` looks for it until it is found.
async fn publish_one(
    posts: &Posts,
    number: usize,
    search: Option<Search>,
) -> Result<Option<Duration>> {
    let author = Caller::user(user_id(number % 1_000)?);
    let word = format!("fresh{number}");
    posts.create(&author, &NewPost::text(format!("news of today: {word}")), None).await?;
    let Some(search) = search else { return Ok(None) };
    let started = Instant::now();
    let page = PageInput { limit: Some(1), after: None };
    while started.elapsed() < Duration::from_secs(30) {
        let found = search.search(None, &word, Some(&[SearchType::Post]), &page).await?;
        if !found.items.is_empty() {
            return Ok(Some(started.elapsed()));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    bail!("post {number} was not found")
}

fn user_id(number: usize) -> Result<UserId> {
    Ok(format!("u{number}").parse()?)
}

/// Ids as they would have been made at the times of the posts.
fn post_ids(count: usize) -> Result<Vec<PostId>> {
    let clock = Arc::new(ManualClock::at_ms(BEGIN_MS));
    let ids = IdGenerator::new(Arc::clone(&clock) as _, [5; 32]);
    let id = |_| {
        clock.advance_ms(1_000);
        ids.next::<PostId>()
    };
    Ok((0..count).map(id).collect())
}

async fn context(engine: &Engine) -> Result<Context> {
    let clock = Arc::new(SystemClock);
    let rates = RateSettings {
        writes_burst: u32::MAX,
        writes_per_minute: u32::MAX,
        ..RateSettings::default()
    };
    let parts = ContextParts {
        store: Store::new(engine.clone()),
        clock: clock.clone(),
        ids: IdGenerator::from_os(clock)?,
        entropy: Entropy::from_os()?,
        settings: Settings { rates, ..Settings::default() },
        fingerprint_key: [9; 32],
    };
    Ok(Context::open(parts).await?)
}

/// Writes users, their relations and posts in batches.
async fn write(table: &Table, town: &Town, ids: &[PostId]) -> Result<()> {
    let progress =
        Progress::new("writing the town", (town.posts.len() + town.is_private.len()) as u64);
    let begin = Time::from_ms(BEGIN_MS);
    let mut items: Vec<Item> = Vec::new();
    for (number, is_private) in town.is_private.iter().enumerate() {
        let user = User {
            id: user_id(number)?,
            nickname: format!("person{number}").parse()?,
            email: None,
            handle: None,
            is_private: *is_private,
            profile_image: None,
            created_at: begin,
            updated_at: begin,
            ..samples::user()
        };
        items.push(user.item());
    }
    for (reader, (follows, blocks)) in town.follows.iter().zip(&town.blocks).enumerate() {
        let (reader_id, name) = (user_id(reader)?, format!("person{reader}"));
        for followee in follows {
            let follow = Follow {
                follower_id: reader_id.clone(),
                followee_id: user_id(*followee)?,
                follower_nickname: name.parse()?,
                followee_nickname: format!("person{followee}").parse()?,
                status: FollowStatus::Active,
                muted: false,
                shard: Shard::ZERO,
                day_shard: Shard::ZERO,
                active_since: Some(begin),
                created_at: begin,
                ..samples::follow()
            };
            items.push(follow.item());
        }
        for blocked in blocks {
            let block = Block {
                blocker_id: reader_id.clone(),
                blocked_id: user_id(*blocked)?,
                ..samples::block()
            };
            items.push(block.item());
        }
        let counter = UserCounter {
            user_id: reader_id,
            counter: UserCount::Following,
            shard: Shard::ZERO,
            count: follows.len() as u64,
            version: Some(1),
            seq: None,
            updated_at: begin,
        };
        items.push(counter.item());
    }
    put_all(table, items.into_iter(), &progress).await?;
    let posts = town.posts.iter().zip(ids).enumerate().filter_map(|(number, (post, id))| {
        let at = Time::from_ms(BEGIN_MS + (number as u64 + 1) * 1_000);
        let post = Post {
            id: id.clone(),
            author_id: user_id(post.author).ok()?,
            author_nickname: format!("person{}", post.author).parse().ok()?,
            group_id: None,
            content: town.text(number),
            media: Vec::new(),
            visibility: post.visibility,
            hashtags: Vec::new(),
            mentions: Vec::new(),
            is_deleted: false,
            published_at: Some(at),
            score: None,
            created_at: at,
            updated_at: at,
            ..samples::post()
        };
        Some(post.item())
    });
    put_all(table, posts, &progress).await
}

async fn put_all(
    table: &Table,
    items: impl Iterator<Item = Item>,
    progress: &Progress,
) -> Result<()> {
    let mut items = items.peekable();
    let batches = std::iter::from_fn(|| {
        items.peek()?;
        Some(items.by_ref().take(BATCH_WRITE_ITEMS_MAX).map(BatchWrite::Put).collect::<Vec<_>>())
    });
    let writes = batches.map(|batch| async {
        let count = batch.len() as u64;
        table.batch_write(batch).await.map(|_| count)
    });
    let mut under_way = futures::stream::iter(writes).buffer_unordered(AT_ONCE);
    while let Some(count) = under_way.next().await {
        progress.add(count.context("writing a batch")?);
    }
    Ok(())
}
