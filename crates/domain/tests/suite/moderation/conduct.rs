//! Reports of users, groups and messages, and decisions about them (R56).

use roundtable_domain::{CaseSubject, ModerationError, PageInput};
use roundtable_model::{CaseId, ModerationStatus as Status, Role, UserStatus};
use roundtable_testkit::Town;

use super::code;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// R56: reports of a user open one case, which moderators read and decide; a later report reopens it.
#[tokio::test]
async fn a_user_is_reported_and_the_case_decided() {
    let town = Town::of(["ana", "bo", "cleo", "dan", "mo"]).await;
    let mo = town.grant_role("mo", Role::Moderator).await;
    let (moderation, dan) = (town.moderation(), town.id("dan"));
    let id = CaseId::from(&dan);
    for (name, reason) in [("ana", "rude"), ("bo", "spam")] {
        let case = moderation.report_user(&town.caller(name), &dan, reason, None).await.unwrap();
        assert_eq!(case.reporter_ids, [town.id(name)], "reporters do not see each other");
    }
    let again = moderation.report_user(&town.caller("bo"), &dan, "again", None).await.unwrap();
    assert_eq!(again.reason.as_deref(), Some("spam"), "it has no effect");
    assert_eq!(town.queue(Status::Pending).await, std::slice::from_ref(&id));
    let reviewed = moderation.case(&mo, &id).await.unwrap();
    let CaseSubject::User(user) = &reviewed.subject else { panic!("{reviewed:?}") };
    assert_eq!((&user.id, &user.email), (&dan, &None));
    let reports = moderation.reports(&mo, &id, &PageInput::first()).await.unwrap().into_items();
    let reports: Vec<_> = reports.iter().map(|one| (&*one.reason, one.user_id.clone())).collect();
    assert_eq!(reports, [("rude", town.id("ana")), ("spam", town.id("bo"))]);
    let ana = town.caller("ana");
    let refused = moderation.decide_case(&ana, &id, Status::Approved, None, None).await;
    assert_eq!(code(refused), "FORBIDDEN");
    let decided = moderation.decide_case(&mo, &id, Status::Rejected, Some("warned"), None).await;
    assert_eq!(decided.unwrap().case.status, Status::Rejected);
    assert!(town.queue(Status::Pending).await.is_empty());
    let seen = town.accounts().user(None, &dan).await.unwrap().unwrap();
    assert_eq!(seen.status, UserStatus::Active, "a decision is a record");
    town.advance_ms(1_000);
    moderation.report_user(&town.caller("cleo"), &dan, "still rude", None).await.unwrap();
    assert_eq!(town.queue(Status::Pending).await, std::slice::from_ref(&id));
    let trail = town.audit_trail().await;
    let expected = [
        r#"mo decideCase {"from":"PENDING","to":"REJECTED","reason":"warned"}"#,
        r#"cleo reportUser {"from":"REJECTED","to":"PENDING","reason":"still rude"}"#,
    ];
    assert_eq!(trail, expected);
}

/// R56: moderators read a reported message, although they are not in the room.
#[tokio::test]
async fn a_message_is_reported_by_its_readers() {
    let town = Town::of(["ana", "bo", "cleo", "mo"]).await;
    let mo = town.grant_role("mo", Role::Moderator).await;
    let (moderation, room) = (town.moderation(), town.room_with("ana", "bo").await);
    let said = town.send_message("bo", &room, "go away").await.id;
    let report = async |name: &str| {
        moderation.report_message(&town.caller(name), &room, &said, "rude", None).await
    };
    assert!(matches!(report("cleo").await, Err(ModerationError::NoSuchMessage)));
    assert!(matches!(report("mo").await, Err(ModerationError::NoSuchMessage)));
    assert!(matches!(report("bo").await, Err(ModerationError::OwnContent)));
    report("ana").await.unwrap();
    let reviewed = moderation.case(&mo, &(&said).into()).await.unwrap();
    let CaseSubject::Message(message) = &reviewed.subject else { panic!("{reviewed:?}") };
    assert_eq!(message.text, "go away");
}

/// R56
#[tokio::test]
async fn a_group_is_reported() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let mo = town.grant_role("mo", Role::Moderator).await;
    let (moderation, group) = (town.moderation(), town.create_private_group("ana", "rogues").await);
    let report =
        async |name: &str| moderation.report_group(&town.caller(name), &group, "rude", None).await;
    assert!(matches!(report("ana").await, Err(ModerationError::OwnContent)));
    report("bo").await.unwrap();
    let reviewed = moderation.case(&mo, &(&group).into()).await.unwrap();
    assert!(matches!(&reviewed.subject, CaseSubject::Group(found) if found.id == group));
    town.groups().delete(&town.caller("ana"), &group, None).await.unwrap();
    assert!(town.queue(Status::Pending).await.is_empty(), "the group is gone");
}

/// R56: cases of content are decided with the content; others expire when they leave the queue.
#[tokio::test]
async fn only_cases_without_content_are_decided_alone_and_expire() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let mo = town.grant_role("mo", Role::Moderator).await;
    let post = town.post("ana", "hello").await.id;
    town.report("bo", &post, "spam").await;
    let moderation = town.moderation();
    let of_post = moderation.decide_case(&mo, &(&post).into(), Status::Approved, None, None).await;
    assert!(matches!(of_post, Err(ModerationError::ContentCase)));
    let ana = town.id("ana");
    moderation.report_user(&town.caller("bo"), &ana, "rude", None).await.unwrap();
    let pending = moderation.decide_case(&mo, &(&ana).into(), Status::Pending, None, None).await;
    assert!(matches!(pending, Err(ModerationError::InvalidDecision)));
    assert_eq!(town.rows("CASE#ana", "").await.len(), 2);
    town.advance_ms(366 * DAY_MS);
    assert_eq!(town.rows("CASE#ana", "").await, [] as [String; 0]);
    assert_eq!(town.rows(&format!("CASE#{post}"), "").await.len(), 1);
}
