//! Checks that all subjects and queries list the same activities.

use anyhow::{Context, Result, ensure};
use roundtable_domain::Caller;
use roundtable_model::{ActivityId, Time};

use super::timing::PageTimer;
use super::{FAR, FeedPosition, Reader};
use crate::feed::PAGE;
use crate::feed::ours::{self, Ours};
use crate::feed::postgres::{Entry, FeedQuery, PagePosition, Postgres};
use crate::feed::town::Town;

/// Compares the first 20 pages of a reader in ours and in Postgres.
pub(super) fn reader(
    town: &Town,
    ours: &Ours,
    postgres: Option<&Postgres>,
    number: usize,
) -> Result<Reader> {
    let caller = Caller::user(town.person(number).id.clone());
    let mut reader = Reader { number, caller, far: None };
    let mut after: Option<FeedPosition> = None;
    for page in 1..=FAR {
        let found =
            ours.page(&reader.caller, PAGE, after.as_ref().map(|position| &position.cursor))?;
        let listed = ours::ids(&found);
        let page_name = || format!("page {page} of reader {number}");
        if let Some(postgres) = postgres {
            let page_position = after.as_ref().map(|position| position.page_position);
            // All queries on measured pages; one of them on pages in between.
            let queries =
                if page == 1 || page == FAR { &FeedQuery::ALL[..] } else { &FeedQuery::ALL[..1] };
            for query in queries {
                let theirs = postgres.page(*query, number, page_position)?;
                same(town, &listed, &theirs)
                    .with_context(|| format!("{}, {}", page_name(), query.name()))?;
            }
        }
        if page == FAR && listed.len() == PAGE {
            reader.far = after.take();
        }
        let (Some(cursor), Some((at, id))) = (found.next, listed.last()) else { break };
        ensure!(
            listed.len() == PAGE,
            "{} has {} entries, and another follows",
            page_name(),
            listed.len()
        );
        after = Some(FeedPosition { cursor, page_position: page_position(town, *at, id)? });
    }
    Ok(reader)
}

/// Compares one page of all queries.
pub(super) fn same_page(
    town: &Town,
    timing: &PageTimer<'_>,
    reader: &Reader,
    after: Option<&FeedPosition>,
) -> Result<()> {
    let Some(postgres) = timing.postgres else { return Ok(()) };
    let found = timing.ours.page(&reader.caller, PAGE, after.map(|position| &position.cursor))?;
    for query in FeedQuery::ALL {
        let theirs =
            postgres.page(query, reader.number, after.map(|position| position.page_position))?;
        same(town, &ours::ids(&found), &theirs)
            .with_context(|| format!("a page of reader {}, {}", reader.number, query.name()))?;
    }
    Ok(())
}

/// Returns the time and number of an activity.
pub(super) fn page_position(town: &Town, at: Time, id: &ActivityId) -> Result<PagePosition> {
    let number = town
        .activities
        .binary_search_by(|activity| (activity.at_ms, &activity.id).cmp(&(at.ms(), id)))
        .ok()
        .with_context(|| format!("there is no activity {id}"))?;
    Ok((i64::try_from(at.ms())?, i64::try_from(number)?))
}

fn same(town: &Town, ours: &[(Time, ActivityId)], theirs: &[Entry]) -> Result<()> {
    let mut places = ours.iter().map(|(at, id)| page_position(town, *at, id));
    let ours = places.by_ref().collect::<Result<Vec<PagePosition>>>()?;
    let theirs: Vec<PagePosition> = theirs.iter().map(Entry::page_position).collect();
    let differ = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    let differ = differ.or((ours.len() != theirs.len()).then(|| ours.len().min(theirs.len())));
    ensure!(
        differ.is_none(),
        "pages differ from entry {}: ours goes on with {:?}, Postgres with {:?}",
        differ.unwrap_or_default(),
        ours.get(differ.unwrap_or_default()),
        theirs.get(differ.unwrap_or_default())
    );
    Ok(())
}
