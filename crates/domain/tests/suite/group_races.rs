//! Groups while several people change them at once (R9, R33): every two deeds, in every order in which
//! their steps can meet.

use roundtable_domain::{Blocks, Failure, Ground, GroupChange, GroupError, Groups, NewGroup};
use roundtable_model::entities::User;
use roundtable_model::{
    EntityKind, GroupId, GroupRole, MemberStatus, RequestId, Shards, Tag, UserStatus, rekey,
};
use roundtable_testkit::Town;

/// What somebody does in the private group of ana, who owns it, bo, who is its admin, and cleo. Dora
/// has asked to join, eve is invited, and fay knows nothing of it.
#[derive(Clone, Copy, Debug)]
enum Deed {
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

const DEEDS: [Deed; 20] = [
    Deed::Leaves("bo"),
    Deed::Leaves("cleo"),
    Deed::Leaves("dora"),
    Deed::Joins("eve"),
    Deed::Joins("fay"),
    Deed::Removes("ana", "bo"),
    Deed::Removes("bo", "cleo"),
    Deed::Removes("bo", "dora"),
    Deed::Approves("bo", "dora"),
    Deed::Invites("bo", "fay"),
    Deed::Appoints("ana", "bo", GroupRole::Member),
    Deed::Appoints("ana", "bo", GroupRole::Owner),
    Deed::Appoints("ana", "cleo", GroupRole::Owner),
    Deed::Renames("ana", "Walkers"),
    Deed::Retags("ana", "hill"),
    Deed::Retags("bo", "sea"),
    Deed::Deletes("ana"),
    Deed::Goes("ana"),
    Deed::Goes("cleo"),
    Deed::Goes("fay"),
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
    town.appoint("ana", &group, "bo", GroupRole::Admin).await;
    (town, group)
}

fn tag(tag: &str) -> Tag {
    tag.parse().unwrap()
}

/// Does it, or is refused it.
async fn act(ground: &Ground, group: &GroupId, deed: Deed) -> Result<(), GroupError> {
    let groups = Groups::new(ground.clone());
    let caller = |name: &str| roundtable_domain::Caller::user(name.parse().unwrap());
    let id = |name: &str| name.parse().unwrap();
    match deed {
        Deed::Leaves(name) => groups.leave(&caller(name), group, None).await.map(drop),
        Deed::Joins(name) => groups.join(&caller(name), group, None).await.map(drop),
        Deed::Removes(by, name) => {
            groups.remove(&caller(by), group, &id(name), None).await.map(drop)
        }
        Deed::Approves(by, name) => {
            groups.approve(&caller(by), group, &id(name), None).await.map(drop)
        }
        Deed::Invites(by, name) => {
            groups.invite(&caller(by), group, &id(name), None).await.map(drop)
        }
        Deed::Appoints(by, name, role) => {
            groups.set_role(&caller(by), group, &id(name), role, None).await.map(drop)
        }
        Deed::Renames(by, name) => {
            let change = GroupChange { name: Some(name.to_owned()), ..GroupChange::default() };
            groups.update(&caller(by), group, change, None).await.map(drop)
        }
        Deed::Retags(by, word) => {
            let change = GroupChange { tags: Some(vec![tag(word)]), ..GroupChange::default() };
            groups.update(&caller(by), group, change, None).await.map(drop)
        }
        Deed::Deletes(by) => groups.delete(&caller(by), group, None).await.map(drop),
        Deed::Blocks(by, name) => {
            Blocks::new(ground.clone()).block(&caller(by), &id(name), None).await.unwrap();
            Ok(())
        }
        Deed::Goes(name) => {
            let before = ground.core().profile(&id(name)).strong().get().await?.unwrap();
            let after = User { status: UserStatus::Deleted, ..before.clone() };
            // Deleted already is as good.
            ground.core().table().update(rekey(&before, &after)?).await.ok();
            groups.leave_all(&id(name)).await
        }
    }
}

/// Whether everything about a group agrees.
async fn agrees(town: &Town, group: &GroupId) -> Result<(), String> {
    let core = town.ground().core();
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
    let kept = core.group(group).get().await.unwrap();
    let wanted: Vec<(Tag, String)> = kept
        .iter()
        .flat_map(|group| group.tags.iter().map(|tag| (tag.clone(), group.name.clone())))
        .collect();
    if found != wanted {
        return Err(format!("{found:?} refer to it, {wanted:?} should"));
    }
    let Some(kept) = kept else { return Ok(()) };
    let mut owners = members.iter().filter(|member| member.role == GroupRole::Owner);
    let (owner, another) = (owners.next(), owners.next());
    if owner.is_none_or(|owner| owner.user_id != kept.owner_id) || another.is_some() {
        return Err(format!("{} should own it, {owner:?} and {another:?} do", kept.owner_id));
    }
    for member in members {
        let profile = core.profile(&member.user_id).strong().get().await.unwrap().unwrap();
        if profile.status == UserStatus::Deleted {
            return Err(format!("{} is gone, and in it", profile.id));
        }
    }
    Ok(())
}

/// What a deed may be refused with, but not that it could not be decided.
fn decided(done: &Result<(), GroupError>) -> bool {
    let undecided = matches!(
        done,
        Err(GroupError::Failed(Failure::Busy | Failure::Store(_) | Failure::Internal(_)))
    );
    !undecided
}

/// R33: two approvals, a leave and a removal, a transfer and a leave, and all the others.
#[tokio::test]
async fn every_two_deeds_leave_a_group_that_agrees() {
    for (one, other) in DEEDS.iter().flat_map(|one| DEEDS.iter().map(move |other| (*one, *other))) {
        for gap in 1.. {
            let (town, group) = town_with_a_group().await;
            let (ground, place) = (town.ground().clone(), group.clone());
            let (ground, meanwhile) = town.meanwhile(gap, async move || {
                let done = act(&ground, &place, other).await;
                assert!(decided(&done), "{done:?}");
            });
            let done = act(&ground, &group, one).await;
            let found = agrees(&town, &group).await;
            assert!(decided(&done) && found.is_ok(), "{one:?} {gap} {other:?}: {done:?} {found:?}");
            if !meanwhile.happened() {
                break;
            }
        }
    }
}

/// How often a deed is done although the other is done first, over all orders: the one order in which
/// it comes last does not count.
async fn overtakes(one: Deed, other: Deed) -> usize {
    let mut overtaken = Vec::new();
    for gap in 1.. {
        let (town, group) = town_with_a_group().await;
        town.block("cleo", "eve").await;
        let (ground, place) = (town.ground().clone(), group.clone());
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            // After the end of the one, there may be nothing left for the other.
            act(&ground, &place, other).await.ok();
        });
        let done = act(&ground, &group, one).await;
        if !meanwhile.happened() {
            done.unwrap();
            break;
        }
        overtaken.push(done.is_ok());
    }
    assert_eq!(overtaken.pop(), Some(true), "nothing can come between it and its end");
    overtaken.into_iter().filter(|done| *done).count()
}

