//! Group membership and the rights of members (R9, R31).

use roundtable_domain::{Code, GroupChange, GroupError, NewGroup, Refusal, ServiceError};
use roundtable_model::entities::ActorHead;
use roundtable_model::{Entity, GroupId, GroupRole, MemberStatus, Role, UserStatus};
use roundtable_testkit::Town;

async fn members(town: &Town, group: &GroupId) -> Vec<String> {
    town.rows(&format!("GROUP#{group}"), "MEMBER#").await
}

async fn counted(town: &Town, group: &GroupId) -> Vec<String> {
    town.rows(&format!("GROUP#{group}"), "COUNTER#").await
}

/// R31: a public group is open, and joining twice has no effect.
#[tokio::test]
async fn a_public_group_can_be_joined_and_left() {
    let town = Town::of(["ana", "bo"]).await;
    let group = town.create_group("ana", "Runners").await;
    let joined = town.join("bo", &group).await;
    assert_eq!((joined.status, joined.role), (MemberStatus::Active, GroupRole::Member));
    assert_eq!(town.join("bo", &group).await, joined);
    assert_eq!(counted(&town, &group).await, ["COUNTER#MEMBERS count=2"]);
    assert_eq!(town.circle_version("bo").await, 1);

    let left = town.groups().leave(&town.caller("bo"), &group, None).await.unwrap();
    assert_eq!(left, joined);
    assert_eq!(members(&town, &group).await, ["MEMBER#ana role=owner status=active"]);
    assert_eq!(counted(&town, &group).await, ["COUNTER#MEMBERS count=1"]);
    assert_eq!(town.circle_version("bo").await, 2);
}

/// R9: feeds rely on a membership only from the group's newest activity on.
#[tokio::test]
async fn a_membership_holds_from_the_groups_newest_activity_on() {
    let town = Town::of(["ana", "bo"]).await;
    let group = town.create_group("ana", "Runners").await;
    let last_ts = town.now().plus_ms(5_000);
    let head = ActorHead { last_ts, ..ActorHead::idle((&group).into()) };
    town.context().core().table().put(head.create()).await.unwrap();
    let joined = town.join("bo", &group).await;
    assert_eq!((joined.joined_at, joined.active_since), (town.now(), Some(last_ts)));
}

/// R9: a request is pending and not counted, and leaves the circle unchanged, until the group's
/// staff approve it.
#[tokio::test]
async fn a_private_group_gets_a_request() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let group = town.create_private_group("ana", "Secret").await;
    for name in ["bo", "cleo"] {
        let requested = town.join(name, &group).await;
        assert_eq!((requested.status, requested.active_since), (MemberStatus::Pending, None));
        assert_eq!(town.join(name, &group).await, requested);
    }
    assert_eq!(counted(&town, &group).await, ["COUNTER#MEMBERS count=1"]);
    assert_eq!(town.circle_version("bo").await, 0);

    let (groups, ana) = (town.groups(), town.caller("ana"));
    town.advance_ms(1_000);
    let approved = groups.approve(&ana, &group, &town.id("bo"), None).await.unwrap();
    assert_eq!(approved.status, MemberStatus::Active);
    assert_eq!(approved.active_since, Some(town.now()));
    assert_eq!(groups.approve(&ana, &group, &town.id("bo"), None).await.unwrap(), approved);
    groups.remove(&ana, &group, &town.id("cleo"), None).await.unwrap();
    let left = ["MEMBER#ana role=owner status=active", "MEMBER#bo role=member status=active"];
    assert_eq!(members(&town, &group).await, left);
    assert_eq!(counted(&town, &group).await, ["COUNTER#MEMBERS count=2"]);
    assert_eq!((town.circle_version("bo").await, town.circle_version("cleo").await), (1, 0));
}

/// R9: an invited user joins without a request, or declines.
#[tokio::test]
async fn users_can_be_invited() {
    let town = Town::of(["ana", "bo", "cleo", "dora"]).await;
    let group = town.create_private_group("ana", "Secret").await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    for name in ["bo", "cleo"] {
        let invited = groups.invite(&ana, &group, &town.id(name), None).await.unwrap();
        assert_eq!(invited.status, MemberStatus::Invited);
        assert_eq!(groups.invite(&ana, &group, &town.id(name), None).await.unwrap(), invited);
    }
    let refused = groups.approve(&ana, &group, &town.id("bo"), None).await;
    assert!(matches!(refused, Err(GroupError::NoSuchRequest)), "bo decides");
    assert_eq!(town.join("bo", &group).await.status, MemberStatus::Active);
    groups.leave(&town.caller("cleo"), &group, None).await.unwrap();
    town.join("dora", &group).await;
    let dora = groups.invite(&ana, &group, &town.id("dora"), None).await.unwrap();
    assert_eq!(dora.status, MemberStatus::Active, "she has asked already");
    let bo = groups.invite(&ana, &group, &town.id("bo"), None).await.unwrap();
    assert_eq!(bo.status, MemberStatus::Active, "he is in");
    assert_eq!(members(&town, &group).await.len(), 3);
    assert_eq!(counted(&town, &group).await, ["COUNTER#MEMBERS count=3"]);
}

