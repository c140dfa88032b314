//! Mutations of notifications.

use roundtable_domain::{Caller, Code, NotificationPreference, Notifications};
use roundtable_model::{NotificationId, NotificationKind, RequestId};
use roundtable_testkit::{ActionOutcome, Town};

use crate::mutations::{Mutation, reduce};
use crate::stage::Stage;

/// Later than all notifications: consecutive commits run ahead of the clock.
const HOUR_MS: u64 = 60 * 60 * 1000;

pub(crate) async fn mark_read(
    town: &Town,
    caller: &Caller,
    request: Option<&RequestId>,
) -> Result<ActionOutcome, Code> {
    let notifications = Notifications::new(town.context().clone());
    reduce(notifications.mark_read(caller, town.now().plus_ms(HOUR_MS), request).await)
}

pub(crate) async fn mark_one_read(
    town: &Town,
    caller: &Caller,
    id: &NotificationId,
    request: Option<&RequestId>,
) -> Result<ActionOutcome, Code> {
    let notifications = Notifications::new(town.context().clone());
    reduce(notifications.mark_one_read(caller, id, request).await)
}

pub(crate) async fn switch_off(
    town: &Town,
    caller: &Caller,
    request: Option<&RequestId>,
) -> Result<ActionOutcome, Code> {
    let notifications = Notifications::new(town.context().clone());
    let off = NotificationPreference { kind: NotificationKind::Like, is_enabled: false };
    reduce(notifications.update_preferences(caller, &[off], request).await)
}

pub(crate) async fn is_read(town: &Town, caller: &Caller, what: &str) {
    let notifications = Notifications::new(town.context().clone());
    let rows = town.rows(&format!("NOTIF#{}", caller.user_id), "").await;
    assert!(rows.len() > 2, "{what}: {rows:?}");
    assert_eq!(notifications.unread(caller).await.unwrap(), 0, "{what}");
}

pub(crate) fn notification_mutations(stage: &Stage, town: &Town) -> Vec<Mutation> {
    let ana = || town.caller("ana");
    vec![
        Mutation::MarkRead(ana()),
        Mutation::MarkOneRead(ana(), stage.notification.clone()),
        Mutation::SwitchOff(ana()),
    ]
}
