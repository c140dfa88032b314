//! What a document asks for in all: every field once, and what is in a list as often as its page has
//! items.

use std::collections::HashMap;

use async_graphql::parser::types::{
    ExecutableDocument, Field, OperationDefinition, OperationType, Selection, SelectionSet,
};
use async_graphql::registry::{MetaField, MetaType, MetaTypeName, Registry};
use async_graphql::{Name, Positioned, Variables};
use async_graphql_value::{ConstValue, Value};
use roundtable_domain::{FEED_ITEMS, MESSAGE_ITEMS, PAGE_ITEMS, PAGE_ITEMS_MAX};

/// Types of the schema, and things of each of them, about as many as there are.
const TYPES: u64 = 150;
const PARTS: u64 = 10;
/// What may be asked about the schema itself, all its lists taken as so long: twice what tools ask.
pub(super) const SCHEMA_MAX: u64 = 1_500_000;
/// What a list costs beside its items: it is a read of its own.
const LIST_COST: u64 = 10;
/// Lists of the schema's types within each other: every one of them may be all there is.
pub(super) const LOOKS_MAX: usize = 2;
/// Items of a list without pages.
const FEW_ITEMS: u64 = 5;

/// How much an operation asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Measure {
    pub(super) cost: u64,
    /// The same, of what is asked about the schema itself.
    pub(super) schema: u64,
    /// Fields within fields.
    pub(super) depth: usize,
    /// Fields and fragments within each other.
    pub(super) nested: usize,
    /// Lists of the schema's own types within each other.
    pub(super) looks: usize,
    pub(super) aliases: usize,
    pub(super) directives: usize,
}

impl Measure {
    /// Both, beside each other.
    fn and(&mut self, other: Self) {
        self.cost = self.cost.saturating_add(other.cost);
        self.schema = self.schema.saturating_add(other.schema);
        self.depth = self.depth.max(other.depth);
        self.nested = self.nested.max(other.nested);
        self.looks = self.looks.max(other.looks);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.directives = self.directives.saturating_add(other.directives);
    }
}

/// Measures every operation of a document, and every fragment: those that nobody uses are validated, too.
pub(super) fn measured(
    registry: &Registry,
    document: &ExecutableDocument,
    variables: &Variables,
) -> Vec<Measure> {
    let each = document.operations.iter().map(|(_, operation)| {
        let operation = &operation.node;
        let mut measuring = Measuring {
            operation: Some(operation),
            ..Measuring::of(registry, document, variables)
        };
        let root = match operation.ty {
            OperationType::Query => Some(&registry.query_type),
            OperationType::Mutation => registry.mutation_type.as_ref(),
            OperationType::Subscription => registry.subscription_type.as_ref(),
        };
        let root = root.and_then(|name| registry.types.get(name));
        let mut measure = measuring.set(&operation.selection_set, root);
        measure.directives += operation.directives.len();
        measure
    });
    let mut alone = Measuring::of(registry, document, variables);
    each.chain(document.fragments.keys().map(|name| alone.fragment(name))).collect()
}

/// As much of a value as a measure needs.
enum Given {
    Number(u64),
    List(usize),
}

impl Given {
    fn of(value: &ConstValue) -> Option<Self> {
        match value {
            ConstValue::Number(number) => number.as_u64().map(Self::Number),
            ConstValue::List(items) => Some(Self::List(items.len())),
            _ => None,
        }
    }
}

struct Measuring<'a> {
    registry: &'a Registry,
    document: &'a ExecutableDocument,
    variables: &'a Variables,
    operation: Option<&'a OperationDefinition>,
    /// Fragments that were measured: each once, however often it is used. One that is in itself is
    /// nothing here, and refused later.
    fragments: HashMap<&'a Name, Measure>,
}

impl<'a> Measuring<'a> {
    fn of(
        registry: &'a Registry,
        document: &'a ExecutableDocument,
        variables: &'a Variables,
    ) -> Self {
        Self { registry, document, variables, operation: None, fragments: HashMap::new() }
    }

    fn set(&mut self, set: &'a Positioned<SelectionSet>, on: Option<&'a MetaType>) -> Measure {
        let mut all = Measure::default();
        for selection in &set.node.items {
            let mut one = match &selection.node {
                Selection::Field(field) => self.field(&field.node, on),
                Selection::InlineFragment(inline) => {
                    let condition = inline.node.type_condition.as_ref();
                    let named = condition.and_then(|it| self.kind(&it.node.on.node));
                    let mut inside = self.set(&inline.node.selection_set, named.or(on));
                    inside.directives += inline.node.directives.len();
                    inside
                }
                Selection::FragmentSpread(spread) => {
                    let mut inside = self.fragment(&spread.node.fragment_name.node);
                    inside.directives += spread.node.directives.len();
                    // Used often enough, even an empty one costs something.
                    inside.cost = inside.cost.saturating_add(1);
                    inside
                }
            };
            one.nested += 1;
            all.and(one);
        }
        all
    }

