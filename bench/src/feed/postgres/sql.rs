//! The tables, indexes and three queries of a home feed. Each hides the same as ours: deleted,
//! moderated, private and followers-only posts, posts of blocked, muted and suspended users, and removed
//! shares.

use crate::feed::PAGE;

/// Activities read before hidden ones are removed: almost always enough for a page; otherwise the next
/// ones are read.
pub(super) const LOOKED: usize = 60;

/// Enums are numbers: 0 is active, public and wrote; 1 is approved, followers and shared.
pub(super) const TABLES: &str = "
    CREATE TABLE users (
        id bigint NOT NULL, nickname text NOT NULL, status smallint NOT NULL,
        is_private bool NOT NULL, last_ts bigint NOT NULL
    );
    CREATE TABLE posts (
        id bigint NOT NULL, author_id bigint NOT NULL, content text NOT NULL, tags text[] NOT NULL,
        visibility smallint NOT NULL, moderation smallint NOT NULL, is_deleted bool NOT NULL,
        created_at bigint NOT NULL
    );
    CREATE TABLE activities (
        id bigint NOT NULL, ts bigint NOT NULL, actor_id bigint NOT NULL, post_id bigint NOT NULL,
        verb smallint NOT NULL
    );
    CREATE TABLE shares (
        post_id bigint NOT NULL, user_id bigint NOT NULL, activity_id bigint NOT NULL
    );
    CREATE TABLE follows (
        follower bigint NOT NULL, followee bigint NOT NULL, is_active bool NOT NULL,
        muted bool NOT NULL, created_at bigint NOT NULL
    );
    CREATE TABLE blocks (blocker bigint NOT NULL, blocked bigint NOT NULL);
    CREATE TABLE feed_items (
        follower bigint NOT NULL, ts bigint NOT NULL, activity_id bigint NOT NULL,
        actor_id bigint NOT NULL, group_id bigint, verb smallint NOT NULL, object_type smallint NOT NULL,
        object_id bigint NOT NULL, preview text NOT NULL, inserted_at bigint NOT NULL,
        expires_at bigint NOT NULL,
        PRIMARY KEY (follower, ts, activity_id)
    );
    CREATE TABLE feed_ids (
        follower bigint NOT NULL, ts bigint NOT NULL, activity_id bigint NOT NULL,
        PRIMARY KEY (follower, ts, activity_id)
    );
";

/// The indexes cover the feed queries.
pub(super) const INDEXES: &str = "
    ALTER TABLE users ADD PRIMARY KEY (id) INCLUDE (status, is_private, last_ts);
    ALTER TABLE posts ADD PRIMARY KEY (id);
    ALTER TABLE activities ADD PRIMARY KEY (id);
    CREATE INDEX activities_by_actor ON activities (actor_id, ts DESC, id DESC)
        INCLUDE (post_id, verb);
    CREATE INDEX activities_by_time ON activities (ts DESC, id DESC)
        INCLUDE (actor_id, post_id, verb);
    ALTER TABLE shares ADD PRIMARY KEY (post_id, user_id) INCLUDE (activity_id);
    ALTER TABLE follows ADD PRIMARY KEY (follower, followee) INCLUDE (is_active, muted);
    CREATE INDEX follows_by_followee ON follows (followee, follower) INCLUDE (is_active);
    CREATE INDEX follows_muted ON follows (follower, followee) WHERE muted;
    ALTER TABLE blocks ADD PRIMARY KEY (blocker, blocked);
    CREATE INDEX blocks_by_blocked ON blocks (blocked, blocker);
";

/// Copies an activity into the feeds of all followers: the complete feed item, or only its id.
pub(super) const FAN_OUT: &str = "
    INSERT INTO feed_items
    SELECT follower, $2::bigint, $3::bigint, $1::bigint, NULL, 0, 0, $3::bigint, $4, $2::bigint,
        $2::bigint / 1000 + 45 * 86400
    FROM follows WHERE followee = $1 AND is_active
";
pub(super) const FAN_OUT_IDS: &str = "
    INSERT INTO feed_ids
    SELECT follower, $2, $3 FROM follows WHERE followee = $1 AND is_active
";

/// A query of a home feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::feed) enum FeedQuery {
    /// Merges the newest activities of each followee.
    Lateral,
    /// Merges the newest activities of the most recently active followees.
    Heads,
    /// Scans all activities, newest first, and checks whether the reader follows each actor.
    Scan,
}

impl FeedQuery {
    pub(in crate::feed) const ALL: [Self; 3] = [Self::Lateral, Self::Heads, Self::Scan];

