//! The part of a feed below memory: actors' own activities, or their copies in the reader's feed
//! where those are complete. Each activity comes from exactly one of the two.

use std::cmp::Reverse;
use std::sync::Arc;

use hashbrown::HashMap;
use roundtable_model::entities::{Activity, ActorHead, FeedItem, Promotion};
use roundtable_model::{ActorId, ObjectType, Result, Span, Time, UserId};

use super::cached_activity::CachedActivity;
use super::coverage::{CopyBounds, Coverage};
use super::position::FeedPosition;
use super::{Candidates, FeedSource};
use crate::Context;
use crate::memory::Circle;

const READ_MAX: usize = 900;

/// The stored state behind one reader's page, loaded as needed.
#[derive(Debug)]
pub(super) struct StoredFeed<'a> {
    context: &'a Context,
    reader: &'a UserId,
    circle: &'a Circle,
    actors: HashMap<ActorId, Option<ActorCopies>>,
}

/// The state that tells which activities of an actor are copied.
#[derive(Debug)]
struct ActorCopies {
    head: ActorHead,
    promotion: Option<Promotion>,
}

/// An actor with activities left to read.
struct ActorToRead<'h> {
    home: &'h ActorId,
    newest: Time,
}

impl<'a> StoredFeed<'a> {
    pub(super) fn new(context: &'a Context, reader: &'a UserId, circle: &'a Circle) -> Self {
        Self { context, reader, circle, actors: HashMap::new() }
    }

    /// Returns the newest activities of these actors below a position, at least one if there is any.
    pub(super) async fn below(
        &mut self,
        homes: &[ActorId],
        below: Option<&FeedPosition>,
        wanted: usize,
    ) -> Result<Candidates> {
        self.load_actors(homes).await?;
        let (mut read_limit, mut opened) = (wanted.min(READ_MAX), wanted);
        loop {
            let found = self.read_below(homes, below, read_limit, opened).await?;
            let is_stuck = match (&found.down_to, below) {
                (Some(reached), Some(below)) => reached >= below,
                _ => false,
            };
            // Many activities of one instant, or many actors whose newest is of one instant: read
            // more of them.
            if !is_stuck {
                return Ok(found);
            }
            (read_limit, opened) = ((read_limit * 2).min(READ_MAX), opened * 2);
        }
    }

    async fn read_below(
        &self,
        homes: &[ActorId],
        below: Option<&FeedPosition>,
        read_limit: usize,
        opened: usize,
    ) -> Result<Candidates> {
        // Including the instant of the position: some activities of that instant may be below it.
        let ceiling = below.map_or(Time::MAX, |position| position.at);
        let span = Span::until(ceiling.plus_ms(1));
        let copies = self.copies(homes, span, read_limit).await?;
        let coverage = self.coverage(homes).await?;
        let mut sources = self.sources(homes, &coverage, ceiling);
        let unopened = sources.split_off(opened.min(sources.len()));
        let opened: Vec<ActorId> = sources.iter().map(|source| source.home.clone()).collect();
        let pulled = self.context.core().activities(&opened, span).limit(read_limit).page().await?;

        let ends = [
            // Everything after the newest activity of an unread actor is complete.
            unopened.first().map(|source| FeedPosition::first_at(source.newest.plus_ms(1))),
            pulled.items.last().filter(|_| pulled.next.is_some()).map(FeedPosition::of),
            copies.as_ref().and_then(|(_, end)| end.clone()),
        ];
        let down_to = ends.into_iter().flatten().max();
        let is_wanted = |position: &FeedPosition| {
            below.is_none_or(|below| position < below)
                && down_to.as_ref().is_none_or(|down_to| position >= down_to)
        };
        let covers = |home: &ActorId, at| coverage.get(home).is_some_and(|one| one.covers(at));
        let mut entries = Vec::new();
        for activity in pulled.items {
            let home = Activity::home(&activity.actor_id, &activity.group_id);
            if is_wanted(&FeedPosition::of(&activity)) && !covers(&home, activity.created_at) {
                entries.push((Arc::new(CachedActivity::of(&activity)), FeedSource::FanIn));
            }
        }
        let copies = copies.into_iter().flat_map(|(items, _)| items).filter(|item| {
            let home = Activity::home(&item.actor_id, &item.group_id);
            let position = FeedPosition { at: item.created_at, id: item.activity_id.clone() };
            is_wanted(&position) && covers(&home, item.created_at)
        });
        let copied = self.originals(copies.collect()).await?;
        entries.extend(copied.into_iter().map(|entry| (Arc::new(entry), FeedSource::FanOut)));
        entries.sort_unstable_by(|(one, _), (other, _)| other.position.cmp(&one.position));
        Ok(Candidates { entries, down_to })
    }

