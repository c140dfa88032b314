//! The differences from async-graphql 7.2.1 that are meant to be, with the reasons. Sections are those of
//! the GraphQL specification of September 2025.

use serde_json::Value;

use super::mismatch::{Mismatch, MismatchKind, path_of};
use super::rules;

/// A kind of difference that is accepted.
pub(crate) struct AcceptedDifference {
    pub(crate) name: &'static str,
    /// The section of the specification, or the place of our own decision, that demands it.
    pub(crate) section: &'static str,
    pub(crate) reason: &'static str,
    applies: fn(&Mismatch<'_>, &Answers<'_>) -> bool,
}

/// Both answers to a document, with all cursors made equal.
pub(crate) struct Answers<'a> {
    pub(crate) query: &'a str,
    pub(crate) variables: &'a Value,
    pub(crate) expected: &'a Value,
    pub(crate) found: &'a Value,
}

const fn accepted(
    name: &'static str,
    section: &'static str,
    reason: &'static str,
    applies: fn(&Mismatch<'_>, &Answers<'_>) -> bool,
) -> AcceptedDifference {
    AcceptedDifference { name, section, reason, applies }
}

/// A difference counts for the first kind that applies.
pub(crate) const ACCEPTED: &[AcceptedDifference] = &[
    accepted(
        "nodes-one-by-one",
        "decision 0010",
        "An unknown id in `nodes` is an error of its item. It failed the whole field.",
        rules::is_unknown_node,
    ),
    accepted(
        "media-that-can-be-fetched",
        "decision 0010",
        "`media` lists only files that can be fetched, whether or not `url` is selected.",
        rules::is_missing_file,
    ),
    accepted(
        "null-for-failed-field",
        "6.4.4",
        "A failed field that may be null is null. The library dropped it if its arguments were wrong, and \
         an object without any fields became null.",
        rules::is_failed_field,
    ),
    accepted(
        "null-propagation",
        "6.4.4",
        "A failed field that must not be null nulls the nearest field around it that may be. The library \
         dropped the field from its object.",
        rules::is_null_propagation,
    ),
    accepted(
        "errors-below-null",
        "6.4.4",
        "What else fails in an object that is null already is not reported.",
        rules::is_below_null,
    ),
    accepted(
        "empty-object",
        "6.3",
        "An object of which all fields are skipped is empty. The library made it null.",
        |mismatch, _| {
            mismatch.kind == MismatchKind::Data
                && mismatch.expected == Some(&Value::Null)
                && mismatch.found.and_then(Value::as_object).is_some_and(serde_json::Map::is_empty)
        },
    ),
    accepted(
        "merged-with-empty",
        "6.3.2",
        "An object that is selected twice has the fields of both, also if conditions leave none of one. The \
         library made it null.",
        rules::is_merged_with_empty,
    ),
    accepted(
        "absent-inputs",
        "3.10",
        "An optional input whose variable has no value is absent. The library took it for null.",
        rules::is_absent_input,
    ),
    accepted(
        "one-error-for-merged-fields",
        "6.3.2",
        "Fields with the same key are executed once. The library executed each, and reported each error.",
        rules::is_repeated_error,
    ),
    accepted(
        "repeated-typename",
        "6.3.2",
        "`__typename` may be selected twice in a mutation, too: equal fields are merged.",
        rules::is_repeated_typename,
    ),
    accepted(
        "hidden-objects",
        "decision 0010",
        "The object of an activity is null for viewers who must not see it. The field failed for suspended \
         ones.",
        rules::is_hidden_object,
    ),
    accepted(
        "default-of-a-condition",
        "6.1.2",
        "A variable that is not given has its default value in `@skip` and `@include`, too.",
        rules::is_default_of_condition,
    ),
    accepted(
        "introspection-order",
        "4.2",
        "Lists about the schema are in the order of the schema, not of the alphabet.",
        rules::is_introspection_order,
    ),
    accepted(
        "added-to-the-schema",
        "CHANGELOG",
        "The schema has types and fields that the version of the library did not have, and comments have \
         tags.",
        rules::is_added_to_schema,
    ),
    accepted(
        "introspected-directives",
        "4.2.6",
        "`@oneOf` is not listed: the schema has no such input.",
        rules::is_introspected_directive,
    ),
    accepted(
        "strings-for-enums",
        "3.9",
        "Enum literals are names. The library accepted strings.",
        |mismatch, answers| {
            rules::is_refused(mismatch, answers, &["expected value of type"])
                && rules::found_message(answers).ends_with("found a string")
        },
    ),
    accepted(
        "int-range",
        "3.5.1",
        "Numbers of more than 32 bits are refused for Int before anything is executed. The library failed \
         the field, or ignored what another argument overrides.",
        |mismatch, answers| {
            rules::is_refused(
                mismatch,
                answers,
                &["int cannot represent non 32-bit", "expected a value of type Int"],
            )
        },
    ),
    accepted(
        "values-of-correct-type",
        "5.6.1",
        "A list is no value of a scalar, a number none of an input object, and null none of a required \
         field, which is refused before anything is executed. The library failed the field.",
        |mismatch, answers| {
            let mut expected =
                errors_at(answers.expected, |_| true).filter_map(|error| error["message"].as_str());
            let messages =
                ["expected value of type", "expected a value of type", "is not provided"];
            rules::is_refused(mismatch, answers, &messages) && expected.any(rules::is_wrong_type)
        },
    ),
    accepted(
        "fields-that-cannot-merge",
        "5.3.2",
        "Fields with the same key must have the same arguments and types, also in different fragments.",
        |mismatch, answers| {
            let messages = ["conflicting field arguments", "must not select different"];
            rules::is_refused(mismatch, answers, &messages)
        },
    ),
    accepted(
        "missing-variables",
        "6.1.2",
        "A variable that must not be null is missing. The library noticed only where it was used.",
        |mismatch, answers| rules::is_refused(mismatch, answers, &[", found none"]),
    ),
    accepted(
        "conditions-of-subscriptions",
        "5.2.4.1",
        "The root field of a subscription has no `@skip` or `@include`.",
        |mismatch, answers| {
            rules::is_refused(mismatch, answers, &["can not specify @skip or @include"])
        },
    ),
    accepted(
        "cost",
        "decision 0010",
        "The cost is that of the plan: without what is never executed, and for abstract types that of the \
         costliest type. Operations on the table are limited, too.",
        |mismatch, answers| {
            let codes = [rules::expected_code(answers), rules::found_code(answers)];
            mismatch.kind == MismatchKind::Refusal && codes.contains(&Some("TOO_COMPLEX"))
        },
    ),
    accepted(
        "order-of-checks",
        "5",
        "A document that is both invalid and too complex may be refused for either.",
        |mismatch, answers| {
            let codes = ["BAD_REQUEST", "TOO_COMPLEX"];
            mismatch.kind == MismatchKind::RefusalCode
                && rules::expected_code(answers).is_some_and(|code| codes.contains(&code))
                && rules::found_code(answers).is_some_and(|code| codes.contains(&code))
        },
    ),
    accepted(
        "input-paths",
        "7.1.2",
        "Messages about arguments begin with the path of the input. The library named the type.",
        rules::is_input_path,
    ),
    accepted(
        "page-size-names",
        "7.1.2",
        "Errors about the size of a page name the argument that was sent.",
        rules::is_page_size,
    ),
    accepted(
        "page-size-first",
        "6.4.1",
        "Of several wrong arguments, the size of the page is the one that is reported.",
        rules::is_page_size_first,
    ),
    accepted(
        "rule-of-nicknames",
        "CHANGELOG",
        "New nicknames have a rule that the version of the library did not have.",
        rules::is_nickname,
    ),
    accepted(
        "locations",
        "7.1.2",
        "The location of an error is the start of its field, in bytes. The library counted characters, \
         and gave the argument for errors of input.",
        rules::is_location,
    ),
];

impl AcceptedDifference {
    /// Returns the kind of a difference, or `None` if it is not accepted.
    pub(crate) fn of(mismatch: &Mismatch<'_>, answers: &Answers<'_>) -> Option<&'static Self> {
        ACCEPTED.iter().find(|accepted| (accepted.applies)(mismatch, answers))
    }
}

/// Returns the errors of an answer with this path, as a JSON pointer.
pub(crate) fn errors_at(
    answer: &Value,
    is_path: impl Fn(&str) -> bool,
) -> impl Iterator<Item = &Value> {
    let errors = answer.get("errors").and_then(Value::as_array).into_iter().flatten();
    errors.filter(move |error| is_path(&path_of(error)))
}
