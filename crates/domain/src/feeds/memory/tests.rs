mod races;

use std::sync::Arc;

use futures::FutureExt;
use roundtable_conformance::Reference;
use roundtable_model::table::{Backend, Item, ManualClock, Sequence, Store};
use roundtable_model::{Entity, Ids, Time, samples};
use roundtable_testkit::Yielding;

use super::super::entry::written;
use super::*;
use crate::{Chance, Ground, Parts, Settings};

async fn ground_on(backend: impl Backend) -> Ground {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let parts = Parts {
        store: Store::new(backend),
        ids: Ids::new(clock.clone(), [1; 32]),
        clock,
        chance: Chance::seeded([2; 32]),
        settings: Settings::default(),
        fingerprint_key: [3; 32],
    };
    Ground::open(parts).await.unwrap()
}

async fn ground() -> Ground {
    ground_on(Reference::new(Arc::new(ManualClock::at_ms(1_737_991_800_000)))).await
}

async fn put(ground: &Ground, entity: &impl Entity) {
    ground.core().table().put(entity.put()).await.unwrap();
}

fn exact() -> Arc<Memory> {
    exact_with(&FeedMemory::default())
}

fn exact_with(settings: &FeedMemory) -> Arc<Memory> {
    Arc::new(Memory::new(settings, true))
}

fn did(actor: &str, ms: u64) -> Activity {
    written(actor, ms, usize::try_from(ms).unwrap()).activity()
}

fn home(name: &str) -> ActorId {
    name.parse().unwrap()
}

async fn times(memory: &Memory, ground: &Ground, names: &[&str]) -> Vec<u64> {
    let homes: Vec<_> = names.iter().map(|name| home(name)).collect();
    let merged = memory.newest(ground, homes.iter(), None, 50).await.unwrap();
    assert!(merged.worn.is_empty() && merged.missing.is_empty());
    merged.entries.iter().map(|entry| entry.place.at.ms()).collect()
}

async fn content(memory: &Memory, ground: &Ground) -> Option<String> {
    let post = samples::post();
    let posts = memory.posts(ground, std::slice::from_ref(&post.id)).await.unwrap();
    posts.get(&post.id).map(|post| post.content.clone())
}

#[tokio::test(start_paused = true)]
async fn what_is_known_follows_every_change() {
    let (ground, memory) = (ground().await, exact());
    memory.catch_up(&ground).await.unwrap();
    assert_eq!(content(&memory, &ground).await, None);
    let post = samples::post();
    for text in ["once", "twice"] {
        put(&ground, &Post { content: text.into(), ..post.clone() }).await;
        memory.catch_up(&ground).await.unwrap();
        assert_eq!(content(&memory, &ground).await.as_deref(), Some(text));
    }
    ground.core().table().delete(Post::at(&post.id).delete()).await.unwrap();
    memory.catch_up(&ground).await.unwrap();
    assert_eq!((content(&memory, &ground).await, memory.figures().posts), (None, 1));
}

#[tokio::test(start_paused = true)]
async fn people_and_groups_are_known_like_posts() {
    let (ground, memory) = (ground().await, exact());
    memory.catch_up(&ground).await.unwrap();
    let (user, group) = (samples::user(), samples::group());
    put(&ground, &user).await;
    put(&ground, &group).await;
    let (ana, runners) = ([user.id.clone()], [group.id.clone()]);
    memory.people(&ground, &ana).await.unwrap();
    memory.groups(&ground, &runners).await.unwrap();
    put(&ground, &User { is_private: true, ..user.clone() }).await;
    put(&ground, &Group { is_private: true, ..group.clone() }).await;
    memory.catch_up(&ground).await.unwrap();
    assert!(memory.people(&ground, &ana).await.unwrap()[&user.id].is_private);
    assert!(memory.groups(&ground, &runners).await.unwrap()[&group.id].is_private);
    let figures = memory.figures();
    assert_eq!((figures.people, figures.groups), (1, 1));
    assert!(figures.people_bytes > 200 && figures.group_bytes > 100, "{figures:?}");
}

