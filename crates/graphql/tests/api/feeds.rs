//! R24 to R26: feeds, timelines and tags, as clients see them.

use serde_json::{Value, json};

use crate::stage::{Stage, each};

#[tokio::test]
async fn a_home_feed_shows_what_those_did_whom_one_follows() {
    let stage = Stage::of(["ana", "bo", "cy"]).await;
    stage.town.follow("bo", "ana").await;
    stage.town.post("cy", "unheard").await;
    let post = stage.town.post("ana", "hello").await;
    let document = "{ getFeed { items { activityId actorId verb objectType objectId previewText source isPromoted
        engagementScore rank groupId actor { nickname } post { content }
        activity { activityId object { __typename ... on Post { content } } } } } }";
    let feed = stage.ask("bo", document).await["getFeed"]["items"].take();
    assert_eq!(feed.as_array().unwrap().len(), 1);
    let entry = &feed[0];
    assert_eq!(entry["actor"]["nickname"], "ana");
    assert_eq!(entry["objectId"], post.id.to_string());
    assert_eq!(entry["post"]["content"], "hello");
    assert_eq!(entry["source"], "FAN_IN");
    assert_eq!(entry["isPromoted"], false);
    assert_eq!(entry["activity"]["object"], json!({"__typename": "Post", "content": "hello"}));
    assert!(entry["rank"].as_f64().unwrap() > 0.0);
}

#[tokio::test]
async fn the_posts_of_everybody_are_listed_by_feed_day_and_popularity() {
    let stage = Stage::of(["ana", "bo"]).await;
    stage.town.post("ana", "one").await;
    let liked = stage.town.post("bo", "two").await;
    let garden = r#"mutation { createPost(input: { content: "three", contentType: text, feedId: "gardening" }) { feedId } }"#;
    assert_eq!(stage.ask("ana", garden).await["createPost"]["feedId"], "gardening");
    stage.town.set_score(&liked.id, 1_000).await;
    let today = stage.town.now().day();
    let document = format!(
        r#"{{ listGlobalFeed {{ items {{ content }} }} old: listGlobalFeed(sortDirection: ASC) {{ items {{ content }} }}
            garden: listGlobalFeed(feedId: "gardening") {{ items {{ content }} }}
            listTimeline(date: "{today}") {{ items {{ content }} }} listPopularPosts {{ items {{ content }} }} }}"#
    );
    let seen = stage.ask_as(None, &document).await;
    let newest = each(&seen["listGlobalFeed"], "content");
    assert_eq!(newest.iter().rev().copied().collect::<Vec<_>>(), each(&seen["old"], "content"));
    assert_eq!(&newest[newest.len() - 2..], ["two", "one"]);
    assert_eq!(each(&seen["listTimeline"], "content"), newest);
    assert_eq!(each(&seen["garden"], "content"), ["three"]);
    assert_eq!(each(&seen["listPopularPosts"], "content"), ["two"]);
    let pending = "{ listGlobalFeed(moderationStatus: PENDING) { items { id } } }";
    assert_eq!(stage.refused("ana", pending).await, "FORBIDDEN");
}

#[tokio::test]
async fn what_somebody_did_is_told_and_listed() {
    let stage = Stage::of(["ana", "bo"]).await;
    let post = stage.town.post("ana", "hello").await;
    let tell = format!(
        r#"mutation {{ postActivity(input: {{ verb: goal_update, objectType: Post, objectId: "{}", tags: ["x"] }}) {{ verb objectType actor {{ nickname }} object {{ __typename }} }} }}"#,
        post.id
    );
    let told = stage.ask("ana", &tell).await["postActivity"].take();
    let expected = json!({"verb": "goal_update", "objectType": "Post", "actor": {"nickname": "ana"}, "object": {"__typename": "Post"}});
    assert_eq!(told, expected);
    assert_eq!(stage.refused("bo", &tell).await, "NOT_FOUND");
    let document = r#"{ listActivities(actorId: "ana", sortDirection: ASC) { items { verb } } getUser(id: "ana") { activities { items { verb } } } }"#;
    let seen = stage.ask("bo", document).await;
    assert_eq!(each(&seen["listActivities"], "verb"), ["post", "goal_update"]);
    assert_eq!(each(&seen["getUser"]["activities"], "verb"), ["goal_update", "post"]);
}

#[tokio::test]
async fn a_timeline_has_everything_somebody_made_and_groups_for_memberships() {
    let stage = Stage::of(["ana", "bo"]).await;
    stage.town.follow("ana", "bo").await;
    stage.town.pass_ms(1_000);
    stage.town.found("ana", "Runners").await;
    stage.town.pass_ms(1_000);
    let post = stage.town.post("ana", "hello").await;
    stage.town.comment("ana", &post.id, "first").await;
    stage.town.like("ana", &post.id).await;
    let document = r#"{ listUserEntities(userId: "ana") { items { __typename ... on Group { name membersCount } ... on Post { content } } }
        posts: listUserEntities(userId: "ana", entity: Post) { items { __typename } }
        getUser(id: "ana") { timeline(sortDirection: ASC) { items { __typename } } } }"#;
    let seen = stage.ask("bo", document).await;
    let kinds = each(&seen["listUserEntities"], "__typename");
    for kind in ["Like", "Comment", "Post", "Group", "Follow", "User"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let group = seen["listUserEntities"]["items"].as_array().unwrap();
    let group = group.iter().find(|it| it["__typename"] == "Group").unwrap();
    assert_eq!(group["name"], "Runners");
    assert_eq!(each(&seen["posts"], "__typename"), ["Post"]);
    let oldest: Vec<&str> = kinds.iter().rev().copied().collect();
    assert_eq!(each(&seen["getUser"]["timeline"], "__typename"), oldest);
}

#[tokio::test]
async fn things_are_found_by_their_tags() {
    let stage = Stage::of(["ana", "bo"]).await;
    stage.town.post("ana", "it is #spring").await;
    let group =
        r#"mutation { createGroup(input: { name: "Gardeners", tags: ["Spring"] }) { id } }"#;
    stage.ask("ana", group).await;
    let document = r#"{ searchByTag(tag: "spring") { items { __typename ... on Group { name membersCount } ... on Post { content } } }
        posts: searchByTag(tag: "SPRING", entity: Post) { items { __typename } } }"#;
    let found = stage.ask_as(None, document).await;
    let mut kinds = each(&found["searchByTag"], "__typename");
    kinds.sort_unstable();
    assert_eq!(kinds, ["Group", "Post"]);
    assert_eq!(each(&found["posts"], "__typename"), ["Post"]);
    let never = r#"{ searchByTag(tag: "spring", entity: Like) { items { __typename } } }"#;
    assert_eq!(stage.refused_as(None, never).await, "BAD_REQUEST");
    let nothing = stage
        .ask_as(None, r#"{ searchByTag(tag: "autumn") { items { __typename } nextToken } }"#)
        .await;
    assert_eq!(nothing["searchByTag"], json!({"items": [], "nextToken": Value::Null}));
}
