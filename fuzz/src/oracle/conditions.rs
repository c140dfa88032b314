//! Finds fields of a document whose `@skip` or `@include` takes the default of a variable.

use std::collections::HashMap;

use async_graphql::parser::parse_query;
use async_graphql::parser::types::{
    Directive, ExecutableDocument, FragmentDefinition, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Positioned};
use serde_json::Value;

/// Returns whether a field at a place of the answer, or around it, has such a condition, or is in a
/// fragment with one.
pub(super) fn takes_default(query: &str, variables: &Value, place: &str) -> bool {
    let Ok(document) = parse_query(query) else { return false };
    let keys: Vec<&str> = place.split('/').filter(|key| is_response_key(key)).collect();
    let ExecutableDocument { operations, fragments } = &document;
    operations.iter().any(|(_, operation)| {
        let conditions = Conditions { fragments, defaults: defaults(&operation.node, variables) };
        conditions.hold_on_the_way(&operation.node.selection_set.node, &keys, false)
    })
}

fn is_response_key(key: &str) -> bool {
    !key.is_empty() && key.parse::<usize>().is_err()
}

/// Returns the variables that have a default and are not given, as they are written.
fn defaults(operation: &OperationDefinition, variables: &Value) -> Vec<String> {
    let declared = operation.variable_definitions.iter().map(|variable| &variable.node);
    declared
        .filter(|variable| variable.default_value.is_some())
        .map(|variable| &variable.name.node)
        .filter(|name| variables.get(name.as_str()).is_none())
        .map(|name| format!("${name}"))
        .collect()
}

struct Conditions<'a> {
    fragments: &'a HashMap<Name, Positioned<FragmentDefinition>>,
    defaults: Vec<String>,
}

impl Conditions<'_> {
    fn hold_on_the_way(&self, selected: &SelectionSet, keys: &[&str], holds: bool) -> bool {
        let Some((key, rest)) = keys.split_first() else { return holds };
        selected.items.iter().any(|selection| match &selection.node {
            Selection::Field(field) => {
                let field = &field.node;
                let holds = holds || self.is_in(&field.directives);
                field.response_key().node == *key
                    && self.hold_on_the_way(&field.selection_set.node, rest, holds)
            }
            Selection::InlineFragment(fragment) => {
                let holds = holds || self.is_in(&fragment.node.directives);
                self.hold_on_the_way(&fragment.node.selection_set.node, keys, holds)
            }
            Selection::FragmentSpread(spread) => {
                let holds = holds || self.is_in(&spread.node.directives);
                let fragment = self.fragments.get(&spread.node.fragment_name.node);
                fragment.is_some_and(|fragment| {
                    self.hold_on_the_way(&fragment.node.selection_set.node, keys, holds)
                })
            }
        })
    }

    fn is_in(&self, directives: &[Positioned<Directive>]) -> bool {
        let mut conditions = directives.iter().filter_map(|it| it.node.get_argument("if"));
        conditions.any(|condition| self.defaults.contains(&condition.node.to_string()))
    }
}
