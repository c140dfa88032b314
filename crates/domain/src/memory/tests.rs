use std::sync::Arc;

use futures::FutureExt;
use roundtable_conformance::Reference;
use roundtable_model::table::{Backend, Error, ManualClock, ReadBudget, ReadPool, Store};
use roundtable_model::{Entity, IdGenerator, Shard, UserCount, samples};
use roundtable_testkit::YieldingBackend;

use super::*;
use crate::{Context, ContextParts, Entropy, FeedSettings, LiveBus, Settings};

/// A bus whose memory is exact, on a new store.
pub(crate) async fn bus_on(backend: impl Backend, memory: FeedMemorySettings) -> LiveBus {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let feed = FeedSettings { memory, ..FeedSettings::default() };
    let settings = Settings { feed, ..Settings::default() };
    let parts = ContextParts {
        store: Store::new(backend),
        ids: IdGenerator::new(clock.clone(), [1; 32]),
        clock,
        entropy: Entropy::seeded([2; 32]),
        settings,
        fingerprint_key: [3; 32],
    };
    LiveBus::new(Context::open(parts).await.unwrap())
}

pub(crate) async fn bus_with(settings: FeedMemorySettings) -> LiveBus {
    bus_on(Reference::new(Arc::new(ManualClock::at_ms(1_737_991_800_000))), settings).await
}

pub(crate) async fn bus() -> LiveBus {
    bus_with(FeedMemorySettings::default()).await
}

pub(crate) async fn put(context: &Context, entity: &impl Entity) {
    context.core().table().put(entity.put()).await.unwrap();
}

async fn content(memory: &EntityMemory, context: &Context) -> Option<String> {
    let post = samples::post();
    let posts = memory.posts(context, std::slice::from_ref(&post.id)).await.unwrap();
    posts.get(&post.id).map(|post| post.content.clone())
}

fn entries(memory: &EntityMemory) -> [usize; 6] {
    memory.stats().map(|(_, cache)| cache.entries)
}

#[tokio::test(start_paused = true)]
async fn cached_posts_follow_every_change() {
    let bus = bus().await;
    let (context, memory) = (bus.context(), bus.entity_memory());
    bus.catch_up().await.unwrap();
    assert_eq!(content(memory, context).await, None);
    let post = samples::post();
    for text in ["once", "twice"] {
        put(context, &Post { content: text.into(), ..post.clone() }).await;
        bus.catch_up().await.unwrap();
        assert_eq!(content(memory, context).await.as_deref(), Some(text));
    }
    context.core().table().delete(Post::at(&post.id).delete()).await.unwrap();
    bus.catch_up().await.unwrap();
    assert_eq!((content(memory, context).await, entries(memory)), (None, [1, 0, 0, 0, 0, 0]));
}

#[tokio::test(start_paused = true)]
async fn users_and_groups_are_cached_like_posts() {
    let bus = bus().await;
    let (context, memory) = (bus.context(), bus.entity_memory());
    bus.catch_up().await.unwrap();
    let (user, group) = (samples::user(), samples::group());
    put(context, &user).await;
    put(context, &group).await;
    let (ana, runners) = ([user.id.clone()], [group.id.clone()]);
    memory.people(context, &ana).await.unwrap();
    memory.groups(context, &runners).await.unwrap();
    put(context, &User { is_private: true, ..user.clone() }).await;
    put(context, &Group { is_private: true, ..group.clone() }).await;
    bus.catch_up().await.unwrap();
    assert!(memory.people(context, &ana).await.unwrap()[&user.id].is_private);
    assert!(memory.groups(context, &runners).await.unwrap()[&group.id].is_private);
    assert_eq!(entries(memory), [0, 1, 1, 0, 0, 0]);
    let [_, (_, people), (_, groups), ..] = memory.stats();
    assert!(people.bytes > 200 && groups.bytes > 100, "{people:?}, {groups:?}");
}

