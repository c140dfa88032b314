//! What was told of something that is gone: the activities about it, wherever they were posted.

use roundtable_domain::Ground;
use roundtable_model::{ActorId, Cursor, Entity, ObjectType, Span, SubjectId, Time, UserId};
use serde::{Deserialize, Serialize};

use super::sweep::{PAGE_ITEMS, remove};
use crate::Failure;
use crate::jobs::Next;

/// Where a walk through what somebody has told is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Walk {
    /// Their own activities, or those of a group.
    home: ActorId,
    after: Option<String>,
    /// Whether there may be further groups, and after which.
    has_more: bool,
    group: Option<String>,
}

/// Takes away, page by page, what somebody has told of some things since some time: in their own
/// activities, and in those of the groups they are in. The cursor is where the walk is.
pub(crate) async fn remove_told(
    ground: &Ground,
    owner: &UserId,
    about: &[(ObjectType, SubjectId)],
    since: Time,
    cursor: Option<&str>,
) -> Result<Next, Failure> {
    // One that nobody can read begins anew: what has gone already does no harm.
    let walk = cursor.and_then(|cursor| serde_json::from_str(cursor).ok());
    let walk = walk.unwrap_or_else(|| Walk::of(owner));
    let after: Option<Cursor> = walk.after.as_deref().map(str::parse).transpose()?;
    let listing = ground.core().activities_of(&walk.home, Span::since(since)).strong();
    let page = listing.limit(PAGE_ITEMS).after(after).page().await?;
    let told = page.items.iter().filter(|it| {
        let object = (it.object_type, &it.object_id);
        it.actor_id == *owner && about.iter().any(|(kind, id)| (*kind, id) == object)
    });
    remove(ground, told.map(|activity| activity.key().into()).collect()).await?;
    let next = match page.next {
        Some(next) => Some(Walk { after: Some(next.to_string()), ..walk }),
        None => walk.next_home(ground, owner).await?,
    };
    let next = next.map(|walk| serde_json::to_string(&walk)).transpose();
    let next = next.map_err(|error| Failure::broken(error.to_string()))?;
    Ok(next.map_or(Next::Done, Next::Page))
}

impl Walk {
    fn of(owner: &UserId) -> Self {
        Self { home: owner.into(), after: None, has_more: true, group: None }
    }

    /// Where it goes on: in the next group that somebody is in.
    async fn next_home(self, ground: &Ground, owner: &UserId) -> Result<Option<Self>, Failure> {
        if !self.has_more {
            return Ok(None);
        }
        let after: Option<Cursor> = self.group.as_deref().map(str::parse).transpose()?;
        let groups = ground.core().groups_of(owner).limit(1).after(after).page().await?;
        let (has_more, group) = (groups.next.is_some(), groups.next.map(|next| next.to_string()));
        let member = groups.items.into_iter().next();
        Ok(member.map(|it| Self { home: it.group_id.into(), after: None, has_more, group }))
    }
}
