//! One simulated town: several lives, each ended by a fault of the disk, a loss of power or a kill; then
//! calm, and the checks.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use futures::future::select;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use roundtable_domain::Caller;
use roundtable_engine::{DiskFault, Engine, Options, SimulatedDisk};
use roundtable_model::table::{Clock as _, ManualClock, Scan, SharedBackend, Store};
use roundtable_model::{Core, Role, Time};
use roundtable_streams::{Runner, RunnerBuilder};
use roundtable_testkit::storm::{
    ALL_OVER_MS, SharedModel, StormUser, check_town, leave_step, populate, storm_names,
};
use roundtable_testkit::{
    MemoryMediaStore, SplitStreamBackend, StutteringBackend, Town, UnreliableBackend, stop_at,
};
use roundtable_verify::Verifier;
use tempfile::TempDir;
use tokio::time::timeout;

use super::SimulationReport;
use super::checkpoint_holds::CheckpointHolds;
use super::machine::{Machine, yield_to_others};
use super::seeded_tasks::SeededTasks;
use super::town_archive::{self, TownArchive};

/// One town of its own in this many has an archive, which syncs real files.
const ARCHIVED: u32 = 8;
/// Users; the last two are a moderator and an admin.
const PEOPLE: usize = 12;
/// Times that the machine is started, before the calm at the end.
const LIVES: Range<u8> = 6..14;
/// Actions of each user in one life, if it does not end early.
const STEPS: Range<usize> = 1..16;
/// After this time everything is due: jobs of dead readers, and requests in flight have ended.
const ALL_DUE_MS: u64 = 121_000;
/// The longest stop between two lives.
const STOP_MS_MAX: u64 = 20 * 60 * 1_000;
/// The most by which the clock is turned back between two lives.
const TURNED_BACK_MS_MAX: u64 = 2_000;
/// Operations on the table after which a process is killed, if it is.
const KILLED_AFTER_MAX: u64 = 4_000;
/// In the runtime's time, which moves only while every task waits.
const STUCK_AFTER: Duration = Duration::from_hours(1);
/// Await points that a reader of the stream lives through.
const READER_STOPS: Range<usize> = 1..400;
/// Polls of a reader between two passes.
const READER_PAUSE: Range<usize> = 0..200;
/// Passes of a reader after which it waits until everything else does, on average. The runtime's time
/// moves only then, and users wait for it between two attempts.
const PASSES: u32 = 4;
/// A Monday in January 2025.
const BEGIN_MS: u64 = 1_737_991_800_000;

pub(super) async fn run(seed: u64) -> anyhow::Result<SimulationReport> {
    let populated = timeout(STUCK_AFTER, TownRun::new(seed)).await;
    let mut run = populated.context("the first users wait for ever")??;
    let lives = run.random.random_range(LIVES);
    for _ in 0..lives {
        run.live().await?;
    }
    timeout(STUCK_AFTER, run.check()).await.context("the checks wait for ever")??;
    Ok(run.report)
}

struct TownRun {
    random: SmallRng,
    directory: TempDir,
    disk: SimulatedDisk,
    clock: Arc<ManualClock>,
    /// The stream of a store that other processes use as well; `None` on a store of its own. There,
    /// effects of changes and checkpoints are not written together.
    shared: Option<SplitStreamBackend>,
    /// How long the log is kept after it was read.
    retention: Duration,
    /// Of a town whose log is archived.
    archive: Option<TownArchive>,
    media_store: Arc<MemoryMediaStore>,
    shared_model: Arc<SharedModel>,
    users: Vec<StormUser>,
    names: Vec<String>,
    process: u8,
    /// The town's time at the end of the last life.
    stopped_at: Time,
    digest: DefaultHasher,
    report: SimulationReport,
}

