//! What people do with what they were told.

use roundtable_domain::{Caller, Code, Notifications};
use roundtable_model::RequestId;
use roundtable_testkit::{Done, Town};

use crate::deeds::{Deed, told};
use crate::stage::Stage;

/// Later than everything: what commits one after the other is ahead of the clock.
const HOUR_MS: u64 = 60 * 60 * 1000;

/// Marks everything as read.
pub(crate) async fn mark_read(
    town: &Town,
    caller: &Caller,
    request: Option<&RequestId>,
) -> Result<Done, Code> {
    let notifications = Notifications::new(town.ground().clone());
    told(notifications.mark_read(caller, town.now().plus_ms(HOUR_MS), request).await)
}

/// Everything is read that there was.
pub(crate) async fn is_read(town: &Town, caller: &Caller, what: &str) {
    let notifications = Notifications::new(town.ground().clone());
    let rows = town.rows(&format!("NOTIF#{}", caller.user_id), "").await;
    assert!(rows.len() > 2, "{what}: {rows:?}");
    assert_eq!(notifications.unread(caller).await.unwrap(), 0, "{what}");
}

/// What people do with what they were told.
pub(crate) fn with_notifications(_: &Stage, town: &Town) -> Vec<Deed> {
    vec![Deed::MarkRead(town.caller("ana"))]
}
