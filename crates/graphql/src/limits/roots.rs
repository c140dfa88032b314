//! What an operation begins with: a subscription listens to one thing, and a mutation does each of its
//! things once. The library would do what is named twice twice, where GraphQL means one and the same.

use std::collections::HashSet;

use async_graphql::parser::types::{ExecutableDocument, OperationType, Selection, SelectionSet};
use async_graphql::{Name, Positioned};

use crate::Refused;

/// Refuses what begins otherwise. Fragments have been measured by now: they are not without end.
pub(super) fn check(document: &ExecutableDocument) -> Result<(), Refused> {
    for (_, operation) in document.operations.iter() {
        let set = &operation.node.selection_set;
        match operation.node.ty {
            OperationType::Query => {}
            OperationType::Mutation => {
                let (mut names, mut open) = (HashSet::new(), HashSet::new());
                each_once(document, set, &mut names, &mut open)?;
            }
            OperationType::Subscription => {
                let only = matches!(set.node.items.as_slice(), [only] if matches!(only.node, Selection::Field(_)));
                if !only {
                    return Err(Refused::bad(
                        "a subscription listens to one thing: expected one field",
                    ));
                }
            }
        }
    }
    Ok(())
}

fn each_once<'a>(
    document: &'a ExecutableDocument,
    set: &'a Positioned<SelectionSet>,
    names: &mut HashSet<&'a Name>,
    open: &mut HashSet<&'a Name>,
) -> Result<(), Refused> {
    for selection in &set.node.items {
        match &selection.node {
            Selection::Field(field) => {
                let name = &field.node.response_key().node;
                if !names.insert(name) {
                    let sentence =
                        format!("{name} is there twice; a mutation does each thing once");
                    return Err(Refused::bad(sentence));
                }
            }
            Selection::InlineFragment(inline) => {
                each_once(document, &inline.node.selection_set, names, open)?;
            }
            Selection::FragmentSpread(spread) => {
                let name = &spread.node.fragment_name.node;
                // One that is in itself is refused later.
                if let Some(fragment) = document.fragments.get(name)
                    && open.insert(name)
                {
                    each_once(document, &fragment.node.selection_set, names, open)?;
                    open.remove(name);
                }
            }
        }
    }
    Ok(())
}
