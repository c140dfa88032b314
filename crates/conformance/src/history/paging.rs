//! Paging under writes (I13): an item present throughout a walk appears in it exactly once.
//!
//! Each writer puts, moves and deletes its own items, so that the times at which an item certainly
//! or possibly was in a place are known exactly. Readers walk over the table and an index in both
//! orders, a few items per page. An item that was certainly present from the first request to the
//! last response must appear; no item may appear twice, out of order, or on a page during which it
//! cannot have been there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use roundtable_table::{Item, Order};

/// The partitions of the table; items go to them in turn.
pub(super) const PARTITIONS: [&str; 2] = ["A", "B"];

/// The source of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The first partition of the table.
    Partition(Order),
    Index(Order),
    /// All partitions by sort key.
    Merge(Order),
    /// The whole table, in no promised order.
    Scan,
}

impl View {
    const fn order(self) -> Option<Order> {
        match self {
            Self::Partition(order) | Self::Index(order) | Self::Merge(order) => Some(order),
            Self::Scan => None,
        }
    }
}

/// A write of an item: where the item is afterwards.
#[derive(Clone, Debug)]
pub struct ItemWrite {
    pub asked: u64,
    /// `None` if the outcome is unknown.
    pub answered: Option<u64>,
    pub item: usize,
    pub present: bool,
    /// Its rank in the index, if it is in the index.
    pub rank: Option<usize>,
}

impl ItemWrite {
    /// The position of the item in `view` after this write; views are ordered by this text.
    fn place(&self, view: View) -> Option<String> {
        let partition = partition_of(self.item);
        let sort = sort_of(self.item);
        match view {
            _ if !self.present => None,
            View::Partition(_) => (PARTITIONS.first() == Some(&partition)).then_some(sort),
            View::Index(_) => self.rank.map(|rank| rank_of(rank, self.item)),
            View::Merge(_) | View::Scan => Some(format!("{sort} {partition}")),
        }
    }

    /// The position in `view` of an item that it returned.
    pub(super) fn place_of(view: View, item: &Item) -> String {
        let text = |name| item.text(name).unwrap_or("?");
        match view {
            View::Partition(_) => text("sk").to_owned(),
            View::Index(_) => text("rank").to_owned(),
            View::Merge(_) | View::Scan => format!("{} {}", text("sk"), text("pk")),
        }
    }
}

pub(super) fn partition_of(item: usize) -> &'static str {
    PARTITIONS.get(item % PARTITIONS.len()).copied().unwrap_or_default()
}

/// Neighbours of two partitions share a sort key.
pub(super) fn sort_of(item: usize) -> String {
    format!("S#{:03}", item / PARTITIONS.len())
}

pub(super) fn rank_of(rank: usize, item: usize) -> String {
    format!("{rank:03}#{item:03}")
}

/// A page as a reader saw it.
#[derive(Clone, Debug)]
pub struct ReadPage {
    pub asked: u64,
    pub answered: u64,
    /// The positions of its items in the view.
    pub places: Vec<String>,
}

/// A walk over all pages of a view.
#[derive(Clone, Debug)]
pub struct Walk {
    pub view: View,
    pub pages: Vec<ReadPage>,
    pub ended: bool,
}

/// Walks and concurrent writes.
#[derive(Clone, Debug, Default)]
pub struct WalkRecord {
    pub walks: Vec<Walk>,
    /// The writes of each item, in order.
    pub writes: Vec<ItemWrite>,
}

/// A time span that an item spent in one place.
#[derive(Debug)]
struct Presence {
    place: String,
    /// The span during which it may have been there.
    possible: (u64, u64),
    /// The span during which it certainly was there.
    certain: (u64, u64),
}

/// The places and time spans of items in `view`.
fn presences(writes: &[ItemWrite], view: View) -> Vec<Presence> {
    let mut by_item: BTreeMap<usize, Vec<&ItemWrite>> = BTreeMap::new();
    for write in writes {
        by_item.entry(write.item).or_default().push(write);
    }
    let mut presences = Vec::new();
    for mut writes in by_item.into_values() {
        writes.sort_by_key(|write| write.asked);
        let mut current: Option<Presence> = None;
        for write in writes {
            let place = write.place(view);
            if place == current.as_ref().map(|stay| stay.place.clone()) {
                continue;
            }
            let (asked, answered) = (write.asked, write.answered.unwrap_or(u64::MAX));
            presences.extend(current.take().map(|stay| Presence {
                possible: (stay.possible.0, answered),
                certain: (stay.certain.0, asked),
                ..stay
            }));
            let (possible, certain) = ((asked, u64::MAX), (answered, u64::MAX));
            current = place.map(|place| Presence { place, possible, certain });
        }
        presences.extend(current);
    }
    presences
}

/// A walk that violates the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagingViolation {
    pub view: View,
    pub pages: String,
    pub what: String,
}

impl fmt::Display for PagingViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a walk over {:?}: {}\n{}", self.view, self.what, self.pages)
    }
}

