//! Ours and Postgres in turns over the same pages: how long each takes, at its best.

use std::time::Instant;

use anyhow::Result;

use super::{Reader, Spot};
use crate::feed::PAGE;
use crate::feed::ours::Ours;
use crate::feed::postgres::{Postgres, Way};
use crate::samples::Samples;

/// Readers that every way is tried with, to find the best, and how often.
const TRIED: usize = 3;
const TRIALS: usize = 3;
/// Those that are at most so many times slower there are all measured: a trial is short.
const CLOSE: f64 = 1.5;

/// Who takes turns, and how often.
#[derive(Clone, Copy)]
pub(super) struct Turns<'a> {
    pub(super) ours: &'a Ours,
    pub(super) postgres: Option<&'a Postgres>,
    pub(super) rounds: usize,
}

/// A page of somebody: the first, or the one after a place.
type Asked<'a> = (&'a Reader, Option<&'a Spot>);

/// How long pages took.
#[derive(Debug)]
pub(super) struct Measured {
    ours: f64,
    /// The best way, and those that were tried, each with its figure.
    postgres: Option<(Way, f64)>,
    tried: Vec<(Way, f64)>,
}

impl Turns<'_> {
    /// Each subject in its turn over all pages, in several rounds; medians in microseconds.
    pub(super) fn measure(&self, asked: &[Asked<'_>]) -> Result<Measured> {
        Ok(self.measure_beside(asked, &[])?.0)
    }

    /// The same, and in the same rounds ours over other pages.
    pub(super) fn measure_beside(
        &self,
        asked: &[Asked<'_>],
        others: &[Asked<'_>],
    ) -> Result<(Measured, f64)> {
        let tried = self.trials(asked)?;
        let shortest = tried.iter().map(|(_, us)| *us).fold(f64::INFINITY, f64::min);
        let good = tried.iter().filter(|(_, us)| *us <= shortest * CLOSE);
        let mut theirs: Vec<_> = good.map(|(way, _)| (*way, Samples::default())).collect();
        let (mut ours, mut beside) = (Samples::default(), Samples::default());
        self.by_ours(asked, &mut Samples::default())?;
        for round in 0..self.rounds {
            // Whoever comes first finds the processor's memory as the others left it.
            if round % 2 == 0 {
                self.by_ours(asked, &mut ours)?;
                self.by_ours(others, &mut beside)?;
            } else {
                self.by_ours(others, &mut beside)?;
                self.by_ours(asked, &mut ours)?;
            }
            for (way, samples) in &mut theirs {
                self.by_postgres(asked, *way, samples)?;
            }
        }
        let theirs = theirs.into_iter().map(|(way, mut samples)| (way, samples.quantile_us(0.5)));
        let postgres = theirs.min_by(|one, other| one.1.total_cmp(&other.1));
        let measured = Measured { ours: ours.quantile_us(0.5), postgres, tried };
        Ok((measured, beside.quantile_us(0.5)))
    }

    fn trials(&self, asked: &[Asked<'_>]) -> Result<Vec<(Way, f64)>> {
        let some: Vec<Asked<'_>> = asked.iter().take(TRIED).copied().collect();
        let ways = Way::ALL.into_iter().filter(|_| self.postgres.is_some());
        let tried = ways.map(|way| {
            let mut samples = Samples::default();
            for _ in 0..TRIALS {
                self.by_postgres(&some, way, &mut samples)?;
            }
            Ok((way, samples.quantile_us(0.5)))
        });
        tried.collect()
    }

    fn by_ours(&self, asked: &[Asked<'_>], samples: &mut Samples) -> Result<()> {
        for (reader, after) in asked {
            let started = Instant::now();
            let page = self.ours.page(&reader.caller, PAGE, after.map(|spot| &spot.cursor))?;
            samples.add_since(started);
            drop(page);
        }
        Ok(())
    }

    fn by_postgres(&self, asked: &[Asked<'_>], way: Way, samples: &mut Samples) -> Result<()> {
        let Some(postgres) = self.postgres else { return Ok(()) };
        for (reader, after) in asked {
            let started = Instant::now();
            let page = postgres.page(way, reader.number, after.map(|spot| spot.place))?;
            samples.add_since(started);
            drop(page);
        }
        Ok(())
    }
}

impl Measured {
    pub(super) const fn ours(&self) -> f64 {
        self.ours
    }

    /// The figures of all subjects, for the table.
    pub(super) fn figures(&self) -> Vec<f64> {
        std::iter::once(self.ours).chain(self.postgres.map(|(_, figure)| figure)).collect()
    }

    /// How many times faster ours is.
    pub(super) fn times(&self) -> Option<f64> {
        self.postgres.map(|(_, postgres)| postgres / self.ours)
    }

    /// Which way was the best, and how the others did.
    pub(super) fn told(&self, page: &str) -> String {
        let best = self.postgres.map_or("not there", |(way, _)| way.name());
        let tried = self.tried.iter().map(|(way, us)| format!("{} {us:.0} µs", way.name()));
        let tried = tried.collect::<Vec<_>>().join(", ");
        format!("{page}: Postgres at its best by {best} (tried: {tried})")
    }
}
