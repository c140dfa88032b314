//! Groups, through the service and as rows (R9, R32, R33). Members are in `group_members`,
//! visibility in `group_views`, concurrency in `group_races`, and purges in `group_departures`.

use roundtable_domain::{
    Code, Edit, GroupChange, GroupError, NewGroup, PageInput, Refusal, Settings, ShardCount,
};
use roundtable_model::entities::TagRef;
use roundtable_model::table::BatchWrite;
use roundtable_model::{
    Entity, EntityKind, GroupId, GroupRole, MemberStatus, RequestId, Role, Shard, Shards, Tag, Tier,
};
use roundtable_testkit::Town;

fn tags<const N: usize>(tags: [&str; N]) -> Vec<Tag> {
    tags.map(|tag| tag.parse().unwrap()).into()
}

fn request(id: &str) -> RequestId {
    id.parse().unwrap()
}

async fn counted(town: &Town, group: &GroupId) -> Vec<String> {
    town.rows(&format!("GROUP#{group}"), "COUNTER#").await
}

/// R9, R33: writes the group, its owner's membership, the counter, the tags and the owner's circle.
#[tokio::test]
async fn the_creator_owns_the_group() {
    let town = Town::of(["ana"]).await;
    let new = NewGroup {
        description: Some("Tuesdays at six".into()),
        tags: tags(["running", "Running", "outdoors"]),
        ..NewGroup::named(" Runners ")
    };
    let group = town.groups().create(&town.caller("ana"), new, None).await.unwrap();
    assert_eq!((group.name.as_str(), &group.tags), ("Runners", &tags(["running", "outdoors"])));
    assert_eq!(
        town.rows(&format!("GROUP#{}", group.id), "MEMBER#").await,
        ["MEMBER#ana role=owner status=active"]
    );
    assert_eq!(counted(&town, &group.id).await, ["COUNTER#MEMBERS count=1"]);
    assert_eq!(town.circle_version("ana").await, 1);
    let reference = format!("Group#{} title=Runners", group.id);
    for tag in ["TAG#running", "TAG#outdoors"] {
        assert_eq!(town.rows(tag, "").await, [reference.as_str()]);
    }
    let visible = town.groups().get(Some(&town.caller("ana")), &group.id).await.unwrap();
    assert_eq!((visible.members_count, visible.viewer_role()), (1, Some(GroupRole::Owner)));
}

/// R9, R33: tags and their references change together, and follow the name.
#[tokio::test]
async fn tag_references_follow_the_group() {
    let town = Town::of(["ana"]).await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    let new = NewGroup { tags: tags(["run", "hill"]), ..NewGroup::named("Runners") };
    let group = groups.create(&ana, new, None).await.unwrap().id;
    let change = GroupChange { tags: Some(tags(["Run", "sea"])), ..GroupChange::default() };
    groups.update(&ana, &group, change, None).await.unwrap();
    let change = GroupChange { name: Some("Walkers".into()), ..GroupChange::default() };
    let changed = groups.update(&ana, &group, change, None).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.tags), ("Walkers", tags(["Run", "sea"])));
    let reference = format!("Group#{group} title=Walkers");
    assert_eq!(town.rows("TAG#run", "").await, [reference.as_str()]);
    assert_eq!(town.rows("TAG#sea", "").await, [reference.as_str()]);
    assert!(town.rows("TAG#hill", "").await.is_empty());
    let change = GroupChange { tags: Some(Vec::new()), ..GroupChange::default() };
    groups.update(&ana, &group, change, None).await.unwrap();
    assert!(town.rows("TAG#run", "").await.is_empty() && town.rows("TAG#sea", "").await.is_empty());
}

/// R4: shards of tags can be added while references exist.
#[tokio::test]
async fn references_are_found_in_the_shard_they_were_written_to() {
    let mut settings = Settings::default();
    settings.shards.tags = ShardCount(Shards::new(64).unwrap());
    let town = Town::with(settings, ["ana"]).await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    let new = NewGroup { tags: tags(["run", "hill"]), ..NewGroup::named("Runners") };
    let group = groups.create(&ana, new, None).await.unwrap();
    let core = town.context().core();
    let shards = town.context().settings().shards.tags.0;
    let existing = core.tag_refs(&group.tags, shards, &EntityKind::Group, &(&group.id).into());
    for existing in existing.get().await.unwrap().into_iter().flatten() {
        assert_ne!(existing.shard, Shard::ZERO);
        // As if written when there was one shard.
        let earlier = TagRef { shard: Shard::ZERO, ..existing.clone() };
        let moved =
            vec![BatchWrite::Put(earlier.item()), BatchWrite::Delete(existing.key().into_key())];
        core.table().batch_write(moved).await.unwrap();
    }
    let change = GroupChange {
        name: Some("Walkers".into()),
        tags: Some(tags(["run"])),
        ..GroupChange::default()
    };
    groups.update(&ana, &group.id, change, None).await.unwrap();
    let reference = format!("Group#{} title=Walkers", group.id);
    assert_eq!(town.rows("TAG#run", "").await, [reference.as_str()]);
    assert!(town.rows("TAG#hill", "").await.is_empty());
    groups.delete(&ana, &group.id, None).await.unwrap();
    assert!(town.rows("TAG#run", "").await.is_empty());
}

