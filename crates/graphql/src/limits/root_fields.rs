//! Rules for root fields: a subscription has exactly one, and a mutation none twice. async-graphql would
//! execute a repeated field twice, where GraphQL merges both into one.

use std::collections::HashSet;

use async_graphql::parser::types::{ExecutableDocument, OperationType, Selection, SelectionSet};
use async_graphql::{Name, Positioned};

use crate::ApiError;

/// Checks all operations. Fragments have been measured by now, so they are of limited size.
pub(super) fn check(document: &ExecutableDocument) -> Result<(), ApiError> {
    for (_, operation) in document.operations.iter() {
        let set = &operation.node.selection_set;
        match operation.node.ty {
            OperationType::Query => {}
            OperationType::Mutation => {
                let (mut names, mut open) = (HashSet::new(), HashSet::new());
                check_unique(document, set, &mut names, &mut open)?;
            }
            OperationType::Subscription => {
                let only = matches!(set.node.items.as_slice(), [only] if matches!(only.node, Selection::Field(_)));
                if !only {
                    return Err(ApiError::bad_request(
                        "expected exactly one root field in a subscription",
                    ));
                }
            }
        }
    }
    Ok(())
}

fn check_unique<'a>(
    document: &'a ExecutableDocument,
    set: &'a Positioned<SelectionSet>,
    names: &mut HashSet<&'a Name>,
    open: &mut HashSet<&'a Name>,
) -> Result<(), ApiError> {
    for selection in &set.node.items {
        match &selection.node {
            Selection::Field(field) => {
                let name = &field.node.response_key().node;
                if !names.insert(name) {
                    let message =
                        format!("{name} is selected twice: use aliases to run a mutation twice");
                    return Err(ApiError::bad_request(message));
                }
            }
            Selection::InlineFragment(inline) => {
                check_unique(document, &inline.node.selection_set, names, open)?;
            }
            Selection::FragmentSpread(spread) => {
                let name = &spread.node.fragment_name.node;
                // Validation rejects recursive fragments later.
                if let Some(fragment) = document.fragments.get(name)
                    && open.insert(name)
                {
                    check_unique(document, &fragment.node.selection_set, names, open)?;
                    open.remove(name);
                }
            }
        }
    }
    Ok(())
}
