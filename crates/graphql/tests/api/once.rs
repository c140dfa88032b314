//! R32: the same request id has the effect of one request.

use crate::stage::Stage;

const POST: &str = r#"mutation { createPost(requestId: "r1", input: { content: "hello", contentType: text }) { id } }"#;

#[tokio::test]
async fn sending_a_mutation_twice_is_sending_it_once() {
    let stage = Stage::of(["ana", "bo"]).await;
    let (first, second) = (stage.ask("ana", POST).await, stage.ask("ana", POST).await);
    assert_eq!(first, second);
    let posts = stage.ask("ana", r#"{ listUserPosts(userId: "ana") { items { id } } }"#).await;
    assert_eq!(posts["listUserPosts"]["items"].as_array().unwrap().len(), 1);
    let toggle = format!(
        r#"mutation {{ toggleLike(postId: {}, requestId: "r2") {{ liked }} }}"#,
        first["createPost"]["id"]
    );
    for _ in 0..3 {
        assert_eq!(stage.ask("bo", &toggle).await["toggleLike"]["liked"], true);
    }
}

#[tokio::test]
async fn a_request_id_with_other_input_is_refused_and_belongs_to_its_caller() {
    let stage = Stage::of(["ana", "bo"]).await;
    stage.ask("ana", POST).await;
    let other = POST.replace("hello", "goodbye");
    assert_eq!(stage.refused("ana", &other).await, "IDEMPOTENCY_MISMATCH");
    stage.ask("bo", &other).await;
}
