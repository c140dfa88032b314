//! Privacy, join policy and archived groups, and what they do to content that exists (R55).

use roundtable_domain::{
    Code, GroupChange, GroupError, NewGroup, NewMessage, PageInput, PostChange, Refusal,
};
use roundtable_model::{GroupId, GroupRole, JoinPolicy, MemberStatus, PostId};
use roundtable_testkit::Town;

async fn set_private(town: &Town, group: &GroupId, is_private: bool) {
    town.advance_ms(1_000);
    let change = GroupChange { is_private: Some(is_private), ..GroupChange::default() };
    town.groups().update(&town.caller("ana"), group, change, None).await.unwrap();
    town.advance_ms(1_000);
}

async fn set_policy(town: &Town, group: &GroupId, policy: JoinPolicy) {
    let change = GroupChange { join_policy: Some(policy), ..GroupChange::default() };
    town.groups().update(&town.caller("ana"), group, change, None).await.unwrap();
}

async fn sees(town: &Town, name: &str, post: &PostId) -> bool {
    town.posts().post(Some(&town.caller(name)), post).await.is_ok()
}

async fn members(town: &Town, name: &str, group: &GroupId) -> Vec<String> {
    let page = PageInput::first();
    match town.groups().members(Some(&town.caller(name)), group, &page).await {
        Ok(page) => page.into_items().iter().map(|member| member.user_id.to_string()).collect(),
        Err(GroupError::NoSuchGroup) => Vec::new(),
        Err(error) => panic!("{error}"),
    }
}

/// R55: what exists in a public group is hidden from strangers, and closed to their reactions, as soon
/// as the group becomes private; members keep it.
#[tokio::test]
async fn a_group_that_becomes_private_hides_what_exists() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let group = town.create_group("ana", "Runners").await;
    town.join("bo", &group).await;
    let post = town.post_into("ana", &group, "let us run").await.id;
    let comment = town.comment("cleo", &post, "may I come?").await;
    set_private(&town, &group, true).await;
    assert!(sees(&town, "bo", &post).await && !sees(&town, "cleo", &post).await);
    assert_eq!(members(&town, "bo", &group).await, ["ana", "bo"]);
    assert!(members(&town, "cleo", &group).await.is_empty());
    let cleo = town.caller("cleo");
    let liked = town.likes().like(&cleo, &post, None, None).await;
    assert_eq!(liked.unwrap_err().code(), Code::NotFound);
    let edited = town.comments().update(&cleo, &comment.id, "may I?", None).await;
    assert_eq!(edited.unwrap_err().code(), Code::NotFound);
    town.comments().delete(&cleo, &comment.id, None).await.unwrap();
    assert_eq!(town.join("cleo", &group).await.status, MemberStatus::Pending);
}

/// R55: what was written and who joined while a group was private stays with its members when it
/// becomes public; what comes later is public.
#[tokio::test]
async fn a_group_that_becomes_public_keeps_its_confidences() {
    let town = Town::of(["ana", "bo", "cleo", "dora"]).await;
    let group = town.create_private_group("ana", "Readers").await;
    town.join("bo", &group).await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    groups.approve(&ana, &group, &town.id("bo"), None).await.unwrap();
    let secret = town.post_into("ana", &group, "among us").await.id;
    let answer = town.comment("bo", &secret, "indeed").await;
    set_private(&town, &group, false).await;
    let open = town.post_into("ana", &group, "to all").await.id;
    for (name, sees_secret) in [("bo", true), ("dora", false)] {
        assert_eq!(
            (sees(&town, name, &secret).await, sees(&town, name, &open).await),
            (sees_secret, true)
        );
        let comment = town.comments().comment(Some(&town.caller(name)), &answer.id).await;
        assert_eq!(comment.is_ok(), sees_secret);
    }
    // It still takes requests: opening it is another decision.
    assert_eq!(town.join("cleo", &group).await.status, MemberStatus::Pending);
    set_policy(&town, &group, JoinPolicy::Open).await;
    assert_eq!(town.join("cleo", &group).await.status, MemberStatus::Active);
    assert!(sees(&town, "cleo", &secret).await, "a member sees all of it");
    assert_eq!(members(&town, "dora", &group).await, ["cleo"]);
    assert_eq!(members(&town, "cleo", &group).await, ["ana", "bo", "cleo"]);
    let of_bo = groups.of(Some(&town.caller("dora")), &town.id("bo"), &PageInput::first()).await;
    assert!(of_bo.unwrap().into_items().is_empty());
    let activities = town.previews("dora", &group.to_string()).await;
    assert_eq!(activities, ["to all"]);
    town.like("dora", &open).await;
    let liked = town.likes().like(&town.caller("dora"), &secret, None, None).await;
    assert_eq!(liked.unwrap_err().code(), Code::NotFound);
}

