//! Durable fan-out of one post to all followers of a user, compared with Postgres and Redis, and during
//! other writes.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use roundtable_domain::Caller;
use roundtable_model::{Time, UserStatus};
use roundtable_test_client::{median, rate};

use super::ours::{ConcurrentWriters, Ours};
use super::postgres::Postgres;
use super::redis::{self, Pipeline, Redis};
use super::town::Town;
use crate::machine;
use crate::progress::log_step;
use crate::report::{Better, Report};

/// Rounds after a first one for warming up.
const ROUNDS: usize = 5;
/// The required ratios to Redis and to Postgres.
const REDIS_MIN: f64 = 1.3;
const POSTGRES_MIN: f64 = 0.5;
/// The longest acceptable wait of another write.
const WAIT_MS_MAX: f64 = 400.0;
/// Fan-outs during other writes.
const BESIDE: usize = 3;
/// Trials of each Redis pipeline.
const TRIALS: usize = 2;
/// Reads of one feed in Redis.
const READS: usize = 2_000;

struct FanOutSubjects<'a> {
    town: &'a Town,
    ours: &'a Ours,
    star: Caller,
    postgres: Option<&'a Postgres>,
    redis: Option<(Redis, Pipeline)>,
    /// The number of activities so far.
    next: usize,
}

/// The duration of each fan-out; the first is a warm-up.
#[derive(Default)]
struct FanOutTimes {
    ours: Vec<Duration>,
    /// Complete feed items, by one statement.
    postgres: Vec<Duration>,
    /// One follower at a time, by several workers.
    redis: Vec<Duration>,
    /// Only ids, in the fastest way.
    postgres_ids: Vec<Duration>,
    redis_ids: Vec<Duration>,
}

impl FanOutTimes {
    fn add_to_report(&self, followers: usize, report: &mut Report) {
        let per_second = |took: &Vec<Duration>| {
            let rates = took.iter().skip(1).map(|took| rate(followers as u64, *took));
            (!took.is_empty()).then(|| median(rates))
        };
        let figures = [&self.ours, &self.postgres, &self.redis].map(per_second);
        report.figure(format!("fan-out to {followers}, followers/s"), Better::Higher, figures);
        let ids = [&self.ours, &self.postgres_ids, &self.redis_ids].map(per_second);
        report.figure("  theirs: ids alone, in any way", Better::Higher, ids);
        let [ours, postgres, redis] = figures;
        if let Some((ours, redis)) = ours.zip(redis) {
            report.at_least("fanout-redis", ours / redis, REDIS_MIN);
        }
        if let Some((ours, postgres)) = ours.zip(postgres) {
            report.at_least("fanout-postgres", ours / postgres, POSTGRES_MIN);
        }
    }
}

fn timed(root: &Path, followers: usize, copy: impl FnOnce() -> Result<u64>) -> Result<Duration> {
    machine::settle(root)?;
    let started = Instant::now();
    let copies = copy()?;
    let took = started.elapsed();
    ensure!(copies == followers as u64, "{copies} copies were made for {followers} followers");
    Ok(took)
}

pub(super) fn run(
    root: &Path,
    town: &Town,
    ours: &Ours,
    postgres: Option<&Postgres>,
    report: &mut Report,
) -> Result<()> {
    log_step("processing the rest of the stream");
    let processors = ours.start_processors()?;
    let star = Caller::user(town.person(town.star).id.clone());
    let mut subjects = FanOutSubjects { town, ours, star, postgres, redis: None, next: 0 };
    subjects.redis = match subjects.start_redis(root, report) {
        Ok(redis) => redis,
        Err(error) => {
            report.failed(Redis::NAME, &error);
            None
        }
    };
    subjects.rounds(root, report)?;
    subjects.beside(root, report)?;
    ours.stop_processors(processors)
}

