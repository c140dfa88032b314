//! Documents with the answers of async-graphql, before our own execution.

use std::fs::File;
use std::io::{BufReader, Read as _};

use flate2::read::GzDecoder;
use roundtable_fuzz::compare_with_oracle;

#[test]
fn documents_are_answered_as_by_the_oracle() {
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/oracle/answers.jsonl.gz")).unwrap();
    let mut lines = String::new();
    GzDecoder::new(BufReader::new(file)).read_to_string(&mut lines).unwrap();
    let comparison = compare_with_oracle(lines.as_bytes());
    println!("{comparison}");
    assert_eq!(comparison.unexplained, 0, "there are differences that are not accepted");
    assert_eq!((comparison.documents, comparison.skipped), (2_000, 0));
    assert!(comparison.executed > 1_500, "most documents should be valid");
    assert!(comparison.answered > 600, "many should be answered with data");
    assert!(comparison.events > 0, "subscriptions should have events");
}