/// R9: there is always exactly one owner.
#[tokio::test]
async fn ownership_is_handed_over() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    let group = town.create_group("ana", "Runners").await;
    town.join("bo", &group).await;
    town.join("cleo", &group).await;
    let admin = groups.set_role(&ana, &group, &town.id("cleo"), GroupRole::Admin, None).await;
    assert_eq!(admin.unwrap().role, GroupRole::Admin);
    for refused in [
        groups.leave(&ana, &group, None).await,
        groups.set_role(&ana, &group, &town.id("ana"), GroupRole::Member, None).await,
        groups.remove(&town.caller("cleo"), &group, &town.id("ana"), None).await,
    ] {
        assert!(matches!(refused, Err(GroupError::OwnerRequired)), "{refused:?}");
    }
    let owner = groups.set_role(&ana, &group, &town.id("bo"), GroupRole::Owner, None).await;
    assert_eq!(owner.unwrap().role, GroupRole::Owner);
    let roles = [
        "MEMBER#ana role=admin status=active",
        "MEMBER#bo role=owner status=active",
        "MEMBER#cleo role=admin status=active",
    ];
    assert_eq!(members(&town, &group).await, roles);
    assert_eq!(groups.get(None, &group).await.unwrap().group.owner_id, town.id("bo"));
    let again = groups.set_role(&ana, &group, &town.id("cleo"), GroupRole::Member, None).await;
    assert_eq!(again.unwrap_err().code(), Code::Forbidden, "ana has handed it over");
    groups.leave(&ana, &group, None).await.unwrap();
    assert_eq!(counted(&town, &group).await, ["COUNTER#MEMBERS count=2"]);
}

/// R9: a group cannot be handed to an account that could not hand it on.
#[tokio::test]
async fn ownership_is_for_active_accounts() {
    let town = Town::of(["ana", "bo"]).await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    let group = town.create_group("ana", "Runners").await;
    town.join("bo", &group).await;
    town.set_status("bo", UserStatus::Suspended).await;
    let refused = groups.set_role(&ana, &group, &town.id("bo"), GroupRole::Owner, None).await;
    assert!(matches!(refused, Err(GroupError::NoSuchMember)));
    let admin = groups.set_role(&ana, &group, &town.id("bo"), GroupRole::Admin, None).await;
    assert_eq!(admin.unwrap().role, GroupRole::Admin);
}

/// R9: the group is deleted with its last member; pending requests do not count.
#[tokio::test]
async fn a_group_ends_with_its_last_member() {
    let town = Town::of(["ana", "bo"]).await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    let new = NewGroup {
        tags: vec!["run".parse().unwrap()],
        is_private: true,
        ..NewGroup::named("Runners")
    };
    let group = groups.create(&ana, new, None).await.unwrap().id;
    town.join("bo", &group).await;
    let left = groups.leave(&ana, &group, None).await.unwrap();
    assert_eq!(left.role, GroupRole::Owner);
    assert!(matches!(groups.get(None, &group).await, Err(GroupError::NoSuchGroup)));
    assert!(town.rows("TAG#run", "").await.is_empty());
    assert_eq!(counted(&town, &group).await, ["COUNTER#MEMBERS count=0"]);
    assert_eq!(town.circle_version("ana").await, 2);
}

