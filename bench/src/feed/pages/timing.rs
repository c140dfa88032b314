//! Times ours and Postgres alternately on the same pages, with Postgres' fastest query.

use std::time::Instant;

use anyhow::Result;
use roundtable_test_client::Samples;

use super::{FeedPosition, Reader};
use crate::feed::PAGE;
use crate::feed::ours::Ours;
use crate::feed::postgres::{FeedQuery, Postgres};

/// Readers and repetitions for finding the fastest query.
const TRIED: usize = 3;
const TRIALS: usize = 3;
/// Queries within this ratio of the fastest are all measured, because trials are short.
const CLOSE: f64 = 1.5;

#[derive(Clone, Copy)]
pub(super) struct PageTimer<'a> {
    pub(super) ours: &'a Ours,
    pub(super) postgres: Option<&'a Postgres>,
    pub(super) rounds: usize,
}

/// A reader's first page, or the page after a position.
type PageRequest<'a> = (&'a Reader, Option<&'a FeedPosition>);

/// Median times of pages, in microseconds.
#[derive(Debug)]
pub(super) struct PageTimes {
    ours: f64,
    /// The fastest query; `tried` has all that were tried.
    postgres: Option<(FeedQuery, f64)>,
    tried: Vec<(FeedQuery, f64)>,
}

impl PageTimer<'_> {
    /// Measures all pages in several rounds, alternating between subjects.
    pub(super) fn measure(&self, requests: &[PageRequest<'_>]) -> Result<PageTimes> {
        Ok(self.measure_beside(requests, &[])?.0)
    }

    /// Also measures ours on other pages in the same rounds.
    pub(super) fn measure_beside(
        &self,
        requests: &[PageRequest<'_>],
        others: &[PageRequest<'_>],
    ) -> Result<(PageTimes, f64)> {
        let tried = self.trials(requests)?;
        let shortest = tried.iter().map(|(_, us)| *us).fold(f64::INFINITY, f64::min);
        let good = tried.iter().filter(|(_, us)| *us <= shortest * CLOSE);
        let mut theirs: Vec<_> = good.map(|(query, _)| (*query, Samples::default())).collect();
        let (mut ours, mut beside) = (Samples::default(), Samples::default());
        self.by_ours(requests, &mut Samples::default())?;
        for round in 0..self.rounds {
            // Alternates the order, because the first one finds the processor's caches filled by others.
            if round % 2 == 0 {
                self.by_ours(requests, &mut ours)?;
                self.by_ours(others, &mut beside)?;
            } else {
                self.by_ours(others, &mut beside)?;
                self.by_ours(requests, &mut ours)?;
            }
            for (query, samples) in &mut theirs {
                self.by_postgres(requests, *query, samples)?;
            }
        }
        let theirs =
            theirs.into_iter().map(|(query, mut samples)| (query, samples.quantile_us(0.5)));
        let postgres = theirs.min_by(|one, other| one.1.total_cmp(&other.1));
        let measured = PageTimes { ours: ours.quantile_us(0.5), postgres, tried };
        Ok((measured, beside.quantile_us(0.5)))
    }

    fn trials(&self, requests: &[PageRequest<'_>]) -> Result<Vec<(FeedQuery, f64)>> {
        let some: Vec<PageRequest<'_>> = requests.iter().take(TRIED).copied().collect();
        let queries = FeedQuery::ALL.into_iter().filter(|_| self.postgres.is_some());
        let tried = queries.map(|query| {
            let mut samples = Samples::default();
            for _ in 0..TRIALS {
                self.by_postgres(&some, query, &mut samples)?;
            }
            Ok((query, samples.quantile_us(0.5)))
        });
        tried.collect()
    }

    fn by_ours(&self, requests: &[PageRequest<'_>], samples: &mut Samples) -> Result<()> {
        for (reader, after) in requests {
            let started = Instant::now();
            let page =
                self.ours.page(&reader.caller, PAGE, after.map(|position| &position.cursor))?;
            samples.add_since(started);
            drop(page);
        }
        Ok(())
    }

    fn by_postgres(
        &self,
        requests: &[PageRequest<'_>],
        query: FeedQuery,
        samples: &mut Samples,
    ) -> Result<()> {
        let Some(postgres) = self.postgres else { return Ok(()) };
        for (reader, after) in requests {
            let started = Instant::now();
            let page = postgres.page(
                query,
                reader.number,
                after.map(|position| position.page_position),
            )?;
            samples.add_since(started);
            drop(page);
        }
        Ok(())
    }
}

impl PageTimes {
    pub(super) const fn ours(&self) -> f64 {
        self.ours
    }

    /// Returns the figures of all subjects.
    pub(super) fn figures(&self) -> Vec<f64> {
        std::iter::once(self.ours).chain(self.postgres.map(|(_, figure)| figure)).collect()
    }

    /// Returns the ratio of Postgres to ours.
    pub(super) fn times(&self) -> Option<f64> {
        self.postgres.map(|(_, postgres)| postgres / self.ours)
    }

    /// Describes the fastest query and the others.
    pub(super) fn summary(&self, page: &str) -> String {
        let best = self.postgres.map_or("none", |(query, _)| query.name());
        let tried = self.tried.iter().map(|(query, us)| format!("{} {us:.0} µs", query.name()));
        let tried = tried.collect::<Vec<_>>().join(", ");
        format!("{page}: Postgres at its best by {best} (tried: {tried})")
    }
}
