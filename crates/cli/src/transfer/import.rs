//! `roundtable import`: reads all tables from files.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use futures::stream::{FuturesUnordered, StreamExt as _};
use roundtable_model::entities::{Checkpoint, SealedKey};
use roundtable_model::shape::TableShape;
use roundtable_model::{Entity as _, SCHEMA, TYPE};
use roundtable_server::{AdminService, OpenStore};
use roundtable_table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_table::{BatchWrite, Item, LeaseKey, Scan, Table, TableDefinition};
use roundtable_verify::ProgressReporter as _;

use super::EXTENSION;
use super::line_reader::{ItemLine, LineReader};
use crate::CommandOutcome;
use crate::error::CommandError;
use crate::installation::{Installation, InstallationArgs, one_shot_options};
use crate::progress::ProgressDisplay;

const CONCURRENT_BATCHES: usize = 32;
/// Bad lines reported per file.
const REPORTED_LINES_MAX: usize = 100;

#[derive(Args, Debug)]
#[command(after_help = "\
Every line is checked before anything is written: if any is bad, all bad lines are listed by file and
number, and the store is left unchanged.

Counters and other derived items are part of the export, so nothing is counted again: processors continue
after the imported changes. Stop the server and all other writers first.

Exit status: 0 everything was imported, 1 a line is bad, the store is not empty, or an error.

Examples:
  roundtable import dump --data data
  roundtable import dump --store dynamodb --endpoint http://127.0.0.1:8000")]
pub(crate) struct ImportArgs {
    /// A directory written by `roundtable export`
    #[arg(value_name = "SRC")]
    from: PathBuf,
    /// Imports into a store that is not empty: items with the same key are replaced, but the store
    /// keeps its own signing keys
    #[arg(long)]
    merge: bool,
    #[command(flatten)]
    installation: InstallationArgs,
}

struct ImportFile {
    path: PathBuf,
    name: &'static str,
    table: TableDefinition,
    items: u64,
}

impl ImportArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
        let installation = self.installation.resolve()?;
        let progress = ProgressDisplay::new();
        let checked = files(&self.from, &installation).and_then(|mut files| {
            let bad = check(&mut files, &progress)?;
            Ok((files, bad))
        });
        progress.finish();
        let (files, bad) = checked?;
        if !bad.is_empty() {
            for line in &bad {
                writeln!(out, "{line}")?;
            }
            writeln!(out, "nothing was imported")?;
            return Ok(CommandOutcome::Findings);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let read = runtime.map_err(CommandError::Start)?.block_on(self.read(
            installation,
            &files,
            &progress,
        ));
        progress.finish();
        read?;
        for ImportFile { name, items, .. } in &files {
            writeln!(out, "{name}: {items} items")?;
        }
        Ok(CommandOutcome::Success)
    }

    async fn read(
        self,
        installation: Installation,
        files: &[ImportFile],
        progress: &ProgressDisplay,
    ) -> Result<(), CommandError> {
        let data = installation.directory().map(Path::to_owned);
        let OpenStore { store, engine } = installation.open(one_shot_options()).await?;
        let mut all = Vec::new();
        for file in files {
            let table = store.create_table(file.table.clone()).await?;
            if !self.merge && !table.scan(Scan::new().limit(1)).await?.items.is_empty() {
                return Err(CommandError::StoreInUse { table: file.table.name.clone() });
            }
            all.push((file, table));
        }
        if let Some(data) = &data {
            roundtable_server::copy_secret_and_media(&self.from, data)?;
        }
        for (file, table) in all {
            progress.stage(file.name, Some(file.items));
            write(file, &table, self.merge, progress).await?;
        }
        let admin = AdminService::open(store, installation.settings, engine.zip(data)).await?;
        admin.skip_existing_changes().await.map_err(CommandError::Refused)
    }
}

/// The files of a directory; there must be one for each table.
fn files(from: &Path, installation: &Installation) -> Result<Vec<ImportFile>, CommandError> {
    let file = |(name, table): (&'static str, TableDefinition)| {
        let path = from.join(format!("{name}{EXTENSION}"));
        if !path.is_file() {
            let is_store = from.join("log").is_dir();
            let advice = if is_store { "; it is a backup: use `roundtable restore`" } else { "" };
            let (path, missing) = (from.to_owned(), format!("{name}{EXTENSION}"));
            return Err(CommandError::NoExport { path, missing, advice });
        }
        Ok(ImportFile { path, name, table, items: 0 })
    };
    installation.tables().map(file).collect()
}

