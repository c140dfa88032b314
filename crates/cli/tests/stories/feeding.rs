//! The home feed.

use serde_json::{Value, json};

use super::people::Person;
use super::scene::{Scene, each, text};

const PAGE: &str =
    "query ($limit: Int, $token: String) { getFeed(limit: $limit, nextToken: $token) {
    items { resumeAfter verb post { content } } nextToken } }";
const EDGES: &str = "query ($first: Int, $after: String) { getFeed(first: $first, after: $after) {
    edges { cursor node { verb post { content } } } pageInfo { hasNextPage endCursor } } }";
const GROWS: &str =
    "subscription ($after: ID) { onFeedEntry(after: $after) { verb post { content } } }";

impl Person<'_> {
    /// The posts of the feed in order, read in pages of `limit`.
    pub(super) async fn feed(&self, limit: usize) -> Vec<String> {
        let (mut posts, mut token) = (Vec::new(), Value::Null);
        loop {
            let page = self.ask(PAGE, json!({ "limit": limit, "token": token })).await;
            let items = page["getFeed"]["items"].as_array().unwrap();
            assert!(items.len() <= limit, "{page}");
            posts.extend(items.iter().filter_map(written));
            token = page["getFeed"]["nextToken"].clone();
            if token.is_null() {
                return posts;
            }
        }
    }

    /// Waits until the feed holds exactly these posts.
    pub(super) async fn has_feed(&self, posts: &[&str]) {
        let deadline = self.scene.deadline();
        loop {
            let feed = self.feed(50).await;
            if feed == posts {
                return;
            }
            deadline
                .wait(format_args!("{} has the feed {feed:?}, not {posts:?}", self.nickname))
                .await;
        }
    }
}

/// The content of an entry's post, if it has one.
fn written(entry: &Value) -> Option<String> {
    (entry["verb"] == "post").then(|| text(&entry["post"]["content"]))
}

pub(super) async fn a_feed_is_read_page_by_page_and_as_it_grows(scene: &Scene) {
    let [ana, bo, cleo] =
        [scene.sign_up("ana").await, scene.sign_up("bo").await, scene.sign_up("cleo").await];
    ana.follows(&bo).await;
    let mut news = Vec::new();
    for (who, content) in
        [(&bo, "one"), (&cleo, "unheard"), (&bo, "two"), (&ana, "mine"), (&bo, "three")]
    {
        who.posts(content).await;
        news.insert(0, content);
    }
    news.retain(|content| *content != "unheard");
    ana.has_feed(&news).await;
    for limit in [1, 2, 3] {
        assert_eq!(ana.feed(limit).await, news, "in pages of {limit}");
    }
    ana.follows(&cleo).await;
    ana.has_feed(&["three", "mine", "two", "unheard", "one"]).await;
    reads_all_pages(&ana, &["three", "mine", "two", "unheard", "one"]).await;
    let foreign = ana.ask(PAGE, json!({ "limit": 1 })).await["getFeed"]["nextToken"].take();
    for forged in [foreign, json!("forged")] {
        let code = bo.refused(PAGE, json!({ "token": forged })).await;
        assert_eq!(code, "BAD_REQUEST", "{forged}");
    }

    let response = ana.ask(PAGE, json!({ "limit": 1 })).await;
    let last = each(&response["getFeed"], "resumeAfter")[0].clone();
    // A server that has just started may not know the order in which these arrived.
    let is_known = |event: &Value| {
        let content = &event["post"]["content"];
        content == "unheard" || news.iter().any(|old| content == *old)
    };
    let mut grows = ana.resume(GROWS, json!({ "after": last })).await.except(is_known);
    let acts = "subscription ($id: ID!) { onPostActivity(actorId: $id) { verb previewText } }";
    let is_old = |event: &Value| news.iter().any(|old| event["previewText"] == *old);
    let mut acts = ana.listen(acts, json!({ "id": bo.id })).await.except(is_old);
    for content in ["four", "five", "six"] {
        bo.posts(content).await;
        let message = json!({ "verb": "post", "post": { "content": content } });
        assert_eq!(grows.next_event().await, message);
        assert_eq!(acts.next_event().await, json!({ "verb": "post", "previewText": content }));
    }
    ana.has_feed(&["six", "five", "four", "three", "mine", "two", "unheard", "one"]).await;
}

/// Reads a feed as Relay does.
async fn reads_all_pages(reader: &Person<'_>, posts: &[&str]) {
    let (mut read, mut after) = (Vec::new(), Value::Null);
    loop {
        let page = reader.ask(EDGES, json!({ "first": 2, "after": after })).await["getFeed"].take();
        let edges = page["edges"].as_array().unwrap();
        read.extend(edges.iter().filter_map(|edge| written(&edge["node"])));
        let info = &page["pageInfo"];
        if let Some(last) = edges.last() {
            assert_eq!(last["cursor"], info["endCursor"]);
        }
        if info["hasNextPage"] != true {
            break;
        }
        after = info["endCursor"].clone();
    }
    assert_eq!(read, posts);
}
