//! What can be told by items that follow each other in a scan: a partition's items come together, in the
//! order of their sort keys. So the head of a room comes before its seats and messages and the room
//! itself last, a group before its members, and a feed's horizon before its copies; and nothing but the
//! partition at hand has to be kept in mind.

use roundtable_model::entities::{
    FeedHorizon, FeedItem, Group, GroupMember, Message, Room, RoomHead, RoomMember,
};
use roundtable_model::shape::Index;
use roundtable_model::table::Item;
use roundtable_model::{Answer, MemberStatus, RoomId, RoomScope, TYPE, Time, UserId};

use crate::books::{Book, Entry};
use crate::finding::{Finding, Invariant, Remedy};
use crate::kinds::key_shown;
use crate::subject::Subject;

/// How the ids of rooms of two people begin; the rest follows from who they are.
const OF_TWO: &str = "dm-";
/// Bytes of the hash in such an id.
const HASH_BYTES: usize = 20;
/// Copies behind the horizon of a feed that one look of the trimming takes away: so many it may leave when
/// it is stopped. More come only where it never looked again.
const BEHIND_MAX: u64 = 1_000;

/// What is known of the partition at hand.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    partition: String,
    room_of_group: Option<RoomId>,
    head: Option<RoomHead>,
    /// The last message: when it was sent, and its number.
    last: Option<(Time, u64)>,
    /// The first few who sit in a room.
    seats: Vec<UserId>,
    horizon: Option<Time>,
    behind: u64,
}

impl Runs {
    /// Takes the next item of a scan; what it tells others goes to `say`, what is wrong with it to `find`.
    pub(crate) fn meet(
        &mut self,
        item: &Item,
        say: &mut dyn FnMut(Entry),
        find: &mut dyn FnMut(Finding),
    ) {
        let partition = item.text(Index::Main.partition_attribute()).unwrap_or_default();
        if partition != self.partition {
            *self = Self { partition: partition.to_owned(), ..Self::default() };
        }
        // One that cannot be read is a finding of its own.
        match item.text(TYPE) {
            Some("Group") => {
                self.room_of_group = Group::from_item(item).ok().map(|group| group.room_id);
            }
            Some("GroupMember") => self.member(item, say),
            Some("RoomHead") => self.head = RoomHead::from_item(item).ok(),
            Some("RoomMember") => self.seat(item, say, find),
            Some("Message") => self.message(item, find),
            Some("Room") => self.room(item, find),
            Some("FeedHorizon") => {
                self.horizon = FeedHorizon::from_item(item).ok().map(|horizon| horizon.oldest);
            }
            Some("FeedItem") => self.copy(item, find),
            _ => {}
        }
    }

    fn member(&self, item: &Item, say: &mut dyn FnMut(Entry)) {
        let Ok(member) = GroupMember::from_item(item) else { return };
        if let Some(room) = &self.room_of_group
            && member.status == MemberStatus::Active
        {
            say(Entry::fact(Book::Seat, Subject::Seat(room.clone(), member.user_id)));
        }
    }

    fn seat(&mut self, item: &Item, say: &mut dyn FnMut(Entry), find: &mut dyn FnMut(Finding)) {
        let Ok(seat) = RoomMember::from_item(item) else { return };
        let newest = self.head.as_ref().map_or(0, |head| head.seq);
        if seat.read_seq > newest {
            let expected =
                format!("readSeq {newest} at the most, the number of the newest message");
            find(wrong(item, expected, seat.read_seq.to_string()));
        }
        if seat.room_id.to_string().starts_with(OF_TWO) {
            // More than two are too many, however many they are.
            self.seats.extend((self.seats.len() < 3).then_some(seat.user_id));
        } else {
            say(Entry::stated(Book::Seat, Subject::Seat(seat.room_id, seat.user_id), 1));
        }
    }

    fn message(&mut self, item: &Item, find: &mut dyn FnMut(Finding)) {
        let Ok(message) = Message::from_item(item) else { return };
        let (at, seq) = (message.created_at, message.seq);
        let Some(head) = &self.head else {
            return find(wrong(item, "a room with a head", "none"));
        };
        if seq > head.seq || at > head.last_ts {
            let expected = format!("number {} at the most, by {}", head.seq, head.last_ts);
            find(wrong(item, expected, format!("number {seq}, of {at}")));
        }
        if let Some((before, known)) = self.last.filter(|(_, known)| *known >= seq) {
            let expected = format!("a number above {known}, which one of {before} has");
            find(wrong(item, expected, seq.to_string()));
        }
        self.last = Some((at, seq));
    }

    fn room(&self, item: &Item, find: &mut dyn FnMut(Finding)) {
        let Ok(room) = Room::from_item(item) else { return };
        if self.head.is_none() {
            find(wrong(item, "a head beside it", "none"));
        }
        let is_of_two = room.scope == RoomScope::Dm;
        let id = room.id.to_string();
        if is_of_two != id.starts_with(OF_TWO) {
            let expected = "an id that tells whether it is of two people";
            return find(wrong(item, expected, format!("scope {}", room.scope)));
        }
        // Of one who is left, it cannot be told who the other one was.
        match self.seats.as_slice() {
            [] | [_] => {}
            [one, other] if is_of_two => {
                let expected = of_two(one, other);
                if expected != id {
                    let expected = format!("{expected}, the room of {one} and {other}");
                    find(wrong(item, expected, "another room of the same two"));
                }
            }
            _ => find(wrong(item, "two people at the most", "more")),
        }
    }

    fn copy(&mut self, item: &Item, find: &mut dyn FnMut(Finding)) {
        let Some(horizon) = self.horizon else { return };
        let Ok(copy) = FeedItem::from_item(item) else { return };
        self.behind += u64::from(copy.created_at < horizon);
        if copy.created_at < horizon && self.behind == BEHIND_MAX + 1 {
            let expected = format!("at most {BEHIND_MAX} copies behind the horizon, {horizon}");
            let remedy = Remedy::None("nobody reads them; they go when their time is over");
            find(Finding::new(Invariant::I6, key_shown(item), expected, "more", remedy));
        }
    }
}

/// The id of the room of two people.
fn of_two(one: &UserId, other: &UserId) -> String {
    let (first, second) = if one < other { (one, other) } else { (other, one) };
    let hash = blake3::hash(format!("{first}#{second}").as_bytes());
    let bytes = hash.as_bytes().iter().take(HASH_BYTES);
    bytes.fold(OF_TWO.to_owned(), |id, byte| format!("{id}{byte:02x}"))
}

fn wrong(item: &Item, expected: impl Into<String>, found: impl Into<String>) -> Finding {
    let remedy = Remedy::None("what was said has no other order than its numbers");
    Finding::new(Invariant::I15, key_shown(item), expected, found, remedy)
}
