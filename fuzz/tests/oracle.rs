//! Documents with the answers of async-graphql, before our own execution.

#![expect(clippy::unwrap_used, reason = "this is test code")]

use std::fs::File;
use std::io::{BufReader, Read as _};

use flate2::read::GzDecoder;
use roundtable_fuzz::{Comparison, compare_with_oracle};
use serde_json::{Value, json};

fn oracle() -> String {
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/oracle/answers.jsonl.gz")).unwrap();
    let mut lines = String::new();
    GzDecoder::new(BufReader::new(file)).read_to_string(&mut lines).unwrap();
    lines
}

fn compare(entries: &[Value]) -> Comparison {
    let lines: Vec<String> = entries.iter().map(Value::to_string).collect();
    compare_with_oracle(lines.join("\n").as_bytes())
}

#[test]
fn only_the_file_that_cannot_be_fetched_may_be_missing() {
    let lists_both = |line: &&str| line.contains("\"media\":[{\"height\":2,\"s3Key\"");
    let entry: Value = serde_json::from_str(oracle().lines().find(lists_both).unwrap()).unwrap();
    let mut other = entry.clone();
    let files = "/answer/data/listGlobalFeed/items/0/media";
    other.pointer_mut(files).unwrap().as_array_mut().unwrap().reverse();
    let comparison = compare(&[entry, other]);
    assert_eq!(comparison.accepted.get("media-that-can-be-fetched"), Some(&1));
    assert_eq!(comparison.unexplained, 1, "{comparison}");
}

#[test]
fn only_fields_with_a_condition_may_differ_by_its_default() {
    let answered = |query: &str, variables: Value, data: Value| json!({ "query": query, "variables": variables, "answer": { "data": data } });
    let query = "query Q($v0: Boolean! = true) { a: __typename @skip(if: $v0) ...F b: __typename } \
                 fragment F on Query { ... @skip(if: $v0) { c: __typename } }";
    let all = json!({ "a": "Query", "b": "Query", "c": "Query" });
    let comparison = compare(&[
        answered(query, json!({}), all),
        answered(query, json!({}), json!({})),
        answered(query, json!({ "v0": false }), json!({ "b": "Query" })),
    ]);
    assert_eq!(comparison.accepted.get("default-of-a-condition"), Some(&1));
    assert_eq!(comparison.unexplained, 2, "{comparison}");
}

#[test]
fn documents_are_answered_as_by_the_oracle() {
    let comparison = compare_with_oracle(oracle().as_bytes());
    println!("{comparison}");
    assert_eq!(comparison.unexplained, 0, "there are differences that are not accepted");
    assert_eq!((comparison.documents, comparison.skipped), (2_000, 0));
    assert!(comparison.executed > 1_500, "most documents should be valid");
    assert!(comparison.answered > 600, "many should be answered with data");
    assert!(comparison.events > 0, "subscriptions should have events");
}