/// R9: an absent field keeps its value, and null clears it.
#[tokio::test]
async fn a_description_can_be_kept_changed_or_cleared() {
    let town = Town::of(["ana"]).await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    let group = town.create_group("ana", "Runners").await;
    let changes = [
        (Edit::Set("Tuesdays".into()), Some("Tuesdays")),
        (Edit::Keep, Some("Tuesdays")),
        (Edit::Clear, None),
    ];
    for (description, expected) in changes {
        let change = GroupChange { description, ..GroupChange::default() };
        groups.update(&ana, &group, change, None).await.unwrap();
        let visible = groups.get(None, &group).await.unwrap().group;
        assert_eq!((visible.description.as_deref(), visible.name.as_str()), (expected, "Runners"));
    }
}

/// R9, R23: a deleted group is hidden at once, and its members are removed in the background.
#[tokio::test]
async fn a_deleted_group_is_hidden() {
    let town = Town::of(["ana", "bo"]).await;
    let (groups, ana, bo) = (town.groups(), town.caller("ana"), town.caller("bo"));
    let new = NewGroup { tags: tags(["run"]), ..NewGroup::named("Runners") };
    let group = groups.create(&ana, new, None).await.unwrap();
    town.join("bo", &group.id).await;
    assert_eq!(groups.delete(&ana, &group.id, None).await.unwrap(), group);
    assert!(town.rows("TAG#run", "").await.is_empty());
    let missing_item = groups.get(Some(&bo), &group.id).await;
    assert!(matches!(missing_item, Err(GroupError::NoSuchGroup)));
    assert!(groups.mine(&bo, &PageInput::first()).await.unwrap().items.is_empty());
    let left = groups.leave(&bo, &group.id, None).await;
    assert!(matches!(left, Err(GroupError::NoSuchGroup)));
    let joined = groups.join(&bo, &group.id, None).await;
    assert!(matches!(joined, Err(GroupError::NoSuchGroup)));
}

/// R32: every mutation of groups is idempotent.
#[tokio::test]
async fn a_repeated_request_has_the_effect_of_one() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (groups, ana, bo) = (town.groups(), town.caller("ana"), town.caller("bo"));
    let new = NewGroup { is_private: true, ..NewGroup::named("Secret") };
    let made = groups.create(&ana, new.clone(), Some(&request("1"))).await.unwrap();
    assert_eq!(groups.create(&ana, new, Some(&request("1"))).await.unwrap(), made);
    let other = groups.create(&ana, NewGroup::named("Other"), Some(&request("1"))).await;
    assert_eq!(other.unwrap_err().code(), Code::IdempotencyMismatch);
    let group = &made.id;

    let requested = groups.join(&bo, group, Some(&request("1"))).await.unwrap();
    let approved = groups.approve(&ana, group, &bo.user_id, Some(&request("2"))).await.unwrap();
    assert_ne!(requested, approved);
    let now = groups.join(&bo, group, Some(&request("1"))).await.unwrap();
    assert_eq!(now, approved, "the outcome as it is now");
    let again = groups.approve(&ana, group, &bo.user_id, Some(&request("2"))).await.unwrap();
    assert_eq!(again, approved);
    assert_eq!(counted(&town, group).await, ["COUNTER#MEMBERS count=2"]);

    let change = GroupChange { name: Some("Open".into()), ..GroupChange::default() };
    groups.update(&ana, group, change.clone(), Some(&request("3"))).await.unwrap();
    let later = GroupChange { name: Some("Closed".into()), ..GroupChange::default() };
    groups.update(&ana, group, later, None).await.unwrap();
    let replay = groups.update(&ana, group, change, Some(&request("3"))).await.unwrap();
    assert_eq!(replay.name, "Closed", "not changed back");

    let (cleo, four) = (town.id("cleo"), request("4"));
    groups.invite(&ana, group, &cleo, Some(&four)).await.unwrap();
    let removed = groups.remove(&ana, group, &cleo, Some(&request("5"))).await.unwrap();
    assert_eq!(removed.status, MemberStatus::Invited);
    let replay = groups.remove(&ana, group, &cleo, Some(&request("5"))).await.unwrap();
    assert_eq!(replay, removed);
    let replay = groups.invite(&ana, group, &cleo, Some(&four)).await;
    assert!(matches!(replay, Err(GroupError::NoSuchMember)), "not invited again");

    let role = GroupRole::Owner;
    groups.set_role(&ana, group, &bo.user_id, role, Some(&request("6"))).await.unwrap();
    let left = groups.leave(&ana, group, Some(&request("7"))).await.unwrap();
    assert_eq!(groups.leave(&ana, group, Some(&request("7"))).await.unwrap(), left);
    let replay = groups.set_role(&ana, group, &bo.user_id, role, Some(&request("6"))).await;
    assert!(matches!(replay, Err(GroupError::NoSuchMember)), "who is in is for members");
    assert_eq!(counted(&town, group).await, ["COUNTER#MEMBERS count=1"]);

    let deleted = groups.delete(&bo, group, Some(&request("8"))).await.unwrap();
    assert_eq!(groups.delete(&bo, group, Some(&request("8"))).await.unwrap(), deleted);
    let replay = groups.join(&bo, group, Some(&request("1"))).await;
    assert!(matches!(replay, Err(GroupError::NoSuchGroup)));
}

