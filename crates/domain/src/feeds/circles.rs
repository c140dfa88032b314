//! Whom readers follow, mute and block, and which groups they are in: remembered, and known to be
//! current by one strong read of the version that every change of it raises.

use std::sync::Arc;

use futures::future::{try_join, try_join3};
use hashbrown::{HashMap, HashSet};
use lru::LruCache;
use parking_lot::Mutex;
use roundtable_model::entities::{Follow, GroupMember, UserCounter};
use roundtable_model::{
    ActorId, Cursor, FollowStatus, GroupId, MemberStatus, Page, Result, Shards, Time, UserCount,
    UserId,
};

use crate::Ground;

/// Items read at once.
const PAGE_ITEMS: usize = 900;
/// How far indexes may be behind, where they may be.
const INDEX_LAG_MS: u64 = 30_000;

/// What one reader is tied to.
#[derive(Debug, Default)]
pub(crate) struct Circle {
    version: u64,
    /// Whether indexes told all there is to tell; if not, whoever must know asks the table itself.
    pub(crate) is_settled: bool,
    /// Whose activities the reader's feed is made of, and since when copies of them can come.
    pub(crate) homes: HashMap<ActorId, Time>,
    /// The groups among them.
    pub(crate) groups: HashSet<GroupId>,
    /// Whom the reader follows, and does not want to hear of.
    pub(crate) muted: HashSet<UserId>,
    /// Who has blocked the reader, or is blocked.
    pub(crate) blocked: HashSet<UserId>,
}

impl Circle {
    /// Whether the reader follows this person, muted or not.
    pub(crate) fn follows(&self, id: &UserId) -> bool {
        self.homes.contains_key(&ActorId::from(id)) || self.muted.contains(id)
    }

    /// What it takes in memory, in ties.
    fn ties(&self) -> usize {
        self.homes.len() + self.muted.len() + self.blocked.len() + 1
    }
}

/// The circles of those who have read of late.
#[derive(Debug)]
pub(crate) struct Circles {
    ties_max: usize,
    known: Mutex<Remembered>,
}

#[derive(Debug)]
struct Remembered {
    circles: LruCache<UserId, Arc<Circle>>,
    ties: usize,
}

impl Circles {
    pub(crate) fn new(ties_max: usize) -> Self {
        let remembered = Remembered { circles: LruCache::unbounded(), ties: 0 };
        Self { ties_max, known: Mutex::new(remembered) }
    }

    /// A reader's circle as it is now.
    pub(crate) async fn of(&self, ground: &Ground, reader: &UserId) -> Result<Arc<Circle>> {
        let counter = version(ground, reader).await?;
        let version = counter.as_ref().and_then(|counter| counter.version).unwrap_or(0);
        let known = self.known.lock().circles.get(reader).cloned();
        if let Some(circle) = known.filter(|circle| circle.version == version) {
            return Ok(circle);
        }
        let changed_at = counter.map_or(Time::EPOCH, |counter| counter.updated_at);
        // Seldom needed, and large: kept apart from what every page awaits.
        let circle = Box::pin(load(ground, reader, version, changed_at)).await?;
        let circle = Arc::new(circle);
        // What was read is at least as new as the version read before it: at worst it is read again.
        if circle.is_settled {
            self.remember(reader, &circle);
        }
        Ok(circle)
    }

    /// How many circles are remembered, and how many ties they have.
    pub(crate) fn figures(&self) -> (usize, usize) {
        let known = self.known.lock();
        (known.circles.len(), known.ties)
    }

    fn remember(&self, reader: &UserId, circle: &Arc<Circle>) {
        let mut known = self.known.lock();
        known.ties += circle.ties();
        if let Some(before) = known.circles.put(reader.clone(), Arc::clone(circle)) {
            known.ties -= before.ties();
        }
        while known.ties > self.ties_max
            && let Some((_, oldest)) = known.circles.pop_lru()
        {
            known.ties -= oldest.ties();
        }
    }
}

/// The counter that carries the version of a reader's circle.
async fn version(ground: &Ground, reader: &UserId) -> Result<Option<UserCounter>> {
    let counts = ground.core().counts(reader, &[UserCount::Following], Shards::ONE);
    Ok(counts.strong().get().await?.into_iter().flatten().next())
}

async fn load(ground: &Ground, reader: &UserId, version: u64, changed_at: Time) -> Result<Circle> {
    let core = ground.core();
    let followed = all(async |after| {
        core.following(reader).strong().limit(PAGE_ITEMS).after(after).page().await
    });
    let blocks =
        all(async |after| core.blocks(reader).strong().limit(PAGE_ITEMS).after(after).page().await);
    let blockers =
        all(async |after| core.blockers(reader).limit(PAGE_ITEMS).after(after).page().await);
    let groups = groups(ground, reader);
    let (followed, blocks, (blockers, groups)) =
        Box::pin(try_join3(followed, blocks, try_join(blockers, groups))).await?;
    let indexes_are_strong = ground.store().capabilities().strong_index_reads;
    let is_settled = indexes_are_strong || changed_at.plus_ms(INDEX_LAG_MS) <= ground.now();
    let mut circle = Circle { version, is_settled, ..Circle::default() };
    // Nothing of one's own is ever copied into one's own feed.
    circle.homes.insert(reader.into(), Time::MAX);
    for edge in followed.into_iter().filter(|edge| edge.status == FollowStatus::Active) {
        let Follow { followee_id, muted, active_since, .. } = edge;
        if muted {
            circle.muted.insert(followee_id);
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

/// The groups the reader is an active member of, by the members' items themselves: the index that
/// lists them may be behind.
async fn groups(ground: &Ground, reader: &UserId) -> Result<Vec<GroupMember>> {
    let core = ground.core();
    let listed =
        all(async |after| core.groups_of(reader).limit(PAGE_ITEMS).after(after).page().await)
            .await?;
    let is_active = |member: &GroupMember| member.status == MemberStatus::Active;
    if ground.store().capabilities().strong_index_reads {
        return Ok(listed.into_iter().filter(is_active).collect());
    }
    let ids: Vec<GroupId> = listed.into_iter().map(|member| member.group_id).collect();
    let members = core.memberships(&ids, reader).get().await?;
    Ok(members.into_iter().flatten().filter(is_active).collect())
}

/// All of a list, however long.
async fn all<E, Read>(read: impl Fn(Option<Cursor>) -> Read) -> Result<Vec<E>>
where
    Read: Future<Output = Result<Page<E>>>,
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