/// R55: the join policy decides what joining does; a private group is never open.
#[tokio::test]
async fn the_join_policy_decides_about_joining() {
    let town = Town::of(["ana", "bo", "cleo", "dora"]).await;
    let (groups, ana) = (town.groups(), town.caller("ana"));
    let group = town.create_group("ana", "Runners").await;
    set_policy(&town, &group, JoinPolicy::Request).await;
    assert_eq!(town.join("bo", &group).await.status, MemberStatus::Pending);
    set_policy(&town, &group, JoinPolicy::Invitation).await;
    let refused = groups.join(&town.caller("cleo"), &group, None).await.unwrap_err();
    assert!(matches!(refused, GroupError::InvitationRequired));
    assert_eq!(town.join("bo", &group).await.status, MemberStatus::Pending, "it waits");
    groups.approve(&ana, &group, &town.id("bo"), None).await.unwrap();
    groups.invite(&ana, &group, &town.id("cleo"), None).await.unwrap();
    assert_eq!(town.join("cleo", &group).await.status, MemberStatus::Active);
    set_policy(&town, &group, JoinPolicy::Open).await;
    assert_eq!(town.join("dora", &group).await.status, MemberStatus::Active);
    set_private(&town, &group, true).await;
    let found = groups.get(None, &group).await.unwrap().group;
    assert_eq!(found.join_policy(), JoinPolicy::Request, "open to all no longer");
    let open = GroupChange { join_policy: Some(JoinPolicy::Open), ..GroupChange::default() };
    let refused = groups.update(&ana, &group, open, None).await.unwrap_err();
    assert!(matches!(refused, GroupError::OpenWhilePrivate));
    let open = Some(JoinPolicy::Open);
    let group = NewGroup { is_private: true, join_policy: open, ..NewGroup::named("Readers") };
    let refused = groups.create(&ana, group, None).await.unwrap_err();
    assert!(matches!(refused, GroupError::OpenWhilePrivate));
}

/// R55: a group's admins change its name; its privacy, join policy and persistence are its owner's.
#[tokio::test]
async fn access_is_for_the_owner_to_change() {
    let town = Town::of(["ana", "bo"]).await;
    let group = town.create_group("ana", "Runners").await;
    town.join("bo", &group).await;
    town.set_group_role("ana", &group, "bo", GroupRole::Admin).await;
    let bo = town.caller("bo");
    let named = GroupChange { name: Some("Walkers".into()), ..GroupChange::default() };
    town.groups().update(&bo, &group, named, None).await.unwrap();
    for change in [
        GroupChange { is_private: Some(true), ..GroupChange::default() },
        GroupChange { join_policy: Some(JoinPolicy::Request), ..GroupChange::default() },
        GroupChange { is_persistent: Some(false), ..GroupChange::default() },
    ] {
        let refused = town.groups().update(&bo, &group, change, None).await.unwrap_err();
        assert_eq!(refused.code(), Code::Forbidden);
    }
}

/// R55: an archived group is readable and not writable; members may leave and authors delete. Its owner
/// revives it.
#[tokio::test]
async fn an_archived_group_is_readable_and_not_writable() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (groups, ana, bo) = (town.groups(), town.caller("ana"), town.caller("bo"));
    let group = town.create_group("ana", "Runners").await;
    town.join("bo", &group).await;
    let room = town.room_of("bo", &group).await;
    town.send_message("bo", &room, "hello").await;
    let post = town.post_into("ana", &group, "let us run").await.id;
    let own = town.post_into("bo", &group, "when?").await.id;
    let comment = town.comment("bo", &post, "yes").await.id;
    town.archive_group(&group).await;

    assert!(sees(&town, "cleo", &post).await);
    assert_eq!(town.message_texts("bo", &room).await, ["hello"]);
    let mut refused = Vec::new();
    let input = roundtable_domain::NewPost {
        group_id: Some(group.clone()),
        ..roundtable_domain::NewPost::text("still here")
    };
    refused.push(town.posts().create(&bo, &input, None).await.unwrap_err().code());
    let change = PostChange { content: Some("when, then?".into()), visibility: None };
    refused.push(town.posts().update(&bo, &own, &change, None).await.unwrap_err().code());
    refused.push(town.likes().like(&bo, &post, None, None).await.unwrap_err().code());
    let input = roundtable_domain::NewComment {
        post_id: post.clone(),
        content: "still here".into(),
        parent_comment_id: None,
    };
    refused.push(town.comments().add(&bo, &input, None).await.unwrap_err().code());
    refused.push(town.comments().update(&bo, &comment, "no", None).await.unwrap_err().code());
    refused.push(town.comments().like(&ana, &comment, None).await.unwrap_err().code());
    let message = NewMessage::text(room, "still here");
    refused.push(town.messages().send(&bo, &message, None).await.unwrap_err().code());
    refused.push(groups.join(&town.caller("cleo"), &group, None).await.unwrap_err().code());
    let cleo = town.id("cleo");
    refused.push(groups.invite(&ana, &group, &cleo, None).await.unwrap_err().code());
    let change = GroupChange { name: Some("Walkers".into()), ..GroupChange::default() };
    refused.push(groups.update(&ana, &group, change, None).await.unwrap_err().code());
    assert_eq!(refused, [Code::Conflict; 10]);

    town.comments().delete(&bo, &comment, None).await.unwrap();
    town.posts().delete(&bo, &own, None).await.unwrap();
    groups.leave(&bo, &group, None).await.unwrap();
    assert_eq!(groups.revive(&bo, &group, None).await.unwrap_err().code(), Code::Forbidden);
    let revived = groups.revive(&ana, &group, None).await.unwrap();
    assert_eq!((revived.archived_at, revived.idle_from), (None, Some(town.now())));
    town.post_into("ana", &group, "again").await;
    assert_eq!(town.join("bo", &group).await.status, MemberStatus::Active);
}
