//! The schema as data: what `schema.rs` says, for everything that is derived from it.
//!
//! Nothing here is written by hand except these types: the values come out of the `single_table!`
//! macro, so a document, a lint or a capacity plan can never disagree with the code that runs.

use std::fmt;

use roundtable_table::{KeyDefinition, TableDefinition};

/// Items a page holds, where the page of the schema does not say otherwise.
pub const PAGE: usize = 20;

/// The attribute with the second from which on an item is expired.
pub const TTL: &str = "ttl";

/// One table: its indexes, what lives in it and what can be asked of it.
#[derive(Debug)]
pub struct TableShape {
    /// Its name, unless configured otherwise.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its sparse indexes.
    pub indexes: &'static [Index],
    /// Whether its changes are streamed.
    pub stream: bool,
    /// What lives in it, in the order of the page.
    pub entities: &'static [&'static EntityShape],
    /// What can be asked of it, in the order of the page.
    pub patterns: &'static [&'static PatternShape],
    /// Questions answered by several patterns together.
    pub composites: &'static [CompositeShape],
    /// Findings of the lint that are as they should be, and why.
    pub accepted: &'static [Accepted],
}

impl TableShape {
    /// The table to create, under `name`.
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
        if self.stream { table.with_stream() } else { table }
    }

    /// The entity called `name`.
    pub fn entity(&self, name: &str) -> Option<&'static EntityShape> {
        self.entities.iter().copied().find(|entity| entity.name == name)
    }

    /// The access pattern called `name`.
    pub fn pattern(&self, name: &str) -> Option<&'static PatternShape> {
        self.patterns.iter().copied().find(|pattern| pattern.name == name)
    }
}

/// The table itself, or one of its indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    Main,
    Gsi1,
    Gsi2,
    Gsi3,
}

impl Index {
    /// The three indexes.
    pub const SECONDARY: [Self; 3] = [Self::Gsi1, Self::Gsi2, Self::Gsi3];

    /// The index's name in the table's definition; `None` for the table itself.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Main => None,
            Self::Gsi1 => Some("GSI1"),
            Self::Gsi2 => Some("GSI2"),
            Self::Gsi3 => Some("GSI3"),
        }
    }

    /// The attribute holding the partition key.
    pub const fn partition_attribute(self) -> &'static str {
        match self {
            Self::Main => "PK",
            Self::Gsi1 => "GSI1PK",
            Self::Gsi2 => "GSI2PK",
            Self::Gsi3 => "GSI3PK",
        }
    }

    /// The attribute holding the sort key.
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

/// One kind of item.
#[derive(Debug)]
pub struct EntityShape {
    /// Its name, and the value of its `type` attribute.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The parts of its primary key: together they tell one item from all others.
    pub identity: &'static [PartShape],
    /// The other fields its index keys depend on.
    pub parts: &'static [KeyField],
    /// Its keys: the primary key first, then those of the indexes.
    pub keys: &'static [KeyShape],
    /// Its attributes, without `type` and the key attributes.
    pub fields: &'static [FieldShape],
}

impl EntityShape {
    /// Its primary key.
    ///
    /// # Panics
    /// Never: an entity without one does not compile.
    pub const fn main(&self) -> &KeyShape {
        let [main, ..] = self.keys else { panic!("an entity without a key does not compile") };
        main
    }

    /// Whether every item of it expires: one whose ttl may be absent need not.
    pub fn expires(&self) -> bool {
        self.fields.iter().any(|field| field.attribute == TTL && !field.optional)
    }

    /// Whether a key depends on the field called `name`, so that a patch must leave it alone.
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
        same(name, "version") && self.rekeys()
    }

    /// Whether an index key can change, so that the entity carries a version.
    pub const fn rekeys(&self) -> bool {
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

/// A part of a key, or an argument of a pattern.
#[derive(Debug)]
pub struct PartShape {
    /// Its name on the page.
    pub name: &'static str,
    /// Its Rust type: `UserId`, `[ActorId]`, `Span<Time>`.
    pub kind: &'static str,
    /// The fields it is computed from, when it is not a field itself.
    pub computed_from: &'static [&'static str],
}

/// A field that index keys depend on.
#[derive(Debug)]
pub struct KeyField {
    /// The field.
    pub name: &'static str,
    /// Whether it may be absent.
    pub optional: bool,
    /// Whether it may change after the item was made: by a rekey, never by a patch.
    pub mutable: bool,
}

/// The key of an entity in the table or in one index.
#[derive(Debug)]
pub struct KeyShape {
    /// Where.
    pub index: Index,
    /// When the item is there at all.
    pub when: When,
    /// The partition key.
    pub partition: Template,
    /// The sort key.
    pub sort: Template,
}

