//! The five design documents that our table replaces, as data: their own tables, the shapes of their
//! items and every query they state.

mod s0;
mod s1;
mod s2;
mod s3;
mod s4;

use roundtable_table::{KeyDefinition, TableDefinition};

pub(crate) use s0::S0;
pub(crate) use s1::S1;
pub(crate) use s2::S2;
pub(crate) use s3::{S3, S3_MVP};
pub(crate) use s4::S4;

/// Every design. The third document holds two designs, a small one and the fuller one that follows it.
pub(crate) const DOCUMENTS: &[&Document] = &[&S0, &S1, &S2, &S3_MVP, &S3, &S4];

/// A design.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) name: &'static str,
    /// The name of its table, with the keys `PK` and `SK`.
    pub(crate) table: &'static str,
    /// Its indexes. Their keys are named after them: `GSI1PK` and `GSI1SK`.
    pub(crate) indexes: &'static [&'static str],
    /// The attribute by which items expire.
    pub(crate) ttl: Option<&'static str>,
    pub(crate) stream: bool,
    /// True if its items name their entity in `type`.
    pub(crate) typed: bool,
    pub(crate) shapes: &'static [DocumentShape],
    pub(crate) questions: &'static [DocumentQuestion],
}

impl Document {
    /// Returns the definition of its table.
    pub(crate) fn definition(&self) -> TableDefinition {
        let table = TableDefinition::new(self.table, KeyDefinition::texts("PK", "SK"));
        let mut table = self.indexes.iter().fold(table, |table, index| {
            let key = KeyDefinition::texts(format!("{index}PK"), format!("{index}SK"));
            table.with_index(*index, key)
        });
        table.ttl = self.ttl.map(str::to_owned);
        table.stream = self.stream;
        table
    }

    /// Returns the shape of `entity`, in the document's own words.
    pub(crate) fn shape(&self, entity: &str) -> Option<&'static DocumentShape> {
        self.shapes.iter().find(|shape| shape.entity == entity)
    }

    pub(crate) fn question(&self, name: &str) -> Option<&'static DocumentQuestion> {
        self.questions.iter().find(|question| question.name == name)
    }
}

/// The items of one entity in a document.
#[derive(Debug)]
pub(crate) struct DocumentShape {
    /// The document's name for it.
    pub(crate) entity: &'static str,
    /// The entity of our table that replaces it.
    pub(crate) ours: &'static str,
    /// Its keys. Of several in one index, the first whose parts all have values applies.
    pub(crate) keys: &'static [DocumentKey],
    /// Parts of its keys that are not attributes.
    pub(crate) parts: &'static [DocumentAttribute],
    /// Its attributes, without `type` and the keys.
    pub(crate) attributes: &'static [DocumentAttribute],
}

/// A key of a shape. `{…}` names an attribute or a part.
#[derive(Debug)]
pub(crate) struct DocumentKey {
    /// The index; `None` for the table itself.
    pub(crate) index: Option<&'static str>,
    /// The partition key.
    pub(crate) partition: &'static str,
    /// The sort key.
    pub(crate) sort: &'static str,
    /// True if the document allows items without this key.
    pub(crate) optional: bool,
}

/// An attribute of a document's item, or a part of its keys.
#[derive(Debug)]
pub(crate) struct DocumentAttribute {
    pub(crate) name: &'static str,
    pub(crate) becomes: Becomes,
}

/// The counterpart of an attribute in our table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Becomes {
    /// A field of the entity that replaces the shape.
    Field(&'static str),
    /// A field of another entity.
    Of(&'static str, &'static str),
    /// No counterpart, for this reason.
    Nothing(&'static str),
}

/// A query or write that a document states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentQuestion {
    /// Unique within the document.
    pub(crate) name: &'static str,
    #[expect(dead_code, reason = "states the query in words, for the reader")]
    pub(crate) asks: &'static str,
    pub(crate) stated: Stated,
    pub(crate) operation: DocumentOperation,
    /// The index; `None` for the table itself.
    pub(crate) index: Option<&'static str>,
    /// The partition key; empty for a scan. `{…}` names an argument.
    pub(crate) partition: &'static str,
    pub(crate) sort: DocumentSort,
    pub(crate) descending: bool,
    /// The number of items read.
    pub(crate) limit: Option<usize>,
    /// The conditions that items must all meet.
    pub(crate) filter: &'static [DocumentFilter],
    /// The attributes that are read; empty for all.
    pub(crate) projection: &'static [&'static str],
    /// The reason for which DynamoDB refuses it as written.
    pub(crate) rejected: Option<&'static str>,
    /// The access pattern of ours with the same result; for a write, one that returns the written item.
    pub(crate) answered_by: &'static str,
    /// The intended difference of our result.
    pub(crate) deviation: Option<&'static str>,
}

