//! `roundtable import`: reads everything in again.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use futures::stream::{FuturesUnordered, StreamExt as _};
use roundtable_server::{Office, Opened};
use roundtable_table::limits::BATCH_WRITE_ITEMS_MAX;
use roundtable_table::{BatchWrite, Item, Scan, Table, TableDefinition};
use roundtable_verify::Progress as _;

use super::ENDING;
use super::lines::{Line, Lines};
use crate::Outcome;
use crate::failure::Failure;
use crate::progress::Shown;
use crate::reach::{Installation, Reach, briefly};

/// Batches under way at the same time.
const AT_ONCE: usize = 32;
/// Bad lines that are told of, of each file.
const TOLD_MAX: usize = 100;
/// Where somebody else's stream was read to means nothing here.
const ELSEWHERE: [&str; 2] = ["CHECKPOINT#", "LEASES#"];
/// Keys, which are sealed with the secret of an installation: one that has its own cannot open others.
const SEALED: &str = "KEY#";

/// What to read, and into what.
#[derive(Args, Debug)]
#[command(after_help = "\
Every line is looked at before anything is written: if one is bad, all bad ones are told by file and
number, and the store is left as it is.

Counters and all else that follows from the items is among them, so nothing is counted again: processors
go on behind what was read in. Stop the server first, and all others that write.

Exit status: 0 everything was read in, 1 a line is bad, the store is not empty, or it failed.

Examples:
  roundtable import dump --data data
  roundtable import dump --store dynamodb --endpoint http://127.0.0.1:8000")]
pub(crate) struct Import {
    /// A directory that `export` wrote
    #[arg(value_name = "SRC")]
    from: PathBuf,
    /// Reads into a store that holds something already; items of the same key are replaced, but it
    /// keeps its own signing keys
    #[arg(long)]
    merge: bool,
    #[command(flatten)]
    reach: Reach,
}

/// A file and the table it is for.
struct Source {
    path: PathBuf,
    name: &'static str,
    table: TableDefinition,
    items: u64,
}

impl Import {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<Outcome, Failure> {
        let installation = self.reach.installation()?;
        let progress = Shown::new();
        let looked = sources(&self.from, &installation).and_then(|mut sources| {
            let bad = look(&mut sources, &progress)?;
            Ok((sources, bad))
        });
        progress.finish();
        let (sources, bad) = looked?;
        if !bad.is_empty() {
            for line in &bad {
                writeln!(out, "{line}")?;
            }
            writeln!(out, "nothing was read in")?;
            return Ok(Outcome::Found);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let read =
            runtime.map_err(Failure::Start)?.block_on(self.read(installation, &sources, &progress));
        progress.finish();
        read?;
        for Source { name, items, .. } in &sources {
            writeln!(out, "{name}: {items} items")?;
        }
        Ok(Outcome::Well)
    }

