//! SQLite with a write-ahead log and full syncs: a table, two indexes and a stream table.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use parking_lot::Mutex;
use roundtable_table::Item;
use rusqlite::{Connection, OptionalExtension, params};

use super::data::Address;
use super::subject::{Peer, write_together};

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS items (
        pk TEXT NOT NULL, sk TEXT NOT NULL,
        gsi1pk TEXT, gsi1sk TEXT, gsi2pk TEXT, gsi2sk TEXT,
        body BLOB NOT NULL,
        PRIMARY KEY (pk, sk)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS gsi1 ON items (gsi1pk, gsi1sk) WHERE gsi1pk IS NOT NULL;
    CREATE INDEX IF NOT EXISTS gsi2 ON items (gsi2pk, gsi2sk) WHERE gsi2pk IS NOT NULL;
    CREATE TABLE IF NOT EXISTS stream (
        sequence INTEGER PRIMARY KEY, pk TEXT NOT NULL, sk TEXT NOT NULL, image BLOB NOT NULL
    );
";

/// The connections of writing threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writers {
    /// One shared connection.
    Shared,
    /// A connection per thread; SQLite serializes them.
    Own,
}

pub(crate) struct Sqlite {
    file: PathBuf,
    writers: Writers,
    shared: Arc<Mutex<Connection>>,
}

impl Sqlite {
    fn connect(file: &Path) -> Result<Connection> {
        let connection = Connection::open(file).context("opening SQLite")?;
        connection.busy_timeout(Duration::from_mins(1))?;
        // Favors reads: the whole file is mapped, with an additional cache.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             PRAGMA cache_size = -65536; PRAGMA mmap_size = 68719476736;",
        )?;
        Ok(connection)
    }
}

impl Peer for Sqlite {
    type Reader = Connection;
    type Writer = Arc<Mutex<Connection>>;

    const NAME: &'static str = "SQLite";

    fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let file = dir.join("bench.sqlite");
        let connection = Self::connect(&file)?;
        connection.execute_batch(SCHEMA)?;
        let shared = Arc::new(Mutex::new(connection));
        Ok(Self { file, writers: Writers::Shared, shared })
    }

    /// Tries both ways of sharing between writing threads and keeps the faster one.
    fn tune(&mut self, callers: usize, pool: &[Item]) -> Result<Option<String>> {
        const WINDOW: Duration = Duration::from_millis(1500);
        if callers == 1 {
            self.writers = Writers::Shared;
            return Ok(None);
        }
        let (first, second) = pool.split_at(pool.len() / 2);
        self.writers = Writers::Own;
        let own = write_together(self, callers, WINDOW, first)?.per_second();
        self.writers = Writers::Shared;
        let shared = write_together(self, callers, WINDOW, second)?.per_second();
        if own > shared {
            self.writers = Writers::Own;
        }
        Ok(Some(format!(
            "SQLite's {callers} callers: {own:.0} writes/s in a trial with a connection each, \
             {shared:.0} sharing one; the faster was taken"
        )))
    }

    fn reader(&self) -> Result<Connection> {
        Self::connect(&self.file)
    }

    fn writer(&self) -> Result<Self::Writer> {
        match self.writers {
            Writers::Shared => Ok(Arc::clone(&self.shared)),
            Writers::Own => Ok(Arc::new(Mutex::new(Self::connect(&self.file)?))),
        }
    }

    fn get(&self, reader: &mut Connection, address: &Address) -> Result<Option<Vec<u8>>> {
        let mut statement =
            reader.prepare_cached("SELECT body FROM items WHERE pk = ?1 AND sk = ?2")?;
        let keys = params![address.partition, address.sort];
        Ok(statement.query_row(keys, |row| row.get(0)).optional()?)
    }

    fn newest(
        &self,
        reader: &mut Connection,
        partition: &str,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        let mut statement = reader
            .prepare_cached("SELECT body FROM items WHERE pk = ?1 ORDER BY sk DESC LIMIT ?2")?;
        let rows = statement.query_map(params![partition, limit], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn write(&self, writer: &mut Self::Writer, items: &[Item]) -> Result<()> {
        let connection = writer.lock();
        // Prepared like the rest: the library's transactions would parse these each time. An error ends
        // the run, so no rollback is needed.
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut put = connection
            .prepare_cached("INSERT OR REPLACE INTO items VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        let mut record =
            connection.prepare_cached("INSERT INTO stream (pk, sk, image) VALUES (?1, ?2, ?3)")?;
        for item in items {
            let [pk, sk, first_pk, first_sk, second_pk, second_sk] =
                ["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"].map(|name| item.text(name));
            let body: &[u8] = item.as_stored();
            put.execute(params![pk, sk, first_pk, first_sk, second_pk, second_sk, body])?;
            record.execute(params![pk, sk, body])?;
        }
        connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}
