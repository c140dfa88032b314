//! Concurrent changes of groups (R9, R33): every pair of operations, in every interleaving.

use roundtable_domain::{Blocks, Context, GroupChange, GroupError, Groups, NewGroup, ServiceError};
use roundtable_model::entities::User;
use roundtable_model::{
    EntityKind, GroupId, GroupRole, MemberStatus, RequestId, Shards, Tag, UserStatus, rekey,
};
use roundtable_testkit::Town;

/// An operation in ana's private group: ana owns it, bo is its admin, cleo a member. Dora has
/// requested to join, eve is invited, and fay is a stranger.
#[derive(Clone, Copy, Debug)]
enum GroupOperation {
    Leaves(&'static str),
    Joins(&'static str),
    Removes(&'static str, &'static str),
    Approves(&'static str, &'static str),
    Invites(&'static str, &'static str),
    Appoints(&'static str, &'static str, GroupRole),
    Renames(&'static str, &'static str),
    Retags(&'static str, &'static str),
    Deletes(&'static str),
    Blocks(&'static str, &'static str),
    Goes(&'static str),
}

const OPERATIONS: [GroupOperation; 20] = [
    GroupOperation::Leaves("bo"),
    GroupOperation::Leaves("cleo"),
    GroupOperation::Leaves("dora"),
    GroupOperation::Joins("eve"),
    GroupOperation::Joins("fay"),
    GroupOperation::Removes("ana", "bo"),
    GroupOperation::Removes("bo", "cleo"),
    GroupOperation::Removes("bo", "dora"),
    GroupOperation::Approves("bo", "dora"),
    GroupOperation::Invites("bo", "fay"),
    GroupOperation::Appoints("ana", "bo", GroupRole::Member),
    GroupOperation::Appoints("ana", "bo", GroupRole::Owner),
    GroupOperation::Appoints("ana", "cleo", GroupRole::Owner),
    GroupOperation::Renames("ana", "Walkers"),
    GroupOperation::Retags("ana", "hill"),
    GroupOperation::Retags("bo", "sea"),
    GroupOperation::Deletes("ana"),
    GroupOperation::Goes("ana"),
    GroupOperation::Goes("cleo"),
    GroupOperation::Goes("fay"),
];

async fn town_with_a_group() -> (Town, GroupId) {
    let town = Town::of(["ana", "bo", "cleo", "dora", "eve", "fay"]).await;
    let new = NewGroup { tags: vec![tag("run")], is_private: true, ..NewGroup::named("Runners") };
    let (groups, ana) = (town.groups(), town.caller("ana"));
    let group = groups.create(&ana, new, None).await.unwrap().id;
    for name in ["bo", "cleo", "eve"] {
        groups.invite(&ana, &group, &town.id(name), None).await.unwrap();
    }
    for name in ["bo", "cleo", "dora"] {
        town.join(name, &group).await;
    }
    town.set_group_role("ana", &group, "bo", GroupRole::Admin).await;
    (town, group)
}

fn tag(tag: &str) -> Tag {
    tag.parse().unwrap()
}

async fn act(
    context: &Context,
    group: &GroupId,
    operation: GroupOperation,
) -> Result<(), GroupError> {
    let groups = Groups::new(context.clone());
    let caller = |name: &str| roundtable_domain::Caller::user(name.parse().unwrap());
    let id = |name: &str| name.parse().unwrap();
    match operation {
        GroupOperation::Leaves(name) => groups.leave(&caller(name), group, None).await.map(drop),
        GroupOperation::Joins(name) => groups.join(&caller(name), group, None).await.map(drop),
        GroupOperation::Removes(by, name) => {
            groups.remove(&caller(by), group, &id(name), None).await.map(drop)
        }
        GroupOperation::Approves(by, name) => {
            groups.approve(&caller(by), group, &id(name), None).await.map(drop)
        }
        GroupOperation::Invites(by, name) => {
            groups.invite(&caller(by), group, &id(name), None).await.map(drop)
        }
        GroupOperation::Appoints(by, name, role) => {
            groups.set_role(&caller(by), group, &id(name), role, None).await.map(drop)
        }
        GroupOperation::Renames(by, name) => {
            let change = GroupChange { name: Some(name.to_owned()), ..GroupChange::default() };
            groups.update(&caller(by), group, change, None).await.map(drop)
        }
        GroupOperation::Retags(by, word) => {
            let change = GroupChange { tags: Some(vec![tag(word)]), ..GroupChange::default() };
            groups.update(&caller(by), group, change, None).await.map(drop)
        }
        GroupOperation::Deletes(by) => groups.delete(&caller(by), group, None).await.map(drop),
        GroupOperation::Blocks(by, name) => {
            Blocks::new(context.clone()).block(&caller(by), &id(name), None).await.unwrap();
            Ok(())
        }
        GroupOperation::Goes(name) => {
            let before = context.core().profile(&id(name)).strong().get().await?.unwrap();
            let after = User { status: UserStatus::Deleted, ..before.clone() };
            // Already deleted is fine, too.
            context.core().table().update(rekey(&before, &after)?).await.ok();
            groups.leave_all(&id(name)).await
        }
    }
}

/// Checks that all items of a group are consistent.
async fn check_consistency(town: &Town, group: &GroupId) -> Result<(), String> {
    let core = town.context().core();
    let members = core.members(group).strong().all().await.unwrap();
    let active = members.iter().filter(|member| member.status == MemberStatus::Active).count();
    let counters = core.group_counts(std::slice::from_ref(group)).strong().get().await.unwrap();
    let count = counters.into_iter().flatten().next().unwrap().count;
    if usize::try_from(count).unwrap() != active {
        return Err(format!("{count} counted, {active} there"));
    }
    let all = ["run", "hill", "sea"].map(tag);
    let found = core.tag_refs(&all, Shards::ONE, &EntityKind::Group, &group.into());
    let found: Vec<_> = found.get().await.unwrap().into_iter().flatten().collect();
    let found: Vec<_> = found.into_iter().map(|found| (found.tag, found.title)).collect();
    let stored = core.group(group).get().await.unwrap();
    let wanted: Vec<(Tag, String)> = stored
        .iter()
        .flat_map(|group| group.tags.iter().map(|tag| (tag.clone(), group.name.clone())))
        .collect();
    if found != wanted {
        return Err(format!("{found:?} refer to it, {wanted:?} should"));
    }
    let Some(stored) = stored else { return Ok(()) };
    let mut owners = members.iter().filter(|member| member.role == GroupRole::Owner);
    let (owner, another) = (owners.next(), owners.next());
    if owner.is_none_or(|owner| owner.user_id != stored.owner_id) || another.is_some() {
        return Err(format!("{} should own it, {owner:?} and {another:?} do", stored.owner_id));
    }
    for member in members {
        let profile = core.profile(&member.user_id).strong().get().await.unwrap().unwrap();
        if profile.status == UserStatus::Deleted {
            return Err(format!("{} is deleted and still a member", profile.id));
        }
    }
    Ok(())
}

/// Returns whether the operation was decided: it may be refused, but not fail as busy.
fn is_decided(done: &Result<(), GroupError>) -> bool {
    let undecided = matches!(
        done,
        Err(GroupError::Failed(
            ServiceError::Busy
                | ServiceError::Throttled
                | ServiceError::OutcomeUnknown { .. }
                | ServiceError::Store(_)
                | ServiceError::Internal(_)
        ))
    );
    !undecided
}

/// R33: two approvals, a leave and a removal, a transfer and a leave, and all the others.
#[tokio::test]
async fn every_pair_of_operations_leaves_a_consistent_group() {
    for (one, other) in
        OPERATIONS.iter().flat_map(|one| OPERATIONS.iter().map(move |other| (*one, *other)))
    {
        for gap in 1.. {
            let (town, group) = town_with_a_group().await;
            let (context, group_id) = (town.context().clone(), group.clone());
            let (context, meanwhile) = town.interleave(gap, async move || {
                let done = act(&context, &group_id, other).await;
                assert!(is_decided(&done), "{done:?}");
            });
            let done = act(&context, &group, one).await;
            let found = check_consistency(&town, &group).await;
            assert!(
                is_decided(&done) && found.is_ok(),
                "{one:?} {gap} {other:?}: {done:?} {found:?}"
            );
            if !meanwhile.happened() {
                break;
            }
        }
    }
}

/// Counts how often `one` succeeds although `other` finished first, over all interleavings except
/// the sequential one.
async fn overtakes(one: GroupOperation, other: GroupOperation) -> usize {
    let mut overtaken = Vec::new();
    for gap in 1.. {
        let (town, group) = town_with_a_group().await;
        town.block("cleo", "eve").await;
        let (context, group_id) = (town.context().clone(), group.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            // After the first, nothing may be left for the second.
            act(&context, &group_id, other).await.ok();
        });
        let done = act(&context, &group, one).await;
        if !meanwhile.happened() {
            done.unwrap();
            break;
        }
        overtaken.push(done.is_ok());
    }
    assert_eq!(overtaken.pop(), Some(true), "nothing can come between it and its end");
    overtaken.into_iter().filter(|done| *done).count()
}

/// R9: revoked rights cannot be used.
#[tokio::test]
async fn revoked_rights_are_not_used() {
    let lost = [
        GroupOperation::Appoints("ana", "bo", GroupRole::Member),
        GroupOperation::Removes("ana", "bo"),
        GroupOperation::Leaves("bo"),
        GroupOperation::Deletes("ana"),
    ];
    let used = [
        GroupOperation::Approves("bo", "dora"),
        GroupOperation::Removes("bo", "cleo"),
        GroupOperation::Invites("bo", "fay"),
        GroupOperation::Retags("bo", "sea"),
    ];
    for (one, other) in used.iter().flat_map(|one| lost.iter().map(move |other| (*one, *other))) {
        assert_eq!(overtakes(one, other).await, 0, "{one:?} after {other:?}");
    }
    let (delete, transfer) =
        (GroupOperation::Deletes("ana"), GroupOperation::Appoints("ana", "bo", GroupRole::Owner));
    assert_eq!(overtakes(delete, transfer).await, 0);
    let appointment = GroupOperation::Appoints("ana", "cleo", GroupRole::Admin);
    assert_eq!(overtakes(appointment, delete).await, 0);
}

/// R9: a block by the owner keeps out a user who is joining.
#[tokio::test]
async fn a_block_keeps_out_a_joining_user() {
    for one in [GroupOperation::Joins("eve"), GroupOperation::Joins("fay")] {
        let GroupOperation::Joins(name) = one else { unreachable!() };
        assert_eq!(overtakes(one, GroupOperation::Blocks("ana", name)).await, 0, "{one:?}");
    }
    let (approval, block) =
        (GroupOperation::Approves("bo", "dora"), GroupOperation::Blocks("ana", "dora"));
    assert_eq!(overtakes(approval, block).await, 0);
    let (join, transfer) =
        (GroupOperation::Joins("eve"), GroupOperation::Appoints("ana", "cleo", GroupRole::Owner));
    assert_eq!(overtakes(join, transfer).await, 0, "cleo has blocked eve");
}

/// R9: the last member leaves while another joins: the group is deleted, or goes on with both.
#[tokio::test]
async fn a_group_is_not_deleted_with_a_new_member() {
    let (leaves, goes, comes) =
        (GroupOperation::Leaves("ana"), GroupOperation::Goes("ana"), GroupOperation::Joins("bo"));
    for (one, other) in [(leaves, comes), (comes, leaves), (goes, comes), (comes, goes)] {
        for gap in 1.. {
            let town = Town::of(["ana", "bo"]).await;
            let group = town.create_group("ana", "Runners").await;
            let (context, group_id) = (town.context().clone(), group.clone());
            let (context, meanwhile) = town.interleave(gap, async move || {
                let done = act(&context, &group_id, other).await;
                assert!(is_decided(&done), "{done:?}");
            });
            let done = act(&context, &group, one).await;
            assert!(is_decided(&done), "{done:?}");
            check_consistency(&town, &group).await.unwrap();
            let rows = town.rows(&format!("GROUP#{group}"), "MEMBER#").await;
            let existing = town.groups().get(None, &group).await.is_ok();
            assert_eq!(rows.len(), if existing { rows.len().max(1) } else { 0 }, "{gap} {rows:?}");
            if !meanwhile.happened() {
                break;
            }
        }
    }
}

/// R33: concurrent changes of different fields both hold.
#[tokio::test]
async fn no_change_is_lost() {
    for gap in 1.. {
        let (town, group) = town_with_a_group().await;
        let (context, group_id) = (town.context().clone(), group.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            act(&context, &group_id, GroupOperation::Renames("ana", "Walkers")).await.unwrap();
        });
        act(&context, &group, GroupOperation::Retags("bo", "sea")).await.unwrap();
        let visible = town.groups().get(None, &group).await.unwrap().group;
        assert_eq!(visible.tags, [tag("sea")]);
        if !meanwhile.happened() {
            break;
        }
        assert_eq!(visible.name, "Walkers", "{gap}");
    }
}

/// R32: the same request from two devices at once is one request.
#[tokio::test]
async fn concurrent_repetitions_are_one_request() {
    for gap in 1.. {
        let (town, group) = town_with_a_group().await;
        let (ana, dora, group_id) = (town.caller("ana"), town.id("dora"), group.clone());
        let once: RequestId = "request-1".parse().unwrap();
        let (groups, same, caller, requested) =
            (town.groups(), once.clone(), ana.clone(), dora.clone());
        let (context, meanwhile) = town.interleave(gap, async move || {
            groups.approve(&caller, &group_id, &requested, Some(&same)).await.unwrap();
        });
        let approved =
            Groups::new(context).approve(&ana, &group, &dora, Some(&once)).await.unwrap();
        assert_eq!(approved.status, MemberStatus::Active);
        check_consistency(&town, &group).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
    }
}
