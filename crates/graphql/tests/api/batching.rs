//! Reads are batched: the number of operations does not grow with a page.

use roundtable_model::{GroupRole, Role};
use roundtable_testkit::Town;
use serde_json::{Value, json};

use crate::api_town::{ApiTown, Cost};

/// A town of `people` users who all post, comment on the first post, like it and follow their neighbour.
async fn busy(people: usize) -> ApiTown {
    let api = ApiTown::of(["ana"]).await;
    let (town, first) = (&api.town, api.town.post("ana", "hello").await);
    for n in 0..people {
        let name = format!("p{n}");
        town.add_user(&name, |_| {}).await;
        town.post(&name, &format!("post {n} #spring")).await;
        town.comment(&name, &first.id, "me too").await;
        town.like(&name, &first.id).await;
        town.follow("ana", &name).await;
        town.follow(&name, "ana").await;
    }
    town.settle().await;
    api
}

/// Asserts that the cost does not grow with a page; a few more batches are tolerated.
fn assert_alike(few: &Cost, many: &Cost, document: &str) {
    for (pattern, many) in many {
        let few = few.get(pattern).copied().unwrap_or(0);
        assert!(*many <= few + 2, "{pattern}: {few} for few, {many} for many: {document}");
    }
}

/// Asserts that documents cost the same with more items, and at most `most` operations.
async fn assert_flat(documents: &[String], most: usize) {
    let (few, many) = (busy(5).await, busy(50).await);
    let cost = async |api: &ApiTown, document: &str| {
        let post = api.run("ana", r#"{ listUserPosts(userId: "ana") { items { id } } }"#).await;
        let post = post["listUserPosts"]["items"][0]["id"].as_str().unwrap().to_owned();
        api.cost("ana", &document.replace("FIRST", &post)).await
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
async fn fifty_posts_with_authors_and_counts_cost_few_operations() {
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
async fn a_feed_with_actors_and_posts_costs_few_operations() {
    let entry = format!(
        "verb rank engagementScore actor {{ {PERSON} }}
         activity {{ media {{ url }} object {{ __typename }} }}
         post {{ likeCount viewerHasLiked author {{ nickname }} }}"
    );
    assert_flat(&[format!("{{ getFeed(limit: 50) {{ items {{ {entry} }} }} }}")], 50).await;
}

/// Where other processes write, too, no profile is in memory: a page reads its people once, to decide what
/// may be shown, and hands them out.
#[tokio::test]
async fn the_people_of_a_feed_page_are_not_read_again() {
    let (town, _) = Town::on_lagging_store(["ana", "bo", "cy"]).await;
    let post = town.post("cy", "hello").await.id;
    town.follow("ana", "bo").await;
    town.share("bo", &post).await;
    let api = ApiTown::over(town);
    let page = async |fields: &str| {
        let document = format!("{{ getFeed {{ items {{ verb {fields} }} }} }}");
        (api.run("ana", &document).await, api.cost("ana", &document).await)
    };
    let people = "actor { nickname } post { author { nickname } }";
    let ((_, without), (feed, with)) = (page("").await, page(people).await);
    let shown = json!([{ "verb": "share", "actor": { "nickname": "bo" },
        "post": { "author": { "nickname": "cy" } } }]);
    assert_eq!(feed["getFeed"]["items"], shown);
    assert!(without.values().sum::<usize>() > 0);
    assert_eq!(with, without);
}

#[tokio::test]
async fn lists_of_likes_comments_and_follows_with_users_cost_few_operations() {
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
async fn nodes_are_read_in_batches() {
    let api = busy(50).await;
    let document = "{ listGlobalFeed(limit: 50) { items { nodeId author { nodeId } } } }";
    let found = api.run("ana", document).await;
    let items = found["listGlobalFeed"]["items"].as_array().unwrap();
    let cost = async |items: &[Value]| {
        let both = items.iter().flat_map(|it| [&it["nodeId"], &it["author"]["nodeId"]]);
        let ids = both.map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let document = format!("{{ nodes(nodeIds: [{ids}]) {{ nodeId __typename }} }}");
        api.cost("ana", &document).await
    };
    let (few, many) = (cost(&items[..5]).await, cost(items).await);
    assert_alike(&few, &many, "nodes");
}

#[tokio::test]
async fn members_and_groups_cost_few_operations() {
    let cost = async |people: usize| {
        let api = busy(people).await;
        let town = &api.town;
        let first = town.create_group("ana", "runners").await;
        for n in 0..people {
            let name = format!("p{n}");
            town.join(&name, &first).await;
            let group = town.create_group(&name, &format!("group {n}")).await;
            town.join("ana", &group).await;
        }
        town.set_group_role("ana", &first, "p0", GroupRole::Admin).await;
        let members = format!(
            r#"{{ listGroupMembers(groupId: "{first}", limit: 50) {{
                items {{ role group {{ name membersCount }} user {{ {PERSON} }} }} }} }}"#
        );
        let mine = "{ listMyGroups(limit: 50) {
            items { name membersCount viewerRole owner { nickname } } } }";
        (api.cost("ana", &members).await, api.cost("ana", mine).await)
    };
    let (few, many) = (cost(5).await, cost(50).await);
    assert_alike(&few.0, &many.0, "members");
    assert_alike(&few.1, &many.1, "groups");
}

