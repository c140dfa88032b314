//! Pages of home feeds: that all subjects list the same activities, and how long each takes.

mod check;
mod turns;

use std::path::Path;

use anyhow::Result;
use roundtable_domain::Caller;
use roundtable_model::Cursor;

use self::turns::Turns;
use super::PAGE;
use super::ours::{self, Ours};
use super::postgres::{Place, Postgres};
use super::town::Town;
use crate::machine;
use crate::progress::say;
use crate::report::{Better, Report};

/// Page 1 is so much faster than Postgres'.
const PAGE_MIN: f64 = 3.0;
/// Whatever the number of followees, a page takes no more than so many times the shortest.
const FLAT_MAX: f64 = 4.0;
/// Page 20 takes no more than so many times page 1.
const DEPTH_MAX: f64 = 2.0;
/// The page that is far down.
const FAR: usize = 20;
/// Readers whose feeds are read down to what memory does not hold.
const DEEP_READERS: usize = 3;
/// Entries of a page on the way there: as many as a page may have.
const DEEP_STEP: usize = 100;

/// Somebody whose feed is read.
#[derive(Debug)]
pub(super) struct Reader {
    number: usize,
    caller: Caller,
    /// Where the last page before number 20 ended, if that one is full.
    far: Option<Spot>,
}

/// A place in a feed, as each subject knows it.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    cursor: Cursor,
    place: Place,
}

/// Checks and measures all readers.
pub(super) fn run(
    root: &Path,
    quick: bool,
    town: &Town,
    ours: &Ours,
    postgres: Option<&Postgres>,
    report: &mut Report,
) -> Result<()> {
    let rounds = if quick { 5 } else { 20 };
    let turns = Turns { ours, postgres, rounds };
    let mut firsts = Vec::new();
    for (followees, readers) in &town.readers {
        say(&format!("pages of readers who follow {followees}"));
        let readers = readers.iter().map(|number| check::reader(town, ours, postgres, *number));
        let readers = readers.collect::<Result<Vec<Reader>>>()?;
        machine::settle(root)?;
        firsts.push((*followees, one_count(*followees, &readers, &turns, report)?));
    }
    if let (Some((few, shortest)), Some((many, longest))) = (firsts.first(), firsts.last()) {
        report.under(format!("flat-{many}-to-{few}"), longest / shortest, FLAT_MAX, "x");
    }
    deep(town, ours::remembered(quick), &turns, report)
}

/// Pages 1 and 20 of readers who follow equally many; gives how long our page 1 takes.
fn one_count(
    followees: usize,
    readers: &[Reader],
    turns: &Turns<'_>,
    report: &mut Report,
) -> Result<f64> {
    let firsts: Vec<_> = readers.iter().map(|reader| (reader, None)).collect();
    let first = turns.measure(&firsts)?;
    report.figure(format!("page 1, {followees} followees, µs"), Better::Lower, first.figures());
    report.note(first.told(&format!("page 1, {followees} followees")));
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
    let (far, near) = turns.measure_beside(&far, &same)?;
    report.figure(format!("page {FAR}, {followees} followees, µs"), Better::Lower, far.figures());
    report.note(far.told(&format!("page {FAR}, {followees} followees")));
    // Page 1 of the same readers, in the same rounds.
    report.under(format!("page{FAR}-{followees}"), far.ours() / near, DEPTH_MAX, "x");
    Ok(first.ours())
}

/// What a page costs that is further down than the latest activities which are remembered.
fn deep(town: &Town, remembered: usize, turns: &Turns<'_>, report: &mut Report) -> Result<()> {
    let oldest = town.told.len().checked_sub(remembered + 1);
    let Some(oldest) = oldest.and_then(|at| town.told.get(at)) else {
        report.note("everything is remembered: there are no pages beyond that");
        return Ok(());
    };
    for (followees, readers) in town.readers.iter().filter(|(followees, _)| *followees >= 100) {
        say(&format!("deep pages of readers who follow {followees}"));
        let mut spots = Vec::new();
        for number in readers.iter().take(DEEP_READERS) {
            let caller = Caller::user(town.person(*number).id.clone());
            let reader = Reader { number: *number, caller, far: None };
            if let Some(spot) = below(town, turns.ours, &reader, oldest.at_ms)? {
                check::same_page(town, turns, &reader, Some(&spot))?;
                spots.push((reader, spot));
            }
        }
        if spots.is_empty() {
            report.note(format!("{followees} followees: no feed reaches further than memory"));
            continue;
        }
        let spots: Vec<_> = spots.iter().map(|(reader, spot)| (reader, Some(spot))).collect();
        let measured = turns.measure(&spots)?;
        let label = format!("page beyond memory, {followees} followees, µs");
        report.figure(label, Better::Lower, measured.figures());
    }
    Ok(())
}

/// The first place in a feed that is older than this, if a full page comes after it.
fn below(town: &Town, ours: &Ours, reader: &Reader, at_ms: u64) -> Result<Option<Spot>> {
    let mut after = None;
    loop {
        let page = ours.page(&reader.caller, DEEP_STEP, after.as_ref())?;
        let Some(next) = page.next.clone() else { return Ok(None) };
        if let Some((at, id)) = ours::ids(&page).last()
            && at.ms() < at_ms
        {
            let place = check::place(town, *at, id)?;
            let full = ours.page(&reader.caller, PAGE, Some(&next))?.items.len() == PAGE;
            return Ok(full.then_some(Spot { cursor: next, place }));
        }
        after = Some(next);
    }
}
