//! Notifications (R38): listing, counting, marking as read, and live delivery. The processors of
//! `streams` write them; this service only decides whether they are read and still visible.
//!
//! The unread count is exact up to [`UNREAD_MAX`], and cheap. COUNTER#UNREAD, maintained from the
//! stream, says how many are stored unread (I1), but it is not the answer: a block, a mute or a
//! deletion hides notifications without changing them, and the stream may lag. So a page of the
//! newest notifications is always read, and more pages until as many unread ones were found as the
//! counter says; those that are visible count. Most are marked as read up to a time, so unread ones
//! are mostly the newest: about 300 bytes each, one read unit for some 13 of them, and never more than
//! [`SCANNED_MAX`]. Those that were marked after the counter was last written are taken off it; a page
//! that has some of them and nothing unread ends the scan.

mod cause;
mod collapsed;
mod eligibility;
mod list;
mod live;
mod log;
mod people;
mod preferences;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Notification;
use roundtable_model::{Entity, NotificationId, RequestId, Shards, Span, Time, UserCount, UserId};

pub use self::cause::{COLLAPSE_MS, Cause, CauseObject, collapse_hour, collapses};
pub use self::collapsed::LatestActor;
pub use self::live::LiveNotifications;
pub(crate) use self::log::NotificationLog;
pub use self::preferences::NotificationPreference;
use crate::commit::Commit;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::{Caller, Context, ServiceError, refusals};

/// Notifications marked per transaction, with space left for the request.
const MARK_BATCH: usize = 90;
/// Notifications read per batch to count unread ones.
const BATCH: usize = 200;
/// The highest count reported.
const UNREAD_MAX: u64 = 1_000;
/// Notifications read in total to count unread ones: 750 read units.
const SCANNED_MAX: usize = 10_000;

refusals! {
    NotificationError {
        NoSuchNotification: NotFound = "there is no such notification",
    }
}

#[derive(Clone, Debug)]
pub struct Notifications {
    context: Context,
}

/// A notification as its reader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationView {
    /// The notification. If it collapses many actors, it names the latest one the reader may hear of.
    pub notification: Notification,
    /// The number of actors so far, at any time.
    pub people: u64,
}

#[boxed]
impl Notifications {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Returns the notifications with these ids, in the same order; `None` for hidden ones. An id
    /// contains its time.
    pub async fn by_ids(
        &self,
        caller: &Caller,
        ids: &[NotificationId],
    ) -> Result<Vec<Option<NotificationView>>, NotificationError> {
        let me = self.context.authorize_read(caller).await?.id;
        let at = ids.iter().filter_map(|id| Some(Notification::at(&me, &id.time()?, id)));
        let notes =
            self.context.items_at("notifications", at).await?.into_iter().flatten().collect();
        let visible = self.views(&me, notes).await?.into_iter().flatten();
        let visible: HashMap<NotificationId, NotificationView> =
            visible.map(|view| (view.notification.id.clone(), view)).collect();
        Ok(ids.iter().map(|id| visible.get(id).cloned()).collect())
    }

    /// Counts the caller's unread notifications, up to a thousand.
    pub async fn unread(&self, caller: &Caller) -> Result<u64, NotificationError> {
        let me = self.context.authorize_read(caller).await?.id;
        let stored = self.context.core().counts(&me, &[UserCount::Unread], Shards::ONE);
        let stored = stored.strong().get().await?.into_iter().flatten().next();
        let counted_at = stored.as_ref().map(|counter| counter.updated_at);
        let mut left = stored.map_or(0, |counter| counter.count);
        let (mut count, mut scanned, mut after) = (0, 0, None);
        loop {
            let listing = self.context.core().notifications(&me, Span::ALL);
            let page = listing.limit(BATCH).after(after.take()).page().await?;
            scanned += page.items.len();
            let is_since =
                |note: &Notification| note.read_at.is_some_and(|at| Some(at) > counted_at);
            let marked_since = page.items.iter().filter(|note| is_since(note)).count();
            let unread = page.items.into_iter().filter(|note| note.read_at.is_none());
            let unread: Vec<Notification> = unread.collect();
            left = left.saturating_sub((unread.len() + marked_since) as u64);
            let is_marked_since = marked_since > 0 && unread.is_empty();
            count += self.count_visible(&me, unread).await?;
            let is_enough = left == 0 || scanned >= SCANNED_MAX || count >= UNREAD_MAX;
            if is_enough || is_marked_since || page.next.is_none() {
                return Ok(count.min(UNREAD_MAX));
            }
            after = page.next;
        }
    }

    /// Marks everything before this time as read and returns how many of it the caller could see. A
    /// collapsed notification with a later event stays unread. It works in batches and counts those
    /// marked by this request.
    pub async fn mark_read(
        &self,
        caller: &Caller,
        before: Time,
        request: Option<&RequestId>,
    ) -> Result<u64, NotificationError> {
        let mutation = self.context.mutation(caller).await?;
        let marked = AtomicU64::new(0);
        mutation
            .once("markNotificationsRead", &before, request)?
            .replay(async |marked: u64| Ok(marked))
            .run(async |me, attempt| self.mark_batches(&me.id, before, attempt, &marked).await)
            .await
    }

