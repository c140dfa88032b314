//! The schema as data, for everything that is derived from `schema.rs`.
//!
//! The `single_table!` macro generates the values of these types, so documentation, lint and
//! capacity plan cannot disagree with the code.

use std::fmt;

use roundtable_table::{Item, KeyDefinition, TableDefinition};

pub use crate::upgrade::ShapeUpgrade;
use crate::{OwnerKind, Result};

/// The page size of patterns that do not state one.
pub const PAGE_ITEMS_DEFAULT: usize = 20;

/// The attribute with the second from which an item is expired.
pub const TTL: &str = "ttl";

/// A table: its indexes, entities and access patterns.
#[derive(Debug)]
pub struct TableShape {
    /// The default name.
    pub name: &'static str,
    pub doc: &'static str,
    pub indexes: &'static [Index],
    pub stream: bool,
    /// The entity whose items are also kept in the order of their sort keys, on stores that can.
    pub ordered: Option<&'static EntityShape>,
    /// The entities, in the order of the schema.
    pub entities: &'static [&'static EntityShape],
    /// The access patterns, in the order of the schema.
    pub patterns: &'static [&'static PatternShape],
    /// The reads composed of several patterns.
    pub composites: &'static [CompositeShape],
    /// The accepted findings of the lint.
    pub accepted: &'static [AcceptedFinding],
}

impl TableShape {
    /// Returns the definition of the table, under `name`.
    pub fn definition(&self, name: &str) -> TableDefinition {
        let key = |index: Index| {
            KeyDefinition::texts(index.partition_attribute(), index.sort_attribute())
        };
        let mut table = TableDefinition::new(name, key(Index::Main)).with_ttl(TTL);
        for index in self.indexes {
            if let Some(name) = index.name() {
                table = table.with_index(name, key(*index));
            }
        }
        if let Some(entity) = self.ordered {
            let KeyShape { partition, sort, .. } = entity.main();
            table = table.with_order(partition.prefix(), sort.prefix());
        }
        if self.stream { table.with_stream() } else { table }
    }

    pub fn entity(&self, name: &str) -> Option<&'static EntityShape> {
        self.entities.iter().copied().find(|entity| entity.name == name)
    }

    pub fn pattern(&self, name: &str) -> Option<&'static PatternShape> {
        self.patterns.iter().copied().find(|pattern| pattern.name == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    Main,
    Gsi1,
    Gsi2,
    Gsi3,
}

impl Index {
    pub const ALL: [Self; 4] = [Self::Main, Self::Gsi1, Self::Gsi2, Self::Gsi3];
    pub const SECONDARY: [Self; 3] = [Self::Gsi1, Self::Gsi2, Self::Gsi3];

    /// Returns the index's name in the table's definition; `None` for the table itself.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Main => None,
            Self::Gsi1 => Some("GSI1"),
            Self::Gsi2 => Some("GSI2"),
            Self::Gsi3 => Some("GSI3"),
        }
    }

    pub const fn partition_attribute(self) -> &'static str {
        match self {
            Self::Main => "PK",
            Self::Gsi1 => "GSI1PK",
            Self::Gsi2 => "GSI2PK",
            Self::Gsi3 => "GSI3PK",
        }
    }

    pub const fn sort_attribute(self) -> &'static str {
        match self {
            Self::Main => "SK",
            Self::Gsi1 => "GSI1SK",
            Self::Gsi2 => "GSI2SK",
            Self::Gsi3 => "GSI3SK",
        }
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or("table"))
    }
}

/// A kind of item.
#[derive(Debug)]
pub struct EntityShape {
    /// The name, which is also the value of the `type` attribute.
    pub name: &'static str,
    pub doc: &'static str,
    /// The parts of its primary key, which identify an item.
    pub identity: &'static [PartShape],
    /// The other fields its index keys depend on.
    pub parts: &'static [KeyField],
    /// The owners: an item is removed with any of them.
    pub owners: &'static [OwnerShape],
    /// The keys: the primary key first, then those of the indexes.
    pub keys: &'static [KeyShape],
    /// The attributes, without `type`, `shape` and the key attributes.
    pub fields: &'static [FieldShape],
    /// The upgrades of older items, from the first shape to the current one.
    pub upgrades: &'static [ShapeUpgrade],
    /// Reads an item of any known shape, and returns it in the current one.
    pub rewrite: fn(&Item) -> Result<Item>,
}

