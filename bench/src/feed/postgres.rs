//! The same town in Postgres, and its home feeds by the best of three statements.

mod rows;
mod sql;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row, Statement};

pub(super) use self::sql::Way;

use super::PAGE;
use super::town::Town;
use crate::postgres::{Programs, Server};
use crate::progress::say;

/// What suits this load: everything fits into memory, plans are not made anew for each page.
const SETTINGS: [&str; 8] = [
    "shared_buffers=3GB",
    "effective_cache_size=8GB",
    "work_mem=64MB",
    "maintenance_work_mem=1GB",
    "random_page_cost=1.1",
    "jit=off",
    "autovacuum=off",
    "plan_cache_mode=force_generic_plan",
];

/// Where a page ended: the time and the number of its last activity.
pub(super) type Place = (i64, i64);

/// An entry of a page, as a program would hold it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The number of the activity.
    pub(super) id: i64,
    pub(super) ts: i64,
    _actor: i64,
    _verb: i16,
    _post: i64,
    _preview: String,
    _tags: Vec<String>,
}

/// A server of our own with the town in it.
pub(super) struct Postgres {
    ways: Vec<(Way, Prepared)>,
    client: Client,
    // The connection goes before the server does.
    runtime: Runtime,
    _server: Server,
}

/// The statements of one way: for the first page, and for those after it.
#[derive(Clone)]
struct Prepared {
    first: Statement,
    after: Statement,
}

impl Postgres {
    pub(super) const NAME: &'static str = "Postgres";

    /// Starts a server and copies the town into it.
    pub(super) fn fill(programs: &Programs, root: &Path, town: &Town) -> Result<Self> {
        let server = Server::start(programs, root, &SETTINGS)?;
        // One thread: a page is asked for and waited for, and to wake another thread takes longer.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (client, ways) = runtime.block_on(async {
            let client = connect(&server).await?;
            client.batch_execute(sql::TABLES).await.context("making the tables")?;
            rows::copy(&client, town).await?;
            say("indexes of Postgres");
            client.batch_execute(sql::INDEXES).await.context("making the indexes")?;
            for tidy in ["VACUUM ANALYZE", "CHECKPOINT"] {
                client.batch_execute(tidy).await?;
            }
            let mut ways = Vec::new();
            for way in Way::ALL {
                client.batch_execute(way.settings()).await?;
                let first = client.prepare(&way.first()).await.context(way.name())?;
                let after = client.prepare(&way.after()).await.context(way.name())?;
                let prepared = Prepared { first, after };
                // Plans are made at first use, and kept.
                prepared.page(&client, 0, None).await?;
                prepared.page(&client, 0, Some((0, 0))).await?;
                ways.push((way, prepared));
            }
            anyhow::Ok((client, ways))
        })?;
        Ok(Self { ways, client, runtime, _server: server })
    }

    /// A page of somebody's home feed.
    pub(super) fn page(&self, way: Way, reader: usize, after: Option<Place>) -> Result<Vec<Entry>> {
        let prepared = self.ways.iter().find(|(each, _)| *each == way).context("no such way")?;
        let reader = i64::try_from(reader)?;
        self.runtime.block_on(prepared.1.page(&self.client, reader, after))
    }

    /// Copies one activity of somebody into the feeds of all their followers, durably; gives how many.
    pub(super) fn fan_out(&self, actor: usize, activity: Place, preview: &str) -> Result<u64> {
        let (actor, (ts, id)) = (i64::try_from(actor)?, activity);
        let values: [&(dyn ToSql + Sync); 4] = [&actor, &ts, &id, &preview];
        Ok(self.runtime.block_on(self.client.execute(sql::FAN_OUT, &values))?)
    }

    /// The same with its id alone: what it stands for has to be looked up by whoever reads.
    pub(super) fn fan_out_ids(&self, actor: usize, activity: Place) -> Result<u64> {
        let (actor, (ts, id)) = (i64::try_from(actor)?, activity);
        Ok(self.runtime.block_on(self.client.execute(sql::FAN_OUT_IDS, &[&actor, &ts, &id]))?)
    }

    /// Whether every follower has so many copies.
    pub(super) fn check_feeds(&self, followers: usize, copies: usize) -> Result<()> {
        for table in ["feed_items", "feed_ids"] {
            let count = format!("SELECT count(*), count(DISTINCT follower) FROM {table}");
            let row = self.runtime.block_on(self.client.query_one(&count, &[]))?;
            let (held, feeds): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
            let expected = (i64::try_from(followers * copies)?, i64::try_from(followers)?);
            ensure!((held, feeds) == expected, "Postgres holds {held} copies in {feeds} {table}");
        }
        Ok(())
    }
}

impl Prepared {
    /// Reads on until the page is full or history ends.
    async fn page(&self, client: &Client, me: i64, after: Option<Place>) -> Result<Vec<Entry>> {
        let (mut page, mut after) = (Vec::with_capacity(PAGE), after);
        loop {
            let rows = match &after {
                None => client.query(&self.first, &[&me]).await?,
                Some((ts, id)) => client.query(&self.after, &[&me, ts, id]).await?,
            };
            for row in &rows {
                if page.len() < PAGE && row.try_get("visible")? {
                    page.push(Entry::of(row)?);
                }
            }
            let last = rows.last().filter(|_| page.len() < PAGE && rows.len() >= sql::LOOKED);
            let Some(last) = last else { return Ok(page) };
            after = Some((last.try_get("ts")?, last.try_get("id")?));
        }
    }
}

impl Entry {
    fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            ts: row.try_get("ts")?,
            _actor: row.try_get("actor_id")?,
            _verb: row.try_get("verb")?,
            _post: row.try_get("post_id")?,
            _preview: row.try_get("preview")?,
            _tags: row.try_get("tags")?,
        })
    }

    /// What the next page comes after.
    pub(super) const fn place(&self) -> Place {
        (self.ts, self.id)
    }
}

async fn connect(server: &Server) -> Result<Client> {
    let mut config = Config::new();
    config.host_path(server.socket()).user("bench").dbname("postgres");
    let (client, connection) = config.connect(NoTls).await.context("reaching Postgres")?;
    // It ends with the client.
    tokio::spawn(connection);
    Ok(client)
}
