//! The town in Postgres as a GraphQL server of an app needs it: with public ids, pictures and counts.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use roundtable_test_client::{Samples, median};

use super::sql::LOOKED;
use super::{FeedQuery, PAGE, Postgres, rows};
use crate::feed::seeded_town::{SeededTown, picture_key, post_counts};
use crate::postgres::Programs;
use crate::progress::{Progress, log_step};

/// Readers and repetitions for finding the fastest query.
const TRIED: usize = 10;
const TRIALS: usize = 5;
/// Activities that the function behind PostGraphile looks at. It cannot continue when too few are
/// visible, so it looks at more.
const LOOKED_ONCE: usize = 80;
/// The scan finds visible activities only: one more than a page tells that others follow.
const SCANNED: usize = PAGE + 1;

/// Columns are copied into tables of their own first, then the rows are rewritten with them.
const COLUMNS: &str = "
    ALTER TABLE users ADD uid text, ADD image_key text;
    ALTER TABLE posts ADD uid text, ADD like_count int, ADD comment_count int, ADD share_count int;
    ALTER TABLE activities ADD uid text, ADD kind text;
    CREATE TABLE user_columns (id bigint, uid text, image_key text);
    CREATE TABLE post_columns (
        id bigint, uid text, like_count int, comment_count int, share_count int
    );
    CREATE TABLE activity_columns (id bigint, uid text);
";
const REWRITE: &str = "
    UPDATE users SET uid = c.uid, image_key = c.image_key FROM user_columns c WHERE c.id = users.id;
    UPDATE posts SET uid = c.uid, like_count = c.like_count, comment_count = c.comment_count,
        share_count = c.share_count
    FROM post_columns c WHERE c.id = posts.id;
    UPDATE activities SET uid = c.uid, kind = CASE verb WHEN 0 THEN 'post' ELSE 'share' END
    FROM activity_columns c WHERE c.id = activities.id;
    DROP TABLE user_columns, post_columns, activity_columns, feed_items, feed_ids;
    CREATE UNIQUE INDEX users_by_uid ON users (uid);
    ALTER TABLE posts ADD FOREIGN KEY (author_id) REFERENCES users (id);
    ALTER TABLE activities ADD FOREIGN KEY (post_id) REFERENCES posts (id);
";

/// The columns of a whole page: post `p` with its author `w`.
const PAGE_COLUMNS: &str = "p.content AS preview, p.uid AS post_uid, p.created_at, p.like_count, \
    p.comment_count, p.share_count, w.uid AS author_uid, w.nickname, w.image_key";
/// Of the activities alone; posts and authors are read by loaders.
const ACTIVITY_COLUMNS: &str = "p.author_id";

const POSTS: &str = "SELECT id, uid, author_id, content, created_at, like_count, comment_count, \
    share_count FROM posts WHERE id = ANY ($1::bigint[])";
const USERS: &str = "SELECT id, uid, nickname, image_key FROM users WHERE id = ANY ($1::bigint[])";

pub(crate) struct AppPostgres {
    postgres: Postgres,
    query: FeedQuery,
}

impl AppPostgres {
    /// Starts a server with the town, and finds the fastest query of a home feed.
    pub(crate) fn fill(programs: &Programs, root: &Path, town: &SeededTown) -> Result<Self> {
        let postgres = Postgres::fill(programs, root, &town.town)?;
        postgres.runtime.block_on(add_columns(&postgres, town))?;
        let query = fastest(&postgres, town)?;
        let app = Self { postgres, query };
        // For all connections: the servers do not know which query it is.
        let settings = query
            .settings()
            .split(';')
            .map(|setting| format!("ALTER DATABASE postgres {};", setting.trim()));
        let looked = if query == FeedQuery::Scan { SCANNED } else { LOOKED_ONCE };
        let first = query.first_with(ACTIVITY_COLUMNS, looked);
        let function = format!(
            "CREATE FUNCTION home_feed(bigint) RETURNS SETOF activities LANGUAGE sql STABLE AS $body$
                SELECT a.* FROM ({first}) page JOIN activities a USING (id)
                WHERE visible ORDER BY page.ts DESC, page.id DESC
            $body$;"
        );
        app.execute(&settings.chain([function]).collect::<String>())?;
        Ok(app)
    }

