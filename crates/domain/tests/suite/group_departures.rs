//! Groups after an account or a group is purged (R9, R23, R33).

use roundtable_domain::{GroupError, NewGroup, PageInput};
use roundtable_model::{GroupId, GroupRole, UserStatus};
use roundtable_testkit::Town;

async fn rows(town: &Town, group: &GroupId) -> Vec<String> {
    let all = town.rows(&format!("GROUP#{group}"), "").await;
    all.into_iter().filter(|row| !row.starts_with("GROUP#")).collect()
}

async fn join_in_order<const N: usize>(town: &Town, group: &GroupId, names: [&str; N]) {
    for name in names {
        town.advance_ms(1_000);
        town.join(name, group).await;
    }
}

/// R9: passes to the longest-serving admin, even if other members joined earlier.
#[tokio::test]
async fn a_group_passes_to_its_oldest_admin() {
    let town = Town::of(["ana", "zoe", "bo", "cleo"]).await;
    let group = town.create_group("ana", "Runners").await;
    join_in_order(&town, &group, ["zoe", "cleo", "bo"]).await;
    town.set_group_role("ana", &group, "bo", GroupRole::Admin).await;
    town.set_group_role("ana", &group, "cleo", GroupRole::Admin).await;
    town.set_status("ana", UserStatus::Deleted).await;
    for _ in 0..2 {
        town.groups().leave_all(&town.id("ana")).await.unwrap();
        let left = [
            "COUNTER#MEMBERS count=3",
            "MEMBER#bo role=admin status=active",
            "MEMBER#cleo role=owner status=active",
            "MEMBER#zoe role=member status=active",
        ];
        assert_eq!(rows(&town, &group).await, left);
        let visible = town.groups().get(None, &group).await.unwrap();
        assert_eq!((visible.group.owner_id, visible.members_count), (town.id("cleo"), 3));
    }
}

/// R9: else to the oldest member; pending members and deleted accounts are skipped.
#[tokio::test]
async fn a_group_passes_to_its_oldest_member() {
    let town = Town::of(["ana", "asked", "gone", "zoe", "bo"]).await;
    let group = town.create_private_group("ana", "Secret").await;
    join_in_order(&town, &group, ["asked", "gone", "zoe", "bo"]).await;
    for name in ["gone", "zoe", "bo"] {
        let (groups, ana) = (town.groups(), town.caller("ana"));
        groups.approve(&ana, &group, &town.id(name), None).await.unwrap();
    }
    town.set_group_role("ana", &group, "gone", GroupRole::Admin).await;
    for name in ["ana", "gone"] {
        town.set_status(name, UserStatus::Deleted).await;
    }
    town.groups().leave_all(&town.id("ana")).await.unwrap();
    let visible = town.groups().get(None, &group).await.unwrap();
    assert_eq!((visible.group.owner_id, visible.members_count), (town.id("zoe"), 3));
    town.groups().leave_all(&town.id("gone")).await.unwrap();
    let left = [
        "COUNTER#MEMBERS count=2",
        "MEMBER#asked role=member status=pending",
        "MEMBER#bo role=member status=active",
        "MEMBER#zoe role=owner status=active",
    ];
    assert_eq!(rows(&town, &group).await, left);
}

/// R9: a group without a possible owner is deleted, also when its members are being deleted.
#[tokio::test]
async fn a_group_without_existing_members_is_deleted() {
    let town = Town::of(["ana", "bo"]).await;
    let new = NewGroup { tags: vec!["run".parse().unwrap()], ..NewGroup::named("Runners") };
    let group = town.groups().create(&town.caller("ana"), new, None).await.unwrap().id;
    town.join("bo", &group).await;
    for name in ["ana", "bo"] {
        town.set_status(name, UserStatus::Deleted).await;
    }
    town.groups().leave_all(&town.id("ana")).await.unwrap();
    assert!(matches!(town.groups().get(None, &group).await, Err(GroupError::NoSuchGroup)));
    assert!(town.rows("TAG#run", "").await.is_empty());
    let left = ["COUNTER#MEMBERS count=1", "MEMBER#bo role=member status=active"];
    assert_eq!(rows(&town, &group).await, left);
    town.groups().leave_all(&town.id("bo")).await.unwrap();
    assert_eq!(rows(&town, &group).await, ["COUNTER#MEMBERS count=0"]);
}

/// R9: every membership in any status, in any number of groups.
#[tokio::test]
async fn a_purged_account_leaves_every_group() {
    let town = Town::of(["ana", "bo"]).await;
    let mut groups = Vec::new();
    for number in 0..100 {
        town.advance_ms(1_000);
        groups.push(match number % 4 {
            0 => town.create_group("bo", "Mine").await,
            1 => town.create_private_group("ana", "Asked").await,
            _ => town.create_group("ana", "Runners").await,
        });
    }
    for group in &groups {
        town.join("bo", group).await;
    }
    let version = town.circle_version("bo").await;
    town.set_status("bo", UserStatus::Deleted).await;
    for _ in 0..2 {
        town.groups().leave_all(&town.id("bo")).await.unwrap();
    }
    for (number, group) in groups.iter().enumerate() {
        let left = rows(&town, group).await;
        if number % 4 == 0 {
            assert_eq!(left, ["COUNTER#MEMBERS count=0"]);
        } else {
            let ana = "MEMBER#ana role=owner status=active";
            assert_eq!(left, ["COUNTER#MEMBERS count=1", ana]);
        }
    }
    assert_eq!(town.circle_version("bo").await, version, "nothing of bo is written any more");
}

/// R9: all members of a deleted group are removed, however many; other groups are unaffected.
#[tokio::test]
async fn a_deleted_group_removes_its_members() {
    let town = Town::of(["ana"]).await;
    let (group, other) =
        (town.create_group("ana", "Runners").await, town.create_group("ana", "Walkers").await);
    for number in 0..200 {
        let name = format!("p{number}");
        town.add_user(&name, |_| {}).await;
        town.join(&name, &group).await;
    }
    let groups = town.groups();
    groups.disband(&group).await.unwrap();
    assert_eq!(groups.get(None, &group).await.unwrap().members_count, 201, "it is still there");
    groups.delete(&town.caller("ana"), &group, None).await.unwrap();
    for _ in 0..2 {
        groups.disband(&group).await.unwrap();
        assert!(rows(&town, &group).await.is_empty());
    }
    assert_eq!(rows(&town, &other).await.len(), 2);
    let mine = groups.mine(&town.caller("ana"), &PageInput::first()).await.unwrap();
    assert_eq!(mine.items.len(), 1);
}
