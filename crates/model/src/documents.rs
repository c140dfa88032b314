//! The five documents that the table answers for, as data: their own tables, the shapes of their items
//! and every question they ask. They are read, to prove coverage and to import from; nothing is ever
//! written in their shapes.

mod s0;
mod s1;
mod s2;
mod s3;
mod s4;

use roundtable_table::{KeyDefinition, TableDefinition};

pub use s0::S0;
pub use s1::S1;
pub use s2::S2;
pub use s3::{S3, S3_MVP};
pub use s4::S4;

/// All of them. The third holds two designs, a small one and the fuller one that follows it.
pub const DOCUMENTS: &[&Document] = &[&S0, &S1, &S2, &S3_MVP, &S3, &S4];

/// One design.
#[derive(Debug)]
pub struct Document {
    /// How tests and reports call it.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Its table; its keys are `PK` and `SK`.
    pub table: &'static str,
    /// Its indexes, each with keys after its name: `GSI1PK` and `GSI1SK`.
    pub indexes: &'static [&'static str],
    /// The attribute by which items expire.
    pub ttl: Option<&'static str>,
    /// Whether it wants a stream of changes.
    pub stream: bool,
    /// Whether its items name their entity in `type`.
    pub typed: bool,
    /// What lives in it.
    pub shapes: &'static [DocumentShape],
    /// What it asks.
    pub questions: &'static [DocumentQuestion],
}

impl Document {
    /// The table it describes.
    pub fn definition(&self) -> TableDefinition {
        let table = TableDefinition::new(self.table, KeyDefinition::texts("PK", "SK"));
        let mut table = self.indexes.iter().fold(table, |table, index| {
            let key = KeyDefinition::texts(format!("{index}PK"), format!("{index}SK"));
            table.with_index(*index, key)
        });
        table.ttl = self.ttl.map(str::to_owned);
        table.stream = self.stream;
        table
    }

    /// The shape of what it calls `entity`.
    pub fn shape(&self, entity: &str) -> Option<&'static DocumentShape> {
        self.shapes.iter().find(|shape| shape.entity == entity)
    }

    /// The question called `name`.
    pub fn question(&self, name: &str) -> Option<&'static DocumentQuestion> {
        self.questions.iter().find(|question| question.name == name)
    }
}

/// What an item looks like in a document.
#[derive(Debug)]
pub struct DocumentShape {
    /// The document's name for it.
    pub entity: &'static str,
    /// The entity of ours that it becomes.
    pub ours: &'static str,
    /// Its keys. Of several in one index, the first for which everything is known applies.
    pub keys: &'static [DocumentKey],
    /// What stands in its keys without being an attribute.
    pub parts: &'static [DocumentAttribute],
    /// Its attributes, without `type` and the keys.
    pub attributes: &'static [DocumentAttribute],
}

/// A key of a shape. `{…}` names an attribute or a part.
#[derive(Debug)]
pub struct DocumentKey {
    /// The index; `None` for the table itself.
    pub index: Option<&'static str>,
    /// The partition key.
    pub partition: &'static str,
    /// The sort key.
    pub sort: &'static str,
    /// Whether the document leaves it open if the key is there.
    pub optional: bool,
}

/// An attribute of a document's item, or a part of its keys.
#[derive(Debug)]
pub struct DocumentAttribute {
    /// Its name there.
    pub name: &'static str,
    /// What it is here.
    pub becomes: Becomes,
}

/// What an attribute of a document is in our table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Becomes {
    /// A field of the shape's own entity.
    Field(&'static str),
    /// A field of another entity.
    Of(&'static str, &'static str),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// Something a document asks of its table.
#[derive(Clone, Copy, Debug)]
pub struct DocumentQuestion {
    /// Its name, once in a document.
    pub name: &'static str,
    /// What is asked, in our words.
    pub asks: &'static str,
    /// How the document puts it.
    pub stated: Stated,
    /// How it is read or written.
    pub operation: DocumentOperation,
    /// The index; `None` for the table itself.
    pub index: Option<&'static str>,
    /// The partition key; empty for a scan. `{…}` is what is asked for.
    pub partition: &'static str,
    /// Which sort keys.
    pub sort: DocumentSort,
    /// Whether the largest sort keys come first.
    pub descending: bool,
    /// How many items are looked at.
    pub limit: Option<usize>,
    /// What is kept of them; all conditions must hold.
    pub filter: &'static [DocumentFilter],
    /// The attributes that are read; empty for all.
    pub projection: &'static [&'static str],
    /// Why DynamoDB refuses it as it is written.
    pub rejected: Option<&'static str>,
    /// The pattern of ours that answers it; of a write, the one that shows it.
    pub answered_by: &'static str,
    /// Where our answer differs on purpose, and how.
    pub deviation: Option<&'static str>,
}

/// How a document puts a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stated {
    /// As an access pattern, in prose or as a snippet.
    Pattern,
    /// Inside an example: a function, a transaction, a mutation.
    Example,
    /// As the purpose of an index.
    Index,
    /// By a key that serves nothing else.
    Key,
}

/// How a question reaches the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentOperation {
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

/// Which sort keys a question looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentSort {
    All,
    Is(&'static str),
    Begins(&'static str),
}

/// A condition of a filter: an attribute, and a value that may name what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFilter {
    Is(&'static str, &'static str),
    Begins(&'static str, &'static str),
    Contains(&'static str, &'static str),
}

impl DocumentFilter {
    /// The attribute it looks at.
    pub const fn attribute(self) -> &'static str {
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

/// One item by its key.
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

/// A partition, rising.
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

/// The attributes of a shape: `name => field`, `name => Entity.field`, `name` where both are the same,
/// or `name nothing "why"`.
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