impl TownRun {
    /// Populates a town on a disk without faults.
    async fn new(seed: u64) -> anyhow::Result<Self> {
        let mut run = Self {
            random: SmallRng::seed_from_u64(seed),
            directory: tempfile::tempdir().context("cannot create a directory for the tree")?,
            disk: SimulatedDisk::new(),
            clock: Arc::new(ManualClock::at_ms(BEGIN_MS)),
            shared: None,
            retention: Duration::from_hours(24),
            archive: None,
            media_store: Arc::default(),
            shared_model: Arc::new(SharedModel::seeded(seed)),
            users: Vec::new(),
            names: storm_names(PEOPLE),
            process: 0,
            stopped_at: Time::from_ms(BEGIN_MS),
            digest: DefaultHasher::new(),
            report: SimulationReport::default(),
        };
        let is_shared = run.random.random_ratio(1, 3);
        if !is_shared {
            let seconds = *[1, 60, 24 * 3_600].choose(&mut run.random).unwrap_or(&1);
            run.retention = Duration::from_secs(seconds);
            if run.random.random_ratio(1, ARCHIVED) {
                run.archive = Some(TownArchive::new()?);
            }
        }
        let machine = run.start().context("the first start failed")?;
        if is_shared {
            run.shared = Some(SplitStreamBackend::new(Arc::new(machine.clone())));
        }
        let town = Arc::new(run.town(&machine, true).await);
        populate(&town, PEOPLE).await;
        if let Some(archive) = &run.archive {
            archive.back_up(&machine.engine().context("the machine is off")?)?;
        }
        let steps = usize::from(LIVES.start) * STEPS.start * 2;
        let admin = run.names.last().map_or("", String::as_str);
        let admin = Caller::with_roles(town.id(admin), &[Role::Admin]);
        for (number, name) in run.names.iter().enumerate() {
            let seed = run.random.random();
            let (model, names) = (Arc::clone(&run.shared_model), &run.names);
            let user = StormUser::new(Arc::clone(&town), model, name, names, seed);
            let user = user.repeating(admin.clone()).leave_at(leave_step(number, 1, steps));
            run.users.push(user);
        }
        run.end(&machine);
        Ok(run)
    }

    /// Starts the machine. Fails if its disk does.
    fn start(&mut self) -> anyhow::Result<Machine> {
        let options = Options {
            clock: self.clock.clone(),
            memtable_bytes: *[16 << 10, 64 << 10, 256 << 10].choose(&mut self.random).unwrap_or(&1),
            segment_bytes: *[32 << 10, 128 << 10].choose(&mut self.random).unwrap_or(&1),
            retention: self.retention,
            awaits_consumers: true,
            archive: self.archive.as_ref().map(TownArchive::log),
            archive_interval: town_archive::INTERVAL,
            sync_tree: false,
            is_stepped: true,
            disk: Some(Arc::new(self.disk.clone())),
            ..Options::default()
        };
        let engine = Engine::open(self.directory.path(), options)?;
        let seed = self.random.random();
        let (disk, clock) = (self.disk.clone(), self.clock.clone());
        Ok(Machine::new(engine, disk, clock, seed))
    }

    /// Opens the town in a process; its stream stutters unless it is calm.
    async fn town(&mut self, machine: &Machine, is_calm: bool) -> Town {
        self.process += 1;
        let own: SharedBackend = Arc::new(machine.clone());
        let backend: SharedBackend = match &self.shared {
            Some(shared) if is_calm => Arc::new(shared.with_backend(own)),
            Some(shared) => {
                let network = UnreliableBackend::new(own, self.random.random());
                Arc::new(shared.with_backend(Arc::new(network)))
            }
            None => own,
        };
        let backend: SharedBackend = if is_calm {
            backend
        } else {
            Arc::new(StutteringBackend::new(backend, self.random.random()))
        };
        let store = Store::shared(backend);
        let town = Town::on(store, self.clock.clone(), Town::settings(), self.process).await;
        town.with_media_store(self.media_store.clone())
    }