    pub(in crate::feed) const fn name(self) -> &'static str {
        match self {
            Self::Lateral => "lateral",
            Self::Heads => "heads",
            Self::Scan => "scan",
        }
    }

    /// Settings for the planner: without them, the scan would read whole tables.
    pub(super) const fn settings(self) -> &'static str {
        match self {
            Self::Lateral | Self::Heads => "RESET enable_hashjoin; RESET enable_mergejoin",
            Self::Scan => "SET enable_hashjoin = off; SET enable_mergejoin = off",
        }
    }

    /// Returns the statement for the first page of reader `$1`.
    pub(super) fn first(self) -> String {
        self.first_with(CONTENT, self.looked())
    }

    /// Returns the statement for a page of reader `$1` after the activity `$3` of time `$2`.
    pub(super) fn after(self) -> String {
        self.after_with(CONTENT, self.looked())
    }

    /// Activities that a statement looks at: the scan finds visible ones only.
    const fn looked(self) -> usize {
        match self {
            Self::Lateral | Self::Heads => LOOKED,
            Self::Scan => PAGE,
        }
    }

    /// As `first`, with these columns of post `p` and author `w`, from this number of activities.
    pub(super) fn first_with(self, columns: &str, looked: usize) -> String {
        self.statement("true", "9223372036854775807", columns, looked)
    }

    /// As `after`, with these columns of post `p` and author `w`, from this number of activities.
    pub(super) fn after_with(self, columns: &str, looked: usize) -> String {
        self.statement("(a.ts, a.id) < ($2, $3)", "$2", columns, looked)
    }

    fn statement(self, earlier: &str, ts: &str, columns: &str, looked: usize) -> String {
        match self {
            Self::Lateral => newest_of(FOLLOWED, earlier, columns, looked),
            Self::Heads => newest_of(&last_active(ts, looked), earlier, columns, looked),
            Self::Scan => scan(earlier, columns, looked),
        }
    }
}

/// The columns of a post that a feed item shows.
const CONTENT: &str = "p.content AS preview, p.tags";

/// The users that the reader blocks, is blocked by or has muted.
const HIDDEN: &str = "hidden AS MATERIALIZED (
    SELECT blocked AS id FROM blocks WHERE blocker = $1
    UNION ALL SELECT blocker FROM blocks WHERE blocked = $1
    UNION ALL SELECT followee FROM follows WHERE follower = $1 AND muted
)";

/// The condition that the reader may see activity `a` of `u` about post `p` of `w`.
const VISIBLE: &str = "
    u.status = 0 AND w.status = 0 AND NOT p.is_deleted
    AND (p.author_id = $1 OR p.moderation = 1 AND (
        p.visibility = 0 AND NOT w.is_private
        OR p.visibility <= 1 AND (p.author_id = a.actor_id OR EXISTS (
            SELECT FROM follows f
            WHERE f.follower = $1 AND f.followee = p.author_id AND f.is_active OFFSET 0))))
    AND a.actor_id NOT IN (SELECT id FROM hidden) AND p.author_id NOT IN (SELECT id FROM hidden)
    AND (a.verb = 0 OR EXISTS (
        SELECT FROM shares s
        WHERE s.post_id = a.post_id AND s.user_id = a.actor_id AND s.activity_id = a.id
        OFFSET 0))";

const FOLLOWED: &str = "
    SELECT followee AS id FROM follows WHERE follower = $1 AND is_active AND NOT muted";

/// The followees whose newest activities can be on the page: all who were active after its start, and
/// the most recently active of the others.
fn last_active(ts: &str, looked: usize) -> String {
    let others =
        format!("SELECT id FROM circle WHERE last_ts < {ts} ORDER BY last_ts DESC LIMIT {looked}");
    format!(
        "WITH circle AS MATERIALIZED (
            SELECT h.id, h.last_ts FROM follows f JOIN users h ON h.id = f.followee
            WHERE f.follower = $1 AND f.is_active AND NOT f.muted
        )
        SELECT id FROM circle WHERE last_ts >= {ts} UNION ALL ({others})"
    )
}

/// The newest visible activities of these actors and the reader.
fn newest_of(actors: &str, earlier: &str, columns: &str, looked: usize) -> String {
    format!(
        "WITH {HIDDEN}, looked AS MATERIALIZED (
            SELECT a.* FROM (({actors}) UNION ALL SELECT $1::bigint) AS actor (id)
            CROSS JOIN LATERAL (
                SELECT a.id, a.ts, a.actor_id, a.post_id, a.verb FROM activities a
                WHERE a.actor_id = actor.id AND {earlier}
                ORDER BY a.ts DESC, a.id DESC LIMIT {looked}
            ) a
            ORDER BY a.ts DESC, a.id DESC LIMIT {looked}
        )
        SELECT a.id, a.ts, a.actor_id, a.verb, a.post_id, {columns},
            ({VISIBLE}) AS visible
        FROM looked a JOIN posts p ON p.id = a.post_id
        JOIN users u ON u.id = a.actor_id JOIN users w ON w.id = p.author_id
        ORDER BY a.ts DESC, a.id DESC"
    )
}

/// The visible activities of all users and the reader.
fn scan(earlier: &str, columns: &str, looked: usize) -> String {
    let visible = |whose: &str, followed: &str| {
        format!(
            "SELECT a.id, a.ts, a.actor_id, a.verb, a.post_id, {columns},
                true AS visible
            FROM (
                SELECT a.* FROM activities a {followed} WHERE {whose} AND {earlier}
                ORDER BY a.ts DESC, a.id DESC OFFSET 0
            ) a
            JOIN posts p ON p.id = a.post_id
            JOIN users u ON u.id = a.actor_id JOIN users w ON w.id = p.author_id
            WHERE {VISIBLE}
            ORDER BY a.ts DESC, a.id DESC LIMIT {looked}"
        )
    };
    let followed = "CROSS JOIN LATERAL (
        SELECT FROM follows f
        WHERE f.follower = $1 AND f.followee = a.actor_id AND f.is_active AND NOT f.muted
        OFFSET 0
    ) f";
    let (others, own) = (visible("true", followed), visible("a.actor_id = $1", ""));
    format!(
        "WITH {HIDDEN} SELECT * FROM (({others}) UNION ALL ({own})) AS page
        ORDER BY ts DESC, id DESC LIMIT {looked}"
    )
}
