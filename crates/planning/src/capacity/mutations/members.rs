//! Group members: joining, requesting, inviting, approving, leaving, removing.

use roundtable_model::entities::{Block, GroupMember};
use roundtable_model::{GroupRole, MemberStatus, samples};

use super::MutationWrites;
use super::counters::{following, notification};
use super::groups::{ROOMS, check_manager, count_member};
use super::step::{MutationStep, absent, change, check, delete, put};

pub(super) fn mutations() -> Vec<MutationWrites> {
    vec![join(), leave(), set_role(), invite(), approve(), remove()]
}

/// A user who has asked to join, or was invited.
fn pending_member(status: MemberStatus) -> GroupMember {
    GroupMember { status, active_since: None, ..samples::group_member() }
}

/// Checks that the group exists and its owner has not blocked the user.
fn check_open() -> [MutationStep; 2] {
    [check(&samples::group()), absent::<Block>()]
}

/// The writes for each new active member: the count, the user's circle, and the membership in the
/// room.
fn activate() -> [MutationStep; 3] {
    [count_member(), following(), put(&samples::room_member()).times(ROOMS.0, ROOMS.1)]
}

fn deactivate() -> [MutationStep; 5] {
    [
        check(&samples::group()),
        delete(&samples::group_member()),
        count_member(),
        following(),
        delete(&samples::room_member()).times(ROOMS.0, ROOMS.1),
    ]
}

fn join() -> MutationWrites {
    let own = [check(&samples::user()), put(&samples::group_member())];
    MutationWrites::idempotent("joinGroup", check_open().into_iter().chain(own).chain(activate()))
}

fn leave() -> MutationWrites {
    MutationWrites::idempotent("leaveGroup", deactivate())
}

fn set_role() -> MutationWrites {
    let member = samples::group_member();
    let admin = GroupMember { role: GroupRole::Admin, ..member.clone() };
    let own = [check(&samples::group()), check_manager(), change(&member, &admin)];
    MutationWrites::idempotent("setGroupRole", own)
}

fn invite() -> MutationWrites {
    let own =
        [check(&samples::user()), put(&pending_member(MemberStatus::Invited)), check_manager()];
    MutationWrites::idempotent("inviteToGroup", check_open().into_iter().chain(own))
        .then_derived(notification())
}

fn approve() -> MutationWrites {
    let pending = pending_member(MemberStatus::Pending);
    let own = [change(&pending, &samples::group_member()), check_manager()];
    let own = check_open().into_iter().chain(own).chain(activate());
    MutationWrites::idempotent("approveMember", own).then_derived(notification())
}

fn remove() -> MutationWrites {
    MutationWrites::idempotent("removeMember", deactivate().into_iter().chain([check_manager()]))
}
