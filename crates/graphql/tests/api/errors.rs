//! Errors: a code of the contract in two fields, and no internal details.

use roundtable_domain::Code;
use roundtable_execution::FieldError;
use roundtable_interface::{ApiError, INTERNAL_MESSAGE};
use serde_json::{Value, json};

use crate::api_town::ApiTown;

#[tokio::test]
async fn an_invalid_document_is_a_bad_request() {
    let api = ApiTown::of(["ana"]).await;
    let documents = [
        "",
        "{",
        "query",
        "{ me { id }",
        "{ me { nothing } }",
        "{ me }",
        "{ getUser { id } }",
        "{ getUser(id: true) { id } }",
        r#"{ getUser(id: "a#b") { id } }"#,
        "{ listGlobalFeed(moderationStatus: SOMETIMES) { nextToken } }",
        r#"{ getUserByEmail(email: "nobody") { id } }"#,
        "mutation { followUser(followeeId: null) { status } }",
        "query A { me { id } } query B { me { id } }",
        "{ ...A } fragment A on Query { ...A }",
        "subscription { nothing }",
    ];
    for document in documents {
        let response = api.response(Some(api.town.caller("ana")), document, Value::Null).await;
        let error = &response["errors"][0];
        assert_eq!(error["errorType"], "BAD_REQUEST", "{document}: {response}");
        assert_eq!(error["extensions"]["code"], "BAD_REQUEST", "{document}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "{document}");
    }
}

#[tokio::test]
async fn a_rejected_document_has_no_data_and_an_executed_one_has() {
    let api = ApiTown::of(["ana"]).await;
    let refused = api.response(None, "{ nothing }", Value::Null).await;
    assert_eq!(refused.get("data"), None);
    let document = r#"mutation { followUser(followeeId: "ana") { status } }"#;
    let tried = api.response(None, document, Value::Null).await;
    assert_eq!(tried["data"], Value::Null);
    assert!(tried.get("data").is_some());
    assert_eq!(tried["errors"][0]["errorType"], "UNAUTHENTICATED");
    assert_eq!(tried["errors"][0]["path"], json!(["followUser"]));
}

#[tokio::test]
async fn wrong_variables_are_bad_requests() {
    let api = ApiTown::of(["ana"]).await;
    let document =
        "query Q($id: ID!, $n: Int) { listUserPosts(userId: $id, first: $n) { nextToken } }";
    for variables in
        [json!({}), json!({"id": null}), json!({"id": ["ana"]}), json!({"id": "ana", "n": "x"})]
    {
        let response = api.response(None, document, variables.clone()).await;
        assert_eq!(response["errors"][0]["errorType"], "BAD_REQUEST", "{variables}: {response}");
    }
    let response = api.response(None, document, json!({"id": "ana", "n": 5})).await;
    assert_eq!(response["data"]["listUserPosts"]["nextToken"], Value::Null);
}

#[tokio::test]
async fn operations_that_need_a_caller_reject_anonymous_clients() {
    let api = ApiTown::of(["ana"]).await;
    let documents = [
        r#"mutation { followUser(followeeId: "ana") { status } }"#,
        r#"mutation { createPost(input: { content: "x", contentType: text }) { id } }"#,
        r#"mutation { createGroup(input: { name: "x" }) { id } }"#,
        r#"mutation { suspendUser(userId: "ana", reason: "x") { id } }"#,
        "mutation { redriveDeadLetters }",
        "{ getFeed { nextToken } }",
        "{ listMyGroups { nextToken } }",
        "{ listModerationQueue { nextToken } }",
        "{ stats { users } }",
    ];
    for document in documents {
        assert_eq!(api.error_code_as(None, document).await, "UNAUTHENTICATED", "{document}");
    }
}

/// The execution makes errors of its own, because it knows none of our types.
#[test]
fn internal_errors_look_alike() {
    let ours = ApiError::new(Code::Internal, INTERNAL_MESSAGE);
    assert_eq!(FieldError::internal("a test"), FieldError::from(ours));
}
