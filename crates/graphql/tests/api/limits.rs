//! Limits on the size and cost of a request.

use roundtable_domain::limits::POST_MEDIA_MAX;
use roundtable_graphql::{QueryLimits, Schema};
use serde_json::Value;

use crate::api_town::ApiTown;

async fn code(document: &str) -> String {
    ApiTown::of(["ana"]).await.error_code("ana", document).await
}

#[tokio::test]
async fn deep_documents_are_rejected() {
    let nested = |times: usize| {
        let mut inner = String::from("id");
        for _ in 0..times {
            inner = format!("posts(first: 1) {{ items {{ author {{ {inner} }} }} }}");
        }
        format!("{{ me {{ {inner} }} }}")
    };
    assert_eq!(code(&nested(5)).await, "TOO_COMPLEX");
    assert_eq!(code(&nested(200)).await, "TOO_COMPLEX");
    let brackets = format!("{{ a(b: {}", "[".repeat(100_000));
    assert_eq!(code(&brackets).await, "TOO_COMPLEX");
    let inline = format!("{{ {} me {{ id }} {} }}", "... on Query {".repeat(40), "}".repeat(40));
    assert_eq!(code(&inline).await, "TOO_COMPLEX");
    let api = ApiTown::of(["ana"]).await;
    api.run("ana", &nested(4)).await;
}

#[tokio::test]
async fn nested_lists_cost_their_page_sizes() {
    let wide = |first: &str| {
        format!(
            "{{ listGlobalFeed(first: {first}) {{ items {{ comments(first: {first}) {{ items {{ user {{ id nickname }} }} }} }} }} }}"
        )
    };
    assert_eq!(code(&wide("100")).await, "TOO_COMPLEX");
    let api = ApiTown::of(["ana"]).await;
    api.run("ana", &wide("20")).await;
    let by_variable = wide("$n").replacen('{', "query Q($n: Int = 100) {", 1);
    let caller = || Some(api.town.caller("ana"));
    let response = api.response(caller(), &by_variable, Value::Null).await;
    assert_eq!(response["errors"][0]["errorType"], "TOO_COMPLEX");
    let response = api.response(caller(), &by_variable, serde_json::json!({"n": 100})).await;
    assert_eq!(response["errors"][0]["errorType"], "TOO_COMPLEX");
    let response = api.response(caller(), &by_variable, serde_json::json!({"n": 5})).await;
    assert_eq!(response["errors"], Value::Null);
}

/// A post has more files than an app would guess.
#[test]
fn files_of_posts_count_as_often_as_a_post_may_have_them() {
    let schema = Schema::new(QueryLimits::default(), true).unwrap();
    let cost = *schema.prepare("{ getPost(id: \"a\") { media { url } } }".into()).unwrap().cost();
    let files = POST_MEDIA_MAX as u64;
    assert_eq!((cost.items, cost.fields), (1 + files, 2 + files));
}

/// The largest pages of apps need less than half of the operations that are permitted. Short lists of many
/// objects need more, though few fields.
#[test]
fn operations_are_limited_near_what_large_pages_need() {
    let limits = QueryLimits::default();
    let schema = Schema::new(limits, true).unwrap();
    let lists = "comments(first: 3) { items { content user { nickname } } } \
        likes(first: 3) { items { user { nickname } } }";
    let rooms = "members(first: 5) { items { nickname } } messages(first: 1) { items { text } }";
    let posts = "posts(first: 5) { items { content likeCount author { nickname } } }";
    let of_followers = |lists: &str| {
        format!("{{ me {{ followers(first: 100) {{ items {{ follower {{ {lists} }} }} }} }} }}")
    };
    for page in [
        format!(
            "{{ getFeed(first: 50) {{ items {{ post {{ content media {{ url }} {lists} }} }} }} }}"
        ),
        format!("{{ listGlobalFeed(first: 100) {{ items {{ content {lists} }} }} }}"),
        format!("{{ listMyRooms(first: 50) {{ items {{ unreadCount {rooms} }} }} }}"),
        of_followers(posts),
    ] {
        let cost = *schema.prepare(page.as_str().into()).unwrap().cost();
        assert!(cost.operations < limits.operations_max / 2, "{cost:?}: {page}");
    }
    let short =
        "following(first: 1) { items { createdAt } } followers(first: 1) { items { createdAt } }";
    let many = of_followers(&format!("posts(first: 3) {{ items {{ {lists} }} }} {short}"));
    let refused = schema.prepare(many.as_str().into()).unwrap_err();
    assert_eq!(refused.error_codes(), ["TOO_COMPLEX"]);
    let message = String::from_utf8_lossy(refused.json());
    assert!(message.contains("table operations"), "{message}");
}

#[tokio::test]
async fn too_many_aliases_are_rejected_anywhere() {
    let aliases =
        |n: usize| (0..n).map(|n| format!("a{n}: me {{ id }}")).collect::<Vec<_>>().join(" ");
    assert_eq!(code(&format!("{{ {} }}", aliases(10_000))).await, "TOO_COMPLEX");
    assert_eq!(code(&format!("{{ {} }}", aliases(51))).await, "TOO_COMPLEX");
    let hidden = format!("{{ ...A }} fragment A on Query {{ {} }}", aliases(51));
    assert_eq!(code(&hidden).await, "TOO_COMPLEX");
    ApiTown::of(["ana"]).await.run("ana", &format!("{{ {} }}", aliases(50))).await;
}

