//! Notifications of many users about one fact, a page of users at a time.

use std::collections::BTreeMap;

use futures::future::try_join_all;
use roundtable_domain::{Cause, Context, Notifications};
use roundtable_model::Entity;
use roundtable_model::entities::Notification;
use roundtable_model::table::Transaction;

use crate::Result;
use crate::reads::read_all;

/// Recipients in one transaction.
pub(crate) const RECIPIENTS_AT_ONCE: usize = 25;

/// Creates the notifications of causes with different recipients, as far as these may be notified and
/// have not been.
pub(crate) async fn notify_each(
    context: &Context,
    notifications: &Notifications,
    causes: Vec<Cause>,
) -> Result<()> {
    let wanted = causes.into_iter().map(async |cause| {
        let notification = cause.notification(context)?;
        let allowed = notifications.may_notify(&cause.user, std::slice::from_ref(&cause)).await?;
        let is_wanted = allowed.contains(&true) && notification.ttl.time() > context.now();
        Ok::<_, crate::ProcessingError>(is_wanted.then_some(notification))
    });
    let wanted: Vec<Notification> = try_join_all(wanted).await?.into_iter().flatten().collect();
    let table = context.core().table();
    let keys: BTreeMap<_, _> = wanted.iter().map(|one| (one.key().into_key(), one.key())).collect();
    let existing = read_all(table, keys).await?;
    let new = wanted.iter().filter(|one| !existing.contains_key(&one.key().into_key()));
    let transaction = new.fold(Transaction::new(), |writes, one| writes.with(table, one.create()));
    if !transaction.writes.is_empty() {
        context.store().transact(transaction).await?;
    }
    Ok(())
}
