//! `roundtable export`: writes all tables to files.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use clap::Args;
use roundtable_engine::Engine;
use roundtable_table::{Scan, Store, Table};
use roundtable_verify::ProgressReporter as _;

use super::{EXTENSION, dynamodb_json};
use crate::CommandOutcome;
use crate::backup::copy;
use crate::error::CommandError;
use crate::installation::{InstallationArgs, one_shot_options};
use crate::progress::ProgressDisplay;

#[derive(Args, Debug)]
#[command(after_help = "\
There is one file per table, with one item per line, as DynamoDB exports it:
  {\"Item\": {\"PK\": {\"S\": \"USER#…\"}, …}}

An embedded store is copied first, so that all tables are of one moment. On DynamoDB other processes
may write meanwhile: stop them first. The secret of an embedded store and the media files are written
beside the tables: keep them safe.

Examples:
  roundtable export dump
  roundtable export dump --store dynamodb --prefix staging_")]
pub(crate) struct ExportArgs {
    /// An empty or missing directory
    #[arg(value_name = "DEST")]
    into: PathBuf,
    #[command(flatten)]
    installation: InstallationArgs,
}

impl ExportArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
        let Self { into, installation } = self;
        let installation = installation.resolve()?;
        let data = installation.existing()?.map(Path::to_owned);
        if fs::read_dir(&into).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(CommandError::NotEmpty { path: into });
        }
        create_private(&into).map_err(CommandError::file(&into))?;
        let into = std::path::absolute(&into).map_err(CommandError::file(&into))?;
        let progress = ProgressDisplay::new();
        // On the file system of the destination, which must have the space anyway.
        let temporary = tempfile::tempdir_in(&into).map_err(CommandError::file(&into))?;
        let snapshot = temporary.path().join("data");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let written = runtime.map_err(CommandError::Start)?.block_on(async {
            let store = match &data {
                None => installation.open(one_shot_options()).await?.store,
                Some(data) => {
                    progress.stage("Copying", None);
                    copy(data, &installation.settings.media, &snapshot)?;
                    Store::new(Engine::open(&snapshot, one_shot_options())?)
                }
            };
            let mut written = Vec::new();
            for (name, definition) in installation.tables() {
                let table = store.table(&definition.name).await?;
                written.push((name, write(&table, name, &into, &progress).await?));
            }
            Ok::<_, CommandError>(written)
        });
        progress.finish();
        if data.is_some() && written.is_ok() {
            // As of the same moment as the tables.
            roundtable_server::copy_secret_and_media(&snapshot, &into)?;
        }
        for (name, count) in written? {
            writeln!(out, "{}: {count} items", into.join(format!("{name}{EXTENSION}")).display())?;
        }
        Ok(CommandOutcome::Success)
    }
}

/// Creates the directory for this user alone: the tables hold password hashes.
fn create_private(into: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(into)?;
    // It may have existed with other permissions.
    fs::set_permissions(into, Permissions::from_mode(0o700))
}

/// Writes a table to its file; returns the number of items.
async fn write(
    table: &Table,
    name: &str,
    into: &Path,
    progress: &ProgressDisplay,
) -> Result<u64, CommandError> {
    let path = into.join(format!("{name}{EXTENSION}"));
    let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
    let mut file = BufWriter::new(file.map_err(CommandError::file(&path))?);
    progress.stage(name, None);
    let (mut count, mut next) = (0, None);
    loop {
        let page = table.scan(Scan { strong: true, ..Scan::new() }.after(next.take())).await?;
        for item in &page.items {
            writeln!(file, "{}", dynamodb_json::write(item)).map_err(CommandError::file(&path))?;
        }
        count += page.items.len() as u64;
        progress.advance(page.items.len() as u64);
        next = page.next;
        if next.is_none() {
            let file =
                file.into_inner().map_err(|error| CommandError::file(&path)(error.into_error()))?;
            file.sync_all().map_err(CommandError::file(&path))?;
            return Ok(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_private_to_its_user() {
        let place = tempfile::tempdir().unwrap();
        let (new, old) = (place.path().join("new"), place.path().join("old"));
        fs::create_dir(&old).unwrap();
        fs::set_permissions(&old, Permissions::from_mode(0o755)).unwrap();
        for into in [new, old] {
            create_private(&into).unwrap();
            assert_eq!(fs::metadata(&into).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
