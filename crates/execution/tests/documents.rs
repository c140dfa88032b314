//! Documents that requests name instead of sending them, and documents and variables that are refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use roundtable_execution::{
    AllowedDocuments, Documents, PageSizes, QueryLimits, Request, RequestError, Schema,
};
use serde_json::{Value, json};

const SDL: &str = "
    type Query { person(name: String!): Person  add(a: Int! b: Float = 2): Int!  people(of: [Wanted!]): [Person!]! }
    type Person { name: String!  best: Person }
    input Wanted { name: String!  kind: Kind = friend  near: Near  note: String }
    input Near { x: Int! y: Int! }
    enum Kind { friend  pet }
    type Subscription { added(to: Int): Person! }
";

/// A document, and its SHA-256.
const NAMES: &str = "{ people { name } }";
const NAMES_HASH: &str = "184f38389ee88a0d813d460438adcb6c8c55925a0f1435bcd6495289b8e57bec";

fn documents() -> Documents {
    let schema = Schema::parse(SDL, PageSizes::default()).unwrap();
    Documents::new(schema, QueryLimits::default())
}

fn request(body: Value) -> Request {
    serde_json::from_value(body).unwrap()
}

/// Returns the error of a request.
fn refusal(documents: &Documents, body: Value) -> RequestError {
    documents.prepare(request(body)).unwrap_err()
}

fn hashed(hash: &str) -> Value {
    json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } })
}

#[test]
fn a_hash_stands_for_its_document_once_the_text_was_sent() {
    let documents = documents();
    let by_hash = || json!({ "extensions": hashed(NAMES_HASH) });
    assert!(!documents.knows(&NAMES.into()));
    let unknown = refusal(&documents, by_hash());
    assert_eq!(unknown.code, "PERSISTED_QUERY_NOT_FOUND");
    assert_eq!(unknown.message, "PersistedQueryNotFound");
    // The text alone registers nothing.
    documents.prepare(NAMES.into()).unwrap();
    assert_eq!(refusal(&documents, by_hash()), unknown);
    let with_text = json!({ "query": NAMES, "extensions": hashed(NAMES_HASH) });
    documents.prepare(request(with_text)).unwrap();
    documents.prepare(request(by_hash())).unwrap();
    assert!(documents.knows(&NAMES.into()) && documents.knows(&request(by_hash())));
    let upper = json!({ "query": null, "extensions": hashed(&NAMES_HASH.to_uppercase()) });
    documents.prepare(request(upper)).unwrap();
    // A request without such an extension is none of these.
    for extensions in [json!(null), json!({}), json!({ "persistedQuery": null, "other": [1] })] {
        let plain = json!({ "query": NAMES, "extensions": extensions });
        documents.prepare(request(plain)).unwrap();
    }
}

#[test]
fn a_wrong_hash_is_refused_with_the_reason() {
    let documents = documents();
    let persisted = |persisted: Value| json!({ "persistedQuery": persisted });
    for (extensions, expected) in [
        (persisted(json!({ "version": 2, "sha256Hash": NAMES_HASH })), "version: expected 1"),
        (persisted(json!({ "sha256Hash": NAMES_HASH })), "version: expected 1"),
        (persisted(json!([])), "version: expected 1"),
        (persisted(json!({ "version": 1 })), "64 hexadecimal digits"),
        (persisted(json!({ "version": 1, "sha256Hash": 5 })), "64 hexadecimal digits"),
        (hashed("abc"), "64 hexadecimal digits"),
        (hashed(&"g".repeat(64)), "64 hexadecimal digits"),
        (hashed(&"0".repeat(64)), "not the hash of the document"),
    ] {
        let error = refusal(&documents, json!({ "query": NAMES, "extensions": extensions }));
        assert_eq!(error.code, "BAD_REQUEST", "{extensions}");
        assert!(error.message.contains(expected), "{extensions}: {error:?}");
    }
    assert!(serde_json::from_value::<Request>(json!({ "extensions": [] })).is_err());
    let error = refusal(&documents, json!({ "documentId": "names" }));
    assert!(error.message.contains("no list of documents"), "{error:?}");
}

/// Otherwise, a client could register a text that costs much and answers nothing.
#[test]
fn a_document_that_is_refused_is_not_registered() {
    use sha2::Digest as _;
    let documents = documents();
    let long = format!("{{ {} }}", "person ".repeat(6_000));
    for text in ["{ nobody }", "{", long.as_str(), "query($a: Int!) { add(a: $a) }"] {
        let hash = sha2::Sha256::digest(text.as_bytes());
        let hash = hash.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        refusal(&documents, json!({ "query": text, "extensions": hashed(&hash) }));
        let unknown = refusal(&documents, json!({ "extensions": hashed(&hash) }));
        assert_eq!(unknown.code, "PERSISTED_QUERY_NOT_FOUND", "{text}");
    }
}

fn listing(list: &Value) -> Result<Documents, String> {
    documents().allow_only(AllowedDocuments::parse(list.to_string().as_bytes())?)
}