impl EntityShape {
    /// Returns the primary key.
    ///
    /// # Panics
    /// Never: an entity without one does not compile.
    pub const fn main(&self) -> &KeyShape {
        let [main, ..] = self.keys else { panic!("an entity without a key does not compile") };
        main
    }

    /// Returns whether every item expires; an optional ttl does not count.
    pub fn expires(&self) -> bool {
        self.fields.iter().any(|field| field.attribute == TTL && !field.optional)
    }

    /// Returns whether a patch cannot change the field called `name`: a key depends on it, or older
    /// items may store it in another form.
    pub const fn is_written_whole(&self, name: &str) -> bool {
        !self.upgrades.is_empty() || self.in_key(name)
    }

    /// Returns whether a key depends on the field called `name`.
    pub const fn in_key(&self, name: &str) -> bool {
        let mut identity = self.identity;
        while let [part, rest @ ..] = identity {
            if same(part.name, name) || names(part.computed_from, name) {
                return true;
            }
            identity = rest;
        }
        let mut parts = self.parts;
        while let [part, rest @ ..] = parts {
            if same(part.name, name) {
                return true;
            }
            parts = rest;
        }
        same(name, "version") && self.can_rekey()
    }

    /// Returns whether an index key can change, so that the entity has a version.
    pub const fn can_rekey(&self) -> bool {
        let mut parts = self.parts;
        while let [part, rest @ ..] = parts {
            if part.mutable {
                return true;
            }
            parts = rest;
        }
        false
    }
}

/// An owner of an entity's items.
#[derive(Debug)]
pub struct OwnerShape {
    /// The field that names it.
    pub field: &'static str,
    pub kind: OwnerKind,
    /// The positions of the keys that list the items of one owner.
    pub keys: &'static [usize],
}

/// A part of a key, or an argument of a pattern.
#[derive(Debug)]
pub struct PartShape {
    pub name: &'static str,
    /// The Rust type: `UserId`, `[ActorId]`, `Span<Time>`.
    pub kind: &'static str,
    /// The fields it is computed from, when it is not a field itself.
    pub computed_from: &'static [&'static str],
}

/// A field that index keys depend on.
#[derive(Debug)]
pub struct KeyField {
    pub name: &'static str,
    pub optional: bool,
    /// May change after the item was created: by a rekey, never by a patch.
    pub mutable: bool,
}

/// The key of an entity in the table or in one index.
#[derive(Debug)]
pub struct KeyShape {
    pub index: Index,
    /// The condition under which the item is in the index.
    pub when: SparseCondition,
    pub partition: KeyTemplate,
    pub sort: KeyTemplate,
}

/// The condition of a sparse index key.
#[derive(Debug)]
pub struct SparseCondition {
    /// Applies only if the earlier keys on the same index do not.
    pub otherwise: bool,
    /// Fields that must be present.
    pub present: &'static [&'static str],
    /// Predicates that must hold.
    pub predicates: &'static [Predicate],
}

impl SparseCondition {
    pub const ALWAYS: Self = Self { otherwise: false, present: &[], predicates: &[] };

    /// Returns whether every item satisfies it.
    pub const fn is_always(&self) -> bool {
        !self.otherwise && self.present.is_empty() && self.predicates.is_empty()
    }
}

/// A named condition on fields of an item.
#[derive(Debug)]
pub struct Predicate {
    /// The name of an associated function of the entity.
    pub name: &'static str,
    /// The fields it reads.
    pub fields: &'static [&'static str],
}

/// A key as the schema writes it.
#[derive(Debug)]
pub struct KeyTemplate {
    /// The text in the schema: `USER#{followee_id}[#{shard}]`.
    pub text: &'static str,
    /// The segments between the `#`.
    pub segments: &'static [KeySegment],
}

