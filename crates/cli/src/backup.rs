//! `roundtable backup` and `roundtable restore`: copies of an embedded store.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use roundtable_domain::{MediaSettings, Settings};
use roundtable_engine::{Engine, Restore, RestorePoint};
use roundtable_model::Time;
use roundtable_server::{
    AdminCommand, AdminReply, Configuration, StoreKind, StoreSettings, send_command,
};
use roundtable_verify::ProgressReporter as _;

use crate::CommandOutcome;
use crate::config_args::ConfigArgs;
use crate::error::CommandError;
use crate::installation::one_shot_options;
use crate::progress::ProgressDisplay;
use crate::transfer::is_export;

#[derive(Args, Debug)]
#[command(after_help = "\
A running server makes the backup itself, on request through its socket, and keeps serving: the backup
holds all writes acknowledged before the request. Without a server the directory is opened directly.

The backup is a data directory with the secret and the media files: protect it like the original. It can
be served as it is, or restored elsewhere.

Examples:
  roundtable backup /backups/monday
  roundtable backup /backups/monday --data /var/lib/roundtable")]
pub(crate) struct BackupArgs {
    /// An empty or missing directory
    #[arg(value_name = "DEST")]
    into: PathBuf,
    /// The directory of the embedded store [default: data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
}

impl BackupArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
        let Self { into, data, config } = self;
        let (StoreSettings { data, .. }, settings) = embedded(&config, data, None)?;
        if !data.is_dir() {
            return Err(CommandError::NoStore { path: data });
        }
        let into = std::path::absolute(&into).map_err(CommandError::file(&into))?;
        let progress = ProgressDisplay::new();
        progress.stage("Copying", None);
        let copied = copy(&data, &settings.media, &into);
        progress.finish();
        writeln!(out, "{}: everything up to change {}", into.display(), copied?)?;
        Ok(CommandOutcome::Success)
    }
}

/// The embedded store to work on; DynamoDB has backups of its own.
fn embedded(
    config: &ConfigArgs,
    data: Option<PathBuf>,
    archive: Option<PathBuf>,
) -> Result<(StoreSettings, Settings), CommandError> {
    let text = |path: PathBuf| path.display().to_string();
    // A given directory means an embedded store, regardless of the configuration.
    let kind = data.is_some().then_some("embedded");
    let layers = config
        .layers()?
        .flag("--data", "store.data", data.map(text))?
        .flag("--data", "store.kind", kind)?
        .flag("--archive", "store.archive", archive.map(text))?;
    let (store, _, settings) = Configuration::installation(layers)?;
    if store.kind == StoreKind::Dynamodb {
        return Err(CommandError::NotEmbedded);
    }
    Ok((store, settings))
}

/// Copies a data directory, through its server if one is running; returns the last sequence in the
/// copy.
pub(crate) fn copy(data: &Path, files: &MediaSettings, into: &Path) -> Result<u64, CommandError> {
    match send_command(data, &AdminCommand::Backup { into: into.to_owned() })? {
        Some(AdminReply::BackedUp { sequence }) => Ok(sequence),
        Some(other) => {
            Err(CommandError::Refused(format!("unexpected reply from the server: {other:?}")))
        }
        None => {
            let engine = Engine::open(data, one_shot_options())?;
            let media = roundtable_server::media_directory(data, files);
            Ok(roundtable_server::backup(&engine, data, &media, into)?)
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Without --at, everything in the backup and in the archive, if there is one, is restored. With --at,
nothing written after that time: this needs a backup from before it and, for the time after the backup,
the archive that the server writes (store.archive).

Examples:
  roundtable restore /backups/monday --data restored
  roundtable restore /backups/monday --archive /archive --at 2026-01-31T12:00:00Z --data restored")]
pub(crate) struct RestoreArgs {
    /// A backup made by `roundtable backup`
    #[arg(value_name = "SRC")]
    from: PathBuf,
    /// The new data directory: empty or missing [default: data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The server's archive of changes [default: store.archive, if configured]
    #[arg(long, value_name = "DIR")]
    archive: Option<PathBuf>,
    /// Restores up to this time, such as 2026-01-31T12:00:00Z [default: everything]
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<Time>,
    #[command(flatten)]
    config: ConfigArgs,
}

fn time(text: &str) -> Result<Time, String> {
    Time::parse_lenient(text).map_err(|error| error.to_string())
}

impl RestoreArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
        let Self { from, data, archive, at, config } = self;
        let (StoreSettings { data, archive, .. }, _) = embedded(&config, data, archive)?;
        if is_export(&from) {
            let advice = "; it is an export: use `roundtable import`";
            return Err(CommandError::NoBackup { path: from, advice });
        }
        if !from.is_dir() {
            return Err(CommandError::NoBackup { path: from, advice: "; check its name" });
        }
        if let Some(archive) = &archive {
            fs::read_dir(archive).map_err(CommandError::file(archive))?;
        }
        let until = at.map_or(RestorePoint::Latest, |at| RestorePoint::Time(at.ms()));
        let plan = Restore { backup: from, archive, into: data, until };
        let progress = ProgressDisplay::new();
        progress.stage("Restoring", None);
        let restored = roundtable_server::restore(&plan);
        progress.finish();
        writeln!(out, "{}: everything up to change {}", plan.into.display(), restored?)?;
        Ok(CommandOutcome::Success)
    }
}
