//! R34, R36: reports, decisions, promotions, roles and statistics.

use roundtable_model::entities::DeadLetter;
use roundtable_model::{Entity, Role};
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

/// R56: a moderator reads a case with its reports and its history, and the audit log.
#[tokio::test]
async fn moderators_read_cases_reports_and_the_audit() {
    let api = ApiTown::of(["ana", "bo", "cleo", "mo"]).await;
    let mo = api.town.grant_role("mo", Role::Moderator).await;
    let mo = || Some(mo.clone());
    let post = api.town.post("ana", "buy this").await.id;
    for (name, reason) in [("bo", "spam"), ("cleo", "rude")] {
        let report = format!(
            r#"mutation {{ reportPost(postId: "{post}", reason: "{reason}") {{
                reports {{ items {{ reason }} }} history {{ items {{ action }} }} }} }}"#
        );
        let seen = api.run(name, &report).await["reportPost"].take();
        let nothing = json!({"reports": {"items": []}, "history": {"items": []}});
        assert_eq!(seen, nothing, "reporters do not see each other");
    }
    let moderate = format!(
        r#"mutation {{ moderatePost(input: {{ postId: "{post}", status: REJECTED, reason: "spam" }}) {{ id }} }}"#
    );
    api.run_as(mo(), &moderate).await;
    let entry = "action actorId actor { nickname } subjectId detail createdAt id";
    let case = format!(
        r#"{{ getModerationCase(id: "{post}") {{ id status post {{ content }}
            reports {{ items {{ caseId userId user {{ nickname }} reason createdAt }} }}
            history {{ items {{ {entry} }} }} }}
            listReports(caseId: "{post}") {{ items {{ userId reason }} }} }}"#
    );
    let seen = api.run_as(mo(), &case).await;
    let found = &seen["getModerationCase"];
    assert_eq!((&found["id"], &found["status"]), (&json!(post), &json!("REJECTED")));
    let reports = &found["reports"]["items"];
    assert_eq!(reports[0]["user"]["nickname"], "bo");
    assert_eq!((&reports[1]["reason"], &reports[1]["caseId"]), (&json!("rude"), &json!(post)));
    let expected =
        json!([{"userId": "bo", "reason": "spam"}, {"userId": "cleo", "reason": "rude"}]);
    assert_eq!(seen["listReports"]["items"], expected);
    let history = found["history"]["items"].clone();
    assert_eq!(history[0]["action"], "moderatePost");
    assert_eq!(
        (&history[0]["actorId"], &history[0]["actor"]["nickname"]),
        (&json!("mo"), &json!("mo"))
    );
    assert_eq!(history[0]["detail"], r#"{"from":"PENDING","reason":"spam","to":"REJECTED"}"#);
    let audit = |filter: &str| format!("{{ listAudit{filter} {{ items {{ {entry} }} }} }}");
    let today = format!("(day: \"{}\")", api.town.now().day());
    let subject = format!("(subjectId: \"{post}\")");
    for filter in ["", &today, "(actorId: \"mo\")", &subject] {
        let listed = api.run_as(mo(), &audit(filter)).await["listAudit"]["items"].take();
        assert_eq!(listed, history, "{filter}");
        assert_eq!(api.error_code("bo", &audit(filter)).await, "FORBIDDEN", "{filter}");
    }
    for filter in ["(day: \"2001-01-01\")", "(actorId: \"ana\")", "(subjectId: \"ana\")"] {
        let listed = api.run_as(mo(), &audit(filter)).await["listAudit"]["items"].take();
        assert_eq!(listed, json!([]), "{filter}");
    }
    let both = audit("(actorId: \"mo\", subjectId: \"ana\")");
    assert_eq!(api.error_code_as(mo(), &both).await, "BAD_REQUEST");
    assert_eq!(api.error_code("bo", &case).await, "FORBIDDEN");
    let missing = r#"{ getModerationCase(id: "zoe") { id } }"#;
    assert_eq!(api.run_as(mo(), missing).await["getModerationCase"], Value::Null);
}