/// R9: the rights of each role; refusals do not reveal who is a member.
#[tokio::test]
async fn only_group_staff_change_a_group() {
    let town = Town::of(["ana", "bo", "cleo", "dora", "eve", "fay"]).await;
    let groups = town.groups();
    let group = town.create_private_group("ana", "Secret").await;
    for name in ["bo", "cleo", "dora"] {
        groups.invite(&town.caller("ana"), &group, &town.id(name), None).await.unwrap();
        town.join(name, &group).await;
    }
    for name in ["bo", "cleo"] {
        town.set_group_role("ana", &group, name, GroupRole::Admin).await;
    }
    town.join("eve", &group).await;
    let forbidden = |refused: Result<_, GroupError>| {
        assert!(matches!(refused, Err(GroupError::Failed(ServiceError::Forbidden))), "{refused:?}");
    };
    for name in ["dora", "eve", "fay"] {
        let caller = town.caller(name);
        for other in ["bo", "eve", "nobody"] {
            let other = town.id(other);
            forbidden(groups.approve(&caller, &group, &other, None).await);
            forbidden(groups.invite(&caller, &group, &other, None).await);
            forbidden(groups.remove(&caller, &group, &other, None).await);
            forbidden(groups.set_role(&caller, &group, &other, GroupRole::Admin, None).await);
        }
        let updated = groups.update(&caller, &group, GroupChange::default(), None).await;
        assert_eq!(updated.unwrap_err().code(), Code::Forbidden);
        let deleted = groups.delete(&caller, &group, None).await;
        assert_eq!(deleted.unwrap_err().code(), Code::Forbidden);
    }
    let bo = town.caller("bo");
    forbidden(groups.remove(&bo, &group, &town.id("cleo"), None).await);
    forbidden(groups.set_role(&bo, &group, &town.id("dora"), GroupRole::Admin, None).await);
    assert_eq!(groups.delete(&bo, &group, None).await.unwrap_err().code(), Code::Forbidden);
    groups.update(&bo, &group, GroupChange::default(), None).await.unwrap();
    groups.approve(&bo, &group, &town.id("eve"), None).await.unwrap();
    groups.remove(&bo, &group, &town.id("dora"), None).await.unwrap();
    groups.remove(&bo, &group, &town.id("bo"), None).await.unwrap();
    groups.remove(&town.caller("ana"), &group, &town.id("cleo"), None).await.unwrap();
    assert_eq!(counted(&town, &group).await, ["COUNTER#MEMBERS count=2"]);
}

/// R9, R34: admins may update, empty and delete groups, with an audit entry; moderators may not.
#[tokio::test]
async fn staff_actions_are_audited() {
    let town = Town::of(["ana", "bo", "root", "mod"]).await;
    let (groups, root) = (town.groups(), town.grant_role("root", Role::Admin).await);
    let group = town.create_group("ana", "Runners").await;
    town.join("bo", &group).await;
    let moderator = town.grant_role("mod", Role::Moderator).await;
    let refused = groups.delete(&moderator, &group, None).await.unwrap_err();
    assert_eq!(refused.code(), Code::Forbidden);
    groups.remove(&root, &group, &town.id("bo"), None).await.unwrap();
    groups.update(&root, &group, GroupChange::default(), None).await.unwrap();
    groups.delete(&root, &group, None).await.unwrap();
    let trail = town.rows(&format!("AUDIT#{}", town.now().day()), "").await;
    let actions: Vec<&str> = trail
        .iter()
        .filter(|line| line.contains("actor=root") && line.contains(&group.to_string()))
        .filter_map(|line| line.split("action=").nth(1)?.split(' ').next())
        .collect();
    assert_eq!(actions, ["removeMember", "updateGroup", "deleteGroup"]);
}

/// R9: a block or a suspension changes no membership, but a user blocked by the owner cannot join.
#[tokio::test]
async fn a_user_blocked_by_the_owner_cannot_join() {
    let town = Town::of(["ana", "bo", "cleo", "dora", "eve"]).await;
    let groups = town.groups();
    let group = town.create_private_group("ana", "Secret").await;
    let ana = town.caller("ana");
    for name in ["bo", "eve"] {
        groups.invite(&ana, &group, &town.id(name), None).await.unwrap();
    }
    town.join("bo", &group).await;
    town.set_group_role("ana", &group, "bo", GroupRole::Admin).await;
    town.join("dora", &group).await;
    for name in ["bo", "cleo", "dora", "eve"] {
        town.block("ana", name).await;
    }
    for name in ["cleo", "eve"] {
        let refused = groups.join(&town.caller(name), &group, None).await;
        assert!(matches!(refused, Err(GroupError::NoSuchGroup)), "{name}");
    }
    let bo = town.caller("bo");
    let refused = groups.approve(&bo, &group, &town.id("dora"), None).await;
    assert!(matches!(refused, Err(GroupError::NoSuchRequest)));
    let refused = groups.invite(&bo, &group, &town.id("cleo"), None).await;
    assert!(matches!(refused, Err(GroupError::NoSuchUser)));
    groups.update(&bo, &group, GroupChange::default(), None).await.unwrap();
    town.blocks().unblock(&ana, &town.id("eve"), None).await.unwrap();
    assert_eq!(town.join("eve", &group).await.status, MemberStatus::Active);
}
