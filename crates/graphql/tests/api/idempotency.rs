//! R32: requests with the same request id take effect once.

use crate::api_town::ApiTown;

const POST: &str = r#"mutation { createPost(requestId: "r1", input: { content: "hello", contentType: text }) { id } }"#;

#[tokio::test]
async fn a_repeated_mutation_takes_effect_once() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let (first, second) = (api.run("ana", POST).await, api.run("ana", POST).await);
    assert_eq!(first, second);
    let posts = api.run("ana", r#"{ listUserPosts(userId: "ana") { items { id } } }"#).await;
    assert_eq!(posts["listUserPosts"]["items"].as_array().unwrap().len(), 1);
    let toggle = format!(
        r#"mutation {{ toggleLike(postId: {}, requestId: "r2") {{ liked }} }}"#,
        first["createPost"]["id"]
    );
    for _ in 0..3 {
        assert_eq!(api.run("bo", &toggle).await["toggleLike"]["liked"], true);
    }
}

#[tokio::test]
async fn a_reused_request_id_is_rejected_for_other_input_and_is_per_caller() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.run("ana", POST).await;
    let other = POST.replace("hello", "goodbye");
    assert_eq!(api.error_code("ana", &other).await, "IDEMPOTENCY_MISMATCH");
    api.run("bo", &other).await;
}