#[tokio::test]
async fn doubling_fragments_are_rejected_before_validation() {
    let doubling = (0..30).map(|n| {
        let next = n + 1;
        format!("fragment F{n} on Query {{ ...F{next} ...F{next} }}")
    });
    let document = std::iter::once(String::from("{ ...F0 }")).chain(doubling);
    let document = document.chain([String::from("fragment F30 on Query { me { id } }")]);
    let document = document.collect::<Vec<_>>().join(" ");
    assert_eq!(code(&document).await, "TOO_COMPLEX");
    let cycle =
        "{ ...A } fragment A on Query { ...B ...B } fragment B on Query { ...A ...A me { id } }";
    assert_ne!(code(cycle).await, "INTERNAL");
}

#[tokio::test]
async fn long_documents_and_many_directives_are_rejected() {
    assert_eq!(code(&format!("{{ {} }}", "me ".repeat(6_000))).await, "TOO_COMPLEX");
    let directives = "@include(if: true) ".repeat(51);
    assert_eq!(code(&format!("{{ me {directives} {{ id }} }}")).await, "TOO_COMPLEX");
}

#[tokio::test]
async fn introspection_is_allowed_but_not_repeatedly() {
    let api = ApiTown::of(["ana"]).await;
    let type_ref = "fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name
        ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } }";
    let all = format!(
        "{{ __schema {{ queryType {{ name }} mutationType {{ name }} subscriptionType {{ name }}
            types {{ kind name description
                fields(includeDeprecated: true) {{ name args {{ name type {{ ...T }} defaultValue }} type {{ ...T }} }}
                inputFields {{ name type {{ ...T }} }} interfaces {{ ...T }}
                enumValues(includeDeprecated: true) {{ name }} possibleTypes {{ ...T }} }}
            directives {{ name locations args {{ name type {{ ...T }} }} }} }} }} {type_ref}"
    );
    let schema = api.run_as(None, &all).await;
    assert!(schema["__schema"]["types"].as_array().unwrap().len() > 30);
    let restarted =
        "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }";
    assert_eq!(api.error_code_as(None, restarted).await, "TOO_COMPLEX");
}

#[test]
fn a_batch_has_its_limit() {
    let limits = QueryLimits::default();
    assert!(limits.check_batch(limits.batch_max).is_ok());
    assert_eq!(limits.check_batch(limits.batch_max + 1).unwrap_err().code, "TOO_COMPLEX");
}

#[tokio::test]
async fn a_subscription_has_one_root_field() {
    let api = ApiTown::of(["ana"]).await;
    for several in [
        "subscription { onCreatePost { id } onCreatePost { id } }",
        "subscription { onCreatePost { id } onToggleLike { liked } }",
        "subscription { ...A } fragment A on Subscription { onCreatePost { id } }",
    ] {
        assert_eq!(api.error_code("ana", several).await, "BAD_REQUEST", "{several}");
    }
}

#[tokio::test]
async fn a_mutation_cannot_select_a_field_twice() {
    let api = ApiTown::of(["ana"]).await;
    let post = r#"createPost(input: { content: "again", contentType: text }) { id }"#;
    for twice in [
        format!("mutation {{ {post} {post} }}"),
        format!("mutation {{ {post} ... on Mutation {{ {post} }} }}"),
        format!("mutation {{ ...A ...A }} fragment A on Mutation {{ {post} }}"),
    ] {
        assert_eq!(api.error_code("ana", &twice).await, "BAD_REQUEST", "{twice}");
    }
    let response = api.run("ana", "{ me { posts { items { id } } } }").await;
    assert_eq!(response["me"]["posts"]["items"], serde_json::json!([]));
    api.run("ana", &format!("mutation {{ {post} second: {post} }}")).await;
}

#[tokio::test]
async fn nested_introspection_is_limited() {
    let names = "name ".repeat(2_000);
    let wide =
        format!("{{ __schema {{ types {{ fields {{ type {{ fields {{ {names} }} }} }} }} }} }}");
    assert_eq!(code(&wide).await, "TOO_COMPLEX");
}

#[tokio::test]
async fn hidden_lengths_are_measured() {
    let marks = format!("{{ me {{ {} }} }}", "id\u{feff}".repeat(6_000));
    assert_eq!(code(&marks).await, "TOO_COMPLEX");
    let spreads = format!("{{ {} }} fragment A on Query {{ me {{ id }} }}", "...A".repeat(6_000));
    assert_eq!(code(&spreads).await, "TOO_COMPLEX");
    let unused = (0..60).map(|n| format!("a{n}: me {{ id }}")).collect::<Vec<_>>().join(" ");
    let unused = format!("{{ me {{ id }} }} fragment A on Query {{ {unused} }}");
    assert_eq!(code(&unused).await, "TOO_COMPLEX");
    assert_eq!(code(&format!("{{ {} }}", "a".repeat(1_000))).await, "TOO_COMPLEX");
}
