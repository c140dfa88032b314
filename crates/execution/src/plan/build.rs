//! From documents to plans: fragments are flattened for each type, and equal keys are merged.

use apollo_compiler::ast::Document;
use apollo_compiler::collections::IndexMap;
use apollo_compiler::executable::{self, OperationType, Selection, SelectionSet};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name};

use super::arguments::Constants;
use super::condition::nullable_variables;
use super::{
    ArgumentPlan, Condition, ConditionId, Conditions, Edge, EdgeSize, Field, FieldValue, Node, Plan,
};
use crate::Schema;
use crate::error::{Location, RequestError};

/// A selection set, and the condition under which it counts.
type Selected<'a> = (&'a SelectionSet, Condition);

/// The places in a document that select the same key, and their conditions.
type Occurrences<'a> = Vec<(&'a executable::Field, Condition)>;

impl Plan {
    /// Validates a document and plans one of its operations.
    pub(crate) fn of(
        schema: &Schema,
        document: &Document,
        operation: Option<&str>,
    ) -> Result<Self, RequestError> {
        let document = document.to_executable_validate(&schema.types);
        let document = document.map_err(|invalid| RequestError::of_diagnostics(&invalid.errors))?;
        let operation = document.operations.get(operation);
        let operation =
            operation.map_err(|error| RequestError::new(error.message().to_string()))?;
        let mut operation = operation.clone();
        let mut builder = Builder {
            schema,
            document: &document,
            conditions: Conditions::new(),
            constants: Constants::default(),
            introspects: false,
            repeated: None,
            parts: 0,
        };
        let mut root = Node::of(operation.object_type().clone());
        builder.add_selection(&mut root, vec![(&operation.selection_set, Condition::always())]);
        // GraphQL would merge them into one, which is hardly what their author wants.
        if let Some(name) = builder.repeated {
            let message = format!("{name} is selected twice: use aliases to run a mutation twice");
            return Err(RequestError::new(message));
        }
        let Builder { conditions, introspects, parts, .. } = builder;
        let is_subscription = operation.operation_type == OperationType::Subscription;
        let parts_max = if is_subscription { SUBSCRIPTION_PARTS_MAX } else { PARTS_MAX };
        if parts > parts_max {
            let message = format!(
                "the request is too complex: expected at most {parts_max} fields, counted for each type"
            );
            return Err(RequestError {
                code: RequestError::TOO_COMPLEX,
                ..RequestError::new(message)
            });
        }
        let is_subscribed = |edge: &Edge| edge.condition == ConditionId::ALWAYS;
        if is_subscription && !root.edges.first().is_some_and(is_subscribed) {
            let message = "a subscription has exactly one field, without @skip and @include";
            return Err(RequestError::new(message.to_owned()));
        }
        let condition_variables = nullable_variables(&document, &operation);
        if !introspects {
            operation.make_mut().selection_set.selections.clear();
        }
        let document = introspects.then_some(document);
        Ok(Self { operation, document, root, conditions, condition_variables, parts })
    }
}

impl Node {
    const fn of(type_name: Name) -> Self {
        Self { type_name, leaves: Vec::new(), edges: Vec::new(), selections: Vec::new() }
    }
}

struct Builder<'a> {
    schema: &'a Schema,
    document: &'a Valid<ExecutableDocument>,
    conditions: Conditions,
    constants: Constants,
    introspects: bool,
    /// A mutation that the document selects several times.
    repeated: Option<Name>,
    parts: usize,
}

/// Nodes and fields of a plan. A field of a union has nodes for each of its types, so that a short document
/// can have many.
const PARTS_MAX: usize = 20_000;
/// Those of a subscription, whose plan is kept as long as it is open.
const SUBSCRIPTION_PARTS_MAX: usize = 1_000;

impl<'a> Builder<'a> {
    /// Adds a selection to a node, and what it needs. Returns its index.
    fn add_selection(&mut self, node: &mut Node, sets: Vec<Selected<'a>>) -> usize {
        self.parts += 1;
        let mut keys = IndexMap::default();
        // A plan that is too large is not completed.
        for (set, condition) in sets.into_iter().filter(|_| self.parts <= PARTS_MAX) {
            self.collect(&node.type_name, set, &condition, &mut keys);
        }
        let fields = keys.into_iter().filter_map(|(_, uses)| self.field(node, uses)).collect();
        node.selections.push(fields);
        node.selections.len() - 1
    }