#[test]
fn only_the_documents_of_a_list_are_answered() {
    let best = "query A { people { best { name } } } query B { people { name } }";
    let documents = listing(&json!({ "names": NAMES, "best": best })).unwrap();
    for body in [
        json!({ "documentId": "names" }),
        json!({ "doc_id": "names" }),
        json!({ "id": "names" }),
        json!({ "documentId": format!("sha256:{NAMES_HASH}") }),
        json!({ "extensions": hashed(NAMES_HASH) }),
        json!({ "extensions": hashed("names") }),
        json!({ "query": NAMES }),
        json!({ "query": NAMES, "documentId": "names" }),
        json!({ "query": NAMES, "id": 5 }),
        json!({ "documentId": "best", "operationName": "B" }),
    ] {
        documents
            .prepare(request(body.clone()))
            .unwrap_or_else(|error| panic!("{body}: {error:?}"));
    }
    for (body, code) in [
        (json!({ "query": "{ people { best { name } } }" }), "DOCUMENT_NOT_ALLOWED"),
        (json!({ "query": "{ people { name  } }" }), "DOCUMENT_NOT_ALLOWED"),
        (json!({ "query": "{ __schema { queryType { name } } }" }), "DOCUMENT_NOT_ALLOWED"),
        (json!({ "query": "{" }), "DOCUMENT_NOT_ALLOWED"),
        (json!({ "documentId": "others" }), "DOCUMENT_NOT_ALLOWED"),
        (json!({ "extensions": hashed(&"0".repeat(64)) }), "DOCUMENT_NOT_ALLOWED"),
        (json!({}), "DOCUMENT_NOT_ALLOWED"),
        (json!({ "query": NAMES, "documentId": "best" }), "BAD_REQUEST"),
        (json!({ "documentId": "best", "operationName": "C" }), "BAD_REQUEST"),
    ] {
        assert_eq!(refusal(&documents, body.clone()).code, code, "{body}");
    }
}

