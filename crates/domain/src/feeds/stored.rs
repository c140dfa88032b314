//! What lies below memory: an actor's own activities, or the copies of them in the reader's feed where
//! those are complete. Each activity comes from one of the two, never from both.

use std::cmp::Reverse;
use std::sync::Arc;

use hashbrown::HashMap;
use roundtable_model::entities::{Activity, ActorHead, FeedItem, Promotion};
use roundtable_model::{ActorId, ObjectType, Result, Span, Time, UserId};

use super::circles::Circle;
use super::coverage::{Coverage, Reach};
use super::entry::Entry;
use super::place::Place;
use super::{FeedSource, Found};
use crate::Ground;

/// The largest page of a listing.
const LOOK_MAX: usize = 900;

/// What one reader's page is read from, as far as it has been.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    ground: &'a Ground,
    reader: &'a UserId,
    circle: &'a Circle,
    actors: HashMap<ActorId, Option<Actor>>,
}

/// What tells where an actor's activities are.
#[derive(Debug)]
struct Actor {
    head: ActorHead,
    promotion: Option<Promotion>,
}

/// An actor with something left to look up.
struct Source<'h> {
    home: &'h ActorId,
    newest: Time,
}

impl<'a> Stored<'a> {
    pub(super) fn new(ground: &'a Ground, reader: &'a UserId, circle: &'a Circle) -> Self {
        Self { ground, reader, circle, actors: HashMap::new() }
    }

    /// The newest activities of these actors below a place, at least one if there is any.
    pub(super) async fn below(
        &mut self,
        homes: &[ActorId],
        below: Option<&Place>,
        wanted: usize,
    ) -> Result<Found> {
        self.learn(homes).await?;
        let (mut looked, mut opened) = (wanted.min(LOOK_MAX), wanted);
        loop {
            let found = self.look(homes, below, looked, opened).await?;
            let is_stuck = match (&found.down_to, below) {
                (Some(reached), Some(below)) => reached >= below,
                _ => false,
            };
            // Many of one instant, or many actors whose newest is of one: look at more of them.
            if !is_stuck {
                return Ok(found);
            }
            (looked, opened) = ((looked * 2).min(LOOK_MAX), opened * 2);
        }
    }

    async fn look(
        &self,
        homes: &[ActorId],
        below: Option<&Place>,
        looked: usize,
        opened: usize,
    ) -> Result<Found> {
        // Up to and including the instant of the place: some of that instant may be below it.
        let ceiling = below.map_or(Time::MAX, |place| place.at);
        let span = Span::until(ceiling.plus_ms(1));
        let copies = self.copies(homes, span, looked).await?;
        let coverage = self.coverage(homes).await?;
        let mut sources = self.sources(homes, &coverage, ceiling);
        let unopened = sources.split_off(opened.min(sources.len()));
        let opened: Vec<ActorId> = sources.iter().map(|source| source.home.clone()).collect();
        let pulled = self.ground.core().activities(&opened, span).limit(looked).page().await?;

        let ends = [
            // Everything after the newest of those that were not opened is known.
            unopened.first().map(|source| Place::first_at(source.newest.plus_ms(1))),
            pulled.items.last().filter(|_| pulled.next.is_some()).map(Place::of),
            copies.as_ref().and_then(|(_, end)| end.clone()),
        ];
        let down_to = ends.into_iter().flatten().max();
        let is_wanted = |place: &Place| {
            below.is_none_or(|below| place < below)
                && down_to.as_ref().is_none_or(|down_to| place >= down_to)
        };
        let covers = |home: &ActorId, at| coverage.get(home).is_some_and(|one| one.covers(at));
        let mut entries = Vec::new();
        for activity in pulled.items {
            let home = Activity::home(&activity.actor_id, &activity.group_id);
            if is_wanted(&Place::of(&activity)) && !covers(&home, activity.created_at) {
                entries.push((Arc::new(Entry::of(&activity)), FeedSource::FanIn));
            }
        }
        let copies = copies.into_iter().flat_map(|(items, _)| items).filter(|item| {
            let home = Activity::home(&item.actor_id, &item.group_id);
            let place = Place { at: item.created_at, id: item.activity_id.clone() };
            is_wanted(&place) && covers(&home, item.created_at)
        });
        let copied = self.originals(copies.collect()).await?;
        entries.extend(copied.into_iter().map(|entry| (Arc::new(entry), FeedSource::FanOut)));
        entries.sort_unstable_by(|(one, _), (other, _)| other.place.cmp(&one.place));
        Ok(Found { entries, down_to })
    }

