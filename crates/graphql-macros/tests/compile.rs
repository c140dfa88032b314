//! Resolvers that do not fit the schema do not compile, each with its error message at the line to fix.
//!
//! Every file under `refused/` has one mistake. `accepted.rs` has the programs of all of them without their
//! mistakes, so that no case fails for another reason.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::Path;

/// The macros read the schema of the crate that is being compiled, which is the one that `trybuild`
/// generates below the target directory.
fn write_schema() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let generated = target.join("tests/trybuild").join(env!("CARGO_PKG_NAME"));
    fs::create_dir_all(&generated).unwrap();
    fs::copy("tests/refused/schema.graphql", generated.join("schema.graphql")).unwrap();
}

#[test]
fn resolvers_that_do_not_fit_the_schema_do_not_compile() {
    write_schema();
    let cases = trybuild::TestCases::new();
    cases.pass("tests/refused/accepted.rs");
    for case in [
        "field_without_a_resolver",
        "field_that_is_not_stored",
        "function_without_a_field",
        "value_of_the_wrong_type",
        "null_where_the_schema_has_none",
        "key_of_another_type",
        "argument_of_the_wrong_type",
        "argument_that_is_missing",
        "root_field_twice",
        "root_field_without_a_resolver",
        "type_missing_in_a_union",
        "enum_value_without_a_variant",
        "input_field_that_is_missing",
        "input_of_another_struct",
    ] {
        cases.compile_fail(format!("tests/refused/{case}.rs"));
    }
}