/// R9: whoever lost what allowed them to act has lost it at once.
#[tokio::test]
async fn power_that_was_lost_is_not_used() {
    let lost = [
        Deed::Appoints("ana", "bo", GroupRole::Member),
        Deed::Removes("ana", "bo"),
        Deed::Leaves("bo"),
        Deed::Deletes("ana"),
    ];
    let used = [
        Deed::Approves("bo", "dora"),
        Deed::Removes("bo", "cleo"),
        Deed::Invites("bo", "fay"),
        Deed::Retags("bo", "sea"),
    ];
    for (one, other) in used.iter().flat_map(|one| lost.iter().map(move |other| (*one, *other))) {
        assert_eq!(overtakes(one, other).await, 0, "{one:?} after {other:?}");
    }
    let (delete, transfer) = (Deed::Deletes("ana"), Deed::Appoints("ana", "bo", GroupRole::Owner));
    assert_eq!(overtakes(delete, transfer).await, 0);
    let appointment = Deed::Appoints("ana", "cleo", GroupRole::Admin);
    assert_eq!(overtakes(appointment, delete).await, 0);
}

/// R9: a block by the owner keeps out whoever is on the way in.
#[tokio::test]
async fn a_block_keeps_out_whoever_is_on_the_way_in() {
    for one in [Deed::Joins("eve"), Deed::Joins("fay")] {
        let Deed::Joins(name) = one else { unreachable!() };
        assert_eq!(overtakes(one, Deed::Blocks("ana", name)).await, 0, "{one:?}");
    }
    let (approval, block) = (Deed::Approves("bo", "dora"), Deed::Blocks("ana", "dora"));
    assert_eq!(overtakes(approval, block).await, 0);
    let (join, transfer) = (Deed::Joins("eve"), Deed::Appoints("ana", "cleo", GroupRole::Owner));
    assert_eq!(overtakes(join, transfer).await, 0, "cleo has blocked eve");
}