    /// One life of the machine: all users act at once, and readers of the stream come and go.
    async fn live(&mut self) -> anyhow::Result<()> {
        self.plan_fault();
        match self.start() {
            Ok(machine) => {
                self.remember_state(&machine).await?;
                {
                    let work = pin!(self.work(machine.clone()));
                    let failed = pin!(machine.failed());
                    // Operations under way end here, as if the power had failed.
                    let ended = timeout(STUCK_AFTER, select(work, failed)).await;
                    ensure!(ended.is_ok(), "all tasks wait, and nothing would wake them");
                }
                self.end(&machine);
            }
            Err(error) => {
                // Only the planned fault may prevent a start.
                let is_planned = error.chain().any(|cause| cause.to_string().contains("simulated"));
                ensure!(is_planned, "the machine does not start: {error:#}");
                self.report.failed_starts += 1;
                self.lose_power();
            }
        }
        Ok(())
    }

    /// Remembers the state at the start of some lives: it must be in the archive for good.
    async fn remember_state(&mut self, machine: &Machine) -> anyhow::Result<()> {
        let Some(archive) = &mut self.archive else { return Ok(()) };
        if self.random.random_ratio(2, 3) {
            return Ok(());
        }
        let core = Core::SHAPE.definition(&Town::settings().tables.core);
        let engine = machine.engine().context("the machine is off")?;
        archive.remember(&engine, &core, &self.clock).await
    }

