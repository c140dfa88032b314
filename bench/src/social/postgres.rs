//! Follows in Postgres: one statement per follow, with the same indexes and counters.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};
use roundtable_model::UserId;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Config, NoTls, Statement};

use super::callers::{CallStats, pair, run_callers};
use crate::postgres::Server;

/// The key is the index by follower. Counters are separate rows, like ours, in pages with space for
/// updates that touch no index.
const SCHEMA: &str = "
    CREATE TABLE follows (
        follower text COLLATE \"C\" NOT NULL, followee text COLLATE \"C\" NOT NULL,
        follower_nickname text NOT NULL, followee_nickname text NOT NULL,
        status text NOT NULL, muted bool NOT NULL, notification_enabled bool NOT NULL,
        day date NOT NULL, active_since timestamptz NOT NULL, created_at timestamptz NOT NULL,
        PRIMARY KEY (follower, followee)
    );
    CREATE INDEX follows_by_followee ON follows (followee, created_at, follower);
    CREATE INDEX follows_by_day ON follows (day, created_at, follower, followee);
    CREATE TABLE following (
        person text COLLATE \"C\" PRIMARY KEY, count bigint NOT NULL
    ) WITH (fillfactor = 50);
    CREATE TABLE followers (
        person text COLLATE \"C\" PRIMARY KEY, count bigint NOT NULL
    ) WITH (fillfactor = 50);
";

const FOLLOW: &str = "
    WITH edge AS (
        INSERT INTO follows
        VALUES ($1, $2, $3, $4, 'active', false, true, ($5 AT TIME ZONE 'UTC')::date, $5, $5)
        ON CONFLICT DO NOTHING
        RETURNING follower, followee
    ), counted AS (
        UPDATE following SET count = count + 1 FROM edge WHERE person = edge.follower
        RETURNING 1
    )
    UPDATE followers SET count = count + 1 FROM edge WHERE person = edge.followee
";

/// A user as a parameter of the statement.
#[derive(Debug)]
struct Person {
    id: String,
    nickname: String,
}

/// A Postgres server with the same users as ours.
pub(super) struct Postgres {
    // Declared first: connections must be dropped before the server.
    runtime: Runtime,
    people: Arc<[Person]>,
    done: Arc<AtomicU64>,
    server: Server,
}

impl Postgres {
    pub(super) const NAME: &'static str = "Postgres";

    /// Creates the tables, with all counter rows.
    pub(super) fn fill(server: Server, people: &[UserId]) -> Result<Self> {
        let person = |(number, id): (usize, &UserId)| {
            let (id, nickname) = (id.to_string(), format!("person{number}"));
            Person { id, nickname }
        };
        let people: Arc<[Person]> = people.iter().enumerate().map(person).collect();
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let done = Arc::default();
        let postgres = Self { runtime, people, done, server };
        postgres.runtime.block_on(async {
            let client = postgres.connect().await?;
            client.batch_execute(SCHEMA).await.context("creating the tables")?;
            let ids: Vec<&str> = postgres.people.iter().map(|person| &*person.id).collect();
            for counter in ["following", "followers"] {
                let insert = format!("INSERT INTO {counter} SELECT unnest($1::text[]), 0");
                client.execute(&insert, &[&ids]).await?;
            }
            for tidy in ["VACUUM ANALYZE", "CHECKPOINT"] {
                client.batch_execute(tidy).await?;
            }
            anyhow::Ok(())
        })?;
        Ok(postgres)
    }

    /// Follows from concurrent callers until the window ends, each on its own connection.
    pub(super) fn follow_for(&self, callers: usize, window: Duration) -> Result<CallStats> {
        self.runtime.block_on(async {
            let mut each = Vec::new();
            for _ in 0..callers {
                let client = self.connect().await?;
                let follow = client.prepare(FOLLOW).await?;
                let caller = Arc::new((client, follow, Arc::clone(&self.people)));
                each.push(move |number| {
                    let caller = Arc::clone(&caller);
                    async move {
                        let (client, follow, people) = &*caller;
                        one_follow(client, follow, people, number).await
                    }
                });
            }
            run_callers(each, &self.done, window).await
        })
    }

    /// Checks that every follow was counted on both sides.
    pub(super) fn check(&self) -> Result<()> {
        self.runtime.block_on(async {
            let client = self.connect().await?;
            let counts = "SELECT (SELECT count(*) FROM follows),
                (SELECT sum(count)::bigint FROM following),
                (SELECT sum(count)::bigint FROM followers)";
            let row = client.query_one(counts, &[]).await?;
            let [edges, following, followers] =
                [row.try_get::<_, i64>(0)?, row.try_get(1)?, row.try_get(2)?];
            ensure!(
                edges == following && edges == followers,
                "Postgres has {edges} follows, and counted {following} and {followers}"
            );
            Ok(())
        })
    }

    async fn connect(&self) -> Result<Client> {
        let mut config = Config::new();
        config.host_path(self.server.socket()).user("bench").dbname("postgres");
        let (client, connection) = config.connect(NoTls).await.context("connecting to Postgres")?;
        // The task ends when the client is dropped.
        tokio::spawn(connection);
        Ok(client)
    }
}

async fn one_follow(
    client: &Client,
    follow: &Statement,
    people: &[Person],
    number: u64,
) -> Result<()> {
    let (me, them) = pair(number);
    let me = people.get(me).context("unknown user")?;
    let them = people.get(them).context("unknown user")?;
    let now = SystemTime::now();
    let counted =
        client.execute(follow, &[&me.id, &them.id, &me.nickname, &them.nickname, &now]).await?;
    ensure!(counted == 1, "a follow was not counted");
    Ok(())
}
