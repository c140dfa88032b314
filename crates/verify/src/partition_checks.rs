//! Checks across the items of one partition, which a scan returns together and in the order of
//! their sort keys: a room's head comes before its members and messages and the room itself last, a
//! group before its members, a feed's horizon before its copies. So only the current partition is
//! kept in memory.

use roundtable_model::entities::{
    FeedHorizon, FeedItem, Group, GroupMember, Message, Room, RoomHead, RoomMember,
};
use roundtable_model::shape::Index;
use roundtable_model::table::Item;
use roundtable_model::{FromItem, MemberStatus, RoomId, RoomScope, TYPE, Time, UserId};

use crate::entity_checks::item_key;
use crate::finding::{Finding, Invariant, Repair};
use crate::subject::TallySubject;
use crate::tally::{TallyEntry, TallyKind};

/// Prefix of the ids of direct-message rooms; the rest is a hash of the two users.
const DM_PREFIX: &str = "dm-";
const HASH_BYTES: usize = 20;
/// Copies that one trimming batch deletes behind the horizon of a feed: an interrupted trim may
/// leave as many. More remain only if trimming never ran again.
const COPIES_BEHIND_MAX: u64 = 1_000;

/// The state of the current partition.
#[derive(Debug, Default)]
pub(crate) struct PartitionState {
    partition: String,
    group_room: Option<RoomId>,
    head: Option<RoomHead>,
    /// Time and number of the last message.
    last: Option<(Time, u64)>,
    /// The first three members of a direct-message room.
    room_members: Vec<UserId>,
    horizon: Option<Time>,
    copies_behind: u64,
}

impl PartitionState {
    /// Checks the next item of a scan.
    pub(crate) fn visit(
        &mut self,
        item: &Item,
        emit: &mut dyn FnMut(TallyEntry),
        report: &mut dyn FnMut(Finding),
    ) {
        let partition = item.text(Index::Main.partition_attribute()).unwrap_or_default();
        if partition != self.partition {
            *self = Self { partition: partition.to_owned(), ..Self::default() };
        }
        // `check_item` reports unreadable items.
        match item.text(TYPE) {
            Some("Group") => {
                self.group_room = Group::from_item(item).ok().map(|group| group.room_id);
            }
            Some("GroupMember") => self.group_member(item, emit),
            Some("RoomHead") => self.head = RoomHead::from_item(item).ok(),
            Some("RoomMember") => self.room_member(item, emit, report),
            Some("Message") => self.message(item, report),
            Some("Room") => self.room(item, report),
            Some("FeedHorizon") => {
                self.horizon = FeedHorizon::from_item(item).ok().map(|horizon| horizon.oldest);
            }
            Some("FeedItem") => self.copy(item, report),
            _ => {}
        }
    }

    fn group_member(&self, item: &Item, emit: &mut dyn FnMut(TallyEntry)) {
        let Ok(group_member) = GroupMember::from_item(item) else { return };
        if let Some(room) = &self.group_room
            && group_member.status == MemberStatus::Active
        {
            let subject = TallySubject::RoomMember(room.clone(), group_member.user_id);
            emit(TallyEntry::fact(TallyKind::RoomMember, subject));
        }
    }

    fn room_member(
        &mut self,
        item: &Item,
        emit: &mut dyn FnMut(TallyEntry),
        report: &mut dyn FnMut(Finding),
    ) {
        let Ok(room_member) = RoomMember::from_item(item) else { return };
        let newest = self.head.as_ref().map_or(0, |head| head.seq);
        if room_member.read_seq > newest {
            let expected = format!("readSeq {newest} at most, the number of the newest message");
            report(room_finding(item, expected, room_member.read_seq.to_string()));
        }
        if room_member.room_id.to_string().starts_with(DM_PREFIX) {
            // Three are enough to see that there are too many.
            self.room_members.extend((self.room_members.len() < 3).then_some(room_member.user_id));
        } else {
            let subject = TallySubject::RoomMember(room_member.room_id, room_member.user_id);
            emit(TallyEntry::stated(TallyKind::RoomMember, subject, 1));
        }
    }

    fn message(&mut self, item: &Item, report: &mut dyn FnMut(Finding)) {
        let Ok(message) = Message::from_item(item) else { return };
        let (at, seq) = (message.created_at, message.seq);
        let Some(head) = &self.head else {
            return report(room_finding(item, "a room with a head", "none"));
        };
        if seq > head.seq || at > head.last_ts {
            let expected = format!("number {} at most, by {}", head.seq, head.last_ts);
            report(room_finding(item, expected, format!("number {seq}, of {at}")));
        }
        if let Some((before, previous)) = self.last.filter(|(_, previous)| *previous >= seq) {
            let expected =
                format!("a number above {previous}, the number of a message of {before}");
            report(room_finding(item, expected, seq.to_string()));
        }
        self.last = Some((at, seq));
    }

    fn room(&self, item: &Item, report: &mut dyn FnMut(Finding)) {
        let Ok(room) = Room::from_item(item) else { return };
        if self.head.is_none() {
            report(room_finding(item, "a room head", "none"));
        }
        let is_dm = room.scope == RoomScope::Dm;
        let id = room.id.to_string();
        if is_dm != id.starts_with(DM_PREFIX) {
            let expected = "an id that matches its scope";
            return report(room_finding(item, expected, format!("scope {}", room.scope)));
        }
        // A single remaining member does not reveal the other.
        match self.room_members.as_slice() {
            [] | [_] => {}
            [one, other] if is_dm => {
                let expected = dm_room_id(one, other);
                if expected != id {
                    let expected = format!("{expected}, the room of {one} and {other}");
                    report(room_finding(item, expected, "another room of the same users"));
                }
            }
            _ => report(room_finding(item, "two members at most", "more")),
        }
    }

    fn copy(&mut self, item: &Item, report: &mut dyn FnMut(Finding)) {
        let Some(horizon) = self.horizon else { return };
        let Ok(copy) = FeedItem::from_item(item) else { return };
        self.copies_behind += u64::from(copy.created_at < horizon);
        if copy.created_at < horizon && self.copies_behind == COPIES_BEHIND_MAX + 1 {
            let expected =
                format!("at most {COPIES_BEHIND_MAX} copies behind the horizon, {horizon}");
            let repair = Repair::None("no feed shows them; they are deleted when they expire");
            report(Finding::new(Invariant::I6, item_key(item), expected, "more", repair));
        }
    }
}

fn dm_room_id(one: &UserId, other: &UserId) -> String {
    let (first, second) = if one < other { (one, other) } else { (other, one) };
    let hash = blake3::hash(format!("{first}#{second}").as_bytes());
    let bytes = hash.as_bytes().iter().take(HASH_BYTES);
    bytes.fold(DM_PREFIX.to_owned(), |id, byte| format!("{id}{byte:02x}"))
}

fn room_finding(item: &Item, expected: impl Into<String>, found: impl Into<String>) -> Finding {
    let repair = Repair::None("messages have no order other than their numbers");
    Finding::new(Invariant::I15, item_key(item), expected, found, repair)
}
