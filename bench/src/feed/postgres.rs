//! The same town in Postgres, with its home feeds by the fastest of three statements.

mod app;
mod rows;
mod sql;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row, Statement};

pub(crate) use self::app::AppPostgres;
pub(crate) use self::rows::copy_rows;
pub(super) use self::sql::FeedQuery;

use super::PAGE;
use super::town::Town;
use crate::postgres::{Programs, Server};
use crate::progress::log_step;

/// Settings for this load: all data fits into memory, and plans are reused.
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

/// The time and number of the last activity of a page.
pub(super) type PagePosition = (i64, i64);

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) id: i64,
    pub(super) ts: i64,
    _actor: i64,
    _verb: i16,
    _post: i64,
    _preview: String,
    _tags: Vec<String>,
}

/// A Postgres server with the town.
pub(super) struct Postgres {
    queries: Vec<(FeedQuery, Prepared)>,
    client: Client,
    // Declared first: the connection must be dropped before the server.
    runtime: Runtime,
    server: Server,
}

/// The statements of a query: for the first page, and for later pages.
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
        // One thread: waking another one for each page would take longer.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (client, queries) = runtime.block_on(async {
            let client = connect(&server).await?;
            client.batch_execute(sql::TABLES).await.context("creating the tables")?;
            rows::copy(&client, town).await?;
            log_step("indexes of Postgres");
            client.batch_execute(sql::INDEXES).await.context("creating the indexes")?;
            for tidy in ["VACUUM ANALYZE", "CHECKPOINT"] {
                client.batch_execute(tidy).await?;
            }
            let mut queries = Vec::new();
            for query in FeedQuery::ALL {
                client.batch_execute(query.settings()).await?;
                let first = client.prepare(&query.first()).await.context(query.name())?;
                let after = client.prepare(&query.after()).await.context(query.name())?;
                let prepared = Prepared { first, after };
                // The first use creates the plan.
                prepared.page(&client, 0, None).await?;
                prepared.page(&client, 0, Some((0, 0))).await?;
                queries.push((query, prepared));
            }
            anyhow::Ok((client, queries))
        })?;
        Ok(Self { queries, client, runtime, server })
    }

    /// Reads a page of a home feed.
    pub(super) fn page(
        &self,
        query: FeedQuery,
        reader: usize,
        after: Option<PagePosition>,
    ) -> Result<Vec<Entry>> {
        let prepared =
            self.queries.iter().find(|(each, _)| *each == query).context("unknown query")?;
        let reader = i64::try_from(reader)?;
        self.runtime.block_on(prepared.1.page(&self.client, reader, after))
    }

    /// Copies an activity durably into the feeds of all followers; returns their number.
    pub(super) fn fan_out(
        &self,
        actor: usize,
        activity: PagePosition,
        preview: &str,
    ) -> Result<u64> {
        let (actor, (ts, id)) = (i64::try_from(actor)?, activity);
        let values: [&(dyn ToSql + Sync); 4] = [&actor, &ts, &id, &preview];
        Ok(self.runtime.block_on(self.client.execute(sql::FAN_OUT, &values))?)
    }

    /// Copies only the id of an activity: readers must look up the rest.
    pub(super) fn fan_out_ids(&self, actor: usize, activity: PagePosition) -> Result<u64> {
        let (actor, (ts, id)) = (i64::try_from(actor)?, activity);
        Ok(self.runtime.block_on(self.client.execute(sql::FAN_OUT_IDS, &[&actor, &ts, &id]))?)
    }

    /// Checks that every follower has `copies` copies.
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
    /// Reads until the page is full or the feed ends.
    async fn page(
        &self,
        client: &Client,
        me: i64,
        after: Option<PagePosition>,
    ) -> Result<Vec<Entry>> {
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

    /// The position after this page.
    pub(super) const fn page_position(&self) -> PagePosition {
        (self.ts, self.id)
    }
}

async fn connect(server: &Server) -> Result<Client> {
    let mut config = Config::new();
    config.host_path(server.socket()).user("bench").dbname("postgres");
    let (client, connection) = config.connect(NoTls).await.context("connecting to Postgres")?;
    // The task ends when the client is dropped.
    tokio::spawn(connection);
    Ok(client)
}
