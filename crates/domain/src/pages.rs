//! Pages filtered by visibility. A page is filled up although hidden items drop out, within a limit
//! on items read.

use futures::TryFutureExt;
use roundtable_model::{Cursor, Entity, EntityPage, InvalidValue, MergedPage};

use crate::ServiceError;

pub const PAGE_ITEMS: usize = 20;
pub const PAGE_ITEMS_MAX: usize = 100;
const READ_ITEMS_MAX: usize = 200;
/// Items read for one page. A viewer who may see almost nothing must not read a whole list: at this
/// limit the page ends, full or not.
const SCANNED_ITEMS_MAX: usize = 2_000;

/// A request for one page.
#[derive(Clone, Debug, Default)]
pub struct PageInput {
    /// The number of items; the list's default when absent.
    pub limit: Option<usize>,
    /// The cursor of the previous page.
    pub after: Option<Cursor>,
}

impl PageInput {
    pub fn first() -> Self {
        Self::default()
    }

    /// The checked number of items.
    pub fn size(&self) -> Result<usize, ServiceError> {
        self.size_or(PAGE_ITEMS)
    }

    /// The checked number of items, for a list with its own default.
    pub fn size_or(&self, default: usize) -> Result<usize, ServiceError> {
        match self.limit.unwrap_or(default) {
            size @ 1..=PAGE_ITEMS_MAX => Ok(size),
            size => Err(ServiceError::bad_input("limit", InvalidValue::new("1 to 100", size))),
        }
    }
}

/// A page of items the viewer may see. It may be short or even empty without being the last one:
/// only `next` tells.
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// The items, each with the cursor that continues after it.
    pub items: Vec<(T, Cursor)>,
    /// The start of the next page; `None` on the last page.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    pub fn into_items(self) -> Vec<T> {
        self.items.into_iter().map(|(item, _)| item).collect()
    }

    pub fn map<U>(self, change: impl Fn(T) -> U) -> Page<U> {
        let items = self.items.into_iter().map(|(item, cursor)| (change(item), cursor)).collect();
        Page { items, next: self.next }
    }
}

/// Reads until the page is full, the list ends, or the limit on items read is reached. `read` reads
/// some of the list; `filter_visible` maps each item to what the viewer may see of it, in order.
// Not `AsyncFn`: its futures could not be proven `Send`, which a server needs.
pub(crate) async fn fill_page<E, T, F, Reading, Filtering>(
    page: &PageInput,
    read: impl Fn(usize, Option<Cursor>) -> Reading,
    filter_visible: impl Fn(Vec<E>) -> Filtering,
) -> Result<Page<T>, F>
where
    E: Entity,
    F: From<ServiceError>,
    Reading: Future<Output = roundtable_model::Result<EntityPage<E>>>,
    Filtering: Future<Output = Result<Vec<Option<T>>, F>>,
{
    let with_cursors = |found: EntityPage<E>| {
        let cursors: Vec<Cursor> = found.items.iter().map(|item| found.cursor(item)).collect();
        MergedPage { entries: found.items.into_iter().zip(cursors).collect(), next: found.next }
    };
    let read = |limit, after| read(limit, after).map_ok(with_cursors);
    fill(page, READ_ITEMS_MAX, read, filter_visible).await
}

/// As [`fill_page`], for a list that merges several.
pub(crate) async fn fill_merged_page<E, T, F, Reading, Filtering>(
    page: &PageInput,
    read: impl Fn(usize, Option<Cursor>) -> Reading,
    filter_visible: impl Fn(Vec<E>) -> Filtering,
) -> Result<Page<T>, F>
where
    F: From<ServiceError>,
    Reading: Future<Output = roundtable_model::Result<MergedPage<E>>>,
    Filtering: Future<Output = Result<Vec<Option<T>>, F>>,
{
    fill(page, PAGE_ITEMS_MAX, read, filter_visible).await
}

async fn fill<E, T, F, Reading, Filtering>(
    page: &PageInput,
    read_max: usize,
    read: impl Fn(usize, Option<Cursor>) -> Reading,
    filter_visible: impl Fn(Vec<E>) -> Filtering,
) -> Result<Page<T>, F>
where
    F: From<ServiceError>,
    Reading: Future<Output = roundtable_model::Result<MergedPage<E>>>,
    Filtering: Future<Output = Result<Vec<Option<T>>, F>>,
{
    let wanted = page.size()?;
    let (mut items, mut after) = (Vec::with_capacity(wanted), page.after.clone());
    // One more than a page, to know whether another page follows.
    let (mut read_limit, mut scanned) = ((wanted + 1).min(read_max), 0);
    loop {
        let found = read(read_limit, after.take()).await.map_err(ServiceError::from)?;
        scanned += found.entries.len();
        let next = found.next;
        let (found, cursors): (Vec<E>, Vec<Cursor>) = found.entries.into_iter().unzip();
        for (visible, cursor) in filter_visible(found).await?.into_iter().zip(cursors) {
            items.extend(visible.map(|item| (item, cursor)));
        }
        if items.len() > wanted {
            items.truncate(wanted);
            let next = items.last().map(|(_, cursor)| cursor.clone());
            return Ok(Page { items, next });
        }
        if next.is_none() || scanned >= SCANNED_ITEMS_MAX {
            return Ok(Page { items, next });
        }
        (after, read_limit) = (next, (read_limit * 2).min(read_max));
    }
}
