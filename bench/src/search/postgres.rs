//! Search in Postgres: a GIN index over words, with the same rules of visibility.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use roundtable_model::Visibility;
use roundtable_test_client::Samples;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Config, NoTls, Statement};

use super::town::{SeedQuery, Town};
use super::{PAGE, Results};
use crate::feed::copy_rows;
use crate::postgres::{Programs, Server};
use crate::progress::Progress;

const SCHEMA: &str = "
    CREATE TABLE users (id int PRIMARY KEY, is_private bool NOT NULL);
    CREATE TABLE follows (follower int, followee int, PRIMARY KEY (follower, followee));
    CREATE TABLE blocks (blocker int, blocked int, PRIMARY KEY (blocker, blocked));
    CREATE INDEX blocks_of ON blocks (blocked, blocker);
    CREATE TABLE posts (
        id int PRIMARY KEY, author int NOT NULL, visibility smallint NOT NULL, content text NOT NULL,
        words tsvector GENERATED ALWAYS AS (to_tsvector('simple', content)) STORED
    );
";
const INDEX: &str = "CREATE INDEX posts_by_word ON posts USING gin (words) WITH (fastupdate = off)";

/// Ids are by time. Author and post are visible to the reader; the block is in either direction.
const SEARCH: &str = "
    SELECT p.id FROM posts p JOIN users u ON u.id = p.author
    WHERE p.words @@ websearch_to_tsquery('simple', $1)
      AND (p.author = $2
           OR (p.visibility = 0 AND NOT u.is_private)
           OR (p.visibility < 2
               AND EXISTS (SELECT FROM follows f WHERE f.follower = $2 AND f.followee = p.author)))
      AND NOT EXISTS (SELECT FROM blocks b WHERE b.blocker = $2 AND b.blocked = p.author)
      AND NOT EXISTS (SELECT FROM blocks b WHERE b.blocked = $2 AND b.blocker = p.author)
";

pub(super) struct Postgres {
    // Declared first: connections must be dropped before the server.
    client: Client,
    newest: Statement,
    phrases_first: Statement,
    runtime: Runtime,
    _server: Server,
}

impl Postgres {
    pub(super) const NAME: &'static str = "Postgres";

    pub(super) fn fill(programs: &Programs, root: &Path, town: &Town) -> Result<Self> {
        let besides = ["shared_buffers=3GB", "work_mem=64MB", "jit=off"];
        let server = Server::start(programs, root, &besides)?;
        // One thread is faster for one caller.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (client, newest, phrases_first) = runtime.block_on(async {
            let client = connect(&server).await?;
            client.batch_execute(SCHEMA).await.context("creating the tables")?;
            copy(&client, town).await?;
            client.batch_execute(INDEX).await.context("creating the index")?;
            client.batch_execute("VACUUM ANALYZE").await?;
            let newest = format!("{SEARCH} ORDER BY p.id DESC LIMIT {PAGE}");
            let first = "p.words @@ phraseto_tsquery('simple', $1) DESC";
            let phrases_first = format!("{SEARCH} ORDER BY {first}, p.id DESC LIMIT {PAGE}");
            let (newest, phrases_first) =
                (client.prepare(&newest).await?, client.prepare(&phrases_first).await?);
            anyhow::Ok((client, newest, phrases_first))
        })?;
        Ok(Self { client, newest, phrases_first, runtime, _server: server })
    }

    /// Runs all queries, one after the other.
    pub(super) fn run(&self, queries: &[SeedQuery]) -> Result<(Samples, Results)> {
        let (mut samples, mut results) = (Samples::with_capacity(queries.len()), Vec::new());
        for query in queries {
            let statement = if query.is_of_words { &self.phrases_first } else { &self.newest };
            let reader = i32::try_from(query.reader)?;
            let started = Instant::now();
            let rows = self
                .runtime
                .block_on(async { self.client.query(statement, &[&query.text, &reader]).await })?;
            samples.add_since(started);
            let ids = rows.iter().map(|row| usize::try_from(row.get::<_, i32>(0)));
            results.push(ids.collect::<Result<Vec<usize>, _>>()?);
        }
        Ok((samples, results))
    }
}

async fn connect(server: &Server) -> Result<Client> {
    let mut config = Config::new();
    config.host_path(server.socket()).user("bench").dbname("postgres");
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(async move {
        // An error of the connection is also that of the query.
        let _ = connection.await;
    });
    Ok(client)
}

async fn copy(client: &Client, town: &Town) -> Result<()> {
    let progress = Progress::new("copying it into Postgres", town.posts.len() as u64);
    let users =
        town.is_private.iter().enumerate().map(|(id, is_private)| format!("{id}\t{is_private}\n"));
    copy_rows(client, "users", users, &progress).await?;
    for (table, edges) in [("follows", &town.follows), ("blocks", &town.blocks)] {
        let each = edges.iter().enumerate();
        let rows =
            each.flat_map(|(one, others)| others.iter().map(move |it| format!("{one}\t{it}\n")));
        copy_rows(client, table, rows, &progress).await?;
    }
    let posts = town.posts.iter().enumerate().map(|(id, post)| {
        let visibility = match post.visibility {
            Visibility::Public => 0,
            Visibility::Followers => 1,
            Visibility::Private => 2,
        };
        format!("{id}\t{}\t{visibility}\t{}\n", post.author, town.text(id))
    });
    copy_rows(client, "posts (id, author, visibility, content)", posts, &progress).await
}
