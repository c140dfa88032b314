//! Paging under writes (I13): whatever is present throughout a walk appears in it exactly once.
//!
//! Writers put, move and delete items, each its own ones, so that the times an item certainly was
//! and possibly was somewhere are known exactly. Readers walk over the table and an index in both
//! orders, a few items to a page. An item certainly there from the first page's question to the
//! last page's answer must appear; nothing may appear twice, out of order, or on a page at whose
//! time it possibly was not there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use roundtable_table::{Item, Order};

/// The partitions of the table; items go to them in turn.
pub(super) const PARTITIONS: [&str; 2] = ["A", "B"];

/// What a walk reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The first partition of the table.
    Partition(Order),
    /// The index.
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
pub struct Wrote {
    /// When it was asked.
    pub asked: u64,
    /// When it was answered; `None` if that left open whether it happened.
    pub answered: Option<u64>,
    /// The item's number.
    pub item: usize,
    /// Whether the table holds it.
    pub present: bool,
    /// Its rank in the index, if it is there.
    pub rank: Option<usize>,
}

impl Wrote {
    /// Where `view` shows the item after this write; views are ordered by this text.
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

    /// Where `view` shows an item that it returned.
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
pub struct PageSeen {
    /// When it was asked for.
    pub asked: u64,
    /// When it came.
    pub answered: u64,
    /// Where its items are in the view.
    pub places: Vec<String>,
}

/// A walk over all pages of a view.
#[derive(Clone, Debug)]
pub struct Walk {
    /// What it read.
    pub view: View,
    /// What it saw.
    pub pages: Vec<PageSeen>,
    /// Whether it came to an end.
    pub ended: bool,
}

/// Walks, and the writes beside them.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// What the readers saw.
    pub walks: Vec<Walk>,
    /// What the writers did, item by item in the order they did it.
    pub writes: Vec<Wrote>,
}

/// A time an item spent in one place.
#[derive(Debug)]
struct Stay {
    place: String,
    /// It may have been there at any moment of this.
    possible: (u64, u64),
    /// It was there at every moment of this.
    certain: (u64, u64),
}

/// Where `view` showed items, and when.
fn stays(writes: &[Wrote], view: View) -> Vec<Stay> {
    let mut by_item: BTreeMap<usize, Vec<&Wrote>> = BTreeMap::new();
    for write in writes {
        by_item.entry(write.item).or_default().push(write);
    }
    let mut stays = Vec::new();
    for mut writes in by_item.into_values() {
        writes.sort_by_key(|write| write.asked);
        let mut current: Option<Stay> = None;
        for write in writes {
            let place = write.place(view);
            if place == current.as_ref().map(|stay| stay.place.clone()) {
                continue;
            }
            let (asked, answered) = (write.asked, write.answered.unwrap_or(u64::MAX));
            stays.extend(current.take().map(|stay| Stay {
                possible: (stay.possible.0, answered),
                certain: (stay.certain.0, asked),
                ..stay
            }));
            let (possible, certain) = ((asked, u64::MAX), (answered, u64::MAX));
            current = place.map(|place| Stay { place, possible, certain });
        }
        stays.extend(current);
    }
    stays
}

/// How a walk failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lapse {
    /// What it read.
    pub view: View,
    /// The pages, as text.
    pub pages: String,
    /// What is wrong with them.
    pub what: String,
}

impl fmt::Display for Lapse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a walk over {:?}: {}\n{}", self.view, self.what, self.pages)
    }
}

/// Checks every walk against what was there.
pub fn check_walks(walked: &Walked) -> Result<(), Lapse> {
    for walk in &walked.walks {
        let stays = stays(&walked.writes, walk.view);
        check_walk(walk, &stays).map_err(|what| Lapse {
            view: walk.view,
            pages: walk.pages.iter().map(ToString::to_string).collect(),
            what,
        })?;
    }
    Ok(())
}

impl fmt::Display for PageSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {:>5} to {:<5} {}", self.asked, self.answered, self.places.join(", "))
    }
}

fn check_walk(walk: &Walk, stays: &[Stay]) -> Result<(), String> {
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
            stays.iter().any(|stay| {
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
    let throughout = stays.iter().filter(|stay| stay.certain.0 <= from && to <= stay.certain.1);
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

    fn wrote(asked: u64, item: usize, present: bool) -> Wrote {
        let rank = present.then_some(item);
        Wrote { asked, answered: Some(asked + 1), item, present, rank }
    }

    /// Pages of two ticks each, from tick 10 on, over a table where items 0, 2 and 4 were put before.
    fn told(pages: &[&[&str]], order: Order, writes: &[Wrote]) -> Result<(), String> {
        let pages = pages.iter().zip((10..).step_by(10)).map(|(places, asked)| PageSeen {
            asked,
            answered: asked + 1,
            places: places.iter().map(ToString::to_string).collect(),
        });
        let walk = Walk { view: View::Partition(order), pages: pages.collect(), ended: true };
        let mut all = vec![wrote(0, 0, true), wrote(2, 2, true), wrote(4, 4, true)];
        all.extend_from_slice(writes);
        let walked = Walked { walks: vec![walk], writes: all };
        check_walks(&walked).map_err(|lapse| lapse.what)
    }

    #[test]
    fn what_is_there_throughout_appears_once() {
        assert_eq!(told(&[&["S#000", "S#001"], &["S#002"]], Order::Ascending, &[]), Ok(()));
        let missing = "S#001 does not appear, but was there from 3 to the end";
        assert_eq!(told(&[&["S#000"], &["S#002"]], Order::Ascending, &[]), Err(missing.into()));
        let twice = told(&[&["S#000", "S#001"], &["S#001", "S#002"]], Order::Ascending, &[]);
        assert_eq!(twice, Err("S#001 appears twice".into()));
        let order = told(&[&["S#001", "S#000", "S#002"]], Order::Descending, &[]);
        assert_eq!(order, Err("the items are out of order".into()));
    }

    #[test]
    fn what_comes_or_goes_meanwhile_may_appear_or_not() {
        let gone = [wrote(15, 2, false)];
        assert_eq!(told(&[&["S#000"], &["S#002"]], Order::Ascending, &gone), Ok(()));
        assert_eq!(told(&[&["S#000", "S#001"], &["S#002"]], Order::Ascending, &gone), Ok(()));
        let ghost = told(&[&["S#000"], &["S#001", "S#002"]], Order::Ascending, &gone);
        assert_eq!(ghost, Err("S#001 appears at 20 to 21, but was not there".into()));
    }

    #[test]
    fn a_write_of_unknown_outcome_may_have_happened_or_not() {
        let open = [Wrote { answered: None, ..wrote(6, 2, false) }];
        assert_eq!(told(&[&["S#000"], &["S#002"]], Order::Ascending, &open), Ok(()));
        assert_eq!(told(&[&["S#000"], &["S#001", "S#002"]], Order::Ascending, &open), Ok(()));
    }
}
