//! That every subject, in every way it can be asked, lists the same activities.

use anyhow::{Context, Result, ensure};
use roundtable_domain::Caller;
use roundtable_model::{ActivityId, Time};

use super::turns::Turns;
use super::{FAR, Reader, Spot};
use crate::feed::PAGE;
use crate::feed::ours::{self, Ours};
use crate::feed::postgres::{Entry, Place, Postgres, Way};
use crate::feed::town::Town;

/// Reads the first 20 pages of somebody, as ours and Postgres list them.
pub(super) fn reader(
    town: &Town,
    ours: &Ours,
    postgres: Option<&Postgres>,
    number: usize,
) -> Result<Reader> {
    let caller = Caller::user(town.person(number).id.clone());
    let mut reader = Reader { number, caller, far: None };
    let mut after: Option<Spot> = None;
    for page in 1..=FAR {
        let found = ours.page(&reader.caller, PAGE, after.as_ref().map(|spot| &spot.cursor))?;
        let listed = ours::ids(&found);
        let told = || format!("page {page} of reader {number}");
        if let Some(postgres) = postgres {
            let place = after.as_ref().map(|spot| spot.place);
            // Every way where it is measured; one of them in between.
            let ways = if page == 1 || page == FAR { &Way::ALL[..] } else { &Way::ALL[..1] };
            for way in ways {
                let theirs = postgres.page(*way, number, place)?;
                same(town, &listed, &theirs)
                    .with_context(|| format!("{}, {}", told(), way.name()))?;
            }
        }
        if page == FAR && listed.len() == PAGE {
            reader.far = after.take();
        }
        let (Some(cursor), Some((at, id))) = (found.next, listed.last()) else { break };
        ensure!(
            listed.len() == PAGE,
            "{} has {} entries, and another follows",
            told(),
            listed.len()
        );
        after = Some(Spot { cursor, place: place(town, *at, id)? });
    }
    Ok(reader)
}

/// That one page is the same in every way.
pub(super) fn same_page(
    town: &Town,
    turns: &Turns<'_>,
    reader: &Reader,
    after: Option<&Spot>,
) -> Result<()> {
    let Some(postgres) = turns.postgres else { return Ok(()) };
    let found = turns.ours.page(&reader.caller, PAGE, after.map(|spot| &spot.cursor))?;
    for way in Way::ALL {
        let theirs = postgres.page(way, reader.number, after.map(|spot| spot.place))?;
        same(town, &ours::ids(&found), &theirs)
            .with_context(|| format!("a page of reader {}, {}", reader.number, way.name()))?;
    }
    Ok(())
}

/// The time and number of an activity.
pub(super) fn place(town: &Town, at: Time, id: &ActivityId) -> Result<Place> {
    let number = town
        .told
        .binary_search_by(|told| (told.at_ms, &told.id).cmp(&(at.ms(), id)))
        .ok()
        .with_context(|| format!("there is no activity {id}"))?;
    Ok((i64::try_from(at.ms())?, i64::try_from(number)?))
}

fn same(town: &Town, ours: &[(Time, ActivityId)], theirs: &[Entry]) -> Result<()> {
    let mut places = ours.iter().map(|(at, id)| place(town, *at, id));
    let ours = places.by_ref().collect::<Result<Vec<Place>>>()?;
    let theirs: Vec<Place> = theirs.iter().map(Entry::place).collect();
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