#[tokio::test(start_paused = true)]
async fn the_same_id_twice_is_read_once() {
    let (ground, memory) = (ground().await, exact());
    memory.catch_up(&ground).await.unwrap();
    put(&ground, &samples::post()).await;
    let id = samples::post().id;
    let found = memory.posts(&ground, &[id.clone(), id.clone()]).await.unwrap();
    assert_eq!((found.len(), memory.figures().posts), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_remembered_before_changes_are_heard_of() {
    let (ground, memory) = (ground().await, exact());
    put(&ground, &samples::post()).await;
    put(&ground, &did("ana", 1)).await;
    assert!(content(&memory, &ground).await.is_some());
    let homes = [home("ana")];
    let merged = memory.newest(&ground, homes.iter(), None, 50).await.unwrap();
    assert_eq!(merged.worn, homes);
    memory.load_tails(&ground, homes.to_vec()).await.unwrap();
    assert_eq!((memory.figures().posts, memory.figures().actors), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn tails_are_loaded_once_and_then_follow() {
    let (ground, memory) = (ground().await, exact());
    memory.catch_up(&ground).await.unwrap();
    put(&ground, &did("ana", 1)).await;
    put(&ground, &did("bo", 2)).await;
    assert_eq!(times(&memory, &ground, &["ana", "bo", "cleo"]).await, [2, 1]);
    put(&ground, &did("ana", 3)).await;
    put(&ground, &did("cleo", 4)).await;
    memory.catch_up(&ground).await.unwrap();
    assert_eq!(times(&memory, &ground, &["ana", "bo", "cleo"]).await, [4, 3, 2, 1]);
    let gone = Activity::at(&home("bo"), &Time::from_ms(2), &did("bo", 2).activity_id);
    ground.core().table().delete(gone.delete()).await.unwrap();
    memory.catch_up(&ground).await.unwrap();
    assert_eq!(times(&memory, &ground, &["ana", "bo", "cleo"]).await, [4, 3, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_long_history_is_cut_and_said_to_be() {
    let settings = FeedMemory { each: 3, ..FeedMemory::default() };
    let (ground, memory) = (ground().await, exact_with(&settings));
    memory.catch_up(&ground).await.unwrap();
    for ms in 1..=5 {
        put(&ground, &did("ana", ms)).await;
    }
    let homes = [home("ana")];
    let merged = memory.newest(&ground, homes.iter(), None, 50).await.unwrap();
    assert_eq!(merged.entries.len(), 3);
    assert_eq!(merged.down_to, Some(Place::of(&did("ana", 3))));
}

#[tokio::test(start_paused = true)]
async fn the_ring_holds_what_was_before_and_what_comes() {
    let settings = FeedMemory { recent: 3, ..FeedMemory::default() };
    let (ground, memory) = (ground().await, exact_with(&settings));
    for ms in 1..=4 {
        put(&ground, &did("ana", ms)).await;
    }
    assert!(memory.recent(None, 9, 9, |_| true).is_none() && !memory.is_ring_filled());
    memory.fill_ring(&ground).await.unwrap();
    let recent = || {
        let (entries, down_to) = memory.recent(None, 9, 9, |_| true).unwrap();
        let times: Vec<_> = entries.iter().map(|entry| entry.place.at.ms()).collect();
        (times, down_to.map(|place| place.at.ms()))
    };
    assert_eq!(recent(), (vec![4, 3, 2], Some(2)));
    put(&ground, &did("bo", 5)).await;
    memory.catch_up(&ground).await.unwrap();
    assert_eq!(recent(), (vec![5, 4, 3], Some(3)));
}

#[tokio::test(start_paused = true)]
async fn whoever_gives_up_reading_leaves_nothing_behind() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let (ground, memory) = (ground_on(Yielding::new(Reference::new(clock))).await, exact());
    memory.catch_up(&ground).await.unwrap();
    let (post, ana) = ([samples::post().id], [home("ana")]);
    let posts = memory.posts(&ground, &post).now_or_never();
    let tails = memory.load_tails(&ground, ana.to_vec()).now_or_never();
    assert!(posts.is_none() && tails.is_none(), "they were waiting");
    assert!(!memory.state.read().posts.concerns(&post[0]));
    assert!(!memory.state.read().tails.is_reading(&ana[0]));
}

#[tokio::test(start_paused = true)]
async fn when_a_part_of_the_stream_was_missed_nothing_is_relied_on() {
    let (ground, memory) = (ground().await, exact());
    put(&ground, &samples::post()).await;
    memory.fill_ring(&ground).await.unwrap();
    content(&memory, &ground).await;
    times(&memory, &ground, &["ana"]).await;
    Follower::miss_some(&memory, &ground).await;
    assert_eq!(memory.figures(), MemoryFigures::default());
    assert!(!memory.is_ring_filled());
}

/// That something was written.
fn change(new: Item) -> Change {
    Change {
        sequence: Sequence::from(1),
        at_ms: 0,
        key: did("ana", 1).key().into_key(),
        old: None,
        new: Some(new),
        expired: false,
    }
}

#[test]
fn a_change_that_cannot_be_read_makes_memory_forget() {
    let memory = Memory::new(&FeedMemory::default(), false);
    let mut state = memory.state.write();
    let ticket = state.tails.begin(&home("ana"));
    state.tails.finish(&home("ana"), ticket, Vec::new(), true);
    drop(state);
    let item = did("ana", 1).item();
    memory.apply(&[change(item.with("type", "Follow"))]);
    assert_eq!((memory.figures().actors, memory.figures().actor_entries), (1, 0));
    memory.apply(&[change(item.clone())]);
    assert_eq!(memory.figures().actor_entries, 1);
    memory.apply(&[change(item.with("createdAt", 5))]);
    assert_eq!(memory.figures().actors, 0);
}

#[tokio::test(start_paused = true)]
async fn where_others_write_activities_are_remembered_and_nothing_else() {
    let (ground, memory) = (ground().await, Arc::new(Memory::new(&FeedMemory::default(), false)));
    put(&ground, &samples::post()).await;
    put(&ground, &did("ana", 1)).await;
    memory.catch_up(&ground).await.unwrap();
    memory.fill_ring(&ground).await.unwrap();
    assert!(content(&memory, &ground).await.is_some());
    assert_eq!(times(&memory, &ground, &["ana"]).await, [1]);
    assert_eq!((memory.figures().posts, memory.is_ring_filled()), (0, false));
    // One's own is there before the stream tells of it, which tells those who listen, and once.
    let mine = did("ana", 2);
    put(&ground, &mine).await;
    let told = memory.changes();
    memory.note_own(&mine);
    memory.note_own(&mine);
    assert_eq!(times(&memory, &ground, &["ana"]).await, [2, 1]);
    assert!(!told.has_changed().unwrap());
    memory.apply(&[change(mine.item()), change(mine.item())]);
    assert!(told.has_changed().unwrap());
    assert_eq!(times(&memory, &ground, &["ana"]).await, [2, 1]);
    let (next, is_known) = memory.behind(Some(&mine.activity_id));
    assert_eq!((next, is_known, memory.behind(None)), (1, true, (1, false)));
    assert_eq!(memory.log_from(0, 9).unwrap().len(), 1);
}
