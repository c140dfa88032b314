//! `roundtable verify`: checks the store for consistency, and with `--repair` rebuilds derived items.

mod catch_up;
mod report;
mod search_index;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use roundtable_domain::TableNames;
use roundtable_model::shape::TableShape;
use roundtable_model::{Core, LoginAttempts, Ops};
use roundtable_server::OpenStore;
use roundtable_table::{Clock, ManualClock, Store, SystemClock, Table};
use roundtable_verify::{Tables, VerifyReport};

use self::catch_up::{catch_up, context};
use self::report::{write_json, write_text};
use self::search_index::compare_index;
use crate::CommandOutcome;
use crate::error::CommandError;
use crate::installation::{Installation, InstallationArgs, one_shot_options};
use crate::progress::ProgressDisplay;
use crate::table::create::describe::differences;

#[derive(Args, Debug)]
#[command(after_help = "\
What it checks:
  I1   every counter equals the number of facts it counts, and none is negative
  I2   every e-mail, nickname and handle of a live profile has one lock, and there are no others
  I3   every item matches its type, and each index shows what follows from the items
  I4   the stream is ordered, its images chain, and they end in what is stored (embedded)
  I5   base, indexes and stream hold the same transactions (embedded)
  I6   derived items are what follows from the facts; so are documents of the search index (embedded)
  I10  expired items are not visible
  I15  messages are numbered in order, and members are in their group's room
  I16  nothing stored is damaged (embedded)

Before the check, expired items are removed (embedded), and the processors read the stream to its end
and do due work, as a server would: counters, scores and other derived items lag behind when a server
is stopped. If the store itself reports damage, nothing is written.

The settings must be those of the server: they define, for instance, which posts are popular.

Exit status: 0 no findings, 1 findings or an error, 2 the command line is wrong.

Examples:
  roundtable verify --data data
  roundtable verify --data data --config roundtable.toml --no-drain
  roundtable verify --data data --repair
  roundtable verify --store dynamodb --endpoint http://127.0.0.1:8000 --json")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    installation: InstallationArgs,
    /// Writes nothing; items that pending changes would create are reported as missing
    #[arg(long, conflicts_with = "repair")]
    no_drain: bool,
    /// Rebuilds derived items: counters, scores, locks, index keys
    ///
    /// Every write is conditional on its sources being unchanged. Findings that cannot be derived are
    /// left, with the reason. The report is that of a check afterwards.
    #[arg(long)]
    repair: bool,
    /// Prints the report as JSON
    #[arg(long)]
    json: bool,
    /// Prints at most N findings; all are counted
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

struct VerifyRun {
    report: VerifyReport,
    repaired: Option<roundtable_verify::RepairReport>,
    elapsed: Duration,
}

impl VerifyArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
        let installation = self.installation.resolve()?;
        installation.existing()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let json = self.json;
        let done = runtime.map_err(CommandError::Start)?.block_on(self.check(installation))?;
        let outcome =
            if done.report.is_clean() { CommandOutcome::Success } else { CommandOutcome::Findings };
        if json {
            write_json(out, &done)?;
        } else {
            write_text(out, &done)?;
        }
        Ok(outcome)
    }

    async fn check(self, installation: Installation) -> Result<VerifyRun, CommandError> {
        let started = Instant::now();
        // A check changes nothing: no expiry sweeps and no trimming. Its clock stands still, so that
        // nothing expires between the sweep before it and its end.
        let fixed_clock: Arc<dyn Clock> = Arc::new(ManualClock::at_ms(SystemClock.now_ms()));
        let mut options = one_shot_options();
        if installation.directory().is_some() {
            options.clock = Arc::clone(&fixed_clock);
        }
        let OpenStore { store, engine } = installation.open(options).await?;
        let location = installation
            .directory()
            .map(|data| roundtable_server::search_location(data, &installation.search));
        let settings = installation.settings;
        let progress = Arc::new(ProgressDisplay::new());
        let tables = tables(&store, &settings.tables).await?;
        let mut verify = roundtable_verify::Verifier::new(tables, settings.score.clone())
            .findings_max(self.limit)
            .progress(Arc::clone(&progress) as Arc<dyn roundtable_verify::ProgressReporter>);
        if let Some(location) = location {
            let (context, drains) =
                (context(store.clone(), settings.clone()).await?, !self.no_drain);
            verify = verify.compare_index_with(move || {
                Box::pin(compare_index(context.clone(), location.clone(), drains))
            });
        }
        if !self.no_drain {
            let (context, progress) = (context(store, settings).await?, Arc::clone(&progress));
            verify = verify
                .drain_with(move || Box::pin(catch_up(context.clone(), Arc::clone(&progress))));
        }
        if let Some(engine) = engine {
            let sweeper = engine.clone();
            verify = verify
                .clock(fixed_clock)
                .sweep_with(move || sweeper.sweep().map(|_| ()))
                .audit_with(move || engine.audit());
        }
        let done = if self.repair {
            verify
                .repair()
                .await
                .map(|mut repaired| (std::mem::take(&mut repaired.report), Some(repaired)))
        } else {
            verify.check().await.map(|report| (report, None))
        };
        progress.finish();
        let (report, repaired) = done?;
        Ok(VerifyRun { report, repaired, elapsed: started.elapsed() })
    }
}

/// The tables of a store, which must match the schema.
async fn tables(store: &Store, names: &TableNames) -> Result<Tables, CommandError> {
    Ok(Tables {
        core: Core::on(table(store, Core::SHAPE, &names.core).await?),
        logins: LoginAttempts::on(table(store, LoginAttempts::SHAPE, &names.logins).await?),
        ops: Ops::on(table(store, Ops::SHAPE, &names.ops).await?),
    })
}

async fn table(store: &Store, shape: &TableShape, name: &str) -> Result<Table, CommandError> {
    let (found, expected) = (store.table(name).await?, shape.definition(name));
    // An order is kept by the embedded store only, from the first start that knows of it.
    if !found.definition().is_same_but_order(&expected) {
        let differences = differences(found.definition(), &expected);
        return Err(CommandError::TableMismatch { table: expected.name, differences });
    }
    Ok(found)
}
