//! The input for opening a room, and the ids of direct rooms.

use data_encoding::HEXLOWER;
use roundtable_model::{GroupId, InvalidValue, RoomId, RoomScope, UserId};
use serde::Serialize;

use super::RoomError;
use crate::ServiceError;

/// A room to be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewRoom {
    pub scope: RoomScope,
    /// For a direct room the other user, optionally with the caller. Empty for a group, whose
    /// members are in its room.
    pub member_ids: Vec<UserId>,
    pub group_id: Option<GroupId>,
}

/// The room a request asks for.
#[derive(Clone, Debug)]
pub(super) enum RoomTarget {
    User(UserId),
    Group(GroupId),
}

impl NewRoom {
    /// A direct room with another user.
    pub fn with(user: UserId) -> Self {
        Self { scope: RoomScope::Dm, member_ids: vec![user], group_id: None }
    }

    pub const fn of(group: GroupId) -> Self {
        Self { scope: RoomScope::Group, member_ids: Vec::new(), group_id: Some(group) }
    }

    pub(super) fn checked(&self, me: &UserId) -> Result<RoomTarget, RoomError> {
        match (self.scope, &self.group_id) {
            (RoomScope::Group, Some(group)) if self.member_ids.is_empty() => {
                Ok(RoomTarget::Group(group.clone()))
            }
            (RoomScope::Group, Some(_)) => Err(bad(
                "memberIds",
                "an empty list, because a group's members are in its room",
                "some users",
            )
            .into()),
            (RoomScope::Group, None) => Err(bad("groupId", "the group", "none").into()),
            (RoomScope::Dm, Some(_)) => Err(bad("groupId", "no group", "one").into()),
            (RoomScope::Dm, None) => {
                let mut others: Vec<&UserId> =
                    self.member_ids.iter().filter(|id| *id != me).collect();
                others.dedup();
                match others.as_slice() {
                    [] if !self.member_ids.is_empty() => Err(RoomError::Yourself),
                    [them] => Ok(RoomTarget::User((*them).clone())),
                    others => Err(bad("memberIds", "one other person", others.len()).into()),
                }
            }
        }
    }
}

fn bad(field: &'static str, expected: &'static str, found: impl std::fmt::Display) -> ServiceError {
    ServiceError::bad_input(field, InvalidValue::new(expected, found))
}

/// The id of the direct room of two users, in either order. It is a hash, because two ids may be
/// too long to fit into one.
pub fn room_of_two(one: &UserId, other: &UserId) -> Result<RoomId, ServiceError> {
    let (first, second) = if one < other { (one, other) } else { (other, one) };
    // No id contains this character, so different pairs give different texts.
    let hash = blake3::hash(format!("{first}#{second}").as_bytes());
    let text = format!("dm-{}", HEXLOWER.encode(hash.as_bytes().get(..20).unwrap_or_default()));
    text.parse().map_err(|invalid: InvalidValue| ServiceError::Internal(invalid.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> UserId {
        name.parse().unwrap()
    }

    #[test]
    fn two_users_share_one_room() {
        let of = |one: &str, other: &str| room_of_two(&id(one), &id(other)).unwrap();
        let anas = of("ana", "bo");
        assert_eq!(anas, of("bo", "ana"));
        assert_ne!(anas, of("ana", "cleo"));
        assert_ne!(of("ab", "c"), of("a", "bc"));
        assert!(anas.to_string().starts_with("dm-") && anas.to_string().len() == 43);
    }

    #[test]
    fn contradictory_inputs_are_refused() {
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