#[tokio::test]
async fn twenty_tasks_with_their_goals_cost_as_much_as_two() {
    let api = ApiTown::of(["ana"]).await;
    let goal = api.town.set_goal("ana", "Move").await;
    for number in 0..2 {
        api.town.add_task("ana", &goal.id, &format!("task {number}")).await;
    }
    let list = format!(
        "{{ listTasks(goalId: \"{}\") {{ items {{ title goal {{ title }} }} }} }}",
        goal.id
    );
    let two = api.cost("ana", &list).await;
    for number in 2..20 {
        api.town.add_task("ana", &goal.id, &format!("task {number}")).await;
    }
    assert_eq!(api.cost("ana", &list).await, two);
}

#[tokio::test]
async fn ten_offers_with_their_companies_cost_as_much_as_two() {
    let api = ApiTown::of(["ana"]).await;
    let offered = async |number: usize| {
        let company = format!("mutation {{ createCompany(name: \"C{number}\") {{ id }} }}");
        let company = api.run("ana", &company).await["createCompany"]["id"].take();
        let offer = format!(
            "mutation {{ createOffer(input: {{ companyId: {company}, title: \"O\", tags: [\"t\"] }})
                {{ id }} }}"
        );
        api.run("ana", &offer).await;
    };
    offered(0).await;
    offered(1).await;
    let list = "{ listOffers(tag: \"t\") { items { title company { name } } } }";
    let two = api.cost("ana", list).await;
    for number in 2..10 {
        offered(number).await;
    }
    assert_eq!(api.cost("ana", list).await, two);
}

