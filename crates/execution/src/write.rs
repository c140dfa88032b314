//! Writing: depth first, in the order of the document. A failed field that must not be null takes the
//! nearest object around it that may be, as the specification demands (6.4.4, "Handling Field Errors").

use crate::answer::Answer;
use crate::column::Slot;
use crate::error::{ErrorList, FieldError, PathStep, RequestError};
use crate::introspect::AboutSchema;
use crate::plan::{Field, FieldValue, Node};
use crate::resolve::{Execution, Resolved};
use crate::rows::Rows;
use crate::writer::Writer;

/// The bytes that an answer starts with room for.
const CAPACITY: usize = 16 * 1024;

pub(crate) struct AnswerWriter<'a, C> {
    execution: &'a Execution<'a, C>,
    about_schema: &'a AboutSchema,
    out: Writer,
    path: Vec<PathStep<'a>>,
    errors: ErrorList,
}

/// The reason that a value is not written.
enum Unwritten {
    /// A field of it failed, and must not be null.
    Nulled,
    /// The answer is longer than allowed.
    TooLong,
}

impl<'a, C: 'static> AnswerWriter<'a, C> {
    pub(crate) fn new(execution: &'a Execution<'a, C>, about_schema: &'a AboutSchema) -> Self {
        Self {
            execution,
            about_schema,
            out: Writer::with_capacity(CAPACITY),
            path: Vec::new(),
            errors: ErrorList::default(),
        }
    }

    pub(crate) fn write(
        mut self,
        root: &'a Node,
        rows: &dyn Rows<C>,
        edges: &[Option<Resolved<C>>],
    ) -> Answer {
        self.out.raw(b"{\"data\":");
        let start = self.out.len();
        let written = self.object(root, 0, rows, 0, edges);
        if written.is_err() {
            self.out.truncate(start);
            self.out.null();
        }
        if matches!(written, Err(Unwritten::TooLong)) {
            let max = self.execution.answer_bytes_max;
            let message = format!(
                "the answer is longer than {max} bytes: select fewer fields, or ask for smaller pages"
            );
            let error = FieldError { code: RequestError::TOO_COMPLEX, message };
            self.errors = ErrorList::default();
            self.errors.add(&error, &[], None);
        }
        Answer::executed(self.out, self.errors)
    }

    fn object(
        &mut self,
        node: &'a Node,
        selection: usize,
        rows: &dyn Rows<C>,
        row: usize,
        edges: &[Option<Resolved<C>>],
    ) -> Result<(), Unwritten> {
        let fields: &'a [Field] = node.selections.get(selection).map_or(&[], Vec::as_slice);
        let mut opening: &[u8] = b"{";
        for field in fields {
            if !field.condition.holds(self.execution.variables) {
                continue;
            }
            self.out.raw(opening);
            opening = b",";
            self.out.raw(&field.key);
            self.path.push(PathStep::Key(field.name.as_str()));
            let start = self.out.len();
            let written = match &field.value {
                FieldValue::TypeName => {
                    self.out.text(node.type_name.as_str());
                    Ok(())
                }
                FieldValue::Leaf(index) => rows
                    .write_leaf(row, self.execution.context, *index, &mut self.out)
                    .map_err(|error| self.fail(field, &error)),
                FieldValue::Edge { edge, selection } => {
                    self.edge(node, field, (*edge, *selection), row, edges)
                }
                FieldValue::Introspection => self.introspected(field),
            };
            self.or_null(field.is_nullable, start, written)?;
            self.path.pop();
        }
        self.out.raw(if opening == b"{" { b"{}" } else { b"}" });
        if self.is_too_long() { Err(Unwritten::TooLong) } else { Ok(()) }
    }

    fn is_too_long(&self) -> bool {
        self.out.len() + self.errors.bytes() > self.execution.answer_bytes_max
    }

    fn edge(
        &mut self,
        node: &'a Node,
        field: &'a Field,
        (edge, selection): (usize, usize),
        row: usize,
        edges: &[Option<Resolved<C>>],
    ) -> Result<(), Unwritten> {
        let nodes = node.edges.get(edge).map_or(&[][..], |edge| edge.nodes.as_slice());
        let resolved = edges.get(edge).and_then(Option::as_ref);
        let Some((resolved, slot)) = resolved.and_then(|it| Some((it, it.column.slots.get(row)?)))
        else {
            return Err(self.fail(field, &FieldError::unexpected_null()));
        };
        let Slot::List(range) = slot else {
            return self.child(nodes, field, selection, resolved, slot, field.is_nullable);
        };
        let mut opening: &[u8] = b"[";
        let items = resolved.column.items.get(range.clone()).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            self.out.raw(opening);
            opening = b",";
            self.path.push(PathStep::Index(index));
            let (start, nullable) = (self.out.len(), field.has_nullable_items);
            let written = self.child(nodes, field, selection, resolved, item, nullable);
            self.or_null(nullable, start, written)?;
            self.path.pop();
        }
        self.out.raw(if opening == b"[" { b"[]" } else { b"]" });
        Ok(())
    }

    /// Writes one object, or null.
    fn child(
        &mut self,
        nodes: &'a [Node],
        field: &'a Field,
        selection: usize,
        resolved: &Resolved<C>,
        slot: &Slot,
        is_nullable: bool,
    ) -> Result<(), Unwritten> {
        match slot {
            Slot::Null if is_nullable => {
                self.out.null();
                Ok(())
            }
            Slot::Null | Slot::List(_) => Err(self.fail(field, &FieldError::unexpected_null())),
            Slot::Json(json) => {
                self.out.raw(json);
                Ok(())
            }
            Slot::Failed(error) => Err(self.fail(field, error)),
            Slot::Object { part, row } => {
                let below = resolved.parts.get(*part).zip(resolved.column.parts.get(*part));
                let found = below.and_then(|(below, part)| {
                    Some((nodes.get(below.node)?, &*part.rows, &below.edges))
                });
                match found {
                    Some((node, rows, edges)) => self.object(node, selection, rows, *row, edges),
                    None => Err(self.fail(field, &FieldError::unexpected_null())),
                }
            }
        }
    }

    fn introspected(&mut self, field: &'a Field) -> Result<(), Unwritten> {
        if let Some(error) = self.about_schema.failure() {
            return Err(self.fail(field, &error));
        }
        let has_failed = self.about_schema.list_errors(field, &mut self.errors);
        match self.about_schema.value(field) {
            Some(value) => self.out.value(value),
            None if field.is_nullable => self.out.null(),
            None if has_failed => return Err(Unwritten::Nulled),
            None => return Err(self.fail(field, &FieldError::unexpected_null())),
        }
        Ok(())
    }

    /// Replaces what was written since `start` by null if it failed and may be null.
    fn or_null(
        &mut self,
        is_nullable: bool,
        start: usize,
        written: Result<(), Unwritten>,
    ) -> Result<(), Unwritten> {
        match written {
            Err(Unwritten::Nulled) if is_nullable => {
                self.out.truncate(start);
                self.out.null();
                Ok(())
            }
            Err(unwritten) => {
                // The object around it goes on with its own path.
                self.path.pop();
                Err(unwritten)
            }
            Ok(()) => Ok(()),
        }
    }

    /// Records an error at the current path.
    fn fail(&mut self, field: &Field, error: &FieldError) -> Unwritten {
        self.errors.add(error, &self.path, field.location);
        if self.is_too_long() { Unwritten::TooLong } else { Unwritten::Nulled }
    }
}
