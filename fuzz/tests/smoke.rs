//! Short fuzzing with every test run: all seeds and a few hundred mutations.

use roundtable_fuzz::{bodies, documents, smoke};

#[test]
fn documents_do_not_break_the_schema() {
    smoke("documents", documents, 300);
}

#[test]
fn http_requests_do_not_break_the_server() {
    smoke("bodies", bodies, 300);
}
