//! Mistakes in a schema that do not compile, each with its error message (R2).
//!
//! Every file under `refused/` is a small schema with one mistake. `accepted.rs` is the same schema
//! without a mistake, so that no case fails for another reason.

#[test]
fn mistakes_in_the_schema_do_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/refused/accepted.rs");
    for case in [
        "typo_in_a_part",
        "index_named_twice",
        "part_that_may_hold_a_hash",
        "mutable_part_in_the_primary_key",
        "strong_read_of_an_index",
        "strong_read_of_an_index_by_a_caller",
        "filter_on_a_key",
        "pattern_no_entity_serves",
        "pattern_of_another_type",
        "pattern_that_could_return_other_entities",
        "optional_part_without_a_condition",
        "two_entities_with_one_key",
        "unordered_list",
        "rekeyed_without_a_version",
        "patch_of_a_field_in_a_key",
        "patch_of_an_entity_with_older_shapes",
        "days_not_in_time_order",
        "predicate_that_sees_an_undeclared_field",
        "unpadded_number_in_a_key",
        "prefix_that_ends_within_a_part",
        "computed_part_that_may_change",
        "upsert_of_an_indexed_entity",
        "get_on_an_index",
        "owner_without_a_key",
        "owner_that_is_no_owner",
    ] {
        cases.compile_fail(format!("tests/refused/{case}.rs"));
    }
}
