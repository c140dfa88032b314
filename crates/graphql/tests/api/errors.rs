//! Errors as clients read them: a code of the contract, twice, and no word from inside.

use serde_json::{Value, json};

use crate::stage::Stage;

#[tokio::test]
async fn what_is_no_document_is_a_bad_request() {
    let stage = Stage::of(["ana"]).await;
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
        let answer = stage.answer(Some(stage.town.caller("ana")), document, Value::Null).await;
        let error = &answer["errors"][0];
        assert_eq!(error["errorType"], "BAD_REQUEST", "{document}: {answer}");
        assert_eq!(error["extensions"]["code"], "BAD_REQUEST", "{document}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "{document}");
    }
}

#[tokio::test]
async fn a_document_that_was_refused_has_no_data_and_one_that_was_tried_has() {
    let stage = Stage::of(["ana"]).await;
    let refused = stage.answer(None, "{ nothing }", Value::Null).await;
    assert_eq!(refused.get("data"), None);
    let document = r#"mutation { followUser(followeeId: "ana") { status } }"#;
    let tried = stage.answer(None, document, Value::Null).await;
    assert_eq!(tried["data"], Value::Null);
    assert!(tried.get("data").is_some());
    assert_eq!(tried["errors"][0]["errorType"], "UNAUTHENTICATED");
    assert_eq!(tried["errors"][0]["path"], json!(["followUser"]));
}

#[tokio::test]
async fn wrong_variables_are_bad_requests() {
    let stage = Stage::of(["ana"]).await;
    let document =
        "query Q($id: ID!, $n: Int) { listUserPosts(userId: $id, first: $n) { nextToken } }";
    for variables in
        [json!({}), json!({"id": null}), json!({"id": ["ana"]}), json!({"id": "ana", "n": "x"})]
    {
        let answer = stage.answer(None, document, variables.clone()).await;
        assert_eq!(answer["errors"][0]["errorType"], "BAD_REQUEST", "{variables}: {answer}");
    }
    let answer = stage.answer(None, document, json!({"id": "ana", "n": 5})).await;
    assert_eq!(answer["data"]["listUserPosts"]["nextToken"], Value::Null);
}

#[tokio::test]
async fn nobody_can_do_anything_without_signing_in() {
    let stage = Stage::of(["ana"]).await;
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
        assert_eq!(stage.refused_as(None, document).await, "UNAUTHENTICATED", "{document}");
    }
}
