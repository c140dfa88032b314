//! Removes the activities about deleted entities, in every place they were posted.

use roundtable_domain::Context;
use roundtable_model::entities::Activity;
use roundtable_model::table::Key;
use roundtable_model::{ActorId, Cursor, Entity, ObjectType, Span, SubjectId, Time, UserId};
use serde::{Deserialize, Serialize};

use super::sweep::{PAGE_ITEMS, remove};
use crate::jobs::PageOutcome;
use crate::{ProcessingError, Result};

/// The position in a scan of a user's activities.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ActivityScan {
    /// The user's own activities, or those of a group.
    home: ActorId,
    /// At those that enter no home feed, which come second.
    #[serde(default)]
    is_apart: bool,
    after: Option<String>,
    /// There may be further groups, after the cursor `group`.
    has_more: bool,
    group: Option<String>,
}

/// Removes a page of a user's activities about some entities since some time: from their own
/// activities, and from those of the groups they are in. The cursor is the position of the scan.
pub(crate) async fn remove_activities_about(
    context: &Context,
    owner: &UserId,
    about: &[(ObjectType, SubjectId)],
    since: Time,
    cursor: Option<&str>,
) -> Result<PageOutcome> {
    // An unreadable cursor starts over: activities already removed do no harm.
    let scan = cursor.and_then(|cursor| serde_json::from_str(cursor).ok());
    let scan = scan.unwrap_or_else(|| ActivityScan::starting_at(owner));
    let after: Option<Cursor> = scan.after.as_deref().map(str::parse).transpose()?;
    let (found, next) = scan.page(context, since, after).await?;
    let matching = found.into_iter().filter(|(activity, _)| {
        let object = (activity.object_type, &activity.object_id);
        activity.actor_id == *owner && about.iter().any(|(kind, id)| (*kind, id) == object)
    });
    remove(context, matching.map(|(_, key)| key).collect()).await?;
    let next = match next {
        Some(next) => Some(ActivityScan { after: Some(next.to_string()), ..scan }),
        None if !scan.is_apart => Some(ActivityScan { is_apart: true, after: None, ..scan }),
        None => scan.next_home(context, owner).await?,
    };
    let next = next.map(|scan| serde_json::to_string(&scan)).transpose();
    let next = next.map_err(|error| ProcessingError::unprocessable(error.to_string()))?;
    Ok(next.map_or(PageOutcome::Done, PageOutcome::Continue))
}

impl ActivityScan {
    fn starting_at(owner: &UserId) -> Self {
        Self { home: owner.into(), is_apart: false, after: None, has_more: true, group: None }
    }

    /// Reads a page of activities with their keys. Also returns where it continues.
    async fn page(
        &self,
        context: &Context,
        since: Time,
        after: Option<Cursor>,
    ) -> Result<(Vec<(Activity, Key)>, Option<Cursor>)> {
        let (core, since) = (context.core(), Span::since(since));
        if self.is_apart {
            let listing = core.profile_activities_of(&self.home, since).strong();
            let page = listing.limit(PAGE_ITEMS).after(after).page().await?;
            let found = page.items.into_iter().map(|activity| {
                let key = activity.key().into();
                (activity.into(), key)
            });
            return Ok((found.collect(), page.next));
        }
        let listing = core.activities_of(&self.home, since).strong();
        let page = listing.limit(PAGE_ITEMS).after(after).page().await?;
        let found = page.items.into_iter().map(|activity| {
            let key = activity.key().into();
            (activity, key)
        });
        Ok((found.collect(), page.next))
    }

    /// Returns the position at the next group of the user.
    async fn next_home(self, context: &Context, owner: &UserId) -> Result<Option<Self>> {
        if !self.has_more {
            return Ok(None);
        }
        let after: Option<Cursor> = self.group.as_deref().map(str::parse).transpose()?;
        let groups = context.core().groups_of(owner).limit(1).after(after).page().await?;
        let (has_more, group) = (groups.next.is_some(), groups.next.map(|next| next.to_string()));
        let member = groups.items.into_iter().next();
        let home = member.map(|member| ActorId::from(member.group_id));
        Ok(home.map(|home| Self { home, is_apart: false, after: None, has_more, group }))
    }
}
