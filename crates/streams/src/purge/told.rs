//! What was told of something that is gone: the activities about it.

use roundtable_domain::Ground;
use roundtable_model::{ActorId, Cursor, Entity, ObjectType, Span, SubjectId, Time};

use super::sweep::{PAGE_ITEMS, remove};
use crate::Failure;
use crate::jobs::Next;

/// Takes away, page by page, what an actor has done with something since some time. The cursor is where
/// the walk through the actor's activities is.
pub(crate) async fn remove_told(
    ground: &Ground,
    actor: &ActorId,
    about: &(ObjectType, SubjectId),
    since: Time,
    cursor: Option<&str>,
) -> Result<Next, Failure> {
    let after: Option<Cursor> = cursor.map(str::parse).transpose()?;
    let listing = ground.core().activities_of(actor, Span::since(since)).strong();
    let page = listing.limit(PAGE_ITEMS).after(after).page().await?;
    let (kind, id) = about;
    let told = page.items.iter();
    let told = told.filter(|it| it.object_type == *kind && it.object_id == *id);
    remove(ground, told.map(|activity| activity.key().into()).collect()).await?;
    Ok(page.next.map_or(Next::Done, |next| Next::Page(next.to_string())))
}