    /// Marks one notification as read, and returns it. Repeating it has no effect.
    pub async fn mark_one_read(
        &self,
        caller: &Caller,
        id: &NotificationId,
        request: Option<&RequestId>,
    ) -> Result<NotificationView, NotificationError> {
        let mutation = self.context.mutation(caller).await?;
        mutation
            .once("markNotificationRead", id, request)?
            .replay(async |id: NotificationId| self.visible_view(caller, &id).await)
            .run(async |_, attempt| {
                let view = self.visible_view(caller, id).await?;
                let note = &view.notification;
                if note.read_at.is_some() {
                    return attempt.unchanged(id, view).await;
                }
                let Some(stored) = self.reread(std::slice::from_ref(note)).await?.pop() else {
                    return Err(NotificationError::NoSuchNotification);
                };
                let read_at = Some(self.context.now());
                let commit = self.marks(attempt, std::slice::from_ref(&stored));
                let notification = Notification { read_at, ..note.clone() };
                commit.finish(id, NotificationView { notification, ..view }).await
            })
            .await
    }

    async fn visible_view(
        &self,
        caller: &Caller,
        id: &NotificationId,
    ) -> Result<NotificationView, NotificationError> {
        let found = self.by_ids(caller, std::slice::from_ref(id)).await?;
        found.into_iter().flatten().next().ok_or(NotificationError::NoSuchNotification)
    }

    async fn mark_batches(
        &self,
        me: &UserId,
        before: Time,
        attempt: Attempt<'_>,
        marked: &AtomicU64,
    ) -> Result<AttemptOutcome<u64>, NotificationError> {
        let mut after = None;
        loop {
            let listing = self.context.core().notifications(me, Span::until(before));
            let listing = listing.filter(Notification::READ_AT.absent());
            let page = listing.limit(MARK_BATCH).after(after.take()).page().await?;
            let earlier = page.items.into_iter().filter(|note| note.time() < before);
            let earlier: Vec<Notification> = earlier.collect();
            let commit = self.marks(attempt, &earlier);
            let some = self.count_visible(me, earlier).await?;
            let all = marked.load(Ordering::Relaxed) + some;
            if page.next.is_none() {
                return commit.finish(all, all).await;
            }
            if let AttemptOutcome::Retry = commit.finish_unrecorded::<_, ServiceError>(()).await? {
                return Ok(AttemptOutcome::Retry);
            }
            marked.store(all, Ordering::Relaxed);
            after = page.next;
        }
    }

    /// Marks these as read if they are unchanged: another actor may have joined meanwhile, which
    /// makes a notification unread again.
    fn marks<'a>(&self, attempt: Attempt<'a>, notes: &[Notification]) -> Commit<'a> {
        let now = self.context.now();
        let marks = notes.iter().map(|note| {
            let unchanged = Notification::READ_AT
                .absent()
                .and(Notification::ACTOR_ID.is(&note.actor_id))
                .and(Notification::OBJECT.is(&note.object))
                .and(Notification::LATEST_AT.is(&note.latest_at));
            note.key().patch().set(Notification::READ_AT, &Some(now)).when(unchanged)
        });
        attempt.commit().with_all("notification", marks)
    }

    /// Counts those the reader may see now.
    async fn count_visible(
        &self,
        me: &UserId,
        notes: Vec<Notification>,
    ) -> Result<u64, ServiceError> {
        let visible = self.visible(me, notes).await?;
        Ok(visible.into_iter().flatten().count() as u64)
    }

    /// Returns what the reader may see now, in the same order.
    async fn views(
        &self,
        me: &UserId,
        notes: Vec<Notification>,
    ) -> Result<Vec<Option<NotificationView>>, ServiceError> {
        let visible = self.visible(me, notes).await?;
        let notes: Vec<&Notification> = visible.iter().flatten().collect();
        let mut people = self.people(me, &notes).await?.into_iter();
        let mut view =
            |notification| people.next().map(|people| NotificationView { notification, people });
        Ok(visible.into_iter().map(|note| note.and_then(&mut view)).collect())
    }

    async fn visible(
        &self,
        me: &UserId,
        notes: Vec<Notification>,
    ) -> Result<Vec<Option<Notification>>, ServiceError> {
        let found: Vec<Option<Cause>> = notes.iter().map(Cause::of).collect();
        let causes: Vec<Cause> = found.iter().flatten().cloned().collect();
        let mut eligibility = self.eligibility(me, &causes).await?.into_iter();
        let (mut visible, mut hidden) = (Vec::with_capacity(notes.len()), Vec::new());
        for (index, (note, cause)) in notes.into_iter().zip(found).enumerate() {
            let known = cause.and_then(|cause| eligibility.next().map(|may| (cause, may)));
            visible.push(match known {
                Some((_, may)) if may.about && may.actor => Some(note),
                // Another actor may be visible to the reader.
                Some((cause, may)) if may.about && collapses(note.kind) => match cause.about {
                    about @ (CauseObject::Post(_) | CauseObject::Comment(..)) => {
                        hidden.push((index, about));
                        Some(note)
                    }
                    _ => None,
                },
                _ => None,
            });
        }
        if !hidden.is_empty() {
            self.name_other_actors(me, &mut visible, &hidden).await?;
        }
        Ok(visible)
    }

    /// Reads these again, without those that are gone.
    async fn reread(&self, notes: &[Notification]) -> Result<Vec<Notification>, ServiceError> {
        let now = self.context.items_at("notifications", notes.iter().map(Entity::key)).await?;
        Ok(now.into_iter().flatten().collect())
    }
}
