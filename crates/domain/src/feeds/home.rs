//! A page of a home feed: candidates from wherever they are cheapest, each checked against the present,
//! until the page is full or history ends.

use std::sync::Arc;

use hashbrown::HashMap;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, FeedItem, User};
use roundtable_model::{ActivityId, ActorId, Cursor, Misfit, ObjectType, Span, Time, UserId};

use super::circles::Circle;
use super::entry::Entry;
use super::place::Place;
use super::stored::Stored;
use super::{FEED_ITEMS, FeedEntry, FeedError, FeedSource, Feeds, Found};
use crate::activities::Objects;
use crate::{Caller, Failure, Page, PageInput, Sight};

/// How many of everybody's latest activities are looked at for each home in a circle, before its homes
/// are looked at one by one: a test of membership costs less than a look at a home.
const LOOKS_PER_HOME: usize = 3;
/// Looks that cost nothing to speak of.
const LOOKS_MIN: usize = 200;
/// A reader's own activities that memory may not have heard of.
const OWN_NEWEST: usize = 10;
/// Candidates of one look at the most.
const LOOK_MAX: usize = 400;

#[boxed]
impl Feeds {
    /// A page of the caller's home feed: full, unless history ends.
    pub async fn home(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<FeedEntry>, FeedError> {
        let wanted = page.size_or(FEED_ITEMS)?;
        let mut below = page.after.as_ref().map(|cursor| place(caller, cursor)).transpose()?;
        let me = self.ground.reader(caller).await?;
        // First the log, then the circle: neither is behind what the reader could know.
        self.memory.catch_up(&self.ground).await?;
        if below.is_none() {
            self.note_own(&me).await?;
        }
        let circle = self.circles.of(&self.ground, &me.id).await.map_err(Failure::from)?;
        let mut stored = Stored::new(&self.ground, &me.id, &circle);
        let (mut items, mut looked, mut may_walk) = (Vec::with_capacity(wanted + 1), 0, true);
        loop {
            // One more than a page, to know whether another one follows; and as many beyond as fell out
            // of those before them.
            let missing = wanted + 1 - items.len();
            let missing = (missing * (looked + 1)).div_ceil(items.len() + 1).min(LOOK_MAX);
            let walked = may_walk.then(|| self.walked(&circle, below.as_ref(), missing)).flatten();
            let found = match walked {
                Some(found) => {
                    may_walk = found.entries.len() >= missing;
                    found
                }
                None => self.gathered(&mut stored, &circle, below.as_ref(), missing).await?,
            };
            looked += found.entries.len();
            items.extend(self.shown(caller, &me, &circle, found.entries).await?);
            below = found.down_to;
            if items.len() > wanted || below.is_none() {
                break;
            }
        }
        let more = items.len() > wanted;
        items.truncate(wanted);
        let cursor = |entry: &FeedEntry| cursor(caller, entry);
        let next = items.last().filter(|_| more).map(cursor);
        let items = items.into_iter().map(|entry| (cursor(&entry), entry));
        Ok(Page { items: items.map(|(cursor, entry)| (entry, cursor)).collect(), next })
    }

    /// Entries of the caller's home feed by where and when they happened, each in its place; `None`
    /// where their feed has none.
    pub async fn at(
        &self,
        caller: &Caller,
        places: &[(ActorId, Time, ActivityId)],
    ) -> Result<Vec<Option<FeedEntry>>, FeedError> {
        let me = self.ground.reader(caller).await?;
        self.memory.catch_up(&self.ground).await?;
        let circle = self.circles.of(&self.ground, &me.id).await.map_err(Failure::from)?;
        let at = places.iter().map(|(home, at, id)| Activity::at(home, at, id));
        let found = self.ground.at("activity", at).await?.into_iter().flatten();
        let entries = found.map(|activity| Arc::new(Entry::of(&activity)));
        let entries = entries.filter(|entry| circle.has(entry)).collect();
        let shown = self.shown(caller, &me, &circle, sourced(entries)).await?;
        let shown: HashMap<ActivityId, FeedEntry> =
            shown.into_iter().map(|entry| (entry.activity.activity_id.clone(), entry)).collect();
        Ok(places.iter().map(|(_, _, id)| shown.get(id).cloned()).collect())
    }

    /// Where memory may be behind, readers find at least what they did themselves.
    async fn note_own(&self, me: &User) -> Result<(), Failure> {
        if self.ground.store().capabilities().one_process {
            return Ok(());
        }
        let own = self.ground.core().activities_of(&(&me.id).into(), Span::ALL);
        let own = own.strong().limit(OWN_NEWEST).page().await?;
        own.items.iter().for_each(|activity| self.memory.note_own(activity));
        Ok(())
    }

    /// Candidates among the latest activities of everybody: the cheapest where the circle is large.
    fn walked(&self, circle: &Circle, below: Option<&Place>, wanted: usize) -> Option<Found> {
        let looks = LOOKS_MIN + circle.homes.len() * LOOKS_PER_HOME;
        let is_mine = |entry: &Entry| circle.has(entry);
        let (entries, down_to) = self.memory.recent(below, wanted, looks, is_mine)?;
        Some(Found { entries: sourced(entries), down_to })
    }

    /// Candidates from each home: from memory, and from the table for those whose memory ends above.
    async fn gathered(
        &self,
        stored: &mut Stored<'_>,
        circle: &Circle,
        below: Option<&Place>,
        wanted: usize,
    ) -> Result<Found, Failure> {
        let homes = circle.homes.keys();
        let merged = self.memory.newest(&self.ground, homes, below, wanted).await?;
        let entries = merged.entries.into_iter().filter(|entry| circle.has(entry)).collect();
        let remembered = Found { entries: sourced(entries), down_to: merged.down_to };
        if merged.worn.is_empty() {
            return Ok(remembered);
        }
        let mut read = stored.below(&merged.worn, below, wanted).await?;
        read.entries.retain(|(entry, _)| circle.has(entry));
        Ok(remembered.beside(read))
    }

    /// The candidates that the reader may see, as they are shown now.
    pub(super) async fn shown(
        &self,
        caller: &Caller,
        me: &User,
        circle: &Circle,
        candidates: Vec<(Arc<Entry>, FeedSource)>,
    ) -> Result<Vec<FeedEntry>, Failure> {
        let (ground, memory) = (&self.ground, &self.memory);
        let (entries, sources): (Vec<_>, Vec<_>) = candidates.into_iter().unzip();
        let activities: Vec<_> = entries.iter().map(|entry| entry.activity()).collect();
        let posts = |ids: Vec<_>| async move { memory.posts(ground, &ids).await };
        let objects = Objects::of(ground, &activities, posts).await?;
        let (people, groups) = (objects.people(&activities), objects.groups(&activities));
        let sight = if circle.is_settled {
            let others: Vec<UserId> = people.into_iter().filter(|id| *id != me.id).collect();
            let groups: Vec<_> = groups.into_iter().collect();
            let known = futures::future::try_join(
                memory.people(ground, &others),
                memory.groups(ground, &groups),
            );
            let (mut people, groups) = known.await?;
            people.insert(me.id.clone(), Arc::new(me.clone()));
            Sight::within(circle, caller, people, groups)
        } else {
            ground.sight_of(caller, me, &people, &groups).await?
        };
        let entry = |(activity, source)| {
            let post = objects.post(&activity).cloned();
            // What somebody wrote below a post of the muted is theirs, and not of the muted.
            let is_of_muted = activity.object_type == ObjectType::Post
                && post.as_ref().is_some_and(|post| circle.muted.contains(&post.author_id));
            if is_of_muted {
                return None;
            }
            let activity = objects.shown(&sight, activity)?;
            Some(FeedEntry { activity, post, source })
        };
        Ok(activities.into_iter().zip(sources).filter_map(entry).collect())
    }
}

impl Circle {
    /// Whether an activity belongs into the reader's feed, if they may see it.
    pub(super) fn has(&self, entry: &Entry) -> bool {
        self.homes.contains_key(&entry.home()) && !self.muted.contains(&entry.actor_id)
    }
}

impl Found {
    /// What both found, down to where both know everything.
    fn beside(mut self, other: Self) -> Self {
        self.down_to = self.down_to.max(other.down_to);
        self.entries.extend(other.entries);
        if let Some(down_to) = &self.down_to {
            self.entries.retain(|(entry, _)| entry.place >= *down_to);
        }
        self.entries.sort_unstable_by(|(one, _), (other, _)| other.place.cmp(&one.place));
        self
    }
}

/// Candidates from memory: memory holds what actors did.
pub(super) fn sourced(entries: Vec<Arc<Entry>>) -> Vec<(Arc<Entry>, FeedSource)> {
    entries.into_iter().map(|entry| (entry, FeedSource::FanIn)).collect()
}

/// What the cursors of one reader's feed belong to.
fn question(caller: &Caller) -> String {
    format!("home of {}", caller.user_id)
}

/// The cursor that continues after an entry.
fn cursor(caller: &Caller, entry: &FeedEntry) -> Cursor {
    let activity = &entry.activity;
    let item = FeedItem::at(&caller.user_id, &activity.created_at, &activity.activity_id);
    Cursor::at(&question(caller), item)
}

/// Where a cursor continues.
fn place(caller: &Caller, cursor: &Cursor) -> Result<Place, Failure> {
    let read = || {
        let sort = cursor.key_in(&question(caller))?.sort.as_ref()?.as_text()?;
        let (at, id) = sort.strip_prefix("TS#")?.split_once('#')?;
        Some(Place { at: at.parse::<Time>().ok()?, id: id.parse::<ActivityId>().ok()? })
    };
    read().ok_or_else(|| Failure::bad("cursor", Misfit::new("a cursor of this feed", cursor)))
}