/// Checks and counts all lines; returns what is wrong, by file and line.
fn check(
    files: &mut [ImportFile],
    progress: &ProgressDisplay,
) -> Result<Vec<String>, CommandError> {
    let mut bad = Vec::new();
    for ImportFile { path, name, table, items } in files {
        let shape = SCHEMA.iter().find(|shape| shape.name == *name);
        progress.stage(&format!("Checking {}", path.display()), None);
        let (mut lines, mut bad_lines) = (LineReader::open(path, table)?, 0);
        while let Some(ItemLine { number, item }) = lines.next()? {
            *items += 1;
            progress.advance(1);
            if let Err(problem) = item.and_then(|item| check_shape(shape, &item)) {
                bad_lines += 1;
                if bad_lines <= REPORTED_LINES_MAX {
                    bad.push(format!("{}:{number}: {problem}", path.display()));
                }
            }
        }
        if bad_lines > REPORTED_LINES_MAX {
            bad.push(format!(
                "{}: … and {} more bad lines",
                path.display(),
                bad_lines - REPORTED_LINES_MAX
            ));
        }
    }
    Ok(bad)
}

/// Rejects an item that only a newer version of this program can read.
fn check_shape(table: Option<&&TableShape>, item: &Item) -> Result<(), String> {
    let entity = item.text(TYPE).and_then(|name| table?.entity(name));
    entity.map_or(Ok(()), |entity| entity.check_known(item)).map_err(|error| error.to_string())
}

async fn write(
    file: &ImportFile,
    table: &Table,
    merge: bool,
    progress: &ProgressDisplay,
) -> Result<(), CommandError> {
    let mut lines = LineReader::open(&file.path, &file.table)?;
    let mut running = FuturesUnordered::new();
    let mut batch: Vec<Item> = Vec::new();
    let (mut first, mut more) = (1, true);
    while more {
        more = match lines.next()? {
            Some(ItemLine { number, item }) => {
                let failed = |reason| file.failed(number, reason);
                let item = item.map_err(failed)?;
                if batch.is_empty() {
                    first = number;
                }
                batch.extend(Some(item).filter(|item| !is_skipped(file, item, merge)));
                true
            }
            None => false,
        };
        if !batch.is_empty() && (batch.len() == BATCH_WRITE_ITEMS_MAX || !more) {
            let puts = std::mem::take(&mut batch).into_iter().map(BatchWrite::Put).collect();
            running.push(put(file, table, first, puts, progress));
        }
        if running.len() >= CONCURRENT_BATCHES {
            running.next().await.transpose()?;
        }
    }
    while let Some(done) = running.next().await {
        done?;
    }
    Ok(())
}

async fn put(
    file: &ImportFile,
    table: &Table,
    first: u64,
    puts: Vec<BatchWrite>,
    progress: &ProgressDisplay,
) -> Result<(), CommandError> {
    let count = puts.len() as u64;
    let done = table.batch_write(puts).await;
    done.map_err(|error| {
        file.failed(first, format!("this line or one shortly after it: {error}"))
    })?;
    progress.advance(count);
    Ok(())
}

impl ImportFile {
    fn failed(&self, line: u64, reason: String) -> CommandError {
        CommandError::Line { path: self.path.clone(), line, reason }
    }
}

/// Returns whether to skip an item: a checkpoint or lease on another store's stream, which means
/// nothing here, or, when merging, a key that only another installation's secret can open.
fn is_skipped(file: &ImportFile, item: &Item, merge: bool) -> bool {
    let partition = item.text(&file.table.key.partition.name).unwrap_or_default();
    partition.starts_with(Checkpoint::PARTITION_PREFIX)
        || LeaseKey::is_partition(partition)
        || merge && partition.starts_with(SealedKey::PARTITION_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::dynamodb_json;

    #[test]
    fn an_item_of_a_newer_version_is_a_bad_line() {
        let item = roundtable_model::samples::user().item();
        let core = SCHEMA.iter().find(|shape| shape.name == "gg_core");
        assert_eq!(check_shape(core, &item), Ok(()));
        assert_eq!(check_shape(core, &item.with("shape", 1)), Ok(()));
        let refused = check_shape(core, &item.with("shape", 2)).unwrap_err();
        assert!(refused.contains("a newer version has written it"), "{refused}");
        assert_eq!(check_shape(core, &item.with("type", "Stranger").with("shape", 2)), Ok(()));
    }

    #[test]
    fn a_store_that_is_merged_into_keeps_its_own_keys() {
        let table = SCHEMA.iter().find(|shape| shape.name == "gg_ops").unwrap().definition("ops");
        let file = ImportFile { path: PathBuf::new(), name: "gg_ops", table, items: 0 };
        for (partition, alone, merged) in [
            ("KEY#access-tokens", false, true),
            ("CHECKPOINT#counters", true, true),
            ("LEASES#processors#core", true, true),
            ("USER#ana", false, false),
        ] {
            let line = format!("{{\"Item\":{{\"PK\":{{\"S\":\"{partition}\"}}}}}}");
            let item = dynamodb_json::read(line.as_bytes()).unwrap();
            assert_eq!(is_skipped(&file, &item, false), alone, "{partition}");
            assert_eq!(is_skipped(&file, &item, true), merged, "{partition}");
        }
    }
}
