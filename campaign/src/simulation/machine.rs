//! One simulated machine: an engine that is stepped at random moments, and a backend over it that
//! answers nothing once the machine is off.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use roundtable_engine::{Engine, EngineStep, SimulatedDisk};
use roundtable_model::table::{
    Backend, BatchGet, BatchWrite, Capabilities, Capacity, Delete, Error, Get, GetManyOutput,
    GetOutput, ItemPage, ManualClock, Merge, Put, Query, Result, Scan, ShardInfo, StreamPage,
    StreamRead, TableDefinition, TableGet, Transaction, Update, Walk, WalkPage, WriteOutput,
};
use tokio::sync::Notify;

/// The longest jump of the clock while users act.
const JUMP_MS_MAX: u64 = 20_000;
/// Writes that a full disk refuses, on average, before there is space again.
const ROOM_AFTER: u32 = 10;

/// Moments between operations of a machine. One life has some ten thousands.
const STEPS_MAX: u64 = 1_000_000;

/// A machine with an engine, until it is turned off.
#[derive(Clone, Debug)]
pub(super) struct Machine(Arc<MachineState>);

#[derive(Debug)]
struct MachineState {
    /// `None` once it is off.
    engine: Mutex<Option<Engine>>,
    capabilities: Capabilities,
    disk: SimulatedDisk,
    clock: Arc<ManualClock>,
    random: Mutex<SmallRng>,
    /// True if background steps and jumps of the clock happen.
    is_calm: AtomicBool,
    /// Operations until the process is killed.
    operations_left: AtomicU64,
    has_failed: AtomicBool,
    failed: Notify,
    /// Calls of [`Machine::step`].
    steps: AtomicU64,
}

impl Machine {
    pub(super) fn new(
        engine: Engine,
        disk: SimulatedDisk,
        clock: Arc<ManualClock>,
        seed: u64,
    ) -> Self {
        Self(Arc::new(MachineState {
            capabilities: engine.capabilities(),
            engine: Mutex::new(Some(engine)),
            disk,
            clock,
            random: Mutex::new(SmallRng::seed_from_u64(seed)),
            is_calm: AtomicBool::new(true),
            operations_left: AtomicU64::new(u64::MAX),
            has_failed: AtomicBool::new(false),
            failed: Notify::new(),
            steps: AtomicU64::new(0),
        }))
    }

    /// Lets the clock jump from now on, and background steps happen between all others. The process is
    /// killed after this many operations, if told.
    pub(super) fn begin(&self, operations_max: Option<u64>) {
        self.0.operations_left.store(operations_max.unwrap_or(u64::MAX), Ordering::SeqCst);
        self.0.is_calm.store(false, Ordering::SeqCst);
    }

    /// Completes when the disk has failed, or writes have stopped because of it.
    pub(super) async fn failed(&self) {
        while !self.0.has_failed.load(Ordering::SeqCst) {
            self.0.failed.notified().await;
        }
    }

    /// Ends the engine at once. Tasks that still have this backend get no more answers.
    pub(super) fn turn_off(&self) {
        if let Some(engine) = self.0.engine.lock().take() {
            engine.abandon();
        }
    }

    pub(super) fn engine(&self) -> Option<Engine> {
        self.0.engine.lock().clone()
    }

    /// Sometimes does a step of the engine, or moves the clock.
    fn step(&self, engine: &Engine, is_waiting: bool) {
        let steps = self.0.steps.fetch_add(1, Ordering::SeqCst);
        assert!(steps < STEPS_MAX, "a life never ends; the engine says {:?}", engine.health());
        let (step, jump_ms) = {
            let mut random = self.0.random.lock();
            let step = match random.random_range(0..400) {
                0..150 if is_waiting => Some(EngineStep::Write),
                150..153 => Some(EngineStep::Checkpoint),
                153 => Some(EngineStep::Freeze),
                154..156 => Some(EngineStep::Upkeep),
                _ => None,
            };
            let jumps = random.random_ratio(1, 3_000);
            (step, jumps.then(|| random.random_range(0..JUMP_MS_MAX)))
        };
        let is_calm = self.0.is_calm.load(Ordering::SeqCst);
        if let Some(step) = step.filter(|step| !is_calm || *step == EngineStep::Write) {
            engine.step(step);
        }
        if let Some(jump_ms) = jump_ms.filter(|_| !is_calm) {
            self.0.clock.advance_ms(jump_ms);
        }
    }

    /// Returns the engine; waits forever if the machine is off.
    async fn running(&self) -> Engine {
        match self.engine() {
            Some(engine) => engine,
            None => self.never().await,
        }
    }

