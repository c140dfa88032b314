//! A cache of readers' circles: the users they follow, mute and block, and their groups. One strong
//! read of the version, which every change raises, tells whether a cached circle is current.

use std::mem;
use std::sync::Arc;

use futures::future::try_join3;
use hashbrown::{HashMap, HashSet};
use lru::LruCache;
use parking_lot::Mutex;
use roundtable_model::entities::{Follow, GroupMember, Mute, UserCounter};
use roundtable_model::{
    ActorId, Cursor, EntityPage, FollowStatus, GroupId, MemberStatus, Result, Shards, Time,
    UserCount, UserId,
};

use crate::Context;
use crate::viewer_access::KnownRelations;

const PAGE_ITEMS: usize = 900;
/// The longest that eventually consistent indexes may lag.
const INDEX_LAG_MS: u64 = 30_000;

#[derive(Debug, Default)]
pub(crate) struct Circle {
    version: u64,
    /// True if the indexes were current when read; if not, callers must read the table itself.
    pub(crate) is_settled: bool,
    /// The actors in the reader's feed, and the time since which their activities may be copied there.
    pub(crate) homes: HashMap<ActorId, Time>,
    /// The groups among `homes`.
    pub(crate) groups: HashSet<GroupId>,
    /// Users the reader has muted.
    pub(crate) muted: HashSet<UserId>,
    /// The followed users among `muted`, who are not among `homes`.
    muted_followees: HashSet<UserId>,
    /// The time at which the first of the mutes ends.
    unmutes_at: Option<Time>,
    /// Users who blocked the reader, or were blocked by the reader.
    pub(crate) blocked: HashSet<UserId>,
}

impl KnownRelations for Circle {
    fn follows(&self, user: &UserId) -> bool {
        self.homes.contains_key(&ActorId::from(user)) || self.muted_followees.contains(user)
    }

    fn is_blocked(&self, user: &UserId) -> bool {
        self.blocked.contains(user)
    }

    fn is_active_member(&self, group: &GroupId) -> bool {
        self.groups.contains(group)
    }
}

impl Circle {
    /// The size in memory, as a number of relations.
    fn ties(&self) -> usize {
        let muted = self.muted.len() + self.muted_followees.len();
        self.homes.len() + muted + self.blocked.len() + 1
    }

    /// Returns whether the circle is that of a version, now: mutes end without raising it.
    fn is_current(&self, version: u64, now: Time) -> bool {
        self.version == version && self.unmutes_at.is_none_or(|end| now < end)
    }
}

/// The circles of recent readers.
#[derive(Debug)]
pub(crate) struct CircleCache {
    ties_max: usize,
    cache: Mutex<CachedCircles>,
    /// Loads under way: concurrent requests of a reader share one, because a circle may be large.
    loads: Mutex<HashMap<UserId, Arc<CircleLoad>>>,
}

/// The result of the latest of concurrent loads.
type CircleLoad = tokio::sync::Mutex<Option<Arc<Circle>>>;

/// A load of a reader's circle, which is forgotten with the last request that takes part.
struct SharedLoad<'a> {
    loads: &'a Mutex<HashMap<UserId, Arc<CircleLoad>>>,
    reader: &'a UserId,
    load: Arc<CircleLoad>,
}

impl<'a> SharedLoad<'a> {
    fn of(loads: &'a Mutex<HashMap<UserId, Arc<CircleLoad>>>, reader: &'a UserId) -> Self {
        let load = Arc::clone(loads.lock().entry(reader.clone()).or_default());
        Self { loads, reader, load }
    }
}

impl Drop for SharedLoad<'_> {
    fn drop(&mut self) {
        let mut loads = self.loads.lock();
        // Given up under the lock, so that of two that end at once the second is the last.
        drop(mem::take(&mut self.load));
        if loads.get(self.reader).is_some_and(|load| Arc::strong_count(load) == 1) {
            loads.remove(self.reader);
        }
    }
}

#[derive(Debug)]
struct CachedCircles {
    circles: LruCache<UserId, Arc<Circle>>,
    ties: usize,
}

impl CircleCache {
    pub(crate) fn new(ties_max: usize) -> Self {
        let remembered = CachedCircles { circles: LruCache::unbounded(), ties: 0 };
        Self { ties_max, cache: Mutex::new(remembered), loads: Mutex::default() }
    }

    /// Returns a reader's current circle.
    pub(crate) async fn of(&self, context: &Context, reader: &UserId) -> Result<Arc<Circle>> {
        let counter = version(context, reader).await?;
        let version = counter.as_ref().and_then(|counter| counter.version).unwrap_or(0);
        let cache = self.cache.lock().circles.get(reader).cloned();
        if let Some(circle) = cache.filter(|circle| circle.is_current(version, context.now())) {
            return Ok(circle);
        }
        let changed_at = counter.map_or(Time::EPOCH, |counter| counter.updated_at);
        let shared = SharedLoad::of(&self.loads, reader);
        self.load(context, reader, version, changed_at, &shared.load).await
    }

    /// Loads a circle, unless a concurrent request has loaded this version meanwhile.
    async fn load(
        &self,
        context: &Context,
        reader: &UserId,
        version: u64,
        changed_at: Time,
        shared: &CircleLoad,
    ) -> Result<Arc<Circle>> {
        let mut loaded = shared.lock().await;
        if let Some(circle) =
            loaded.as_ref().filter(|circle| circle.is_current(version, context.now()))
        {
            return Ok(Arc::clone(circle));
        }
        // Rarely needed and large: boxed, to keep the futures of pages small.
        let context = &context.without_read_budget();
        let circle = Box::pin(load(context, reader, version, changed_at)).await?;
        let circle = Arc::new(circle);
        // The circle is at least as new as the version read before it; at worst it is read again.
        if circle.is_settled {
            self.remember(reader, &circle);
        }
        *loaded = Some(Arc::clone(&circle));
        Ok(circle)
    }

