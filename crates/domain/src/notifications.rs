//! What people are told (R38): listed, counted, marked as read, and as it comes. The processors of
//! `streams` write it; here belongs only whether it was read, and who may still be told.
//!
//! How many are unread is exact up to [`UNREAD_MAX`], and cheap. COUNTER#UNREAD, kept from the stream,
//! says how many are stored unread (I1). That alone could not be the answer: a block, a mute or a
//! deletion hides some at once, and is no change of a notification; and the stream may be read later
//! than somebody is told. So the newest are always looked at, a page of them, and further pages until as
//! many unread ones were found as are counted; those count that their reader may be told of. Marking as
//! read leaves nothing unread behind, so they are the newest: about 300 bytes each, one read unit for
//! some 13 of them, and never more than [`LOOKED_MAX`]. For the same reason nothing is looked for behind
//! one that was marked after the counter was last written: what that still counts has been read.

mod cause;
mod crowd;
mod desk;
mod live;
mod sight;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Notification;
use roundtable_model::{Entity, NotificationId, RequestId, Shards, Span, Time, UserCount, UserId};

pub use self::cause::{About, CROWD_MS, Cause, adds_up, hour_of};
pub use self::crowd::Latest;
use self::desk::Desk;
pub use self::live::LiveNotifications;
use crate::commit::{Commit, Rejected};
use crate::once::{Request, Tried};
use crate::pages::fill;
use crate::{Caller, Failure, Ground, Page, PageInput, refusals};

/// Unread ones marked in one go: a transaction has room for them and the request.
const AT_ONCE: usize = 90;
/// Those looked at in one go to count what is unread.
const LOOK: usize = 200;
/// As many are counted at the most, and said to be unread.
const UNREAD_MAX: u64 = 1_000;
/// Those looked at altogether to count what is unread: 750 read units.
const LOOKED_MAX: usize = 10_000;

refusals! {
    /// Why nothing was told or marked.
    NotificationError {}
}

/// The notifications of everybody.
#[derive(Clone, Debug)]
pub struct Notifications {
    ground: Ground,
    desk: Arc<Desk>,
}

/// Something a person is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What; of many who did it, it names the latest whom its reader may hear of.
    pub notification: Notification,
    /// How many did it by now, at any time.
    pub people: u64,
}

#[boxed]
impl Notifications {
    /// The notifications on this ground. Those who listen are told by the one they listen to: there is
    /// one of these in a process.
    pub fn new(ground: Ground) -> Self {
        Self { ground, desk: Arc::new(Desk::new()) }
    }

    /// The same notifications, read through this ground: for one request's cost.
    #[must_use]
    pub fn on(&self, ground: Ground) -> Self {
        Self { ground, desk: Arc::clone(&self.desk) }
    }

