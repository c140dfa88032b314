//! What a request takes at most, known before its first read.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use roundtable_execution::{
    Documents, PageSizes, PreparedRequest, QueryLimits, Request, RequestError, Schema,
};
use serde_json::json;

const SDL: &str = "
    type Query { me: Person  people(first: Int): PersonConnection!  named(names: [ID!]!): [Person]! }
    type PersonConnection { items: [Person!]!  next: String }
    type Person { id: ID!  bio: String  best: Person  posts(first: Int): PostConnection!  photos: [Photo!]!  pets: [Photo!]! }
    type Photo { url: String! }
    type PostConnection { items: [Post!]! }
    type Post { text: String!  author: Person }
";
const SIZES: PageSizes = PageSizes {
    suffix: "Connection",
    default: 20,
    others: &[],
    max: 100,
    arguments: &["first"],
    lists: &[("Person.photos", 10)],
};

fn documents(limits: QueryLimits) -> Documents {
    Documents::new(Schema::parse(SDL, SIZES).unwrap(), limits)
}

fn prepare(document: &str, first: Option<u64>) -> Result<PreparedRequest, RequestError> {
    let documents = documents(QueryLimits::default());
    let variables = first.map_or_else(|| json!({}), |first| json!({ "n": first }));
    let request = json!({ "query": document, "variables": variables });
    documents.prepare(serde_json::from_value::<Request>(request).unwrap())
}

#[test]
fn lists_multiply_what_is_below_them() {
    let one = *prepare("{ me { bio } }", None).unwrap().cost();
    assert_eq!((one.fields, one.items), (2, 1));
    let document = "query Q($n: Int) { people(first: $n) { items { bio posts(first: 10) { items { text } } } } }";
    let [few, many] = [5, 50].map(|first| *prepare(document, Some(first)).unwrap().cost());
    assert!(many.items >= 50 + 500 && many.items <= 2 * (50 + 50 + 500), "{many:?}");
    assert!(many.operations > few.operations && many.fields > 9 * few.fields, "{few:?} {many:?}");
}

/// What many objects need is read at once, so that operations grow with lists, not with items.
#[test]
fn objects_of_one_page_are_read_together() {
    let of = |document: &str| prepare(document, None).unwrap().cost().operations;
    let page = of("{ people(first: 50) { items { bio } } }");
    let friends = of("{ people(first: 50) { items { bio best { bio } } } }");
    let aliases = of("{ people(first: 50) { items { bio best { bio } too: best { bio } } } }");
    assert!(friends > page && friends <= 3 * page, "{page} {friends}");
    assert_eq!(friends, aliases, "fields that read the same share a read");
    let lists = of("{ people(first: 50) { items { posts { items { text } } } } }");
    assert!(lists >= 50, "each person has a list");
}

/// They are as long as the sizes say, and at most as long as a page otherwise.
#[test]
fn lists_without_pages_have_a_greatest_length() {
    let of = |document: &str| *prepare(document, None).unwrap().cost();
    let photos = of("{ people(first: 50) { items { photos { url } } } }");
    assert_eq!((photos.fields, photos.items), (1 + 10 + 50 + 50 + 500, 50 + 50 + 500));
    assert_eq!(of("{ me { pets { url } } }").items, 1 + 100);
    // They are read for all people at once.
    let page = of("{ people(first: 50) { items { bio } } }");
    assert!(photos.operations <= 6 * page.operations, "{photos:?} {page:?}");
}

#[test]
fn too_many_lists_are_refused_by_their_operations() {
    let limits = QueryLimits { operations_max: 100, ..QueryLimits::default() };
    let documents = documents(limits);
    let lists = "{ people(first: 50) { items { posts { items { text } } } } }";
    let refused = documents.prepare(lists.into()).unwrap_err();
    assert_eq!(refused.code, "TOO_COMPLEX");
    assert!(refused.message.contains("100 table operations"), "{}", refused.message);
    assert!(documents.prepare("{ people { items { bio } } }".into()).is_ok());
}

/// The length of a given list counts in every field that has it.
#[test]
fn a_long_list_is_too_complex() {
    let documents = documents(QueryLimits::default());
    let field = |number: usize| format!("a{number}: named(names: $n) {{ id }} ");
    let fields: String = (0..50).map(field).collect();
    let query = format!("query($n: [ID!]!) {{ {fields} }}");
    let prepare = |names: usize| {
        let body = json!({ "query": query, "variables": { "n": vec!["ana"; names] } });
        documents.prepare(serde_json::from_value(body).unwrap())
    };
    assert!(prepare(100).is_ok());
    assert_eq!(prepare(1_000).unwrap_err().code, "TOO_COMPLEX");
}

/// Otherwise, a server would check megabytes before the request has a permit.
#[test]
fn a_request_with_many_values_is_not_known() {
    let documents = documents(QueryLimits::default());
    let request = |names: serde_json::Value| {
        let query = "query($n: [ID!]!) { named(names: $n) { id } }";
        let body = json!({ "query": query, "variables": { "n": names } });
        serde_json::from_value::<Request>(body).unwrap()
    };
    documents.prepare(request(json!(["ana"]))).unwrap();
    assert!(documents.knows(&request(json!(["ana"]))));
    assert!(documents.knows(&request(json!(vec!["ana"; 100]))));
    assert!(documents.knows(&request(json!(["a".repeat(100_000)]))), "it is one value");
    assert!(!documents.knows(&request(json!(vec!["ana"; 1_000]))));
    assert!(!documents.knows(&request(json!([{ "a": vec!["ana"; 1_000] }]))));
}
