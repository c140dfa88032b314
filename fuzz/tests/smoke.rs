//! A moment of fuzzing with every run of the tests: all seeds, and a few hundred inputs made of them.

use roundtable_fuzz::{bodies, documents, smoke};

#[test]
fn no_document_breaks_the_schema() {
    smoke("documents", documents, 300);
}

#[test]
fn nothing_that_http_carries_breaks_the_server() {
    smoke("bodies", bodies, 300);
}
