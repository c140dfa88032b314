//! A subscriber that reads too slowly gets an error and is dropped; others are not affected.

use crate::api_town::ApiTown;

/// R45: the buffer of a subscription is bounded.
#[tokio::test]
async fn a_slow_subscriber_is_dropped_with_an_error_and_others_are_not() {
    const MORE_THAN_WAIT: usize = 70;
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    let post = api.town.post("ana", "hello").await;
    let document =
        format!("subscription {{ onAddComment(postId: \"{}\") {{ content }} }}", post.id);
    let (mut slow, mut quick) =
        (api.subscribe("bo", &document).await, api.subscribe("cleo", &document).await);
    for number in 0..MORE_THAN_WAIT {
        api.town.comment("ana", &post.id, &format!("number {number}")).await;
        api.services.bus.catch_up().await.unwrap();
        assert_eq!(quick.next_field("content").await, format!("number {number}"));
    }
    assert_eq!(slow.next_error_code().await, "RATE_LIMITED");
    assert!(slow.has_ended().await);
    assert!(quick.has_no_event().await);
}
