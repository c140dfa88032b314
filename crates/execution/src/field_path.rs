//! The field whose resolver is running, so that an observer can name it with what the resolver does.
//!
//! Resolvers of one request take turns on one thread, and may continue on another. So the field is set
//! whenever its future is polled, and reset afterwards.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as PollContext, Poll};

use futures::future::BoxFuture;

use crate::plan::{Edge, FieldValue, Node};
use crate::resolve::Execution;
use crate::rows::{Context, Rows};

/// A field of a request.
#[derive(Debug, PartialEq, Eq)]
pub struct FieldPath {
    /// The type and the field, as the schema calls them: `Post.author`.
    pub field: String,
    /// The keys that lead to it in the answer, without the places in lists: `getFeed.items.post.author`.
    pub path: String,
}

/// The field that is running on this thread.
#[derive(Clone, Debug)]
enum Running {
    Field(Arc<FieldPath>),
    /// The shared values of several leaf fields, and the path of each.
    SharedValues(Arc<[(u16, Arc<FieldPath>)]>),
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// Returns the field whose resolver is running, if the context traces fields.
pub fn current_field() -> Option<Arc<FieldPath>> {
    RUNNING.with_borrow(|running| match running {
        Some(Running::Field(path)) => Some(Arc::clone(path)),
        _ => None,
    })
}

/// A read on behalf of a field.
pub(crate) struct InField<'a, T> {
    running: Running,
    read: BoxFuture<'a, T>,
}

impl<'a, T> InField<'a, T> {
    pub(crate) fn new(path: FieldPath, read: BoxFuture<'a, T>) -> Self {
        Self { running: Running::Field(Arc::new(path)), read }
    }
}

impl<T> Future for InField<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut PollContext<'_>) -> Poll<T> {
        let _reset = Reset(RUNNING.replace(Some(self.running.clone())));
        self.read.as_mut().poll(context)
    }
}

/// Restores what was running before, also after a panic.
struct Reset(Option<Running>);

impl Drop for Reset {
    fn drop(&mut self) {
        RUNNING.set(self.0.take());
    }
}

/// Reads a shared value on behalf of a leaf field.
pub(crate) async fn in_leaf<T>(field: u16, read: BoxFuture<'_, T>) -> T {
    let path = RUNNING.with_borrow(|running| match running {
        Some(Running::SharedValues(paths)) => {
            paths.iter().find(|(index, _)| *index == field).cloned()
        }
        _ => None,
    });
    match path {
        Some((_, path)) => InField { running: Running::Field(path), read }.await,
        None => read.await,
    }
}

impl<C: Context> Execution<'_, C> {
    /// Reads the shared values of leaf fields.
    pub(crate) fn shared_values<'b>(
        &'b self,
        node: &Node,
        leaves: &'b [u16],
        rows: &'b dyn Rows<C>,
    ) -> BoxFuture<'b, ()> {
        let read = rows.read_shared_values(self.context, leaves);
        if !self.context.traces_fields() {
            return read;
        }
        let path = |field: &u16| {
            let is_leaf = |value: &FieldValue| matches!(value, FieldValue::Leaf(it) if it == field);
            (*field, Arc::new(self.path(node, *field, is_leaf)))
        };
        let running = Running::SharedValues(leaves.iter().map(path).collect());
        Box::pin(InField { running, read })
    }

    pub(crate) fn edge_path(&self, node: &Node, edge: &Edge) -> FieldPath {
        let place = node.edges.iter().position(|each| std::ptr::eq(each, edge));
        self.path(
            node,
            edge.field,
            |value| matches!(value, FieldValue::Edge { edge, .. } if Some(*edge) == place),
        )
    }

    /// Returns the path of a field below the one that is running, which found the objects of the node.
    fn path(&self, node: &Node, field: u16, reads: impl Fn(&FieldValue) -> bool) -> FieldPath {
        let object = self.schema.types.get_object(&node.type_name);
        let name = object.and_then(|object| object.fields.get_index(field.into()));
        let name = name.map_or("", |(name, _)| name.as_str());
        // Several keys may share a read: the first of them stands for all.
        let mut fields = node.selections.iter().flatten();
        let is_read = |field: &&crate::plan::Field| {
            reads(&field.value) && field.condition.holds(self.variables)
        };
        let key = fields.find(is_read).map_or(name, |field| field.name.as_str());
        let above = current_field();
        let path = above.map_or_else(|| key.to_owned(), |above| format!("{}.{key}", above.path));
        FieldPath { field: format!("{}.{name}", node.type_name), path }
    }
}
