//! Visibility of groups, and refusals (R23, R30, R32).

use roundtable_domain::{
    Code, Edit, GroupChange, GroupError, GroupView, NewGroup, Page, PageInput, Refusal,
};
use roundtable_model::entities::GroupMember;
use roundtable_model::{GroupRole, MemberStatus, Role, UserStatus};
use roundtable_testkit::Town;

fn people(page: Page<GroupMember>) -> Vec<String> {
    page.into_items().iter().map(|member| member.user_id.to_string()).collect()
}

fn names(page: Page<GroupView>) -> Vec<String> {
    page.into_items().into_iter().map(|view| view.group.name).collect()
}

/// R23: a private group shows that it exists, but not its members.
#[tokio::test]
async fn a_private_group_shows_its_name_only() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (groups, first) = (town.groups(), PageInput::first());
    let group = town.create_private_group("ana", "Secret").await;
    town.join("bo", &group).await;
    for viewer in [None, Some(town.caller("bo")), Some(town.caller("cleo"))] {
        let seen = groups.get(viewer.as_ref(), &group).await.unwrap();
        assert_eq!((seen.group.name.as_str(), seen.viewer_role()), ("Secret", None));
        let members = groups.members(viewer.as_ref(), &group, &first).await;
        assert!(matches!(members, Err(GroupError::NoSuchGroup)));
    }
    let bo = groups.get(Some(&town.caller("bo")), &group).await.unwrap();
    assert_eq!((bo.members_count, bo.viewer.unwrap().status), (1, MemberStatus::Pending));
    let moderator = town.grant_role("cleo", Role::Moderator).await;
    let members = groups.members(Some(&moderator), &group, &first).await.unwrap();
    assert_eq!(people(members), ["ana"]);
}

/// R23: pending and invited members are visible to the group's staff only.
#[tokio::test]
async fn members_see_members() {
    let town = Town::of(["ana", "bo", "cleo", "dora", "eve"]).await;
    let (groups, first) = (town.groups(), PageInput::first());
    let group = town.create_private_group("ana", "Secret").await;
    for name in ["bo", "cleo", "eve"] {
        groups.invite(&town.caller("ana"), &group, &town.id(name), None).await.unwrap();
    }
    town.join("bo", &group).await;
    town.join("cleo", &group).await;
    town.join("dora", &group).await;
    town.set_group_role("ana", &group, "bo", GroupRole::Admin).await;
    for name in ["ana", "bo"] {
        let members = groups.members(Some(&town.caller(name)), &group, &first).await.unwrap();
        assert_eq!(people(members), ["ana", "bo", "cleo", "dora", "eve"]);
    }
    let members = groups.members(Some(&town.caller("cleo")), &group, &first).await.unwrap();
    assert_eq!(people(members), ["ana", "bo", "cleo"]);
}

/// R23, R30: the members of a public group are visible to all, page by page, except users hidden
/// from the viewer.
#[tokio::test]
async fn a_public_groups_members_are_listed_in_full_pages() {
    let town = Town::of(["ana", "bo", "cleo", "dora", "eve", "fay"]).await;
    let groups = town.groups();
    let group = town.create_group("ana", "Runners").await;
    for name in ["bo", "cleo", "dora", "eve"] {
        town.join(name, &group).await;
    }
    groups.invite(&town.caller("ana"), &group, &town.id("fay"), None).await.unwrap();
    town.set_status("bo", UserStatus::Suspended).await;
    town.block("cleo", "fay").await;
    let fay = town.caller("fay");
    let mut page = PageInput { limit: Some(2), after: None };
    let first = groups.members(Some(&fay), &group, &page).await.unwrap();
    page.after.clone_from(&first.next);
    assert_eq!(people(first), ["ana", "dora"]);
    let second = groups.members(Some(&fay), &group, &page).await.unwrap();
    assert!(second.next.is_none());
    assert_eq!(people(second), ["eve"]);
    let all_users = groups.members(None, &group, &PageInput::first()).await.unwrap();
    assert_eq!(people(all_users), ["ana", "cleo", "dora", "eve"]);
}

/// R23: the caller's groups, latest joined first, active memberships only.
#[tokio::test]
async fn my_groups_lists_active_memberships() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (groups, bo) = (town.groups(), town.caller("bo"));
    let runners = town.create_group("ana", "Runners").await;
    let secret = town.create_private_group("ana", "Secret").await;
    let requested = town.create_private_group("ana", "Asked").await;
    let deleted = town.create_group("ana", "Gone").await;
    for group in [&runners, &secret, &requested, &deleted] {
        town.advance_ms(1_000);
        town.join("bo", group).await;
    }
    groups.approve(&town.caller("ana"), &secret, &town.id("bo"), None).await.unwrap();
    groups.delete(&town.caller("ana"), &deleted, None).await.unwrap();
    town.advance_ms(1_000);
    town.create_group("bo", "Mine").await;
    let mine = groups.mine(&bo, &PageInput::first()).await.unwrap();
    let roles: Vec<_> = mine.items.iter().map(|(view, _)| view.viewer_role().unwrap()).collect();
    assert_eq!(roles, [GroupRole::Owner, GroupRole::Member, GroupRole::Member]);
    let counts: Vec<u64> = mine.items.iter().map(|(view, _)| view.members_count).collect();
    assert_eq!(counts, [1, 2, 2]);
    assert_eq!(names(mine), ["Mine", "Secret", "Runners"]);

    let mut page = PageInput { limit: Some(2), after: None };
    let first = groups.mine(&bo, &page).await.unwrap();
    page.after.clone_from(&first.next);
    assert_eq!(names(first), ["Mine", "Secret"]);
    assert_eq!(names(groups.mine(&bo, &page).await.unwrap()), ["Runners"]);

    // Others see those they may see.
    let first = PageInput::first();
    let cleo = groups.of(Some(&town.caller("cleo")), &bo.user_id, &first).await.unwrap();
    assert_eq!(names(cleo), ["Mine", "Runners"]);
    let ana = groups.of(Some(&town.caller("ana")), &bo.user_id, &first).await.unwrap();
    assert_eq!(names(ana), ["Mine", "Secret", "Runners"]);
    town.block("bo", "cleo").await;
    let blocked = groups.of(Some(&town.caller("cleo")), &bo.user_id, &first).await;
    assert!(matches!(blocked, Err(GroupError::NoSuchUser)));
}