    pub(crate) fn socket(&self) -> &Path {
        self.postgres.server.socket()
    }

    pub(crate) fn process(&self) -> u32 {
        self.postgres.server.process()
    }

    /// The name of the query in use.
    pub(crate) const fn query(&self) -> &'static str {
        self.query.name()
    }

    /// Returns the statements for servers written by hand.
    pub(crate) fn statements(&self) -> serde_json::Value {
        let looked = if self.query == FeedQuery::Scan { SCANNED } else { LOOKED };
        let feed = |columns: &str| {
            let with_id = |page: String| {
                format!(
                    "SELECT page.*, a.uid, a.kind FROM ({page}) page JOIN activities a USING (id)
                    ORDER BY page.ts DESC, page.id DESC"
                )
            };
            let (first, after) =
                (self.query.first_with(columns, looked), self.query.after_with(columns, looked));
            serde_json::json!({ "first": with_id(first), "after": with_id(after), "looked": looked })
        };
        serde_json::json!({
            "home": feed(ACTIVITY_COLUMNS),
            "page": feed(PAGE_COLUMNS),
            "posts": POSTS,
            "users": USERS,
        })
    }

    fn execute(&self, statements: &str) -> Result<()> {
        let Postgres { runtime, client, .. } = &self.postgres;
        Ok(runtime.block_on(client.batch_execute(statements))?)
    }
}

async fn add_columns(postgres: &Postgres, seeded: &SeededTown) -> Result<()> {
    let (client, town) = (&postgres.client, &seeded.town);
    client.batch_execute(COLUMNS).await.context("adding columns")?;
    let total = town.people.len() + town.posts.len() + town.activities.len();
    let progress = Progress::new("public ids, pictures and counts", total as u64);
    let users =
        town.people.iter().enumerate().map(|(number, person)| {
            format!("{number}\t{}\t{}\n", person.id, picture_key(&person.id))
        });
    rows::copy_rows(client, "user_columns", users, &progress).await?;
    let posts = town.posts.iter().enumerate().map(|(number, post)| {
        let (likes, comments, shares) = post_counts(number);
        format!("{number}\t{}\t{likes}\t{comments}\t{shares}\n", post.id)
    });
    rows::copy_rows(client, "post_columns", posts, &progress).await?;
    let activities = town.activities.iter().enumerate();
    let activities = activities.map(|(number, activity)| format!("{number}\t{}\n", activity.id));
    rows::copy_rows(client, "activity_columns", activities, &progress).await?;
    log_step("rewriting the rows of Postgres");
    client.batch_execute(REWRITE).await.context("filling the columns")?;
    for tidy in ["VACUUM FULL ANALYZE", "VACUUM ANALYZE", "CHECKPOINT"] {
        client.batch_execute(tidy).await?;
    }
    Ok(())
}

/// Returns the query with the shortest median time over some readers.
fn fastest(postgres: &Postgres, seeded: &SeededTown) -> Result<FeedQuery> {
    let readers = seeded.town.readers.iter().flat_map(|(_, readers)| readers).take(TRIED);
    let mut best = (FeedQuery::Lateral, f64::INFINITY);
    for query in FeedQuery::ALL {
        let mut times = Vec::new();
        for reader in readers.clone() {
            let mut samples = Samples::default();
            for _ in 0..TRIALS {
                let started = Instant::now();
                postgres.page(query, *reader, None)?;
                samples.add_since(started);
            }
            times.push(samples.quantile_us(0.5));
        }
        let time = median(times);
        if time < best.1 {
            best = (query, time);
        }
    }
    Ok(best.0)
}
