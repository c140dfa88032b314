//! The writes that change groups. Neither groups nor memberships have a version: each write is
//! conditional on the fields it depends on.

use roundtable_model::entities::{Block, Group, GroupCounter, GroupMember};
use roundtable_model::table::{Check, Condition, Delete, Write};
use roundtable_model::{Entity, GroupId, MemberStatus, Patch, Time, UserId};

use crate::account::active_account_check;
use crate::circle::raise_circle_version;
use crate::rooms::{join_write, leave_write};

/// A write with the name that reports its failed condition.
pub(super) type GroupWrite = (&'static str, Write);

/// Requires an active member of the group at the time of the write.
pub(crate) fn active_member_check(group: &GroupId, user: &UserId) -> Check {
    GroupMember::at(group, user).check(GroupMember::STATUS.is(&MemberStatus::Active))
}

/// Changes the owner. The former owner's membership, changed in the same transaction, carries the
/// condition.
pub(super) fn set_owner(group: &Group, owner: &UserId, now: Time) -> Patch<Group> {
    group.key().patch().set(Group::OWNER_ID, owner).set(Group::UPDATED_AT, &now)
}

/// Requires the name and tags as they were read, because tag references depend on them.
pub(super) fn unchanged(group: &Group) -> Condition {
    Group::NAME.is(&group.name).and(Group::TAGS.is(&group.tags))
}

/// Changes what an owner or admin may change, if the group is as it was read.
pub(super) fn update_group(before: &Group, after: &Group) -> Patch<Group> {
    let unchanged = unchanged(before)
        .and(unchanged_access(before))
        .and(Group::PUBLIC_SINCE.is(&before.public_since))
        .and(Group::IDLE_FROM.is(&before.idle_from));
    let mut patch = before
        .key()
        .patch()
        .set(Group::NAME, &after.name)
        .set(Group::TAGS, &after.tags)
        .set(Group::IS_PRIVATE, &after.is_private)
        .set(Group::JOIN_POLICY, &after.join_policy)
        .set(Group::PUBLIC_SINCE, &after.public_since)
        .set(Group::IS_PERSISTENT, &after.is_persistent)
        .set(Group::IDLE_FROM, &after.idle_from)
        .set(Group::UPDATED_AT, &after.updated_at)
        .when(unchanged);
    if after.idle_from != before.idle_from {
        patch = patch.set(Group::ARCHIVES_AT, &after.archives_at);
    }
    if after.description != before.description {
        patch = patch.set(Group::DESCRIPTION, &after.description);
    }
    patch
}

/// Requires that the way in is as it was read, and that the group was not archived since.
fn unchanged_access(group: &Group) -> Condition {
    Group::IS_PRIVATE
        .is(&group.is_private)
        .and(Group::JOIN_POLICY.is(&group.join_policy))
        .and(Group::ARCHIVED_AT.absent())
}

/// Requires the membership as it was read.
pub(crate) fn unchanged_member_check(member: &GroupMember) -> Check {
    member.key().check(unchanged_membership(member))
}

/// Changes role and status, if the membership is as it was read.
pub(super) fn update_membership(before: &GroupMember, after: &GroupMember) -> Patch<GroupMember> {
    before
        .key()
        .patch()
        .set(GroupMember::ROLE, &after.role)
        .set(GroupMember::STATUS, &after.status)
        .set(GroupMember::ACTIVE_SINCE, &after.active_since)
        .when(unchanged_membership(before))
}

/// Adjusts the count of active members.
pub(super) fn change_member_count(group: &GroupId, by: i64, now: Time) -> Patch<GroupCounter> {
    GroupCounter::at(group).patch().add(GroupCounter::COUNT, by).set(GroupCounter::UPDATED_AT, &now)
}

/// Takes one off the count of active members, on the condition that no user has joined since it was
/// read.
pub(super) fn remove_last_member(group: &GroupId, count: u64, now: Time) -> Patch<GroupCounter> {
    change_member_count(group, -1, now).when(GroupCounter::COUNT.is(&count))
}

/// Deletes the counter of a group without members.
pub(super) fn delete_empty_counter(group: &GroupId) -> Delete {
    GroupCounter::at(group).delete().when(GroupCounter::COUNT.is(&0))
}

/// The writes of a new or changed membership; `before` is the earlier one, if any. They require
/// that the owner and the way in are unchanged, and that the owner has not blocked the user. An active member joins the
/// group's room, with the messages up to `seq` marked as read.
pub(super) fn join_writes(
    group: &Group,
    before: Option<&GroupMember>,
    member: &GroupMember,
    seq: u64,
    now: Time,
) -> Vec<GroupWrite> {
    let (user, owner) = (&member.user_id, &group.owner_id);
    let mut writes: Vec<GroupWrite> = vec![
        ("group", group.key().check(Group::OWNER_ID.is(owner).and(unchanged_access(group))).into()),
        ("block", Block::at(owner, user).absent().into()),
    ];
    if let Some(before) = before {
        writes.push(("member", update_membership(before, member).into()));
    } else {
        writes.push(("user", active_account_check(user).into()));
        writes.push(("member", member.create().into()));
    }
    if member.status == MemberStatus::Active {
        writes.push(("members", change_member_count(&group.id, 1, now).into()));
        writes.push(("circle", raise_circle_version(user, 0, now).into()));
        writes.push(join_write(group, user, seq, now));
    }
    writes
}

/// Removes a membership with its count and the room membership.
pub(super) fn leave_writes(group: &Group, member: &GroupMember, now: Time) -> Vec<GroupWrite> {
    let mut writes = leave_writes_without_circle(Some(group), member, now);
    if member.status == MemberStatus::Active {
        writes.push(("circle", raise_circle_version(&member.user_id, 0, now).into()));
    }
    writes
}

/// As [`leave_writes`], without the circle: a deleted account's circle must not be written again
/// after its removal. The room of a deleted group is removed as a whole.
pub(super) fn leave_writes_without_circle(
    group: Option<&Group>,
    member: &GroupMember,
    now: Time,
) -> Vec<GroupWrite> {
    let mut writes: Vec<GroupWrite> = vec![("member", delete_membership(member))];
    if member.status == MemberStatus::Active {
        writes.push(("members", change_member_count(&member.group_id, -1, now).into()));
        writes.extend(group.map(|group| leave_write(group, &member.user_id)));
    }
    writes
}

/// Removes a membership, if it is as it was read.
pub(super) fn delete_membership(member: &GroupMember) -> Write {
    member.key().delete().when(unchanged_membership(member)).into()
}

fn unchanged_membership(member: &GroupMember) -> Condition {
    GroupMember::ROLE.is(&member.role).and(GroupMember::STATUS.is(&member.status))
}