    /// Loads the heads and promotions of these actors, each once.
    async fn load_actors(&mut self, homes: &[ActorId]) -> Result<()> {
        let unknown: Vec<ActorId> =
            homes.iter().filter(|home| !self.actors.contains_key(*home)).cloned().collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let core = self.context.core();
        let heads = core.actor_heads(&unknown).strong().get().await?;
        let is_copied = |head: &ActorHead| head.since.is_some() || !head.intervals.is_empty();
        let copied = heads.iter().flatten().filter(|head| is_copied(head));
        let copied: Vec<ActorId> = copied.map(|head| head.actor_id.clone()).collect();
        let promotions = core.promotions(&copied).strong().get().await?.into_iter().flatten();
        let mut promotions: HashMap<ActorId, Promotion> =
            promotions.map(|promotion| (promotion.subject_id.clone(), promotion)).collect();
        for (home, head) in unknown.into_iter().zip(heads) {
            let promotion = promotions.remove(&home);
            self.actors.insert(home, head.map(|head| ActorCopies { head, promotion }));
        }
        Ok(())
    }

    /// Reads copies from the reader's feed, and the position down to which they are complete;
    /// `None` if none of these actors has copies.
    async fn copies(
        &self,
        homes: &[ActorId],
        span: Span<Time>,
        read_limit: usize,
    ) -> Result<Option<(Vec<FeedItem>, Option<FeedPosition>)>> {
        let promotions = homes.iter().filter_map(|home| self.actor(home)?.promotion.as_ref());
        if !promotions.into_iter().any(|promotion| promotion.watermark.is_some()) {
            return Ok(None);
        }
        let items = self.context.core().feed_items(self.reader, span).strong().limit(read_limit);
        let page = items.page().await?;
        let position =
            |item: &FeedItem| FeedPosition { at: item.created_at, id: item.activity_id.clone() };
        let end = page.items.last().filter(|_| page.next.is_some()).map(position);
        Ok(Some((page.items, end)))
    }

    /// The coverage of each actor. Must be called after the copies were read: the horizon is
    /// written before copies are trimmed.
    async fn coverage(&self, homes: &[ActorId]) -> Result<HashMap<ActorId, Coverage>> {
        let marked = |home: &&ActorId| self.actor(home).is_some_and(|one| one.promotion.is_some());
        let marked: Vec<&ActorId> = homes.iter().filter(marked).collect();
        if marked.is_empty() {
            return Ok(HashMap::new());
        }
        let horizon = self.context.core().feed_horizon(self.reader).get().await?;
        let reach = CopyBounds {
            now: self.context.now(),
            margin_ms: self.context.settings().feed.margin_ms,
            horizon: horizon.map(|horizon| horizon.oldest),
        };
        let covered = marked.into_iter().filter_map(|home| {
            let ActorCopies { head, promotion } = self.actor(home)?;
            let since = *self.circle.homes.get(home)?;
            Some((home.clone(), Coverage::of(head, promotion.as_ref(), since, reach)))
        });
        Ok(covered.collect())
    }

    /// The actors with activities to read, the newest first.
    fn sources<'h>(
        &self,
        homes: &'h [ActorId],
        coverage: &HashMap<ActorId, Coverage>,
        ceiling: Time,
    ) -> Vec<ActorToRead<'h>> {
        let source = |home: &'h ActorId| {
            let newest = self.actor(home)?.head.last_ts.min(ceiling);
            let newest = match coverage.get(home) {
                Some(coverage) => coverage.newest_open(newest)?,
                None => newest,
            };
            Some(ActorToRead { home, newest })
        };
        let mut sources: Vec<ActorToRead<'h>> = homes.iter().filter_map(source).collect();
        sources.sort_unstable_by_key(|source| Reverse(source.newest));
        sources
    }

    /// Reads the activities behind copies. A copy about a post is sufficient, because the post is
    /// read anyway.
    async fn originals(&self, copies: Vec<FeedItem>) -> Result<Vec<CachedActivity>> {
        let is_enough = |item: &FeedItem| item.object_type == ObjectType::Post;
        let position = |item: &FeedItem| {
            let home = Activity::home(&item.actor_id, &item.group_id);
            Activity::at(&home, &item.created_at, &item.activity_id)
        };
        let read = copies.iter().filter(|item| !is_enough(item)).map(position);
        let mut read = self.context.items_at("activity", read).await?.into_iter();
        let entry = |item: FeedItem| {
            if is_enough(&item) {
                return Some(CachedActivity::of_copy(&item));
            }
            read.next()?.as_ref().map(CachedActivity::of)
        };
        Ok(copies.into_iter().filter_map(entry).collect())
    }

    fn actor(&self, home: &ActorId) -> Option<&ActorCopies> {
        self.actors.get(home)?.as_ref()
    }
}