    /// What the caller was told, newest first, as far as they may still be told.
    pub async fn list(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<Notice>, NotificationError> {
        let me = self.ground.reader(caller).await?.id;
        fill(
            page,
            async |limit, after| {
                let listing = self.ground.core().notifications(&me, Span::ALL);
                listing.limit(limit).after(after).page().await
            },
            async |notes| Ok::<_, NotificationError>(self.shown(&me, notes).await?),
        )
        .await
    }

    /// What the caller was told, by its ids, each in its place; `None` where there is nothing that they
    /// may still be told. An id tells when it was.
    pub async fn notices(
        &self,
        caller: &Caller,
        ids: &[NotificationId],
    ) -> Result<Vec<Option<Notice>>, NotificationError> {
        let me = self.ground.reader(caller).await?.id;
        let at = ids.iter().filter_map(|id| Some(Notification::at(&me, &id.time()?, id)));
        let notes = self.ground.at("notifications", at).await?.into_iter().flatten().collect();
        let told = self.shown(&me, notes).await?.into_iter().flatten();
        let told: HashMap<NotificationId, Notice> =
            told.map(|notice| (notice.notification.id.clone(), notice)).collect();
        Ok(ids.iter().map(|id| told.get(id).cloned()).collect())
    }

    /// How many of those the caller has not read, a thousand at the most.
    pub async fn unread(&self, caller: &Caller) -> Result<u64, NotificationError> {
        let me = self.ground.reader(caller).await?.id;
        let stored = self.ground.core().counts(&me, &[UserCount::Unread], Shards::ONE);
        let stored = stored.strong().get().await?.into_iter().flatten().next();
        let counted_at = stored.as_ref().map(|counter| counter.updated_at);
        let mut left = stored.map_or(0, |counter| counter.count);
        let (mut count, mut looked, mut after) = (0, 0, None);
        loop {
            let listing = self.ground.core().notifications(&me, Span::ALL);
            let page = listing.limit(LOOK).after(after.take()).page().await?;
            looked += page.items.len();
            let is_since =
                |note: &Notification| note.read_at.is_some_and(|at| Some(at) > counted_at);
            let is_marked_since = page.items.iter().any(is_since);
            let unread = page.items.into_iter().filter(|note| note.read_at.is_none());
            let unread: Vec<Notification> = unread.collect();
            left = left.saturating_sub(unread.len() as u64);
            count += self.seen(&me, unread).await?;
            let is_enough = left == 0 || looked >= LOOKED_MAX || count >= UNREAD_MAX;
            if is_enough || is_marked_since || page.next.is_none() {
                return Ok(count.min(UNREAD_MAX));
            }
            after = page.next;
        }
    }

    /// Marks everything as read that happened before this time; how many the caller could see of it.
    /// It is done a part at a time, and counts what this request has marked.
    pub async fn mark_read(
        &self,
        caller: &Caller,
        before: Time,
        request: Option<&RequestId>,
    ) -> Result<u64, NotificationError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "markNotificationsRead", &before)?;
        let marked = AtomicU64::new(0);
        self.ground
            .once(
                request.as_ref(),
                async |marked: u64| Ok(marked),
                async || Ok(self.mark_some(&me, before, request.as_ref(), &marked).await?),
            )
            .await
    }

    async fn mark_some(
        &self,
        me: &UserId,
        before: Time,
        request: Option<&Request>,
        marked: &AtomicU64,
    ) -> Result<Tried<u64>, Failure> {
        let mut after = None;
        loop {
            let listing = self.ground.core().notifications(me, Span::until(before));
            let listing = listing.only(Notification::READ_AT.absent());
            let page = listing.limit(AT_ONCE).after(after.take()).page().await?;
            let commit = self.marks(&page.items);
            let some = self.seen(me, page.items).await?;
            let all = marked.load(Ordering::Relaxed) + some;
            if page.next.is_none() {
                return commit.remembering(request, &all)?.done(all).await;
            }
            match commit.run().await {
                Ok(()) => {
                    marked.store(all, Ordering::Relaxed);
                    after = page.next;
                }
                Err(Rejected::Refused(_)) => return Ok(Tried::Again),
                Err(Rejected::Failed(failure)) => return Err(failure),
            }
        }
    }

    /// The writes that mark these as read, as long as they are as they were: somebody more may do what
    /// they tell of, and makes them unread again.
    fn marks(&self, notes: &[Notification]) -> Commit<'_> {
        let now = self.ground.now();
        notes.iter().fold(self.ground.commit(), |commit, note| {
            let unchanged = Notification::READ_AT
                .absent()
                .and(Notification::ACTOR_ID.is(&note.actor_id))
                .and(Notification::OBJECT.is(&note.object))
                .and(Notification::LATEST_AT.is(&note.latest_at));
            let patch = note.key().patch().set(Notification::READ_AT, &Some(now)).when(unchanged);
            commit.with("notification", patch)
        })
    }

    /// How many of these somebody may be told of now.
    async fn seen(&self, me: &UserId, notes: Vec<Notification>) -> Result<u64, Failure> {
        let told = self.tellable(me, notes).await?;
        Ok(told.into_iter().flatten().count() as u64)
    }

    /// What somebody may be told of now, each in its place.
    async fn shown(
        &self,
        me: &UserId,
        notes: Vec<Notification>,
    ) -> Result<Vec<Option<Notice>>, Failure> {
        let told = self.tellable(me, notes).await?;
        let notes: Vec<&Notification> = told.iter().flatten().collect();
        let mut people = self.people(me, &notes).await?.into_iter();
        let mut notice = |notification| people.next().map(|people| Notice { notification, people });
        Ok(told.into_iter().map(|note| note.and_then(&mut notice)).collect())
    }

    async fn tellable(
        &self,
        me: &UserId,
        notes: Vec<Notification>,
    ) -> Result<Vec<Option<Notification>>, Failure> {
        let found: Vec<Option<Cause>> = notes.iter().map(Cause::of).collect();
        let causes: Vec<Cause> = found.iter().flatten().cloned().collect();
        let mut told = self.told(me, &causes).await?.into_iter();
        let (mut tellable, mut hidden) = (Vec::with_capacity(notes.len()), Vec::new());
        for (place, (note, cause)) in notes.into_iter().zip(found).enumerate() {
            let told = cause.and_then(|cause| told.next().map(|told| (cause, told)));
            tellable.push(match told {
                Some((_, told)) if told.about && told.actor => Some(note),
                // Others may have done the same, whom its reader may hear of.
                Some((cause, told)) if told.about && adds_up(note.kind) => match cause.about {
                    About::Post(post) => {
                        hidden.push((place, post));
                        Some(note)
                    }
                    _ => None,
                },
                _ => None,
            });
        }
        if !hidden.is_empty() {
            self.name_others(me, &mut tellable, &hidden).await?;
        }
        Ok(tellable)
    }

    /// These as they are now, without those that are gone.
    async fn as_now(&self, notes: &[Notification]) -> Result<Vec<Notification>, Failure> {
        let now = self.ground.at("notifications", notes.iter().map(Entity::key)).await?;
        Ok(now.into_iter().flatten().collect())
    }
}