    /// Reads where the activities of these actors are, each once.
    async fn learn(&mut self, homes: &[ActorId]) -> Result<()> {
        let unknown: Vec<ActorId> =
            homes.iter().filter(|home| !self.actors.contains_key(*home)).cloned().collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let core = self.ground.core();
        let heads = core.actor_heads(&unknown).strong().get().await?;
        let is_copied = |head: &ActorHead| head.since.is_some() || !head.intervals.is_empty();
        let copied = heads.iter().flatten().filter(|head| is_copied(head));
        let copied: Vec<ActorId> = copied.map(|head| head.actor_id.clone()).collect();
        let promotions = core.promotions(&copied).strong().get().await?.into_iter().flatten();
        let mut promotions: HashMap<ActorId, Promotion> =
            promotions.map(|promotion| (promotion.subject_id.clone(), promotion)).collect();
        for (home, head) in unknown.into_iter().zip(heads) {
            let promotion = promotions.remove(&home);
            self.actors.insert(home, head.map(|head| Actor { head, promotion }));
        }
        Ok(())
    }

    /// Copies in the reader's feed, and down to where they are all; `None` if none of these actors has
    /// any there.
    async fn copies(
        &self,
        homes: &[ActorId],
        span: Span<Time>,
        looked: usize,
    ) -> Result<Option<(Vec<FeedItem>, Option<Place>)>> {
        let promotions = homes.iter().filter_map(|home| self.actor(home)?.promotion.as_ref());
        if !promotions.into_iter().any(|promotion| promotion.watermark.is_some()) {
            return Ok(None);
        }
        let items = self.ground.core().feed_items(self.reader, span).strong().limit(looked);
        let page = items.page().await?;
        let place = |item: &FeedItem| Place { at: item.created_at, id: item.activity_id.clone() };
        let end = page.items.last().filter(|_| page.next.is_some()).map(place);
        Ok(Some((page.items, end)))
    }

    /// What of each actor is there to be found among the copies. Called after they were read: what is
    /// trimmed, the horizon told before.
    async fn coverage(&self, homes: &[ActorId]) -> Result<HashMap<ActorId, Coverage>> {
        let marked = |home: &&ActorId| self.actor(home).is_some_and(|one| one.promotion.is_some());
        let marked: Vec<&ActorId> = homes.iter().filter(marked).collect();
        if marked.is_empty() {
            return Ok(HashMap::new());
        }
        let horizon = self.ground.core().feed_horizon(self.reader).get().await?;
        let reach = Reach {
            now: self.ground.now(),
            margin_ms: self.ground.settings().feed.margin_ms,
            horizon: horizon.map(|horizon| horizon.oldest),
        };
        let covered = marked.into_iter().filter_map(|home| {
            let Actor { head, promotion } = self.actor(home)?;
            let since = *self.circle.homes.get(home)?;
            Some((home.clone(), Coverage::of(head, promotion.as_ref(), since, reach)))
        });
        Ok(covered.collect())
    }

    /// The actors that have something to look up, those with the newest first.
    fn sources<'h>(
        &self,
        homes: &'h [ActorId],
        coverage: &HashMap<ActorId, Coverage>,
        ceiling: Time,
    ) -> Vec<Source<'h>> {
        let source = |home: &'h ActorId| {
            let newest = self.actor(home)?.head.last_ts.min(ceiling);
            let newest = match coverage.get(home) {
                Some(coverage) => coverage.newest_open(newest)?,
                None => newest,
            };
            Some(Source { home, newest })
        };
        let mut sources: Vec<Source<'h>> = homes.iter().filter_map(source).collect();
        sources.sort_unstable_by_key(|source| Reverse(source.newest));
        sources
    }

    /// The activities behind copies. A copy says enough of one about a post, whose text is read anyway.
    async fn originals(&self, copies: Vec<FeedItem>) -> Result<Vec<Entry>> {
        let is_enough = |item: &FeedItem| item.object_type == ObjectType::Post;
        let place = |item: &FeedItem| {
            let home = Activity::home(&item.actor_id, &item.group_id);
            Activity::at(&home, &item.created_at, &item.activity_id)
        };
        let read = copies.iter().filter(|item| !is_enough(item)).map(place);
        let mut read = self.ground.at("activity", read).await?.into_iter();
        let entry = |item: FeedItem| {
            if is_enough(&item) {
                return Some(Entry::of_copy(&item));
            }
            read.next()?.as_ref().map(Entry::of)
        };
        Ok(copies.into_iter().filter_map(entry).collect())
    }

    fn actor(&self, home: &ActorId) -> Option<&Actor> {
        self.actors.get(home)?.as_ref()
    }
}
