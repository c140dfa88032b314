//! Whoever listens too slowly is told so and listens no longer, and nobody else notices.

use crate::stage::Stage;

/// R45: a buffer has its end.
#[tokio::test]
async fn a_slow_listener_is_dropped_with_an_error_and_others_are_not() {
    const MORE_THAN_WAIT: usize = 70;
    let stage = Stage::of(["ana", "bo", "cleo"]).await;
    let post = stage.town.post("ana", "hello").await;
    let listen = format!("subscription {{ onAddComment(postId: \"{}\") {{ content }} }}", post.id);
    let (mut slow, mut quick) =
        (stage.listen("bo", &listen).await, stage.listen("cleo", &listen).await);
    for number in 0..MORE_THAN_WAIT {
        stage.town.comment("ana", &post.id, &format!("number {number}")).await;
        stage.services.live.catch_up().await.unwrap();
        assert_eq!(quick.hears("content").await, format!("number {number}"));
    }
    assert_eq!(slow.refused().await, "RATE_LIMITED");
    assert!(slow.is_over().await);
    assert!(quick.is_silent().await);
}
