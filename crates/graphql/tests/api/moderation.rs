//! R34, R36: reports, decisions, promotions, roles and statistics.

use roundtable_model::Role;
use serde_json::{Value, json};

use crate::api_town::ApiTown;

#[tokio::test]
async fn a_report_opens_a_case_and_a_decision_hides_the_post() {
    let api = ApiTown::of(["ana", "bo", "mo"]).await;
    let mo = || Some(api.town.staff("mo", Role::Moderator));
    let post = api.town.post("ana", "buy this").await.id;
    let comment = api.town.comment("ana", &post, "buy that").await.id;
    let report = api.run("bo", &format!(r#"mutation {{ reportPost(postId: "{post}", reason: "spam") {{ status post {{ content }} comment {{ id }} }} }}"#)).await;
    assert_eq!(
        report["reportPost"],
        json!({"status": "PENDING", "post": {"content": "buy this"}, "comment": null})
    );
    let report = api.run("bo", &format!(r#"mutation {{ reportComment(commentId: "{comment}", reason: "spam") {{ comment {{ content }} }} }}"#)).await;
    assert_eq!(report["reportComment"]["comment"]["content"], "buy that");
    let queue = "{ listModerationQueue { items { status reason post { content } comment { content } decidedBy { id } } } }";
    assert_eq!(api.error_code("bo", queue).await, "FORBIDDEN");
    let cases = api.run_as(mo(), queue).await["listModerationQueue"]["items"].take();
    assert_eq!(cases.as_array().unwrap().len(), 2);
    assert_eq!(cases[0]["post"]["content"], "buy this");
    let moderate = format!(
        r#"mutation {{ moderatePost(input: {{ postId: "{post}", status: REJECTED, reason: "spam" }}) {{ moderationStatus }} }}"#
    );
    assert_eq!(api.error_code("bo", &moderate).await, "FORBIDDEN");
    assert_eq!(api.run_as(mo(), &moderate).await["moderatePost"]["moderationStatus"], "REJECTED");
    assert_eq!(
        api.run("bo", &format!(r#"{{ getPost(id: "{post}") {{ id }} }}"#)).await["getPost"],
        Value::Null
    );
    let decided =
        "{ listModerationQueue(status: REJECTED) { items { decidedBy { nickname } decidedAt } } }";
    let cases = api.run_as(mo(), decided).await["listModerationQueue"]["items"].take();
    assert_eq!(cases[0]["decidedBy"]["nickname"], "mo");
    let moderate = format!(
        r#"mutation {{ moderateComment(commentId: "{comment}", status: APPROVED) {{ moderationStatus }} }}"#
    );
    assert_eq!(
        api.run_as(mo(), &moderate).await["moderateComment"]["moderationStatus"],
        "APPROVED"
    );
}

#[tokio::test]
async fn accounts_are_suspended_and_restored() {
    let api = ApiTown::of(["ana", "bo", "mo"]).await;
    let mo = api.town.grant_role("mo", Role::Moderator).await;
    let suspend = r#"mutation { suspendUser(userId: "ana", reason: "spam") { status } }"#;
    assert_eq!(api.error_code("bo", suspend).await, "FORBIDDEN");
    assert_eq!(api.run_as(Some(mo.clone()), suspend).await["suspendUser"]["status"], "suspended");
    assert_eq!(api.run("bo", r#"{ getUser(id: "ana") { id } }"#).await["getUser"], Value::Null);
    let follow = r#"mutation { followUser(followeeId: "bo") { status } }"#;
    assert_eq!(api.error_code("ana", follow).await, "FORBIDDEN");
    api.run_as(Some(mo), r#"mutation { unsuspendUser(userId: "ana") { status } }"#).await;
    api.run("ana", follow).await;
}

#[tokio::test]
async fn admins_promote_set_roles_redrive_and_read_statistics() {
    let api = ApiTown::of(["ana", "bo", "root"]).await;
    let root = api.town.grant_role("root", Role::Admin).await;
    api.town.post("ana", "hello").await;
    let admin = |document: &'static str| api.run_as(Some(root.clone()), document);
    let promote = r#"mutation { setPromotion(input: { subjectId: "ana", fanoutEnabled: true, reason: manual, thresholds: "{\"followers\": 3}" }) {
        subjectId fanoutEnabled reason thresholds watermark } }"#;
    assert_eq!(api.error_code("bo", promote).await, "FORBIDDEN");
    let promotion = admin(promote).await["setPromotion"].take();
    assert_eq!(promotion["fanoutEnabled"], true);
    assert_eq!(promotion["thresholds"], r#"{"followers":3}"#);
    assert_eq!(
        admin(r#"{ getPromotion(subjectId: "ana") { reason } }"#).await["getPromotion"]["reason"],
        "manual"
    );
    let bad = promote.replace(r#"{\"followers\": 3}"#, "{");
    assert_eq!(api.error_code_as(Some(root.clone()), &bad).await, "BAD_REQUEST");
    let roles =
        admin(r#"mutation { setUserRoles(userId: "bo", roles: [moderator]) { roles } }"#).await;
    assert_eq!(roles["setUserRoles"]["roles"], json!(["user", "moderator"]));
    assert_eq!(admin("mutation { redriveDeadLetters(max: 2) }").await["redriveDeadLetters"], 2);
    for max in ["0", "-1", "10001"] {
        let document = format!("mutation {{ redriveDeadLetters(max: {max}) }}");
        assert_eq!(api.error_code_as(Some(root.clone()), &document).await, "BAD_REQUEST");
        assert_eq!(api.error_code("bo", &document).await, "FORBIDDEN");
    }
    let stats =
        admin("{ stats { users posts activities fanoutQueueDepth dlqDepth streamLagMs } }").await;
    let expected = json!({"users": 3, "posts": 1, "activities": 1, "fanoutQueueDepth": 0, "dlqDepth": 3, "streamLagMs": 0});
    assert_eq!(stats["stats"], expected);
    assert_eq!(api.error_code("bo", "{ stats { users } }").await, "FORBIDDEN");
}