#[tokio::test(start_paused = true)]
async fn counters_of_users_follow_every_change_of_their_shard() {
    let bus = bus().await;
    let (context, memory) = (bus.context(), bus.entity_memory());
    bus.catch_up().await.unwrap();
    let id = |shard| (samples::user().id, UserCount::Followers, Shard::new(shard).unwrap());
    let ids = [0, 1, 2].map(id);
    let counts = async || {
        bus.catch_up().await.unwrap();
        let found = memory.user_counters(context, &ids).await.unwrap();
        ids.each_ref().map(|id| found.get(id).map(|counter| counter.count))
    };
    assert_eq!(counts().await, [None, None, None]);
    for (shard, count) in [(0, 5), (1, 7), (0, 6)] {
        let (user_id, counter, shard) = id(shard);
        let counter = UserCounter { user_id, counter, shard, count, ..samples::user_counter() };
        put(context, &counter).await;
    }
    assert_eq!(counts().await, [Some(6), Some(7), None]);
    let [.., (_, user_counters), _] = memory.stats();
    assert_eq!((user_counters.lookups, user_counters.misses), (6, 3));
}

#[tokio::test(start_paused = true)]
async fn a_repeated_id_is_loaded_once() {
    let bus = bus().await;
    let (context, memory) = (bus.context(), bus.entity_memory());
    bus.catch_up().await.unwrap();
    put(context, &samples::post()).await;
    let id = samples::post().id;
    let found = memory.posts(context, &[id.clone(), id.clone()]).await.unwrap();
    assert_eq!((found.len(), entries(memory)), (1, [1, 0, 0, 0, 0, 0]));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_cached_before_changes_are_received() {
    let bus = bus().await;
    let (context, memory) = (bus.context(), bus.entity_memory());
    put(context, &samples::post()).await;
    assert!(content(memory, context).await.is_some());
    assert_eq!(entries(memory), [0; 6]);
}

#[tokio::test(start_paused = true)]
async fn with_other_writers_nothing_is_cached() {
    let bus = bus().await;
    let memory = EntityMemory::new(&FeedMemorySettings::default(), false);
    put(bus.context(), &samples::post()).await;
    assert!(content(&memory, bus.context()).await.is_some());
    assert_eq!(entries(&memory), [0; 6]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_load_leaves_nothing_behind() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let backend = YieldingBackend::new(Reference::new(clock));
    let bus = bus_on(backend, FeedMemorySettings::default()).await;
    let (context, memory) = (bus.context(), bus.entity_memory());
    bus.catch_up().await.unwrap();
    let post = [samples::post().id];
    assert!(memory.posts(context, &post).now_or_never().is_none(), "it was waiting");
    assert!(!memory.state.read().posts.is_tracked(&post[0]));
}

#[tokio::test(start_paused = true)]
async fn a_gap_in_the_stream_clears_the_cache_and_counts_remain() {
    let bus = bus().await;
    let (context, memory) = (bus.context(), bus.entity_memory());
    bus.catch_up().await.unwrap();
    put(context, &samples::post()).await;
    for _ in 0..3 {
        content(memory, context).await;
    }
    memory.reset(true);
    let [(_, posts), (_, people), ..] = memory.stats();
    assert_eq!(posts, CacheStats { lookups: 3, misses: 1, ..CacheStats::default() });
    assert_eq!(people, CacheStats::default());
}

#[tokio::test(start_paused = true)]
async fn a_request_may_take_as_much_from_memory_as_it_may_read() {
    let bus = bus().await;
    let (context, memory) = (bus.context(), bus.entity_memory());
    bus.catch_up().await.unwrap();
    let posts: Vec<Post> = (0..10)
        .map(|nth| Post {
            id: format!("post{nth}").parse().unwrap(),
            content: "x".repeat(10_000),
            ..samples::post()
        })
        .collect();
    for post in &posts {
        put(context, post).await;
    }
    let ids: Vec<PostId> = posts.into_iter().map(|post| post.id).collect();
    let is_too_much = async |budget| {
        let context = context.with_read_budget(Arc::new(ReadBudget::new(
            budget,
            vec![Arc::new(ReadPool::new(budget))],
        )));
        match memory.posts(&context, &ids).await {
            Ok(found) => {
                assert_eq!(found.len(), ids.len());
                false
            }
            Err(roundtable_model::Error::Table(Error::ReadBudget { .. })) => true,
            Err(error) => panic!("{error}"),
        }
    };
    let misses = || memory.stats()[0].1.misses;
    assert!(is_too_much(90_000).await, "read from the table");
    assert_eq!(entries(memory), [0; 6], "nothing of a read that was stopped is cached");
    assert!(!is_too_much(130_000).await, "read from the table");
    let read = misses();
    assert!(is_too_much(90_000).await, "from memory");
    assert!(!is_too_much(130_000).await, "from memory");
    assert_eq!(misses(), read);
}