/// Servers move futures between threads, so they must be `Send`.
#[tokio::test]
async fn futures_are_send() {
    fn moves<T: Send>(_: T) {}
    let town = Town::of(["ana"]).await;
    let (groups, blocks, ana) = (town.groups(), town.blocks(), town.caller("ana"));
    let (group, bo, first) = ("group".parse().unwrap(), town.id("bo"), PageInput::first());
    moves(groups.create(&ana, NewGroup::default(), None));
    moves(groups.update(&ana, &group, GroupChange::default(), None));
    moves(groups.delete(&ana, &group, None));
    moves(groups.join(&ana, &group, None));
    moves(groups.leave(&ana, &group, None));
    moves(groups.invite(&ana, &group, &bo, None));
    moves(groups.approve(&ana, &group, &bo, None));
    moves(groups.remove(&ana, &group, &bo, None));
    moves(groups.set_role(&ana, &group, &bo, GroupRole::Admin, None));
    moves(groups.leave_all(&bo));
    moves(groups.disband(&group));
    moves(groups.get(None, &group));
    moves(groups.mine(&ana, &first));
    moves(groups.of(None, &bo, &first));
    moves(groups.members(None, &group, &first));
    moves(blocks.block(&ana, &bo, None));
    moves(blocks.unblock(&ana, &bo, None));
    moves(blocks.list(&ana, &first));
}

/// R50: the tier decides how many groups a user owns, created or taken over; deleted ones do not count.
#[tokio::test]
async fn the_tier_decides_how_many_groups_a_user_owns() {
    let mut settings = Town::settings();
    settings.tiers.free.groups_owned_max = Some(2);
    settings.tiers.pro.groups_owned_max = Some(3);
    let town = Town::with(settings, ["ana", "bo", "ada"]).await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    let create = async || groups.create(&ana, NewGroup::named("more"), None).await;
    let first = town.create_group("ana", "runners").await;
    let joined = town.create_group("bo", "readers").await;
    town.join("ana", &joined).await;
    town.create_group("ana", "cooks").await;
    let refused = create().await.unwrap_err();
    assert_eq!(refused.code(), Code::QuotaExceeded);
    let text = "the tier `free` allows at most 2 groups of one owner";
    assert!(refused.to_string().starts_with(text), "{refused}");
    let hand_over = async |to: &str, group: &GroupId| {
        let (from, to) = if to == "ana" { ("bo", "ana") } else { ("ana", "bo") };
        let role = GroupRole::Owner;
        groups.set_role(&town.caller(from), group, &town.id(to), role, None).await
    };
    let refused = hand_over("ana", &joined).await.unwrap_err();
    assert_eq!(refused.code(), Code::QuotaExceeded);
    town.join("bo", &first).await;
    hand_over("bo", &first).await.unwrap();
    hand_over("ana", &joined).await.unwrap();
    groups.delete(&ana, &joined, None).await.unwrap();
    create().await.unwrap();
    assert_eq!(create().await.unwrap_err().code(), Code::QuotaExceeded);
    let ada = town.staff("ada", Role::Admin);
    town.accounts().set_tier(&ada, &ana.user_id, Tier::Pro, None).await.unwrap();
    create().await.unwrap();
    let refused = create().await.unwrap_err().to_string();
    assert!(refused.contains("the tier `pro` allows at most 3 groups"), "{refused}");
}
