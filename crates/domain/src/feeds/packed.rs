//! The activities of one actor, packed, because memory holds many of many actors.
//!
//! Most activities are about a post, by a user, and named by ULIDs: those take 33 bytes each. All
//! others are kept whole.

use std::cmp::Ordering;
use std::sync::Arc;

use roundtable_model::{ActivityVerb, ActorId, Id, ObjectType, Time};

use super::cached_activity::CachedActivity;
use super::position::FeedPosition;

/// Activities of one home, in ascending order.
#[derive(Debug, Default)]
pub(super) struct PackedActivities {
    /// Exactly as long as needed.
    records: Box<[PackedActivity]>,
    /// `None` for most actors.
    whole: Option<Box<WholeActivities>>,
}

/// An activity in 33 bytes. If it is whole, the id has its time, and its place among whole ones.
#[derive(Clone, Copy, Debug)]
struct PackedActivity {
    id: [u8; ID_BYTES],
    object_id: [u8; ID_BYTES],
    /// Verb, kind of object and flags.
    kind: u8,
}

/// Activities that do not fit into a record. A place whose activity is gone is `None`.
#[derive(Debug, Default)]
struct WholeActivities(Vec<Option<Arc<CachedActivity>>>);

const ID_BYTES: usize = 16;
/// The bytes of the time in a ULID.
const TIME_BYTES: usize = 6;

/// The bits of a kind.
const VERB_MAX: usize = 0b111;
const OBJECT_SHIFT: u32 = 3;
const OBJECT_MAX: usize = 0b111;
const IS_FANNED_OUT: u8 = 1 << 6;
const IS_WHOLE: u8 = 1 << 7;

impl PackedActivities {
    /// Packs activities, newest first.
    pub(super) fn of(newest: Vec<CachedActivity>) -> Self {
        let mut whole = WholeActivities::default();
        let mut records: Vec<PackedActivity> =
            newest.into_iter().map(|entry| whole.record(Arc::new(entry))).collect();
        records.reverse();
        let whole = (!whole.0.is_empty()).then(|| Box::new(whole));
        Self { records: records.into(), whole }
    }

    pub(super) const fn len(&self) -> usize {
        self.records.len()
    }

    /// Roughly the memory they take on the heap.
    pub(super) fn bytes(&self) -> usize {
        let whole = self.whole.iter().flat_map(|whole| &whole.0);
        let whole =
            whole.map(|entry| size_of::<usize>() + entry.as_ref().map_or(0, |entry| entry.bytes()));
        size_of_val(&*self.records) + whole.sum::<usize>()
    }

    /// The time of the newest one.
    pub(super) fn newest(&self) -> Option<Time> {
        self.records.last().map(PackedActivity::at)
    }

    /// The position of the oldest one.
    pub(super) fn oldest(&self) -> Option<FeedPosition> {
        self.records.first().map(|record| self.position(record))
    }

    /// The number of those below a position.
    pub(super) fn count_below(&self, position: &FeedPosition) -> usize {
        self.records.partition_point(|record| self.cmp(record, position).is_lt())
    }

    /// The time of the one at a place, counted from the oldest.
    pub(super) fn time_at(&self, place: usize) -> Option<Time> {
        self.records.get(place).map(PackedActivity::at)
    }

    pub(super) fn position_at(&self, place: usize) -> Option<FeedPosition> {
        self.records.get(place).map(|record| self.position(record))
    }

    /// Unpacks the one at a place; `home` is their common home.
    pub(super) fn get(&self, place: usize, home: &ActorId) -> Option<Arc<CachedActivity>> {
        let record = self.records.get(place)?;
        match self.whole_of(record) {
            Some(entry) => Some(Arc::clone(entry)),
            None => record.unpack(home).map(Arc::new),
        }
    }

    /// Adds an activity, or replaces the one at its position.
    pub(super) fn insert(&mut self, entry: &Arc<CachedActivity>) {
        let (place, is_new) = match self.find(&entry.position) {
            Ok(place) => (place, false),
            Err(place) => (place, true),
        };
        if !is_new && let Some(record) = self.records.get(place).copied() {
            self.drop_whole(&record);
        }
        let record = match PackedActivity::pack(entry) {
            Some(record) => record,
            None => self.whole.get_or_insert_default().record(Arc::clone(entry)),
        };
        if is_new {
            let (older, newer) = self.records.split_at(place);
            self.records = [older, &[record], newer].concat().into();
        } else if let Some(current) = self.records.get_mut(place) {
            *current = record;
        }
    }

    /// Removes the activity at a position; returns whether there was one.
    pub(super) fn remove(&mut self, position: &FeedPosition) -> bool {
        let Ok(place) = self.find(position) else { return false };
        if let Some(record) = self.records.get(place).copied() {
            self.drop_whole(&record);
        }
        let mut records = std::mem::take(&mut self.records).into_vec();
        records.remove(place);
        self.records = records.into();
        true
    }

    /// Keeps only the newest.
    pub(super) fn truncate(&mut self, max: usize) {
        let over = self.records.len().saturating_sub(max);
        if over > 0 {
            let mut records = std::mem::take(&mut self.records).into_vec();
            records.drain(..over).for_each(|record| self.drop_whole(&record));
            self.records = records.into();
        }
    }

