//! Home feeds in Redis as Mastodon keeps them: a sorted set of at most 800 activity ids per follower.

mod resp;
mod server;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use roundtable_test_client::Samples;

use self::resp::Connection;
use self::server::Server;
pub(super) use self::server::{HOW_TO_INSTALL, find};

use super::PAGE;

/// The maximum length of a feed.
const FEED_MAX: u64 = 800;

/// A fan-out by concurrent workers, each sending the commands for a number of followers before it waits
/// for the replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pipeline {
    pub(super) workers: usize,
    pub(super) followers: usize,
}

impl Pipeline {
    /// Mastodon's setup: one job per follower.
    pub(super) const JOBS: Self = Self { workers: 25, followers: 1 };

    pub(super) fn all() -> impl Iterator<Item = Self> {
        let of = |workers| [100, 1_000, 10_000].map(|followers| Self { workers, followers });
        [1, 2, 4, 8].into_iter().flat_map(of)
    }
}

pub(super) struct Redis {
    server: Server,
}

impl Redis {
    pub(super) const NAME: &'static str = "Redis";

    pub(super) fn start(program: &Path, dir: &Path) -> Result<Self> {
        Ok(Self { server: Server::start(program, dir)? })
    }

    /// Adds an activity durably to the feeds of all followers and trims them; returns the duration.
    pub(super) fn fan_out(
        &self,
        followers: usize,
        activity: u64,
        pipeline: Pipeline,
    ) -> Result<Duration> {
        let each = followers.div_ceil(pipeline.workers);
        let connect = |_| Connection::to(self.server.socket());
        let connections = (0..pipeline.workers).map(connect).collect::<Result<Vec<_>>>()?;
        let started = Instant::now();
        thread::scope(|scope| {
            let work = |(worker, mut connection): (usize, Connection)| {
                let own = worker * each..followers.min((worker + 1) * each);
                scope.spawn(move || push(&mut connection, own, activity, pipeline.followers))
            };
            let workers: Vec<_> = connections.into_iter().enumerate().map(work).collect();
            let mut ended = workers.into_iter().map(thread::ScopedJoinHandle::join);
            ended.try_for_each(|end| end.ok().context("a worker panicked")?)
        })?;
        Ok(started.elapsed())
    }

    /// Checks the number of feeds, and the lengths of the first and the last one.
    pub(super) fn check_feeds(&self, followers: usize, entries: u64) -> Result<()> {
        let mut connection = Connection::to(self.server.socket())?;
        let feeds = connection.number(&["DBSIZE"])?;
        ensure!(feeds == followers as u64, "Redis has {feeds} feeds");
        for follower in [0, followers.saturating_sub(1)] {
            let held = connection.number(&["ZCARD", &key(follower)])?;
            ensure!(held == entries.min(FEED_MAX), "a feed in Redis has {held} entries");
        }
        Ok(())
    }

    /// Times reads of the newest ids of a full feed, without the activities.
    pub(super) fn read_ids(&self, times: usize) -> Result<Samples> {
        let mut connection = Connection::to(self.server.socket())?;
        for id in 1..=FEED_MAX {
            let id = id.to_string();
            connection.number(&["ZADD", "feed:home:reader", &id, &id])?;
        }
        let mut samples = Samples::with_capacity(times);
        let last = (PAGE - 1).to_string();
        for _ in 0..times {
            let started = Instant::now();
            let ids = connection.list(&["ZREVRANGE", "feed:home:reader", "0", &last])?;
            samples.add_since(started);
            ensure!(ids == PAGE, "Redis returned {ids} ids");
        }
        Ok(samples)
    }
}

fn push(
    connection: &mut Connection,
    followers: std::ops::Range<usize>,
    activity: u64,
    at_once: usize,
) -> Result<()> {
    let (id, cut) = (activity.to_string(), format!("-{}", FEED_MAX + 1));
    let mut next = followers.start;
    while next < followers.end {
        let end = followers.end.min(next + at_once);
        for follower in next..end {
            let key = key(follower);
            connection.add(&["ZADD", &key, &id, &id]);
            connection.add(&["ZREMRANGEBYRANK", &key, "0", &cut]);
        }
        connection.send()?;
        for _ in next..end {
            ensure!(connection.integer()? == 1, "the activity was already in a feed in Redis");
            connection.integer()?;
        }
        next = end;
    }
    Ok(())
}

/// Mastodon's ids have 18 digits.
fn key(follower: usize) -> String {
    format!("feed:home:1{follower:017}")
}
