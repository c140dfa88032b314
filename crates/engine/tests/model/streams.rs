//! Reads a table's stream from both stores and compares it, and reads parts of it again.

use futures::FutureExt;
use roundtable_table::{
    Change, Error, Item, Result, Sequence, StreamPage, StreamRead, StreamStart, Table, attribute,
    limits,
};

use crate::pages::{Mismatch, same};

const ENGINE_SHARD: &str = "log";
const MODEL_SHARD: &str = "all";
const PAGE: usize = 100;

/// Reads a table's stream from both stores.
#[derive(Debug, Default)]
pub(crate) struct StreamFollower {
    changes: Vec<Change>,
    ours: Option<Sequence>,
    theirs: Option<Sequence>,
}

impl StreamFollower {
    /// Reads the new changes of both stores and compares them; expiries in `any_order`, since a sweep
    /// removes items in any order and upkeep at any time.
    pub(crate) fn follow(
        &mut self,
        ours: &Table,
        theirs: &Table,
        any_order: bool,
    ) -> Result<Vec<Change>, Mismatch> {
        let new = read_new(ours, ENGINE_SHARD, &mut self.ours)?;
        let expected = read_new(theirs, MODEL_SHARD, &mut self.theirs)?;
        self.changes.extend(new.iter().cloned());
        if !self.changes.is_sorted_by(|a, b| a.sequence < b.sequence) {
            return Err(format!("sequences are not ascending: {new:?}"));
        }
        if comparable(&new, any_order) != comparable(&expected, any_order) {
            let name = &ours.definition().name;
            return Err(format!("stream of {name}\nengine: {new:?}\n model: {expected:?}"));
        }
        Ok(new)
    }

    /// Reads all known changes again, and a part of them: they must be unchanged, except that those
    /// written up to `horizon_ms` may be trimmed. Returns whether the part was trimmed.
    pub(crate) fn read_again(
        &self,
        table: &Table,
        horizon_ms: u64,
        thousandths: usize,
        limit: usize,
    ) -> Result<bool, Mismatch> {
        let changes = &self.changes;
        let kept = changes.iter().filter(|change| change.at_ms > horizon_ms).count();
        let oldest = read_new(table, ENGINE_SHARD, &mut None)?;
        if !changes.ends_with(&oldest) || oldest.len() < kept {
            return Err(format!("the stream {changes:?}\nchanged to {oldest:?}"));
        }
        let latest = read(table, ENGINE_SHARD, StreamStart::Latest, limit);
        same(latest.map(|page| page.changes), Ok(Vec::new()))?;
        let at = changes.len() * thousandths / 1000;
        let (seen, unseen) = changes.split_at((at + 1).min(changes.len()));
        let Some(after) = seen.get(at) else { return Ok(false) };
        let start = StreamStart::After(after.sequence.clone());
        let plain = StreamRead::new(ENGINE_SHARD, start).limit(limit);
        let partition = &table.definition().key.partition.name;
        let few = attribute(partition.as_str()).le(after.key.partition.clone());
        for read in [plain.clone(), plain.filter(few)] {
            match at_once(table, read.clone()) {
                Err(Error::StreamTrimmed { .. }) if at + kept < changes.len() => return Ok(true),
                Err(error) => return Err(format!("the stream failed: {error}")),
                Ok(page) if is_page_of(&page, &read, after, unseen) => {}
                Ok(page) => return Err(format!("after {after:?} come {page:?}\nin {changes:?}")),
            }
        }
        Ok(false)
    }
}

/// Returns whether `page` has the expected changes and next position. The engine's own records in
/// between are ignored: upkeep adds to them at any time.
fn is_page_of(page: &StreamPage, read: &StreamRead, after: &Change, unseen: &[Change]) -> bool {
    let Some((looked_at, left)) = unseen.split_at_checked(page.evaluated) else { return false };
    let images = looked_at.iter().flat_map(|change| change.old.iter().chain(&change.new));
    let is_full = page.evaluated == read.limit
        || images.map(Item::size).sum::<usize>() >= limits::PAGE_BYTES_MAX;
    let wanted = looked_at.iter().filter(|it| read.matches(it.old.as_ref(), it.new.as_ref()));
    let last = &looked_at.last().unwrap_or(after).sequence;
    // A page that read something must have a next position.
    let Some(next) = page.next.as_ref().or(looked_at.is_empty().then_some(last)) else {
        return false;
    };
    page.evaluated <= read.limit
        && (left.is_empty() || is_full)
        && page.changes.iter().eq(wanted)
        && last <= next
        && left.first().is_none_or(|following| next < &following.sequence)
}

fn read(table: &Table, shard: &str, start: StreamStart, limit: usize) -> Result<StreamPage> {
    at_once(table, StreamRead::new(shard, start).limit(limit))
}

fn at_once(table: &Table, read: StreamRead) -> Result<StreamPage> {
    // A read that has to wait, even for the timer's next tick, has found nothing.
    let answer = table.stream_read(read).now_or_never();
    answer.unwrap_or_else(|| Ok(StreamPage::default()))
}

/// Reads the changes after `seen`.
fn read_new(
    table: &Table,
    shard: &str,
    seen: &mut Option<Sequence>,
) -> Result<Vec<Change>, Mismatch> {
    let mut new = Vec::new();
    loop {
        let start = seen.clone().map_or(StreamStart::Oldest, StreamStart::After);
        let page = match read(table, shard, start, PAGE) {
            // Trimmed, with nothing but the engine's own records in between.
            Err(Error::StreamTrimmed { .. }) => {
                read(table, shard, StreamStart::Oldest, PAGE).map(|mut page| {
                    page.changes.retain(|change| Some(&change.sequence) > seen.as_ref());
                    page
                })
            }
            other => other,
        };
        let page = page.map_err(|error| format!("the stream failed: {error}"))?;
        *seen = page.next.or(seen.take());
        if page.changes.is_empty() {
            return Ok(new);
        }
        new.extend(page.changes);
    }
}

/// Removes the sequences, which differ between the stores.
fn comparable(changes: &[Change], any_order: bool) -> Vec<Change> {
    let plain = |change: &Change| Change { sequence: Sequence::from(0), ..change.clone() };
    let mut plain: Vec<Change> = changes.iter().map(plain).collect();
    if any_order {
        plain.sort_by_key(|change| change.expired.then(|| change.key.clone()));
    }
    plain
}
