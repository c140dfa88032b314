//! A backup of a simulated town and the archive of its log. At the end, states of the town are restored
//! from them and compared with what they were.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use roundtable_engine::{Engine, EngineStep, Options, Restore, RestorePoint, restore};
use roundtable_model::table::{Backend as _, Clock as _, ManualClock, Scan, TableDefinition};
use tempfile::TempDir;

/// In the town's time; the archive lags by as much.
pub(super) const INTERVAL: Duration = Duration::from_mins(1);
/// States that are restored, beside the last one.
const STATES_MAX: usize = 2;

#[derive(Debug)]
pub(super) struct TownArchive {
    directory: TempDir,
    states: Vec<TownState>,
}

/// A state of the town, as a scan showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TownState {
    sequence: u64,
    /// The time decides what has expired.
    at_ms: u64,
    digest: u64,
}

impl TownArchive {
    pub(super) fn new() -> anyhow::Result<Self> {
        let directory = tempfile::tempdir().context("cannot create a directory for the archive")?;
        Ok(Self { directory, states: Vec::new() })
    }

    /// The directory of the archived log files.
    pub(super) fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    fn backup(&self) -> PathBuf {
        self.directory.path().join("backup")
    }

    /// Writes the backup that all restores begin with.
    pub(super) fn back_up(&self, engine: &Engine) -> anyhow::Result<()> {
        engine.backup(self.backup()).context("the backup failed")?;
        Ok(())
    }

    /// Remembers the state of the engine, which nothing changes meanwhile.
    pub(super) async fn remember(
        &mut self,
        engine: &Engine,
        table: &TableDefinition,
        clock: &ManualClock,
    ) -> anyhow::Result<()> {
        if self.states.len() < STATES_MAX {
            self.states.push(TownState::of(engine, table, clock.now_ms()).await?);
        }
        Ok(())
    }

    /// Restores the remembered states and the last one, and compares them.
    pub(super) async fn check(
        &self,
        engine: &Engine,
        table: &TableDefinition,
        clock: &ManualClock,
    ) -> anyhow::Result<()> {
        clock.advance_ms(u64::try_from(INTERVAL.as_millis()).unwrap_or(u64::MAX));
        ensure!(engine.step(EngineStep::Upkeep), "the log cannot be archived");
        let last = TownState::of(engine, table, clock.now_ms()).await?;
        for state in &self.states {
            self.check_state(RestorePoint::Sequence(state.sequence), *state, table).await?;
        }
        self.check_state(RestorePoint::Latest, last, table).await
    }

    async fn check_state(
        &self,
        until: RestorePoint,
        state: TownState,
        table: &TableDefinition,
    ) -> anyhow::Result<()> {
        let into = tempfile::tempdir().context("cannot create a directory for the restore")?;
        let (backup, archive) = (self.backup(), Some(self.log()));
        let path = into.path().join("store");
        restore(&Restore { backup, archive, into: path.clone(), until })
            .with_context(|| format!("cannot restore {until:?}"))?;
        let clock = Arc::new(ManualClock::at_ms(state.at_ms));
        let options = Options { clock, sync_tree: false, is_stepped: true, ..Options::default() };
        let restored = Engine::open(path, options).context("what was restored does not open")?;
        let found = TownState::of(&restored, table, state.at_ms).await?;
        restored.abandon();
        ensure!(found == state, "restored {found:?} at {until:?} instead of {state:?}");
        Ok(())
    }
}

impl TownState {
    async fn of(engine: &Engine, table: &TableDefinition, at_ms: u64) -> anyhow::Result<Self> {
        let mut digest = DefaultHasher::new();
        let mut scan = Scan::new().strong();
        loop {
            let page = engine.scan(table, scan.clone()).await?;
            format!("{:?}", page.items).hash(&mut digest);
            if page.next.is_none() {
                break;
            }
            scan.start = page.next;
        }
        Ok(Self { sequence: engine.metrics().sequence, at_ms, digest: digest.finish() })
    }
}
