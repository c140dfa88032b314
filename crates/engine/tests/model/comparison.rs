//! Runs a script on the engine and on the model and compares every response.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use roundtable_conformance::Reference;
use roundtable_engine::{Engine, Options};
use roundtable_table::{
    Clock, Key, ManualClock, Query, Result, Scan, Store, Table, TableDefinition, TableGet,
    TableWrite, Transaction,
};

use crate::clock::{LateClock, ScriptClock};
use crate::flaws::{Flaw, Flawed, forgetful};
use crate::pages::{Mismatch, check_merge, check_query, check_scan, same};
use crate::samples::START_MS;
use crate::script::{NAMES, NamedTable, Script, Setup, Step};
use crate::streams::StreamFollower;

/// Counts of the cases that the scripts covered, to prove that they were not trivial.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) steps: usize,
    pub(crate) refused: usize,
    pub(crate) rows: usize,
    pub(crate) changes: usize,
    pub(crate) expired: usize,
    pub(crate) repeated: usize,
    pub(crate) crashes: usize,
    pub(crate) reopened: usize,
    pub(crate) checkpoints: u64,
    pub(crate) trimmed: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.refused += other.refused;
        self.rows += other.rows;
        self.changes += other.changes;
        self.expired += other.expired;
        self.repeated += other.repeated;
        self.crashes += other.crashes;
        self.reopened += other.reopened;
        self.checkpoints += other.checkpoints;
        self.trimmed += other.trimmed;
    }
}

struct ComparedStores<'a> {
    setup: &'a Setup,
    directory: &'a Path,
    clock: Arc<ScriptClock>,
    flaw: Option<Flaw>,
    engine: Engine,
    ours: Store,
    model: Arc<Reference>,
    theirs: Store,
    tables: BTreeMap<String, Arc<TableDefinition>>,
    streams: BTreeMap<String, StreamFollower>,
    tally: Tally,
}

/// The failed step of a script, and the mismatch.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) step: usize,
    pub(crate) mismatch: Mismatch,
}

/// Runs a script in an empty directory, in memory if the system supports it.
pub(crate) fn run(script: &Script, flaw: Option<Flaw>) -> Result<Tally, Failure> {
    let memory = Path::new("/dev/shm");
    let directory =
        if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    let directory = directory.unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(ComparedStores::run(script, flaw, directory.path()))
}

impl<'a> ComparedStores<'a> {
    async fn run(
        script: &'a Script,
        flaw: Option<Flaw>,
        directory: &'a Path,
    ) -> Result<Tally, Failure> {
        let clock = Arc::new(ScriptClock {
            now: ManualClock::at_ms(START_MS),
            has_upkeep: script.setup.has_upkeep,
        });
        let engine =
            Engine::open(directory, options(&script.setup, &clock, flaw, directory)).unwrap();
        let model = Arc::new(Reference::new(clock.clone()));
        let mut stores = ComparedStores {
            setup: &script.setup,
            directory,
            ours: store(&engine, flaw),
            engine,
            theirs: Store::shared(model.clone()),
            model,
            clock,
            flaw,
            tables: BTreeMap::new(),
            streams: BTreeMap::new(),
            tally: Tally::default(),
        };
        for (at, step) in script.steps.iter().enumerate() {
            let fail = |mismatch| Failure { step: at, mismatch };
            stores = stores.step(step).await.map_err(fail)?;
        }
        let fail = |mismatch| Failure { step: script.steps.len(), mismatch };
        stores.check_everything().await.map_err(fail)?;
        stores.tally.checkpoints += stores.engine.metrics().checkpoint_us.count;
        Ok(stores.tally)
    }

    async fn step(mut self, step: &Step) -> Result<Self, Mismatch> {
        self.tally.steps += 1;
        let is_sweep = match step {
            Step::Reopen => {
                self = self.reopen(false)?;
                self.check_everything().await?;
                false
            }
            Step::Crash => {
                self = self.reopen(true)?;
                self.check_everything().await?;
                false
            }
            Step::Sweep => {
                self.sweep()?;
                true
            }
            other => {
                self.ask(other).await?;
                false
            }
        };
        if self.setup.has_upkeep {
            // The engine may have swept already; afterwards both have.
            self.sweep()?;
        }
        self.follow_streams(is_sweep)?;
        Ok(self)
    }

    /// Closes the engine and opens it again.
    fn reopen(mut self, by_crash: bool) -> Result<Self, Mismatch> {
        self.tally.checkpoints += self.engine.metrics().checkpoint_us.count;
        drop(self.ours);
        if by_crash {
            self.tally.crashes += 1;
            self.engine.abandon();
        } else {
            self.tally.reopened += 1;
            self.engine.close().map_err(|error| format!("cannot close: {error}"))?;
        }
        let options = options(self.setup, &self.clock, self.flaw, self.directory);
        self.engine = Engine::open(self.directory, options)
            .map_err(|error| format!("cannot open again: {error}"))?;
        self.ours = store(&self.engine, self.flaw);
        Ok(self)
    }

