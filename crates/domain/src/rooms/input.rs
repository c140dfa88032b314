//! What a room is opened with, and the id of the room of two people.

use data_encoding::HEXLOWER;
use roundtable_model::{GroupId, Misfit, RoomId, RoomScope, UserId};
use serde::Serialize;

use super::RoomError;
use crate::Failure;

/// A room to be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewRoom {
    /// Whether it is between two people or a group's.
    pub scope: RoomScope,
    /// Of two people: the other one; the caller may be named, too. Of a group: nobody, its members are
    /// in it.
    pub member_ids: Vec<UserId>,
    /// The group.
    pub group_id: Option<GroupId>,
}

/// What room is wanted.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    With(UserId),
    Of(GroupId),
}

impl NewRoom {
    /// The room of the caller and somebody else.
    pub fn with(user: UserId) -> Self {
        Self { scope: RoomScope::Dm, member_ids: vec![user], group_id: None }
    }

    /// The room of a group.
    pub const fn of(group: GroupId) -> Self {
        Self { scope: RoomScope::Group, member_ids: Vec::new(), group_id: Some(group) }
    }

    /// What is wanted, if it makes sense.
    pub(super) fn checked(&self, me: &UserId) -> Result<Wanted, RoomError> {
        match (self.scope, &self.group_id) {
            (RoomScope::Group, Some(group)) if self.member_ids.is_empty() => {
                Ok(Wanted::Of(group.clone()))
            }
            (RoomScope::Group, Some(_)) => {
                Err(bad("memberIds", "nobody: a group's members are in its room", "some").into())
            }
            (RoomScope::Group, None) => Err(bad("groupId", "the group", "none").into()),
            (RoomScope::Dm, Some(_)) => Err(bad("groupId", "no group", "one").into()),
            (RoomScope::Dm, None) => {
                let mut others: Vec<&UserId> =
                    self.member_ids.iter().filter(|id| *id != me).collect();
                others.dedup();
                match others.as_slice() {
                    [] if !self.member_ids.is_empty() => Err(RoomError::Yourself),
                    [them] => Ok(Wanted::With((*them).clone())),
                    others => Err(bad("memberIds", "one other person", others.len()).into()),
                }
            }
        }
    }
}

fn bad(field: &'static str, expected: &'static str, found: impl std::fmt::Display) -> Failure {
    Failure::bad(field, Misfit::new(expected, found))
}

/// The room of two people, whoever asks: ids can be so long that two would not fit into one, so it is a
/// hash of both.
pub fn room_of_two(one: &UserId, other: &UserId) -> Result<RoomId, Failure> {
    let (first, second) = if one < other { (one, other) } else { (other, one) };
    // No id holds this character, so no two pairs read the same.
    let hash = blake3::hash(format!("{first}#{second}").as_bytes());
    let text = format!("dm-{}", HEXLOWER.encode(hash.as_bytes().get(..20).unwrap_or_default()));
    text.parse().map_err(|misfit: Misfit| Failure::Internal(misfit.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> UserId {
        name.parse().unwrap()
    }

    #[test]
    fn two_people_have_one_room_and_others_have_another() {
        let of = |one: &str, other: &str| room_of_two(&id(one), &id(other)).unwrap();
        let anas = of("ana", "bo");
        assert_eq!(anas, of("bo", "ana"));
        assert_ne!(anas, of("ana", "cleo"));
        assert_ne!(of("ab", "c"), of("a", "bc"));
        assert!(anas.to_string().starts_with("dm-") && anas.to_string().len() == 43);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let wanted = |room: NewRoom| room.checked(&id("ana")).is_ok();
        let group: GroupId = "runners".parse().unwrap();
        assert!(wanted(NewRoom::with(id("bo"))) && wanted(NewRoom::of(group.clone())));
        let both = NewRoom { member_ids: vec![id("ana"), id("bo")], ..NewRoom::with(id("bo")) };
        assert!(wanted(both.clone()), "the caller may be named");
        assert!(!wanted(NewRoom::with(id("ana"))));
        assert!(!wanted(NewRoom { member_ids: Vec::new(), ..both.clone() }));
        assert!(!wanted(NewRoom { member_ids: vec![id("bo"), id("cleo")], ..both.clone() }));
        assert!(!wanted(NewRoom { group_id: Some(group.clone()), ..both.clone() }));
        assert!(!wanted(NewRoom { member_ids: vec![id("bo")], ..NewRoom::of(group) }));
        assert!(!wanted(NewRoom { scope: RoomScope::Group, ..both }));
    }
}
