//! The cost of a plan, known before the first read: every field counts once, and fields in a list once
//! per item of its page.

use super::{ArgumentPlan, Edge, FieldValue, Node, Plan, Variables};
use crate::schema::PageSizes;

/// The cost of a list apart from its items: it is a separate read.
const LIST_COST: u64 = 10;
/// The assumed length of a list without pages.
const UNPAGED_ITEMS: u64 = 5;

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

    /// Returns how often the selections behind the edge count, and the extra cost of the edge itself.
    fn cost(&self, arguments: &[ArgumentPlan], variables: &Variables) -> (u64, u64) {
        let value = |place: &usize| arguments.get(*place)?.value(variables);
        match self {
            Self::One => (1, 0),
            Self::Unpaged => (UNPAGED_ITEMS, 0),
            Self::Page { default, max, arguments } => {
                let mut given = arguments.iter().filter_map(|place| value(place)?.as_u64());
                (given.next().unwrap_or(*default).clamp(1, *max), LIST_COST)
            }
            Self::Given(place) => {
                let items = value(place).and_then(|value| value.as_array().map(Vec::len));
                (items.map_or(1, |items| items as u64), LIST_COST)
            }
        }
    }
}

impl Plan {
    /// Returns the cost of the plan with these variables.
    pub(crate) fn cost(&self, variables: &Variables) -> u64 {
        self.root.cost(0, variables)
    }
}

impl Node {
    fn cost(&self, selection: usize, variables: &Variables) -> u64 {
        let fields = self.selections.get(selection).into_iter().flatten();
        let cost = fields.map(|field| match &field.value {
            FieldValue::Edge { edge, selection } => {
                let edge = self.edges.get(*edge);
                edge.map_or(1, |edge| edge.cost(*selection, variables))
            }
            _ => 1,
        });
        cost.fold(0, u64::saturating_add)
    }
}

impl Edge {
    fn cost(&self, selection: usize, variables: &Variables) -> u64 {
        let below = self.nodes.iter().map(|node| node.cost(selection, variables));
        // A child has one of the types.
        let below = below.max().unwrap_or(0);
        let (times, extra) = self.size.cost(&self.arguments, variables);
        below.saturating_mul(times).saturating_add(1 + extra)
    }
}