/// Checks every walk against the writes.
pub fn check_walks(walk_record: &WalkRecord) -> Result<(), PagingViolation> {
    for walk in &walk_record.walks {
        let presences = presences(&walk_record.writes, walk.view);
        check_walk(walk, &presences).map_err(|what| PagingViolation {
            view: walk.view,
            pages: walk.pages.iter().map(ToString::to_string).collect(),
            what,
        })?;
    }
    Ok(())
}

impl fmt::Display for ReadPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {:>5} to {:<5} {}", self.asked, self.answered, self.places.join(", "))
    }
}

fn check_walk(walk: &Walk, presences: &[Presence]) -> Result<(), String> {
    if !walk.ended {
        return Err(format!("no end after {} pages", walk.pages.len()));
    }
    let seen: Vec<&String> = walk.pages.iter().flat_map(|page| &page.places).collect();
    let mut once = BTreeSet::new();
    if let Some(twice) = seen.iter().find(|place| !once.insert(**place)) {
        return Err(format!("{twice} appears twice"));
    }
    let in_order = match walk.view.order() {
        Some(Order::Ascending) => seen.is_sorted(),
        Some(Order::Descending) => seen.iter().rev().is_sorted(),
        None => true,
    };
    if !in_order {
        return Err(String::from("the items are out of order"));
    }
    for page in &walk.pages {
        let there = |place: &String| {
            presences.iter().any(|stay| {
                let (from, to) = stay.possible;
                stay.place == *place && from <= page.answered && page.asked <= to
            })
        };
        if let Some(ghost) = page.places.iter().find(|place| !there(place)) {
            let (asked, answered) = (page.asked, page.answered);
            return Err(format!("{ghost} appears at {asked} to {answered}, but was not there"));
        }
    }
    let from = walk.pages.first().map_or(0, |page| page.asked);
    let to = walk.pages.last().map_or(0, |page| page.answered);
    let throughout = presences.iter().filter(|stay| stay.certain.0 <= from && to <= stay.certain.1);
    match throughout.into_iter().find(|stay| !once.contains(&stay.place)) {
        Some(stay) => {
            let (since, until) = stay.certain;
            let until = if until == u64::MAX { String::from("the end") } else { until.to_string() };
            Err(format!("{} does not appear, but was there from {since} to {until}", stay.place))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrote(asked: u64, item: usize, present: bool) -> ItemWrite {
        let rank = present.then_some(item);
        ItemWrite { asked, answered: Some(asked + 1), item, present, rank }
    }

    /// Pages of two ticks each, from tick 10 on, over a table where items 0, 2 and 4 were put before.
    fn check_pages(pages: &[&[&str]], order: Order, writes: &[ItemWrite]) -> Result<(), String> {
        let pages = pages.iter().zip((10..).step_by(10)).map(|(places, asked)| ReadPage {
            asked,
            answered: asked + 1,
            places: places.iter().map(ToString::to_string).collect(),
        });
        let walk = Walk { view: View::Partition(order), pages: pages.collect(), ended: true };
        let mut all = vec![wrote(0, 0, true), wrote(2, 2, true), wrote(4, 4, true)];
        all.extend_from_slice(writes);
        let walk_record = WalkRecord { walks: vec![walk], writes: all };
        check_walks(&walk_record).map_err(|violation| violation.what)
    }

    #[test]
    fn an_item_present_throughout_appears_once() {
        assert_eq!(check_pages(&[&["S#000", "S#001"], &["S#002"]], Order::Ascending, &[]), Ok(()));
        let missing = "S#001 does not appear, but was there from 3 to the end";
        assert_eq!(
            check_pages(&[&["S#000"], &["S#002"]], Order::Ascending, &[]),
            Err(missing.into())
        );
        let twice = check_pages(&[&["S#000", "S#001"], &["S#001", "S#002"]], Order::Ascending, &[]);
        assert_eq!(twice, Err("S#001 appears twice".into()));
        let order = check_pages(&[&["S#001", "S#000", "S#002"]], Order::Descending, &[]);
        assert_eq!(order, Err("the items are out of order".into()));
    }

    #[test]
    fn an_item_written_or_deleted_during_a_walk_may_appear_or_not() {
        let gone = [wrote(15, 2, false)];
        assert_eq!(check_pages(&[&["S#000"], &["S#002"]], Order::Ascending, &gone), Ok(()));
        assert_eq!(
            check_pages(&[&["S#000", "S#001"], &["S#002"]], Order::Ascending, &gone),
            Ok(())
        );
        let ghost = check_pages(&[&["S#000"], &["S#001", "S#002"]], Order::Ascending, &gone);
        assert_eq!(ghost, Err("S#001 appears at 20 to 21, but was not there".into()));
    }

    #[test]
    fn a_write_of_unknown_outcome_may_have_happened_or_not() {
        let open = [ItemWrite { answered: None, ..wrote(6, 2, false) }];
        assert_eq!(check_pages(&[&["S#000"], &["S#002"]], Order::Ascending, &open), Ok(()));
        assert_eq!(
            check_pages(&[&["S#000"], &["S#001", "S#002"]], Order::Ascending, &open),
            Ok(())
        );
    }
}
