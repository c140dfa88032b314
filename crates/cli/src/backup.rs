//! `roundtable backup` and `roundtable restore`: copies of an embedded store, and back.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use roundtable_engine::{Engine, Restore, RestorePoint};
use roundtable_model::Time;
use roundtable_server::{Answer, Configuration, Order, StoreKind, StoreSettings, ask};
use roundtable_verify::Progress as _;

use crate::Outcome;
use crate::failure::Failure;
use crate::progress::Shown;
use crate::reach::briefly;
use crate::settings::Configured;

/// What to copy, and where to.
#[derive(Args, Debug)]
#[command(after_help = "\
A running server is asked for it through its socket, and goes on serving: the copy holds everything that
was acknowledged before it was asked. Otherwise the directory is opened for it.

The copy is a data directory itself, with the secret and the files that people sent: keep it as safe as
the original. It can be served as it is, or restored elsewhere.

Examples:
  roundtable backup /backups/monday
  roundtable backup /backups/monday --data /var/lib/roundtable")]
pub(crate) struct Backup {
    /// A directory that is empty, or is not there yet
    #[arg(value_name = "DEST")]
    into: PathBuf,
    /// The directory of the embedded store [default: data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    configured: Configured,
}

impl Backup {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<Outcome, Failure> {
        let Self { into, data, configured } = self;
        let data = embedded(&configured, data, None)?.data;
        if !data.is_dir() {
            return Err(Failure::NoStore { path: data });
        }
        let into = std::path::absolute(&into).map_err(Failure::file(&into))?;
        let progress = Shown::new();
        progress.stage("Copying", None);
        let copied = copy(&data, &into);
        progress.finish();
        writeln!(out, "{}: everything up to change {}", into.display(), copied?)?;
        Ok(Outcome::Well)
    }
}

/// The embedded store that is meant; on DynamoDB copies are made by other means.
fn embedded(
    configured: &Configured,
    data: Option<PathBuf>,
    archive: Option<PathBuf>,
) -> Result<StoreSettings, Failure> {
    let text = |path: PathBuf| path.display().to_string();
    // Whoever names a directory means an embedded store, whatever else is configured.
    let kind = data.is_some().then_some("embedded");
    let layers = configured
        .layers()?
        .flag("--data", "store.data", data.map(text))?
        .flag("--data", "store.kind", kind)?
        .flag("--archive", "store.archive", archive.map(text))?;
    let (store, _) = Configuration::installation(layers)?;
    if store.kind == StoreKind::Dynamodb {
        return Err(Failure::NotEmbedded);
    }
    Ok(store)
}

/// Copies a data directory, whoever has it; gives the last sequence in the copy.
pub(crate) fn copy(data: &Path, into: &Path) -> Result<u64, Failure> {
    match ask(data, &Order::Backup { into: into.to_owned() })? {
        Some(Answer::BackedUp { sequence }) => Ok(sequence),
        Some(other) => {
            Err(Failure::Refused(format!("the server answered something else: {other:?}")))
        }
        None => Ok(roundtable_server::backup(&Engine::open(data, briefly())?, data, into)?),
    }
}

/// What to restore, and where to.
#[derive(Args, Debug)]
#[command(after_help = "\
Without --at, everything that the copy holds, and the archive where there is one, comes back. With it,
nothing that was written later than that: a copy from before that time is needed, and for the time after
the copy the archive that the server was told to write (store.archive).

Examples:
  roundtable restore /backups/monday --data restored
  roundtable restore /backups/monday --archive /archive --at 2026-01-31T12:00:00Z --data restored")]
pub(crate) struct RestoreTo {
    /// A copy that `backup` made
    #[arg(value_name = "SRC")]
    from: PathBuf,
    /// The new data directory: empty, or not there yet [default: data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where the server's archive of changes is [default: store.archive, if that is configured]
    #[arg(long, value_name = "DIR")]
    archive: Option<PathBuf>,
    /// Up to this time, such as 2026-01-31T12:00:00Z [default: as far as possible]
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<Time>,
    #[command(flatten)]
    configured: Configured,
}

fn time(text: &str) -> Result<Time, String> {
    Time::parse_lenient(text).map_err(|misfit| misfit.to_string())
}

impl RestoreTo {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<Outcome, Failure> {
        let Self { from, data, archive, at, configured } = self;
        let StoreSettings { data, archive, .. } = embedded(&configured, data, archive)?;
        if !from.is_dir() {
            return Err(Failure::NoStore { path: from });
        }
        if let Some(archive) = &archive {
            fs::read_dir(archive).map_err(Failure::file(archive))?;
        }
        let until = at.map_or(RestorePoint::Latest, |at| RestorePoint::Time(at.ms()));
        let plan = Restore { backup: from, archive, into: data, until };
        let progress = Shown::new();
        progress.stage("Restoring", None);
        let restored = roundtable_server::restore(&plan);
        progress.finish();
        writeln!(out, "{}: everything up to change {}", plan.into.display(), restored?)?;
        Ok(Outcome::Well)
    }
}
