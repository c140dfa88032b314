//! Reading: each edge of a plan once, for all of its parents.

use std::time::Instant;

use futures::future::{BoxFuture, join, join_all};

use crate::answer::{Answer, AnswerTimes};
use crate::column::Column;
use crate::documents::{Documents, PreparedRequest};
use crate::error::FieldError;
use crate::field_path::InField;
use crate::generated::{ready, unknown_edge, unknown_leaf};
use crate::input::Arguments;
use crate::introspect::AboutSchema;
use crate::plan::{Edge, Node, OperationType, Variables};
use crate::rows::{Context, Object, Objects, Rows};
use crate::schema::Schema;
use crate::write::AnswerWriter;
use crate::writer::Writer;

/// The children that an edge found, and everything below them.
pub(crate) struct Resolved<C> {
    pub(crate) column: Column<C>,
    /// For each part of the column: the edges of its node, `None` if they are not part of the answer.
    pub(crate) parts: Vec<ResolvedNode<C>>,
}

pub(crate) struct ResolvedNode<C> {
    /// The index of the node in its edge.
    pub(crate) node: usize,
    pub(crate) edges: Vec<Option<Resolved<C>>>,
}

/// One execution of a plan.
pub(crate) struct Execution<'a, C> {
    pub(crate) context: &'a C,
    pub(crate) schema: &'a Schema,
    pub(crate) variables: &'a Variables,
    pub(crate) answer_bytes_max: usize,
}

/// Executes a query or a mutation on the root object of its type.
pub async fn execute<T: Object>(
    documents: &Documents,
    request: &PreparedRequest,
    context: &T::Context,
    root: T,
) -> Answer {
    let PreparedRequest { plan, variables, .. } = request;
    let answer_bytes_max = documents.limits().answer_bytes_max;
    let schema = documents.schema();
    let execution = Execution { context, schema, variables, answer_bytes_max };
    let started = Instant::now();
    let rows = Objects::new(vec![root]);
    let edges = match plan.operation_type() {
        OperationType::Mutation => execution.one_by_one(&plan.root, &rows).await,
        _ => execution.node(&plan.root, &rows).await,
    };
    let about_schema = AboutSchema::of(documents.schema(), plan, variables);
    let write = || AnswerWriter::new(&execution, &about_schema).write(&plan.root, &rows, &edges);
    timed(started, write)
}

/// Writes an answer, and takes the time.
fn timed(started: Instant, write: impl FnOnce() -> Answer) -> Answer {
    let reading = started.elapsed();
    let answer = write();
    let writing = started.elapsed().saturating_sub(reading);
    answer.with_times(AnswerTimes { reading, writing })
}

/// Answers an event of a subscription.
pub async fn execute_event<C: Context>(
    documents: &Documents,
    request: &PreparedRequest,
    context: &C,
    event: Column<C>,
) -> Answer {
    context.start_step();
    let PreparedRequest { plan, variables, .. } = request;
    let answer_bytes_max = documents.limits().answer_bytes_max;
    let schema = documents.schema();
    let execution = Execution { context, schema, variables, answer_bytes_max };
    let (started, mut edges) = (Instant::now(), Vec::new());
    if let Some(edge) = plan.root.edges.first() {
        edges.push(Some(execution.column(edge, event).await));
    }
    let about_schema = AboutSchema::default();
    timed(started, || {
        AnswerWriter::new(&execution, &about_schema).write(&plan.root, &NoRows, &edges)
    })
}

/// Returns the root field of a subscription, and its arguments.
pub fn subscribed_field(request: &PreparedRequest) -> Option<(u16, Arguments)> {
    let edge = request.plan.root.edges.first()?;
    Some((edge.field, Arguments::of(edge, &request.variables)))
}

impl<C: Context> Execution<'_, C> {
    /// Reads everything below the objects of a node.
    fn node<'b>(
        &'b self,
        node: &'b Node,
        rows: &'b dyn Rows<C>,
    ) -> BoxFuture<'b, Vec<Option<Resolved<C>>>> {
        Box::pin(async move {
            let leaves = node.leaves.iter().filter(|(_, when)| when.holds(self.variables));
            let leaves: Vec<u16> = leaves.map(|(field, _)| *field).collect();
            let shared_values = self.shared_values(node, &leaves, rows);
            let edges = node.edges.iter().map(|edge| self.edge(node, edge, rows));
            let ((), edges) = join(shared_values, join_all(edges)).await;
            edges
        })
    }

    /// Reads the edges of a node one after the other.
    async fn one_by_one(&self, node: &Node, rows: &dyn Rows<C>) -> Vec<Option<Resolved<C>>> {
        let mut edges = Vec::with_capacity(node.edges.len());
        for edge in &node.edges {
            self.context.start_step();
            edges.push(self.edge(node, edge, rows).await);
        }
        edges
    }

    async fn edge(&self, node: &Node, edge: &Edge, rows: &dyn Rows<C>) -> Option<Resolved<C>> {
        if !edge.condition.holds(self.variables) {
            return None;
        }
        if self.context.traces_fields() {
            let path = self.edge_path(node, edge);
            return Some(InField::new(path, Box::pin(self.read(edge, rows))).await);
        }
        Some(self.read(edge, rows).await)
    }

    async fn read(&self, edge: &Edge, rows: &dyn Rows<C>) -> Resolved<C> {
        let arguments = Arguments::of(edge, self.variables);
        let column = rows.read_edge(self.context, edge.field, &arguments).await;
        self.column(edge, column).await
    }

    /// Reads everything below the children that an edge found.
    async fn column(&self, edge: &Edge, column: Column<C>) -> Resolved<C> {
        let parts = column.parts.iter().map(|part| async {
            let mut nodes = edge.nodes.iter();
            let node = nodes.position(|node| node.type_name == part.type_name);
            let found = node.and_then(|index| edge.nodes.get(index));
            match (node, found) {
                (Some(index), Some(node)) => {
                    ResolvedNode { node: index, edges: self.node(node, &*part.rows).await }
                }
                // Columns are checked against the schema when they are compiled.
                _ => ResolvedNode { node: usize::MAX, edges: Vec::new() },
            }
        });
        let parts = join_all(parts).await;
        Resolved { column, parts }
    }
}

/// The root of a subscription, which has no fields but its event.
struct NoRows;

impl<C: Context> Rows<C> for NoRows {
    fn read_shared_values<'a>(&'a self, _: &'a C, _: &'a [u16]) -> BoxFuture<'a, ()> {
        ready(())
    }

    fn read_edge<'a>(&'a self, _: &'a C, _: u16, _: &'a Arguments) -> BoxFuture<'a, Column<C>> {
        unknown_edge(1)
    }

    fn write_leaf(&self, _: usize, _: &C, _: u16, _: &mut Writer) -> Result<(), FieldError> {
        Err(unknown_leaf())
    }
}

impl FieldError {
    pub(crate) fn unexpected_null() -> Self {
        Self::internal("a value that must not be null is missing")
    }
}