    /// The processes of a life: two on a store that they share.
    async fn work(&mut self, machine: Machine) {
        let mut towns = vec![Arc::new(self.town(&machine, false).await)];
        if self.shared.is_some() {
            towns.push(Arc::new(self.town(&machine, false).await));
        }
        self.resume(&towns).await;
        let is_killed = self.random.random_ratio(1, 3);
        let operations_max = is_killed.then(|| self.random.random_range(0..KILLED_AFTER_MAX));
        machine.begin(operations_max);
        let steps = self.random.random_range(STEPS);
        let at_work = &AtomicUsize::new(self.users.len());
        let mut tasks = SeededTasks::new(SmallRng::from_rng(&mut self.random));
        for user in &mut self.users {
            tasks.spawn(async move {
                user.live(steps).await;
                at_work.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for town in &towns {
            let random = SmallRng::from_rng(&mut self.random);
            tasks.spawn(read_and_die(town, &machine, at_work, random));
        }
        tasks.await;
    }

    /// Every user repeats the request that the end of the last life interrupted.
    async fn resume(&mut self, towns: &[Arc<Town>]) {
        for (user, town) in self.users.iter_mut().zip(towns.iter().cycle()) {
            user.resume(Arc::clone(town), self.stopped_at).await;
        }
    }

    /// Plans what goes wrong with the disk in the next life, counted from its first step.
    fn plan_fault(&mut self) {
        let fault = match self.random.random_range(0..12) {
            0..3 => DiskFault::CrashBefore,
            3..5 => DiskFault::CrashAfter,
            5..8 => DiskFault::CrashWithin { permille: self.random.random_range(0..=1_000) },
            8 => DiskFault::Fails,
            9 => DiskFault::SyncForgets,
            10 => DiskFault::DiskFull,
            // The life ends with a kill.
            _ => return,
        };
        let magnitude = self.random.random_range(0..10);
        let step = self.disk.steps() + self.random.random_range(1..=1 << magnitude);
        self.disk.fail_at(step, fault);
    }

    /// Ends a life, in the middle of all operations under way.
    fn end(&mut self, machine: &Machine) {
        machine.turn_off();
        if self.random.random_ratio(1, 4) {
            self.count_steps();
            self.disk = self.disk.kill();
            self.report.kills += 1;
        } else {
            self.lose_power();
        }
        self.stopped_at = Time::from_ms(self.clock.now_ms());
        if self.random.random_ratio(1, 4) {
            let back_ms = self.random.random_range(0..TURNED_BACK_MS_MAX);
            self.clock.set_ms(self.clock.now_ms().saturating_sub(back_ms));
        } else {
            self.clock.advance_ms(self.random.random_range(0..STOP_MS_MAX));
        }
    }

    fn lose_power(&mut self) {
        self.count_steps();
        self.disk = self.disk.crash(self.random.random());
        self.report.power_cuts += 1;
    }

    fn count_steps(&mut self) {
        self.report.disk_steps += self.disk.steps();
        for (step, file) in self.disk.trace() {
            (format!("{step:?}"), file).hash(&mut self.digest);
        }
    }

    /// Lets everything end in a calm, then checks the store against its invariants and the model.
    async fn check(&mut self) -> anyhow::Result<()> {
        let machine = self.start().context("the last start failed")?;
        let town = Arc::new(self.town(&machine, true).await);
        self.resume(std::slice::from_ref(&town)).await;
        if let Some(shared) = &self.shared {
            shared
                .with_backend(Arc::new(machine.clone()))
                .split(town.context().core().table().definition())
                .await;
        }
        for wait_ms in [ALL_DUE_MS, ALL_DUE_MS, ALL_DUE_MS, ALL_OVER_MS, ALL_DUE_MS, ALL_DUE_MS] {
            drain(&town, &machine).await?;
            self.clock.advance_ms(wait_ms);
            machine.engine().context("the machine is off")?.sweep()?;
        }
        drain(&town, &machine).await?;
        let engine = machine.engine().context("the machine is off")?;
        let faults = engine.audit()?;
        ensure!(faults.is_empty(), "the audit found {faults:#?}");
        let report = Verifier::on(town.context()).segments(1).check().await?;
        ensure!(report.is_clean(), "verify found {:#?}", report.findings);
        let items = town.context().core().table().scan(Scan::new().strong()).await?.items;
        format!("{items:?}").hash(&mut self.digest);
        let model = self.shared_model.take();
        let (actions, done) = model.actions();
        (self.report.actions, self.report.done) = (actions as u64, done as u64);
        check_town(&town, &model).await;
        if let Some(archive) = &self.archive {
            let core = town.context().core().table().definition();
            archive.check(&engine, core, &self.clock).await?;
        }
        self.count_steps();
        self.report.digest = self.digest.finish();
        machine.turn_off();
        Ok(())
    }
}

/// Reads the stream, dies at a random point, and starts again, while users are at work.
async fn read_and_die(town: &Town, machine: &Machine, at_work: &AtomicUsize, mut random: SmallRng) {
    while at_work.load(Ordering::SeqCst) > 0 {
        let stops = random.random_range(READER_STOPS);
        if let Some(Err(error)) = stop_at(stops, runner(town, machine).drain()).await {
            // Only the network may fail, and a full disk; one that breaks gives no answer.
            let error = error.to_string();
            let is_expected = ["unavailable", "cannot be saved at the moment"]
                .iter()
                .any(|part| error.contains(part));
            assert!(is_expected, "the stream cannot be read: {error}");
        }
        if random.random_ratio(1, PASSES) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        } else {
            for _ in 0..random.random_range(READER_PAUSE) {
                yield_to_others().await;
            }
        }
    }
}

/// Lets the processors read the stream to its end.
async fn drain(town: &Town, machine: &Machine) -> anyhow::Result<()> {
    let runner = runner(town, machine);
    runner.drain().await?;
    let gaps: u64 = runner.metrics().lanes.iter().map(|lane| lane.gaps).sum();
    ensure!(gaps == 0, "the log was trimmed before {gaps} processors had read it");
    Ok(())
}

/// A runner as in a server, without delays between attempts.
fn runner(town: &Town, machine: &Machine) -> Runner {
    let builder = RunnerBuilder::with_all_processors(town.context(), [0; 32])
        .with_media_store(town.media_store().clone())
        .without_delays();
    if !town.context().store().capabilities().single_process {
        // Such a store keeps its stream for a day, whoever reads it.
        return builder.build();
    }
    let runner = builder.with_shard_assignment(CheckpointHolds::new(machine.clone())).build();
    if let Some(engine) = machine.engine() {
        engine.expect_consumers(runner.processor_names().iter().map(ToString::to_string));
    }
    runner
}
