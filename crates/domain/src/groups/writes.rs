//! The writes that groups are changed by. Neither groups nor memberships have a version: a write
//! demands what it depends on as it was read.

use roundtable_model::entities::{Block, Group, GroupCounter, GroupMember, User};
use roundtable_model::table::{Check, Condition, Delete, Write};
use roundtable_model::{Entity, GroupId, MemberStatus, Patch, Time, UserId, UserStatus};

use crate::circle::circle;
use crate::rooms::{joined, left};

/// A write with the name by which its refusal is told.
pub(super) type Named = (&'static str, Write);

/// The account can be used: whoever is being deleted does not get in again.
pub(super) fn live(user: &UserId) -> Check {
    User::at(user).check(User::STATUS.is(&UserStatus::Active))
}

/// Makes a group somebody else's. The owner's membership, changed with it, decides whose it was.
pub(super) fn owned_by(group: &Group, owner: &UserId, now: Time) -> Patch<Group> {
    group.key().patch().set(Group::OWNER_ID, owner).set(Group::UPDATED_AT, &now)
}

/// Name and tags are as they were read: the references of its tags depend on them.
pub(super) fn unchanged(group: &Group) -> Condition {
    Group::NAME.is(&group.name).and(Group::TAGS.is(&group.tags))
}

/// The membership is there, as it was read.
pub(super) fn still(member: &GroupMember) -> Check {
    member.key().check(as_read(member))
}

/// Changes the role and status of a membership that is still as it was read.
pub(super) fn become_of(before: &GroupMember, after: &GroupMember) -> Patch<GroupMember> {
    before
        .key()
        .patch()
        .set(GroupMember::ROLE, &after.role)
        .set(GroupMember::STATUS, &after.status)
        .set(GroupMember::ACTIVE_SINCE, &after.active_since)
        .when(as_read(before))
}

/// Changes how many active members a group has.
pub(super) fn members(group: &GroupId, by: i64, now: Time) -> Patch<GroupCounter> {
    GroupCounter::at(group).patch().add(GroupCounter::COUNT, by).set(GroupCounter::UPDATED_AT, &now)
}

/// Takes the last one who counts off the active members, of whom there are so many: nobody has joined
/// since they were counted.
pub(super) fn last_of(group: &GroupId, count: u64, now: Time) -> Patch<GroupCounter> {
    members(group, -1, now).when(GroupCounter::COUNT.is(&count))
}

/// Takes the counter of a group away in which nobody is left.
pub(super) fn counter_of_none(group: &GroupId) -> Delete {
    GroupCounter::at(group).delete().when(GroupCounter::COUNT.is(&0))
}

/// Lets somebody in, or to the door: `before` is what they were to the group, if anything. The group
/// must have the owner it had, who must not have blocked the newcomer. Whoever is in gets a seat in the
/// group's room, and has nothing to catch up with of the `said` messages there.
pub(super) fn arrival(
    group: &Group,
    before: Option<&GroupMember>,
    member: &GroupMember,
    said: u64,
    now: Time,
) -> Vec<Named> {
    let (user, owner) = (&member.user_id, &group.owner_id);
    let mut writes: Vec<Named> = vec![
        ("group", group.key().check(Group::OWNER_ID.is(owner)).into()),
        ("block", Block::at(owner, user).absent().into()),
    ];
    if let Some(before) = before {
        writes.push(("member", become_of(before, member).into()));
    } else {
        writes.push(("person", live(user).into()));
        writes.push(("member", member.create().into()));
    }
    if member.status == MemberStatus::Active {
        writes.push(("members", members(&group.id, 1, now).into()));
        writes.push(("circle", circle(user, 0, now).into()));
        writes.push(joined(group, user, said, now));
    }
    writes
}

/// Takes a membership away, with what it counts for and the seat in the group's room.
pub(super) fn departure(group: &Group, member: &GroupMember, now: Time) -> Vec<Named> {
    let mut writes = forgotten(Some(group), member, now);
    if member.status == MemberStatus::Active {
        writes.push(("circle", circle(&member.user_id, 0, now).into()));
    }
    writes
}

/// As [`departure`], without the circle: of somebody whose account is gone, nobody reads it any more,
/// and it must not come back after it has been removed. The room of a group that is gone goes as a whole.
pub(super) fn forgotten(group: Option<&Group>, member: &GroupMember, now: Time) -> Vec<Named> {
    let mut writes: Vec<Named> = vec![("member", removed(member))];
    if member.status == MemberStatus::Active {
        writes.push(("members", members(&member.group_id, -1, now).into()));
        writes.extend(group.map(|group| left(group, &member.user_id)));
    }
    writes
}

/// Takes a membership away that is still as it was read.
pub(super) fn removed(member: &GroupMember) -> Write {
    member.key().delete().when(as_read(member)).into()
}

fn as_read(member: &GroupMember) -> Condition {
    GroupMember::ROLE.is(&member.role).and(GroupMember::STATUS.is(&member.status))
}