    /// Runs an operation among steps of all other tasks and of the engine.
    async fn run<T>(
        &self,
        engine: &Engine,
        operation: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        yield_to_others().await;
        if self.0.operations_left.fetch_sub(1, Ordering::SeqCst) == 0 {
            return self.never().await;
        }
        self.step(engine, false);
        let mut operation = pin!(operation);
        let result = loop {
            match futures::poll!(operation.as_mut()) {
                Poll::Ready(result) => break result,
                Poll::Pending => self.step(engine, true),
            }
            yield_to_others().await;
        };
        match &result {
            Err(Error::Io { .. } | Error::WritesStopped { .. }) => return self.never().await,
            Err(Error::WritesPaused { .. }) => self.sometimes_make_room(engine),
            _ => {}
        }
        yield_to_others().await;
        result
    }

    /// The disk is full. The simulation frees space sooner or later, which the engine notices by itself.
    fn sometimes_make_room(&self, engine: &Engine) {
        if self.0.random.lock().random_ratio(1, ROOM_AFTER) {
            self.0.disk.make_room();
            engine.step(EngineStep::Upkeep);
            engine.step(EngineStep::Checkpoint);
        }
    }

    /// The machine is off, or about to be: the operation gets no answer.
    async fn never<T>(&self) -> T {
        self.0.has_failed.store(true, Ordering::SeqCst);
        self.0.failed.notify_one();
        std::future::pending().await
    }
}

/// Lets the scheduler choose the next task.
pub(super) async fn yield_to_others() {
    let mut has_yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Runs an operation of the engine, if the machine is on.
macro_rules! operation {
    ($machine:expr, $engine:ident => $call:expr) => {{
        let $engine = $machine.running().await;
        $machine.run(&$engine, $call).await
    }};
}

impl Machine {
    /// Keeps the log after a sequence for a processor.
    pub(super) async fn hold(&self, processor: &str, sequence: u64) -> Result<()> {
        operation!(self, engine => engine.hold(processor, Some(sequence)))
    }
}

#[async_trait]
impl Backend for Machine {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities
    }

    async fn create_table(&self, definition: &TableDefinition) -> Result<()> {
        loop {
            let created = operation!(self, engine => engine.create_table(definition));
            // A process that cannot start on a full disk is started again.
            if !matches!(created, Err(Error::WritesPaused { .. })) {
                return created;
            }
        }
    }

    async fn describe_table(&self, name: &str) -> Result<TableDefinition> {
        operation!(self, engine => engine.describe_table(name))
    }

    async fn list_tables(&self) -> Result<Vec<String>> {
        operation!(self, engine => engine.list_tables())
    }

    async fn delete_table(&self, name: &str) -> Result<()> {
        operation!(self, engine => engine.delete_table(name))
    }

    async fn get(&self, table: &TableDefinition, get: Get) -> Result<GetOutput> {
        operation!(self, engine => engine.get(table, get))
    }

    async fn batch_get(&self, table: &TableDefinition, batch: BatchGet) -> Result<GetManyOutput> {
        operation!(self, engine => engine.batch_get(table, batch))
    }

    async fn transact_get(&self, gets: Vec<TableGet>) -> Result<GetManyOutput> {
        operation!(self, engine => engine.transact_get(gets))
    }

    async fn put(&self, table: &TableDefinition, put: Put) -> Result<WriteOutput> {
        operation!(self, engine => engine.put(table, put))
    }

    async fn update(&self, table: &TableDefinition, update: Update) -> Result<WriteOutput> {
        operation!(self, engine => engine.update(table, update))
    }

    async fn delete(&self, table: &TableDefinition, delete: Delete) -> Result<WriteOutput> {
        operation!(self, engine => engine.delete(table, delete))
    }

    async fn batch_write(
        &self,
        table: &TableDefinition,
        writes: Vec<BatchWrite>,
    ) -> Result<Capacity> {
        operation!(self, engine => engine.batch_write(table, writes))
    }

    async fn transact_write(&self, transaction: Transaction) -> Result<Capacity> {
        operation!(self, engine => engine.transact_write(transaction))
    }

    async fn query(&self, table: &TableDefinition, query: Query) -> Result<ItemPage> {
        operation!(self, engine => engine.query(table, query))
    }

    async fn scan(&self, table: &TableDefinition, scan: Scan) -> Result<ItemPage> {
        operation!(self, engine => engine.scan(table, scan))
    }

    async fn merge(&self, table: &TableDefinition, merge: Merge) -> Result<ItemPage> {
        operation!(self, engine => engine.merge(table, merge))
    }

    async fn walk(&self, table: &TableDefinition, walk: Walk<'_>) -> Result<WalkPage> {
        operation!(self, engine => engine.walk(table, walk))
    }

    async fn stream_shards(&self, table: &TableDefinition) -> Result<Vec<ShardInfo>> {
        operation!(self, engine => engine.stream_shards(table))
    }

    async fn stream_read(&self, table: &TableDefinition, read: StreamRead) -> Result<StreamPage> {
        // A wait would never end: the clock of the runtime stands still while a task is ready.
        let read = read.wait(Duration::ZERO);
        operation!(self, engine => engine.stream_read(table, read))
    }
}