#[test]
fn a_list_with_a_wrong_document_names_it() {
    for (text, expected) in [
        ("{ people { nam } }", "the document `wrong`: "),
        ("{ people { nam } }", "(line 1, column 12)"),
        ("query A { people { name } } query B { nobody }", "nobody"),
        ("fragment A on Person { name }", "the document `wrong`: "),
        ("{", "the document `wrong`: "),
        ("", "the document `wrong`: "),
    ] {
        let error = listing(&json!({ "names": NAMES, "wrong": text })).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn a_wrong_variable_is_named_with_the_place_and_the_expected_type() {
    let documents = documents();
    let add = "query($a: Int!, $b: Float) { add(a: $a, b: $b) }";
    let people = "query($of: [Wanted!]) { people(of: $of) { name } }";
    let long = "x".repeat(100_000);
    for (query, variables, expected) in [
        (add, json!({}), "$a: expected a value of type Int!, found none"),
        (add, json!({ "a": null }), "$a: expected a value of type Int!, found null"),
        (add, json!({ "a": "1" }), "$a: expected a value of type Int!, found \"1\""),
        (add, json!({ "a": 1.5 }), "$a: expected a value of type Int!, found 1.5"),
        (add, json!({ "a": 3_000_000_000_u64 }), "$a: expected a value of type Int!"),
        (add, json!({ "a": [1] }), "$a: expected a value of type Int!, found a list"),
        (add, json!({ "a": {} }), "$a: expected a value of type Int!, found an object"),
        (add, json!({ "a": 1, "b": true }), "$b: expected a value of type Float, found true"),
        (people, json!({ "of": "ana" }), "$of.0: expected a value of type Wanted!, found \"ana\""),
        (people, json!({ "of": [null] }), "$of.0: expected a value of type Wanted!, found null"),
        (people, json!({ "of": [{}] }), "$of.0.name: expected a value of type String!, found none"),
        (
            people,
            json!({ "of": [{ "name": "a", "age": 3 }] }),
            "$of.0.age: Wanted has no such field",
        ),
        (
            people,
            json!({ "of": [{ "name": "a" }, { "name": "b", "near": { "x": 1, "y": "2" } }] }),
            "$of.1.near.y: expected a value of type Int!, found \"2\"",
        ),
        (
            people,
            json!({ "of": { "name": "a", "kind": "enemy" } }),
            "$of.0.kind: expected a value of type Kind, found \"enemy\"",
        ),
        (people, json!({ "of": long }), "…\""),
        (people, json!({ "of": [{ &long: 1 }] }), "…: Wanted has no such field"),
    ] {
        let error = refusal(&documents, json!({ "query": query, "variables": variables }));
        assert_eq!(error.code, "BAD_REQUEST");
        assert!(error.message.contains(expected), "{error:?}");
        assert!(error.message.len() < 200, "{} bytes", error.message.len());
    }
    for of in [json!([]), json!(null), json!({ "name": "a", "near": { "x": 1, "y": 2 } })] {
        let body = json!({ "query": people, "variables": { "of": of } });
        documents.prepare(request(body)).unwrap();
    }
}

/// The directives need true or false; a field must not just disappear (6.4.1).
#[test]
fn a_condition_that_is_null_is_refused() {
    let documents = documents();
    let name = "query($x: Boolean = true) { people { name @include(if: $x) } }";
    let spread = "query($x: Boolean = true) { people { ...A } } fragment A on Person { name best @skip(if: $x) { name } }";
    let about = "query($x: Boolean = true) { __schema { queryType @skip(if: $x) { name } } }";
    for query in [name, spread, about] {
        let error = refusal(&documents, json!({ "query": query, "variables": { "x": null } }));
        assert_eq!(error.code, "BAD_REQUEST", "{query}");
        assert!(error.message.starts_with("$x: expected true or false"), "{query}: {error:?}");
        for variables in [json!({}), json!({ "x": true }), json!({ "x": false })] {
            let body = json!({ "query": query, "variables": variables });
            documents.prepare(request(body)).unwrap();
        }
    }
    let nullable = "query($x: Boolean) { people { name @include(if: $x) } }";
    assert_eq!(refusal(&documents, json!({ "query": nullable })).code, "BAD_REQUEST");
    // Not used by a condition: null is a value like others.
    let other = "query($x: Float = 1) { add(a: 1, b: $x) }";
    let body = json!({ "query": other, "variables": { "x": null } });
    documents.prepare(request(body)).unwrap();
}

#[test]
fn a_directive_in_the_wrong_place_is_refused() {
    let documents = documents();
    for query in [
        "query @include(if: true) { people { name } }",
        "query($x: Int @skip(if: true)) { add(a: $x) }",
        "{ people { ...A } } fragment A on Person @skip(if: false) { name }",
        "{ people { name @deprecated } }",
        "{ people { name @unknown } }",
        "{ people { name @include } }",
        "{ people { name @include(if: 1) } }",
        "{ people { name @include(unless: true, if: true) } }",
        "{ people { name @include(if: true) @include(if: true) } }",
    ] {
        let error = refusal(&documents, json!({ "query": query }));
        assert_eq!(error.code, "BAD_REQUEST", "{query}: {error:?}");
        assert!(error.location.is_some(), "{query}: {error:?}");
    }
}

#[test]
fn introspection_of_hostile_depth_is_too_complex() {
    let documents = documents();
    let nested = |times: usize, open: &str| {
        let opening = open.repeat(times);
        let closing = "}".repeat(opening.matches('{').count());
        format!("{{ __schema {{ types {{ {opening} name {closing} }} }} }}")
    };
    for query in [
        nested(3, "fields { type { "),
        nested(40, "fields { type { "),
        nested(40, "ofType { "),
        nested(3, "possibleTypes { "),
        nested(30_000, "ofType { "),
        format!("{{ {} }}", "...on Query { ".repeat(50_000)),
        "{ __type(name: \"Query\") { ...A } } fragment A on __Type { fields { type { ...B } } } \
         fragment B on __Type { interfaces { possibleTypes { name } } }"
            .into(),
    ] {
        let error = refusal(&documents, json!({ "query": query }));
        assert_eq!(error.code, "TOO_COMPLEX", "{}: {error:?}", query.get(..80).unwrap_or(&query));
    }
}

#[test]
fn a_subscription_has_one_field_without_conditions() {
    let documents = documents();
    documents.prepare("subscription { added { name } }".into()).unwrap();
    for document in [
        "subscription { added @include(if: false) { name } }",
        "subscription($x: Boolean!) { added @skip(if: $x) { name } }",
        "subscription { ... @skip(if: true) { added { name } } }",
        "subscription { __typename }",
    ] {
        let body = json!({ "query": document, "variables": { "x": false } });
        assert_eq!(refusal(&documents, body).code, "BAD_REQUEST", "{document}");
    }
}

/// Its plan is kept as long as it is open.
#[test]
fn the_plan_of_a_subscription_is_small() {
    let schema = Schema::parse(SDL, PageSizes::default()).unwrap();
    let limits = QueryLimits { aliases_max: 10_000, ..QueryLimits::default() };
    let documents = Documents::new(schema, limits);
    // Every fragment doubles the fields.
    let text = |operation: &str, depth: usize| {
        let fragment = |depth: usize| {
            let below = depth - 1;
            format!(
                "fragment F{depth} on Person {{ a: best {{ ...F{below} }} best {{ ...F{below} }} }} "
            )
        };
        let fragments: String = (1..=depth).map(fragment).collect();
        format!("{operation} {{ ...F{depth} }} }} {fragments} fragment F0 on Person {{ name }}")
    };
    documents.prepare(text("{ person(name: \"ana\")", 11).as_str().into()).unwrap();
    let refused = refusal(&documents, json!({ "query": text("subscription { added", 11) }));
    assert_eq!(refused.code, "TOO_COMPLEX");
    assert!(refused.message.contains("at most 1000 fields"), "{}", refused.message);
    documents.prepare(text("subscription { added", 6).as_str().into()).unwrap();
}
