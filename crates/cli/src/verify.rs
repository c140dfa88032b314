//! `roundtable verify`: whether the store holds what it must, and with `--repair` rebuilding what is
//! derived.

mod catching;
mod told;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use roundtable_domain::TableNames;
use roundtable_model::shape::TableShape;
use roundtable_model::{Core, LoginAttempts, Ops};
use roundtable_server::Opened;
use roundtable_table::{Clock, ManualClock, Store, SystemClock, Table};
use roundtable_verify::{Report, Tables};

use self::catching::{catch_up, ground};
use self::told::{write_json, write_text};
use crate::Outcome;
use crate::failure::Failure;
use crate::progress::Shown;
use crate::reach::{Installation, Reach, briefly};
use crate::table::create::describe::differences;

/// What to check.
#[derive(Args, Debug)]
#[command(after_help = "\
What it checks:
  I1   every counter equals the number of facts it counts, and none is negative
  I2   every e-mail, nickname and handle of a live profile has one lock, and no other has any
  I3   every item is what its type says, and each index shows what follows from the items
  I4   the stream is in order, its images chain, and they end in what is stored (embedded)
  I5   base, indexes and stream hold the same transactions (embedded)
  I6   what is derived is what follows from the facts
  I10  nothing that has expired is seen
  I15  messages are numbered in their order, and members are in their group's room
  I16  nothing stored is damaged (embedded)

First what has expired is taken away (embedded); then the processors read the stream to its end, and do
the work that is due, as a server would have:
counters, scores and the like follow from what people did, and a server that was stopped may not have
come to all of it. Only where the store itself reports damage is nothing done.

The settings must be those of the server: what makes a post popular is among them.

Exit status: 0 nothing was found, 1 something was found or failed, 2 the command line is wrong.

Examples:
  roundtable verify --data data
  roundtable verify --data data --config roundtable.toml --no-drain
  roundtable verify --data data --repair
  roundtable verify --store dynamodb --endpoint http://127.0.0.1:8000 --json")]
pub(crate) struct Verify {
    #[command(flatten)]
    reach: Reach,
    /// Only looks, and writes nothing: what processors have not come to is found missing
    #[arg(long, conflicts_with = "repair")]
    no_drain: bool,
    /// Rebuilds what follows from facts: counters, scores, locks, index keys
    ///
    /// Every write demands that what it follows from has not changed meanwhile. What does not follow
    /// from anything is left, with the reason. The report is that of a check afterwards.
    #[arg(long)]
    repair: bool,
    /// Prints the report as JSON
    #[arg(long)]
    json: bool,
    /// Prints at most N findings; all are counted
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

/// What a run came to.
struct Done {
    report: Report,
    repaired: Option<roundtable_verify::Repaired>,
    elapsed: Duration,
}

impl Verify {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<Outcome, Failure> {
        let installation = self.reach.installation()?;
        installation.existing()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let json = self.json;
        let done = runtime.map_err(Failure::Start)?.block_on(self.look(installation))?;
        let outcome = if done.report.is_clean() { Outcome::Well } else { Outcome::Found };
        if json {
            write_json(out, &done)?;
        } else {
            write_text(out, &done)?;
        }
        Ok(outcome)
    }

    async fn look(self, installation: Installation) -> Result<Done, Failure> {
        let started = Instant::now();
        // A look should leave everything as it is: no sweeping, no trimming. And it is a look at one
        // moment: nothing may expire between the sweep before it and its end.
        let moment: Arc<dyn Clock> = Arc::new(ManualClock::at_ms(SystemClock.now_ms()));
        let mut options = briefly();
        if installation.directory().is_some() {
            options.clock = Arc::clone(&moment);
        }
        let Opened { store, engine } = installation.open(options).await?;
        let settings = installation.settings;
        let progress = Arc::new(Shown::new());
        let tables = tables(&store, &settings.tables).await?;
        let mut verify = roundtable_verify::Verify::new(tables, settings.score.clone())
            .findings_max(self.limit)
            .progress(Arc::clone(&progress) as Arc<dyn roundtable_verify::Progress>);
        if !self.no_drain {
            let (ground, progress) = (ground(store, settings).await?, Arc::clone(&progress));
            verify = verify
                .drained_by(move || Box::pin(catch_up(ground.clone(), Arc::clone(&progress))));
        }
        if let Some(engine) = engine {
            let sweeper = engine.clone();
            verify = verify
                .clock(moment)
                .swept_by(move || sweeper.sweep().map(|_| ()))
                .audited_by(move || engine.audit());
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
        Ok(Done { report, repaired, elapsed: started.elapsed() })
    }
}

/// The tables of a store, which must be those of the schema.
async fn tables(store: &Store, names: &TableNames) -> Result<Tables, Failure> {
    Ok(Tables {
        core: Core::on(table(store, Core::SHAPE, &names.core).await?),
        logins: LoginAttempts::on(table(store, LoginAttempts::SHAPE, &names.logins).await?),
        ops: Ops::on(table(store, Ops::SHAPE, &names.ops).await?),
    })
}

async fn table(store: &Store, shape: &TableShape, name: &str) -> Result<Table, Failure> {
    let (found, wanted) = (store.table(name).await?, shape.definition(name));
    if **found.definition() != wanted {
        let differences = differences(found.definition(), &wanted);
        return Err(Failure::OtherTable { table: wanted.name, differences });
    }
    Ok(found)
}
