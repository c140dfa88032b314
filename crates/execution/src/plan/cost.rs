//! The cost of a plan, known before the first read: how many fields, objects and table operations an answer
//! takes at most.

use apollo_compiler::ast::FieldDefinition;

use super::{ArgumentPlan, Edge, FieldValue, Node, Plan, Variables};
use crate::schema::PageSizes;

/// The cost of a list apart from its items, in fields: it is a separate read.
const LIST_FIELDS: u64 = 10;
/// The objects that one table operation reads at most, where many are read by their keys.
const BATCH_ITEMS: u64 = 100;
/// The operations that one read of a list, or of a batch of objects, takes at most: the items, what
/// decides whether the viewer may see them, and what belongs to them.
const READ_OPERATIONS: u64 = 20;
/// The operations that the value of one field takes at most, for a batch of objects: some are counted in
/// several items.
const SHARED_VALUE_OPERATIONS: u64 = 2;

/// Upper bounds of what an execution takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCost {
    /// Fields of the answer; those in a list count once per item of its page.
    pub fields: u64,
    /// Objects that are read.
    pub items: u64,
    /// Table operations. Reads of a feed take more while its reader's circle is not in memory.
    pub operations: u64,
}

/// The number of children that an edge may find for each parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EdgeSize {
    One,
    /// A list without pages, and its greatest length. It is read for all parents at once.
    List(u64),
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
    /// Returns the size of a field of a type.
    pub(super) fn of(sizes: &PageSizes, type_name: &str, definition: &FieldDefinition) -> Self {
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
        given.map_or_else(|| Self::List(sizes.of_list(type_name, &definition.name)), Self::Given)
    }

    /// Returns how many children each parent has at most. Arguments are not copied: a client may send a
    /// long list, which many fields share.
    fn items(&self, arguments: &[ArgumentPlan], variables: &Variables) -> u64 {
        match self {
            Self::One => 1,
            Self::List(items) => *items,
            Self::Page { default, max, arguments: places } => {
                let number = |place: &usize| arguments.get(*place)?.known(variables)?.as_u64();
                places.iter().find_map(number).unwrap_or(*default).clamp(1, *max)
            }
            Self::Given(place) => {
                let items = arguments.get(*place).and_then(|it| it.items(variables));
                items.map_or(1, |items| items as u64)
            }
        }
    }

    /// Returns whether each parent needs a read of its own.
    const fn is_read_for_each(&self) -> bool {
        matches!(self, Self::Page { .. } | Self::Given(_))
    }
}

impl Plan {
    /// Returns the cost of the plan with these variables.
    pub(crate) fn cost(&self, variables: &Variables) -> RequestCost {
        let fields = self.root.fields(0, 1, variables);
        let mut cost = RequestCost { fields, ..RequestCost::default() };
        self.root.add_reads(1, variables, &mut cost);
        cost
    }
}

impl Node {
    /// Returns how many fields a selection of `rows` objects has in the answer.
    fn fields(&self, selection: usize, rows: u64, variables: &Variables) -> u64 {
        let fields = self.selections.get(selection).into_iter().flatten();
        let fields = fields.filter(|field| field.condition.holds(variables));
        let fields = fields.map(|field| match field.value {
            FieldValue::Edge { edge, selection } => {
                let edge = self.edges.get(edge);
                rows.saturating_add(edge.map_or(0, |it| it.fields(selection, rows, variables)))
            }
            _ => rows,
        });
        fields.fold(0, u64::saturating_add)
    }

    /// Adds what reading everything below `rows` objects takes. Fields that share an edge share its read.
    fn add_reads(&self, rows: u64, variables: &Variables, to: &mut RequestCost) {
        let shared_values = (self.leaves.len() as u64).saturating_mul(SHARED_VALUE_OPERATIONS);
        to.add_operations(rows.div_ceil(BATCH_ITEMS), shared_values);
        for edge in self.edges.iter().filter(|edge| edge.condition.holds(variables)) {
            let items = edge.size.items(&edge.arguments, variables);
            let children = rows.saturating_mul(items);
            let reads = if edge.size.is_read_for_each() {
                rows.saturating_mul(1 + items / BATCH_ITEMS)
            } else {
                children.div_ceil(BATCH_ITEMS)
            };
            to.add_operations(reads, READ_OPERATIONS);
            to.items = to.items.saturating_add(children);
            // A child has one of the types, but each type may need reads of its own.
            let mut items = 0;
            for node in &edge.nodes {
                let mut below = RequestCost::default();
                node.add_reads(children, variables, &mut below);
                to.add_operations(below.operations, 1);
                items = items.max(below.items);
            }
            to.items = to.items.saturating_add(items);
        }
    }
}

impl Edge {
    fn fields(&self, selection: usize, rows: u64, variables: &Variables) -> u64 {
        let children = rows.saturating_mul(self.size.items(&self.arguments, variables));
        let own = if self.size.is_read_for_each() { rows.saturating_mul(LIST_FIELDS) } else { 0 };
        let of_types = self.nodes.iter().map(|node| node.fields(selection, children, variables));
        own.saturating_add(of_types.max().unwrap_or_default())
    }
}

impl RequestCost {
    fn add_operations(&mut self, reads: u64, of_each: u64) {
        self.operations = self.operations.saturating_add(reads.saturating_mul(of_each));
    }
}