    /// Returns a reader's circle, if it is cached and current.
    pub(crate) async fn cached(
        &self,
        context: &Context,
        reader: &UserId,
    ) -> Result<Option<Arc<Circle>>> {
        let Some(circle) = self.cache.lock().circles.get(reader).cloned() else { return Ok(None) };
        let counter = version(context, reader).await?;
        let version = counter.and_then(|counter| counter.version).unwrap_or(0);
        Ok(Some(circle).filter(|circle| circle.is_current(version, context.now())))
    }

    /// The number of cached circles, and of relations in them.
    pub(crate) fn stats(&self) -> (usize, usize) {
        let cache = self.cache.lock();
        (cache.circles.len(), cache.ties)
    }

    fn remember(&self, reader: &UserId, circle: &Arc<Circle>) {
        let mut cache = self.cache.lock();
        cache.ties += circle.ties();
        if let Some(before) = cache.circles.put(reader.clone(), Arc::clone(circle)) {
            cache.ties -= before.ties();
        }
        while cache.ties > self.ties_max
            && let Some((_, oldest)) = cache.circles.pop_lru()
        {
            cache.ties -= oldest.ties();
        }
    }
}

/// The counter that carries the version of a reader's circle.
async fn version(context: &Context, reader: &UserId) -> Result<Option<UserCounter>> {
    let counts = context.core().counts(reader, &[UserCount::Following], Shards::ONE);
    Ok(counts.strong().get().await?.into_iter().flatten().next())
}

async fn load(
    context: &Context,
    reader: &UserId,
    version: u64,
    changed_at: Time,
) -> Result<Circle> {
    let core = context.core();
    let followed = all(async |after| {
        core.following(reader).strong().limit(PAGE_ITEMS).after(after).page().await
    });
    let blocks =
        all(async |after| core.blocks(reader).strong().limit(PAGE_ITEMS).after(after).page().await);
    let blockers =
        all(async |after| core.blockers(reader).limit(PAGE_ITEMS).after(after).page().await);
    let mutes =
        all(async |after| core.mutes(reader).strong().limit(PAGE_ITEMS).after(after).page().await);
    let groups = groups(context, reader);
    let relations = try_join3(blockers, mutes, groups);
    let (followed, blocks, (blockers, mutes, groups)) =
        Box::pin(try_join3(followed, blocks, relations)).await?;
    let indexes_are_strong = context.store().capabilities().strong_index_reads;
    let is_settled = indexes_are_strong || changed_at.plus_ms(INDEX_LAG_MS) <= context.now();
    let mut circle = Circle { version, is_settled, ..Circle::default() };
    // A reader's own activities are never copied into their own feed.
    circle.homes.insert(reader.into(), Time::MAX);
    let now = context.now();
    for Mute { muted_id, until, .. } in mutes.into_iter().filter(|mute| mute.is_in_force(now)) {
        circle.muted.insert(muted_id);
        circle.unmutes_at = circle.unmutes_at.into_iter().chain(until).min();
    }
    for edge in followed.into_iter().filter(|edge| edge.status == FollowStatus::Active) {
        let Follow { followee_id, muted, active_since, .. } = edge;
        // An earlier version stored mutes in follows.
        if muted || circle.muted.contains(&followee_id) {
            circle.muted.insert(followee_id.clone());
            circle.muted_followees.insert(followee_id);
        } else {
            circle.homes.insert((&followee_id).into(), active_since.unwrap_or(Time::MAX));
        }
    }
    for member in groups {
        let since = member.active_since.unwrap_or(Time::MAX);
        circle.homes.insert((&member.group_id).into(), since);
        circle.groups.insert(member.group_id);
    }
    circle.blocked.extend(blocks.into_iter().map(|block| block.blocked_id));
    circle.blocked.extend(blockers.into_iter().map(|block| block.blocker_id));
    Ok(circle)
}

/// The reader's active memberships, read from the members' items because the index may lag.
async fn groups(context: &Context, reader: &UserId) -> Result<Vec<GroupMember>> {
    let core = context.core();
    let listed =
        all(async |after| core.groups_of(reader).limit(PAGE_ITEMS).after(after).page().await)
            .await?;
    let is_active = |member: &GroupMember| member.status == MemberStatus::Active;
    if context.store().capabilities().strong_index_reads {
        return Ok(listed.into_iter().filter(is_active).collect());
    }
    let ids: Vec<GroupId> = listed.into_iter().map(|member| member.group_id).collect();
    let members = core.memberships(&ids, reader).get().await?;
    Ok(members.into_iter().flatten().filter(is_active).collect())
}

/// Reads a whole list.
async fn all<E, Read>(read: impl Fn(Option<Cursor>) -> Read) -> Result<Vec<E>>
where
    Read: Future<Output = Result<EntityPage<E>>>,
{
    let (mut items, mut after) = (Vec::new(), None);
    loop {
        let page = read(after).await?;
        items.extend(page.items);
        after = page.next;
        if after.is_none() {
            return Ok(items);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn loads_that_end_at_the_same_time_leave_nothing_behind() {
        let (loads, reader) = (Mutex::default(), UserId::try_from("ana").unwrap());
        let start = Barrier::new(2);
        for _ in 0..2_000 {
            let shared = [SharedLoad::of(&loads, &reader), SharedLoad::of(&loads, &reader)];
            thread::scope(|scope| {
                for load in shared {
                    scope.spawn(|| {
                        start.wait();
                        drop(load);
                    });
                }
            });
            assert!(loads.lock().is_empty());
        }
    }
}