/// R56
#[tokio::test]
async fn users_groups_and_messages_are_reported() {
    let api = ApiTown::of(["ana", "bo", "mo"]).await;
    let mo = api.town.grant_role("mo", Role::Moderator).await;
    let group = api.town.create_group("bo", "rogues").await;
    let room = api.town.room_with("ana", "bo").await;
    let said = api.town.send_message("bo", &room, "go away").await.id;
    let message = format!(r#"reportMessage(roomId: "{room}", messageId: "{said}""#);
    let reports = [
        String::from(r#"reportUser(userId: "bo""#),
        format!(r#"reportGroup(groupId: "{group}""#),
        message.clone(),
    ];
    for report in &reports {
        let document = format!(
            r#"mutation {{ {report}, reason: "rude") {{ id status reason post {{ id }} messageText }} }}"#
        );
        let case = api.run("ana", &document).await;
        let case = case.as_object().unwrap().values().next().unwrap();
        assert_eq!((&case["status"], &case["reason"]), (&json!("PENDING"), &json!("rude")));
        assert_eq!((&case["post"], &case["messageText"]), (&Value::Null, &Value::Null));
        assert_eq!(api.error_code("bo", &document).await, "BAD_REQUEST");
    }
    let stranger = format!(r#"mutation {{ {message}, reason: "x") {{ id }} }}"#);
    assert_eq!(api.error_code_as(Some(mo.clone()), &stranger).await, "NOT_FOUND");
    let queue = "{ listModerationQueue { items { id user { nickname } group { name } messageText
        reports { items { reason user { nickname } } } } } }";
    let cases = api.run_as(Some(mo.clone()), queue).await["listModerationQueue"]["items"].take();
    let cases = cases.as_array().unwrap();
    let of = |id: &str| cases.iter().find(|case| case["id"] == id).unwrap();
    assert_eq!(of("bo")["user"]["nickname"], "bo");
    assert_eq!(of(&group.to_string())["group"]["name"], "rogues");
    let message = of(&said.to_string());
    assert_eq!(message["messageText"], "go away");
    assert_eq!(message["user"]["nickname"], "bo");
    assert_eq!(message["reports"]["items"][0]["user"]["nickname"], "ana");
    let decide = r#"mutation { decideCase(caseId: "bo", status: REJECTED, reason: "warned") {
        status reason decidedBy { nickname } history { items { action } } } }"#;
    assert_eq!(api.error_code("ana", decide).await, "FORBIDDEN");
    let decided = api.run_as(Some(mo), decide).await["decideCase"].take();
    assert_eq!((&decided["status"], &decided["reason"]), (&json!("REJECTED"), &json!("warned")));
    assert_eq!(decided["history"]["items"], json!([{ "action": "decideCase" }]));
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
    // R57
    let letter = roundtable_model::samples::dead_letter();
    let letter = DeadLetter { queue: "fan-out".parse().unwrap(), ..letter };
    api.town.context().ops().table().put(letter.put()).await.unwrap();
    let list = "{ listDeadLetters { items { name queue error attempts failedAt createdAt } } }";
    let listed = admin(list).await["listDeadLetters"]["items"].take();
    assert_eq!((&listed[0]["queue"], listed.as_array().unwrap().len()), (&json!("fan-out"), 1));
    let discard = format!("mutation {{ discardDeadLetter(name: {}) }}", listed[0]["name"]);
    for document in [list, &discard] {
        assert_eq!(api.error_code("bo", document).await, "FORBIDDEN");
    }
    let discarded = api.run_as(Some(root.clone()), &discard).await;
    assert_eq!(discarded["discardDeadLetter"], true);
    assert_eq!(api.error_code_as(Some(root.clone()), &discard).await, "NOT_FOUND");
    let unknown = r#"mutation { discardDeadLetter(name: "fan-out") }"#;
    assert_eq!(api.error_code_as(Some(root.clone()), unknown).await, "BAD_REQUEST");
    let stats =
        admin("{ stats { users posts activities fanoutQueueDepth dlqDepth streamLagMs } }").await;
    let expected = json!({"users": 3, "posts": 1, "activities": 1, "fanoutQueueDepth": 0, "dlqDepth": 3, "streamLagMs": 0});
    assert_eq!(stats["stats"], expected);
    assert_eq!(api.error_code("bo", "{ stats { users } }").await, "FORBIDDEN");
}
