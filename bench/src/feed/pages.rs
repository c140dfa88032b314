//! Pages of home feeds: checks that all subjects list the same activities, and times them.

mod check;
mod timing;

use std::path::Path;

use anyhow::Result;
use roundtable_domain::Caller;
use roundtable_model::Cursor;

use self::timing::PageTimer;
use super::PAGE;
use super::ours::{self, Ours};
use super::postgres::{PagePosition, Postgres};
use super::town::Town;
use crate::machine;
use crate::progress::log_step;
use crate::report::{Better, Report};

/// The required ratio of page 1 to Postgres.
const PAGE_MIN: f64 = 3.0;
/// The maximum ratio between pages of any two numbers of followees.
const FLAT_MAX: f64 = 4.0;
/// The maximum ratio of page 20 to page 1.
const DEPTH_MAX: f64 = 2.0;
/// The number of the late page.
const FAR: usize = 20;
/// The required ratio of a page beyond the cached activities to Postgres.
const DEEP_MIN: f64 = 1.0;
/// Readers whose feeds are read beyond the cached activities.
const DEEP_READERS: usize = 3;
/// The maximum number of entries of a page.
const DEEP_STEP: usize = 100;

#[derive(Debug)]
pub(super) struct Reader {
    number: usize,
    caller: Caller,
    /// The position before page 20, if that page is full.
    far: Option<FeedPosition>,
}

/// A position in a feed, for each subject.
#[derive(Clone, Debug)]
pub(super) struct FeedPosition {
    cursor: Cursor,
    page_position: PagePosition,
}

pub(super) fn run(
    root: &Path,
    quick: bool,
    town: &Town,
    ours: &Ours,
    postgres: Option<&Postgres>,
    report: &mut Report,
) -> Result<()> {
    let rounds = if quick { 5 } else { 20 };
    let timer = PageTimer { ours, postgres, rounds };
    let mut firsts = Vec::new();
    for (followees, readers) in &town.readers {
        log_step(&format!("pages of readers who follow {followees}"));
        let readers = readers.iter().map(|number| check::reader(town, ours, postgres, *number));
        let readers = readers.collect::<Result<Vec<Reader>>>()?;
        machine::settle(root)?;
        firsts.push((*followees, one_count(*followees, &readers, &timer, report)?));
    }
    if let (Some((few, shortest)), Some((many, longest))) = (firsts.first(), firsts.last()) {
        report.under(format!("flat-{many}-to-{few}"), longest / shortest, FLAT_MAX, "x");
    }
    deep(town, ours::recent_max(quick), &timer, report)
}

/// Measures pages 1 and 20 of readers with the same number of followees; returns the time of our page 1.
fn one_count(
    followees: usize,
    readers: &[Reader],
    timer: &PageTimer<'_>,
    report: &mut Report,
) -> Result<f64> {
    let firsts: Vec<_> = readers.iter().map(|reader| (reader, None)).collect();
    let first = timer.measure(&firsts)?;
    report.figure(format!("page 1, {followees} followees, µs"), Better::Lower, first.figures());
    report.note(first.summary(&format!("page 1, {followees} followees")));
    if let Some(times) = first.times() {
        report.at_least(format!("page1-{followees}"), times, PAGE_MIN);
    }
    let with_far = readers.iter().filter(|reader| reader.far.is_some());
    let (same, far): (Vec<_>, Vec<_>) =
        with_far.map(|reader| ((reader, None), (reader, reader.far.as_ref()))).unzip();
    if far.len() * 2 <= readers.len() {
        let (some, all) = (far.len(), readers.len());
        report.note(format!("{followees} followees: {some} of {all} feeds have a page {FAR}"));
        return Ok(first.ours());
    }
    let (far, near) = timer.measure_beside(&far, &same)?;
    report.figure(format!("page {FAR}, {followees} followees, µs"), Better::Lower, far.figures());
    report.note(far.summary(&format!("page {FAR}, {followees} followees")));
    // Measures page 1 of the same readers in the same rounds.
    report.under(format!("page{FAR}-{followees}"), far.ours() / near, DEPTH_MAX, "x");
    Ok(first.ours())
}

/// Measures pages beyond the cached activities.
fn deep(town: &Town, recent_max: usize, timer: &PageTimer<'_>, report: &mut Report) -> Result<()> {
    let oldest = town.activities.len().checked_sub(recent_max + 1);
    let Some(oldest) = oldest.and_then(|at| town.activities.get(at)) else {
        report.note("all activities are cached: there are no pages beyond the cache");
        return Ok(());
    };
    for (followees, readers) in town.readers.iter().filter(|(followees, _)| *followees >= 100) {
        log_step(&format!("deep pages of readers who follow {followees}"));
        let mut positions = Vec::new();
        for number in readers.iter().take(DEEP_READERS) {
            let caller = Caller::user(town.person(*number).id.clone());
            let reader = Reader { number: *number, caller, far: None };
            if let Some(position) = below(town, timer.ours, &reader, oldest.at_ms)? {
                check::same_page(town, timer, &reader, Some(&position))?;
                positions.push((reader, position));
            }
        }
        if positions.is_empty() {
            report.note(format!("{followees} followees: no feed reaches beyond the cache"));
            continue;
        }
        let positions: Vec<_> =
            positions.iter().map(|(reader, position)| (reader, Some(position))).collect();
        let measured = timer.measure(&positions)?;
        let label = format!("page beyond memory, {followees} followees, µs");
        report.figure(label, Better::Lower, measured.figures());
        report.note(measured.summary(&format!("page beyond memory, {followees} followees")));
        if let Some(times) = measured.times() {
            report.at_least(format!("beyond-{followees}"), times, DEEP_MIN);
        }
    }
    Ok(())
}

/// Returns the first position in a feed that is older than this, if a full page follows.
fn below(town: &Town, ours: &Ours, reader: &Reader, at_ms: u64) -> Result<Option<FeedPosition>> {
    let mut after = None;
    loop {
        let page = ours.page(&reader.caller, DEEP_STEP, after.as_ref())?;
        let Some(next) = page.next.clone() else { return Ok(None) };
        if let Some((at, id)) = ours::ids(&page).last()
            && at.ms() < at_ms
        {
            let page_position = check::page_position(town, *at, id)?;
            let full = ours.page(&reader.caller, PAGE, Some(&next))?.items.len() == PAGE;
            return Ok(full.then_some(FeedPosition { cursor: next, page_position }));
        }
        after = Some(next);
    }
}
