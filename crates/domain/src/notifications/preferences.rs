//! The kinds of notifications that a user has switched off. Notifications of such a kind are neither
//! written nor shown; those that are stored appear again when it is switched on.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::NotificationPreferences;
use roundtable_model::table::Write;
use roundtable_model::{Entity, InvalidValue, NotificationKind, RequestId, UserId};
use serde::Serialize;

use super::{NotificationError, Notifications};
use crate::access::{Permission, Relations, require};
use crate::{Caller, ServiceError};

/// Whether a user is notified of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NotificationPreference {
    pub kind: NotificationKind,
    pub is_enabled: bool,
}

#[boxed]
impl Notifications {
    /// Returns the caller's preference for every kind.
    pub async fn preferences(
        &self,
        caller: &Caller,
    ) -> Result<Vec<NotificationPreference>, NotificationError> {
        let me = self.context.authorize_read(caller).await?.id;
        Ok(listed(&self.kinds_off(&me).await?))
    }

    /// Switches kinds on or off; others stay as they are. Not with an API key, whose holder could hide
    /// that it was created.
    pub async fn update_preferences(
        &self,
        caller: &Caller,
        changes: &[NotificationPreference],
        request: Option<&RequestId>,
    ) -> Result<Vec<NotificationPreference>, NotificationError> {
        let mutation = self.context.mutation(caller).await?;
        check(changes)?;
        mutation
            .once("updateNotificationPreferences", &changes, request)?
            .replay(async |(): ()| self.preferences(caller).await)
            .run(async |me, attempt| {
                let relations = caller.relations_to(&me, &me.id) | Relations::OWNER;
                require(Permission::SetNotificationPreferences, relations)?;
                let before = self.context.core().notification_preferences(&me.id).get().await?;
                let mut off = before.as_ref().map(|before| before.off.clone()).unwrap_or_default();
                off.retain(|kind| !changes.iter().any(|change| change.kind == *kind));
                let switched_off = changes.iter().filter(|change| !change.is_enabled);
                off.extend(switched_off.map(|change| change.kind));
                off.sort_unstable();
                let answer = listed(&off);
                let (user_id, updated_at) = (me.id.clone(), self.context.now());
                let after = NotificationPreferences { user_id, off, updated_at };
                let write: Write = match before {
                    Some(before) => {
                        let unchanged = NotificationPreferences::OFF.is(&before.off);
                        after.put().when(unchanged).into()
                    }
                    None => after.create().into(),
                };
                attempt.commit().with("preferences", write).finish((), answer).await
            })
            .await
    }

    /// The kinds that a user has switched off.
    pub(super) async fn kinds_off(
        &self,
        user: &UserId,
    ) -> Result<Vec<NotificationKind>, ServiceError> {
        let found = self.context.core().notification_preferences(user).get().await?;
        Ok(found.map(|preferences| preferences.off).unwrap_or_default())
    }
}

fn listed(off: &[NotificationKind]) -> Vec<NotificationPreference> {
    let preference = |kind: &NotificationKind| NotificationPreference {
        kind: *kind,
        is_enabled: !off.contains(kind),
    };
    NotificationKind::ALL.iter().map(preference).collect()
}

fn check(changes: &[NotificationPreference]) -> Result<(), ServiceError> {
    let is_repeated = |(index, change): (usize, &NotificationPreference)| {
        changes.iter().skip(index + 1).any(|other| other.kind == change.kind)
    };
    if changes.iter().enumerate().any(is_repeated) {
        let invalid = InvalidValue::new("each kind once", "one of them twice");
        return Err(ServiceError::bad_input("preferences", invalid));
    }
    Ok(())
}