    async fn read(
        self,
        installation: Installation,
        sources: &[Source],
        progress: &Shown,
    ) -> Result<(), Failure> {
        let data = installation.directory().map(Path::to_owned);
        let Opened { store, engine } = installation.open(briefly()).await?;
        let mut all = Vec::new();
        for source in sources {
            let table = store.create_table(source.table.clone()).await?;
            if !self.merge && !table.scan(Scan::new().limit(1)).await?.items.is_empty() {
                return Err(Failure::StoreInUse { table: source.table.name.clone() });
            }
            all.push((source, table));
        }
        if let Some(data) = &data {
            roundtable_server::copy_beside(&self.from, data)?;
        }
        for (source, table) in all {
            progress.stage(source.name, Some(source.items));
            write(source, &table, self.merge, progress).await?;
        }
        let office = Office::open(store, installation.settings, engine.zip(data)).await?;
        office.pass_over().await.map_err(Failure::Refused)
    }
}

/// The files of a directory; there must be one for each table.
fn sources(from: &Path, installation: &Installation) -> Result<Vec<Source>, Failure> {
    let source = |(name, table): (&'static str, TableDefinition)| {
        let path = from.join(format!("{name}{ENDING}"));
        fs::metadata(&path).map_err(Failure::file(&path))?;
        Ok(Source { path, name, table, items: 0 })
    };
    installation.tables().map(source).collect()
}

/// Looks at every line, and counts them; what is wrong, by file and number.
fn look(sources: &mut [Source], progress: &Shown) -> Result<Vec<String>, Failure> {
    let mut bad = Vec::new();
    for Source { path, table, items, .. } in sources {
        progress.stage(&format!("Looking at {}", path.display()), None);
        let (mut lines, mut told) = (Lines::open(path, table)?, 0);
        while let Some(Line { number, item }) = lines.next()? {
            *items += 1;
            progress.advance(1);
            if let Err(problem) = item {
                told += 1;
                if told <= TOLD_MAX {
                    bad.push(format!("{}:{number}: {problem}", path.display()));
                }
            }
        }
        if told > TOLD_MAX {
            bad.push(format!("{}: … and {} more bad lines", path.display(), told - TOLD_MAX));
        }
    }
    Ok(bad)
}

async fn write(
    source: &Source,
    table: &Table,
    merge: bool,
    progress: &Shown,
) -> Result<(), Failure> {
    let mut lines = Lines::open(&source.path, &source.table)?;
    let mut under_way = FuturesUnordered::new();
    let mut batch: Vec<Item> = Vec::new();
    let (mut first, mut more) = (1, true);
    while more {
        more = match lines.next()? {
            Some(Line { number, item }) => {
                let failed = |why| source.failed(number, why);
                let item = item.map_err(failed)?;
                if batch.is_empty() {
                    first = number;
                }
                batch.extend(Some(item).filter(|item| !is_elsewhere(source, item, merge)));
                true
            }
            None => false,
        };
        if !batch.is_empty() && (batch.len() == BATCH_WRITE_ITEMS_MAX || !more) {
            let puts = std::mem::take(&mut batch).into_iter().map(BatchWrite::Put).collect();
            under_way.push(put(source, table, first, puts, progress));
        }
        if under_way.len() >= AT_ONCE {
            under_way.next().await.transpose()?;
        }
    }
    while let Some(done) = under_way.next().await {
        done?;
    }
    Ok(())
}

async fn put(
    source: &Source,
    table: &Table,
    first: u64,
    puts: Vec<BatchWrite>,
    progress: &Shown,
) -> Result<(), Failure> {
    let count = puts.len() as u64;
    let done = table.batch_write(puts).await;
    done.map_err(|error| source.failed(first, format!("or one soon after: {error}")))?;
    progress.advance(count);
    Ok(())
}

impl Source {
    fn failed(&self, line: u64, why: String) -> Failure {
        Failure::Line { path: self.path.clone(), line, why }
    }
}

/// Whether an item is only about how far the stream of another store was read, or, if this one holds
/// something already, one of the other's keys.
fn is_elsewhere(source: &Source, item: &Item, merge: bool) -> bool {
    let partition = item.text(&source.table.key.partition.name).unwrap_or_default();
    ELSEWHERE.iter().any(|begin| partition.starts_with(begin))
        || merge && partition.starts_with(SEALED)
}

#[cfg(test)]
mod tests {
    use roundtable_model::SCHEMA;

    use super::*;
    use crate::transfer::wire;

    #[test]
    fn a_store_that_holds_something_keeps_its_own_keys() {
        let table = SCHEMA.iter().find(|shape| shape.name == "gg_ops").unwrap().definition("ops");
        let source = Source { path: PathBuf::new(), name: "gg_ops", table, items: 0 };
        for (partition, alone, merged) in [
            ("KEY#access-tokens", false, true),
            ("CHECKPOINT#counters", true, true),
            ("USER#ana", false, false),
        ] {
            let line = format!("{{\"Item\":{{\"PK\":{{\"S\":\"{partition}\"}}}}}}");
            let item = wire::read(line.as_bytes()).unwrap();
            assert_eq!(is_elsewhere(&source, &item, false), alone, "{partition}");
            assert_eq!(is_elsewhere(&source, &item, true), merged, "{partition}");
        }
    }
}
