//! How much one request may ask for.

use roundtable_graphql::Limits;
use serde_json::Value;

use crate::stage::Stage;

async fn code(document: &str) -> String {
    Stage::of(["ana"]).await.refused("ana", document).await
}

#[tokio::test]
async fn deep_documents_are_refused() {
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
    let stage = Stage::of(["ana"]).await;
    stage.ask("ana", &nested(4)).await;
}

#[tokio::test]
async fn lists_in_lists_cost_their_pages() {
    let wide = |first: &str| {
        format!(
            "{{ listGlobalFeed(first: {first}) {{ items {{ comments(first: {first}) {{ items {{ user {{ id nickname }} }} }} }} }} }}"
        )
    };
    assert_eq!(code(&wide("100")).await, "TOO_COMPLEX");
    let stage = Stage::of(["ana"]).await;
    stage.ask("ana", &wide("20")).await;
    let by_variable = wide("$n").replacen('{', "query Q($n: Int = 100) {", 1);
    let caller = || Some(stage.town.caller("ana"));
    let answer = stage.answer(caller(), &by_variable, Value::Null).await;
    assert_eq!(answer["errors"][0]["errorType"], "TOO_COMPLEX");
    let answer = stage.answer(caller(), &by_variable, serde_json::json!({"n": 100})).await;
    assert_eq!(answer["errors"][0]["errorType"], "TOO_COMPLEX");
    let answer = stage.answer(caller(), &by_variable, serde_json::json!({"n": 5})).await;
    assert_eq!(answer["errors"], Value::Null);
}

#[tokio::test]
async fn ten_thousand_aliases_are_refused_wherever_they_are() {
    let aliases =
        |n: usize| (0..n).map(|n| format!("a{n}: me {{ id }}")).collect::<Vec<_>>().join(" ");
    assert_eq!(code(&format!("{{ {} }}", aliases(10_000))).await, "TOO_COMPLEX");
    assert_eq!(code(&format!("{{ {} }}", aliases(51))).await, "TOO_COMPLEX");
    let hidden = format!("{{ ...A }} fragment A on Query {{ {} }}", aliases(51));
    assert_eq!(code(&hidden).await, "TOO_COMPLEX");
    Stage::of(["ana"]).await.ask("ana", &format!("{{ {} }}", aliases(50))).await;
}

#[tokio::test]
async fn fragments_that_double_are_refused_before_they_are_followed() {
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
async fn long_documents_and_many_directives_are_refused() {
    assert_eq!(code(&format!("{{ {} }}", "me ".repeat(6_000))).await, "TOO_COMPLEX");
    let directives = "@include(if: true) ".repeat(51);
    assert_eq!(code(&format!("{{ me {directives} {{ id }} }}")).await, "TOO_COMPLEX");
}

#[tokio::test]
async fn clients_can_ask_what_there_is_but_not_over_and_over() {
    let stage = Stage::of(["ana"]).await;
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
    let schema = stage.ask_as(None, &all).await;
    assert!(schema["__schema"]["types"].as_array().unwrap().len() > 30);
    let again =
        "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }";
    assert_eq!(stage.refused_as(None, again).await, "TOO_COMPLEX");
}

#[test]
fn a_batch_has_its_limit() {
    let limits = Limits::default();
    assert!(limits.check_batch(limits.batch_max).is_ok());
    assert_eq!(
        limits.check_batch(limits.batch_max + 1).unwrap_err().code().as_str(),
        "TOO_COMPLEX"
    );
}

#[tokio::test]
async fn a_subscription_listens_to_one_thing() {
    let stage = Stage::of(["ana"]).await;
    for several in [
        "subscription { onCreatePost { id } onCreatePost { id } }",
        "subscription { onCreatePost { id } onToggleLike { liked } }",
        "subscription { ...A } fragment A on Subscription { onCreatePost { id } }",
    ] {
        assert_eq!(stage.refused("ana", several).await, "BAD_REQUEST", "{several}");
    }
}

#[tokio::test]
async fn a_mutation_does_each_thing_once() {
    let stage = Stage::of(["ana"]).await;
    let post = r#"createPost(input: { content: "again", contentType: "text" }) { id }"#;
    for twice in [
        format!("mutation {{ {post} {post} }}"),
        format!("mutation {{ {post} ... on Mutation {{ {post} }} }}"),
        format!("mutation {{ ...A ...A }} fragment A on Mutation {{ {post} }}"),
    ] {
        assert_eq!(stage.refused("ana", &twice).await, "BAD_REQUEST", "{twice}");
    }
    let answer = stage.ask("ana", "{ me { posts { items { id } } } }").await;
    assert_eq!(answer["me"]["posts"]["items"], serde_json::json!([]));
    stage.ask("ana", &format!("mutation {{ {post} second: {post} }}")).await;
}

#[tokio::test]
async fn the_schema_is_not_asked_about_without_end() {
    let names = "name ".repeat(2_000);
    let wide =
        format!("{{ __schema {{ types {{ fields {{ type {{ fields {{ {names} }} }} }} }} }} }}");
    assert_eq!(code(&wide).await, "TOO_COMPLEX");
}

#[tokio::test]
async fn what_hides_its_length_is_measured() {
    let marks = format!("{{ me {{ {} }} }}", "id\u{feff}".repeat(6_000));
    assert_eq!(code(&marks).await, "TOO_COMPLEX");
    let spreads = format!("{{ {} }} fragment A on Query {{ me {{ id }} }}", "...A".repeat(6_000));
    assert_eq!(code(&spreads).await, "TOO_COMPLEX");
    let unused = (0..60).map(|n| format!("a{n}: me {{ id }}")).collect::<Vec<_>>().join(" ");
    let unused = format!("{{ me {{ id }} }} fragment A on Query {{ {unused} }}");
    assert_eq!(code(&unused).await, "TOO_COMPLEX");
    assert_eq!(code(&format!("{{ {} }}", "a".repeat(1_000))).await, "TOO_COMPLEX");
}
