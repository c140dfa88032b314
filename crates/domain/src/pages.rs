//! Pages of what a viewer may see: full, although what they may not see falls out of them, as long as
//! that is not too much.

use roundtable_model::{Cursor, Entity, Misfit, Page as Read};

use crate::Failure;

/// Items of a page, unless asked otherwise.
pub const PAGE_ITEMS: usize = 20;
/// The largest page.
pub const PAGE_ITEMS_MAX: usize = 100;
/// How many items are read in one go.
const READ_ITEMS_MAX: usize = 200;
/// How many items are looked at for one page, so that somebody who may see almost nothing does not read
/// a whole list: then the page ends where it is, full or not.
const LOOKED_ITEMS_MAX: usize = 2_000;

/// Which page is asked for.
#[derive(Clone, Debug, Default)]
pub struct PageInput {
    /// How many items; the default of the list when absent.
    pub limit: Option<usize>,
    /// The cursor of the page before.
    pub after: Option<Cursor>,
}

impl PageInput {
    /// The first page, of the default size.
    pub fn first() -> Self {
        Self::default()
    }

    /// The number of items, checked.
    pub fn size(&self) -> Result<usize, Failure> {
        self.size_or(PAGE_ITEMS)
    }

    /// The number of items, checked, for a list with another default.
    pub fn size_or(&self, default: usize) -> Result<usize, Failure> {
        match self.limit.unwrap_or(default) {
            size @ 1..=PAGE_ITEMS_MAX => Ok(size),
            size => Err(Failure::bad("limit", Misfit::new("1 to 100", size))),
        }
    }
}

/// A page of what a viewer may see. It may be short, or empty, and yet not be the last one: only `next`
/// tells.
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// The items, each with the cursor that continues after it.
    pub items: Vec<(T, Cursor)>,
    /// Where the next page starts; `None` when there is none.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// The items alone.
    pub fn into_items(self) -> Vec<T> {
        self.items.into_iter().map(|(item, _)| item).collect()
    }

    /// The same page of something else.
    pub fn map<U>(self, change: impl Fn(T) -> U) -> Page<U> {
        let items = self.items.into_iter().map(|(item, cursor)| (change(item), cursor)).collect();
        Page { items, next: self.next }
    }
}

/// Reads on until the page is full, the list ends, or too much has been looked at. `read` reads some of the list, `see` keeps what the
/// viewer may see of it, in order, in as few reads as it can.
// Not `AsyncFn`: nobody could tell that its futures are `Send`, and a server needs them to be.
pub(crate) async fn fill<E, T, F, Found, Seen>(
    page: &PageInput,
    read: impl Fn(usize, Option<Cursor>) -> Found,
    see: impl Fn(Vec<E>) -> Seen,
) -> Result<Page<T>, F>
where
    E: Entity,
    F: From<Failure>,
    Found: Future<Output = roundtable_model::Result<Read<E>>>,
    Seen: Future<Output = Result<Vec<Option<T>>, F>>,
{
    let wanted = page.size()?;
    let (mut items, mut after) = (Vec::with_capacity(wanted), page.after.clone());
    // One more than a page, to know whether another one follows.
    let (mut at_once, mut looked) = (wanted + 1, 0);
    loop {
        let found = read(at_once, after.take()).await.map_err(Failure::from)?;
        looked += found.items.len();
        let cursors: Vec<Cursor> = found.items.iter().map(|item| found.cursor(item)).collect();
        let next = found.next;
        for (seen, cursor) in see(found.items).await?.into_iter().zip(cursors) {
            items.extend(seen.map(|item| (item, cursor)));
        }
        if items.len() > wanted {
            items.truncate(wanted);
            let next = items.last().map(|(_, cursor)| cursor.clone());
            return Ok(Page { items, next });
        }
        if next.is_none() || looked >= LOOKED_ITEMS_MAX {
            return Ok(Page { items, next });
        }
        (after, at_once) = (next, (at_once * 2).min(READ_ITEMS_MAX));
    }
}