impl FanOutSubjects<'_> {
    /// Starts a Redis, if it is installed, and finds its fastest pipeline.
    fn start_redis(
        &mut self,
        root: &Path,
        report: &mut Report,
    ) -> Result<Option<(Redis, Pipeline)>> {
        let Some(program) = redis::find() else {
            report.note(redis::HOW_TO_INSTALL);
            return Ok(None);
        };
        log_step("fan-out: finding the best pipeline of Redis");
        let redis = Redis::start(&program, root)?;
        let mut best: Option<(Duration, Pipeline)> = None;
        for pipeline in (0..TRIALS).flat_map(|_| Pipeline::all()) {
            let took = redis.fan_out(self.town.actors, self.number(), pipeline)?;
            if best.is_none_or(|(shortest, _)| took < shortest) {
                best = Some((took, pipeline));
            }
        }
        redis.check_feeds(self.town.actors, self.next as u64)?;
        let Some((_, pipeline)) = best else { return Ok(None) };
        let Pipeline { workers, followers } = pipeline;
        report.note(format!(
            "Redis in Mastodon's way has {} workers who send one follower each; ids alone are sent in the \
             fastest way found, by {workers} workers with {followers} followers at once",
            Pipeline::JOBS.workers,
        ));
        let mut ids = redis.read_ids(READS)?;
        report.note(format!(
            "Redis reads the newest 50 ids of a feed in {:.0} µs (p50), without what they stand for \
             and whether it may be seen",
            ids.quantile_us(0.5)
        ));
        Ok(Some((redis, pipeline)))
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next as u64
    }

    /// Measures all subjects in turn.
    fn rounds(&mut self, root: &Path, report: &mut Report) -> Result<()> {
        log_step("fan-out");
        let followers = self.town.actors;
        let mut took = FanOutTimes::default();
        for round in 0..=ROUNDS {
            machine::settle(root)?;
            let (ours, at) = self.ours.fan_out(&self.star, round)?;
            self.check(at)?;
            took.ours.push(ours);
            if let Some(peer) = self.postgres {
                let activity =
                    (i64::try_from(at.ms())?, i64::try_from(self.town.activities.len() + round)?);
                let preview = Town::text(round);
                let whole = || peer.fan_out(self.town.star, activity, &preview);
                took.postgres.push(timed(root, followers, whole)?);
                let ids = || peer.fan_out_ids(self.town.star, activity);
                took.postgres_ids.push(timed(root, followers, ids)?);
            }
            let numbers = [self.number(), self.number()];
            if let Some((peer, best)) = &self.redis {
                let pipelines = [(Pipeline::JOBS, &mut took.redis), (*best, &mut took.redis_ids)];
                for (number, (pipeline, took)) in numbers.into_iter().zip(pipelines) {
                    machine::settle(root)?;
                    took.push(peer.fan_out(followers, number, pipeline)?);
                }
            }
        }
        if let Some(peer) = self.postgres {
            peer.check_feeds(followers, ROUNDS + 1)?;
        }
        took.add_to_report(followers, report);
        Ok(())
    }

    /// Checks that some followers find a copy of the newest post in their feeds.
    fn check(&self, at: Time) -> Result<()> {
        for fan in [0, self.town.regulars.len(), self.town.actors - 1] {
            let fan = self.town.person(fan);
            if fan.status != UserStatus::Active {
                continue;
            }
            let (shown, copied) = self.ours.newest(&Caller::user(fan.id.clone()))?;
            ensure!(shown == Some(at), "a follower does not see the star's post");
            ensure!(copied == Some(at), "the star's post was not copied for a follower");
        }
        Ok(())
    }

    fn beside(&self, root: &Path, report: &mut Report) -> Result<()> {
        log_step("fan-out during other writes");
        let caller = |number: &usize| Caller::user(self.town.person(*number).id.clone());
        // These users have blocked no one.
        let strangers = (self.town.regulars.len()..self.town.actors).rev();
        let strangers = strangers.map(|number| self.town.person(number));
        let strangers = strangers.filter(|person| person.status == UserStatus::Active);
        let mut others = ConcurrentWriters {
            people: self.town.regulars.iter().map(caller).collect(),
            strangers: strangers.map(|person| person.id.clone()).collect(),
            done: 0,
        };
        let mut longest = Duration::ZERO;
        for number in 0..BESIDE {
            machine::settle(root)?;
            let (waited, count) = self.ours.fan_out_beside(&self.star, number, &others)?;
            longest = longest.max(waited);
            others.done += count;
        }
        let ms = longest.as_secs_f64() * 1e3;
        let label = "longest wait of others beside a fan-out, ms";
        report.figure(label, Better::Lower, [ms]);
        report.note(format!(
            "{} follows and posts, one every 5 ms, beside {BESIDE} fan-outs",
            others.done
        ));
        report.under("fanout-wait", ms, WAIT_MS_MAX, "ms");
        Ok(())
    }
}