/// Rooms, goals and assist threads of one user.
#[tokio::test]
async fn private_objects_are_read_in_batches_by_global_id() {
    let api = busy(20).await;
    let made = async |name: &str, mutation: &str| {
        let made = api.run(name, &format!("mutation {{ made: {mutation} {{ nodeId }} }}")).await;
        made["made"]["nodeId"].clone()
    };
    let mut kinds: [Vec<Value>; 5] = Default::default();
    for n in 0..20 {
        let name = format!("p{n}");
        let room = api.town.room_with("ana", &name).await;
        let goal = api.town.set_goal("ana", &name).await.id;
        let thread = api.town.ask_for_help("ana", &[&name]).await.thread_id;
        let document = format!(r#"{{ getAssistThread(id: "{thread}") {{ nodeId }} }}"#);
        let thread_node = api.run("ana", &document).await["getAssistThread"]["nodeId"].take();
        let said = format!(r#"sendMessage(roomId: "{room}", text: "hi")"#);
        let task = format!(r#"createTask(input: {{ goalId: "{goal}", title: "go" }})"#);
        let half = r#"percentage: 50, name: "half""#;
        let milestone = format!(r#"createMilestone(input: {{ goalId: "{goal}", {half} }})"#);
        let response = format!(r#"sendAssistMessage(threadId: "{thread}", text: "rest")"#);
        let ids = [
            made(&name, &said).await,
            made("ana", &task).await,
            made("ana", &milestone).await,
            thread_node,
            made(&name, &response).await,
        ];
        kinds.iter_mut().zip(ids).for_each(|(kind, id)| kind.push(id));
    }
    api.settle().await;
    let list = "{ listNotifications(limit: 20) { items { nodeId } } }";
    let told = api.run("ana", list).await["listNotifications"]["items"].take();
    let told: Vec<Value> =
        told.as_array().unwrap().iter().map(|note| note["nodeId"].clone()).collect();
    for ids in kinds.into_iter().chain([told]) {
        assert_eq!(ids.len(), 20);
        let nodes = |ids: &[Value]| {
            let ids = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            format!("{{ nodes(nodeIds: [{ids}]) {{ __typename nodeId }} }}")
        };
        let found = api.run("ana", &nodes(&ids)).await["nodes"].take();
        let found_ids = found.as_array().unwrap().iter().map(|node| &node["nodeId"]);
        assert!(found_ids.eq(&ids), "{found}");
        let hidden = api.run("p19", &nodes(&ids[..19])).await["nodes"].take();
        assert!(hidden.as_array().unwrap().iter().all(Value::is_null), "{hidden}");
        let (two, all) = (nodes(&ids[..2]), nodes(&ids));
        assert_eq!(api.cost("ana", &all).await, api.cost("ana", &two).await, "{found}");
    }
}

/// Comments on many posts with their counters, messages in many rooms and, for admins, tagged goals of many
/// users.
#[tokio::test]
async fn objects_of_many_partitions_cost_few_operations() {
    let spread = async |people: usize| {
        let api = busy(people).await;
        let town = &api.town;
        let root = town.grant_role("ana", Role::Admin).await;
        let mut promotions = Vec::new();
        for n in 0..people {
            let name = format!("p{n}");
            let post = town.post(&name, "by the way").await.id;
            town.comment("ana", &post, "indeed").await;
            let room = town.room_with("ana", &name).await;
            town.send_message("ana", &room, "hi").await;
            let goal =
                r#"mutation { createGoal(input: { title: "Run", tags: ["hills"] }) { id } }"#;
            api.run(&name, goal).await;
            let comment = town.comment(&name, &post, "so it is").await.id.to_string();
            let goal = town.set_goal("ana", "Swim").await.id;
            let task = town.add_task("ana", &goal, "a length").await.id.to_string();
            for (who, kind, id) in [(name.as_str(), "Comment", comment), ("ana", "Task", task)] {
                let told = format!(
                    r#"mutation {{ postActivity(input: {{ verb: comment, objectType: {kind},
                        objectId: "{id}" }}) {{ nodeId }} }}"#
                );
                api.run(who, &told).await;
            }
            let promote = format!(
                r#"mutation {{ setPromotion(input: {{ subjectId: "{name}", fanoutEnabled: false,
                    reason: manual }}) {{ nodeId }} }}"#
            );
            let promoted = api.run_as(Some(root.clone()), &promote).await;
            promotions.push(promoted["setPromotion"]["nodeId"].to_string());
        }
        town.settle().await;
        (api, root, promotions.join(" "))
    };
    let ((few, root, some), (many, _, all)) = (spread(4).await, spread(40).await);
    let marks = "likesCount repliesCount viewerHasLiked";
    let documents = [
        format!(r#"{{ at: listUserComments(userId: "ana", limit: 50) {{ items {{ {marks} }} }} }}"#),
        r#"{ at: listUserEntities(userId: "ana", entity: Message, limit: 50) { items { __typename } } }"#.into(),
        r#"{ at: searchByTag(tag: "hills", limit: 50) { items { ... on Goal { title } } } }"#.into(),
        "{ at: getFeed(limit: 80) { items { activity { object { __typename
            ... on Comment { MARKS } ... on Task { goal { title } } } } } } }".replace("MARKS", marks),
    ];
    for (document, least) in documents.iter().zip([4, 4, 4, 8]) {
        let read = async |api: &ApiTown| {
            let found = api.run_as(Some(root.clone()), document).await;
            let items = found["at"]["items"].as_array().unwrap().clone();
            (items, api.cost_as(root.clone(), document).await)
        };
        let ((items, few), (more, many)) = (read(&few).await, read(&many).await);
        assert!(items.len() >= least && more.len() >= 10 * least, "{document}: {more:?}");
        assert_alike(&few, &many, document);
        let of_kind = |kind: &str| {
            let object = |it: &&Value| it["activity"]["object"]["__typename"] == kind;
            more.iter().filter(object).count()
        };
        let is_feed = document.contains("getFeed");
        assert!(!is_feed || of_kind("Comment") >= 10 && of_kind("Task") >= 10, "{more:?}");
    }
    let nodes = |ids: &str| format!("{{ nodes(nodeIds: [{ids}]) {{ __typename }} }}");
    let found = many.run_as(Some(root.clone()), &nodes(&all)).await["nodes"].take();
    let found = found.as_array().unwrap().iter();
    assert_eq!(found.filter(|node| node["__typename"] == "Promotion").count(), 40);
    let (few, many) =
        (few.cost_as(root.clone(), &nodes(&some)).await, many.cost_as(root, &nodes(&all)).await);
    assert_alike(&few, &many, "promotions");
}

#[tokio::test]
async fn notifications_of_messages_cost_few_operations() {
    let cost = async |people: usize| {
        let api = ApiTown::of(["ana"]).await;
        for n in 0..people {
            let name = format!("p{n}");
            api.town.add_user(&name, |_| {}).await;
            let room = api.town.room_with("ana", &name).await;
            api.town.send_message(&name, &room, "hi").await;
        }
        api.settle().await;
        let list = "{ listNotifications(limit: 100) { items {
            kind actor { nickname } object { ... on Message { text user { nickname } } } } } }";
        let data = api.run("ana", list).await;
        let items = data["listNotifications"]["items"].as_array().unwrap();
        let texts = items.iter().filter(|item| item["object"]["text"] == "hi").count();
        assert_eq!(texts, people);
        (api.cost("ana", list).await, list)
    };
    let ((few, list), (many, _)) = (cost(3).await, cost(30).await);
    assert_alike(&few, &many, list);
}
