//! The cost of a document: every field counts once, and fields in a list once per item of its page.

use std::collections::HashMap;

use async_graphql::parser::types::{
    ExecutableDocument, Field, OperationDefinition, OperationType, Selection, SelectionSet,
};
use async_graphql::registry::{MetaField, MetaType, MetaTypeName, Registry};
use async_graphql::{Name, Positioned, Variables};
use async_graphql_value::{ConstValue, Value};
use roundtable_domain::{FEED_ITEMS, MESSAGE_ITEMS, PAGE_ITEMS, PAGE_ITEMS_MAX};

/// Rough numbers of types in the schema, and of fields, arguments or values of each.
const TYPES_ESTIMATE: u64 = 150;
const TYPE_PARTS_ESTIMATE: u64 = 10;
/// The cost of introspection, with the estimates above: twice that of common tools' queries.
pub(super) const INTROSPECTION_COST_MAX: u64 = 1_500_000;
/// The cost of a list apart from its items: it is a separate read.
const LIST_COST: u64 = 10;
/// Nested lists of introspected types: each of them may hold all types.
pub(super) const TYPE_LISTS_MAX: usize = 2;
/// The assumed length of a list without pages.
const UNPAGED_ITEMS: u64 = 5;

/// The measured size and cost of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OperationMeasure {
    pub(super) cost: u64,
    pub(super) introspection_cost: u64,
    /// Nested fields.
    pub(super) depth: usize,
    /// Nested fields and fragments.
    pub(super) nested: usize,
    /// Nested lists of introspected types.
    pub(super) type_lists: usize,
    pub(super) aliases: usize,
    pub(super) directives: usize,
}

impl OperationMeasure {
    /// Adds a sibling selection.
    fn add(&mut self, other: Self) {
        self.cost = self.cost.saturating_add(other.cost);
        self.introspection_cost = self.introspection_cost.saturating_add(other.introspection_cost);
        self.depth = self.depth.max(other.depth);
        self.nested = self.nested.max(other.nested);
        self.type_lists = self.type_lists.max(other.type_lists);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.directives = self.directives.saturating_add(other.directives);
    }
}

/// Measures every operation and every fragment of a document: unused fragments are validated, too.
pub(super) fn measure(
    registry: &Registry,
    document: &ExecutableDocument,
    variables: &Variables,
) -> Vec<OperationMeasure> {
    let operations = document.operations.iter().map(|(_, operation)| {
        let operation = &operation.node;
        let mut measurer = OperationMeasurer {
            operation: Some(operation),
            ..OperationMeasurer::of(registry, document, variables)
        };
        let root = match operation.ty {
            OperationType::Query => Some(&registry.query_type),
            OperationType::Mutation => registry.mutation_type.as_ref(),
            OperationType::Subscription => registry.subscription_type.as_ref(),
        };
        let root = root.and_then(|name| registry.types.get(name));
        let mut measure = measurer.selection_set(&operation.selection_set, root);
        measure.directives += operation.directives.len();
        measure
    });
    let mut unused = OperationMeasurer::of(registry, document, variables);
    operations.chain(document.fragments.keys().map(|name| unused.fragment(name))).collect()
}

/// An argument value that affects the cost of its field.
enum ArgumentSize {
    Number(u64),
    List(usize),
}

impl ArgumentSize {
    fn of(value: &ConstValue) -> Option<Self> {
        match value {
            ConstValue::Number(number) => number.as_u64().map(Self::Number),
            ConstValue::List(items) => Some(Self::List(items.len())),
            _ => None,
        }
    }
}

struct OperationMeasurer<'a> {
    registry: &'a Registry,
    document: &'a ExecutableDocument,
    variables: &'a Variables,
    operation: Option<&'a OperationDefinition>,
    /// Fragments measured so far. A recursive fragment counts as empty here; validation rejects it later.
    fragments: HashMap<&'a Name, OperationMeasure>,
}

impl<'a> OperationMeasurer<'a> {
    fn of(
        registry: &'a Registry,
        document: &'a ExecutableDocument,
        variables: &'a Variables,
    ) -> Self {
        Self { registry, document, variables, operation: None, fragments: HashMap::new() }
    }

    fn selection_set(
        &mut self,
        set: &'a Positioned<SelectionSet>,
        on: Option<&'a MetaType>,
    ) -> OperationMeasure {
        let mut all = OperationMeasure::default();
        for selection in &set.node.items {
            let mut one = match &selection.node {
                Selection::Field(field) => self.field(&field.node, on),
                Selection::InlineFragment(inline) => {
                    let condition = inline.node.type_condition.as_ref();
                    let named = condition.and_then(|it| self.type_named(&it.node.on.node));
                    let mut inside = self.selection_set(&inline.node.selection_set, named.or(on));
                    inside.directives += inline.node.directives.len();
                    inside
                }
                Selection::FragmentSpread(spread) => {
                    let mut inside = self.fragment(&spread.node.fragment_name.node);
                    inside.directives += spread.node.directives.len();
                    // Even an empty fragment costs something when it is spread often.
                    inside.cost = inside.cost.saturating_add(1);
                    inside
                }
            };
            one.nested += 1;
            all.add(one);
        }
        all
    }