/// The form in which a document states a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    /// As an access pattern, in prose or as a snippet.
    Pattern,
    /// Within an example: a function, a transaction, a mutation.
    Example,
    /// As the purpose of an index.
    Index,
    /// By a key that serves nothing else.
    Key,
}

/// The operation of a query or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentOperation {
    Get,
    Query,
    /// A query for each of several partitions, merged by the reader.
    QueryEach,
    Scan,
    Put,
    Update,
    /// A transaction; the key is that of the item it is about.
    Transact,
}

/// The sort keys that a query reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentSort {
    All,
    Is(&'static str),
    Begins(&'static str),
}

/// A condition of a filter: an attribute, and a value that may name an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentFilter {
    Is(&'static str, &'static str),
    Begins(&'static str, &'static str),
    Contains(&'static str, &'static str),
}

impl DocumentFilter {
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            Self::Is(name, _) | Self::Begins(name, _) | Self::Contains(name, _) => name,
        }
    }
}

/// A key of the table itself.
const fn main(partition: &'static str, sort: &'static str) -> DocumentKey {
    DocumentKey { index: None, partition, sort, optional: false }
}

/// A key of an index.
const fn on(index: &'static str, partition: &'static str, sort: &'static str) -> DocumentKey {
    DocumentKey { index: Some(index), partition, sort, optional: false }
}

impl DocumentKey {
    const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}

/// Reads one item by its key.
const fn get(
    name: &'static str,
    asks: &'static str,
    partition: &'static str,
    sort: &'static str,
) -> DocumentQuestion {
    DocumentQuestion {
        operation: DocumentOperation::Get,
        sort: DocumentSort::Is(sort),
        ..query(name, asks, partition)
    }
}

/// Reads a partition in ascending order.
const fn query(
    name: &'static str,
    asks: &'static str,
    partition: &'static str,
) -> DocumentQuestion {
    DocumentQuestion {
        name,
        asks,
        stated: Stated::Pattern,
        operation: DocumentOperation::Query,
        index: None,
        partition,
        sort: DocumentSort::All,
        descending: false,
        limit: None,
        filter: &[],
        projection: &[],
        rejected: None,
        answered_by: "",
        deviation: None,
    }
}

impl DocumentQuestion {
    const fn as_(mut self, operation: DocumentOperation) -> Self {
        self.operation = operation;
        self
    }

    const fn stated(mut self, stated: Stated) -> Self {
        self.stated = stated;
        self
    }

    const fn index(mut self, index: &'static str) -> Self {
        self.index = Some(index);
        self
    }

    const fn begins(mut self, prefix: &'static str) -> Self {
        self.sort = DocumentSort::Begins(prefix);
        self
    }

    const fn is(mut self, sort: &'static str) -> Self {
        self.sort = DocumentSort::Is(sort);
        self
    }

    const fn newest(mut self) -> Self {
        self.descending = true;
        self
    }

    const fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    const fn filter(mut self, filter: &'static [DocumentFilter]) -> Self {
        self.filter = filter;
        self
    }

    const fn project(mut self, attributes: &'static [&'static str]) -> Self {
        self.projection = attributes;
        self
    }

    const fn rejected(mut self, reason: &'static str) -> Self {
        self.rejected = Some(reason);
        self
    }

    const fn by(mut self, pattern: &'static str) -> Self {
        self.answered_by = pattern;
        self
    }

    const fn deviates(mut self, how: &'static str) -> Self {
        self.deviation = Some(how);
        self
    }
}

/// The attributes of a shape: `name => field`, `name => Entity.field`, `name` if both are the same, or
/// `name nothing "reason"`.
macro_rules! attributes {
    ($($name:ident $(=> $to:ident $(. $of:ident)?)? $(nothing $why:literal)?),* $(,)?) => {
        &[$($crate::documents::DocumentAttribute {
            name: stringify!($name),
            becomes: $crate::documents::attributes!(@ $name $($to $($of)?)? $($why)?),
        }),*]
    };
    (@ $name:ident) => { $crate::documents::Becomes::Field(stringify!($name)) };
    (@ $name:ident $field:ident) => { $crate::documents::Becomes::Field(stringify!($field)) };
    (@ $name:ident $entity:ident $field:ident) => {
        $crate::documents::Becomes::Of(stringify!($entity), stringify!($field))
    };
    (@ $name:ident $why:literal) => { $crate::documents::Becomes::Nothing($why) };
}

use attributes;

#[cfg(test)]
mod tests;
