//! Who is in a group: joining, asking, inviting, approving, leaving, removing.

use super::Mutation;
use super::counters::{following, notice};
use super::groups::{ROOMS, authority, counted};
use super::step::{Step, absent, change, check, delete, put};
use crate::entities::{Block, GroupMember};
use crate::{GroupRole, MemberStatus, samples};

pub(super) fn mutations() -> Vec<Mutation> {
    vec![join(), leave(), set_role(), invite(), approve(), remove()]
}

/// Somebody who is at the door: they have asked, or were invited.
fn waiting(status: MemberStatus) -> GroupMember {
    GroupMember { status, active_since: None, ..samples::group_member() }
}

/// The group is there, and its owner has not blocked whoever comes.
fn open() -> [Step; 2] {
    [check(&samples::group()), absent::<Block>()]
}

/// What changes with every active member: the count, their circle, their place in the room.
fn arrival() -> [Step; 3] {
    [counted(), following(), put(&samples::room_member()).times(ROOMS.0, ROOMS.1)]
}

fn departure() -> [Step; 5] {
    [
        check(&samples::group()),
        delete(&samples::group_member()),
        counted(),
        following(),
        delete(&samples::room_member()).times(ROOMS.0, ROOMS.1),
    ]
}

fn join() -> Mutation {
    let own = [check(&samples::user()), put(&samples::group_member())];
    Mutation::repeatable("joinGroup", open().into_iter().chain(own).chain(arrival()))
}

fn leave() -> Mutation {
    Mutation::repeatable("leaveGroup", departure())
}

fn set_role() -> Mutation {
    let member = samples::group_member();
    let admin = GroupMember { role: GroupRole::Admin, ..member.clone() };
    let own = [check(&samples::group()), authority(), change(&member, &admin)];
    Mutation::repeatable("setGroupRole", own)
}

fn invite() -> Mutation {
    let own = [check(&samples::user()), put(&waiting(MemberStatus::Invited)), authority()];
    Mutation::repeatable("inviteToGroup", open().into_iter().chain(own)).then(notice())
}

fn approve() -> Mutation {
    let asked = waiting(MemberStatus::Pending);
    let own = [change(&asked, &samples::group_member()), authority()];
    let own = open().into_iter().chain(own).chain(arrival());
    Mutation::repeatable("approveMember", own).then(notice())
}

fn remove() -> Mutation {
    Mutation::repeatable("removeMember", departure().into_iter().chain([authority()]))
}
