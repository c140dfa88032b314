//! `roundtable export`: writes everything down.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use clap::Args;
use roundtable_engine::Engine;
use roundtable_table::{Scan, Store, Table};
use roundtable_verify::Progress as _;

use super::{ENDING, wire};
use crate::Outcome;
use crate::backup::copy;
use crate::failure::Failure;
use crate::progress::Shown;
use crate::reach::{Reach, briefly};

/// What to write down, and where to.
#[derive(Args, Debug)]
#[command(after_help = "\
There is one file for each table, with an item in each line, as DynamoDB writes it:
  {\"Item\": {\"PK\": {\"S\": \"USER#…\"}, …}}

What a running server has is copied first, so that all of it is of one moment. On DynamoDB others may
write meanwhile: stop them first. The secret of an embedded store, and the files that people sent, are
written beside the tables: keep them safe.

Examples:
  roundtable export dump
  roundtable export dump --store dynamodb --prefix staging_")]
pub(crate) struct Export {
    /// A directory that is empty, or is not there yet
    #[arg(value_name = "DEST")]
    into: PathBuf,
    #[command(flatten)]
    reach: Reach,
}

impl Export {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<Outcome, Failure> {
        let Self { into, reach } = self;
        let installation = reach.installation()?;
        let data = installation.existing()?.map(Path::to_owned);
        if fs::read_dir(&into).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Failure::NotEmpty { path: into });
        }
        keep_private(&into).map_err(Failure::file(&into))?;
        let into = std::path::absolute(&into).map_err(Failure::file(&into))?;
        let progress = Shown::new();
        // Beside where everything goes: there is room there.
        let copied = tempfile::tempdir_in(&into).map_err(Failure::file(&into))?;
        let moment = copied.path().join("data");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let written = runtime.map_err(Failure::Start)?.block_on(async {
            let store = match &data {
                None => installation.open(briefly()).await?.store,
                Some(data) => {
                    progress.stage("Copying", None);
                    copy(data, &moment)?;
                    Store::new(Engine::open(&moment, briefly())?)
                }
            };
            let mut written = Vec::new();
            for (name, definition) in installation.tables() {
                let table = store.table(&definition.name).await?;
                written.push((name, write(&table, name, &into, &progress).await?));
            }
            Ok::<_, Failure>(written)
        });
        progress.finish();
        if data.is_some() && written.is_ok() {
            // Of the same moment as the tables.
            roundtable_server::copy_beside(&moment, &into)?;
        }
        for (name, count) in written? {
            writeln!(out, "{}: {count} items", into.join(format!("{name}{ENDING}")).display())?;
        }
        Ok(Outcome::Well)
    }
}

/// Makes the directory, for nobody else: the tables hold the hashes of passwords.
fn keep_private(into: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(into)?;
    // It may have been there before.
    fs::set_permissions(into, Permissions::from_mode(0o700))
}

/// Writes a table down; how many items it has.
async fn write(table: &Table, name: &str, into: &Path, progress: &Shown) -> Result<u64, Failure> {
    let path = into.join(format!("{name}{ENDING}"));
    let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
    let mut file = BufWriter::new(file.map_err(Failure::file(&path))?);
    progress.stage(name, None);
    let (mut count, mut next) = (0, None);
    loop {
        let page = table.scan(Scan { strong: true, ..Scan::new() }.after(next.take())).await?;
        for item in &page.items {
            writeln!(file, "{}", wire::write(item)).map_err(Failure::file(&path))?;
        }
        count += page.items.len() as u64;
        progress.advance(page.items.len() as u64);
        next = page.next;
        if next.is_none() {
            let file =
                file.into_inner().map_err(|error| Failure::file(&path)(error.into_error()))?;
            file.sync_all().map_err(Failure::file(&path))?;
            return Ok(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_for_nobody_else() {
        let place = tempfile::tempdir().unwrap();
        let (new, old) = (place.path().join("new"), place.path().join("old"));
        fs::create_dir(&old).unwrap();
        fs::set_permissions(&old, Permissions::from_mode(0o755)).unwrap();
        for into in [new, old] {
            keep_private(&into).unwrap();
            assert_eq!(fs::metadata(&into).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }
}