    /// Compares the one at a place with the one of another actor, as positions do.
    pub(super) fn cmp_at(&self, place: usize, other: &Self, other_place: usize) -> Ordering {
        let times = self.time_at(place).cmp(&other.time_at(other_place));
        times.then_with(|| self.position_at(place).cmp(&other.position_at(other_place)))
    }

    fn find(&self, position: &FeedPosition) -> Result<usize, usize> {
        self.records.binary_search_by(|record| self.cmp(record, position))
    }

    fn cmp(&self, record: &PackedActivity, position: &FeedPosition) -> Ordering {
        let times = record.at().cmp(&position.at);
        times.then_with(|| self.position(record).cmp(position))
    }

    fn position(&self, record: &PackedActivity) -> FeedPosition {
        match self.whole_of(record) {
            Some(entry) => entry.position.clone(),
            None => record.position(),
        }
    }

    fn whole_of(&self, record: &PackedActivity) -> Option<&Arc<CachedActivity>> {
        let place = record.whole_place()?;
        self.whole.as_ref()?.0.get(place)?.as_ref()
    }

    fn drop_whole(&mut self, record: &PackedActivity) {
        let Some(place) = record.whole_place() else { return };
        let Some(whole) = &mut self.whole else { return };
        if let Some(entry) = whole.0.get_mut(place) {
            *entry = None;
        }
        if whole.0.iter().all(Option::is_none) {
            self.whole = None;
        }
    }
}

impl WholeActivities {
    /// Returns the record of an activity, and keeps those that do not fit into one.
    fn record(&mut self, entry: Arc<CachedActivity>) -> PackedActivity {
        if let Some(record) = PackedActivity::pack(&entry) {
            return record;
        }
        let at = entry.position.at;
        let free = self.0.iter().position(Option::is_none);
        let place = free.unwrap_or(self.0.len());
        match self.0.get_mut(place) {
            Some(free) => *free = Some(entry),
            None => self.0.push(Some(entry)),
        }
        PackedActivity::whole(at, place)
    }
}

impl PackedActivity {
    /// `None` if the activity does not fit.
    fn pack(entry: &CachedActivity) -> Option<Self> {
        let CachedActivity { position, verb, object_type, object_id, fanout, .. } = entry;
        let is_timed = position.id.time() == Some(position.at);
        if !entry.is_plain() || !is_timed {
            return None;
        }
        let index_of_verb = ActivityVerb::ALL.iter().position(|one| one == verb)?;
        let index_of_object = ObjectType::ALL.iter().position(|one| one == object_type)?;
        if index_of_verb > VERB_MAX || index_of_object > OBJECT_MAX {
            return None;
        }
        let indexes = index_of_verb | index_of_object << OBJECT_SHIFT;
        let fanout = if *fanout { IS_FANNED_OUT } else { 0 };
        Some(Self {
            id: position.id.as_ref().ulid_bytes()?,
            object_id: object_id.as_ref().ulid_bytes()?,
            kind: u8::try_from(indexes).ok()? | fanout,
        })
    }

    fn unpack(&self, home: &ActorId) -> Option<CachedActivity> {
        let verb = ActivityVerb::ALL.get(usize::from(self.kind) & VERB_MAX)?;
        let object_type = usize::from(self.kind) >> OBJECT_SHIFT & OBJECT_MAX;
        let object_type = ObjectType::ALL.get(object_type)?;
        let fanout = self.kind & IS_FANNED_OUT != 0;
        let object_id = Id::from_ulid_bytes(self.object_id).into();
        let position = self.position();
        Some(CachedActivity::plain(position, home, *verb, (*object_type, object_id), fanout))
    }

    /// The record of an activity that is kept whole.
    fn whole(at: Time, place: usize) -> Self {
        let mut id = [0; ID_BYTES];
        let ms = at.ms().to_be_bytes();
        let (_, ms) = ms.split_at(ms.len() - TIME_BYTES);
        let (time, rest) = id.split_at_mut(TIME_BYTES);
        time.copy_from_slice(ms);
        let place = (place as u64).to_be_bytes();
        let (_, end) = rest.split_at_mut(rest.len() - place.len());
        end.copy_from_slice(&place);
        Self { id, object_id: [0; ID_BYTES], kind: IS_WHOLE }
    }

    fn whole_place(&self) -> Option<usize> {
        let is_whole = self.kind & IS_WHOLE != 0;
        let place = self.id.last_chunk().filter(|_| is_whole)?;
        usize::try_from(u64::from_be_bytes(*place)).ok()
    }

    fn at(&self) -> Time {
        let mut ms = [0; size_of::<u64>()];
        let (_, low) = ms.split_at_mut(size_of::<u64>() - TIME_BYTES);
        let (time, _) = self.id.split_at(TIME_BYTES);
        low.copy_from_slice(time);
        Time::from_ms(u64::from_be_bytes(ms))
    }

    /// The position, unless it is whole.
    fn position(&self) -> FeedPosition {
        FeedPosition { at: self.at(), id: Id::from_ulid_bytes(self.id).into() }
    }
}

const _: () = assert!(size_of::<PackedActivity>() == 33, "many are held");

#[cfg(test)]
mod tests;