    /// Collects the fields that a selection set has for objects of one type.
    fn collect(
        &self,
        type_name: &Name,
        set: &'a SelectionSet,
        condition: &Condition,
        keys: &mut IndexMap<Name, Occurrences<'a>>,
    ) {
        for selection in &set.selections {
            let condition = condition.and_directives(selection.directives());
            if condition.is_never() {
                continue;
            }
            match selection {
                Selection::Field(field) => {
                    let uses = keys.entry(field.response_key().clone()).or_default();
                    uses.push((field, condition));
                }
                Selection::InlineFragment(fragment) => {
                    let on = fragment.type_condition.as_ref();
                    if on.is_none_or(|on| self.includes(on, type_name)) {
                        self.collect(type_name, &fragment.selection_set, &condition, keys);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = self.document.fragments.get(&spread.fragment_name);
                    if let Some(fragment) = fragment
                        && self.includes(fragment.type_condition(), type_name)
                    {
                        self.collect(type_name, &fragment.selection_set, &condition, keys);
                    }
                }
            }
        }
    }

    /// Returns whether objects of a type are among those of a type condition.
    fn includes(&self, on: &Name, type_name: &Name) -> bool {
        on == type_name || self.schema.types.is_subtype(on, type_name)
    }

    fn field(&mut self, node: &mut Node, uses: Occurrences<'a>) -> Option<Field> {
        let (first, _) = uses.first()?;
        let first = *first;
        self.parts += 1;
        let mut condition = Condition::never();
        uses.iter().for_each(|(_, each)| condition.or(each));
        let condition = self.conditions.id(condition);
        let value = match first.name.as_str() {
            "__typename" => FieldValue::TypeName,
            "__schema" | "__type" => {
                self.introspects = true;
                FieldValue::Introspection
            }
            _ => self.value(node, first, condition, uses)?,
        };
        let ty = first.ty();
        let start = first.alias.as_ref().unwrap_or(&first.name);
        let location = start.location().and_then(|at| at.line_column(&self.document.sources));
        Some(Field {
            key: format!("\"{}\":", first.response_key()).into_bytes().into(),
            name: first.response_key().clone(),
            condition,
            is_nullable: !ty.is_non_null(),
            has_nullable_items: ty.is_list() && !ty.item_type().is_non_null(),
            value,
            location: location.map(|at| Location { line: at.line, column: at.column }),
        })
    }

    fn is_mutation(&self, name: &Name) -> bool {
        self.schema.types.root_operation(OperationType::Mutation) == Some(name)
    }

    /// Returns whether a type is the root of an operation. Its scalars are read, like objects.
    fn is_root(&self, name: &Name) -> bool {
        let mut roots = self.schema.types.schema_definition.iter_root_operations();
        roots.any(|(_, root)| **root == *name)
    }

    fn value(
        &mut self,
        node: &mut Node,
        first: &'a executable::Field,
        condition: ConditionId,
        uses: Occurrences<'a>,
    ) -> Option<FieldValue> {
        let object = self.schema.types.get_object(&node.type_name)?;
        let (index, _, definition) = object.fields.get_full(&first.name)?;
        let field = u16::try_from(index).ok()?;
        let is_leaf = self.schema.is_leaf(definition.ty.inner_named_type());
        if is_leaf && definition.arguments.is_empty() && !self.is_root(&node.type_name) {
            let leaf = (field, condition);
            if !node.leaves.contains(&leaf) {
                node.leaves.push(leaf);
            }
            return Some(FieldValue::Leaf(field));
        }
        let arguments = ArgumentPlan::all(definition, first, &mut self.constants);
        let is_same = |edge: &Edge| edge.field == field && edge.arguments == arguments;
        // Mutations are executed one after the other, even equal ones.
        let is_mutation = self.is_mutation(&node.type_name);
        if is_mutation && uses.len() > 1 {
            self.repeated = Some(first.response_key().clone());
        }
        let shared = node.edges.iter().position(is_same).filter(|_| !is_mutation);
        let edge = shared.unwrap_or_else(|| {
            let types = self.schema.object_types(definition.ty.inner_named_type());
            let nodes = types.into_iter().filter(|_| !is_leaf).map(Node::of).collect();
            let size = match self.schema.sizes.of(&node.type_name) {
                // A page counts where it is selected.
                Some(_) => EdgeSize::One,
                None => EdgeSize::of(&self.schema.sizes, &node.type_name, definition),
            };
            node.edges.push(Edge { field, arguments, condition: ConditionId::NEVER, size, nodes });
            node.edges.len() - 1
        });
        // Also the condition of the field itself: fields that share an edge share its objects, and what one
        // of them selects must not be read for another.
        let sets: Vec<Selected<'a>> =
            uses.into_iter().map(|(field, own)| (&field.selection_set, own)).collect();
        let Edge { nodes, condition: any, .. } = node.edges.get_mut(edge)?;
        *any = self.conditions.either(*any, condition);
        let mut selection = 0;
        for node in nodes {
            selection = self.add_selection(node, sets.clone());
        }
        Some(FieldValue::Edge { edge, selection })
    }
}
