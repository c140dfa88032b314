//! R24 to R26: feeds, timelines and tags.

use serde_json::{Value, json};

use crate::api_town::{ApiTown, fields};

#[tokio::test]
async fn a_home_feed_shows_activities_of_followed_users() {
    let api = ApiTown::of(["ana", "bo", "cy"]).await;
    api.town.follow("bo", "ana").await;
    api.town.post("cy", "unheard").await;
    let post = api.town.post("ana", "hello").await;
    let document = "{ getFeed { items { activityId actorId verb objectType objectId previewText source isPromoted
        engagementScore rank groupId actor { nickname } post { content }
        activity { activityId object { __typename ... on Post { content } } } } } }";
    let feed = api.run("bo", document).await["getFeed"]["items"].take();
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
async fn posts_are_listed_by_feed_day_and_popularity() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.post("ana", "one").await;
    let liked = api.town.post("bo", "two").await;
    let garden = r#"mutation { createPost(input: { content: "three", contentType: text, feedId: "gardening" }) { feedId } }"#;
    assert_eq!(api.run("ana", garden).await["createPost"]["feedId"], "gardening");
    api.town.set_score(&liked.id, 1_000).await;
    let today = api.town.now().day();
    let document = format!(
        r#"{{ listGlobalFeed {{ items {{ content }} }} old: listGlobalFeed(sortDirection: ASC) {{ items {{ content }} }}
            garden: listGlobalFeed(feedId: "gardening") {{ items {{ content }} }}
            listTimeline(date: "{today}") {{ items {{ content }} }} listPopularPosts {{ items {{ content }} }} }}"#
    );
    let data = api.run_as(None, &document).await;
    let newest = fields(&data["listGlobalFeed"], "content");
    assert_eq!(newest.iter().rev().copied().collect::<Vec<_>>(), fields(&data["old"], "content"));
    assert_eq!(&newest[newest.len() - 2..], ["two", "one"]);
    assert_eq!(fields(&data["listTimeline"], "content"), newest);
    assert_eq!(fields(&data["garden"], "content"), ["three"]);
    assert_eq!(fields(&data["listPopularPosts"], "content"), ["two"]);
    let pending = "{ listGlobalFeed(moderationStatus: PENDING) { items { id } } }";
    assert_eq!(api.error_code("ana", pending).await, "FORBIDDEN");
}

#[tokio::test]
async fn an_activity_is_posted_and_listed() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let post = api.town.post("ana", "hello").await;
    let tell = format!(
        r#"mutation {{ postActivity(input: {{ verb: goal_update, objectType: Post, objectId: "{}", tags: ["x"] }}) {{ verb objectType actor {{ nickname }} object {{ __typename }} }} }}"#,
        post.id
    );
    let told = api.run("ana", &tell).await["postActivity"].take();
    let expected = json!({"verb": "goal_update", "objectType": "Post", "actor": {"nickname": "ana"}, "object": {"__typename": "Post"}});
    assert_eq!(told, expected);
    assert_eq!(api.error_code("bo", &tell).await, "NOT_FOUND");
    let document = r#"{ listActivities(actorId: "ana", sortDirection: ASC) { items { verb } } getUser(id: "ana") { activities { items { verb } } } }"#;
    let data = api.run("bo", document).await;
    assert_eq!(fields(&data["listActivities"], "verb"), ["post", "goal_update"]);
    assert_eq!(fields(&data["getUser"]["activities"], "verb"), ["goal_update", "post"]);
}

#[tokio::test]
async fn a_timeline_has_everything_a_user_created_and_groups_for_memberships() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.follow("ana", "bo").await;
    api.town.advance_ms(1_000);
    api.town.create_group("ana", "Runners").await;
    api.town.advance_ms(1_000);
    let post = api.town.post("ana", "hello").await;
    api.town.comment("ana", &post.id, "first").await;
    api.town.like("ana", &post.id).await;
    let document = r#"{ listUserEntities(userId: "ana") { items { __typename ... on Group { name membersCount } ... on Post { content } } }
        posts: listUserEntities(userId: "ana", entity: Post) { items { __typename } }
        getUser(id: "ana") { timeline(sortDirection: ASC) { items { __typename } } } }"#;
    let data = api.run("bo", document).await;
    let kinds = fields(&data["listUserEntities"], "__typename");
    for kind in ["Like", "Comment", "Post", "Group", "Follow", "User"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let group = data["listUserEntities"]["items"].as_array().unwrap();
    let group = group.iter().find(|it| it["__typename"] == "Group").unwrap();
    assert_eq!(group["name"], "Runners");
    assert_eq!(fields(&data["posts"], "__typename"), ["Post"]);
    let oldest: Vec<&str> = kinds.iter().rev().copied().collect();
    assert_eq!(fields(&data["getUser"]["timeline"], "__typename"), oldest);
}

#[tokio::test]
async fn objects_are_found_by_their_tags() {
    let api = ApiTown::of(["ana", "bo"]).await;
    api.town.post("ana", "it is #spring").await;
    let group =
        r#"mutation { createGroup(input: { name: "Gardeners", tags: ["Spring"] }) { id } }"#;
    api.run("ana", group).await;
    let document = r#"{ searchByTag(tag: "spring") { items { __typename ... on Group { name membersCount } ... on Post { content } } }
        posts: searchByTag(tag: "SPRING", entity: Post) { items { __typename } } }"#;
    let found = api.run_as(None, document).await;
    let mut kinds = fields(&found["searchByTag"], "__typename");
    kinds.sort_unstable();
    assert_eq!(kinds, ["Group", "Post"]);
    assert_eq!(fields(&found["posts"], "__typename"), ["Post"]);
    let never = r#"{ searchByTag(tag: "spring", entity: Like) { items { __typename } } }"#;
    assert_eq!(api.error_code_as(None, never).await, "BAD_REQUEST");
    let nothing = api
        .run_as(None, r#"{ searchByTag(tag: "autumn") { items { __typename } nextToken } }"#)
        .await;
    assert_eq!(nothing["searchByTag"], json!({"items": [], "nextToken": Value::Null}));
}

/// R52: the feed by rank, whose cursors are not those of the feed by time.
#[tokio::test]
async fn a_feed_is_read_by_rank() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    api.town.follow("ana", "bo").await;
    let liked = api.town.post("bo", "liked").await.id;
    api.town.advance_ms(1_000);
    api.town.post("bo", "newer").await;
    for name in ["ana", "cleo"] {
        api.town.like(name, &liked).await;
    }
    api.settle().await;
    let page = |arguments: &str| {
        format!("{{ getFeed({arguments}) {{ items {{ previewText rank }} nextToken }} }}")
    };
    let first = api.run("ana", &page("order: top, limit: 1")).await;
    assert_eq!(fields(&first["getFeed"], "previewText"), ["liked"]);
    assert!(first["getFeed"]["items"][0]["rank"].as_f64().unwrap() > 1.0);
    let token = first["getFeed"]["nextToken"].as_str().unwrap();
    let rest = api.run("ana", &page(&format!("order: top, nextToken: \"{token}\""))).await;
    assert_eq!(fields(&rest["getFeed"], "previewText"), ["newer"]);
    let latest = api.run("ana", &page("order: latest")).await;
    assert_eq!(fields(&latest["getFeed"], "previewText"), ["newer", "liked"]);
    let mixed = page(&format!("nextToken: \"{token}\""));
    assert_eq!(api.error_code("ana", &mixed).await, "BAD_REQUEST");
}
