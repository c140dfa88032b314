//! Notifications about single facts: each exists while its fact wants it.

use std::collections::{BTreeMap, HashMap};

use futures::future::try_join_all;
use roundtable_domain::Cause;
use roundtable_model::entities::{
    ApiKey, AssistMsg, AssistThread, Comment, Device, Follow, GroupMember, Identity,
    ModerationCase, Notification, Post, Quest, Task,
};
use roundtable_model::table::{Change, Key};
use roundtable_model::{Entity, EntityKey, NotificationKind, UserId};

use super::pending::{NotificationSource, PendingNotification};
use super::recipients::RecipientLookup;
use super::{NotificationKey, NotificationWriter, entity_key, notification_key};
use crate::Result;
use crate::processor::{Effects, Images, entity_type};
use crate::reads::read_all;

/// A notification to create, or to delete.
#[derive(Debug)]
struct NotificationCandidate {
    notification: Notification,
    cause: Cause,
    is_wanted: bool,
}

impl NotificationWriter {
    pub(super) async fn write_singles(
        &self,
        changes: &[Change],
        effects: &mut Effects,
    ) -> Result<()> {
        let mut pending = Vec::new();
        self.collect_pending::<Follow>(changes, &mut pending).await?;
        self.collect_pending::<Comment>(changes, &mut pending).await?;
        self.collect_pending::<Post>(changes, &mut pending).await?;
        self.collect_pending::<GroupMember>(changes, &mut pending).await?;
        self.collect_pending::<Quest>(changes, &mut pending).await?;
        self.collect_pending::<ModerationCase>(changes, &mut pending).await?;
        self.collect_pending::<Task>(changes, &mut pending).await?;
        self.collect_pending::<ApiKey>(changes, &mut pending).await?;
        self.collect_pending::<Identity>(changes, &mut pending).await?;
        self.collect_pending::<Device>(changes, &mut pending).await?;
        self.collect_pending::<AssistThread>(changes, &mut pending).await?;
        self.collect_pending::<AssistMsg>(changes, &mut pending).await?;
        if pending.is_empty() {
            return Ok(());
        }
        let recipients = RecipientLookup::load(
            &self.context,
            changes,
            pending.iter().map(|(notification, _)| notification),
        )
        .await?;
        let mut by_key: BTreeMap<NotificationKey, NotificationCandidate> = BTreeMap::new();
        for (notification, is_wanted) in &pending {
            for cause in recipients.causes(notification, *is_wanted) {
                let (notification, is_wanted) = (cause.notification(&self.context)?, *is_wanted);
                let candidate = NotificationCandidate { cause, is_wanted, notification };
                let entry =
                    by_key.entry(notification_key(&candidate.notification)).or_insert(candidate);
                entry.is_wanted |= is_wanted;
            }
        }
        let core = self.context.core().table();
        let existing =
            read_all(core, by_key.keys().map(|key| (key.clone(), entity_key(key)))).await?;
        let mut new: BTreeMap<UserId, Vec<NotificationCandidate>> = BTreeMap::new();
        for (key, candidate) in by_key {
            match (candidate.is_wanted, existing.contains_key(&key)) {
                (false, true) => effects.write(core, entity_key(&key).delete()),
                (true, false) if candidate.notification.kind == NotificationKind::Reminder => {
                    self.enqueue_reminder(&candidate.cause, effects)?;
                }
                (true, false) if !self.is_expired(&candidate.notification) => {
                    new.entry(key.0).or_default().push(candidate);
                }
                _ => {}
            }
        }
        let allowed = new.into_iter().map(|(user, candidates)| self.allowed(user, candidates));
        for notification in try_join_all(allowed).await?.into_iter().flatten() {
            effects.write(core, notification.create());
        }
        Ok(())
    }

    /// Returns the notifications that one user may receive.
    async fn allowed(
        &self,
        user: UserId,
        candidates: Vec<NotificationCandidate>,
    ) -> Result<Vec<Notification>> {
        let (causes, notes): (Vec<Cause>, Vec<Notification>) = candidates
            .into_iter()
            .map(|candidate| (candidate.cause, candidate.notification))
            .unzip();
        let allowed = self.notifications.may_notify(&user, &causes).await?;
        Ok(notes
            .into_iter()
            .zip(allowed)
            .filter(|(_, is)| *is)
            .map(|(notification, _)| notification)
            .collect())
    }

    /// Collects the notifications that changes of one entity add or end, each with whether the
    /// current fact still wants it.
    async fn collect_pending<F: NotificationSource>(
        &self,
        changes: &[Change],
        pending: &mut Vec<(PendingNotification, bool)>,
    ) -> Result<()> {
        let lead_ms = self.lead_ms();
        let mut touched: HashMap<Key, (EntityKey<F>, Vec<PendingNotification>)> = HashMap::new();
        for change in changes.iter().filter(|change| entity_type(change) == Some(F::SHAPE.name)) {
            let Images { old, new } = Images::<F>::of(change)?;
            let before =
                old.as_ref().map(|old| old.pending_notifications(lead_ms)).unwrap_or_default();
            let is_news =
                |kind| new.as_ref().is_some_and(|new| F::is_news(old.as_ref(), new, kind));
            let after =
                new.as_ref().map(|new| new.pending_notifications(lead_ms)).unwrap_or_default();
            let ended = before.iter().filter(|notification| !after.contains(notification));
            let ended = ended.filter(|_| !F::IS_LASTING);
            let added = after.iter().filter(|one| is_news(one.kind) && !before.contains(one));
            let added = added.map(|notification| {
                let mentioned_at = new
                    .as_ref()
                    .and_then(|new| new.mentioned_at(old.as_ref(), &notification.recipient));
                PendingNotification { mentioned_at, ..notification.clone() }
            });
            let affected: Vec<PendingNotification> = ended.cloned().chain(added).collect();
            if let Some(fact) = new.as_ref().or(old.as_ref()).filter(|_| !affected.is_empty()) {
                let key = fact.key();
                let entry = touched.entry(key.clone().into_key());
                entry.or_insert_with(|| (key, Vec::new())).1.extend(affected);
            }
        }
        let keys = touched.iter().map(|(key, (typed_key, _))| (key.clone(), typed_key.clone()));
        let facts = read_all(self.context.core().table(), keys).await?;
        for (key, (_, affected)) in touched {
            let current =
                facts.get(&key).map(|fact| fact.pending_notifications(lead_ms)).unwrap_or_default();
            pending.extend(affected.into_iter().map(|notification| {
                let is_wanted = F::IS_LASTING
                    || current.iter().any(|one| one.is_same_notification(&notification));
                (notification, is_wanted)
            }));
        }
        Ok(())
    }
}
