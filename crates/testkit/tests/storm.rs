//! A storm: dozens of people doing everything at once, at random, again under the same request, while
//! the stream stutters and its readers die, and the store is restarted in the middle. Then nothing is
//! wrong (I1 to I6), and a naive model of the town agrees with what is there.
//!
//! `ROUNDTABLE_STORM_STEPS=1000 cargo test --release -p roundtable-testkit --test storm` for a long one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "storm/model.rs"]
mod model;
#[path = "storm/person.rs"]
mod person;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::Naive;
use person::Person;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use roundtable_conformance::Reference;
use roundtable_engine::{Engine, Options};
use roundtable_model::Role;
use roundtable_model::table::{ManualClock, SharedBackend, Store};
use roundtable_testkit::{Stuttering, Town, stop_at};
use roundtable_verify::Verify;

const PEOPLE: usize = 24;
/// What each of them does.
const STEPS: usize = 60;

fn steps() -> usize {
    std::env::var("ROUNDTABLE_STORM_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(STEPS)
}

/// The people of a storm: the last two are a moderator and an admin.
async fn populate(town: &Town) -> Vec<String> {
    let names: Vec<String> = (0..PEOPLE).map(|number| format!("p{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        town.move_in(name, |user| user.is_private = number % 6 == 5).await;
    }
    let [.., moderator, admin] = names.as_slice() else { panic!("a storm needs people") };
    town.employ(moderator, Role::Moderator).await;
    town.employ(admin, Role::Admin).await;
    names
}

/// Everybody acts at the same time, while readers of the stream come and go.
async fn blow(town: Arc<Town>, names: &[String], naive: &Arc<Naive>, steps: usize, seed: u64) {
    let over = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn(read_and_die(town.clone(), over.clone(), seed));
    let people = names.iter().enumerate().map(|(number, name)| {
        let person = Person::new(town.clone(), naive.clone(), name, names, seed + number as u64);
        tokio::spawn(person.live(steps))
    });
    for person in people.collect::<Vec<_>>() {
        person.await.unwrap();
    }
    over.store(true, Ordering::SeqCst);
    reader.await.unwrap();
}

/// Reads the stream, dies somewhere, and is started again.
async fn read_and_die(town: Arc<Town>, over: Arc<AtomicBool>, seed: u64) {
    let mut random = SmallRng::seed_from_u64(seed);
    while !over.load(Ordering::SeqCst) {
        let life = random.random_range(1..400);
        let _ = stop_at(life, async { town.runner().drain().await }).await;
        tokio::task::yield_now().await;
    }
}

async fn look_around(town: &Town, naive: &Naive) {
    town.settle().await;
    let letters = town.runner().dead_letters();
    for queue in letters.queues() {
        let parked = letters.list(&queue, None, None).await.unwrap();
        assert!(parked.items.is_empty(), "{parked:#?}");
    }
    let report = Verify::on(town.ground()).check().await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    naive.agrees_with(town).await;
}

async fn storm(backends: impl AsyncFn(u8) -> SharedBackend, clock: Arc<ManualClock>, steps: usize) {
    let naive = Arc::new(Naive::default());
    let mut names = Vec::new();
    for process in 0..3u8 {
        let backend = backends(process).await;
        let stutters: SharedBackend = Arc::new(Stuttering::new(backend.clone(), process.into()));
        let town =
            Town::on(Store::shared(stutters), clock.clone(), Town::settings(), process).await;
        if process == 0 {
            names = populate(&town).await;
        }
        let town = Arc::new(town);
        blow(town.clone(), &names, &naive, steps / 3, u64::from(process) * 1000).await;
        if process == 2 {
            let store = Store::shared(backend);
            let calm = Town::on(store, clock.clone(), Town::settings(), process + 1).await;
            look_around(&calm, &naive).await;
        }
    }
}

/// I1 to I6, I8, R32, R33
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_in_memory() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let reference = Arc::new(Reference::new(clock.clone()));
    let backend = async |_| reference.clone() as SharedBackend;
    storm(backend, clock, steps()).await;
}

/// The same on the embedded engine, left as by a crash between its three parts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_on_the_engine() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let directory = tempfile::tempdir().unwrap();
    let last: parking_lot::Mutex<Option<Engine>> = parking_lot::Mutex::new(None);
    let backend = async |_| {
        if let Some(engine) = last.lock().take() {
            engine.abandon();
        }
        let options = Options { clock: clock.clone(), ..Options::default() };
        let engine = Engine::open(directory.path(), options).unwrap();
        *last.lock() = Some(engine.clone());
        Arc::new(engine) as SharedBackend
    };
    storm(backend, clock.clone(), steps()).await;
}