/// R9: the last one leaves a group while another comes: it ends, or goes on with both.
#[tokio::test]
async fn a_group_does_not_end_around_a_newcomer() {
    let (leaves, goes, comes) = (Deed::Leaves("ana"), Deed::Goes("ana"), Deed::Joins("bo"));
    for (one, other) in [(leaves, comes), (comes, leaves), (goes, comes), (comes, goes)] {
        for gap in 1.. {
            let town = Town::of(["ana", "bo"]).await;
            let group = town.found("ana", "Runners").await;
            let (ground, place) = (town.ground().clone(), group.clone());
            let (ground, meanwhile) = town.meanwhile(gap, async move || {
                let done = act(&ground, &place, other).await;
                assert!(decided(&done), "{done:?}");
            });
            let done = act(&ground, &group, one).await;
            assert!(decided(&done), "{done:?}");
            agrees(&town, &group).await.unwrap();
            let rows = town.rows(&format!("GROUP#{group}"), "MEMBER#").await;
            let there = town.groups().get(None, &group).await.is_ok();
            assert_eq!(rows.len(), if there { rows.len().max(1) } else { 0 }, "{gap} {rows:?}");
            if !meanwhile.happened() {
                break;
            }
        }
    }
}

/// R33: two who change different things of a group both get their way.
#[tokio::test]
async fn no_change_is_lost() {
    for gap in 1.. {
        let (town, group) = town_with_a_group().await;
        let (ground, place) = (town.ground().clone(), group.clone());
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            act(&ground, &place, Deed::Renames("ana", "Walkers")).await.unwrap();
        });
        act(&ground, &group, Deed::Retags("bo", "sea")).await.unwrap();
        let seen = town.groups().get(None, &group).await.unwrap().group;
        assert_eq!(seen.tags, [tag("sea")]);
        if !meanwhile.happened() {
            break;
        }
        assert_eq!(seen.name, "Walkers", "{gap}");
    }
}

/// R32: the same request from two devices at once is one request.
#[tokio::test]
async fn two_of_the_same_request_are_one() {
    for gap in 1.. {
        let (town, group) = town_with_a_group().await;
        let (ana, dora, place) = (town.caller("ana"), town.id("dora"), group.clone());
        let once: RequestId = "request-1".parse().unwrap();
        let (groups, same, caller, asked) =
            (town.groups(), once.clone(), ana.clone(), dora.clone());
        let (ground, meanwhile) = town.meanwhile(gap, async move || {
            groups.approve(&caller, &place, &asked, Some(&same)).await.unwrap();
        });
        let approved = Groups::new(ground).approve(&ana, &group, &dora, Some(&once)).await.unwrap();
        assert_eq!(approved.status, MemberStatus::Active);
        agrees(&town, &group).await.unwrap();
        if !meanwhile.happened() {
            break;
        }
    }
}
