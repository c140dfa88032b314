//! Rows about notifications: each user sees only their own.

use futures::FutureExt;
use roundtable_domain::{
    Caller, LiveBus, LiveSource as _, NotificationError, NotificationView, Notifications,
};
use roundtable_model::Span;
use roundtable_testkit::Town;
use tokio::task::unconstrained;

use super::operations::{Answer, lists, page, shows};
use super::user_actions::person;

/// Like the main table. Ana has notifications about followers.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

notification             | notifications.list notifications.next notifications.by_ids          | -    ok   no   no   no   no   no   no   no   no   403
notification             | notifications.mark_one_read                                          | -    ok   404  404  404  404  404  404  404  404  403
notification             | notifications.unread notifications.mark_read notifications.live      | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
notification             | notifications.preferences notifications.update_preferences           | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
";

pub(crate) async fn answer(
    town: &Town,
    operation: &str,
    object: &str,
    viewer: Option<&Caller>,
) -> Answer {
    let Some(caller) = viewer else { return "-" };
    let service = Notifications::new(town.context().clone());
    let bus = town.new_bus();
    let owner = person(object);
    let is = |notice: &NotificationView| notice.notification.user_id == owner;
    match operation {
        "notifications.list" => lists(service.list(caller, &page()).await, is),
        "notifications.by_ids" => {
            let notes = town.context().core().notifications(&owner, Span::ALL).all().await.unwrap();
            let ids: Vec<_> = notes.into_iter().map(|note| note.id).collect();
            let found = service.by_ids(caller, &ids).await;
            shows(found, |found| found.iter().flatten().any(is))
        }
        "notifications.unread" => shows(service.unread(caller).await, |_| true),
        "notifications.mark_read" => {
            let marked = service.mark_read(caller, town.now().plus_ms(1), None).await;
            shows(marked, |_| true)
        }
        "notifications.mark_one_read" => {
            let notes = town.context().core().notifications(&owner, Span::ALL).all().await.unwrap();
            shows(service.mark_one_read(caller, &notes[0].id, None).await, |notice| is(&notice))
        }
        "notifications.preferences" => shows(service.preferences(caller).await, |_| true),
        "notifications.update_preferences" => {
            shows(service.update_preferences(caller, &[], None).await, |_| true)
        }
        "notifications.live" => shows(service.live(&bus, caller, None).await, |_| true),
        "notifications.next" => {
            shows(heard(&service, &bus, caller).await, |all| all.iter().any(is))
        }
        other => panic!("no row handler for {other} of {object}"),
    }
}

/// Reads the live notifications from the beginning.
async fn heard(
    service: &Notifications,
    bus: &LiveBus,
    caller: &Caller,
) -> Result<Vec<NotificationView>, NotificationError> {
    let beginning = "00000000000000000000000000".parse().unwrap();
    let mut live = service.live(bus, caller, Some(&beginning)).await?;
    let mut all = Vec::new();
    while let Some(notice) = unconstrained(live.next()).now_or_never() {
        all.push(notice?);
    }
    Ok(all)
}