    fn fragment(&mut self, name: &'a Name) -> OperationMeasure {
        if let Some(measure) = self.fragments.get(name) {
            return *measure;
        }
        self.fragments.insert(name, OperationMeasure::default());
        let Some(fragment) = self.document.fragments.get(name) else {
            return OperationMeasure::default();
        };
        let on = self.type_named(&fragment.node.type_condition.node.on.node);
        let mut measure = self.selection_set(&fragment.node.selection_set, on);
        measure.directives += fragment.node.directives.len();
        self.fragments.insert(name, measure);
        measure
    }

    fn field(&mut self, field: &'a Field, on: Option<&'a MetaType>) -> OperationMeasure {
        let definition = on.and_then(|on| on.field_by_name(&field.name.node));
        let kind =
            definition.and_then(|definition| self.registry.concrete_type_by_name(&definition.ty));
        let mut measure = self.selection_set(&field.selection_set, kind);
        let (times, extra) = match definition {
            Some(definition) if !field.selection_set.node.items.is_empty() => {
                self.multiplier(field, definition, on)
            }
            _ => (1, 0),
        };
        measure.cost = measure.cost.saturating_mul(times).saturating_add(1 + extra);
        if on.is_some_and(|on| on.name().starts_with("__")) {
            let parts = definition.filter(|definition| definition.ty.starts_with('['));
            let times = parts.map_or(1, |_| {
                if field.name.node == "types" { TYPES_ESTIMATE } else { TYPE_PARTS_ESTIMATE }
            });
            measure.introspection_cost =
                measure.introspection_cost.saturating_mul(times).saturating_add(1);
        }
        measure.depth += 1;
        measure.type_lists += usize::from(lists_types(field, on));
        measure.aliases += usize::from(field.alias.is_some());
        measure.directives += field.directives.len();
        measure
    }

    /// Returns how often the selections of a field count, and the extra cost of the field itself.
    fn multiplier(
        &self,
        field: &Field,
        definition: &MetaField,
        on: Option<&MetaType>,
    ) -> (u64, u64) {
        let name = MetaTypeName::concrete_typename(&definition.ty);
        if name.starts_with("__") || on.is_some_and(|on| is_connection(on.name())) {
            // Introspection has a cost of its own, and a connection counts where it is selected.
            return (1, 0);
        }
        if is_connection(name) {
            return (self.page_items(field, name), LIST_COST);
        }
        if !definition.ty.starts_with('[') {
            return (1, 0);
        }
        match self.argument(field, "nodeIds") {
            Some(ArgumentSize::List(ids)) => (ids as u64, LIST_COST),
            _ => (UNPAGED_ITEMS, 0),
        }
    }

    /// Returns the number of items of a page; Relay's argument wins.
    fn page_items(&self, field: &Field, name: &str) -> u64 {
        let default = match name {
            "FeedEntryConnection" => FEED_ITEMS,
            "MessageConnection" | "AssistMessageConnection" => MESSAGE_ITEMS,
            _ => PAGE_ITEMS,
        };
        let requested = ["first", "limit"].into_iter().find_map(|argument| {
            match self.argument(field, argument)? {
                ArgumentSize::Number(number) => Some(number),
                ArgumentSize::List(_) => None,
            }
        });
        requested.unwrap_or(default as u64).clamp(1, PAGE_ITEMS_MAX as u64)
    }

    /// Returns the size of an argument, given directly or by a variable.
    fn argument(&self, field: &Field, argument: &str) -> Option<ArgumentSize> {
        match &field.get_argument(argument)?.node {
            Value::Variable(name) => ArgumentSize::of(self.variable(name)?),
            Value::Number(number) => number.as_u64().map(ArgumentSize::Number),
            Value::List(items) => Some(ArgumentSize::List(items.len())),
            _ => None,
        }
    }

    /// Returns the value of a variable, or else its default. By reference: it may be long and used often.
    fn variable(&self, name: &Name) -> Option<&ConstValue> {
        self.variables.get(name).or_else(|| {
            let mut defined = self.operation?.variable_definitions.iter().map(|it| &it.node);
            let defined = defined.find(|it| it.name.node == *name)?;
            defined.default_value.as_ref().map(|value| &value.node)
        })
    }

    fn type_named(&self, name: &str) -> Option<&'a MetaType> {
        self.registry.types.get(name)
    }
}

fn is_connection(name: &str) -> bool {
    name.ends_with("Connection")
}

/// Returns whether a field lists types of an introspected type; nested, such lists grow without end.
fn lists_types(field: &Field, on: Option<&MetaType>) -> bool {
    let lists = ["fields", "inputFields", "interfaces", "possibleTypes"];
    on.is_some_and(|on| on.name() == "__Type") && lists.contains(&field.name.node.as_str())
}