/// R23: several groups in one batch, in order.
#[tokio::test]
async fn groups_are_looked_up_together() {
    let town = Town::of(["ana", "bo"]).await;
    let (one, two) = (town.create_group("ana", "One").await, town.create_group("bo", "Two").await);
    let requested = [two, "nothing".parse().unwrap(), one];
    let found = town.groups().views(Some(&town.caller("ana")), &requested).await.unwrap();
    let seen: Vec<_> = found
        .iter()
        .map(|view| view.as_ref().map(|view| (view.group.name.as_str(), view.viewer_role())))
        .collect();
    assert_eq!(seen, [Some(("Two", None)), None, Some(("One", Some(GroupRole::Owner)))]);
}

/// R32: every refusal has its code.
#[tokio::test]
async fn refusals_have_codes() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    town.add_user("gone", |deleted| deleted.status = UserStatus::Deleted).await;
    let (groups, ana, bo) = (town.groups(), town.caller("ana"), town.caller("bo"));
    let group = town.create_group("ana", "Runners").await;
    let nothing = "nothing".parse().unwrap();
    for refused in [
        groups.join(&bo, &nothing, None).await,
        groups.leave(&bo, &nothing, None).await,
        groups.approve(&bo, &nothing, &bo.user_id, None).await,
        groups.invite(&bo, &nothing, &bo.user_id, None).await,
        groups.remove(&bo, &nothing, &bo.user_id, None).await,
        groups.set_role(&bo, &nothing, &bo.user_id, GroupRole::Admin, None).await,
    ] {
        assert!(matches!(refused, Err(GroupError::NoSuchGroup)), "{refused:?}");
    }
    assert_eq!(groups.delete(&bo, &nothing, None).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(groups.get(None, &nothing).await.unwrap_err().code(), Code::NotFound);
    let left = groups.leave(&bo, &group, None).await;
    assert!(matches!(left, Err(GroupError::NotAMember)));
    let removed = groups.remove(&ana, &group, &bo.user_id, None).await;
    assert!(matches!(removed, Err(GroupError::NoSuchMember)));
    let approved = groups.approve(&ana, &group, &bo.user_id, None).await;
    assert!(matches!(approved, Err(GroupError::NoSuchRequest)));
    groups.invite(&ana, &group, &bo.user_id, None).await.unwrap();
    let role = groups.set_role(&ana, &group, &bo.user_id, GroupRole::Admin, None).await;
    assert!(matches!(role, Err(GroupError::NoSuchMember)), "only invited");
    town.block("cleo", "ana").await;
    for missing in ["nobody", "gone", "cleo"] {
        let invited = groups.invite(&ana, &group, &town.id(missing), None).await;
        assert!(matches!(invited, Err(GroupError::NoSuchUser)), "{missing}");
    }
}

#[tokio::test]
async fn suspended_accounts_are_refused() {
    let town = Town::of(["ana"]).await;
    town.add_user("sus", |sus| sus.status = UserStatus::Suspended).await;
    let (groups, first) = (town.groups(), PageInput::first());
    let group = town.create_group("ana", "Runners").await;
    for (name, code) in [("nobody", Code::Unauthenticated), ("sus", Code::Forbidden)] {
        let caller = town.caller(name);
        let made = groups.create(&caller, NewGroup::named("Runners"), None).await;
        assert_eq!(made.unwrap_err().code(), code);
        assert_eq!(groups.join(&caller, &group, None).await.unwrap_err().code(), code);
        assert_eq!(groups.mine(&caller, &first).await.unwrap_err().code(), code);
    }
}

#[tokio::test]
async fn texts_and_tags_are_limited() {
    let town = Town::of(["ana"]).await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    let many = |count: usize| (0..count).map(|n| format!("tag{n}").parse().unwrap()).collect();
    let bad = [
        NewGroup::named(" "),
        NewGroup::named("x".repeat(101)),
        NewGroup { description: Some("x".repeat(2_001)), ..NewGroup::named("Runners") },
        NewGroup { tags: many(31), ..NewGroup::named("Runners") },
    ];
    for new in bad {
        let refused = groups.create(&ana, new, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest, "{refused}");
    }
    let most = NewGroup { tags: many(30), ..NewGroup::named("x".repeat(100)) };
    let group = groups.create(&ana, most, None).await.unwrap().id;
    let bad = [
        GroupChange { name: Some(String::new()), ..GroupChange::default() },
        GroupChange { tags: Some(many(31)), ..GroupChange::default() },
        GroupChange { description: Edit::Set("x".repeat(2_001)), ..GroupChange::default() },
    ];
    for change in bad {
        let refused = groups.update(&ana, &group, change, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::BadRequest, "{refused}");
    }
    let others = (30..60).map(|n| format!("tag{n}").parse().unwrap()).collect();
    let change = GroupChange { tags: Some(others), ..GroupChange::default() };
    let once = "request-1".parse().unwrap();
    let changed = groups.update(&ana, &group, change, Some(&once)).await.unwrap();
    assert_eq!(changed.tags.len(), 30, "sixty references change in one transaction");
}
