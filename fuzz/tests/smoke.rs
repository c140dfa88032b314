//! Short fuzzing with every test run: all seeds and a few hundred mutations.

use roundtable_fuzz::{bodies, cursors, documents, exports, records, smoke, tokens, values};

#[test]
fn documents_do_not_break_the_schema() {
    smoke("documents", documents, 300);
}

#[test]
fn http_requests_do_not_break_the_server() {
    smoke("bodies", bodies, 300);
}

#[test]
fn changed_log_records_are_refused() {
    smoke("records", records, 300);
}

#[test]
fn changed_values_of_the_tree_are_never_served() {
    smoke("values", values, 100);
}

#[test]
fn forged_cursors_are_refused() {
    smoke("cursors", cursors, 2_000);
}

#[test]
fn forged_tokens_sign_nobody_in() {
    smoke("tokens", tokens, 300);
}

#[test]
fn lines_of_an_export_are_read_back_the_same() {
    smoke("exports", exports, 5_000);
}
