//! The cost of a plan, known before the first read: how many fields, objects, table operations and bytes
//! an answer has at most.

use super::{ArgumentPlan, Edge, FieldValue, Node, Plan, Variables};
use crate::schema::PageSizes;

/// What a list counts apart from its items, in fields: it is a separate read.
const LIST_FIELDS: u64 = 10;
/// The assumed length of a list without pages.
const UNPAGED_ITEMS: u64 = 5;
/// The objects that one table operation reads at most, where many are read by their keys.
const BATCH_ITEMS: u64 = 100;
/// The operations that one read of a list, or of a batch of objects, takes at most: the items, what
/// decides whether the viewer may see them, and what belongs to them.
const READ_OPERATIONS: u64 = 20;
/// The operations that the value of one field takes at most, for a batch of objects: some are counted in
/// several items.
const FACT_OPERATIONS: u64 = 2;
/// What is written around a value: a comma, quotes, brackets.
const PUNCTUATION_BYTES: u64 = 6;

/// Upper bounds of what an execution takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCost {
    /// Fields of the answer; those in a list count once per item of its page.
    pub fields: u64,
    /// Objects that are read.
    pub items: u64,
    /// Table operations. Reads of a feed take more while its reader's circle is not in memory.
    pub operations: u64,
    /// Bytes of the answer, without errors.
    pub bytes: u64,
}

/// How many children an edge may find for each parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EdgeSize {
    One,
    /// A list without pages.
    Unpaged,
    /// A page: its usual size, and the places of the arguments that set another, the stronger first.
    Page {
        default: u64,
        max: u64,
        arguments: Vec<usize>,
    },
    /// As many as the list that is the argument at this place.
    Given(usize),
}

impl EdgeSize {
    /// Returns the size of a field by its type and arguments.
    pub(super) fn of(
        sizes: &PageSizes,
        definition: &apollo_compiler::ast::FieldDefinition,
    ) -> Self {
        let name = definition.ty.inner_named_type().as_str();
        let place = |wanted: &str| definition.arguments.iter().position(|it| it.name == wanted);
        if let Some(default) = sizes.of(name) {
            let arguments = sizes.arguments.iter().filter_map(|name| place(name)).collect();
            return Self::Page { default, max: sizes.max, arguments };
        }
        if !definition.ty.is_list() {
            return Self::One;
        }
        let given = definition.arguments.iter().position(|it| it.ty.is_list());
        given.map_or(Self::Unpaged, Self::Given)
    }

    /// Returns how many children each parent has at most.
    fn items(&self, arguments: &[ArgumentPlan], variables: &Variables) -> u64 {
        let value = |place: &usize| arguments.get(*place)?.value(variables);
        match self {
            Self::One => 1,
            Self::Unpaged => UNPAGED_ITEMS,
            Self::Page { default, max, arguments } => {
                let mut given = arguments.iter().filter_map(|place| value(place)?.as_u64());
                given.next().unwrap_or(*default).clamp(1, *max)
            }
            Self::Given(place) => {
                let items = value(place).and_then(|value| value.as_array().map(Vec::len));
                items.map_or(1, |items| items as u64)
            }
        }
    }

    /// Returns whether each parent needs a read of its own.
    const fn is_read_for_each(&self) -> bool {
        !matches!(self, Self::One)
    }
}

impl Plan {
    /// Returns the cost of the plan with these variables.
    pub(crate) fn cost(&self, variables: &Variables) -> RequestCost {
        let mut cost = RequestCost::default();
        self.root.add_answer(0, 1, variables, &mut cost);
        self.root.add_reads(1, variables, &mut cost);
        cost
    }
}

impl Node {
    /// Adds what a selection of `rows` objects takes in the answer.
    fn add_answer(&self, selection: usize, rows: u64, variables: &Variables, to: &mut RequestCost) {
        let fields = self.selections.get(selection).into_iter().flatten();
        for field in fields.filter(|field| field.condition.holds(variables)) {
            let key = field.key.len() as u64 + PUNCTUATION_BYTES;
            to.fields = to.fields.saturating_add(rows);
            to.bytes = to.bytes.saturating_add(rows.saturating_mul(key + field.bytes_max));
            let FieldValue::Edge { edge, selection } = &field.value else { continue };
            if let Some(edge) = self.edges.get(*edge) {
                edge.add_answer(*selection, rows, variables, to);
            }
        }
    }

    /// Adds what reading everything below `rows` objects takes. Fields that share an edge share its read.
    fn add_reads(&self, rows: u64, variables: &Variables, to: &mut RequestCost) {
        let facts = (self.leaves.len() as u64).saturating_mul(FACT_OPERATIONS);
        to.operations =
            to.operations.saturating_add(rows.div_ceil(BATCH_ITEMS).saturating_mul(facts));
        for edge in self.edges.iter().filter(|edge| edge.condition.holds(variables)) {
            let children = rows.saturating_mul(edge.size.items(&edge.arguments, variables));
            let reads = if edge.size.is_read_for_each() {
                rows.saturating_mul(1 + children.div_ceil(rows.max(1)) / BATCH_ITEMS)
            } else {
                rows.div_ceil(BATCH_ITEMS)
            };
            to.add_operations(reads);
            to.items = to.items.saturating_add(children);
            // A child has one of the types, but each type may need reads of its own.
            let mut items = 0;
            for node in &edge.nodes {
                let mut below = RequestCost::default();
                node.add_reads(children, variables, &mut below);
                to.operations = to.operations.saturating_add(below.operations);
                items = items.max(below.items);
            }
            to.items = to.items.saturating_add(items);
        }
    }
}

impl Edge {
    fn add_answer(&self, selection: usize, rows: u64, variables: &Variables, to: &mut RequestCost) {
        let children = rows.saturating_mul(self.size.items(&self.arguments, variables));
        if matches!(self.size, EdgeSize::Page { .. } | EdgeSize::Given(_)) {
            to.fields = to.fields.saturating_add(rows.saturating_mul(LIST_FIELDS));
        }
        to.bytes = to.bytes.saturating_add(children.saturating_mul(PUNCTUATION_BYTES));
        let of_types = self.nodes.iter().map(|node| {
            let mut below = RequestCost::default();
            node.add_answer(selection, children, variables, &mut below);
            below
        });
        to.add(of_types.fold(RequestCost::default(), RequestCost::max));
    }
}

impl RequestCost {
    fn add(&mut self, other: Self) {
        self.fields = self.fields.saturating_add(other.fields);
        self.items = self.items.saturating_add(other.items);
        self.operations = self.operations.saturating_add(other.operations);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    fn add_operations(&mut self, reads: u64) {
        self.operations = self.operations.saturating_add(reads.saturating_mul(READ_OPERATIONS));
    }

    /// Returns the larger of each bound.
    fn max(self, other: Self) -> Self {
        Self {
            fields: self.fields.max(other.fields),
            items: self.items.max(other.items),
            operations: self.operations.max(other.operations),
            bytes: self.bytes.max(other.bytes),
        }
    }
}
