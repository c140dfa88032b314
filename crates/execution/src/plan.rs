//! Plans: documents in the form in which they are executed.
//!
//! A plan is a tree of nodes. A [`Node`] stands for all objects of one type at one place of the answer.
//! Its edges lead to further nodes, and are read once for all of its objects. Two fields that read the
//! same (`a: author { id } b: author { nickname }`) share an edge: the node behind it has a selection for
//! each of them.

mod arguments;
mod build;
mod condition;
mod cost;
mod variables;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::Operation;
pub use apollo_compiler::executable::OperationType;
use apollo_compiler::validation::Valid;

pub(crate) use self::arguments::ArgumentPlan;
pub(crate) use self::condition::{Condition, ConditionId, Conditions};
pub(crate) use self::cost::EdgeSize;
pub use self::cost::RequestCost;
pub use self::variables::Variables;
use crate::error::Location;

/// An operation that is ready to be executed with any variables.
#[derive(Debug)]
pub struct Plan {
    /// The operation; without its selection, which is planned, unless it asks for the schema itself.
    pub(crate) operation: apollo_compiler::Node<Operation>,
    /// The document of an operation that asks for the schema itself.
    pub(crate) document: Option<Valid<ExecutableDocument>>,
    pub(crate) root: Node,
    conditions: Conditions,
    /// Variables that conditions use, and that may be null.
    condition_variables: Vec<apollo_compiler::Name>,
    /// The number of its nodes and fields.
    pub(crate) parts: usize,
}

/// All objects of one type at one place of the answer.
#[derive(Debug)]
pub(crate) struct Node {
    /// The name of the type.
    pub(crate) type_name: apollo_compiler::Name,
    /// The leaf fields of all selections.
    pub(crate) leaves: Vec<(u16, ConditionId)>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) selections: Vec<Vec<Field>>,
}

/// A read of children.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) field: u16,
    pub(crate) arguments: Vec<ArgumentPlan>,
    /// Holds when any of the fields that share the edge is part of the answer.
    pub(crate) condition: ConditionId,
    pub(crate) size: EdgeSize,
    /// A node for each type that the children may have.
    pub(crate) nodes: Vec<Node>,
}

/// A field of the answer.
#[derive(Debug)]
pub(crate) struct Field {
    /// The key as it is written, with quotes and colon.
    pub(crate) key: Box<[u8]>,
    pub(crate) name: apollo_compiler::Name,
    pub(crate) condition: ConditionId,
    pub(crate) is_nullable: bool,
    pub(crate) has_nullable_items: bool,
    pub(crate) value: FieldValue,
    pub(crate) location: Option<Location>,
}

#[derive(Debug)]
pub(crate) enum FieldValue {
    TypeName,
    Leaf(u16),
    /// A selection behind an edge of the same node.
    Edge {
        edge: usize,
        selection: usize,
    },
    /// A field about the schema.
    Introspection,
}

impl Plan {
    pub fn operation_type(&self) -> OperationType {
        self.operation.operation_type
    }

    /// Returns whether the operation asks for the schema itself.
    pub(crate) const fn introspects(&self) -> bool {
        self.document.is_some()
    }
}