    fn fragment(&mut self, name: &'a Name) -> Measure {
        if let Some(measure) = self.fragments.get(name) {
            return *measure;
        }
        self.fragments.insert(name, Measure::default());
        let Some(fragment) = self.document.fragments.get(name) else { return Measure::default() };
        let on = self.kind(&fragment.node.type_condition.node.on.node);
        let mut measure = self.set(&fragment.node.selection_set, on);
        measure.directives += fragment.node.directives.len();
        self.fragments.insert(name, measure);
        measure
    }

    fn field(&mut self, field: &'a Field, on: Option<&'a MetaType>) -> Measure {
        let known = on.and_then(|on| on.field_by_name(&field.name.node));
        let kind = known.and_then(|known| self.registry.concrete_type_by_name(&known.ty));
        let mut measure = self.set(&field.selection_set, kind);
        let (times, extra) = match known {
            Some(known) if !field.selection_set.node.items.is_empty() => {
                self.times(field, known, on)
            }
            _ => (1, 0),
        };
        measure.cost = measure.cost.saturating_mul(times).saturating_add(1 + extra);
        if on.is_some_and(|on| on.name().starts_with("__")) {
            let parts = known.filter(|known| known.ty.starts_with('['));
            let times = parts.map_or(1, |_| if field.name.node == "types" { TYPES } else { PARTS });
            measure.schema = measure.schema.saturating_mul(times).saturating_add(1);
        }
        measure.depth += 1;
        measure.looks += usize::from(is_look(field, on));
        measure.aliases += usize::from(field.alias.is_some());
        measure.directives += field.directives.len();
        measure
    }

    /// How often what is in a field is asked for, and what the field costs itself.
    fn times(&self, field: &Field, known: &MetaField, on: Option<&MetaType>) -> (u64, u64) {
        let name = MetaTypeName::concrete_typename(&known.ty);
        if name.starts_with("__") || on.is_some_and(|on| is_connection(on.name())) {
            // The schema is measured by itself, and a connection has been counted where it was asked for.
            return (1, 0);
        }
        if is_connection(name) {
            return (self.page(field, name), LIST_COST);
        }
        if !known.ty.starts_with('[') {
            return (1, 0);
        }
        match self.value(field, "nodeIds") {
            Some(Given::List(ids)) => (ids as u64, LIST_COST),
            _ => (FEW_ITEMS, 0),
        }
    }

    /// The items of a page, as far as a page can be; Relay's argument wins.
    fn page(&self, field: &Field, name: &str) -> u64 {
        let otherwise = match name {
            "FeedEntryConnection" => FEED_ITEMS,
            "MessageConnection" | "AssistMessageConnection" => MESSAGE_ITEMS,
            _ => PAGE_ITEMS,
        };
        let asked = ["first", "limit"].into_iter().find_map(|argument| {
            match self.value(field, argument)? {
                Given::Number(number) => Some(number),
                Given::List(_) => None,
            }
        });
        asked.unwrap_or(otherwise as u64).clamp(1, PAGE_ITEMS_MAX as u64)
    }

    /// What is given for an argument, or for the variable it is.
    fn value(&self, field: &Field, argument: &str) -> Option<Given> {
        match &field.get_argument(argument)?.node {
            Value::Variable(name) => Given::of(self.variable(name)?),
            Value::Number(number) => number.as_u64().map(Given::Number),
            Value::List(items) => Some(Given::List(items.len())),
            _ => None,
        }
    }

    /// The value of a variable, or else its default. It may be long, and be used often.
    fn variable(&self, name: &Name) -> Option<&ConstValue> {
        self.variables.get(name).or_else(|| {
            let mut defined = self.operation?.variable_definitions.iter().map(|it| &it.node);
            let defined = defined.find(|it| it.name.node == *name)?;
            defined.default_value.as_ref().map(|value| &value.node)
        })
    }

    fn kind(&self, name: &str) -> Option<&'a MetaType> {
        self.registry.types.get(name)
    }
}

fn is_connection(name: &str) -> bool {
    name.ends_with("Connection")
}

/// Whether a field lists types of the schema from a type of the schema: within each other, such lists
/// grow without end.
fn is_look(field: &Field, on: Option<&MetaType>) -> bool {
    let lists = ["fields", "inputFields", "interfaces", "possibleTypes"];
    on.is_some_and(|on| on.name() == "__Type") && lists.contains(&field.name.node.as_str())
}
