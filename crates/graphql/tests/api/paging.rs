//! R30: two habits on one cursor, and nothing but what was given out.

use serde_json::Value;

use crate::stage::{Stage, each};

async fn five_posts() -> Stage {
    let stage = Stage::of(["ana", "bo"]).await;
    for n in 1..=5 {
        stage.town.post("ana", &format!("post {n}")).await;
    }
    stage
}

fn page(arguments: &str) -> String {
    format!(
        r#"{{ listUserPosts(userId: "ana" {arguments}) {{
            items {{ content }} nextToken
            edges {{ cursor node {{ content }} }}
            pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"#
    )
}

async fn read(stage: &Stage, arguments: &str) -> Value {
    stage.ask("bo", &page(arguments)).await["listUserPosts"].take()
}

#[tokio::test]
async fn a_list_is_read_with_next_token_and_with_after_on_one_cursor() {
    let stage = five_posts().await;
    let first = read(&stage, "limit: 2").await;
    assert_eq!(each(&first, "content"), ["post 5", "post 4"]);
    assert_eq!(first["edges"][1]["node"]["content"], "post 4");
    assert_eq!(first["pageInfo"]["hasNextPage"], true);
    assert_eq!(first["pageInfo"]["hasPreviousPage"], false);
    assert_eq!(first["pageInfo"]["endCursor"], first["nextToken"]);
    let token = first["nextToken"].as_str().unwrap();
    let by_token = read(&stage, &format!(r#"limit: 2, nextToken: "{token}""#)).await;
    let by_after = read(&stage, &format!(r#"first: 2, after: "{token}""#)).await;
    assert_eq!(each(&by_token, "content"), ["post 3", "post 2"]);
    assert_eq!(by_token, by_after);
    let last = by_after["pageInfo"]["endCursor"].as_str().unwrap();
    let last = read(&stage, &format!(r#"first: 2, after: "{last}""#)).await;
    assert_eq!(each(&last, "content"), ["post 1"]);
    assert_eq!(last["nextToken"], Value::Null);
    assert_eq!(last["pageInfo"]["hasNextPage"], false);
    assert_eq!(last["pageInfo"]["hasPreviousPage"], true);
}

#[tokio::test]
async fn the_cursor_of_every_edge_continues_behind_it() {
    let stage = five_posts().await;
    let all = read(&stage, "").await;
    let second = all["edges"][1]["cursor"].as_str().unwrap();
    let rest = read(&stage, &format!(r#"after: "{second}""#)).await;
    assert_eq!(each(&rest, "content"), ["post 3", "post 2", "post 1"]);
}

#[tokio::test]
async fn the_same_list_has_one_cursor_wherever_it_is_asked_for() {
    let stage = five_posts().await;
    let first = read(&stage, "limit: 2").await;
    let token = first["nextToken"].as_str().unwrap();
    let document = format!(
        r#"{{ getUser(id: "ana") {{ posts(nextToken: "{token}") {{ items {{ content }} }} }} }}"#
    );
    let posts = stage.ask("bo", &document).await["getUser"]["posts"].take();
    assert_eq!(each(&posts, "content"), ["post 3", "post 2", "post 1"]);
}

#[tokio::test]
async fn both_habits_at_once_are_relays() {
    let stage = five_posts().await;
    assert_eq!(read(&stage, "limit: 4, first: 1").await["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_cursor_that_was_not_given_out_for_this_list_to_this_viewer_is_a_bad_request() {
    let stage = five_posts().await;
    let first = read(&stage, "limit: 2").await;
    let token = first["nextToken"].as_str().unwrap();
    let flipped = token.chars().rev().collect::<String>();
    for forged in ["", "x", "!!", &flipped, &token[1..]] {
        for argument in ["after", "nextToken"] {
            let document = page(&format!(r#"{argument}: "{forged}""#));
            assert_eq!(stage.refused("bo", &document).await, "BAD_REQUEST", "{forged}");
        }
    }
    let mine = page(&format!(r#"after: "{token}""#));
    assert_eq!(stage.refused("ana", &mine).await, "BAD_REQUEST", "another viewer");
    assert_eq!(stage.refused_as(None, &mine).await, "BAD_REQUEST", "nobody in particular");
    let others = [
        format!(r#"{{ listUserPosts(userId: "bo", after: "{token}") {{ nextToken }} }}"#),
        format!(
            r#"{{ listUserPosts(userId: "ana", sortDirection: ASC, after: "{token}") {{ nextToken }} }}"#
        ),
        format!(r#"{{ listUserComments(userId: "ana", after: "{token}") {{ nextToken }} }}"#),
        format!(r#"{{ getFeed(after: "{token}") {{ nextToken }} }}"#),
    ];
    for other in others {
        assert_eq!(stage.refused("bo", &other).await, "BAD_REQUEST", "{other}");
    }
}

#[tokio::test]
async fn pages_have_one_to_a_hundred_items() {
    let stage = five_posts().await;
    for limit in ["limit: 101", "first: 101", "limit: 0", "first: -1", "limit: 2147483647"] {
        assert_eq!(stage.refused("bo", &page(limit)).await, "BAD_REQUEST", "{limit}");
    }
    assert_eq!(read(&stage, "limit: 100").await["items"].as_array().unwrap().len(), 5);
}