impl KeyTemplate {
    /// Returns the constant text before the first part.
    pub const fn prefix(&self) -> &'static str {
        let (mut rest, mut end) = (self.text.as_bytes(), 0);
        while let [byte, after @ ..] = rest
            && !matches!(*byte, b'{' | b'[')
        {
            (rest, end) = (after, end + 1);
        }
        self.text.split_at(end).0
    }

    /// Returns the text of the part called `name` in a key that this template wrote; `None` if the
    /// key does not fit the template.
    pub fn part_in<'k>(&self, key: &'k str, name: &str) -> Option<&'k str> {
        let (mut texts, mut found) = (key.split('#'), None);
        for segment in self.segments {
            // Only the last segment can be a shard, which is empty in the first one.
            let text = texts.next();
            match segment {
                KeySegment::Shard { .. } => {}
                KeySegment::Literal(literal) if text? != *literal => return None,
                KeySegment::Part { name: part, method: None } if *part == name => {
                    found = Some(text?);
                }
                KeySegment::Literal(_) | KeySegment::Part { .. } => drop(text?),
            }
        }
        found.filter(|_| texts.next().is_none())
    }

    /// Returns the parts, including the shard.
    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.segments.iter().filter_map(|segment| match segment {
            KeySegment::Literal(_) => None,
            KeySegment::Part { name, .. } | KeySegment::Shard { name } => Some(*name),
        })
    }

    /// Returns the key for the owner with this id. It has no shard.
    pub fn of_owner(&self, id: impl fmt::Display) -> String {
        format!("{}{id}", self.prefix())
    }

    pub fn is_sharded(&self) -> bool {
        matches!(self.segments.last(), Some(KeySegment::Shard { .. }))
    }
}

impl fmt::Display for KeyTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// A segment between two `#` of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySegment {
    Literal(&'static str),
    /// A part, or the result of one of its methods (`created_at:day`).
    Part {
        name: &'static str,
        method: Option<&'static str>,
    },
    /// `[#{shard}]`: empty for shard 0, `#n` for the others.
    Shard {
        name: &'static str,
    },
}

#[derive(Debug)]
pub struct FieldShape {
    pub field: &'static str,
    pub attribute: &'static str,
    /// The kind of value: `text`, `time`, `number`, `UserId`.
    pub kind: &'static str,
    pub optional: bool,
    pub doc: &'static str,
}

#[derive(Debug)]
pub struct PatternShape {
    pub name: &'static str,
    pub doc: &'static str,
    pub arguments: &'static [PartShape],
    pub operation: PatternOperation,
    pub index: Index,
    pub partition: KeyTemplate,
    pub sort: PatternSort,
    /// The default order; callers can choose either.
    pub descending: bool,
    /// The default consistency.
    pub strong: bool,
    /// The default page size.
    pub page: usize,
    /// A filter on an attribute outside the key; pages are still full.
    pub filter: Option<PatternFilter>,
    /// The entity it returns.
    pub entity: &'static str,
    /// The view it reads, if not whole entities.
    pub view: Option<&'static str>,
}

/// The operation of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternOperation {
    /// One item by its primary key.
    Get,
    /// Several items by their primary keys.
    BatchGet,
    /// The first item of a range.
    First,
    /// A page of one partition.
    Query,
    /// A page across partitions: those of a list, or all shards.
    Merge,
    /// A page across days, and their shards.
    WalkDays,
}

/// The sort keys that a pattern reads.
#[derive(Debug)]
pub enum PatternSort {
    All,
    Equal(KeyTemplate),
    Begins(KeyTemplate),
    /// Those in a span: the template ends in the part that the span limits.
    Within(KeyTemplate),
}

impl PatternSort {
    pub const fn template(&self) -> Option<&KeyTemplate> {
        match self {
            Self::All => None,
            Self::Equal(template) | Self::Begins(template) | Self::Within(template) => {
                Some(template)
            }
        }
    }
}

#[derive(Debug)]
pub struct PatternFilter {
    pub field: &'static str,
    /// The field is a list that must contain the argument, rather than equal it.
    pub contains: bool,
    pub with: &'static str,
}

/// A read composed of several patterns.
#[derive(Debug)]
pub struct CompositeShape {
    pub name: &'static str,
    pub doc: &'static str,
    pub of: &'static [&'static str],
}

/// A finding of the lint that the schema accepts.
#[derive(Debug)]
pub struct AcceptedFinding {
    /// The name of the lint, as in `roundtable table lint`: `hot`, `unbounded`…
    pub lint: &'static str,
    pub subject: &'static str,
    /// The index; [`Index::Main`] is the table itself.
    pub index: Index,
    pub reason: &'static str,
}

const fn names(mut list: &[&str], name: &str) -> bool {
    while let [first, rest @ ..] = list {
        if same(first, name) {
            return true;
        }
        list = rest;
    }
    false
}

/// Text equality in constants.
const fn same(left: &str, right: &str) -> bool {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        if *a != *b {
            return false;
        }
        (left, right) = (left_rest, right_rest);
    }
    left.is_empty() && right.is_empty()
}
