//! No page causes one read for each of its items: what a page takes does not grow with it.

use roundtable_model::GroupRole;
use serde_json::Value;

use crate::stage::{Cost, Stage};

/// A town of as many people, who all post, comment on the first post, like it and follow each other's
/// neighbour.
async fn busy(people: usize) -> Stage {
    let stage = Stage::of(["ana"]).await;
    let (town, first) = (&stage.town, stage.town.post("ana", "hello").await);
    for n in 0..people {
        let name = format!("p{n}");
        town.move_in(&name, |_| {}).await;
        town.post(&name, &format!("post {n} #spring")).await;
        town.comment(&name, &first.id, "me too").await;
        town.like(&name, &first.id).await;
        town.follow("ana", &name).await;
        town.follow(&name, "ana").await;
    }
    town.settle().await;
    stage
}

/// Refuses costs that grow with a page: of the same question, a batch more here and there is all.
fn assert_alike(few: &Cost, many: &Cost, document: &str) {
    for (pattern, many) in many {
        let few = few.get(pattern).copied().unwrap_or(0);
        assert!(*many <= few + 2, "{pattern}: {few} for few, {many} for many: {document}");
    }
}

/// Refuses documents that cost more when there are more items, or more than `most` operations.
async fn assert_flat(documents: &[String], most: usize) {
    let (few, many) = (busy(5).await, busy(50).await);
    let cost = async |stage: &Stage, document: &str| {
        let post = stage.ask("ana", r#"{ listUserPosts(userId: "ana") { items { id } } }"#).await;
        let post = post["listUserPosts"]["items"][0]["id"].as_str().unwrap().to_owned();
        stage.cost("ana", &document.replace("FIRST", &post)).await
    };
    for document in documents {
        let (few, many) = (cost(&few, document).await, cost(&many, document).await);
        assert_alike(&few, &many, document);
        assert!(many.values().sum::<usize>() <= most, "{many:?}: {document}");
    }
}

const PERSON: &str =
    "nickname followersCount level viewerFollows viewerIsFollowedBy profileImageUrl";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_posts_with_authors_counts_and_marks_cost_a_handful_of_operations() {
    let post = format!(
        "content likeCount commentCount shareCount engagementScore viewerHasLiked viewerHasShared
         media {{ url }} author {{ {PERSON} }}"
    );
    let lists = [
        format!("{{ listGlobalFeed(limit: 50) {{ items {{ {post} }} }} }}"),
        format!("{{ listGlobalFeed(first: 50) {{ edges {{ node {{ {post} }} }} }} }}"),
    ];
    assert_flat(&lists, 50).await;
}

#[tokio::test]
async fn a_feed_with_actors_and_posts_costs_a_handful_of_operations() {
    let entry = format!(
        "verb rank engagementScore actor {{ {PERSON} }}
         activity {{ media {{ url }} object {{ __typename }} }}
         post {{ likeCount viewerHasLiked author {{ nickname }} }}"
    );
    assert_flat(&[format!("{{ getFeed(limit: 50) {{ items {{ {entry} }} }} }}")], 50).await;
}

#[tokio::test]
async fn lists_of_what_people_did_cost_a_handful_of_operations_with_the_people() {
    let comment = format!(
        "content likesCount repliesCount viewerHasLiked user {{ {PERSON} }} post {{ content }}"
    );
    let list = |list: &str, item: &str| format!("{{ {list} {{ items {{ {item} }} }} }}");
    let user = format!("user {{ {PERSON} }}");
    let lists = [
        list(r#"listPostComments(postId: "FIRST", limit: 50)"#, &comment),
        list(r#"listPostLikes(postId: "FIRST", limit: 50)"#, &user),
        list("listFollowing(limit: 50)", &format!("followee {{ {PERSON} }}")),
        list("listFollowers(limit: 50)", &format!("follower {{ {PERSON} }}")),
        list(
            r#"searchByTag(tag: "spring", limit: 50)"#,
            &format!("... on Post {{ author {{ {PERSON} }} }}"),
        ),
    ];
    assert_flat(&lists, 50).await;
}

#[tokio::test]
async fn anything_by_its_global_id_is_read_together() {
    let stage = busy(50).await;
    let document = "{ listGlobalFeed(limit: 50) { items { nodeId author { nodeId } } } }";
    let found = stage.ask("ana", document).await;
    let items = found["listGlobalFeed"]["items"].as_array().unwrap();
    let cost = async |items: &[Value]| {
        let both = items.iter().flat_map(|it| [&it["nodeId"], &it["author"]["nodeId"]]);
        let ids = both.map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let document = format!("{{ nodes(nodeIds: [{ids}]) {{ nodeId __typename }} }}");
        stage.cost("ana", &document).await
    };
    let (few, many) = (cost(&items[..5]).await, cost(items).await);
    assert_alike(&few, &many, "nodes");
}

#[tokio::test]
async fn members_and_groups_cost_a_handful_of_operations() {
    let cost = async |people: usize| {
        let stage = busy(people).await;
        let town = &stage.town;
        let first = town.found("ana", "runners").await;
        for n in 0..people {
            let name = format!("p{n}");
            town.join(&name, &first).await;
            let group = town.found(&name, &format!("group {n}")).await;
            town.join("ana", &group).await;
        }
        town.appoint("ana", &first, "p0", GroupRole::Admin).await;
        let members = format!(
            r#"{{ listGroupMembers(groupId: "{first}", limit: 50) {{
                items {{ role group {{ name membersCount }} user {{ {PERSON} }} }} }} }}"#
        );
        let mine = "{ listMyGroups(limit: 50) {
            items { name membersCount viewerRole owner { nickname } } } }";
        (stage.cost("ana", &members).await, stage.cost("ana", mine).await)
    };
    let (few, many) = (cost(5).await, cost(50).await);
    assert_alike(&few.0, &many.0, "members");
    assert_alike(&few.1, &many.1, "groups");
}
