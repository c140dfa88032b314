//! R30: AppSync and Relay paging on one cursor, which cannot be forged.

use serde_json::Value;

use crate::api_town::{ApiTown, fields};

async fn five_posts() -> ApiTown {
    let api = ApiTown::of(["ana", "bo"]).await;
    for n in 1..=5 {
        api.town.post("ana", &format!("post {n}")).await;
    }
    api
}

fn page(arguments: &str) -> String {
    format!(
        r#"{{ listUserPosts(userId: "ana" {arguments}) {{
            items {{ content }} nextToken
            edges {{ cursor node {{ content }} }}
            pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"#
    )
}

async fn read(api: &ApiTown, arguments: &str) -> Value {
    api.run("bo", &page(arguments)).await["listUserPosts"].take()
}

#[tokio::test]
async fn a_list_is_read_with_next_token_and_with_after_on_one_cursor() {
    let api = five_posts().await;
    let first = read(&api, "limit: 2").await;
    assert_eq!(fields(&first, "content"), ["post 5", "post 4"]);
    assert_eq!(first["edges"][1]["node"]["content"], "post 4");
    assert_eq!(first["pageInfo"]["hasNextPage"], true);
    assert_eq!(first["pageInfo"]["hasPreviousPage"], false);
    assert_eq!(first["pageInfo"]["endCursor"], first["nextToken"]);
    let token = first["nextToken"].as_str().unwrap();
    let by_token = read(&api, &format!(r#"limit: 2, nextToken: "{token}""#)).await;
    let by_after = read(&api, &format!(r#"first: 2, after: "{token}""#)).await;
    assert_eq!(fields(&by_token, "content"), ["post 3", "post 2"]);
    assert_eq!(by_token, by_after);
    let last = by_after["pageInfo"]["endCursor"].as_str().unwrap();
    let last = read(&api, &format!(r#"first: 2, after: "{last}""#)).await;
    assert_eq!(fields(&last, "content"), ["post 1"]);
    assert_eq!(last["nextToken"], Value::Null);
    assert_eq!(last["pageInfo"]["hasNextPage"], false);
    assert_eq!(last["pageInfo"]["hasPreviousPage"], true);
}

#[tokio::test]
async fn every_edge_cursor_continues_after_its_item() {
    let api = five_posts().await;
    let all = read(&api, "").await;
    let second = all["edges"][1]["cursor"].as_str().unwrap();
    let rest = read(&api, &format!(r#"after: "{second}""#)).await;
    assert_eq!(fields(&rest, "content"), ["post 3", "post 2", "post 1"]);
}

#[tokio::test]
async fn the_same_list_accepts_its_cursor_from_any_field() {
    let api = five_posts().await;
    let first = read(&api, "limit: 2").await;
    let token = first["nextToken"].as_str().unwrap();
    let document = format!(
        r#"{{ getUser(id: "ana") {{ posts(nextToken: "{token}") {{ items {{ content }} }} }} }}"#
    );
    let posts = api.run("bo", &document).await["getUser"]["posts"].take();
    assert_eq!(fields(&posts, "content"), ["post 3", "post 2", "post 1"]);
}

#[tokio::test]
async fn relay_arguments_win_over_appsync_arguments() {
    let api = five_posts().await;
    assert_eq!(read(&api, "limit: 4, first: 1").await["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_cursor_of_another_list_or_viewer_is_a_bad_request() {
    let api = five_posts().await;
    let first = read(&api, "limit: 2").await;
    let token = first["nextToken"].as_str().unwrap();
    let flipped = token.chars().rev().collect::<String>();
    for forged in ["", "x", "!!", &flipped, &token[1..]] {
        for argument in ["after", "nextToken"] {
            let document = page(&format!(r#"{argument}: "{forged}""#));
            assert_eq!(api.error_code("bo", &document).await, "BAD_REQUEST", "{forged}");
        }
    }
    let mine = page(&format!(r#"after: "{token}""#));
    assert_eq!(api.error_code("ana", &mine).await, "BAD_REQUEST", "another viewer");
    assert_eq!(api.error_code_as(None, &mine).await, "BAD_REQUEST", "nobody in particular");
    let others = [
        format!(r#"{{ listUserPosts(userId: "bo", after: "{token}") {{ nextToken }} }}"#),
        format!(
            r#"{{ listUserPosts(userId: "ana", sortDirection: ASC, after: "{token}") {{ nextToken }} }}"#
        ),
        format!(r#"{{ listUserComments(userId: "ana", after: "{token}") {{ nextToken }} }}"#),
        format!(r#"{{ getFeed(after: "{token}") {{ nextToken }} }}"#),
    ];
    for other in others {
        assert_eq!(api.error_code("bo", &other).await, "BAD_REQUEST", "{other}");
    }
}

#[tokio::test]
async fn pages_have_one_to_a_hundred_items() {
    let api = five_posts().await;
    for limit in ["limit: 101", "first: 101", "limit: 0", "first: -1", "limit: 2147483647"] {
        let (argument, size) = limit.split_once(": ").unwrap();
        let response = api.response(api.client("bo"), &page(limit), Value::Null).await;
        let expected = format!("{argument}: expected 1 to 100, found {size}");
        assert_eq!(response["errors"][0]["message"], expected);
        assert_eq!(response["errors"][0]["errorType"], "BAD_REQUEST");
    }
    let forbidden = "{ listModerationQueue(first: 101) { nextToken } }";
    assert_eq!(api.error_code("bo", forbidden).await, "FORBIDDEN");
    assert_eq!(read(&api, "limit: 100").await["items"].as_array().unwrap().len(), 5);
}

/// Reads a list to its end, one item at a time, and returns the number of items. Each cursor must be
/// short. In the document, `PAGE` stands for the paging arguments and `LIST` for the selection.
async fn walk(api: &ApiTown, viewer: &str, path: &[&str], document: &str) -> usize {
    let selection = "{ nextToken edges { cursor } pageInfo { startCursor endCursor } }";
    let document = document.replace("LIST", selection);
    let (mut after, mut items) = (String::new(), 0);
    loop {
        let list = document.replace("PAGE", &format!("first: 1 {after}"));
        let mut data = api.run(viewer, &list).await;
        for name in path {
            data = data[*name].take();
        }
        let edges = data["edges"].as_array().unwrap().iter().map(|edge| &edge["cursor"]);
        let info =
            [&data["nextToken"], &data["pageInfo"]["startCursor"], &data["pageInfo"]["endCursor"]];
        items += edges.len();
        for cursor in edges.chain(info).filter_map(Value::as_str) {
            assert!(
                (1..=80).contains(&cursor.len()),
                "{list}: {} characters: {cursor}",
                cursor.len()
            );
        }
        match data["nextToken"].as_str() {
            Some(next) => after = format!(r#"after: "{next}""#),
            None => return items,
        }
    }
}

#[tokio::test]
async fn cursors_have_at_most_80_characters() {
    let [ana, bo, cleo] =
        ["01JGXE6N0YM9S346Q3D25VT4F5", "01JGYENESYV37E3S3E28JT97KB", "01JGZW5NKN6CQ643DZVMXXQKFB"];
    let api = ApiTown::of([ana, bo, cleo]).await;
    for (follower, followee) in [(ana, bo), (cleo, bo), (bo, ana), (cleo, ana)] {
        api.town.follow(follower, followee).await;
        api.town.advance_ms(1_000);
    }
    let post = api.town.post(bo, "first").await.id;
    api.town.post(bo, "second").await;
    for (author, text) in [(ana, "one"), (ana, "two"), (cleo, "three")] {
        api.town.comment(author, &post, text).await;
    }
    let room = api.town.room_with(ana, bo).await;
    for text in ["one", "two"] {
        api.town.send_message(ana, &room, text).await;
    }
    api.settle().await;
    let today = api.town.now().day();
    let lists: [(&[&str], usize, String); 9] = [
        (&["getFeed"], 2, "{ getFeed(PAGE) LIST }".into()),
        (&["listUserPosts"], 2, format!(r#"{{ listUserPosts(userId: "{bo}" PAGE) LIST }}"#)),
        (
            &["getPost", "comments"],
            3,
            format!(r#"{{ getPost(id: "{post}") {{ comments(PAGE) LIST }} }}"#),
        ),
        (&["listMessages"], 2, format!(r#"{{ listMessages(roomId: "{room}" PAGE) LIST }}"#)),
        (&["listFollowers"], 2, format!(r#"{{ listFollowers(userId: "{bo}" PAGE) LIST }}"#)),
        (&["listNotifications"], 2, "{ listNotifications(PAGE) LIST }".into()),
        (&["listTimeline"], 2, format!(r#"{{ listTimeline(date: "{today}" PAGE) LIST }}"#)),
        // The profile, a follow, two comments and two messages.
        (
            &["getUser", "timeline"],
            6,
            format!(r#"{{ getUser(id: "{ana}") {{ timeline(PAGE) LIST }} }}"#),
        ),
        (&["listMyRooms"], 1, "{ listMyRooms(PAGE) LIST }".into()),
    ];
    for (path, items, document) in lists {
        assert_eq!(walk(&api, ana, path, &document).await, items, "{path:?}");
    }
}