/// The condition of a sparse index key.
#[derive(Debug)]
pub struct When {
    /// Only if the keys before it on the same index do not apply.
    pub otherwise: bool,
    /// Fields that must be present.
    pub present: &'static [&'static str],
    /// Predicates that must hold.
    pub predicates: &'static [Predicate],
}

impl When {
    /// Always.
    pub const ALWAYS: Self = Self { otherwise: false, present: &[], predicates: &[] };
}

/// A named question about fields of an item.
#[derive(Debug)]
pub struct Predicate {
    /// Its name: an associated function of the entity.
    pub name: &'static str,
    /// The only fields it sees.
    pub fields: &'static [&'static str],
}

/// A key as the page writes it.
#[derive(Debug)]
pub struct Template {
    /// The text on the page: `USER#{followee_id}[#{shard}]`.
    pub text: &'static str,
    /// What stands between the `#`.
    pub segments: &'static [Segment],
}

impl Template {
    /// The constant text it begins with, up to the first part.
    pub fn prefix(&self) -> &'static str {
        let end = self.text.find(['{', '[']).unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or_default()
    }

    /// The parts in it, the shard included.
    pub fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Literal(_) => None,
            Segment::Part { name, .. } | Segment::Shard { name } => Some(*name),
        })
    }

    /// Whether it ends in a shard.
    pub fn is_sharded(&self) -> bool {
        matches!(self.segments.last(), Some(Segment::Shard { .. }))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// What stands between two `#` of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// The same text in every key.
    Literal(&'static str),
    /// A part, perhaps seen through one of its methods (`created_at:day`).
    Part {
        /// Its name.
        name: &'static str,
        /// The method.
        through: Option<&'static str>,
    },
    /// `[#{shard}]`: nothing for shard 0, `#n` for the others.
    Shard {
        /// The part holding the shard.
        name: &'static str,
    },
}

/// An attribute of an entity.
#[derive(Debug)]
pub struct FieldShape {
    /// The field in Rust.
    pub field: &'static str,
    /// The attribute in the table.
    pub attribute: &'static str,
    /// What it holds, for people: `text`, `time`, `number`, `UserId`.
    pub kind: &'static str,
    /// Whether it may be absent.
    pub optional: bool,
    /// What it is for.
    pub doc: &'static str,
}

/// An access pattern.
#[derive(Debug)]
pub struct PatternShape {
    /// Its name.
    pub name: &'static str,
    /// What it answers.
    pub doc: &'static str,
    /// What it is asked with.
    pub arguments: &'static [PartShape],
    /// How it reads.
    pub operation: PatternOperation,
    /// Where.
    pub index: Index,
    /// The partition key.
    pub partition: Template,
    /// Which sort keys.
    pub sort: PatternSort,
    /// In which order; either can be asked for.
    pub descending: bool,
    /// Whether it is strong unless asked otherwise.
    pub strong: bool,
    /// Items a page holds unless asked otherwise.
    pub page: usize,
    /// A filter on an attribute outside the key; pages are filled nevertheless.
    pub filter: Option<Filter>,
    /// The entity it answers with.
    pub entity: &'static str,
    /// The attributes it reads, when not all of them.
    pub view: Option<&'static str>,
}

/// How a pattern reads.
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

/// Which sort keys a pattern reads.
#[derive(Debug)]
pub enum PatternSort {
    /// All of the partition.
    All,
    /// This one.
    Equal(Template),
    /// Those that begin so.
    Begins(Template),
    /// Those in a span: the template ends in the part that the span is of.
    Within(Template),
}

impl PatternSort {
    /// The template, if there is one.
    pub const fn template(&self) -> Option<&Template> {
        match self {
            Self::All => None,
            Self::Equal(template) | Self::Begins(template) | Self::Within(template) => {
                Some(template)
            }
        }
    }
}

/// A filter on an attribute outside the key.
#[derive(Debug)]
pub struct Filter {
    /// The field.
    pub field: &'static str,
    /// Whether the field is a list that must hold the argument, rather than equal it.
    pub contains: bool,
    /// The argument, or the constant it is compared with.
    pub with: &'static str,
}

/// A question answered by several patterns together.
#[derive(Debug)]
pub struct CompositeShape {
    /// Its name.
    pub name: &'static str,
    /// What it answers.
    pub doc: &'static str,
    /// The patterns behind it.
    pub of: &'static [&'static str],
}

/// A finding of the lint that is as it should be.
#[derive(Debug)]
pub struct Accepted {
    /// The lint, as `roundtable table lint` names it: `hot`, `unbounded`…
    pub lint: &'static str,
    /// The entity or pattern.
    pub subject: &'static str,
    /// The index; the table itself when it is [`Index::Main`].
    pub index: Index,
    /// Why it is as it should be.
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

/// Text equality that the compiler can evaluate.
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