    fn sweep(&self) -> Result<(), Mismatch> {
        let swept = self.engine.sweep().map_err(|error| format!("cannot sweep: {error}"))?;
        let expected = self.model.sweep();
        if self.setup.has_upkeep || swept == expected {
            return Ok(());
        }
        Err(format!("swept {swept} items, and the model {expected}"))
    }

    /// Returns the table of both stores, unless it was created again with another definition.
    fn both(&self, NamedTable(table): &NamedTable) -> Option<(Table, Table)> {
        let known = self.tables.get(&table.name);
        let is_current = known.is_none_or(|known| known == table);
        is_current.then(|| (self.ours.table_as(table.clone()), self.theirs.table_as(table.clone())))
    }

    fn compare<T: PartialEq + Debug>(
        &mut self,
        ours: Result<T>,
        theirs: Result<T>,
    ) -> Result<bool, Mismatch> {
        let done = same(ours, theirs)?.is_some();
        self.tally.refused += usize::from(!done);
        Ok(done)
    }

    async fn ask(&mut self, step: &Step) -> Result<(), Mismatch> {
        match step {
            Step::CreateTable(definition) => self.create_table(definition).await,
            Step::DeleteTable(name) => self.delete_table(name).await,
            Step::DescribeTables => self.describe_tables().await,
            Step::Transact(writes, token) => self.transact(writes, token.as_ref()).await,
            Step::TransactGet(gets) => {
                let gets: Vec<TableGet> = gets
                    .iter()
                    .filter(|(table, _)| self.both(table).is_some())
                    .map(|(table, get)| TableGet { table: table.0.clone(), get: get.clone() })
                    .collect();
                let theirs = self.theirs.transact_get(gets.clone()).await;
                let ours = self.ours.transact_get(gets).await;
                self.compare(ours, theirs).map(|_| ())
            }
            Step::AdvanceMs(ms) => {
                self.clock.now.advance_ms(*ms);
                Ok(())
            }
            Step::Checkpoint => self.engine.checkpoint().map_err(|error| error.to_string()),
            Step::Put(table, _)
            | Step::Update(table, _)
            | Step::Delete(table, _)
            | Step::BatchWrite(table, _)
            | Step::Get(table, _)
            | Step::BatchGet(table, _)
            | Step::Query(table, _)
            | Step::Scan(table, _)
            | Step::Merge(table, _)
            | Step::Stream(table, ..) => match self.both(table) {
                Some((ours, theirs)) => self.ask_table(&ours, &theirs, step).await,
                None => Ok(()),
            },
            Step::Sweep | Step::Reopen | Step::Crash => Ok(()),
        }
    }

    async fn ask_table(
        &mut self,
        ours: &Table,
        theirs: &Table,
        step: &Step,
    ) -> Result<(), Mismatch> {
        macro_rules! both {
            ($method:ident($request:expr)) => {{
                let answer = ours.$method($request.clone()).await;
                self.compare(answer, theirs.$method($request.clone()).await)?;
            }};
        }
        match step {
            Step::Put(_, put) => both!(put(put)),
            Step::Update(_, update) => both!(update(update)),
            Step::Delete(_, delete) => both!(delete(delete)),
            Step::BatchWrite(_, writes) => both!(batch_write(writes)),
            Step::Get(_, get) => both!(get(get)),
            Step::BatchGet(_, batch) => both!(batch_get(batch)),
            Step::Query(_, query) => self.tally.rows += check_query(ours, theirs, query).await?,
            Step::Scan(_, scan) => self.tally.rows += check_scan(ours, theirs, scan).await?,
            Step::Merge(_, merge) => self.tally.rows += check_merge(ours, theirs, merge).await?,
            Step::Stream(_, thousandths, limit) => {
                self.read_stream(ours, *thousandths, *limit)?;
            }
            _ => {}
        }
        Ok(())
    }

    async fn create_table(&mut self, definition: &Arc<TableDefinition>) -> Result<(), Mismatch> {
        let ours = self.ours.create_table(TableDefinition::clone(definition)).await.map(|_| ());
        let theirs = self.theirs.create_table(TableDefinition::clone(definition)).await.map(|_| ());
        if self.compare(ours, theirs)? {
            self.tables.insert(definition.name.clone(), definition.clone());
            self.streams.entry(definition.name.clone()).or_default();
        }
        Ok(())
    }

    async fn delete_table(&mut self, name: &str) -> Result<(), Mismatch> {
        let theirs = self.theirs.delete_table(name).await;
        let ours = self.ours.delete_table(name).await;
        self.compare(ours, theirs)?;
        self.tables.remove(name);
        self.streams.remove(name);
        Ok(())
    }

