//! Pages of a home feed: candidates from the cheapest source, each checked against the current
//! state, until the page is full or history ends.

use std::sync::Arc;

use hashbrown::HashMap;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, FeedItem, Post, User};
use roundtable_model::{ActivityId, ActorId, Cursor, InvalidValue, ObjectType, Span, Time, UserId};

use super::cached_activity::CachedActivity;
use super::position::FeedPosition;
use super::ring::RingWalk;
use super::stored_feed::StoredFeed;
use super::walk::{WalkBounds, walk_activities};
use super::{Candidates, FEED_ITEMS, FeedEntry, FeedError, FeedSource, Feeds};
use crate::activities::ActivityObjects;
use crate::memory::Circle;
use crate::{Caller, Page, PageInput, ServiceError, ViewerAccess};

/// Activities of all actors that a page passes for each home in a circle, before homes are read one by
/// one: a membership test costs less than reading a home.
const PASSED_PER_HOME: usize = 3;
/// Passing so many in memory is always worth it. In the table it is not: a few homes are read faster.
const PASSED_MIN: usize = 200;
/// A reader's own activities that memory may not have yet.
const OWN_NEWEST: usize = 10;
/// Candidates fetched in one step.
const CANDIDATES_MAX: usize = 400;

#[boxed]
impl Feeds {
    /// Returns a page of the caller's home feed. It is full unless history ends.
    pub async fn home(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<FeedEntry>, FeedError> {
        let wanted = page.size_or(FEED_ITEMS)?;
        let below =
            page.after.as_ref().map(|cursor| cursor_position(caller, cursor)).transpose()?;
        let me = self.context.authorize_read(caller).await?;
        // First the log, then the circle: neither may be behind what the reader could know.
        self.bus.catch_up().await?;
        if below.is_none() {
            self.remember_own(&me).await?;
        }
        let circle = self.circle_of(&me.id).await?;
        // One more than a page, to know whether another page follows.
        let mut items =
            self.collect((caller, &me, &circle), below, wanted + 1, Time::EPOCH).await?;
        let more = items.len() > wanted;
        items.truncate(wanted);
        let cursor = |entry: &FeedEntry| cursor(caller, entry);
        let next = items.last().filter(|_| more).map(cursor);
        let items = items.into_iter().map(|entry| (cursor(&entry), entry));
        Ok(Page { items: items.map(|(cursor, entry)| (entry, cursor)).collect(), next })
    }

    /// Collects the visible entries of a reader below a position: as many as wanted or some more, and
    /// fewer only if history ends, or none further are as recent as `since`.
    pub(super) async fn collect(
        &self,
        (caller, me, circle): (&Caller, &User, &Circle),
        mut below: Option<FeedPosition>,
        wanted: usize,
        since: Time,
    ) -> Result<Vec<FeedEntry>, ServiceError> {
        let mut stored = StoredFeed::new(&self.context, &me.id, circle);
        let (mut items, mut scanned, mut is_dense) = (Vec::with_capacity(wanted), 0, true);
        loop {
            // As many as are missing, and in proportion as many as were hidden so far.
            let missing = wanted - items.len();
            let missing = (missing * (scanned + 1)).div_ceil(items.len() + 1).min(CANDIDATES_MAX);
            let latest = if is_dense {
                self.latest_candidates(circle, below.as_ref(), missing).await?
            } else {
                None
            };
            let found = match latest {
                Some((found, is_sparse)) => {
                    is_dense = !is_sparse;
                    found
                }
                None => {
                    self.merged_candidates(&mut stored, circle, below.as_ref(), missing).await?
                }
            };
            scanned += found.entries.len();
            items.extend(self.visible_entries(caller, me, circle, found.entries).await?);
            below = found.down_to;
            let is_past = below.as_ref().is_none_or(|below| below.at < since);
            if items.len() >= wanted || is_past {
                items.retain(|entry: &FeedEntry| entry.activity.created_at >= since);
                return Ok(items);
            }
        }
    }

    /// Returns the entries at these positions, in the same order; `None` for those not in the
    /// caller's feed.
    pub async fn at(
        &self,
        caller: &Caller,
        positions: &[(ActorId, Time, ActivityId)],
    ) -> Result<Vec<Option<FeedEntry>>, FeedError> {
        let me = self.context.authorize_read(caller).await?;
        self.bus.catch_up().await?;
        let circle = self.circle_of(&me.id).await?;
        Ok(self.entries_at((caller, &me, &circle), positions).await?)
    }

    /// As [`Feeds::at`], for a reader whose profile and circle have been read.
    pub(super) async fn entries_at(
        &self,
        (caller, me, circle): (&Caller, &User, &Circle),
        positions: &[(ActorId, Time, ActivityId)],
    ) -> Result<Vec<Option<FeedEntry>>, ServiceError> {
        let at = positions.iter().map(|(home, at, id)| Activity::at(home, at, id));
        let found = self.context.items_at("activity", at).await?.into_iter().flatten();
        let entries = found.map(|activity| Arc::new(CachedActivity::of(&activity)));
        let entries = entries.filter(|entry| circle.includes(entry)).collect();
        let visible = self.visible_entries(caller, me, circle, from_memory(entries)).await?;
        let visible: HashMap<ActivityId, FeedEntry> =
            visible.into_iter().map(|entry| (entry.activity.activity_id.clone(), entry)).collect();
        Ok(positions.iter().map(|(_, _, id)| visible.get(id).cloned()).collect())
    }

    /// Returns a reader's current circle.
    pub(super) async fn circle_of(&self, reader: &UserId) -> Result<Arc<Circle>, ServiceError> {
        Ok(self.entities().circles().of(&self.context, reader).await?)
    }

    /// Adds the reader's own newest activities where memory may lag.
    pub(super) async fn remember_own(&self, me: &User) -> Result<(), ServiceError> {
        if self.context.store().capabilities().single_process {
            return Ok(());
        }
        let own = self.context.core().activities_of(&(&me.id).into(), Span::ALL);
        let own = own.strong().limit(OWN_NEWEST).page().await?;
        own.items.iter().for_each(|activity| self.memory().remember_own(activity));
        Ok(())
    }

    /// Candidates among the activities of all actors by time, the cheapest source for a large circle:
    /// from memory, and from the table below that. Also returns whether the circle's are too far
    /// apart there to go on.
    async fn latest_candidates(
        &self,
        circle: &Circle,
        below: Option<&FeedPosition>,
        wanted: usize,
    ) -> Result<Option<(Candidates, bool)>, ServiceError> {
        let passed_max = circle.homes.len() * PASSED_PER_HOME;
        let is_mine = |entry: &CachedActivity| circle.includes(entry);
        let recent = self.memory().recent(below, wanted, PASSED_MIN + passed_max, is_mine);
        let found = if recent.is_some() {
            recent
        } else {
            let passed_max = passed_max.min(self.context.settings().feed.walk_max);
            let bounds = WalkBounds { wanted, passed_max };
            let is_home = |home: &ActorId| circle.homes.contains_key(home);
            walk_activities(&self.context, below, bounds, is_home).await?
        };
        Ok(found.map(|RingWalk { mut entries, down_to, is_sparse }| {
            entries.retain(|entry| circle.includes(entry));
            (Candidates { entries: from_memory(entries), down_to }, is_sparse)
        }))
    }

    /// Candidates from each home: from memory, and from the table where memory ends above `below`.
    async fn merged_candidates(
        &self,
        stored: &mut StoredFeed<'_>,
        circle: &Circle,
        below: Option<&FeedPosition>,
        wanted: usize,
    ) -> Result<Candidates, ServiceError> {
        let homes = circle.homes.keys();
        let merged = self.memory().newest(&self.context, homes, below, wanted).await?;
        let entries = merged.entries.into_iter().filter(|entry| circle.includes(entry)).collect();
        let from_tails = Candidates { entries: from_memory(entries), down_to: merged.down_to };
        if merged.exhausted.is_empty() {
            return Ok(from_tails);
        }
        let mut read = stored.below(&merged.exhausted, below, wanted).await?;
        read.entries.retain(|(entry, _)| circle.includes(entry));
        Ok(from_tails.merge_with(read))
    }

    /// Returns the visible candidates in their current state.
    pub(super) async fn visible_entries(
        &self,
        caller: &Caller,
        me: &User,
        circle: &Circle,
        candidates: Vec<(Arc<CachedActivity>, FeedSource)>,
    ) -> Result<Vec<FeedEntry>, ServiceError> {
        let (context, memory) = (&self.context, self.entities());
        let (entries, sources): (Vec<_>, Vec<_>) = candidates.into_iter().unzip();
        let activities: Vec<_> = entries.iter().map(|entry| entry.activity()).collect();
        let posts = |ids: Vec<_>| async move { Ok(memory.posts(context, &ids).await?) };
        let objects = ActivityObjects::of(context, &activities, posts).await?;
        let (people, groups) = (objects.people(&activities), objects.groups(&activities));
        let access = if circle.is_settled {
            let own = Some(Arc::new(me.clone()));
            context.access_by_relations(memory, circle, (caller, own), people, groups).await?
        } else {
            context.viewer_access_of(caller, me, &people, &groups).await?.into_access()
        };
        let entry = |(activity, source)| {
            let post = objects.post(&activity).cloned();
            // A comment below a muted user's post belongs to its author, not to the muted user.
            let is_of_muted = activity.object_type == ObjectType::Post
                && post.as_ref().is_some_and(|post| circle.muted.contains(&post.author_id));
            if is_of_muted {
                return None;
            }
            let activity = objects.shown(&access, activity)?;
            let people = people_of(&access, &activity, post.as_deref());
            Some(FeedEntry { activity, post, source, people })
        };
        Ok(activities.into_iter().zip(sources).filter_map(entry).collect())
    }
}

/// Returns the users that an entry names, each once, if the reader sees the public profile of them.
fn people_of(access: &ViewerAccess, activity: &Activity, post: Option<&Post>) -> Vec<Arc<User>> {
    let author = post.map(|post| &post.author_id).filter(|author| **author != activity.actor_id);
    let named = std::iter::once(&activity.actor_id).chain(author);
    let public = named.filter(|id| !access.sees_email(id));
    public.filter_map(|id| access.shown_profile(id)).collect()
}

impl Circle {
    /// Returns whether an activity belongs in the reader's feed, if visible.
    pub(super) fn includes(&self, entry: &CachedActivity) -> bool {
        self.homes.contains_key(&entry.home()) && !self.muted.contains(&entry.actor_id)
    }
}

impl Candidates {
    /// Merges two sets of candidates, down to where both are complete.
    fn merge_with(mut self, other: Self) -> Self {
        self.down_to = self.down_to.max(other.down_to);
        self.entries.extend(other.entries);
        if let Some(down_to) = &self.down_to {
            self.entries.retain(|(entry, _)| entry.position >= *down_to);
        }
        self.entries.sort_unstable_by(|(one, _), (other, _)| other.position.cmp(&one.position));
        self
    }
}

/// Candidates from memory, which holds actors' own activities.
pub(super) fn from_memory(
    entries: Vec<Arc<CachedActivity>>,
) -> Vec<(Arc<CachedActivity>, FeedSource)> {
    entries.into_iter().map(|entry| (entry, FeedSource::FanIn)).collect()
}

/// The scope of the cursors of one reader's feed.
fn cursor_scope(caller: &Caller) -> String {
    format!("home of {}", caller.user_id)
}

fn cursor(caller: &Caller, entry: &FeedEntry) -> Cursor {
    let activity = &entry.activity;
    let item = FeedItem::at(&caller.user_id, &activity.created_at, &activity.activity_id);
    Cursor::at(&cursor_scope(caller), item)
}

fn cursor_position(caller: &Caller, cursor: &Cursor) -> Result<FeedPosition, ServiceError> {
    let read = || {
        let key = cursor.key_for(&cursor_scope(caller))?;
        let (at, id) = (FeedItem::CREATED_AT.part_of(key)?, FeedItem::ACTIVITY_ID.part_of(key)?);
        Some(FeedPosition { at, id })
    };
    read().ok_or_else(|| {
        ServiceError::bad_input("cursor", InvalidValue::new("a cursor of this feed", cursor))
    })
}