    async fn describe_tables(&mut self) -> Result<(), Mismatch> {
        let (ours, theirs) = (self.ours.list_tables().await, self.theirs.list_tables().await);
        self.compare(ours, theirs)?;
        for name in NAMES {
            let ours = self.ours.table(name).await.map(|table| table.definition().clone());
            let theirs = self.theirs.table(name).await.map(|table| table.definition().clone());
            self.compare(ours, theirs)?;
        }
        Ok(())
    }

    async fn transact(
        &mut self,
        writes: &[(NamedTable, roundtable_table::Write)],
        token: Option<&String>,
    ) -> Result<(), Mismatch> {
        let writes = writes.iter().filter(|(table, _)| self.both(table).is_some());
        let writes = writes
            .map(|(table, write)| TableWrite { table: table.0.clone(), write: write.clone() })
            .collect();
        let transaction = Transaction { writes, token: token.cloned() };
        let theirs = self.theirs.transact(transaction.clone()).await;
        let ours = self.ours.transact(transaction).await;
        if ours.as_ref().is_ok_and(|capacity| capacity.write_units == 0) {
            self.tally.repeated += 1;
        }
        self.compare(ours, theirs).map(|_| ())
    }

    /// Compares the new changes of every stream.
    fn follow_streams(&mut self, is_sweep: bool) -> Result<(), Mismatch> {
        let tables: Vec<_> = self.tables.values().filter(|table| table.stream).cloned().collect();
        for table in tables {
            let (ours, theirs) =
                (self.ours.table_as(table.clone()), self.theirs.table_as(table.clone()));
            let Some(follower) = self.streams.get_mut(&table.name) else { continue };
            let new = follower.follow(&ours, &theirs, is_sweep || self.setup.has_upkeep)?;
            self.tally.changes += new.len();
            self.tally.expired += new.iter().filter(|change| change.expired).count();
        }
        Ok(())
    }

    fn read_stream(
        &mut self,
        table: &Table,
        thousandths: usize,
        limit: usize,
    ) -> Result<(), Mismatch> {
        let Some(follower) = self.streams.get(&table.definition().name) else { return Ok(()) };
        if table.definition().stream {
            // Older changes may be trimmed.
            let retention_ms = u64::try_from(self.setup.retention.as_millis()).unwrap();
            let horizon_ms = self.clock.now.now_ms().saturating_sub(retention_ms);
            let was_trimmed = follower.read_again(table, horizon_ms, thousandths, limit)?;
            self.tally.trimmed += usize::from(was_trimmed);
        }
        Ok(())
    }

    /// Compares every table, index and partition, and runs the engine's audit.
    async fn check_everything(&mut self) -> Result<(), Mismatch> {
        self.describe_tables().await?;
        if self.setup.has_upkeep {
            self.sweep()?;
        }
        let tables: Vec<_> = self.tables.values().cloned().collect();
        for table in &tables {
            let Some((ours, theirs)) = self.both(&NamedTable(table.clone())) else { continue };
            let indexes = table.indexes.iter().map(|index| Some(index.name.clone()));
            for index in std::iter::once(None).chain(indexes) {
                let scan = Scan { index: index.clone(), ..Scan::new() };
                check_scan(&ours, &theirs, &scan).await?;
                let Ok(page) = theirs.scan(scan).await else { continue };
                let key = table.key_of(index.as_deref()).unwrap();
                let keys = page.items.iter().filter_map(|item| key.read(item));
                let mut partitions: Vec<_> = keys.map(|Key { partition, .. }| partition).collect();
                partitions.dedup();
                for partition in partitions {
                    let query = Query { index: index.clone(), ..Query::new(partition) };
                    check_query(&ours, &theirs, &query.descending()).await?;
                }
            }
        }
        let findings = self.engine.audit().map_err(|error| format!("the audit failed: {error}"))?;
        if findings.is_empty() { Ok(()) } else { Err(format!("the audit found {findings:?}")) }
    }
}

fn options(
    setup: &Setup,
    clock: &Arc<ScriptClock>,
    flaw: Option<Flaw>,
    directory: &Path,
) -> Options {
    let late = flaw == Some(Flaw::ShownThoughExpired);
    Options {
        clock: if late { Arc::new(LateClock(clock.clone())) } else { clock.clone() },
        memtable_bytes: setup.memtable_bytes,
        segment_bytes: setup.segment_bytes,
        retention: setup.retention,
        upkeep_interval: if setup.has_upkeep {
            Duration::from_millis(1)
        } else {
            Duration::from_hours(1)
        },
        sync_tree: false,
        disk: (flaw == Some(Flaw::ForgetfulLog)).then(|| forgetful(directory)),
        ..Options::default()
    }
}

fn store(engine: &Engine, flaw: Option<Flaw>) -> Store {
    match flaw {
        Some(flaw) => Store::new(Flawed::new(engine.clone(), flaw)),
        None => Store::new(engine.clone()),
    }
}
